/* Steps reload and restart of the Redis store: all objects go to an RDB file
 * and come back from it, in the same process (DEBUG RELOAD) or in a new one. */
#include <string.h>

#include "stores/redis.h"

/* Writing or reading a file of many gigabytes takes minutes. */
#define FILE_PATIENCE_MS (30 * 60 * 1000)
#define PATIENCE_MS      3000
/* How long the program may take to end by itself; then it is killed: the file is written. */
#define STOP_PATIENCE_MS 30000

static void set_patience(struct redis *redis, int milliseconds)
{
    const struct timeval time = {.tv_sec = milliseconds / 1000,
                                 .tv_usec = milliseconds % 1000 * 1000};
    if (redis->control)
        redisSetTimeout(redis->control, time);
}

/* A command that may take as long as the file is large. */
static int long_command(struct redis *redis, const char *line, struct tare_error *error)
{
    set_patience(redis, FILE_PATIENCE_MS);
    redisReply *reply = redis_line(redis, line, error);
    set_patience(redis, PATIENCE_MS);
    if (!reply)
        return -1;
    freeReplyObject(reply);
    return 0;
}

static int must_be_own(const struct store *store, const char *step, struct tare_error *error)
{
    if (store->started)
        return 0;
    return error_set(error, TARE_USAGE,
                     "step %s: tare did not start the server at %s, and leaves it as it is", step,
                     store->address);
}

int redis_reload(struct store *store, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    if (must_be_own(store, "reload", error))
        return -1;
    redis_load_close(store);
    if (long_command(redis, "DEBUG RELOAD", error))
        return error_prefix(error, "step reload");
    store->made_by = "rdb";
    return 0;
}

/* While it reads its file the server answers nothing but that it does. */
static int wait_until_read(struct redis *redis, struct tare_error *error)
{
    for (int waited = 0; waited < FILE_PATIENCE_MS; waited += 20) {
        if (process_check_interrupt(error))
            return -1;
        redisReply *reply = redis_line(redis, "INFO persistence", error);
        if (!reply)
            return -1;
        const char *at = strstr(reply->str, "\nloading:");
        bool loading = at && at[strlen("\nloading:")] == '1';
        freeReplyObject(reply);
        if (!loading)
            return 0;
        process_pause(20);
    }
    return error_set(error, TARE_STORE, "%s: the server still reads its file after %d min",
                     redis->store.address, FILE_PATIENCE_MS / 60000);
}

/* A server with an append-only file reads that instead. */
static int must_read_rdb(struct redis *redis, struct tare_error *error)
{
    redisReply *reply = redis_line(redis, "INFO persistence", error);
    if (!reply)
        return -1;
    bool appends = strstr(reply->str, "aof_enabled:1") != NULL;
    freeReplyObject(reply);
    if (!appends)
        return 0;
    return error_set(error, TARE_USAGE,
                     "step restart is one from the RDB file: with an append-only file the server "
                     "would read that; leave setting aof off");
}

int redis_restart(struct store *store, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    if (must_be_own(store, "restart", error) || must_read_rdb(redis, error))
        return -1;
    redis_load_close(store);
    if (long_command(redis, "SAVE", error))
        return error_prefix(error, "step restart");
    redisFree(redis->control);
    redis->control = NULL;
    store->pid = 0;
    process_stop(&redis->process, STOP_PATIENCE_MS);
    if (process_start(&redis->process, redis->arguments, error) ||
        redis_wait_until_ready(redis, error) || wait_until_read(redis, error))
        return -1;
    redis_find_process(redis, redis->arguments[0]);
    store->made_by = "rdb";
    return 0;
}

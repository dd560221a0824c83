/* The Redis store's own header: what redis.c, redis_connect.c, redis_load.c
 * and valkey.c share. Nothing else includes it but their tests. */
#ifndef TARE_STORES_REDIS_H
#define TARE_STORES_REDIS_H

#include <hiredis/hiredis.h>
#include <stdio.h>

#include "core/buffer.h"
#include "stores/process.h"
#include "stores/store.h"

/* Where a server listens, from a URL or of a server that tare started. */
struct redis_place {
    char *socket; /* path of a unix socket; NULL: host and port */
    char *host;
    int port;
    int database;
    char *user, *password; /* never printed; NULL: none */
};

/* Parses redis://[[user]:password@]host[:port][/db] and unix://[[user]:password@]/path[?db=N] (also
 * valkey://); percent escapes are read in user and password. TLS (rediss://) is refused by name.
 * Messages name host and port alone. The caller frees the place, also after a failure. */
int redis_place_parse(const char *url, struct redis_place *place, struct tare_error *error);
void redis_place_free(struct redis_place *place);
/* "host:port" or the socket's path, for messages. */
void redis_place_name(const struct redis_place *place, char *out, size_t size);

/* A connection to the place, logged in and with its database selected. Replies are waited for
 * patience_ms at most. NULL: *error says host and reason. */
redisContext *redis_connect(const struct redis_place *place, const char *name, int patience_ms,
                            struct tare_error *error);

/* The message for what a server said to a command of logging in; returns -1. with_user: AUTH had
 * a user's name too. Never shows the password. */
int redis_refusal(const char *name, const char *command, bool with_user, const char *said,
                  struct tare_error *error);

struct redis_loader;

struct redis {
    struct store store;
    struct process process; /* where tare started the program */
    char **arguments;       /* its argv, NULL-terminated; restart uses it again */
    struct redis_place place;
    redisContext *control;
    int version;            /* 70015; of redis_version, which Valkey keeps at 7.2.4 */
    struct figures changed; /* settings of a server that tare didn't start, as they were */
    struct redis_loader *loader;
    FILE *keys;           /* of a server that tare didn't start: every key written, for close() */
    char *shared_key;     /* the last shared object whose key is in it */
    bool json;            /* the cell needs RedisJSON, and the server has it */
    bool wrote;           /* something is in keys */
    int64_t finished;     /* keys for which a rehash was driven to its end */
    int64_t process_id;   /* of INFO: of another namespace where the server runs in a container */
    char executable[256]; /* of INFO (3.2 and later); "" not told */
};

/* One command, words of any bytes; the reply is the caller's (freeReplyObject). NULL or an error
 * reply: *error says the server and its words, with status TARE_STORE. */
redisReply *redis_command(struct redis *redis, size_t count, const char *const words[],
                          const size_t lengths[], struct tare_error *error);
/* The same for a line of plain words. */
redisReply *redis_line(struct redis *redis, const char *line, struct tare_error *error);

/* Fills *error from what became of a started server, if it ended; else from `reason`. */
int redis_lost(struct redis *redis, const char *reason, struct tare_error *error);

/* Waits until the program that tare started answers; the control connection is open then. */
int redis_wait_until_ready(struct redis *redis, struct tare_error *error);
/* Looks for the process of the server, where it runs on this host and can be seen. */
void redis_find_process(struct redis *redis, const char *program);

/* Through an RDB file (redis_restart.c): the store's members of these names. */
int redis_reload(struct store *store, struct tare_error *error);
int redis_restart(struct store *store, struct tare_error *error);

/* A name that no data set makes; removed before anything is measured. */
#define REDIS_DUMMY_KEY "tare:warm-up"

/* Loading (redis_load.c). */
int redis_load_open(struct store *store, struct tare_error *error);
int redis_put(struct store *store, const struct object *object, struct tare_error *error);
int redis_flush(struct store *store, struct tare_error *error);
void redis_load_close(struct store *store);
/* The commands that write the object, as RESP, appended; returns how many commands they are. */
int redis_wire(struct buffer *out, const struct object *object);
/* A workload's client (redis_client.c). */
struct store_client *redis_client_open(struct store *store, struct tare_error *error);
int redis_client_add(struct store_client *client, enum operation operation,
                     const struct object *objects, const struct object *before, size_t count,
                     struct tare_error *error);
int redis_client_send(struct store_client *client, struct tare_error *error);
int redis_client_take(struct store_client *client, bool *found, struct tare_error *error);
void redis_client_close(struct store_client *client);
#define REDIS_IN_FLIGHT_MOST 4096
/* Remembers the key of what is about to be written to a server that isn't tare's own, so that
 * redis_wipe() can remove it; does nothing for one that tare started, or with limits.keep. */
int redis_remember(struct redis *redis, const struct object *object, struct tare_error *error);
/* Removes every key in redis->keys from the server. */
void redis_wipe(struct redis *redis);
/* A reply as figures: names and values in turn under the prefix, as MEMORY STATS and CONFIG GET
 * have them; an array of an odd length is a list, its elements numbered from 0. */
void redis_flatten(const redisReply *reply, const char *prefix, struct figures *figures);

/* What valkey.c takes over from redis.c. */
struct store *redis_open(const struct server_spec *spec, const struct figures *settings,
                         const struct store_limits *limits, struct tare_error *error);
int redis_common_setting(const char *name, const struct figure *value, struct figures *settings,
                         struct tare_error *error);
int redis_describe(struct store *store, struct build *build, struct tare_error *error);
int redis_warm_up(struct store *store, const struct object *objects, size_t count,
                  struct figures *figures, struct tare_error *error);
int redis_ask_branch(struct store *store, const struct object *objects, size_t count,
                     struct figures *figures, struct tare_error *error);
int redis_settle(struct store *store, bool *quiet, struct tare_error *error);
int redis_glance(struct store *store, struct figures *figures, struct tare_error *error);
int redis_steady(struct store *store, struct tare_error *error);
int redis_read_all(struct store *store, int64_t *count, struct tare_error *error);
int redis_sample(struct store *store, int64_t count, store_object_sink *sink, void *context,
                 int64_t *keys, int64_t *skipped, struct tare_error *error);
int redis_value_memory(struct store *store, struct figures *figures, struct tare_error *error);
int redis_ask(struct store *store, const char *question, const char *prefix,
              struct figures *figures, struct tare_error *error);
int redis_build_of_version_text(const char *program, const char *text, struct build *build,
                                struct tare_error *error);
void redis_close(struct store *store);

/* The members that redis.c's and valkey.c's store_kind share: everything but the server's name, its
 * program and where that is had. Pace: a load of the benchmark, and of strings of 22 KB. */
#define REDIS_FAMILY                                                                               \
    .family = "redis", .url_scheme = "redis://",                                                   \
    .pace = {.empty_bytes = 14 << 20,                                                              \
             .start_seconds = 0.2,                                                                 \
             .records_per_second = 330e3,                                                          \
             .bytes_per_second = 500e6},                                                           \
    .build_of_version_text = redis_build_of_version_text, .open = redis_open,                      \
    .common_setting = redis_common_setting, .describe = redis_describe, .warm_up = redis_warm_up,  \
    .ask_branch = redis_ask_branch, .load_open = redis_load_open, .put = redis_put,                \
    .flush = redis_flush, .load_close = redis_load_close, .settle = redis_settle,                  \
    .glance = redis_glance, .steady = redis_steady, .read_all = redis_read_all,                    \
    .sample = redis_sample, .value_memory = redis_value_memory, .client_open = redis_client_open,  \
    .client_add = redis_client_add, .client_send = redis_client_send,                              \
    .client_take = redis_client_take, .client_close = redis_client_close,                          \
    .in_flight_most = REDIS_IN_FLIGHT_MOST, .reload = redis_reload, .restart = redis_restart,      \
    .restarts_empty = true, .ask = redis_ask, .close = redis_close

#endif

/* The Redis store: starting or joining a server, what it may write to,
 * warming up, settling, asking. Loading is in redis_load.c, connecting in
 * redis_connect.c; valkey.c is the same store under the other name. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stores/redis.h"

#define PATIENCE_MS       3000  /* a reply on the control connection */
#define START_PATIENCE_MS 15000 /* a started server's first answer */
#define STOP_PATIENCE_MS  500   /* a stopped server's end; then it is killed: nothing is kept */

/* ---- settings ------------------------------------------------------------------------------ */

/* Redis 7.0 renamed *-ziplist-* to *-listpack-* (config.c keeps the old names as aliases). */
#define LISTPACK_NAMES 70000

/* The server's own name of a setting, as its version has it; the caller frees. */
static char *setting_name(const char *name, int version)
{
    const char *at = strstr(name, "-listpack-");
    if (!at || version >= LISTPACK_NAMES || version <= 0)
        return memory_text(name);
    return memory_format("%.*s-ziplist-%s", (int)(at - name), name, at + strlen("-listpack-"));
}

static char *setting_value(const struct figure *figure)
{
    if (figure->type == FIGURE_TEXT)
        return memory_text(figure->text);
    if (figure->type == FIGURE_REAL)
        return memory_format("%.17g", figure->real);
    return memory_format("%lld", (long long)figure->integer);
}

int redis_common_setting(const char *name, const struct figure *value, struct figures *settings,
                         struct tare_error *error)
{
    char *text = setting_value(value);
    int failed = 0;
    bool off = strcmp(text, "off") == 0 || strcmp(text, "no") == 0;
    if (strcmp(name, "rdb") == 0) {
        int64_t seconds, changes;
        if (!off && sscanf(text, "%" SCNd64 " %" SCNd64, &seconds, &changes) != 2)
            failed = error_set(error, TARE_USAGE,
                               "setting 'rdb' is off or \"SECONDS CHANGES\", not '%s'", text);
        else
            figures_text(settings, "save", off ? "" : text);
    } else if (off) {
        figures_text(settings, "appendonly", "no");
    } else if (strcmp(text, "everysec") == 0 || strcmp(text, "always") == 0) {
        figures_text(settings, "appendonly", "yes");
        figures_text(settings, "appendfsync", text);
    } else {
        failed = error_set(error, TARE_USAGE, "setting 'aof' is off, everysec or always, not '%s'",
                           text);
    }
    free(text);
    return failed;
}

/* ---- versions ------------------------------------------------------------------------------ */

/* The word behind `mark` in "Redis server v=7.0.15 sha=... malloc=jemalloc-5.3.0 bits=64 ...". */
static bool word_behind(const char *text, const char *mark, char *out, size_t size)
{
    const char *at = strstr(text, mark);
    if (!at)
        return false;
    at += strlen(mark);
    size_t length = strcspn(at, " \n");
    if (length >= size)
        length = size - 1;
    memcpy(out, at, length);
    out[length] = '\0';
    return length > 0;
}

/* Whether the program names the system's jemalloc as a library: distributions link it so, and build
 * it with quantum 16 and padding; upstream's own copy is inside the program. */
static bool links_system_jemalloc(const char *program)
{
    FILE *file = fopen(program, "re");
    if (!file)
        return false;
    static const char mark[] = "libjemalloc.so";
    char bytes[64 * 1024 + sizeof mark];
    size_t kept = 0, got;
    bool found = false;
    while (!found && (got = fread(bytes + kept, 1, 64 * 1024, file)) > 0) {
        found = memmem(bytes, kept + got, mark, sizeof mark - 1) != NULL;
        size_t all = kept + got;
        kept = all < sizeof mark ? all : sizeof mark;
        memmove(bytes, bytes + all - kept, kept);
    }
    fclose(file);
    return found;
}

int redis_build_of_version_text(const char *program, const char *text, struct build *build,
                                struct tare_error *error)
{
    if (!word_behind(text, " v=", build->version, sizeof build->version) ||
        version_number(build->version) < 0)
        return error_set(error, TARE_STORE, "'%s --version' names no version: '%.80s'", program,
                         text);
    build->number = version_number(build->version);
    word_behind(text, "malloc=", build->allocator, sizeof build->allocator);
    if (strncmp(build->allocator, "jemalloc", 8) == 0 && links_system_jemalloc(program)) {
        build->quantum = 16;
        build->page_size = 4096;
        build->cache_oblivious = 1;
    }
    return 0;
}

/* ---- asking -------------------------------------------------------------------------------- */

void redis_flatten(const redisReply *reply, const char *prefix, struct figures *figures)
{
    switch (reply->type) {
    case REDIS_REPLY_INTEGER:
        figures_integer(figures, prefix, reply->integer);
        return;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
        if (memchr(reply->str, '\n', reply->len))
            figures_text(figures, prefix, reply->str);
        else
            figures_parse(figures, prefix, reply->str);
        return;
    case REDIS_REPLY_ARRAY: {
        size_t step = reply->elements % 2 == 0 ? 2 : 1;
        for (size_t i = 0; i < reply->elements; i += step) {
            const redisReply *name = reply->element[i];
            char *path;
            if (step == 1)
                path = memory_format("%s.%zu", prefix, i);
            else if (name->type == REDIS_REPLY_INTEGER)
                path = memory_format("%s.%lld", prefix, name->integer);
            else
                path = memory_format("%s.%s", prefix, name->str ? name->str : "");
            redis_flatten(reply->element[i + step - 1], path, figures);
            free(path);
        }
        return;
    }
    default:
        return;
    }
}

int redis_ask(struct store *store, const char *question, const char *prefix,
              struct figures *figures, struct tare_error *error)
{
    redisReply *reply = redis_line((struct redis *)store, question, error);
    if (!reply)
        return -1;
    redis_flatten(reply, prefix, figures);
    freeReplyObject(reply);
    return 0;
}

/* One line of INFO: "used_memory:1234". */
static bool info_field(const char *info, const char *name, char *out, size_t size)
{
    size_t length = strlen(name);
    for (const char *line = info; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            const char *value = line + length + 1;
            size_t n = strcspn(value, "\r\n");
            if (n >= size)
                n = size - 1;
            memcpy(out, value, n);
            out[n] = '\0';
            return true;
        }
    }
    return false;
}

static int64_t info_integer(const char *info, const char *name, int64_t missing)
{
    char text[40];
    return info_field(info, name, text, sizeof text) ? strtoll(text, NULL, 10) : missing;
}

static int used_memory(struct redis *redis, int64_t *bytes, struct tare_error *error)
{
    redisReply *reply = redis_line(redis, "INFO memory", error);
    if (!reply)
        return -1;
    *bytes = info_integer(reply->str, "used_memory", -1);
    freeReplyObject(reply);
    if (*bytes < 0)
        return error_set(error, TARE_STORE, "%s: INFO shows no used_memory", redis->store.address);
    return 0;
}

/* ---- opening ------------------------------------------------------------------------------- */

/* Reads the version, and holds the kind to what the user named. */
static int identify(struct redis *redis, struct tare_error *error)
{
    redisReply *reply = redis_line(redis, "INFO server", error);
    if (!reply)
        return -1;
    char version[32] = "", valkey[32];
    info_field(reply->str, "redis_version", version, sizeof version);
    redis->version = version_number(version);
    redis->process_id = info_integer(reply->str, "process_id", 0);
    info_field(reply->str, "executable", redis->executable, sizeof redis->executable);
    const char *is =
        info_field(reply->str, "valkey_version", valkey, sizeof valkey) ? "valkey" : "redis";
    freeReplyObject(reply);
    if (redis->version < 0)
        return error_set(error, TARE_STORE, "%s: INFO shows no version; not a Redis server",
                         redis->store.address);
    if (strcmp(is, redis->store.kind->name) != 0)
        return error_set(error, TARE_STORE, "%s: this is a %s server, not %s; say --server %s=...",
                         redis->store.address, is, redis->store.kind->name, is);
    return 0;
}

/* 7.0 has DEBUG (step reload) only where it is asked for (config.c, enable-debug-command). */
#define DEBUG_ASKED_FOR 70000

/* Setting: a module's file, or its name where it is beside the server. */
#define MODULE "loadmodule"

/* The whole path of a module, since a server runs in a folder of its own: of its file, or of one
 * beside the program or beside what a link of that name leads to. */
static char *find_module(const struct redis *redis, const char *program, const char *module,
                         struct tare_error *error)
{
    char *real = realpath(program, NULL), *found = NULL;
    const char *const programs[] = {program, real};
    if (strchr(module, '/'))
        found = realpath(module, NULL);
    for (size_t i = 0; !strchr(module, '/') && !found && i < 2; i++) {
        const char *slash = programs[i] ? strrchr(programs[i], '/') : NULL;
        if (!slash)
            continue;
        char *path = memory_format("%.*s/%s", (int)(slash - programs[i]), programs[i], module);
        found = realpath(path, NULL);
        free(path);
    }
    free(real);
    if (!found)
        error_set(error, TARE_STORE,
                  "'%s': no module '%s' is %s; '--set " MODULE "=PATH' names it, and '--server "
                  "redis=7.4.1' of 'make servers' has it",
                  redis->store.address, module,
                  strchr(module, '/') ? "there" : "beside the server");
    return found;
}

static void add_argument(char **arguments, size_t *count, const char *text)
{
    arguments[(*count)++] = memory_text(text);
}

static int start(struct redis *redis, const char *program, const struct figures *settings,
                 struct tare_error *error)
{
    struct build build = {0};
    char version_option[] = "--version";
    char *path = process_find_program(program);
    if (!path)
        return error_set(error, TARE_USAGE, "no program '%s': %s", program,
                         redis->store.kind->install);
    char *version_arguments[] = {path, version_option, NULL};
    struct buffer text = {0};
    int failed = process_capture(version_arguments, 5000, &text, error) ||
                 redis_build_of_version_text(path, text.data ? text.data : "", &build, error) ||
                 process_folder(&redis->process, error);
    buffer_free(&text);
    if (failed) {
        free(path);
        return -1;
    }
    redis->place.socket = memory_format("%s/redis.sock", redis->process.folder);
    snprintf(redis->store.address, sizeof redis->store.address, "%s", program);

    char **arguments = memory_new((36 + 2 * settings->count) * sizeof *arguments);
    size_t count = 0;
    redis->arguments = arguments;
    const char *fixed[] = {path, "--port", "0", "--unixsocket", redis->place.socket, "--dir",
                           redis->process.folder, "--save", "", "--appendonly", "no", "--daemonize",
                           "no", "--loglevel", "warning",
                           /* Entries of the log of slow commands stay in used_memory; a busy
                            * machine makes any command slow. */
                           "--slowlog-log-slower-than", "-1"};
    /* Valkey logs commands also by their size. */
    const char *large[] = {"--commandlog-request-larger-than", "-1",
                           "--commandlog-reply-larger-than", "-1"};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add_argument(arguments, &count, fixed[i]);
    if (strcmp(build.store, "valkey") == 0 && build.number >= 80100)
        for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
            add_argument(arguments, &count, large[i]);
    if (build.number >= DEBUG_ASKED_FOR) {
        add_argument(arguments, &count, "--enable-debug-command");
        add_argument(arguments, &count, "local");
    }
    for (size_t i = 0; i < settings->count; i++) {
        char *name = setting_name(settings->items[i].name, build.number);
        char *value = setting_value(&settings->items[i]);
        if (strcmp(name, MODULE) == 0) {
            char *module = find_module(redis, path, value, error);
            free(value);
            value = module;
            redis->json = true;
        }
        failed = failed || !value;
        arguments[count++] = memory_format("--%s", name);
        arguments[count++] = value;
        free(name);
    }
    free(path);
    return failed ? -1 : process_start(&redis->process, arguments, error);
}

/* Until the started server answers; one that loads nothing does so in some milliseconds. */
int redis_wait_until_ready(struct redis *redis, struct tare_error *error)
{
    for (int waited = 0;; waited += 10) {
        if (process_check_interrupt(error))
            return -1;
        struct tare_error one = {0};
        redis->control = redis_connect(&redis->place, redis->store.address, PATIENCE_MS, &one);
        if (redis->control)
            return 0;
        if (!process_alive(&redis->process)) {
            struct buffer words = {0};
            process_last_words(&redis->process, &words);
            error_set(error, TARE_STORE, "'%s' ended at once: %s", redis->store.address,
                      words.length ? words.data : "it said nothing");
            buffer_free(&words);
            return -1;
        }
        if (waited >= START_PATIENCE_MS) {
            *error = one;
            return -1;
        }
        process_pause(10);
    }
}

/* Only an empty database is written to. */
static int guard(struct redis *redis, struct tare_error *error)
{
    redisReply *reply = redis_line(redis, "DBSIZE", error);
    if (!reply)
        return -1;
    bool counted = reply->type == REDIS_REPLY_INTEGER;
    int64_t keys = reply->integer;
    freeReplyObject(reply);
    if (!counted)
        return error_set(error, TARE_STORE, "%s: DBSIZE is answered by no number",
                         redis->store.address);
    if (keys == 0)
        return 0;
    return error_set(error, TARE_STORE,
                     "%s: database %d is not empty (%lld keys) and stays untouched; name an empty "
                     "one: redis://HOST:PORT/NUMBER",
                     redis->store.address, redis->place.database, (long long)keys);
}

/* CONFIG GET of one name. Managed services refuse it: then the error has the server's words. */
static int config_get(struct redis *redis, const char *name, char **value, struct tare_error *error)
{
    const char *words[] = {"CONFIG", "GET", name};
    redisReply *reply = redis_command(redis, 3, words, NULL, error);
    if (!reply)
        return error_prefix(error, "this cell needs the setting '%s'", name);
    bool known = reply->type == REDIS_REPLY_ARRAY && reply->elements >= 2 && reply->element[1]->str;
    if (known)
        *value = memory_text(reply->element[1]->str);
    freeReplyObject(reply);
    return known ? 0
                 : error_set(error, TARE_STORE, "%s: the server has no setting '%s'",
                             redis->store.address, name);
}

static int config_set(struct redis *redis, const char *name, const char *value,
                      struct tare_error *error)
{
    const char *words[] = {"CONFIG", "SET", name, value};
    redisReply *reply = redis_command(redis, 4, words, NULL, error);
    if (!reply)
        return -1;
    freeReplyObject(reply);
    return 0;
}

/* Whether a server that tare didn't start knows RedisJSON's commands. */
static int need_module(struct redis *redis, const char *module, struct tare_error *error)
{
    redisReply *reply = redis_line(redis, "COMMAND INFO JSON.SET", error);
    if (!reply)
        return -1;
    bool known = reply->type == REDIS_REPLY_ARRAY && reply->elements == 1 &&
                 reply->element[0]->type == REDIS_REPLY_ARRAY;
    freeReplyObject(reply);
    return known ? 0
                 : error_set(error, TARE_STORE,
                             "%s: this cell needs the module %s, which the server has not loaded",
                             redis->store.address, module);
}

/* Settings of a server that tare didn't start: only where allowed, and remembered. */
static int change_settings(struct redis *redis, const struct figures *settings,
                           struct tare_error *error)
{
    for (size_t i = 0; i < settings->count; i++) {
        char *name = setting_name(settings->items[i].name, redis->version);
        char *value = setting_value(&settings->items[i]);
        char *old = NULL;
        if (strcmp(name, MODULE) == 0) { /* which a server of someone else's has, or not */
            int missing = need_module(redis, value, error);
            free(name);
            free(value);
            if (missing)
                return -1;
            redis->json = true;
            continue;
        }
        int failed = config_get(redis, name, &old, error);
        bool differs = !failed && strcmp(old, value) != 0;
        if (differs && !redis->store.limits.allow_config)
            failed = error_set(error, TARE_STORE,
                               "%s: this cell needs %s %s where the server has %s; --allow-config "
                               "lets tare change it, and it is put back at the end",
                               redis->store.address, name, value, old);
        else if (differs) {
            failed = config_set(redis, name, value, error);
            if (!failed)
                figures_text(&redis->changed, name, old);
        }
        free(name);
        free(value);
        free(old);
        if (failed)
            return -1;
    }
    return 0;
}

/* Finds the process, where it runs on this host and can be seen. */
void redis_find_process(struct redis *redis, const char *program)
{
    struct store *store = &redis->store;
    struct tare_error why = {0};
    if (store->started) {
        if (process_owns_listener(redis->process.pid, program, redis->place.socket, 0, &why) == 0)
            store->pid = redis->process.pid;
    } else if (redis->place.socket || strcmp(redis->place.host, "localhost") == 0 ||
               strncmp(redis->place.host, "127.", 4) == 0 ||
               strcmp(redis->place.host, "::1") == 0) {
        /* What listens here may be a tunnel or a container's proxy to the server. */
        pid_t pid = process_find_listener(redis->place.socket, redis->place.port, &why);
        const char *expected =
            redis->executable[0] ? redis->executable : redis->store.kind->program;
        if (pid > 0 &&
            (pid == redis->process_id || process_owns_listener(pid, expected, redis->place.socket,
                                                               redis->place.port, &why) == 0))
            store->pid = pid;
    } else {
        error_set(&why, TARE_STORE, "%s is another host", redis->place.host);
    }
    if (!store->pid)
        snprintf(store->unseen, sizeof store->unseen, "%.150s", why.message);
}

static int join(struct redis *redis, const struct server_spec *spec, const struct figures *settings,
                struct tare_error *error)
{
    if (redis_place_parse(spec->target, &redis->place, error))
        return -1;
    redis_place_name(&redis->place, redis->store.address, sizeof redis->store.address);
    redis->control = redis_connect(&redis->place, redis->store.address, PATIENCE_MS, error);
    if (!redis->control || identify(redis, error))
        return -1;
    if (redis->store.limits.read_only)
        return 0;
    if (guard(redis, error) || change_settings(redis, settings, error))
        return -1;
    redis->keys = tmpfile();
    if (!redis->keys)
        return error_set(error, TARE_STORE, "cannot make a temporary file: %s", strerror(errno));
    return 0;
}

struct store *redis_open(const struct server_spec *spec, const struct figures *settings,
                         const struct store_limits *limits, struct tare_error *error)
{
    struct redis *redis = memory_new(sizeof *redis);
    redis->store.kind = spec->kind;
    redis->store.limits = *limits;
    redis->store.started = spec->target_type == TARGET_PROGRAM;
    redis->process.lock = -1;
    int failed;
    if (redis->store.started)
        failed = start(redis, spec->target, settings, error) ||
                 redis_wait_until_ready(redis, error) || identify(redis, error);
    else
        failed = join(redis, spec, settings, error);
    if (failed) {
        redis_close(&redis->store);
        return NULL;
    }
    redis_find_process(redis, spec->target);
    return &redis->store;
}

int redis_describe(struct store *store, struct build *build, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    *build = (struct build){.cache_oblivious = -1};
    snprintf(build->store, sizeof build->store, "%s", store->kind->name);
    redisReply *reply = redis_line(redis, "INFO", error);
    if (!reply)
        return -1;
    if (!info_field(reply->str, "valkey_version", build->version, sizeof build->version))
        info_field(reply->str, "redis_version", build->version, sizeof build->version);
    info_field(reply->str, "mem_allocator", build->allocator, sizeof build->allocator);
    freeReplyObject(reply);
    build->number = version_number(build->version);
    return 0;
}

/* ---- warming up ---------------------------------------------------------------------------- */

#define DUMMY_KEY REDIS_DUMMY_KEY

/* One command on the control connection whose answer doesn't matter: an older server may not know
 * it. From 7.0 on its first call allocates a latency histogram, which must be in the base. */
static int call(struct redis *redis, const char *line)
{
    struct tare_error ignored;
    redisReply *reply = redis_line(redis, line, &ignored);
    if (reply)
        freeReplyObject(reply);
    return redis->control ? 0 : -1;
}

static void call_writes(struct redis *redis)
{
    static const char *const lines[] = {
        "SET " DUMMY_KEY " x",
        "SET " DUMMY_KEY " x EX 100000",
        "GET " DUMMY_KEY,
        "EXPIRE " DUMMY_KEY " 100000",
        "MEMORY USAGE " DUMMY_KEY,
        "DEL " DUMMY_KEY,
        "HMSET " DUMMY_KEY " f v",
        "HGET " DUMMY_KEY " f",
        "HGETALL " DUMMY_KEY,
        "UNLINK " DUMMY_KEY,
        "ZADD " DUMMY_KEY " 1 m",
        "ZRANGE " DUMMY_KEY " 0 -1",
        "DEL " DUMMY_KEY,
        "RPUSH " DUMMY_KEY " v",
        "LRANGE " DUMMY_KEY " 0 -1",
        "DEL " DUMMY_KEY,
        "SADD " DUMMY_KEY " m",
        "SMEMBERS " DUMMY_KEY,
        "DEL " DUMMY_KEY,
        "XADD " DUMMY_KEY " * f v",
        "XRANGE " DUMMY_KEY " - +",
        "DEL " DUMMY_KEY,
        "SCAN 0 COUNT 10",
        "DBSIZE",
        "TYPE " DUMMY_KEY,
    };
    static const char *const json[] = {
        "JSON.SET " DUMMY_KEY " $ 1",
        "JSON.GET " DUMMY_KEY,
        "DEL " DUMMY_KEY,
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (call(redis, lines[i]))
            return;
    for (size_t i = 0; i < sizeof json / sizeof json[0] && redis->json; i++)
        if (call(redis, json[i]))
            return;
}

/* -1 in *bytes where the server doesn't know the command. */
static int memory_usage(struct redis *redis, const struct object *object, int64_t *bytes,
                        struct tare_error *error)
{
    struct tare_error one = {0};
    const char *words[] = {"MEMORY", "USAGE", object->key.bytes, "SAMPLES", "0"};
    size_t lengths[] = {6, 5, object->key.length, 7, 1};
    redisReply *reply = redis_command(redis, 5, words, lengths, &one);
    *bytes = reply && reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    if (reply)
        freeReplyObject(reply);
    if (redis->control)
        return 0;
    *error = one;
    return -1;
}

/* Look-ups of one field: each moves a bucket of a rehash that nothing else continues. */
static int look_up(struct redis *redis, const struct object *object, struct tare_error *error)
{
    size_t times = 4 * object->element_count + 64;
    const struct element *first = &object->elements[0];
    const char *words[] = {"HGET", object->key.bytes, first->name.bytes};
    size_t lengths[] = {4, object->key.length, first->name.length};
    for (size_t i = 0; i < times; i++) {
        redisReply *reply = redis_command(redis, 3, words, lengths, error);
        if (!reply)
            return -1;
        freeReplyObject(reply);
    }
    return 0;
}

/* The next reply of what was sent ahead on the control connection; the caller's. NULL: it is lost,
 * and *error says so. */
static redisReply *next_reply(struct redis *redis, struct tare_error *error)
{
    void *reply = NULL;
    if (redisGetReply(redis->control, &reply) == REDIS_OK)
        return reply;
    redis_lost(redis, redis->control->errstr, error);
    redisFree(redis->control);
    redis->control = NULL;
    return NULL;
}

/* Writes the object over the control connection, exactly as the load does. */
static int write_object(struct redis *redis, const struct object *object, struct tare_error *error)
{
    if (!redis->control)
        return redis_lost(redis, "the connection was lost", error);
    if (redis_remember(redis, object, error))
        return -1;
    struct buffer wire = {0};
    int commands = redis_wire(&wire, object), failed = 0;
    redisAppendFormattedCommand(redis->control, wire.data, wire.length);
    buffer_free(&wire);
    while (commands-- > 0) {
        redisReply *reply = next_reply(redis, error);
        if (!reply)
            return -1;
        if (reply->type == REDIS_REPLY_ERROR && !failed)
            failed = error_set(error, TARE_STORE, "%s: the server refused a write: %s",
                               redis->store.address, reply->str);
        freeReplyObject(reply);
    }
    return failed;
}

static int delete_object(struct redis *redis, const struct object *object, struct tare_error *error)
{
    const char *words[] = {"DEL", object->key.bytes};
    size_t lengths[] = {3, object->key.length};
    redisReply *reply = redis_command(redis, 2, words, lengths, error);
    if (!reply)
        return -1;
    freeReplyObject(reply);
    return 0;
}

/* used_memory of a server that knows no MEMORY USAGE. */
static int weigh_object(struct redis *redis, const struct object *object, int64_t *bytes,
                        struct tare_error *error)
{
    if (memory_usage(redis, object, bytes, error))
        return -1;
    return *bytes >= 0 ? 0 : used_memory(redis, bytes, error);
}

/* After how many updates of a field, as a workload's, the object's rehash is over: then its old
 * table goes. 0: none ended it. Clients' buffers come and go by KiB meanwhile. */
static int count_updates(struct redis *redis, const struct object *object, int64_t *updates,
                         struct tare_error *error)
{
    size_t most = 4 * object->element_count + 64;
    const struct element *first = &object->elements[0];
    const char *words[] = {"HMSET", object->key.bytes, first->name.bytes, first->value.bytes};
    size_t lengths[] = {5, object->key.length, first->name.length, first->value.length};
    int64_t before, bytes;
    *updates = 0;
    if (write_object(redis, object, error) || weigh_object(redis, object, &before, error))
        return -1;
    for (size_t i = 1; i <= most && *updates == 0; i++, before = bytes) {
        redisReply *reply = redis_command(redis, 4, words, lengths, error);
        if (!reply)
            return -1;
        freeReplyObject(reply);
        if (weigh_object(redis, object, &bytes, error))
            return -1;
        if (bytes < before && (before - bytes) % 1024 != 0)
            *updates = (int64_t)i;
    }
    return delete_object(redis, object, error);
}

static void put_warm_figure(struct figures *figures, size_t number, const char *name, int64_t value)
{
    char *path = memory_format("warmup.%zu.%s", number, name);
    figures_integer(figures, path, value);
    free(path);
}

/* Asks of one record which branch the server's hash seed chose: what it costs as it was written,
 * what is left once its rehash was driven to the end, and how many updates do that. Done twice, the
 * first time so that the connection's buffers don't differ between the readings. */
static int ask_branch(struct redis *redis, const struct object *object, size_t number,
                      struct figures *figures, struct tare_error *error)
{
    int64_t before = 0, after = 0, touched = 0, usage = -1, usage_touched = -1, updates = 0;
    for (int round = 0; round < 2; round++) {
        if (used_memory(redis, &before, error) || write_object(redis, object, error) ||
            used_memory(redis, &after, error) || memory_usage(redis, object, &usage, error) ||
            look_up(redis, object, error) || used_memory(redis, &touched, error) ||
            memory_usage(redis, object, &usage_touched, error) ||
            delete_object(redis, object, error) || count_updates(redis, object, &updates, error))
            return -1;
    }
    put_warm_figure(figures, number, "rehash_updates", updates);
    put_warm_figure(figures, number, "signature", (int64_t)object_names_signature(object));
    put_warm_figure(figures, number, "fields", (int64_t)object->element_count);
    put_warm_figure(figures, number, "used_before", before);
    put_warm_figure(figures, number, "used_after", after);
    put_warm_figure(figures, number, "used_touched", touched);
    if (usage >= 0) {
        put_warm_figure(figures, number, "memory_usage", usage);
        put_warm_figure(figures, number, "memory_usage_touched", usage_touched);
    }
    return 0;
}

static bool has_branch(const struct object *object)
{
    return object->type == OBJECT_HASH && object->element_count > 0 && !object->shared &&
           !object->batch;
}

int redis_ask_branch(struct store *store, const struct object *objects, size_t count,
                     struct figures *figures, struct tare_error *error)
{
    size_t number = 0;
    for (size_t i = 0; i < count; i++)
        if (has_branch(&objects[i]) &&
            ask_branch((struct redis *)store, &objects[i], number++, figures, error))
            return -1;
    return 0;
}

/* Whether the object after this one goes into the same key. */
static bool grows_on(const struct object *objects, size_t count, size_t at)
{
    return at + 1 < count && (objects[at].batch || objects[at].shared) &&
           slice_equal(objects[at].key, objects[at + 1].key);
}

int redis_warm_up(struct store *store, const struct object *objects, size_t count,
                  struct figures *figures, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    const struct object dummy = {.key = slice_text(DUMMY_KEY)};
    size_t number = 0;
    if (redis_remember(redis, &dummy, error))
        return -1;
    call_writes(redis);
    for (size_t i = 0; i < count; i++) {
        if (has_branch(&objects[i])) {
            if (ask_branch(redis, &objects[i], number++, figures, error))
                return -1;
        } else if (write_object(redis, &objects[i], error) ||
                   (!grows_on(objects, count, i) && delete_object(redis, &objects[i], error))) {
            return -1;
        }
    }
    /* A loader's connection comes and goes once, so that what a client leaves is in the base. */
    if (redis_load_open(store, error))
        return -1;
    redis_load_close(store);
    return guard(redis, error);
}

/* ---- settling and reading ------------------------------------------------------------------ */

/* serverCron gives a rehash 1 ms of each 100 (server.c, activerehashing): tables of millions of
 * keys take minutes. A look-up moves a bucket too (dict.c, dictFind), as any reader's does: of the
 * key table, and from 7.0 on of the table of expiry times only where the key is there (db.c,
 * lookupKey). TYPE is asked, which the warm-up has called already, of a key that SCAN tells. A
 * round is as many as tables of a million buckets need; what a batch sends, 4 KB, fits the query
 * buffer that a connection has anyway. */
#define REHASH_ROUND 1000000
#define REHASH_BATCH 4096

/* Some key that is there, in *reply, which is the caller's; the dummy's name where there is none.
 */
static struct slice some_key(struct redis *redis, redisReply **reply, struct tare_error *error)
{
    *reply = redis_line(redis, "SCAN 0 COUNT 10", error);
    const redisReply *keys = *reply && (*reply)->elements == 2 && (*reply)->element[1]->elements > 0
                                 ? (*reply)->element[1]->element[0]
                                 : NULL;
    return keys ? slice_of(keys->str, keys->len) : slice_text(DUMMY_KEY);
}

static int drive_rehash(struct redis *redis, int64_t look_ups, struct tare_error *error)
{
    redisReply *scanned;
    struct slice key = some_key(redis, &scanned, error);
    const char *words[] = {"TYPE", key.bytes};
    size_t lengths[] = {4, key.length};
    int batch = 1 + (int)(REHASH_BATCH / (key.length + 32));
    bool refused = false;
    int failed = scanned ? 0 : -1;
    for (int64_t done = 0; !failed && !refused && done < look_ups; done += batch) {
        failed = process_check_interrupt(error);
        for (int i = 0; !failed && i < batch; i++)
            redisAppendCommandArgv(redis->control, 2, words, lengths);
        for (int i = 0; !failed && i < batch; i++) {
            redisReply *reply = next_reply(redis, error);
            failed = reply ? 0 : -1;
            refused = refused || (reply && reply->type == REDIS_REPLY_ERROR);
            freeReplyObject(reply);
        }
    }
    if (scanned)
        freeReplyObject(scanned);
    return failed;
}

/* Where no figure tells of a rehash (before Redis 7.4 and Valkey 8). It began when the table, now
 * of 2^k buckets, passed 2^(k-1) keys, and each key since has moved one of the 2^(k-1) buckets:
 * 2^k less the keys are left at most. They are moved once for so many keys. */
static int finish_rehash(struct redis *redis, struct tare_error *error)
{
    redisReply *reply = redis_line(redis, "DBSIZE", error);
    if (!reply)
        return -1;
    int64_t keys = reply->integer, buckets = 1;
    freeReplyObject(reply);
    while (buckets < keys)
        buckets *= 2;
    if (keys == 0 || keys == redis->finished)
        return 0;
    redis->finished = keys;
    return drive_rehash(redis, buckets - keys, error);
}

/* jemalloc counts a freed page as resident until it has given it back, which takes 10 s of a server
 * that is at work, and much longer of an idle one; also where it was never touched: buffers that
 * doubled for big values. Usual loads leave 4 to 6 MiB. */
#define PURGE_SHARE 24
#define PURGE_FLOOR (8 * 1024 * 1024)

static void purge(struct redis *redis, const char *info, bool *quiet)
{
    char allocator[32] = "";
    info_field(info, "mem_allocator", allocator, sizeof allocator);
    int64_t active = info_integer(info, "allocator_active", 0);
    int64_t freed = info_integer(info, "allocator_resident", 0) - active;
    if (redis->store.purged || !redis->store.started || strncmp(allocator, "jemalloc", 8) != 0 ||
        freed < PURGE_FLOOR || freed < active / PURGE_SHARE)
        return;
    *quiet = false;
    redis->store.purged = freed;
    call(redis, "MEMORY PURGE");
}

int redis_settle(struct store *store, bool *quiet, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    redisReply *reply = redis_line(redis, "INFO", error);
    if (!reply)
        return -1;
    static const char rehashing[] = "mem_overhead_db_hashtable_rehashing"; /* Redis 7.4, Valkey 8 */
    static const char *const busy[] = {"lazyfree_pending_objects", "rdb_bgsave_in_progress",
                                       "aof_rewrite_in_progress",  "loading",
                                       "active_defrag_running",    rehashing};
    *quiet = true;
    for (size_t i = 0; i < sizeof busy / sizeof busy[0]; i++)
        if (info_integer(reply->str, busy[i], 0) > 0)
            *quiet = false;
    int64_t told = info_integer(reply->str, rehashing, -1);
    purge(redis, reply->str, quiet);
    freeReplyObject(reply);
    if (told < 0)
        return finish_rehash(redis, error);
    return told > 0 ? drive_rehash(redis, REHASH_ROUND, error) : 0;
}

int redis_glance(struct store *store, struct figures *figures, struct tare_error *error)
{
    int64_t bytes;
    if (used_memory((struct redis *)store, &bytes, error))
        return -1;
    figures_integer(figures, "allocated", bytes);
    if (store->pid && process_resident(store->pid, &bytes))
        figures_integer(figures, "resident", bytes);
    return 0;
}

/* Until clientsCron has visited a new client, so that INFO's mem_clients_normal counts it: it
 * visits at least five, in each of a second's ten runs (server.c, CLIENTS_CRON_MIN_ITERATIONS, hz).
 */
#define CLIENT_VISIT_MS 250

/* From 7.0 on a reply buffer begins with 16 KiB and shrinks to what was needed of it in the last
 * five seconds (clientsCronResizeOutputBuffer), query buffers after two idle ones: what the control
 * connection takes hangs on its past. A new one has none. */
int redis_steady(struct store *store, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    if (redis->control)
        redisFree(redis->control);
    redis->control = redis_connect(&redis->place, store->address, PATIENCE_MS, error);
    if (!redis->control)
        return -1;
    process_pause(CLIENT_VISIT_MS);
    return 0;
}

/* Reads one key whole, by its type. */
static int read_key(struct redis *redis, const char *key, size_t length, struct tare_error *error)
{
    static const struct {
        const char *type, *command, *more[2];
        size_t words;
    } reads[] = {{"string", "GET", {0}, 2},          {"hash", "HGETALL", {0}, 2},
                 {"list", "LRANGE", {"0", "-1"}, 4}, {"set", "SMEMBERS", {0}, 2},
                 {"zset", "ZRANGE", {"0", "-1"}, 4}, {"stream", "XRANGE", {"-", "+"}, 4},
                 {"ReJSON-RL", "JSON.GET", {0}, 2}};
    const char *ask[] = {"TYPE", key};
    size_t ask_lengths[] = {4, length};
    redisReply *type = redis_command(redis, 2, ask, ask_lengths, error);
    if (!type)
        return -1;
    int failed = 0;
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        if (strcmp(type->str, reads[i].type) != 0)
            continue;
        const char *words[] = {reads[i].command, key, reads[i].more[0], reads[i].more[1]};
        size_t lengths[] = {strlen(words[0]), length, words[2] ? strlen(words[2]) : 0,
                            words[3] ? strlen(words[3]) : 0};
        redisReply *reply = redis_command(redis, reads[i].words, words, lengths, error);
        if (reply)
            freeReplyObject(reply);
        else
            failed = -1;
    }
    freeReplyObject(type);
    return failed;
}

int redis_read_all(struct store *store, int64_t *count, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    char *cursor = memory_text("0");
    int failed = 0;
    *count = 0;
    do {
        const char *words[] = {"SCAN", cursor, "COUNT", "1000"};
        redisReply *reply = redis_command(redis, 4, words, NULL, error);
        if (!reply) {
            failed = -1;
        } else if (reply->elements != 2) {
            failed = error_set(error, TARE_STORE, "%s: SCAN is answered by no cursor and keys",
                               redis->store.address);
        } else {
            free(cursor);
            cursor = memory_text(reply->element[0]->str);
            const redisReply *keys = reply->element[1];
            for (size_t i = 0; !failed && i < keys->elements; i++) {
                failed = read_key(redis, keys->element[i]->str, keys->element[i]->len, error);
                (*count)++;
            }
        }
        if (reply)
            freeReplyObject(reply);
        if (!failed)
            failed = process_check_interrupt(error);
    } while (!failed && strcmp(cursor, "0") != 0);
    free(cursor);
    return failed;
}

/* ---- closing ------------------------------------------------------------------------------- */

static void put_settings_back(struct redis *redis)
{
    struct tare_error ignored;
    for (size_t i = 0; i < redis->changed.count && redis->control; i++) {
        char *value = setting_value(&redis->changed.items[i]);
        config_set(redis, redis->changed.items[i].name, value, &ignored);
        free(value);
    }
}

void redis_close(struct store *store)
{
    struct redis *redis = (struct redis *)store;
    redis_load_close(store);
    if (!store->started) {
        /* The control connection may be what failed; what was written is removed all the same. */
        struct tare_error ignored;
        if (!redis->control && (redis->wrote || redis->changed.count))
            redis->control =
                redis_connect(&redis->place, redis->store.address, PATIENCE_MS, &ignored);
        if (redis->wrote)
            redis_wipe(redis);
        put_settings_back(redis);
    }
    if (redis->control)
        redisFree(redis->control);
    if (redis->keys)
        fclose(redis->keys);
    if (store->started) {
        process_stop(&redis->process, STOP_PATIENCE_MS);
        process_remove(&redis->process);
    }
    for (size_t i = 0; redis->arguments && redis->arguments[i]; i++)
        free(redis->arguments[i]);
    free(redis->arguments);
    redis_place_free(&redis->place);
    figures_free(&redis->changed);
    free(redis->shared_key);
    free(redis);
}

const struct store_kind store_redis = {
    .name = "redis",
    .summary = "Redis 3.2 and later, started or by URL (redis://, unix://)",
    .program = "redis-server",
    .install = "apt-get install redis-server",
    /* What Debian 12 has: the system's jemalloc. */
    .plan_version = "7.0.15,allocator=jemalloc-5.3.0,quantum=16,page=4096,cache-oblivious=1",
    REDIS_FAMILY,
};

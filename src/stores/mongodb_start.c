/* Starting mongod: its arguments, its readiness, and why it ended. */
#include "stores/mongodb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"

/* mongod's command-line options that make sense as settings (mongod --help, 4.4 to 6.0). Those that
 * say where it keeps and listens are tare's own. A flag takes no value: it is given where the
 * setting is 1, true, yes or on, left out otherwise. */
static const struct mongod_option {
    const char *name;
    bool flag;
} mongod_options[] = {
    {"directoryperdb", true},
    {"enableMajorityReadConcern", false},
    {"journalCommitInterval", false},
    {"listenBacklog", false},
    {"maxConns", false},
    {"networkMessageCompressors", false},
    {"nojournal", true},
    {"noscripting", true},
    {"notablescan", true},
    {"profile", false},
    {"slowms", false},
    {"slowOpSampleRate", false},
    {"storageEngine", false},
    {"syncdelay", false},
    {"timeZoneInfo", false},
    {"wiredTigerCacheSizeGB", false},
    {"wiredTigerCollectionBlockCompressor", false},
    {"wiredTigerCollectionConfigString", false},
    {"wiredTigerDirectoryForIndexes", true},
    {"wiredTigerEngineConfigString", false},
    {"wiredTigerIndexConfigString", false},
    {"wiredTigerIndexPrefixCompression", false},
    {"wiredTigerJournalCompressor", false},
    {"wiredTigerMaxCacheOverflowFileSizeGB", false},
    {"zstdDefaultCompressionLevel", false},
};

/* Always given as --setParameter unless the user sets them. Diagnostic data collection samples the
 * server every second and keeps what it read in memory; the refresh of logical sessions writes to
 * the database "config", which an in-memory WiredTiger can't be asked to make durable. */
static const char *const own_parameters[][2] = {
    {"diagnosticDataCollectionEnabled", "false"},
    {"disableLogicalSessionCacheRefresh", "true"},
};

/* What turns WiredTiger's files off: the configuration that Percona's memory engine hard-wires. */
#define IN_MEMORY_CONFIGURATION "in_memory=true,log=(enabled=false)"

static void argument(struct mongodb *mongodb, char *text)
{
    /* One more than the count, for the NULL. */
    if (mongodb->argument_count + 1 >= mongodb->argument_capacity)
        MEMORY_GROW(mongodb->arguments, mongodb->argument_capacity, mongodb->argument_capacity);
    mongodb->arguments[mongodb->argument_count++] = text;
    mongodb->arguments[mongodb->argument_count] = NULL;
}

static void option(struct mongodb *mongodb, const char *name, const char *value)
{
    argument(mongodb, memory_format("--%s", name));
    if (value)
        argument(mongodb, memory_text(value));
}

static void parameter(struct mongodb *mongodb, const char *name, const char *value)
{
    argument(mongodb, memory_text("--setParameter"));
    argument(mongodb, memory_format("%s=%s", name, value));
}

static char *figure_as_text(const struct figure *figure)
{
    switch (figure->type) {
    case FIGURE_INTEGER:
        return memory_format("%" PRId64, figure->integer);
    case FIGURE_REAL:
        return memory_format("%.15g", figure->real);
    case FIGURE_TEXT:
        break;
    }
    return memory_text(figure->text);
}

static bool is_true(const char *value)
{
    return strcmp(value, "1") == 0 || strcmp(value, "true") == 0 || strcmp(value, "yes") == 0 ||
           strcmp(value, "on") == 0;
}

static void setting(struct mongodb *mongodb, const struct figure *figure)
{
    char *value = figure_as_text(figure);
    const struct mongod_option *known = NULL;
    for (size_t i = 0; i < sizeof mongod_options / sizeof *mongod_options; i++) {
        if (strcmp(figure->name, mongod_options[i].name) == 0)
            known = &mongod_options[i];
    }
    if (!known)
        parameter(mongodb, figure->name, value);
    else if (!known->flag)
        option(mongodb, figure->name, value);
    else if (is_true(value))
        option(mongodb, figure->name, NULL);
    free(value);
}

void mongodb_arguments(struct mongodb *mongodb, const char *program, const struct figures *settings)
{
    char *data = memory_format("%s/data", mongodb->process.folder);
    argument(mongodb, memory_text(program));
    option(mongodb, "dbpath", data);
    option(mongodb, "bind_ip", mongodb->socket);
    option(mongodb, "nounixsocket", NULL); /* no /tmp/mongodb-27017.sock beside the one above */
    free(data);

    const char *engine_configuration =
        settings ? figures_get_text(settings, "wiredTigerEngineConfigString") : NULL;
    if (mongodb->in_memory) {
        char *configuration =
            memory_format("%s%s%s", IN_MEMORY_CONFIGURATION, engine_configuration ? "," : "",
                          engine_configuration ? engine_configuration : "");
        option(mongodb, "wiredTigerEngineConfigString", configuration);
        free(configuration);
        if (!settings || !figures_has(settings, "nojournal"))
            option(mongodb, "nojournal", NULL);
        /* No checkpoints: an in-memory WiredTiger answers ENOTSUP, and mongod aborts. */
        if (!settings || !figures_has(settings, "syncdelay"))
            option(mongodb, "syncdelay", "0");
    }
    for (size_t i = 0; i < sizeof own_parameters / sizeof *own_parameters; i++) {
        if (!settings || !figures_has(settings, own_parameters[i][0]))
            parameter(mongodb, own_parameters[i][0], own_parameters[i][1]);
    }
    for (size_t i = 0; settings && i < settings->count; i++) {
        const struct figure *figure = &settings->items[i];
        if (mongodb->in_memory && strcmp(figure->name, "wiredTigerEngineConfigString") == 0)
            continue;
        setting(mongodb, figure);
    }
}

void mongodb_arguments_free(struct mongodb *mongodb)
{
    for (size_t i = 0; i < mongodb->argument_count; i++)
        free(mongodb->arguments[i]);
    free(mongodb->arguments);
    mongodb->arguments = NULL;
    mongodb->argument_count = mongodb->argument_capacity = 0;
}

/* The reason inside a JSON log line of this severity; false where the line is none. Such a line is
 * {"t": .., "s": "F", "c": .., "id": .., "ctx": .., "msg": .., "attr": {..}}; what went wrong
 * stands in attr.error, a text or {code, codeName, errmsg}. */
static bool json_reason(struct slice line, const char *severity, struct buffer *reason)
{
    bson_t document;
    bool found = false;
    if (!line.length || line.bytes[0] != '{' ||
        !bson_init_from_json(&document, line.bytes, (ssize_t)line.length, NULL))
        return false;
    const char *have = mongodb_text(&document, "s");
    const char *message = mongodb_text(&document, "msg");
    if (have && message && strcmp(have, severity) == 0) {
        const char *detail = mongodb_text(&document, "attr.error.errmsg");
        if (!detail)
            detail = mongodb_text(&document, "attr.error");
        if (!detail)
            detail = mongodb_text(&document, "attr.message");
        buffer_clear(reason);
        buffer_text(reason, detail ? detail : message);
        found = true;
    }
    bson_destroy(&document);
    return found;
}

/* A plain line that is a reason: option errors come before the log is JSON. */
static bool plain_reason(struct slice line, struct buffer *reason)
{
    static const char *const telling[] = {"Error ",    "BadValue",         "error while loading",
                                          "FATAL",     "terminate called", "exception",
                                          "not found", "Illegal"};
    if (!line.length || line.bytes[0] == '{')
        return false;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        if (memmem(line.bytes, line.length, telling[i], strlen(telling[i]))) {
            buffer_clear(reason);
            buffer_append(reason, line.bytes, line.length);
            return true;
        }
    }
    return false;
}

/* Where nothing tells more: any plain line but mongod's advice after a bad option. */
static bool any_plain_line(struct slice line, struct buffer *reason)
{
    if (!line.length || line.bytes[0] == '{' || line.bytes[0] == ' ' ||
        (line.length > 4 && memcmp(line.bytes, "try ", 4) == 0))
        return false;
    buffer_clear(reason);
    buffer_append(reason, line.bytes, line.length);
    return true;
}

bool mongodb_log_reason(struct slice log, struct buffer *reason)
{
    /* The first fatal line says more than those that follow from it; what is less telling counts
     * only where there is nothing better. */
    for (int rank = 0; rank < 4; rank++) {
        for (size_t from = 0; from < log.length;) {
            const char *end = memchr(log.bytes + from, '\n', log.length - from);
            size_t length = end ? (size_t)(end - log.bytes) - from : log.length - from;
            struct slice line = slice_of(log.bytes + from, length);
            if ((rank == 0 && json_reason(line, "F", reason)) ||
                (rank == 1 && plain_reason(line, reason)) ||
                (rank == 2 && json_reason(line, "E", reason)) ||
                (rank == 3 && any_plain_line(line, reason)))
                return true;
            from += length + 1;
        }
    }
    return false;
}

/* The last LOG_TAIL bytes of the process's log; the caller frees the buffer. */
#define LOG_TAIL (256 * 1024)

static void read_log(const struct mongodb *mongodb, struct buffer *log)
{
    FILE *file = fopen(mongodb->process.log, "re");
    if (!file)
        return;
    if (fseek(file, -LOG_TAIL, SEEK_END) != 0)
        rewind(file);
    buffer_reserve(log, LOG_TAIL);
    log->length = fread(log->data, 1, LOG_TAIL, file);
    fclose(file);
}

bool mongodb_ended(struct mongodb *mongodb, struct tare_error *error)
{
    if (!mongodb->store.started || process_alive(&mongodb->process))
        return false;
    struct buffer log = {0}, reason = {0};
    read_log(mongodb, &log);
    if (!mongodb_log_reason(buffer_slice(&log), &reason))
        buffer_text(&reason, "its log gives no reason; was it killed, or out of memory?");
    const char *hint = "";
    if (mongodb->in_memory && strstr(reason.data, "nojournal"))
        hint = "; engine=memory takes mongod 4.4 to 6.0";
    error_set(error, TARE_STORE, "server '%s' ended: %s%s", mongodb->arguments[0], reason.data,
              hint);
    mongodb_one_line(error);
    buffer_free(&log);
    buffer_free(&reason);
    return true;
}

bool mongodb_ended_soon(struct mongodb *mongodb, bool lost_connection, struct tare_error *error)
{
    for (int i = 0; i < 10 && lost_connection && mongodb->store.started; i++) {
        if (mongodb_ended(mongodb, error))
            return true;
        process_pause(30);
    }
    return mongodb_ended(mongodb, error);
}

static int wait_until_ready(struct mongodb *mongodb, struct tare_error *error)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t end = now.tv_sec + 120; /* a disk engine may have much to read back */
    bson_t ping = BSON_INITIALIZER;
    int result = -1;
    BSON_APPEND_INT32(&ping, "ping", 1);
    while (now.tv_sec < end) {
        if (process_check_interrupt(error))
            break;
        if (mongodb_ended(mongodb, error))
            break;
        if (access(mongodb->socket, F_OK) == 0) {
            bson_t reply;
            mongodb->client = mongodb_client(mongodb, error);
            if (!mongodb->client)
                break;
            result = mongodb_command(mongodb, "admin", &ping, &reply, error);
            bson_destroy(&reply);
            if (result == 0)
                break;
            mongoc_client_destroy(mongodb->client);
            mongodb->client = NULL;
        }
        process_pause(10);
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    bson_destroy(&ping);
    if (now.tv_sec >= end)
        return error_set(error, TARE_STORE, "'%s' doesn't answer 120 s after its start",
                         mongodb->arguments[0]);
    return result;
}

int mongodb_start(struct mongodb *mongodb, struct tare_error *error)
{
    unlink(mongodb->socket); /* one that a killed server left: it would look ready */
    if (process_start(&mongodb->process, mongodb->arguments, error)) {
        struct tare_error ended;
        if (mongodb_ended(mongodb, &ended) && error)
            *error = ended;
        return -1;
    }
    if (wait_until_ready(mongodb, error))
        return -1;
    struct tare_error why;
    mongodb->store.pid = mongodb->process.pid;
    mongodb->store.unseen[0] = '\0';
    if (process_owns_listener(mongodb->store.pid, mongodb->arguments[0], mongodb->socket, 0,
                              &why)) {
        mongodb->store.pid = 0;
        snprintf(mongodb->store.unseen, sizeof mongodb->store.unseen, "%.*s",
                 (int)sizeof mongodb->store.unseen - 1, why.message);
    }
    return 0;
}

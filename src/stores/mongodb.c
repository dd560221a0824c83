/* The MongoDB store: a mongod that tare starts on a unix socket in a private
 * folder, in memory or on disk, or a server given by URL. Writes go to one
 * database of tare's own with an explicit w:1. */
#include "stores/mongodb.h"

#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/memory.h"

static struct mongodb *mongodb_of(struct store *store)
{
    return (struct mongodb *)store;
}

/* The driver, once. */

static void no_log(mongoc_log_level_t level, const char *domain, const char *message, void *data)
{
    (void)level;
    (void)domain;
    (void)message;
    (void)data;
}

/* libmongoc puts counters of its own into shared memory when it is loaded, before main(), whether
 * they are wanted or not, and removes their name at exit. Without a name from the start nothing
 * stays behind where tare is killed. The name is libmongoc's (1.x): "/mongoc-PID". */
__attribute__((constructor)) static void forget_shared_counters(void)
{
    char name[32];
    snprintf(name, sizeof name, "/mongoc-%u", (unsigned)getpid());
    shm_unlink(name);
}

static void initialise_once(void)
{
    mongoc_log_set_handler(no_log, NULL); /* errors are returned; stderr is tare's */
    mongoc_init();
}

static void initialise(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, initialise_once);
}

/* Messages. */

void mongodb_one_line(struct tare_error *error)
{
    if (!error)
        return;
    for (char *at = error->message; *at; at++) {
        if ((unsigned char)*at < ' ')
            *at = ' ';
    }
    size_t length = strlen(error->message);
    while (length && (error->message[length - 1] == '.' || error->message[length - 1] == ' '))
        error->message[--length] = '\0';
}

bool mongodb_is_lost_connection(const bson_error_t *reason)
{
    return reason->domain == MONGOC_ERROR_STREAM || reason->domain == MONGOC_ERROR_SERVER_SELECTION;
}

int mongodb_error(struct mongodb *mongodb, const char *what, const bson_error_t *reason,
                  struct tare_error *error)
{
    if (mongodb_ended_soon(mongodb, mongodb_is_lost_connection(reason), error))
        return -1;
    const char *hint = "";
    char message[sizeof reason->message];
    snprintf(message, sizeof message, "%s", reason->message);
    if (reason->domain == MONGOC_ERROR_SERVER_SELECTION && strchr(message, '[')) {
        /* "No suitable servers found (...): [what happened to the first host]..." */
        memmove(message, strchr(message, '[') + 1, strlen(strchr(message, '[')));
        if (message[0] && message[strlen(message) - 1] == ']')
            message[strlen(message) - 1] = '\0';
        if (!strstr(message, "refused") && !strstr(message, "connection timeout") &&
            !strstr(message, "resolve") && !strstr(message, "No such file"))
            hint = "; is it a MongoDB server?";
    }
    error_set(error, TARE_STORE, "server '%s': %s%s%s%s", mongodb->store.address, what ? what : "",
              what ? ": " : "", message, hint);
    mongodb_one_line(error);
    return -1;
}

/* Connections. */

/* Without tare's limits a driver waits for 30 s, and a write would be repeated with a transaction
 * number, which costs the server a table of its own. */
static void limit(mongoc_uri_t *uri, int socket_timeout_ms)
{
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 3000);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, 3000);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_SERVERSELECTIONTRYONCE, true);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYWRITES, false);
    if (!mongoc_uri_has_option(uri, MONGOC_URI_SOCKETTIMEOUTMS))
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, socket_timeout_ms);
    if (!mongoc_uri_get_appname(uri))
        mongoc_uri_set_appname(uri, "tare");
}

/* Whether what stands before the hosts is cut where its author meant it to be: an "@" or "/" inside
 * the password, not written as %XX, would make the driver take part of it for a host. */
static bool is_clearly_cut(const char *url)
{
    const char *scheme = strstr(url, "://");
    if (!scheme)
        return true; /* an error of another kind */
    size_t authority = strcspn(scheme + 3, "/?");
    const char *first = memchr(scheme + 3, '@', authority);
    const char *all_end = scheme + 3 + strcspn(scheme + 3, "?");
    const char *last = memrchr(scheme + 3, '@', (size_t)(all_end - (scheme + 3)));
    return first == last;
}

/* Whether a message of the driver repeats the URL's password. */
static bool shows_password(const char *url, const char *message)
{
    const char *scheme = strstr(url, "://");
    const char *at = strrchr(url, '@');
    const char *colon = scheme ? strchr(scheme + 3, ':') : NULL;
    if (!at || !colon || colon > at || at - colon < 2)
        return false;
    return memmem(message, strlen(message), colon + 1, (size_t)(at - colon - 1)) != NULL;
}

int mongodb_url(const char *url, mongoc_uri_t **uri, char *address, size_t size, char **database,
                struct tare_error *error)
{
    bson_error_t reason;
    initialise();
    *database = NULL;
    bool is_cut = is_clearly_cut(url);
    *uri = is_cut ? mongoc_uri_new_with_error(url, &reason) : NULL;
    if (!*uri) {
        error_set(error, TARE_USAGE, "MongoDB URL: %s",
                  !is_cut || shows_password(url, reason.message)
                      ? "user name and password need their special characters as %XX"
                      : reason.message);
        mongodb_one_line(error);
        return -1;
    }
    limit(*uri, 60 * 1000);
    if (mongoc_uri_get_database(*uri))
        *database = memory_text(mongoc_uri_get_database(*uri));
    struct buffer hosts = {0};
    if (mongoc_uri_get_srv_hostname(*uri))
        buffer_text(&hosts, mongoc_uri_get_srv_hostname(*uri));
    for (const mongoc_host_list_t *host = mongoc_uri_get_hosts(*uri); host; host = host->next) {
        if (hosts.length)
            buffer_byte(&hosts, ',');
        buffer_text(&hosts, host->family == AF_UNIX ? host->host : host->host_and_port);
    }
    snprintf(address, size, "%s", hosts.length ? hosts.data : "?");
    buffer_free(&hosts);
    return 0;
}

mongoc_client_t *mongodb_client(const struct mongodb *mongodb, struct tare_error *error)
{
    bson_error_t reason;
    mongoc_client_t *client = mongoc_client_new_from_uri_with_error(mongodb->uri, &reason);
    if (!client) {
        error_set(error, TARE_STORE, "server '%s': %s", mongodb->store.address, reason.message);
        mongodb_one_line(error);
        return NULL;
    }
    mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
    return client;
}

int mongodb_command(struct mongodb *mongodb, const char *database, const bson_t *command,
                    bson_t *reply, struct tare_error *error)
{
    bson_error_t reason;
    if (mongoc_client_command_simple(mongodb->client, database, command, NULL, reply, &reason))
        return 0;
    bson_iter_t first;
    bool named = bson_iter_init(&first, command) && bson_iter_next(&first);
    bool connected = reason.domain == MONGOC_ERROR_SERVER;
    return mongodb_error(mongodb, named && connected ? bson_iter_key(&first) : NULL, &reason,
                         error);
}

/* {NAME: 1}. */
static int simple_command(struct mongodb *mongodb, const char *name, bson_t *reply,
                          struct tare_error *error)
{
    bson_t command = BSON_INITIALIZER;
    BSON_APPEND_INT32(&command, name, 1);
    int result = mongodb_command(mongodb, "admin", &command, reply, error);
    bson_destroy(&command);
    return result;
}

/* serverStatus without the sections that nobody asked for: they are most of its cost. */
static int short_status(struct mongodb *mongodb, bson_t *reply, struct tare_error *error)
{
    static const char *const unwanted[] = {"locks",        "metrics", "opLatencies", "repl",
                                           "transactions", "network", "security"};
    bson_t command = BSON_INITIALIZER;
    BSON_APPEND_INT32(&command, "serverStatus", 1);
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        BSON_APPEND_INT32(&command, unwanted[i], 0);
    int result = mongodb_command(mongodb, "admin", &command, reply, error);
    bson_destroy(&command);
    return result;
}

/* What the URL may be used for. */

static bool is_system_database(const char *name)
{
    return strcmp(name, "admin") == 0 || strcmp(name, "config") == 0 || strcmp(name, "local") == 0;
}

/* Calls see(context, document) for each element of an array of documents at path. */
static void each_document(const bson_t *reply, const char *path,
                          void (*see)(void *context, const bson_t *document), void *context)
{
    bson_iter_t from, found, element;
    if (!bson_iter_init(&from, reply) || !bson_iter_find_descendant(&from, path, &found) ||
        !BSON_ITER_HOLDS_ARRAY(&found) || !bson_iter_recurse(&found, &element))
        return;
    while (bson_iter_next(&element)) {
        const uint8_t *bytes;
        uint32_t length;
        bson_t document;
        if (!BSON_ITER_HOLDS_DOCUMENT(&element))
            continue;
        bson_iter_document(&element, &length, &bytes);
        if (bson_init_static(&document, bytes, length))
            see(context, &document);
    }
}

/* A list of names, each with the size that decides which one is taken. */
struct largest {
    struct mongodb *mongodb;
    const char *database; /* NULL: names are databases'; else collections of it */
    char *name;
    int64_t size;
};

static void see_largest(void *context, const bson_t *document)
{
    struct largest *largest = context;
    const char *name = mongodb_text(document, "name");
    if (!name || is_system_database(name) || strncmp(name, "system.", 7) == 0)
        return;
    bson_t command = BSON_INITIALIZER, reply;
    if (largest->database)
        BSON_APPEND_UTF8(&command, "collStats", name);
    else
        BSON_APPEND_INT32(&command, "dbStats", 1);
    struct tare_error ignored; /* a view has no size, and what may not be read isn't taken */
    int64_t size = -1;
    if (mongodb_command(largest->mongodb, largest->database ? largest->database : name, &command,
                        &reply, &ignored) == 0 &&
        mongodb_number(&reply, largest->database ? "size" : "dataSize", &size) &&
        size > largest->size) {
        free(largest->name);
        largest->name = memory_text(name);
        largest->size = size;
    }
    bson_destroy(&reply);
    bson_destroy(&command);
}

static int list(struct mongodb *mongodb, const char *database, bson_t *reply,
                struct tare_error *error)
{
    bson_t command = BSON_INITIALIZER;
    BSON_APPEND_INT32(&command, database ? "listCollections" : "listDatabases", 1);
    BSON_APPEND_BOOL(&command, "nameOnly", true);
    if (database) /* with the rights that a user has on its own collections alone */
        BSON_APPEND_BOOL(&command, "authorizedCollections", true);
    int result = mongodb_command(mongodb, database ? database : "admin", &command, reply, error);
    bson_destroy(&command);
    return result;
}

/* To be weighed, read only: what the URL names, else the largest database, and in it the
 * collection of YCSB's name, else the largest. */
static int choose_weighed(struct mongodb *mongodb, struct tare_error *error)
{
    bson_t reply;
    if (!mongodb->database || is_system_database(mongodb->database)) {
        struct largest largest = {mongodb, NULL, NULL, -1};
        if (list(mongodb, NULL, &reply, error)) {
            bson_destroy(&reply);
            return -1;
        }
        each_document(&reply, "databases", see_largest, &largest);
        bson_destroy(&reply);
        free(mongodb->database);
        mongodb->database = largest.name ? largest.name : memory_text(MONGODB_DATABASE);
    }
    struct largest largest = {mongodb, mongodb->database, NULL, -1};
    if (list(mongodb, mongodb->database, &reply, error)) {
        bson_destroy(&reply);
        return -1;
    }
    each_document(&reply, "cursor.firstBatch", see_largest, &largest);
    bson_destroy(&reply);
    mongodb->collection = largest.name ? largest.name : memory_text(MONGODB_COLLECTION);
    return 0;
}

struct presence {
    const char *database; /* NULL: anything counts */
    bool seen;
};

static void see_presence(void *context, const bson_t *document)
{
    struct presence *presence = context;
    const char *name = mongodb_text(document, "name");
    if (!presence->database || (name && strcasecmp(name, presence->database) == 0))
        presence->seen = true;
}

/* To be written to: a database that doesn't exist yet. Names that differ in case alone are one
 * database to MongoDB. */
static int guard(struct mongodb *mongodb, struct tare_error *error)
{
    struct presence presence = {NULL, false};
    bson_t reply;
    if (!mongodb->database)
        mongodb->database = memory_text(MONGODB_DATABASE);
    mongodb->collection = memory_text(MONGODB_COLLECTION);
    if (is_system_database(mongodb->database)) {
        presence.seen = true;
    } else {
        /* A user without the right to list all databases is shown its own ones only. */
        presence.database = mongodb->database;
        if (list(mongodb, NULL, &reply, error)) {
            bson_destroy(&reply);
            return -1;
        }
        each_document(&reply, "databases", see_presence, &presence);
        bson_destroy(&reply);
        presence.database = NULL;
        if (list(mongodb, mongodb->database, &reply, error)) {
            bson_destroy(&reply);
            return -1;
        }
        each_document(&reply, "cursor.firstBatch", see_presence, &presence);
        bson_destroy(&reply);
    }
    if (presence.seen)
        return error_set(error, TARE_STORE,
                         "server '%s': database '%s' exists already and is left untouched; name "
                         "one that doesn't exist as the URL's path",
                         mongodb->store.address, mongodb->database);
    return 0;
}

/* Settings of a server that tare didn't start: setParameter at run time, undone by close(). */

static void append_setting(bson_t *command, const struct figure *figure)
{
    if (figure->type == FIGURE_INTEGER)
        BSON_APPEND_INT64(command, figure->name, figure->integer);
    else if (figure->type == FIGURE_REAL)
        BSON_APPEND_DOUBLE(command, figure->name, figure->real);
    else if (strcmp(figure->text, "true") == 0 || strcmp(figure->text, "false") == 0)
        BSON_APPEND_BOOL(command, figure->name, figure->text[0] == 't');
    else
        BSON_APPEND_UTF8(command, figure->name, figure->text);
}

static int set_parameter(struct mongodb *mongodb, const struct figure *figure, bson_t *reply,
                         struct tare_error *error)
{
    bson_t command = BSON_INITIALIZER;
    BSON_APPEND_INT32(&command, "setParameter", 1);
    append_setting(&command, figure);
    int result = mongodb_command(mongodb, "admin", &command, reply, error);
    bson_destroy(&command);
    return result;
}

static int change_settings(struct mongodb *mongodb, const struct figures *settings,
                           struct tare_error *error)
{
    for (size_t i = 0; settings && i < settings->count; i++) {
        const struct figure *figure = &settings->items[i];
        if (!mongodb->store.limits.allow_config)
            return error_set(error, TARE_USAGE,
                             "server '%s': setting '%s' of a server that tare did not start needs "
                             "--allow-config",
                             mongodb->store.address, figure->name);
        bson_t reply;
        int result = set_parameter(mongodb, figure, &reply, error);
        bson_iter_t was;
        if (result == 0 && bson_iter_init_find(&was, &reply, "was")) {
            if (BSON_ITER_HOLDS_BOOL(&was))
                figures_text(&mongodb->changed, figure->name,
                             bson_iter_bool(&was) ? "true" : "false");
            else if (BSON_ITER_HOLDS_DOUBLE(&was))
                figures_real(&mongodb->changed, figure->name, bson_iter_double(&was));
            else if (BSON_ITER_HOLDS_UTF8(&was))
                figures_text(&mongodb->changed, figure->name, bson_iter_utf8(&was, NULL));
            else
                figures_integer(&mongodb->changed, figure->name, bson_iter_as_int64(&was));
        }
        bson_destroy(&reply);
        if (result)
            return -1;
    }
    return 0;
}

/* The process behind a URL. */

static void find_process(struct mongodb *mongodb)
{
    struct store *store = &mongodb->store;
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(mongodb->uri);
    const char *socket = NULL;
    store->pid = 0;
    if (!host || host->next) {
        snprintf(store->unseen, sizeof store->unseen,
                 "the URL names several hosts or a service, not one server");
        return;
    }
    if (host->family == AF_UNIX || host->host[0] == '/') {
        socket = host->host;
    } else if (strcasecmp(host->host, "localhost") != 0 && strncmp(host->host, "127.", 4) != 0 &&
               strcmp(host->host, "::1") != 0) {
        snprintf(store->unseen, sizeof store->unseen,
                 "'%.100s' is another machine, or a name of it", host->host);
        return;
    }
    /* Who listens there tells it without any right; serverStatus where several do. Its number is
     * another namespace's in a container, so it must be seen to listen here as well. */
    struct tare_error why;
    int port = socket ? 0 : host->port;
    pid_t pid = process_find_listener(socket, port, &why);
    if (!pid) {
        bson_t reply;
        struct tare_error ignored;
        int64_t told = 0;
        if (short_status(mongodb, &reply, &ignored) == 0 && mongodb_number(&reply, "pid", &told))
            pid = (pid_t)told;
        bson_destroy(&reply);
    }
    if (pid && process_owns_listener(pid, store->kind->program, socket, port, &why) == 0)
        store->pid = pid;
    else
        snprintf(store->unseen, sizeof store->unseen, "%.*s", (int)sizeof store->unseen - 1,
                 why.message);
}

/* Opening. */

static bool is_engine_memory(const char *engine)
{
    return !engine || strcmp(engine, "memory") == 0;
}

static int open_program(struct mongodb *mongodb, const struct server_spec *spec,
                        const struct figures *settings, struct tare_error *error)
{
    struct sockaddr_un limits;
    char *data, *url, *escaped, *program;
    mongodb->store.started = true;
    mongodb->in_memory = is_engine_memory(spec->engine);
    mongodb->database = memory_text(MONGODB_DATABASE);
    mongodb->collection = memory_text(MONGODB_COLLECTION);
    if (process_folder(&mongodb->process, error))
        return -1;
    mongodb->socket = memory_format("%s/mongodb.sock", mongodb->process.folder);
    if (strlen(mongodb->socket) >= sizeof limits.sun_path)
        return error_set(error, TARE_STORE,
                         "socket '%s' has a longer path than the %zu bytes that a unix socket "
                         "takes; set TMPDIR to a shorter one",
                         mongodb->socket, sizeof limits.sun_path - 1);
    snprintf(mongodb->store.address, sizeof mongodb->store.address, "%s", mongodb->socket);
    data = memory_format("%s/data", mongodb->process.folder);
    int made = mkdir(data, 0700);
    free(data);
    if (made)
        return error_set(error, TARE_STORE, "folder '%s': can't make 'data' in it",
                         mongodb->process.folder);

    escaped = memory_new(3 * strlen(mongodb->socket) + 1);
    for (size_t i = 0, at = 0; mongodb->socket[i]; i++)
        at += (size_t)sprintf(escaped + at, "%%%02X", (unsigned char)mongodb->socket[i]);
    url = memory_format("mongodb://%s", escaped);
    free(escaped);
    mongodb->uri = mongoc_uri_new(url);
    free(url);
    if (!mongodb->uri)
        return error_set(error, TARE_STORE, "socket '%s': libmongoc doesn't take its path",
                         mongodb->socket);
    limit(mongodb->uri, 600 * 1000); /* a checkpoint of gigabytes is one answer */
    program = process_find_program(spec->target);
    if (!program)
        return error_set(error, TARE_STORE, "no program '%s'; %s", spec->target,
                         mongodb->store.kind->install);
    mongodb_arguments(mongodb, program, settings);
    free(program);
    return mongodb_start(mongodb, error);
}

/* Whether the server keeps its data in memory, by its command line or its sections. */
static int tell_engine(struct mongodb *mongodb, char *engine, size_t size,
                       struct tare_error *error);

static int open_url(struct mongodb *mongodb, const struct server_spec *spec,
                    const struct figures *settings, struct tare_error *error)
{
    char engine[sizeof((struct build *)0)->engine];
    bson_t reply;
    if (mongodb_url(spec->target, &mongodb->uri, mongodb->store.address,
                    sizeof mongodb->store.address, &mongodb->database, error))
        return -1;
    mongodb->client = mongodb_client(mongodb, error);
    if (!mongodb->client)
        return -1;
    int result = simple_command(mongodb, "ping", &reply, error);
    bson_destroy(&reply);
    if (result)
        return -1;
    if (mongodb->store.limits.read_only)
        return choose_weighed(mongodb, error) ? -1 : (find_process(mongodb), 0);
    if (tell_engine(mongodb, engine, sizeof engine, error))
        return -1;
    mongodb->in_memory = strcmp(engine, "memory") == 0;
    if (spec->engine && strcmp(spec->engine, engine) != 0)
        return error_set(error, TARE_USAGE, "server '%s': its engine is '%s', not '%s'",
                         mongodb->store.address, engine, spec->engine);
    if (guard(mongodb, error) || change_settings(mongodb, settings, error))
        return -1;
    find_process(mongodb);
    return 0;
}

static void mongodb_close(struct store *store);

static struct store *mongodb_open(const struct server_spec *spec, const struct figures *settings,
                                  const struct store_limits *limits, struct tare_error *error)
{
    struct mongodb *mongodb = memory_new(sizeof *mongodb);
    int result;
    initialise();
    mongodb->store.kind = &store_mongodb;
    mongodb->store.limits = *limits;
    mongodb->process.lock = -1;
    if (spec->target_type == TARGET_PROGRAM)
        result = open_program(mongodb, spec, settings, error);
    else if (spec->target_type == TARGET_URL)
        result = open_url(mongodb, spec, settings, error);
    else
        result = error_set(error, TARE_USAGE,
                           "server '%s' is a version alone; give a program or a URL to measure",
                           spec->text);
    if (result) {
        mongodb_close(&mongodb->store);
        return NULL;
    }
    return &mongodb->store;
}

/* Describing. */

static bool has_word(const char *text, const char *word)
{
    return text && strstr(text, word) != NULL;
}

static int tell_engine(struct mongodb *mongodb, char *engine, size_t size, struct tare_error *error)
{
    bson_t options, status;
    struct tare_error no_options = {TARE_OK, ""};
    int result = 0;
    bson_init(&status);
    /* serverStatus says storageEngine.persistent: true of an in-memory WiredTiger too. */
    if (simple_command(mongodb, "getCmdLineOpts", &options, &no_options) == 0) {
        const char *configuration =
            mongodb_text(&options, "parsed.storage.wiredTiger.engineConfig.configString");
        const char *named = mongodb_text(&options, "parsed.storage.engine");
        bool in_memory = has_word(configuration, "in_memory=true") ||
                         has_word(configuration, "in_memory=1") ||
                         (named && strcmp(named, "inMemory") == 0);
        if (named && strcmp(named, "inMemory") != 0 && strcmp(named, "wiredTiger") != 0)
            snprintf(engine, size, "%s", named);
        else
            snprintf(engine, size, "%s", in_memory ? "memory" : "disk");
    } else {
        bson_iter_t section;
        bson_destroy(&status);
        if (short_status(mongodb, &status, error) == 0 &&
            bson_iter_init_find(&section, &status, "inMemory")) {
            snprintf(engine, size, "memory");
        } else {
            *error = no_options;
            result = error_prefix(error, "can't tell memory from disk (the user may need role "
                                         "clusterMonitor)");
        }
    }
    bson_destroy(&options);
    bson_destroy(&status);
    return result;
}

static int mongodb_describe(struct store *store, struct build *build, struct tare_error *error)
{
    struct mongodb *mongodb = mongodb_of(store);
    bson_t reply;
    int result = simple_command(mongodb, "buildInfo", &reply, error);
    const char *version = result == 0 ? mongodb_text(&reply, "version") : NULL;
    const char *allocator = result == 0 ? mongodb_text(&reply, "allocator") : NULL;
    memset(build, 0, sizeof *build);
    snprintf(build->store, sizeof build->store, "%s", store->kind->name);
    if (version) {
        snprintf(build->version, sizeof build->version, "%s", version);
        build->number = version_number(version);
    }
    if (allocator)
        snprintf(build->allocator, sizeof build->allocator, "%s", allocator);
    if (result == 0 && (!version || build->number < 0))
        result =
            error_set(error, TARE_STORE, "server '%s': buildInfo tells no version", store->address);
    bson_destroy(&reply);
    if (result)
        return -1;
    return tell_engine(mongodb, build->engine, sizeof build->engine, error);
}

/* The base of a MongoDB cell is the empty server with its probes read: nothing is written. */
static int mongodb_warm_up(struct store *store, const struct object *objects, size_t count,
                           struct figures *figures, struct tare_error *error)
{
    (void)store;
    (void)objects;
    (void)count;
    (void)figures;
    (void)error;
    return 0;
}

/* Steps. */

static int mongodb_settle(struct store *store, bool *quiet, struct tare_error *error)
{
    struct mongodb *mongodb = mongodb_of(store);
    bson_t reply;
    *quiet = true;
    /* Of an empty server too: a checkpoint there would leave a journal buffer of its own in the
     * base, and nothing is under way. */
    if (mongodb->in_memory || store->limits.read_only || !mongodb->may_drop)
        return 0;
    if (!mongodb->checkpointed) {
        int result = simple_command(mongodb, "fsync", &reply, error);
        bson_destroy(&reply);
        if (result)
            return -1;
        mongodb->checkpointed = true;
    }
    int64_t running = 0;
    int result = short_status(mongodb, &reply, error);
    if (result == 0) /* 7.0 moved it from "transaction" to "checkpoint" */
        (void)(mongodb_number(&reply,
                              "wiredTiger.transaction.transaction checkpoint currently running",
                              &running) ||
               mongodb_number(&reply, "wiredTiger.checkpoint.currently running", &running) ||
               mongodb_number(&reply, "wiredTiger.checkpoint.progress state", &running));
    *quiet = running == 0;
    bson_destroy(&reply);
    return result;
}

static int mongodb_glance(struct store *store, struct figures *figures, struct tare_error *error)
{
    int64_t bytes;
    bson_t reply;
    int result = short_status(mongodb_of(store), &reply, error);
    if (result == 0 && mongodb_number(&reply, "tcmalloc.generic.current_allocated_bytes", &bytes))
        figures_integer(figures, "allocated", bytes);
    if (result == 0 && store->pid && process_resident(store->pid, &bytes))
        figures_integer(figures, "resident", bytes);
    bson_destroy(&reply);
    return result;
}

/* Documents in an answer: without it one of 16 MiB comes, and tare holds all of it. */
#define READ_BATCH 1000

/* Reads all that a find with these options returns; counts it. */
static int read_through(struct mongodb *mongodb, mongoc_collection_t *collection,
                        const bson_t *options, int64_t *count, struct tare_error *error)
{
    bson_t all = BSON_INITIALIZER;
    const bson_t *document;
    bson_error_t reason;
    int result = 0;
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(collection, &all, options, NULL);
    *count = 0;
    while (result == 0 && mongoc_cursor_next(cursor, &document)) {
        if (++*count % 1024 == 0)
            result = process_check_interrupt(error);
    }
    if (result == 0 && mongoc_cursor_error(cursor, &reason))
        result = mongodb_error(mongodb, "find", &reason, error);
    mongoc_cursor_destroy(cursor);
    bson_destroy(&all);
    return result;
}

/* Reads through an index, in its order; a hashed or multikey one can't answer with its keys alone,
 * so its documents come along. */
static int read_index(struct mongodb *mongodb, mongoc_collection_t *collection, const char *name,
                      int64_t expected, struct tare_error *error)
{
    int64_t count = 0;
    bson_t *options = BCON_NEW("batchSize", BCON_INT32(READ_BATCH), "hint", BCON_UTF8(name),
                               "projection", "{", "_id", BCON_INT32(1), "}");
    int result = read_through(mongodb, collection, options, &count, error);
    if (result == 0 && count != expected)
        result = error_set(error, TARE_STORE,
                           "server '%s': %" PRId64 " documents, but %" PRId64 " in their index %s",
                           mongodb->store.address, expected, count, name);
    bson_destroy(options);
    return result;
}

/* Every document once, then each index once: all are the records' footprint, and after a restart
 * none is in the cache. Over a connection of its own, closed before the sample. */
static int mongodb_read_all(struct store *store, int64_t *count, struct tare_error *error)
{
    struct mongodb *mongodb = mongodb_of(store);
    mongoc_client_t *client = mongodb_client(mongodb, error);
    if (!client)
        return -1;
    mongoc_collection_t *collection =
        mongoc_client_get_collection(client, mongodb->database, mongodb->collection);
    bson_t *by_place = BCON_NEW("batchSize", BCON_INT32(READ_BATCH));
    int result = read_through(mongodb, collection, by_place, count, error);
    bson_destroy(by_place);
    if (result == 0)
        result = read_index(mongodb, collection, "_id_", *count, error);
    for (size_t i = 1; result == 0 && i <= mongodb->index_count; i++) {
        char name[32];
        snprintf(name, sizeof name, MONGODB_INDEX "%zu", i);
        result = read_index(mongodb, collection, name, *count, error);
    }
    mongoc_collection_destroy(collection);
    mongoc_client_destroy(client);
    return result;
}

static int mongodb_restart(struct store *store, struct tare_error *error)
{
    struct mongodb *mongodb = mongodb_of(store);
    if (!store->started)
        return error_set(error, TARE_USAGE, "step restart: tare did not start server '%s'",
                         store->address);
    if (mongodb->in_memory)
        return error_set(error, TARE_USAGE, "step restart: an in-memory server keeps nothing");
    mongodb_load_close(store);
    mongoc_client_destroy(mongodb->client);
    mongodb->client = NULL;
    process_stop(&mongodb->process, 120 * 1000);
    mongodb->checkpointed = false;
    return mongodb_start(mongodb, error);
}

/* Asking. */

/* Copies the question, with the weighed collection in the place of MONGODB_WEIGHED. */
static void put_question(const struct mongodb *mongodb, const bson_t *from, bson_t *to)
{
    bson_iter_t at;
    if (!bson_iter_init(&at, from))
        return;
    for (bool first = true; bson_iter_next(&at); first = false) {
        if (first && BSON_ITER_HOLDS_UTF8(&at) &&
            strcmp(bson_iter_utf8(&at, NULL), MONGODB_WEIGHED) == 0)
            BSON_APPEND_UTF8(to, bson_iter_key(&at), mongodb->collection);
        else
            bson_append_iter(to, NULL, -1, &at);
    }
}

static int mongodb_ask(struct store *store, const char *question, const char *prefix,
                       struct figures *figures, struct tare_error *error)
{
    struct mongodb *mongodb = mongodb_of(store);
    const char *space = strchr(question, ' ');
    bson_error_t reason;
    bson_t *parsed = space ? bson_new_from_json((const uint8_t *)space + 1, -1, &reason) : NULL;
    if (!parsed)
        return error_set(error, TARE_USAGE, "question '%s' is no DATABASE {COMMAND}", question);
    char *database = memory_text_n(question, (size_t)(space - question));
    bson_t command = BSON_INITIALIZER, reply;
    put_question(mongodb, parsed, &command);
    int result = mongodb_command(
        mongodb, strcmp(database, MONGODB_WEIGHED) == 0 ? mongodb->database : database, &command,
        &reply, error);
    if (result == 0)
        mongodb_flatten(&reply, prefix, figures);
    bson_destroy(&reply);
    bson_destroy(&command);
    bson_destroy(parsed);
    free(database);
    return result;
}

/* Closing. */

static void drop(struct mongodb *mongodb)
{
    bson_t *concern = BCON_NEW("writeConcern", "{", "w", BCON_INT32(1), "}");
    mongoc_database_t *database = mongoc_client_get_database(mongodb->client, mongodb->database);
    /* Role readWrite may drop collections, not databases; without any, the database is gone. */
    if (!mongoc_database_drop_with_opts(database, concern, NULL)) {
        mongoc_collection_t *collection =
            mongoc_database_get_collection(database, mongodb->collection);
        mongoc_collection_drop_with_opts(collection, concern, NULL);
        mongoc_collection_destroy(collection);
    }
    mongoc_database_destroy(database);
    bson_destroy(concern);
}

static void restore_settings(struct mongodb *mongodb)
{
    for (size_t i = 0; i < mongodb->changed.count; i++) {
        struct tare_error ignored;
        bson_t reply;
        set_parameter(mongodb, &mongodb->changed.items[i], &reply, &ignored);
        bson_destroy(&reply);
    }
}

static void mongodb_close(struct store *store)
{
    struct mongodb *mongodb = mongodb_of(store);
    /* First the process, so that no client waits for it. */
    if (store->started)
        process_stop(&mongodb->process, 0);
    mongodb_load_close(store);
    for (size_t i = 0; i < MONGODB_BATCHES; i++)
        buffer_free(&mongodb->batch_bytes[i]);
    if (mongodb->client && !store->started) {
        if (mongodb->may_drop && !store->limits.keep)
            drop(mongodb);
        restore_settings(mongodb);
    }
    if (mongodb->client)
        mongoc_client_destroy(mongodb->client);
    if (mongodb->uri)
        mongoc_uri_destroy(mongodb->uri);
    if (store->started)
        process_remove(&mongodb->process);
    mongodb_arguments_free(mongodb);
    figures_free(&mongodb->changed);
    free(mongodb->socket);
    free(mongodb->database);
    free(mongodb->collection);
    free(mongodb);
}

static const char *const engines[] = {"memory", "disk", NULL};

/* "db version v6.0.5 ..."; mongod of 4.4 to 7.0 is built with tcmalloc. */
static int mongodb_build_of_version_text(const char *program, const char *text, struct build *build,
                                         struct tare_error *error)
{
    const char *at = strstr(text, "db version v");
    if (at)
        sscanf(at + strlen("db version v"), "%31[0-9.]", build->version);
    build->number = version_number(build->version);
    if (build->number < 0)
        return error_set(error, TARE_STORE, "'%s --version' names no version: '%.80s'", program,
                         text);
    snprintf(build->allocator, sizeof build->allocator, "tcmalloc");
    return 0;
}

const struct store_kind store_mongodb = {
    .name = "mongodb",
    .family = "mongodb",
    .summary = "MongoDB, its data in memory or on disk",
    .program = "mongod",
    .install = "run make setup, which puts a mongod into the build folder",
    .engines = engines,
    .url_scheme = "mongodb://",
    .plan_version = "6.0.5",
    .pace = {.empty_bytes = 130 << 20,
             .start_seconds = 2,
             .records_per_second = 330e3,
             .bytes_per_second = 300e6},
    .build_of_version_text = mongodb_build_of_version_text,
    .open = mongodb_open,
    .describe = mongodb_describe,
    .warm_up = mongodb_warm_up,
    .load_open = mongodb_load_open,
    .put = mongodb_put,
    .flush = mongodb_flush,
    .load_close = mongodb_load_close,
    .settle = mongodb_settle,
    .glance = mongodb_glance,
    .read_all = mongodb_read_all,
    .client_open = mongodb_client_open,
    .client_add = mongodb_client_add,
    .client_send = mongodb_client_send,
    .client_take = mongodb_client_take,
    .client_close = mongodb_client_close,
    .in_flight_most = 1,
    .restart = mongodb_restart,
    .ask = mongodb_ask,
    .close = mongodb_close,
};

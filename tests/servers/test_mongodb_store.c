/* The MongoDB store against a real mongod: what it starts, loads, reads back, refuses and leaves
 * behind. The program is TARE_MONGOD, else the build folder's, else the one on PATH. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"
#include "probes/probe.h"
#include "stores/mongodb.h"

#define PASSWORD "tiger-lily"

extern const struct probe_kind probe_mongodb_build_info, probe_mongodb_command_line,
    probe_mongodb_server_status, probe_mongodb_db_stats, probe_mongodb_coll_stats;

static const struct store_limits no_limits;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static char *mongod(void)
{
    const char *given = getenv("TARE_MONGOD");
    char *program = process_find_program(given ? given : "build/servers/mongodb-6.0.5/mongod");
    if (!program && !given)
        program = process_find_program("mongod");
    if (!program)
        skip();
    return program;
}

static struct store *open_target(enum target_type type, const char *target, const char *engine,
                                 const struct figures *settings, const struct store_limits *limits,
                                 struct tare_error *error)
{
    struct server_spec spec = {.text = (char *)target,
                               .kind = &store_mongodb,
                               .target_type = type,
                               .target = (char *)target,
                               .engine = (char *)engine,
                               .cache_oblivious = -1};
    struct figures none = {0};
    *error = (struct tare_error){TARE_OK, ""};
    return store_mongodb.open(&spec, settings ? settings : &none, limits, error);
}

static struct store *open_program(const char *engine, const struct figures *settings)
{
    struct tare_error error;
    char *program = mongod();
    struct store *store =
        open_target(TARGET_PROGRAM, program, engine, settings, &no_limits, &error);
    if (!store)
        fail_msg("%s", error.message);
    free(program);
    return store;
}

/* The document {_id: "KEY", field0: 100 bytes}; owned by the caller. */
static bson_t *document_of(int64_t i)
{
    uint8_t bytes[100];
    char key[32];
    snprintf(key, sizeof key, "user%08d", (int)i);
    memset(bytes, (int)(i % 251), sizeof bytes);
    bson_t *document = bson_new();
    BSON_APPEND_UTF8(document, "_id", key);
    BSON_APPEND_BINARY(document, "field0", BSON_SUBTYPE_BINARY, bytes, sizeof bytes);
    return document;
}

static int put(struct store *store, int64_t i, int64_t *bytes, struct tare_error *error)
{
    bson_t *document = document_of(i);
    struct object object = {.type = OBJECT_DOCUMENT,
                            .key = slice_text("key"),
                            .body = slice_of((const char *)bson_get_data(document), document->len)};
    if (bytes)
        *bytes += document->len;
    int result = store->kind->put(store, &object, error);
    bson_destroy(document); /* put() must have copied it */
    return result;
}

/* Loads documents first to end - 1; their BSON in bytes. */
static int64_t load(struct store *store, int64_t first, int64_t end)
{
    struct tare_error error;
    int64_t bytes = 0;
    if (store->kind->load_open(store, &error))
        fail_msg("%s", error.message);
    for (int64_t i = first; i < end; i++) {
        if (put(store, i, &bytes, &error))
            fail_msg("%s", error.message);
    }
    if (store->kind->flush(store, &error))
        fail_msg("%s", error.message);
    store->kind->load_close(store);
    return bytes;
}

static void read_probe(const struct probe_kind *probe, struct store *store, struct figures *figures)
{
    struct tare_error error;
    if (probe->read(store, figures, &error))
        fail_msg("%s: %s", probe->name, error.message);
}

static bool exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

static void assert_one_line(const struct tare_error *error, const char *wanted)
{
    if (!strstr(error->message, wanted))
        fail_msg("'%s' does not say '%s'", error->message, wanted);
    assert_null(strchr(error->message, '\n'));
    assert_null(strstr(error->message, PASSWORD));
    assert_int_not_equal(error->message[strlen(error->message) - 1], '.');
}

/* What tare starts. */

static void in_memory_from_start_to_end(void **state)
{
    (void)state;
    struct store *store = open_program(NULL, NULL); /* memory is the default */
    struct mongodb *mongodb = (struct mongodb *)store;
    struct figures base = {0}, end = {0}, glance = {0};
    struct tare_error error;
    struct build build;
    char folder[sizeof mongodb->process.folder];
    pid_t pid = store->pid;
    assert_true(store->started);
    assert_true(pid > 0);
    assert_string_equal(store->unseen, "");

    assert_int_equal(store->kind->describe(store, &build, &error), 0);
    assert_string_equal(build.store, "mongodb");
    assert_string_equal(build.engine, "memory");
    assert_string_equal(build.allocator, "tcmalloc");
    assert_int_equal(build.number, version_number(build.version));
    assert_true(build.number >= 40400);

    read_probe(&probe_mongodb_coll_stats, store, &base);
    assert_int_equal(figures_get(&base, "collStats.missing"), 1);
    int64_t bytes = load(store, 0, 12345);
    bytes += load(store, 12345, 12346); /* a load goes on where the last one ended */
    assert_int_equal(store->written, 12346);
    bool quiet = false;
    assert_int_equal(store->kind->settle(store, &quiet, &error), 0);
    assert_true(quiet);
    assert_int_equal(store->kind->glance(store, &glance, &error), 0);
    assert_true(figures_get(&glance, "allocated") > bytes);
    assert_true(figures_get(&glance, "resident") > figures_get(&glance, "allocated"));

    read_probe(&probe_mongodb_build_info, store, &end);
    read_probe(&probe_mongodb_command_line, store, &end);
    read_probe(&probe_mongodb_server_status, store, &end);
    read_probe(&probe_mongodb_db_stats, store, &end);
    read_probe(&probe_mongodb_coll_stats, store, &end);
    assert_string_equal(figures_get_text(&end, "buildInfo.version"), build.version);
    assert_non_null(strstr(
        figures_get_text(&end, "cmdLine.parsed.storage.wiredTiger.engineConfig.configString"),
        "in_memory=true"));
    assert_false(figures_has(&end, "collStats.missing"));
    assert_int_equal(figures_get(&end, "collStats.count"), 12346);
    assert_int_equal(figures_get(&end, "collStats.size"), bytes);
    assert_int_equal(figures_get(&end, "dbStats.dataSize"), bytes);
    assert_true(figures_get(&end, "collStats.wiredTiger.cache.bytes currently in the cache") >
                bytes);
    assert_true(
        figures_get(&end, "collStats.indexDetails._id_.cache.bytes currently in the cache") > 0);
    assert_int_equal(
        figures_get(&end, "serverStatus.tcmalloc.tcmalloc.size_classes.1.bytes_per_object"), 8);
    assert_true(figures_get(&end, "serverStatus.wiredTiger.cache.maximum bytes configured") > 0);
    assert_int_equal(figures_get(&end, "serverStatus.pid"), pid);
    /* The loader's connection is closed; the control connection alone is left. */
    for (int i = 0; i < 50 && figures_get(&end, "serverStatus.connections.current") != 1; i++) {
        process_pause(20);
        read_probe(&probe_mongodb_server_status, store, &end);
    }
    assert_int_equal(figures_get(&end, "serverStatus.connections.current"), 1);
    assert_true(end.count < 6000);

    int64_t count;
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 12346);
    assert_int_equal(store->kind->restart(store, &error), -1);
    assert_one_line(&error, "step restart: an in-memory server keeps nothing");

    snprintf(folder, sizeof folder, "%s", mongodb->process.folder);
    assert_true(exists(folder));
    store->kind->close(store);
    assert_false(exists(folder));
    assert_int_equal(kill(pid, 0), -1);
    figures_free(&base);
    figures_free(&end);
    figures_free(&glance);
}

static void on_disk_with_a_restart(void **state)
{
    (void)state;
    struct figures settings = {0}, end = {0};
    figures_parse(&settings, "wiredTigerCacheSizeGB", "0.5");
    figures_parse(&settings, "wiredTigerCollectionBlockCompressor", "none");
    figures_parse(&settings, "tcmallocAggressiveMemoryDecommit", "1");
    struct store *store = open_program("disk", &settings);
    struct tare_error error;
    struct build build;
    assert_int_equal(store->kind->describe(store, &build, &error), 0);
    assert_string_equal(build.engine, "disk");
    int64_t bytes = load(store, 0, 5000);
    bool quiet = false;
    for (int i = 0; i < 500 && !quiet; i++) {
        assert_int_equal(store->kind->settle(store, &quiet, &error), 0);
        process_pause(10);
    }
    assert_true(quiet);
    read_probe(&probe_mongodb_coll_stats, store, &end);
    read_probe(&probe_mongodb_server_status, store, &end);
    /* A checkpoint has written everything, uncompressed. */
    assert_true(figures_get(&end, "collStats.storageSize") > bytes);
    assert_int_equal(figures_get(&end, "serverStatus.wiredTiger.cache.maximum bytes configured"),
                     512 * 1024 * 1024);
    assert_int_equal(figures_get(&end, "serverStatus.tcmalloc.tcmalloc.aggressive_memory_decommit"),
                     1);
    pid_t before = store->pid;
    int64_t count = 0;
    if (store->kind->restart(store, &error))
        fail_msg("%s", error.message);
    assert_true(store->pid > 0 && store->pid != before);
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 5000);
    load(store, 5000, 5001);
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 5001);
    store->kind->close(store);
    figures_free(&settings);
    figures_free(&end);
}

static void nothing_and_little(void **state)
{
    (void)state;
    struct store *store = open_program("memory", NULL);
    struct tare_error error;
    int64_t count = -1;
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 0);
    load(store, 0, 0);
    assert_int_equal(store->written, 0);
    load(store, 0, 1);
    assert_int_equal(store->written, 1);
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 1);
    store->kind->close(store);
}

static void large_documents(void **state)
{
    (void)state;
    struct store *store = open_program("memory", NULL);
    struct tare_error error;
    size_t length = 15 * 1024 * 1024;
    uint8_t *bytes = memory_new(length);
    int64_t count;
    assert_int_equal(store->kind->load_open(store, &error), 0);
    for (int i = 0; i < 4; i++) {
        bson_t document = BSON_INITIALIZER;
        BSON_APPEND_INT32(&document, "_id", i);
        BSON_APPEND_BINARY(&document, "value", BSON_SUBTYPE_BINARY, bytes, (uint32_t)length);
        struct object object = {.type = OBJECT_DOCUMENT,
                                .key = slice_text("large"),
                                .body =
                                    slice_of((const char *)bson_get_data(&document), document.len)};
        if (store->kind->put(store, &object, &error))
            fail_msg("%s", error.message);
        object.body.length--;
        assert_int_equal(store->kind->put(store, &object, &error), -1);
        assert_one_line(&error, "document 'large' is no BSON");
        bson_destroy(&document);
    }
    if (store->kind->flush(store, &error))
        fail_msg("%s", error.message);
    assert_int_equal(store->written, 4);
    bson_t document = BSON_INITIALIZER;
    bytes = memory_resize(bytes, length + 2 * 1024 * 1024);
    memset(bytes, 0, length + 2 * 1024 * 1024);
    BSON_APPEND_BINARY(&document, "value", BSON_SUBTYPE_BINARY, bytes,
                       (uint32_t)(length + 2 * 1024 * 1024));
    struct object object = {.type = OBJECT_DOCUMENT,
                            .key = slice_text("too large"),
                            .body = slice_of((const char *)bson_get_data(&document), document.len)};
    assert_int_equal(store->kind->put(store, &object, &error), -1);
    assert_one_line(&error, "MongoDB takes 16777216");
    bson_destroy(&document);
    store->kind->load_close(store);
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 4);
    store->kind->close(store);
    free(bytes);
}

static void bad_settings_and_programs(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *wanted;
    } bad[] = {{"nosuch", "3", "Unknown --setParameter 'nosuch'"},
               {"wiredTigerCacheSizeGB", "abc", "wiredTigerCacheSizeGB"},
               {"wiredTigerCollectionBlockCompressor", "foo", "none"}};
    struct tare_error error;
    char *program = mongod();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct figures settings = {0};
        figures_parse(&settings, bad[i].name, bad[i].value);
        assert_null(open_target(TARGET_PROGRAM, program, "memory", &settings, &no_limits, &error));
        assert_int_equal(error.status, TARE_STORE);
        assert_one_line(&error, bad[i].wanted);
        figures_free(&settings);
    }
    assert_null(open_target(TARGET_PROGRAM, "/nosuch/mongod", NULL, NULL, &no_limits, &error));
    assert_one_line(&error, "/nosuch/mongod");
    assert_null(open_target(TARGET_PROGRAM, "/bin/cat", NULL, NULL, &no_limits, &error));
    assert_one_line(&error, "ended: ");
    assert_null(open_target(TARGET_VERSION, "6.0.5", NULL, NULL, &no_limits, &error));
    assert_int_equal(error.status, TARE_USAGE);
    free(program);
}

/* Faults of the load. */

static void a_killed_server_ends_the_load(void **state)
{
    (void)state;
    struct store *store = open_program("memory", NULL);
    struct tare_error error = {TARE_OK, ""};
    int result = 0;
    assert_int_equal(store->kind->load_open(store, &error), 0);
    int64_t i = 0;
    for (; i < 5000 && result == 0; i++)
        result = put(store, i, NULL, &error);
    assert_int_equal(result, 0);
    kill(store->pid, SIGKILL);
    double start = now();
    for (; i < 1000000 && result == 0; i++)
        result = put(store, i, NULL, &error);
    if (result == 0)
        result = store->kind->flush(store, &error);
    assert_int_equal(result, -1);
    assert_int_equal(error.status, TARE_STORE);
    assert_one_line(&error, "ended: ");
    assert_true(now() - start < 5);
    assert_true(store->written <= i);
    assert_int_equal(store->kind->flush(store, &error), -1); /* it stays failed */
    store->kind->close(store);
    assert_true(now() - start < 6);
}

static void an_interrupt_ends_the_load(void **state)
{
    (void)state;
    struct store *store = open_program("memory", NULL);
    struct tare_error error = {TARE_OK, ""};
    pid_t pid = store->pid;
    assert_int_equal(store->kind->load_open(store, &error), 0);
    kill(pid, SIGSTOP); /* a server that answers nothing */
    process_interrupted = SIGINT;
    int result = 0;
    double start = now();
    for (int64_t i = 0; i < 1000000 && result == 0; i++)
        result = put(store, i, NULL, &error);
    assert_int_equal(result, -1);
    assert_int_equal(error.status, TARE_SIGNAL + SIGINT);
    process_interrupted = 0;
    store->kind->close(store);
    assert_true(now() - start < 5);
    assert_int_equal(kill(pid, 0), -1);
}

static void duplicates_are_an_error(void **state)
{
    (void)state;
    struct store *store = open_program("memory", NULL);
    struct tare_error error;
    assert_int_equal(store->kind->load_open(store, &error), 0);
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(put(store, i, NULL, &error), 0);
    assert_int_equal(put(store, 7, NULL, &error), 0);
    assert_int_equal(store->kind->flush(store, &error), -1);
    assert_int_equal(error.status, TARE_STORE);
    assert_one_line(&error, "E11000");
    assert_one_line(&error, "user00000007");
    assert_int_equal(store->written, 100);
    store->kind->close(store);
}

/* Makes the server close the connection of the next `times` inserts, before it executes them. */
static void close_connections(struct store *store, int times)
{
    char question[200];
    struct figures reply = {0};
    struct tare_error error;
    snprintf(question, sizeof question,
             "admin {\"configureFailPoint\": \"failCommand\", \"mode\": {\"times\": %d}, \"data\": "
             "{\"failCommands\": [\"insert\"], \"closeConnection\": true}}",
             times);
    if (store->kind->ask(store, question, "reply", &reply, &error))
        fail_msg("%s", error.message);
    figures_free(&reply);
}

static struct store *open_with_fail_points(void)
{
    struct figures settings = {0};
    figures_parse(&settings, "enableTestCommands", "1");
    struct store *store = open_program("memory", &settings);
    figures_free(&settings);
    return store;
}

/* Writes documents behind the store's back: what an insert did whose answer was lost. */
static void write_beside(struct store *store, int64_t first, int64_t end)
{
    struct mongodb *mongodb = (struct mongodb *)store;
    mongoc_client_t *client = mongodb_client(mongodb, NULL);
    mongoc_collection_t *collection =
        mongoc_client_get_collection(client, mongodb->database, mongodb->collection);
    bson_t *concern = BCON_NEW("writeConcern", "{", "w", BCON_INT32(1), "}");
    for (int64_t i = first; i < end; i++) {
        bson_t *document = document_of(i);
        bson_error_t reason;
        if (!mongoc_collection_insert_one(collection, document, concern, NULL, &reason))
            fail_msg("%s", reason.message);
        bson_destroy(document);
    }
    bson_destroy(concern);
    mongoc_collection_destroy(collection);
    mongoc_client_destroy(client);
}

static void a_lost_answer_counts_once(void **state)
{
    (void)state;
    struct store *store = open_with_fail_points();
    int64_t count;
    struct tare_error error;
    write_beside(store, 100, 300);
    close_connections(store, 2);
    load(store, 0, 400);
    assert_int_equal(store->written, 400);
    assert_int_equal(store->kind->read_all(store, &count, &error), 0);
    assert_int_equal(count, 400);
    store->kind->close(store);
}

static void a_duplicate_in_a_lost_batch_is_found(void **state)
{
    (void)state;
    struct store *store = open_with_fail_points();
    struct tare_error error;
    close_connections(store, 1);
    assert_int_equal(store->kind->load_open(store, &error), 0);
    for (int64_t i = 0; i < 100; i++)
        assert_int_equal(put(store, i, NULL, &error), 0);
    assert_int_equal(put(store, 7, NULL, &error), 0);
    assert_int_equal(put(store, 7, NULL, &error), 0);
    assert_int_equal(store->kind->flush(store, &error), -1);
    assert_one_line(&error, "two documents have the same _id");
    store->kind->close(store);
}

static void a_connection_that_stays_lost_is_an_error(void **state)
{
    (void)state;
    struct store *store = open_with_fail_points();
    struct tare_error error;
    double start = now();
    close_connections(store, 100);
    assert_int_equal(store->kind->load_open(store, &error), 0);
    assert_int_equal(put(store, 0, NULL, &error), 0);
    assert_int_equal(store->kind->flush(store, &error), -1);
    assert_int_equal(error.status, TARE_STORE);
    assert_one_line(&error, "insert: ");
    assert_int_equal(store->written, 0);
    assert_true(now() - start < 8);
    store->kind->close(store);
}

/* Servers given by URL. */

/* A mongod binds its socket some time before it listens. */
static bool accepts(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    bool accepted = connect(descriptor, (const struct sockaddr *)&address, sizeof address) == 0;
    close(descriptor);
    return accepted;
}

/* A mongod of the test's own with these further arguments. Returns the host of its URL. */
#define FURTHER_MAX 12
static char *start_server(struct process *process, const char *const *further)
{
    struct tare_error error;
    char *program = mongod();
    if (process_folder(process, &error))
        fail_msg("%s", error.message);
    char *data = memory_format("%s/data", process->folder);
    char *socket = memory_format("%s/m.sock", process->folder);
    mkdir(data, 0700);
    char *arguments[6 + FURTHER_MAX + 1] = {program,     "--dbpath", data,
                                            "--bind_ip", socket,     "--nounixsocket"};
    for (size_t i = 0; further[i]; i++)
        arguments[6 + i] = (char *)further[i];
    if (process_start(process, arguments, &error))
        fail_msg("%s", error.message);
    for (int i = 0; i < 1000 && !accepts(socket); i++)
        process_pause(20);
    free(program);
    free(data);
    /* The URL's middle: the socket with its slashes as %2F. */
    struct buffer escaped = {0};
    for (const char *at = socket; *at; at++) {
        if (*at == '/')
            buffer_text(&escaped, "%2F");
        else
            buffer_byte(&escaped, *at);
    }
    free(socket);
    return buffer_steal(&escaped);
}

static bool has_database(const char *url, const char *name)
{
    mongoc_client_t *client = mongoc_client_new(url);
    char **names = mongoc_client_get_database_names_with_opts(client, NULL, NULL);
    bool found = false;
    assert_non_null(names);
    for (size_t i = 0; names[i]; i++)
        found = found || strcmp(names[i], name) == 0;
    bson_strfreev(names);
    mongoc_client_destroy(client);
    return found;
}

static void a_server_by_url(void **state)
{
    (void)state;
    struct process process;
    char *server = start_server(&process, (const char *[]){NULL});
    char *url = memory_format("mongodb://%s", server);
    char *other = memory_format("mongodb://%s/other", server);
    struct store_limits keep = {.keep = true}, read_only = {.read_only = true},
                        allow = {.allow_config = true};
    struct tare_error error;
    struct build build;
    struct figures settings = {0}, answer = {0};

    /* Written to, and clean again. */
    struct store *store = open_target(TARGET_URL, url, NULL, NULL, &no_limits, &error);
    if (!store)
        fail_msg("%s", error.message);
    assert_false(store->started);
    assert_int_equal(store->pid, process.pid);
    assert_int_equal(store->kind->describe(store, &build, &error), 0);
    assert_string_equal(build.engine, "disk");
    load(store, 0, 100);
    assert_true(has_database(url, "tare"));
    store->kind->close(store);
    assert_false(has_database(url, "tare"));
    assert_true(process_alive(&process));

    /* Another engine than it was said to be. */
    assert_null(open_target(TARGET_URL, url, "memory", NULL, &no_limits, &error));
    assert_one_line(&error, "its engine is 'disk', not 'memory'");

    /* Kept where that is asked for; then refused, untouched. */
    store = open_target(TARGET_URL, other, NULL, NULL, &keep, &error);
    assert_non_null(store);
    load(store, 0, 100);
    store->kind->close(store);
    assert_true(has_database(url, "other"));
    assert_null(open_target(TARGET_URL, other, NULL, NULL, &no_limits, &error));
    assert_int_equal(error.status, TARE_STORE);
    assert_one_line(&error, "database 'other' exists already");
    assert_true(has_database(url, "other"));
    char *upper = memory_format("mongodb://%s/OTHER", server);
    assert_null(open_target(TARGET_URL, upper, NULL, NULL, &no_limits, &error));
    assert_one_line(&error, "exists already");
    free(upper);
    char *admin = memory_format("mongodb://%s/admin", server);
    assert_null(open_target(TARGET_URL, admin, NULL, NULL, &no_limits, &error));
    assert_one_line(&error, "database 'admin' exists already");
    free(admin);

    /* Read only: the largest database is weighed, and nothing can be written. */
    store = open_target(TARGET_URL, url, NULL, NULL, &read_only, &error);
    if (!store)
        fail_msg("%s", error.message);
    assert_int_equal(store->kind->load_open(store, &error), -1);
    read_probe(&probe_mongodb_coll_stats, store, &answer);
    assert_string_equal(figures_get_text(&answer, "collStats.ns"), "other.usertable");
    assert_int_equal(figures_get(&answer, "collStats.count"), 100);
    assert_int_equal(store->kind->ask(store, "nonsense", "x", &answer, &error), -1);
    assert_int_equal(store->kind->ask(store, "admin {\"nosuch\": 1}", "x", &answer, &error), -1);
    assert_one_line(&error, "nosuch");
    store->kind->close(store);
    assert_true(has_database(url, "other"));

    /* Settings only where that is allowed, and put back. */
    figures_parse(&settings, "cursorTimeoutMillis", "12345");
    assert_null(open_target(TARGET_URL, url, NULL, &settings, &no_limits, &error));
    assert_one_line(&error, "--allow-config");
    store = open_target(TARGET_URL, url, NULL, &settings, &allow, &error);
    if (!store)
        fail_msg("%s", error.message);
    static const char question[] = "admin {\"getParameter\": 1, \"cursorTimeoutMillis\": 1}";
    assert_int_equal(store->kind->ask(store, question, "now", &answer, &error), 0);
    assert_int_equal(figures_get(&answer, "now.cursorTimeoutMillis"), 12345);
    store->kind->close(store);
    store = open_target(TARGET_URL, url, NULL, NULL, &read_only, &error);
    assert_non_null(store);
    assert_int_equal(store->kind->ask(store, question, "after", &answer, &error), 0);
    assert_int_equal(figures_get(&answer, "after.cursorTimeoutMillis"), 600000);
    store->kind->close(store);

    figures_free(&settings);
    figures_free(&answer);
    process_remove(&process);
    free(server);
    free(url);
    free(other);
}

/* An in-memory server of somebody else's: its mode is told, and it survives what is written to it
 * and dropped from it (a write with w:majority would end it). */
static void a_server_in_memory_by_url(void **state)
{
    (void)state;
    static const char *const further[] = {"--nojournal",
                                          "--syncdelay",
                                          "0",
                                          "--setParameter",
                                          "diagnosticDataCollectionEnabled=false",
                                          "--setParameter",
                                          "disableLogicalSessionCacheRefresh=true",
                                          "--wiredTigerEngineConfigString",
                                          "in_memory=true,log=(enabled=false)",
                                          NULL};
    struct process process;
    struct tare_error error;
    struct build build;
    char *server = start_server(&process, further);
    char *url = memory_format("mongodb://%s", server);
    struct store *store = open_target(TARGET_URL, url, NULL, NULL, &no_limits, &error);
    if (!store)
        fail_msg("%s", error.message);
    assert_int_equal(store->kind->describe(store, &build, &error), 0);
    assert_string_equal(build.engine, "memory");
    load(store, 0, 100);
    bool quiet = false;
    assert_int_equal(store->kind->settle(store, &quiet, &error), 0);
    assert_true(quiet);
    store->kind->close(store);
    assert_false(has_database(url, "tare"));
    assert_true(process_alive(&process));
    process_remove(&process);
    free(server);
    free(url);
}

static void create_user(const char *url, const char *name, const char *role, const char *database)
{
    mongoc_client_t *client = mongoc_client_new(url);
    bson_t *command = BCON_NEW("createUser", BCON_UTF8(name), "pwd", BCON_UTF8(PASSWORD), "roles",
                               "[", "{", "role", BCON_UTF8(role), "db", BCON_UTF8(database), "}",
                               "{", "role", "clusterMonitor", "db", "admin", "}", "]");
    bson_error_t reason;
    if (!mongoc_client_command_simple(client, "admin", command, NULL, NULL, &reason))
        fail_msg("%s", reason.message);
    bson_destroy(command);
    mongoc_client_destroy(client);
}

static void passwords(void **state)
{
    (void)state;
    struct process process;
    struct tare_error error;
    char *server = start_server(&process, (const char *[]){"--auth", NULL});
    char *nobody = memory_format("mongodb://%s", server);
    char *wrong = memory_format("mongodb://root:%sx@%s/?authSource=admin", PASSWORD, server);
    char *root = memory_format("mongodb://root:%s@%s/?authSource=admin", PASSWORD, server);
    char *writer = memory_format("mongodb://writer:%s@%s/tare?authSource=admin", PASSWORD, server);
    create_user(nobody, "root", "root", "admin"); /* the first one may be made from this host */
    create_user(root, "writer", "readWrite", "tare");

    assert_null(open_target(TARGET_URL, wrong, NULL, NULL, &no_limits, &error));
    assert_int_equal(error.status, TARE_STORE);
    assert_one_line(&error, "uthentication failed");
    assert_null(open_target(TARGET_URL, nobody, NULL, NULL, &no_limits, &error));
    assert_int_equal(error.status, TARE_STORE);
    assert_one_line(&error, "uthentication");

    struct store *store = open_target(TARGET_URL, root, NULL, NULL, &no_limits, &error);
    if (!store)
        fail_msg("%s", error.message);
    assert_null(strstr(store->address, PASSWORD));
    store->kind->close(store);

    /* Role readWrite may not drop a database: it is gone all the same. */
    store = open_target(TARGET_URL, writer, NULL, NULL, &no_limits, &error);
    if (!store)
        fail_msg("%s", error.message);
    load(store, 0, 10);
    assert_true(has_database(root, "tare"));
    store->kind->close(store);
    assert_false(has_database(root, "tare"));

    process_remove(&process);
    free(server);
    free(nobody);
    free(wrong);
    free(root);
    free(writer);
}

/* A TCP server that answers every connection with this text, or with nothing at all. */
static pid_t start_stranger(const char *answer, int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 8), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        for (;;) {
            char question[1024];
            int connection = accept(listener, NULL, NULL);
            if (!answer)
                continue;
            if (read(connection, question, sizeof question) > 0 &&
                write(connection, answer, strlen(answer)) < 0)
                _exit(1);
            close(connection);
        }
    }
    close(listener);
    return child;
}

static void strangers_and_nobody(void **state)
{
    (void)state;
    static const char *const answers[] = {"-ERR unknown command\r\n",
                                          "HTTP/1.1 400 Bad Request\r\n\r\n", NULL};
    struct tare_error error;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        int port;
        pid_t child = start_stranger(answers[i], &port);
        char *url = memory_format("mongodb://user:%s@127.0.0.1:%d/", PASSWORD, port);
        char *host = memory_format("127.0.0.1:%d", port);
        double start = now();
        assert_null(open_target(TARGET_URL, url, NULL, NULL, &no_limits, &error));
        assert_true(now() - start < 5);
        assert_int_equal(error.status, TARE_STORE);
        assert_one_line(&error, host);
        assert_one_line(&error, "is it a MongoDB server?");
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        /* Now nobody listens there. */
        assert_null(open_target(TARGET_URL, url, NULL, NULL, &no_limits, &error));
        assert_int_equal(error.status, TARE_STORE);
        assert_one_line(&error, "connection refused");
        free(url);
        free(host);
    }
    assert_null(
        open_target(TARGET_URL, "mongodb://%2Fnosuch%2Fm.sock/", NULL, NULL, &no_limits, &error));
    assert_one_line(&error, "No such file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory_from_start_to_end),
        cmocka_unit_test(on_disk_with_a_restart),
        cmocka_unit_test(nothing_and_little),
        cmocka_unit_test(large_documents),
        cmocka_unit_test(bad_settings_and_programs),
        cmocka_unit_test(a_killed_server_ends_the_load),
        cmocka_unit_test(an_interrupt_ends_the_load),
        cmocka_unit_test(duplicates_are_an_error),
        cmocka_unit_test(a_lost_answer_counts_once),
        cmocka_unit_test(a_duplicate_in_a_lost_batch_is_found),
        cmocka_unit_test(a_connection_that_stays_lost_is_an_error),
        cmocka_unit_test(a_server_by_url),
        cmocka_unit_test(a_server_in_memory_by_url),
        cmocka_unit_test(passwords),
        cmocka_unit_test(strangers_and_nobody),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

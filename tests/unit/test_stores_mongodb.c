/* The MongoDB store without a server: replies to figures, URLs, arguments, why a mongod ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "model/mongodb.h"
#include "stores/mongodb.h"

static bson_t *document_of(const char *json)
{
    bson_error_t reason;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &reason);
    if (!document)
        fail_msg("%s", reason.message);
    return document;
}

static void replies_become_figures(void **state)
{
    (void)state;
    bson_t *reply = document_of(
        "{\"count\": 3, \"big\": {\"$numberLong\": \"5000000000\"}, \"share\": 0.25,"
        " \"whole\": 2.0, \"on\": true, \"off\": false, \"version\": \"6.0.5\", \"none\": null,"
        " \"when\": {\"$date\": {\"$numberLong\": \"1700000000123\"}},"
        " \"stamp\": {\"$timestamp\": {\"t\": 1700000000, \"i\": 7}},"
        " \"id\": {\"$oid\": \"0123456789abcdef01234567\"},"
        " \"bytes\": {\"$binary\": {\"base64\": \"AP8Q\", \"subType\": \"00\"}},"
        " \"decimal\": {\"$numberDecimal\": \"1.5\"},"
        " \"cache\": {\"bytes currently in the cache\": 10, \"deeper\": {\"x\": 1}},"
        " \"size_classes\": [{\"bytes_per_object\": 8}, {\"bytes_per_object\": 16}],"
        " \"empty\": {}, \"list\": []}");
    struct figures figures = {0};
    mongodb_flatten(reply, "reply", &figures);
    assert_int_equal(figures_get(&figures, "reply.count"), 3);
    assert_int_equal(figures_get(&figures, "reply.big"), 5000000000);
    assert_int_equal(figures_find(&figures, "reply.share")->type, FIGURE_REAL);
    assert_true(figures_find(&figures, "reply.share")->real > 0.2499);
    /* 4.4 gives some whole numbers as doubles: they are read as integers all the same. */
    assert_int_equal(figures_get(&figures, "reply.whole"), 2);
    assert_int_equal(figures_get(&figures, "reply.on"), 1);
    assert_true(figures_has(&figures, "reply.off"));
    assert_int_equal(figures_get(&figures, "reply.off"), 0);
    assert_string_equal(figures_get_text(&figures, "reply.version"), "6.0.5");
    assert_string_equal(figures_get_text(&figures, "reply.none"), "null");
    assert_int_equal(figures_get(&figures, "reply.when"), 1700000000123);
    assert_string_equal(figures_get_text(&figures, "reply.stamp"), "1700000000:7");
    assert_string_equal(figures_get_text(&figures, "reply.id"), "0123456789abcdef01234567");
    assert_string_equal(figures_get_text(&figures, "reply.bytes"), "00ff10");
    assert_non_null(strstr(figures_get_text(&figures, "reply.decimal"), "1.5"));
    assert_int_equal(figures_get(&figures, "reply.cache.bytes currently in the cache"), 10);
    assert_int_equal(figures_get(&figures, "reply.cache.deeper.x"), 1);
    assert_int_equal(figures_get(&figures, "reply.size_classes.0.bytes_per_object"), 8);
    assert_int_equal(figures_get(&figures, "reply.size_classes.1.bytes_per_object"), 16);
    assert_int_equal(figures.count, 17);
    figures_free(&figures);
    bson_destroy(reply);
}

static void no_prefix_and_odd_names(void **state)
{
    (void)state;
    bson_t *reply = document_of("{\"a\": {\"\": 1, \"b\": 2}, \"\": 3, \"c\": {\"$binary\": "
                                "{\"base64\": \"\", \"subType\": \"00\"}}}");
    struct figures figures = {0};
    mongodb_flatten(reply, "", &figures);
    assert_int_equal(figures_get(&figures, "a."), 1);
    assert_int_equal(figures_get(&figures, "a.b"), 2);
    assert_int_equal(figures_get(&figures, ""), 3);
    assert_string_equal(figures_get_text(&figures, "c"), "");
    figures_free(&figures);
    bson_destroy(reply);
}

static void numbers_of_any_type(void **state)
{
    (void)state;
    bson_t *reply = document_of("{\"a\": {\"i\": 1, \"l\": {\"$numberLong\": \"5000000000\"}, "
                                "\"d\": 7.6, \"b\": true, \"t\": \"text\"}}");
    int64_t number = -1;
    assert_true(mongodb_number(reply, "a.i", &number));
    assert_int_equal(number, 1);
    assert_true(mongodb_number(reply, "a.l", &number));
    assert_int_equal(number, 5000000000);
    assert_true(mongodb_number(reply, "a.d", &number));
    assert_int_equal(number, 8);
    assert_true(mongodb_number(reply, "a.b", &number));
    assert_int_equal(number, 1);
    assert_false(mongodb_number(reply, "a.t", &number));
    assert_false(mongodb_number(reply, "a.none", &number));
    assert_string_equal(mongodb_text(reply, "a.t"), "text");
    assert_null(mongodb_text(reply, "a.i"));
    assert_null(mongodb_text(reply, "b.t"));
    bson_destroy(reply);
}

static void urls(void **state)
{
    (void)state;
    static const struct {
        const char *url, *address, *database;
    } good[] = {
        {"mongodb://localhost", "localhost:27017", NULL},
        {"mongodb://h:1/d", "h:1", "d"},
        {"mongodb://u:secret@a:1,b:2,c/d?replicaSet=r", "a:1,b:2,c:27017", "d"},
        {"mongodb://u:se%40cret@[::1]:5/?authSource=admin", "[::1]:5", NULL},
        {"mongodb://h:1/d?appname=a@b", "h:1", "d"},
        {"mongodb://%2Ftmp%2Fx%2Fm.sock/d", "/tmp/x/m.sock", "d"},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct tare_error error = {TARE_OK, ""};
        mongoc_uri_t *uri;
        char address[128], *database;
        if (mongodb_url(good[i].url, &uri, address, sizeof address, &database, &error))
            fail_msg("'%s': %s", good[i].url, error.message);
        assert_string_equal(address, good[i].address);
        if (good[i].database)
            assert_string_equal(database, good[i].database);
        else
            assert_null(database);
        assert_null(strstr(address, "secret"));
        /* An unreachable server is told within 5 s; no write carries a transaction number. */
        assert_int_equal(mongoc_uri_get_option_as_int32(uri, "serverselectiontimeoutms", 0), 3000);
        assert_int_equal(mongoc_uri_get_option_as_int32(uri, "connecttimeoutms", 0), 3000);
        assert_true(mongoc_uri_get_option_as_bool(uri, "serverselectiontryonce", false));
        assert_false(mongoc_uri_get_option_as_bool(uri, "retrywrites", true));
        mongoc_uri_destroy(uri);
        free(database);
    }
}

static void bad_urls_do_not_show_passwords(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "mongodb://",
        "mongodb://u:secret@",
        "mongodb://u:secret@host:port/",
        "mongodb://u:secret@host:99999/",
        "mongodb://u:secret/word@host:1/",
        "mongodb://u:secret@word@host:1/",
        "mongodb://u:1/secret@host:1/",
        "mongodb://secret@u:secret@host:1/?appname=a@b",
        "mongodb://u:secret%zz@host:1/",
        "mongodb://u:secret:more@host:1/",
        "mongodb://u:secret@host:1/?tls=perhaps&serverSelectionTimeoutMS=x&authMechanism=NONE",
        "mongodb+srv://u:secret@host:1/",
        "mongodb+srv://u:secret@host/",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tare_error error = {TARE_OK, ""};
        mongoc_uri_t *uri;
        char address[128], *database;
        if (mongodb_url(bad[i], &uri, address, sizeof address, &database, &error) == 0)
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(error.status, TARE_USAGE);
        if (strstr(error.message, "secret") || strchr(error.message, '\n'))
            fail_msg("'%s' gave '%s'", bad[i], error.message);
    }
}

static const char *const *arguments_of(struct mongodb *mongodb, bool in_memory,
                                       const struct figures *settings)
{
    memset(mongodb, 0, sizeof *mongodb);
    mongodb->in_memory = in_memory;
    strcpy(mongodb->process.folder, "/f");
    mongodb->socket = "/f/mongodb.sock";
    mongodb_arguments(mongodb, "/bin/mongod", settings);
    return (const char *const *)mongodb->arguments;
}

static bool has(const char *const *arguments, const char *name, const char *value)
{
    for (; *arguments; arguments++) {
        if (strcmp(*arguments, name) == 0 &&
            (!value || (arguments[1] && strcmp(arguments[1], value) == 0)))
            return true;
    }
    return false;
}

static void arguments_in_memory_and_on_disk(void **state)
{
    (void)state;
    struct mongodb mongodb;
    const char *const *arguments = arguments_of(&mongodb, true, NULL);
    assert_string_equal(arguments[0], "/bin/mongod");
    assert_true(has(arguments, "--dbpath", "/f/data"));
    assert_true(has(arguments, "--bind_ip", "/f/mongodb.sock"));
    assert_true(has(arguments, "--nounixsocket", NULL));
    assert_true(has(arguments, "--nojournal", NULL));
    assert_true(has(arguments, "--syncdelay", "0"));
    assert_true(
        has(arguments, "--wiredTigerEngineConfigString", "in_memory=true,log=(enabled=false)"));
    assert_true(has(arguments, "--setParameter", "disableLogicalSessionCacheRefresh=true"));
    assert_true(has(arguments, "--setParameter", "diagnosticDataCollectionEnabled=false"));
    mongodb_arguments_free(&mongodb);

    arguments = arguments_of(&mongodb, false, NULL);
    assert_false(has(arguments, "--nojournal", NULL));
    assert_false(has(arguments, "--wiredTigerEngineConfigString", NULL));
    assert_true(has(arguments, "--setParameter", "diagnosticDataCollectionEnabled=false"));
    mongodb_arguments_free(&mongodb);
}

static void settings_become_options_or_parameters(void **state)
{
    (void)state;
    struct mongodb mongodb;
    struct figures settings = {0};
    figures_parse(&settings, "wiredTigerCacheSizeGB", "0.5");
    figures_parse(&settings, "wiredTigerCollectionBlockCompressor", "zstd");
    figures_parse(&settings, "tcmallocAggressiveMemoryDecommit", "1");
    figures_parse(&settings, "directoryperdb", "true");
    figures_parse(&settings, "wiredTigerDirectoryForIndexes", "0");
    figures_parse(&settings, "wiredTigerEngineConfigString", "eviction=(threads_max=2)");
    figures_parse(&settings, "diagnosticDataCollectionEnabled", "true");
    const char *const *arguments = arguments_of(&mongodb, true, &settings);
    assert_true(has(arguments, "--wiredTigerCacheSizeGB", "0.5"));
    assert_true(has(arguments, "--wiredTigerCollectionBlockCompressor", "zstd"));
    assert_true(has(arguments, "--setParameter", "tcmallocAggressiveMemoryDecommit=1"));
    assert_true(has(arguments, "--directoryperdb", NULL));
    assert_false(has(arguments, "--wiredTigerDirectoryForIndexes", NULL));
    assert_true(has(arguments, "--wiredTigerEngineConfigString",
                    "in_memory=true,log=(enabled=false),eviction=(threads_max=2)"));
    /* The user's word counts, once. */
    assert_true(has(arguments, "--setParameter", "diagnosticDataCollectionEnabled=true"));
    assert_false(has(arguments, "--setParameter", "diagnosticDataCollectionEnabled=false"));
    mongodb_arguments_free(&mongodb);
    figures_free(&settings);
}

static void reasons_in_logs(void **state)
{
    (void)state;
    static const struct {
        const char *log, *reason; /* NULL: none */
    } cases[] = {
        {"", NULL},
        {"{\"s\":\"I\",\"msg\":\"Waiting for connections\",\"attr\":{\"port\":27017}}\n", NULL},
        {"Error parsing command line: unrecognised option '--nosuch'\n"
         "try 'mongod --help' for more information\n",
         "Error parsing command line: unrecognised option '--nosuch'"},
        {"BadValue: Bad value for parameter \"x\": Did not consume whole string.\n"
         "try 'mongod --help' for more information",
         "BadValue: Bad value for parameter \"x\": Did not consume whole string."},
        {"{\"s\":\"I\",\"msg\":\"Starting\"}\n"
         "{\"t\":{\"$date\":\"2026-11-30T22:29:48.801Z\"},\"s\":\"F\",\"c\":\"CONTROL\",\"id\":"
         "20574,\"ctx\":\"-\",\"msg\":\"Error during global initialization\",\"attr\":{\"error\":"
         "{\"code\":2,\"codeName\":\"BadValue\",\"errmsg\":\"Unknown --setParameter "
         "'nosuch'\"}}}\n",
         "Unknown --setParameter 'nosuch'"},
        /* A fatal line counts more than an error before it, the first more than the next. */
        {"{\"s\":\"E\",\"msg\":\"an error\",\"attr\":{\"error\":\"lesser\"}}\n"
         "{\"s\":\"F\",\"msg\":\"Fatal assertion\",\"attr\":{\"error\":\"greater\"}}\n"
         "{\"s\":\"F\",\"msg\":\"\\n\\n***aborting after fassert() failure\\n\\n\"}\n",
         "greater"},
        {"{\"s\":\"E\",\"msg\":\"DBException in initAndListen, terminating\",\"attr\":{\"error\":"
         "\"DBPathInUse: Unable to lock\"}}\n"
         "{\"s\":\"I\",\"msg\":\"Now exiting\"}\n",
         "DBPathInUse: Unable to lock"},
        {"{\"s\":\"F\",\"msg\":\"only a message\"}", "only a message"},
        {"{\"s\":\"F\",\"msg\":\"cut in the mid", NULL},
        {"cat: unrecognized option '--dbpath'\n", "cat: unrecognized option '--dbpath'"},
        {"mongod: error while loading shared libraries: libssl.so.1.1: cannot open\n",
         "mongod: error while loading shared libraries: libssl.so.1.1: cannot open"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer reason = {0};
        bool found = mongodb_log_reason(slice_text(cases[i].log), &reason);
        assert_int_equal(found, cases[i].reason != NULL);
        if (found)
            assert_string_equal(reason.data, cases[i].reason);
        buffer_free(&reason);
    }
}

static void messages_are_one_line(void **state)
{
    (void)state;
    struct tare_error error;
    error_set(&error, TARE_STORE, "server: two\nlines\t. .");
    mongodb_one_line(&error);
    assert_string_equal(error.message, "server: two lines");
    mongodb_one_line(NULL);
}

/* The model can't see the loader: what it takes for its sessions is held to it here. */
static void a_session_a_writer(void **state)
{
    (void)state;
    assert_int_equal(MONGODB_SESSIONS, MONGODB_WRITERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replies_become_figures),
        cmocka_unit_test(no_prefix_and_odd_names),
        cmocka_unit_test(numbers_of_any_type),
        cmocka_unit_test(urls),
        cmocka_unit_test(bad_urls_do_not_show_passwords),
        cmocka_unit_test(arguments_in_memory_and_on_disk),
        cmocka_unit_test(settings_become_options_or_parameters),
        cmocka_unit_test(reasons_in_logs),
        cmocka_unit_test(messages_are_one_line),
        cmocka_unit_test(a_session_a_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

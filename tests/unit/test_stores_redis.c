/* The Redis store's pure parts: URLs, the wire form, and what --server means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stores/redis.h"

static void parses(const char *url, const char *host, int port, int database, const char *user,
                   const char *password)
{
    struct redis_place place;
    struct tare_error error = {0};
    if (redis_place_parse(url, &place, &error))
        fail_msg("%s: %s", url, error.message);
    assert_string_equal(host, place.socket ? place.socket : place.host);
    assert_int_equal(port, place.port);
    assert_int_equal(database, place.database);
    if (user)
        assert_string_equal(user, place.user);
    else
        assert_null(place.user);
    if (password)
        assert_string_equal(password, place.password);
    else
        assert_null(place.password);
    redis_place_free(&place);
}

static void refuses(const char *url, const char *word)
{
    struct redis_place place;
    struct tare_error error = {0};
    assert_int_equal(-1, redis_place_parse(url, &place, &error));
    if (!strstr(error.message, word))
        fail_msg("'%s' does not say '%s': %s", url, word, error.message);
    assert_null(strstr(error.message, "sesame"));
    redis_place_free(&place);
}

static void test_places(void **state)
{
    (void)state;
    parses("redis://localhost", "localhost", 6379, 0, NULL, NULL);
    parses("redis://10.0.0.1:7000/3", "10.0.0.1", 7000, 3, NULL, NULL);
    parses("redis://:sesame@host:1/", "host", 1, 0, NULL, "sesame");
    parses("redis://ann:ses%40me%2F@host/2", "host", 6379, 2, "ann", "ses@me/");
    parses("redis://:a:b@host", "host", 6379, 0, NULL, "a:b");
    parses("redis://[::1]:7001/4", "::1", 7001, 4, NULL, NULL);
    parses("unix:///run/redis.sock", "/run/redis.sock", 0, 0, NULL, NULL);
    parses("unix:///run/redis.sock?db=5", "/run/redis.sock", 0, 5, NULL, NULL);
    refuses("rediss://:sesame@host", "TLS");
    refuses("http://:sesame@host", "redis://");
    refuses("redis://:sesame@host:0", "port");
    refuses("redis://:sesame@host:99999", "port");
    refuses("redis://:sesame@host/one", "database");
    refuses("redis://[::1", "]");
}

static void wire_is(const struct object *object, int commands, const char *expected)
{
    struct buffer out = {0};
    assert_int_equal(commands, redis_wire(&out, object));
    assert_string_equal(expected, out.data);
    buffer_free(&out);
}

static void test_wire(void **state)
{
    (void)state;
    struct element pair = {.name = slice_text("f"), .value = slice_text("val")};
    struct object object = {.type = OBJECT_STRING,
                            .key = slice_text("k"),
                            .body = slice_text("hello"),
                            .elements = &pair,
                            .element_count = 1};
    wire_is(&object, 1, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n");
    object.ttl_seconds = 86400;
    wire_is(&object, 1, "*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\n$2\r\nEX\r\n$5\r\n86400\r\n");
    object.type = OBJECT_HASH;
    wire_is(&object, 2,
            "*4\r\n$5\r\nHMSET\r\n$1\r\nk\r\n$1\r\nf\r\n$3\r\nval\r\n"
            "*3\r\n$6\r\nEXPIRE\r\n$1\r\nk\r\n$5\r\n86400\r\n");
    object.ttl_seconds = 0;
    object.type = OBJECT_ZSET;
    static const struct {
        double score;
        const char *text;
    } scores[] = {{0, "$1\r\n0"},
                  {-1234567, "$8\r\n-1234567"},
                  {0.5, "$3\r\n0.5"},
                  {2147483647, "$10\r\n2147483647"},
                  {1e300, "$5\r\n1e300"}};
    for (size_t i = 0; i < sizeof scores / sizeof scores[0]; i++) {
        char expected[128];
        pair.score = scores[i].score;
        snprintf(expected, sizeof expected, "*4\r\n$4\r\nZADD\r\n$1\r\nk\r\n%s\r\n$1\r\nf\r\n",
                 scores[i].text);
        wire_is(&object, 1, expected);
    }
    object.type = OBJECT_LIST;
    wire_is(&object, 1, "*3\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n$1\r\nf\r\n");
    object.type = OBJECT_SET;
    wire_is(&object, 1, "*3\r\n$4\r\nSADD\r\n$1\r\nk\r\n$1\r\nf\r\n");
}

static void test_wire_binary(void **state)
{
    (void)state;
    static const char bytes[] = "a\0b\r\nc";
    struct object object = {
        .type = OBJECT_STRING, .key = slice_of(bytes, 3), .body = slice_of(bytes, 6)};
    static const char expected[] = "*3\r\n$3\r\nSET\r\n$3\r\na\0b\r\n$6\r\na\0b\r\nc\r\n";
    struct buffer out = {0};
    assert_int_equal(1, redis_wire(&out, &object));
    assert_int_equal(sizeof expected - 1, out.length);
    assert_memory_equal(expected, out.data, out.length);
    buffer_free(&out);
}

static void spec_is(const char *text, enum target_type type, const char *target, const char *shown,
                    const char *engine)
{
    struct server_spec spec;
    struct tare_error error = {0};
    if (server_spec_parse(text, &spec, &error))
        fail_msg("%s: %s", text, error.message);
    assert_int_equal(type, spec.target_type);
    assert_string_equal(target, spec.target);
    assert_string_equal(shown, spec.text);
    if (engine)
        assert_string_equal(engine, spec.engine);
    else
        assert_null(spec.engine);
    server_spec_free(&spec);
}

static void spec_refused(const char *text, const char *word)
{
    struct server_spec spec;
    struct tare_error error = {0};
    assert_int_equal(-1, server_spec_parse(text, &spec, &error));
    if (!strstr(error.message, word))
        fail_msg("'%s' does not say '%s': %s", text, word, error.message);
    assert_null(strstr(error.message, "sesame"));
    server_spec_free(&spec);
}

static void test_server_specs(void **state)
{
    (void)state;
    spec_is("redis=redis-server", TARGET_PROGRAM, "redis-server", "redis=redis-server", NULL);
    spec_is("redis=7.4.1", TARGET_VERSION, "7.4.1", "redis=7.4.1", NULL);
    spec_is("redis=7.0.15,allocator=jemalloc-5.3.0,quantum=16", TARGET_VERSION, "7.0.15",
            "redis=7.0.15,allocator=jemalloc-5.3.0,quantum=16", NULL);
    spec_is("mongodb=mongod,engine=disk", TARGET_PROGRAM, "mongod", "mongodb=mongod,engine=disk",
            "disk");
    spec_is("redis=redis://:sesame@h:1/2", TARGET_URL, "redis://:sesame@h:1/2",
            "redis=redis://:***@h:1/2", NULL);
    /* Commas of the URL stay; known options are split off from the right. */
    spec_is("mongodb=mongodb://a:1,b:2/db?replicaSet=r,engine=memory", TARGET_URL,
            "mongodb://a:1,b:2/db?replicaSet=r",
            "mongodb=mongodb://a:1,b:2/db?replicaSet=r,engine=memory", "memory");
    spec_refused("reddis=x", "did you mean 'redis'");
    spec_refused("redis", "KIND=TARGET");
    spec_refused("=redis-server", "KIND=TARGET");
    spec_refused("mongodb=mongod,engine=dsk", "did you mean 'disk'");
    spec_refused("redis=redis-server,engine=disk", "engine");
    spec_refused("redis=redis://:sesame@h,quantum=16", "version");
    spec_refused("redis=7.0.15,quantum=7", "quantum");
}

static void test_builds_of_versions(void **state)
{
    (void)state;
    struct server_spec spec;
    struct build build;
    struct tare_error error = {0};
    assert_int_equal(0, server_spec_parse("redis=7.0.15", &spec, &error));
    assert_int_equal(0, server_spec_build(&spec, &build, &error));
    assert_int_equal(70015, build.number);
    assert_string_equal("jemalloc-5.2.1", build.allocator); /* upstream's own */
    assert_int_equal(8, build.quantum);
    server_spec_free(&spec);
    assert_int_equal(0, server_spec_parse("mongodb=6.0.5,engine=disk", &spec, &error));
    assert_int_equal(0, server_spec_build(&spec, &build, &error));
    assert_string_equal("tcmalloc", build.allocator);
    assert_string_equal("disk", build.engine);
    server_spec_free(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_wire),
        cmocka_unit_test(test_wire_binary),
        cmocka_unit_test(test_server_specs),
        cmocka_unit_test(test_builds_of_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

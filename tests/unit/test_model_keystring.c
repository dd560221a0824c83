/* KeyStrings: lengths by arithmetic, and that memcmp orders them as MongoDB orders values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <bson/bson.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/keystring.h"

/* The keys of field "a" (or of this path) of a document, as hexadecimal texts with blanks between,
 * and /BITS where there are type bits. The caller frees. */
static char *keys_of(const char *json, const char *path, bool hashed)
{
    bson_error_t reason;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &reason);
    if (!document)
        fail_msg("%s: %s", json, reason.message);
    struct object object = {.type = OBJECT_DOCUMENT,
                            .body = slice_of((const char *)bson_get_data(document), document->len)};
    struct object_index index = {path, hashed};
    struct keystrings keys = {0};
    struct buffer text = {0};
    bool found = keystrings_of_index(&object, &index, &keys);
    for (size_t i = 0; i < keys.count; i++) {
        struct slice key = keystrings_get(&keys, i);
        buffer_text(&text, i ? " " : "");
        for (size_t j = 0; j < key.length; j++)
            buffer_format(&text, "%02x", (unsigned char)key.bytes[j]);
        if (keys.items[i].type_bits)
            buffer_format(&text, "/%u", keys.items[i].type_bits);
    }
    if (!found)
        buffer_text(&text, " missing");
    keystrings_free(&keys);
    bson_destroy(document);
    return buffer_steal(&text);
}

static void values_become_keys(void **state)
{
    (void)state;
    static const struct {
        const char *json, *path, *keys;
    } cases[] = {
        {"{\"a\": \"xy\"}", "a", "3c78790004"},
        {"{\"a\": \"x\\u0000y\"}", "a", "3c7800ff790004"},
        {"{\"a\": 0}", "a", "2904"},
        {"{\"a\": 1}", "a", "2b0204"},
        {"{\"a\": 127}", "a", "2bfe04"},
        {"{\"a\": 128}", "a", "2c010004"},
        {"{\"a\": -1}", "a", "27fd04"},
        {"{\"a\": {\"$numberLong\": \"1\"}}", "a", "2b0204/2"},
        {"{\"a\": 2.0}", "a", "2b0404/2"},
        /* 1.5: the integer 1, a set bit, 52 bits of fraction. */
        {"{\"a\": 1.5}", "a", "2b038000000000000004/2"},
        {"{\"a\": true}", "a", "6f04"},
        {"{\"a\": null}", "a", "1404 missing"},
        {"{\"b\": 1}", "a", "1404 missing"},
        {"{\"a\": {\"$oid\": \"0123456789abcdef01234567\"}}", "a", "640123456789abcdef0123456704"},
        {"{\"a\": {\"$binary\": {\"base64\": \"AP8Q\", \"subType\": \"00\"}}}", "a",
         "5a030000ff1004"},
        {"{\"a\": {\"b\": 1}}", "a.b", "2b0204"},
        {"{\"a\": {\"b\": 1}}", "a.c", "1404 missing"},
        {"{\"a\": 7}", "a.b", "1404 missing"},
        {"{\"a\": {\"b\": 1}}", "a", "461e62002b020004"},
        {"{\"a\": [3, 1, 3]}", "a", "2b0204 2b0604"},
        {"{\"a\": []}", "a", "0f04"},
        {"{\"a\": [{\"b\": 2}, {\"b\": 1}, {\"c\": 1}]}", "a.b", "1404 2b0204 2b0404"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *keys = keys_of(cases[i].json, cases[i].path, false);
        if (strcmp(keys, cases[i].keys) != 0)
            fail_msg("%s of %s: '%s', not '%s'", cases[i].path, cases[i].json, keys, cases[i].keys);
        free(keys);
    }
}

static void a_hash_is_a_long(void **state)
{
    (void)state;
    char *one = keys_of("{\"a\": \"x\"}", "a", true), *other = keys_of("{\"a\": \"y\"}", "a", true);
    char *again = keys_of("{\"a\": \"x\"}", "a", true);
    assert_string_not_equal(one, other);
    assert_string_equal(one, again);
    assert_int_equal(strlen(one), 2 * 10 + 2); /* type, 8 bytes, end; 2 type bits */
    free(one);
    free(other);
    free(again);
}

static void numbers_are_in_order(void **state)
{
    (void)state;
    static const char *const ascending[] = {"-1e300",   "-9223372036854775807",
                                            "-70000.5", "-70000",
                                            "-256",     "-255",
                                            "-1.5",     "-1",
                                            "-0.25",    "0",
                                            "0.001",    "0.5",
                                            "1",        "1.25",
                                            "127",      "128",
                                            "255.75",   "32767",
                                            "32768",    "4e9",
                                            "1e18",     "1e19"};
    char *before = NULL;
    for (size_t i = 0; i < sizeof ascending / sizeof ascending[0]; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"a\": %s}", ascending[i]);
        char *key = keys_of(json, "a", false);
        if (before && strcmp(before, key) >= 0)
            fail_msg("%s: %s is not above %s", ascending[i], key, before);
        free(before);
        before = key;
    }
    free(before);
}

static void record_ids(void **state)
{
    (void)state;
    unsigned char id[9] = {0}, before[9] = {0};
    static const uint64_t numbers[] = {1, 31, 1023, 1024, 262143, 262144, 1u << 30};
    static const int lengths[] = {2, 2, 2, 3, 3, 4, 5};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_int_equal(keystring_record_id(numbers[i], id), lengths[i]);
        assert_true(memcmp(before, id, sizeof id) < 0);
        memcpy(before, id, sizeof before);
    }
    assert_int_equal(keystring_type_bytes(0), 0);
    assert_int_equal(keystring_type_bytes(2), 1);
    assert_int_equal(keystring_type_bytes(7), 1);
    assert_int_equal(keystring_type_bytes(8), 2);
    assert_int_equal(keystring_type_bytes(16), 3);
}

static void ids(void **state)
{
    (void)state;
    struct keystrings keys = {0};
    /* Only its length is known: a string's. */
    struct object object = {.type = OBJECT_DOCUMENT, .key = slice_text("player:1")};
    keystrings_of_id(&object, &keys);
    assert_int_equal(keystrings_get(&keys, 0).length, 8 + 3);
    bson_t document = BSON_INITIALIZER;
    bson_oid_t oid;
    bson_oid_init_from_string(&oid, "0123456789abcdef01234567");
    BSON_APPEND_OID(&document, "_id", &oid);
    object.body = slice_of((const char *)bson_get_data(&document), document.len);
    keystrings_of_id(&object, &keys);
    assert_int_equal(keystrings_get(&keys, 0).length, 14);
    bson_destroy(&document);
    keystrings_free(&keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_become_keys),
        cmocka_unit_test(a_hash_is_a_long),
        cmocka_unit_test(numbers_are_in_order),
        cmocka_unit_test(record_ids),
        cmocka_unit_test(ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

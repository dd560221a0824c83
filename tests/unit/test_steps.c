/* Steps: there and back, and what each refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bson/bson.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/random.h"
#include "encoders/encoding.h"

/* Random documents. What not all steps can carry is drawn only where it is allowed. */
struct allowed {
    bool bytes;        /* VALUE_BYTES, of all 256 values */
    bool nul_in_names; /* and in texts always */
    int depth;
};

/* What all steps can carry, and what those can that neither end names with a NUL nor hold text
 * alone. */
static const struct allowed few = {.depth = 4},
                            most = {.bytes = true, .nul_in_names = true, .depth = 4};

#ifdef __SANITIZE_ADDRESS__
#define DOCUMENTS 1000
#else
#define DOCUMENTS 10000
#endif
#define DEEP 200

static const char *const pieces[] = {"",
                                     "a",
                                     "\"",
                                     "\\",
                                     "/",
                                     "\n",
                                     "\x01",
                                     "\x1f",
                                     " ",
                                     "é",
                                     "\xc2\x80",
                                     "\xe2\x82\xac",
                                     "\xef\xbf\xbf",
                                     "\xf0\x9f\x98\x80",
                                     "field",
                                     "\x7f"};

static struct slice random_text(struct random *random, struct arena *arena, bool nul)
{
    char text[600] = "";
    size_t length = 0, count = random_below(random, 12);
    if (random_below(random, 20) == 0)
        count = 100; /* past the short forms of lengths */
    for (size_t i = 0; i < count; i++) {
        const char *piece = pieces[random_below(random, sizeof pieces / sizeof pieces[0])];
        memcpy(text + length, piece, strlen(piece));
        length += strlen(piece);
        if (nul && random_below(random, 10) == 0)
            text[length++] = '\0';
    }
    return slice_of(arena_copy(arena, text, length), length);
}

static int64_t random_integer(struct random *random)
{
    static const int64_t edges[] = {0,         -1,        127,       128,       -32,       -33,
                                    255,       256,       -128,      -129,      65535,     65536,
                                    INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 2147483648};
    if (random_below(random, 2))
        return edges[random_below(random, sizeof edges / sizeof edges[0])];
    return (int64_t)(random_next(random) >> random_below(random, 64));
}

static double random_double(struct random *random)
{
    static const double edges[] = {0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, 1.7976931348623157e308, 1e22};
    double real;
    if (random_below(random, 2))
        return edges[random_below(random, sizeof edges / sizeof edges[0])];
    do {
        uint64_t bits = random_next(random);
        memcpy(&real, &bits, sizeof real);
    } while (!isfinite(real));
    return real;
}

static void random_children(struct random *random, struct arena *arena, struct allowed allowed,
                            bool named, struct member **items, size_t *count);

static struct value random_value(struct random *random, struct arena *arena, struct allowed allowed)
{
    struct value value = {.type = (enum value_type)random_below(random, 8)};
    if (value.type >= VALUE_ARRAY && allowed.depth == 0)
        value.type = VALUE_INTEGER;
    if (value.type == VALUE_BYTES && !allowed.bytes)
        value.type = VALUE_TEXT;
    switch (value.type) {
    case VALUE_NULL:
        break;
    case VALUE_BOOLEAN:
        value.as.boolean = random_below(random, 2);
        break;
    case VALUE_INTEGER:
        value.as.integer = random_integer(random);
        break;
    case VALUE_DOUBLE:
        value.as.real = random_double(random);
        break;
    case VALUE_TEXT:
        value.as.text = random_text(random, arena, true);
        break;
    case VALUE_BYTES: {
        size_t length = random_below(random, 300);
        char *bytes = arena_take(arena, length);
        random_bytes(random, bytes, length);
        value.as.text = slice_of(bytes, length);
        break;
    }
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        allowed.depth--;
        random_children(random, arena, allowed, value.type == VALUE_OBJECT,
                        &value.as.children.items, &value.as.children.count);
        break;
    }
    return value;
}

/* Puts the value in so many arrays and objects, in turn as drawn. */
static struct value wrapped(struct random *random, struct arena *arena, struct value value,
                            uint64_t levels)
{
    for (uint64_t i = 0; i < levels; i++) {
        bool named = random_below(random, 2);
        struct member *item = arena_take(arena, sizeof *item);
        *item = (struct member){named ? random_text(random, arena, false) : slice_of("", 0), value};
        value =
            (struct value){.type = named ? VALUE_OBJECT : VALUE_ARRAY, .as.children = {item, 1}};
    }
    return value;
}

static void random_children(struct random *random, struct arena *arena, struct allowed allowed,
                            bool named, struct member **items, size_t *count)
{
    *count = random_below(random, 5);
    if (random_below(random, 50) == 0)
        *count = 20; /* past the short forms of counts */
    *items = arena_take(arena, *count * sizeof **items);
    for (size_t i = 0; i < *count; i++) {
        (*items)[i].name = slice_of("", 0);
        if (named) {
            /* Numbered, since names in an object differ. */
            struct slice text = random_text(random, arena, allowed.nul_in_names);
            struct slice number = numbered_text("", (int64_t)i, arena);
            char *name = arena_take(arena, text.length + number.length);
            memcpy(name, text.bytes, text.length);
            memcpy(name + text.length, number.bytes, number.length);
            (*items)[i].name = slice_of(name, i ? text.length + number.length : text.length);
        }
        (*items)[i].value = random_value(random, arena, allowed);
    }
}

static void assert_same(const struct value *a, const struct value *b);

static void assert_same_members(const struct member *a, const struct member *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(slice_equal(a[i].name, b[i].name));
        assert_same(&a[i].value, &b[i].value);
    }
}

static void assert_same(const struct value *a, const struct value *b)
{
    assert_int_equal(a->type, b->type);
    switch (a->type) {
    case VALUE_NULL:
        break;
    case VALUE_BOOLEAN:
        assert_int_equal(a->as.boolean, b->as.boolean);
        break;
    case VALUE_INTEGER:
        assert_true(a->as.integer == b->as.integer);
        break;
    case VALUE_DOUBLE: /* bit by bit: -0.0 is not 0.0 */
        assert_memory_equal(&a->as.real, &b->as.real, sizeof a->as.real);
        break;
    case VALUE_TEXT:
    case VALUE_BYTES:
        assert_true(slice_equal(a->as.text, b->as.text));
        break;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        assert_int_equal(a->as.children.count, b->as.children.count);
        assert_same_members(a->as.children.items, b->as.children.items, a->as.children.count);
        break;
    }
}

static int64_t record_text(const struct record *record)
{
    struct value value = {.type = VALUE_OBJECT,
                          .as.children = {record->fields, record->field_count}};
    return value_text_length(&value);
}

static int64_t record_names(const struct record *record)
{
    struct value value = {.type = VALUE_OBJECT,
                          .as.children = {record->fields, record->field_count}};
    return value_names_length(&value);
}

/* One record, there and back; each byte counted, payload as the record has it. */
static void record_there_and_back(struct encoding *encoding, const struct record *record,
                                  struct arena *arena, bool cut, void (*check)(struct slice bytes))
{
    struct tare_error error = {0};
    struct record back;
    struct slice bytes, item;
    struct counted counted;
    struct buffer stream = {0};
    size_t length;
    if (encoding_bytes(encoding, record, arena, &bytes, &counted, &error))
        fail_msg("%s: %s", encoding->text, error.message);
    assert_int_equal(counted_sum(&counted), bytes.length);
    assert_int_equal(counted.key, 0);
    assert_int_equal(counted.values, record_text(record));
    assert_int_equal(counted.field_names, record_names(record));
    if (check)
        check(bytes);
    /* Copied to its exact size, so that a sanitizer sees a read past the end. */
    char *exact = malloc(bytes.length ? bytes.length : 1);
    memcpy(exact, bytes.bytes, bytes.length);
    bytes.bytes = exact;
    if (encoding_undo(encoding, bytes, arena, &back, &error))
        fail_msg("%s back: %s", encoding->text, error.message);
    assert_int_equal(back.field_count, record->field_count);
    assert_same_members(back.fields, record->fields, record->field_count);
    /* In a stream, before other bytes, it is found again. */
    encoding_frame(encoding, bytes, &stream);
    size_t framed = stream.length;
    buffer_append(&stream, exact, bytes.length < 7 ? bytes.length : 7);
    if (encoding_unframe(encoding, buffer_slice(&stream), false, &item, &length, &error))
        fail_msg("%s unframed: %s", encoding->text, error.message);
    assert_int_equal(length, framed);
    assert_true(slice_equal(item, bytes));
    /* No beginning of it is taken for the whole, nor for one that is in a stream. */
    for (size_t i = 0; i < framed && cut; i++) {
        char *part = malloc(i ? i : 1);
        memcpy(part, exact, i < bytes.length ? i : bytes.length);
        if (i < bytes.length)
            assert_int_equal(encoding_undo(encoding, slice_of(part, i), arena, &back, &error), -1);
        memcpy(part, stream.data, i);
        int failed = encoding_unframe(encoding, slice_of(part, i), false, &item, &length, &error);
        assert_true(failed || length == 0);
        free(part);
    }
    buffer_free(&stream);
    free(exact);
}

/* Random documents, there and back. */
static void there_and_back(const char *steps, struct allowed allowed,
                           void (*check)(struct slice bytes))
{
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse_steps(steps, &error);
    if (!encoding)
        fail_msg("%s", error.message);
    struct arena arena = {0};
    for (int64_t i = 0; i < DOCUMENTS; i++) {
        arena_reset(&arena);
        struct random random = random_at(1, i, 0);
        struct record record = {.key = slice_text("key")};
        random_children(&random, &arena, allowed, true, &record.fields, &record.field_count);
        if (i % 50 == 0 && record.field_count)
            record.fields[0].value =
                wrapped(&random, &arena, record.fields[0].value, random_below(&random, DEEP));
        record_there_and_back(encoding, &record, &arena, i < 100, check);
    }
    arena_free(&arena);
    encoding_free(encoding);
}

/* jansson's own compact text of the same tree is as long, but for numbers that it writes longer. */
static void check_json(struct slice bytes)
{
    json_t *json = json_loadb(bytes.bytes, bytes.length, JSON_ALLOW_NUL, NULL);
    assert_non_null(json);
    json_decref(json);
    for (size_t i = 0; i < bytes.length; i++)
        assert_false(bytes.bytes[i] == '\n' || (bytes.bytes[i] & 0xe0) == 0);
}

static void json_is_read_back(void **state)
{
    (void)state;
    there_and_back("json", few, check_json);
}

static void msgpack_is_read_back(void **state)
{
    (void)state;
    there_and_back("msgpack", most, NULL);
}

static void cbor_is_read_back(void **state)
{
    (void)state;
    there_and_back("cbor", most, NULL);
}

static void what_is_compressed_is_read_back(void **state)
{
    (void)state;
    static const char *const chains[] = {
        "msgpack+zstd",   "msgpack+zstd=1",
        "cbor+zstd=19",   "msgpack+lz4",
        "msgpack+snappy", "msgpack+gzip",
        "cbor+gzip=9",    "msgpack+snappy+zstd",
        "cbor+lz4+gzip",  "msgpack+gzip+lz4+snappy",
    };
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++)
        there_and_back(chains[i], most, NULL);
    there_and_back("json+zstd", few, NULL);
    there_and_back("bson+snappy", (struct allowed){.bytes = true, .depth = 4}, NULL);
}

static void check_bson(struct slice bytes)
{
    bson_t bson;
    assert_true(bson_init_static(&bson, (const uint8_t *)bytes.bytes, bytes.length));
    assert_true(bson_validate(&bson, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL));
}

static void bson_is_read_back(void **state)
{
    (void)state;
    there_and_back("bson", (struct allowed){.bytes = true, .depth = 4}, check_bson);
}

static void json_escapes_no_more_than_it_must(void **state)
{
    (void)state;
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse_steps("json", &error);
    struct arena arena = {0};
    char all[128];
    for (int i = 0; i < 128; i++)
        all[i] = (char)i;
    struct member field = {{"", 0}, {.type = VALUE_BYTES, .as.text = {all, 128}}};
    struct record record = {.key = {"k", 1}, .fields = &field, .field_count = 1};
    struct slice bytes;
    struct counted counted;
    assert_int_equal(encoding_bytes(encoding, &record, &arena, &bytes, &counted, &error), 0);
    /* Of 32 control characters five have a short form; a quote and a backslash one byte each. */
    assert_int_equal(counted.escapes, 27 * 5 + 5 + 2);
    assert_non_null(strstr(bytes.bytes, "\"\\u0000\\u0001"));
    assert_non_null(strstr(bytes.bytes, "\\b\\t\\n\\u000b\\f\\r\\u000e"));
    assert_non_null(strstr(bytes.bytes, "!\\\"#"));
    assert_non_null(strstr(bytes.bytes, "./0"));
    assert_non_null(strstr(bytes.bytes, "[\\\\]"));
    assert_non_null(strstr(bytes.bytes, "~\x7f\""));
    /* Wherever it stands among the words that are looked at at once. */
    for (size_t before = 0; before < 9; before++) {
        for (size_t after = 0; after < 17; after++) {
            char text[32], expected[64];
            memset(text, 'x', sizeof text);
            text[before] = '"';
            field.value.as.text = slice_of(text, before + 1 + after);
            assert_int_equal(encoding_bytes(encoding, &record, &arena, &bytes, &counted, &error),
                             0);
            snprintf(expected, sizeof expected, "{\"\":\"%.*s\\\"%.*s\"}", (int)before, "xxxxxxxxx",
                     (int)after, "xxxxxxxxxxxxxxxxx");
            assert_true(slice_is(bytes, expected));
        }
    }
    encoding_free(encoding);
    arena_free(&arena);
}

static struct value *nested(struct arena *arena, int depth)
{
    struct value *value = arena_take(arena, sizeof *value);
    *value = (struct value){.type = VALUE_INTEGER};
    for (int i = 0; i < depth; i++) {
        struct member *item = arena_take(arena, sizeof *item);
        *item = (struct member){slice_of("", 0), *value};
        *value = (struct value){.type = VALUE_ARRAY, .as.children = {item, 1}};
    }
    return value;
}

static void what_cannot_be_carried_is_refused_by_name(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct {
        const char *steps;
        struct member field;
        const char *message;
    } cases[] = {
        {"json",
         {{"f", 1}, {.type = VALUE_BYTES, .as.text = {"ab\xff", 3}}},
         "record 'k': field 'f': no UTF-8 at byte 2, and 'json' holds text alone; take 'msgpack' "
         "or "
         "'bson'"},
        {"json",
         {{"\xff", 1}, {.type = VALUE_NULL}},
         "record 'k': the name '?': no UTF-8 at byte 0, and 'json' holds text alone; take "
         "'msgpack' "
         "or 'bson'"},
        {"json",
         {{"f", 1}, {.type = VALUE_DOUBLE, .as.real = HUGE_VAL}},
         "record 'k': field 'f': the number 'inf', which 'json' has no form for"},
        {"json",
         {{"f", 1}, *nested(&arena, 1001)},
         "record 'k': field 'f': nested deeper than 1000 levels"},
        {"msgpack",
         {{"f", 1}, {.type = VALUE_TEXT, .as.text = {"\xc3", 1}}},
         "record 'k': field 'f': text that is no UTF-8, which 'msgpack' cannot hold"},
        {"msgpack",
         {{"\x80z", 2}, {.type = VALUE_NULL}},
         "record 'k': the name '?z': text that is no UTF-8, which 'msgpack' cannot hold"},
        {"msgpack",
         {{"f", 1}, *nested(&arena, 1001)},
         "record 'k': field 'f': nested deeper than 1000 levels"},
        {"cbor",
         {{"f", 1}, {.type = VALUE_TEXT, .as.text = {"\xc3", 1}}},
         "record 'k': field 'f': text that is no UTF-8, which 'cbor' cannot hold"},
        {"cbor+zstd",
         {{"f", 1}, *nested(&arena, 1001)},
         "record 'k': field 'f': nested deeper than 1000 levels"},
        {"bson",
         {{"a\0b", 3}, {.type = VALUE_NULL}},
         "record 'k': the name 'a?b' has a NUL in it, which BSON ends names with"},
        {"bson",
         {{"\xff", 1}, {.type = VALUE_NULL}},
         "record 'k': the name '?' is no UTF-8, which BSON requires"},
        {"bson",
         {{"f", 1}, {.type = VALUE_TEXT, .as.text = {"\xff", 1}}},
         "record 'k': field 'f': text that is no UTF-8, which BSON requires"},
        {"bson",
         {{"f", 1}, *nested(&arena, 1001)},
         "record 'k': field 'f': nested deeper than 1000 levels"},
        {"value",
         {{"f", 1}, {.type = VALUE_INTEGER}},
         "record 'k': a value that is neither text nor bytes, and 'value' would lose its type; "
         "take "
         "'json'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tare_error error = {0};
        struct encoding *encoding = encoding_parse_steps(cases[i].steps, &error);
        struct member field = cases[i].field;
        struct record record = {.key = {"k", 1}, .fields = &field, .field_count = 1};
        struct slice bytes;
        struct counted counted;
        assert_int_equal(encoding_bytes(encoding, &record, &arena, &bytes, &counted, &error), -1);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.status, TARE_USAGE);
        encoding_free(encoding);
    }
    arena_free(&arena);
}

static void bytes_that_are_no_record_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *steps;
        struct slice bytes;
        const char *message;
    } cases[] = {
        {"json", {"[1]", 3}, "json: not an object, and so no record"},
        {"json", {"{\"a\":1,\"a\":2}", 13}, "json: duplicate object key near '\"a\"' at byte 10"},
        {"json",
         {"{\"a\":18446744073709551615}", 26},
         "json: too big integer near '18446744073709551615' at byte 25"},
        {"json", {"", 0}, "json: '[' or '{' expected near end of file at byte 0"},
        {"msgpack", {"\x93\x01\x02\x03", 4}, "msgpack: not a map, and so no record"},
        {"msgpack", {"\x80\x80", 2}, "msgpack: 1 bytes after the record"},
        {"msgpack", {"\x81\x01\x02", 3}, "msgpack: a map's key 0 is no text"},
        {"msgpack",
         {"\x81\xa1x\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 12},
         "msgpack: the integer 18446744073709551615 is past 63 bits"},
        {"msgpack",
         {"\x81\xa1x\xd4\x05\x00", 6},
         "msgpack: extension type 5 has no form in a record"},
        {"msgpack", {"\x81\xa1x\xc1", 4}, "msgpack: malformed at byte 3"},
        {"msgpack",
         {"\xdd\xff\xff\xff\xff\x01", 6},
         "msgpack: cut short: 4294967295 elements are told of"},
        {"msgpack",
         {"\x82\xa1x\x01\xa1x\x02", 7},
         "msgpack: the name 'x' stands twice in one object"},
        {"msgpack", {"\x81\xa1x\xa1\xff", 5}, "msgpack: a text of 1 bytes is no UTF-8"},
        {"cbor", {"\x83\x01\x02\x03", 4}, "cbor: not a map, and so no record"},
        {"cbor", {"\xa0\xa0", 2}, "cbor: 1 bytes after the record"},
        {"cbor", {"\xa1\x01\x02", 3}, "cbor: a map's key is no text"},
        {"cbor",
         {"\xa1\x61x\x1b\xff\xff\xff\xff\xff\xff\xff\xff", 12},
         "cbor: an integer is past 63 bits"},
        {"cbor", {"\xa1\x61x\xc1\x00", 5}, "cbor: tag 1 has no form in a record"},
        {"cbor", {"\xa1\x61x\xf7", 4}, "cbor: 'undefined' has no form in a record"},
        {"cbor", {"\xa1\x61x\xff", 4}, "cbor: a break where nothing ends"},
        {"cbor", {"\xa1\x61x\xfc", 4}, "cbor: malformed at byte 3"},
        {"cbor", {"\xa1\x61x\x61\xff", 5}, "cbor: a text of 1 bytes is no UTF-8"},
        {"cbor", {"\xa1\x61x\x7f\x41z\xff", 7}, "cbor: a chunk of a string is of another type"},
        {"cbor",
         {"\xbf\x61x\x01\x61x\x02\xff", 8},
         "cbor: the name 'x' stands twice in one object"},
        {"cbor",
         {"\x9b\x00\x00\x01\x00\x00\x00\x00\x00\x01", 10},
         "cbor: cut short: more elements are told of than there are bytes"},
        {"json+zstd", {"{}", 2}, "zstd: Unknown frame descriptor"},
        {"json+lz4", {"{}", 2}, "lz4: cut short after 2 bytes"},
        {"json+lz4", {"abcdefgh", 8}, "lz4: ERROR_frameType_unknown"},
        {"json+gzip", {"abcdefgh", 8}, "gzip: incorrect header check"},
        {"json+snappy", {"\xff\xff\xff\xff\x0f{}", 7}, "snappy: malformed in 7 bytes"},
        {"json+snappy", {"\x02\x04[]", 4}, "json: not an object, and so no record"},
        {"bson",
         {"\x0b\0\0\0\x0ax\0\x0ax\0\0", 11},
         "bson: the name 'x' stands twice in one object"},
        {"bson",
         {"\x0e\0\0\0\x02x\0\x02\0\0\0\xff\0\0", 14},
         "bson: a text of 1 bytes is no UTF-8"},
        {"bson", {"\x05\0\0\0", 4}, "bson: not one whole document of 4 bytes"},
        {"bson", {"\x06\0\0\0\0", 5}, "bson: not one whole document of 5 bytes"},
        {"bson",
         {"\x10\0\0\0\x07x\0"
          "0123456789ab"
          "\0",
          20},
         NULL}, /* wrong length */
        {"bson",
         {"\x14\0\0\0\x07x\0"
          "0123456789ab"
          "\0",
          20},
         "bson: 'x' is of type 0x07, which a record has none for"}, /* an ObjectId */
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tare_error error = {0};
        struct encoding *encoding = encoding_parse_steps(cases[i].steps, &error);
        struct record record;
        assert_int_equal(encoding_undo(encoding, cases[i].bytes, &arena, &record, &error), -1);
        if (cases[i].message)
            assert_string_equal(error.message, cases[i].message);
        encoding_free(encoding);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_back),
        cmocka_unit_test(msgpack_is_read_back),
        cmocka_unit_test(cbor_is_read_back),
        cmocka_unit_test(bson_is_read_back),
        cmocka_unit_test(what_is_compressed_is_read_back),
        cmocka_unit_test(json_escapes_no_more_than_it_must),
        cmocka_unit_test(what_cannot_be_carried_is_refused_by_name),
        cmocka_unit_test(bytes_that_are_no_record_are_refused),
    };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}

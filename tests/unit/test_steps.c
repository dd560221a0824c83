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

/* One record, there by one encoding and back by another that is the same; each byte counted,
 * payload as the record has it. */
static void record_there_and_back(struct encoding *encoding, struct encoding *reader,
                                  const struct record *record, struct arena *arena, bool cut,
                                  void (*check)(struct slice bytes))
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
    if (!encoding_table_count(encoding))
        assert_int_equal(counted.field_names, record_names(record));
    if (check)
        check(bytes);
    /* Copied to its exact size, so that a sanitizer sees a read past the end. */
    char *exact = malloc(bytes.length ? bytes.length : 1);
    memcpy(exact, bytes.bytes, bytes.length);
    bytes.bytes = exact;
    if (encoding_undo(reader, bytes, arena, &back, &error))
        fail_msg("%s back: %s", encoding->text, error.message);
    assert_int_equal(back.field_count, record->field_count);
    assert_same_members(back.fields, record->fields, record->field_count);
    /* In a stream, before other bytes, it is found again. */
    encoding_frame(encoding, bytes, &stream);
    size_t framed = stream.length;
    buffer_append(&stream, exact, bytes.length < 7 ? bytes.length : 7);
    if (encoding_unframe(reader, buffer_slice(&stream), false, &item, &length, &error))
        fail_msg("%s unframed: %s", encoding->text, error.message);
    assert_int_equal(length, framed);
    assert_true(slice_equal(item, bytes));
    /* No beginning of it is taken for the whole, nor for one that is in a stream. */
    for (size_t i = 0; i < framed && cut; i++) {
        char *part = malloc(i ? i : 1);
        memcpy(part, exact, i < bytes.length ? i : bytes.length);
        if (i < bytes.length)
            assert_int_equal(encoding_undo(reader, slice_of(part, i), arena, &back, &error), -1);
        memcpy(part, stream.data, i);
        int failed = encoding_unframe(reader, slice_of(part, i), false, &item, &length, &error);
        assert_true(failed || length == 0);
        free(part);
    }
    buffer_free(&stream);
    free(exact);
}

/* A field of a record as a data set of one kind has it; now and then something else. */
static struct member usual(struct random *random, struct arena *arena, struct allowed allowed,
                           const char *name, struct value value)
{
    allowed.depth = 2;
    if (random_below(random, 20) == 0)
        value = random_value(random, arena, allowed);
    return (struct member){slice_text(name), value};
}

/* {"identifier", "address": {"street", "postcode"}, "only": {"one"}, "items": [{"stock", "a"}...]};
 * seldom without a field, or with the two first in another order. */
static void usual_fields(struct random *random, struct arena *arena, struct allowed allowed,
                         struct record *record)
{
    struct member *address = arena_take(arena, 2 * sizeof *address);
    struct member *one = arena_take(arena, sizeof *one);
    size_t count = random_below(random, 4);
    struct member *items = arena_take(arena, count * sizeof *items);
    struct member *fields = arena_take(arena, 4 * sizeof *fields);
    struct value text = {.type = VALUE_TEXT}, number = {.type = VALUE_INTEGER};
    text.as.text = random_text(random, arena, true);
    number.as.integer = random_integer(random);
    address[0] = usual(random, arena, allowed, "street", text);
    address[1] = usual(random, arena, allowed, "postcode", number);
    one[0] = usual(random, arena, allowed, "one", text);
    for (size_t i = 0; i < count; i++) {
        struct member *item = arena_take(arena, 2 * sizeof *item);
        item[0] = usual(random, arena, allowed, "stock", number);
        item[1] = usual(random, arena, allowed, "a", text);
        items[i] = usual(random, arena, allowed, "",
                         (struct value){.type = VALUE_OBJECT, .as.children = {item, 2}});
    }
    fields[0] = usual(random, arena, allowed, "identifier", number);
    fields[1] = usual(random, arena, allowed, "address",
                      (struct value){.type = VALUE_OBJECT, .as.children = {address, 2}});
    fields[2] = usual(random, arena, allowed, "only",
                      (struct value){.type = VALUE_OBJECT, .as.children = {one, 1}});
    fields[3] = usual(random, arena, allowed, "items",
                      (struct value){.type = VALUE_ARRAY, .as.children = {items, count}});
    if (random_below(random, 20) == 0) {
        struct member first = fields[0];
        fields[0] = fields[1];
        fields[1] = first;
    }
    record->fields = fields;
    record->field_count = random_below(random, 20) ? 4 : 3;
}

/* A data set of random documents, every second one of a kind. */
static int read_random(struct dataset *dataset, int64_t index, struct arena *arena,
                       struct record *record, struct tare_error *error)
{
    const struct allowed *allowed = dataset->state;
    struct random random = random_at(1, index, 0);
    (void)error;
    *record = (struct record){.key = slice_text("key")};
    if (index % 2)
        usual_fields(&random, arena, *allowed, record);
    else
        random_children(&random, arena, *allowed, true, &record->fields, &record->field_count);
    if (index % 50 == 0 && record->field_count)
        record->fields[0].value =
            wrapped(&random, arena, record->fields[0].value, random_below(&random, DEEP));
    return 0;
}

static const struct dataset_kind random_kind = {.name = "random", .read = read_random};

/* Another encoding of the same text, which learns nothing but loads the tables of the first from a
 * stream. */
static struct encoding *reader_of(struct encoding *encoding, struct arena *arena)
{
    struct tare_error error = {0};
    struct buffer stream = {0};
    struct encoding *reader = encoding_parse_steps(encoding->text, &error);
    assert_non_null(reader);
    if (encoding_frame_tables(encoding, arena, &stream, &error))
        fail_msg("%s", error.message);
    struct slice rest = buffer_slice(&stream), item;
    size_t length;
    for (size_t i = 0; i < encoding_table_count(encoding); i++) {
        if (encoding_unframe(reader, rest, false, &item, &length, &error) ||
            encoding_load_table(reader, i, item, arena, &error))
            fail_msg("%s: %s", encoding->text, error.message);
        assert_true(length > 0);
        rest = slice_of(rest.bytes + length, rest.length - length);
    }
    assert_int_equal(rest.length, 0);
    buffer_free(&stream);
    return reader;
}

/* Random documents, there and back. */
static void there_and_back(const char *steps, struct allowed allowed,
                           void (*check)(struct slice bytes))
{
    struct tare_error error = {0};
    struct dataset dataset = {.kind = &random_kind, .state = &allowed};
    struct encoding *encoding = encoding_parse_steps(steps, &error);
    if (!encoding)
        fail_msg("%s", error.message);
    if (encoding_learn(encoding, &dataset, DOCUMENTS, &error))
        fail_msg("%s", error.message);
    struct arena arena = {0};
    struct encoding *reader = reader_of(encoding, &arena);
    for (int64_t i = 0; i < DOCUMENTS; i++) {
        struct record record;
        arena_reset(&arena);
        dataset_read(&dataset, i, &arena, &record, &error);
        record_there_and_back(encoding, reader, &record, &arena, i < 100, check);
    }
    arena_free(&arena);
    encoding_free(encoding);
    encoding_free(reader);
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

static void what_is_learned_is_kept_and_read_back(void **state)
{
    (void)state;
    static const char *const chains[] = {
        "short+msgpack",           "short+cbor",
        "msgpack-array",           "short+msgpack-array",
        "msgpack-array+zstd",      "msgpack+zstd-dict",
        "short+cbor+zstd-dict=19", "short+msgpack-array+zstd-dict",
        "cbor+zstd-dict+gzip",     "msgpack-array+zstd-dict+snappy",
    };
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++)
        there_and_back(chains[i], most, NULL);
    there_and_back("short+json", few, NULL);
    there_and_back("short+bson+zstd-dict", (struct allowed){.bytes = true, .depth = 4}, NULL);
}

/* Data sets of a few records that are given. */
struct given {
    const struct record *records;
};

static int read_given(struct dataset *dataset, int64_t index, struct arena *arena,
                      struct record *record, struct tare_error *error)
{
    (void)arena;
    (void)error;
    *record = ((const struct given *)dataset->state)->records[index];
    return 0;
}

static const struct dataset_kind given_kind = {.name = "given", .read = read_given};

/* The tables and the records of a stream, framing apart. */
static void assert_text(const char *steps, const struct record *records, int64_t count,
                        const char *const *expected)
{
    struct tare_error error = {0};
    struct given given = {records};
    struct dataset dataset = {.kind = &given_kind, .state = &given};
    struct encoding *encoding = encoding_parse_steps(steps, &error);
    struct arena arena = {0};
    struct buffer stream = {0};
    assert_int_equal(encoding_learn(encoding, &dataset, count, &error), 0);
    assert_int_equal(encoding_frame_tables(encoding, &arena, &stream, &error), 0);
    for (int64_t i = 0; i < count; i++) {
        struct slice bytes;
        struct counted counted;
        assert_int_equal(encoding_bytes(encoding, &records[i], &arena, &bytes, &counted, &error),
                         0);
        encoding_frame(encoding, bytes, &stream);
    }
    struct slice rest = buffer_slice(&stream);
    for (; *expected; expected++) {
        struct slice item;
        size_t length;
        assert_int_equal(encoding_unframe(encoding, rest, true, &item, &length, &error), 0);
        if (!slice_is(item, *expected))
            fail_msg("%.*s is not %s", (int)item.length, item.bytes, *expected);
        rest = slice_of(rest.bytes + length, rest.length - length);
    }
    assert_int_equal(rest.length, 0);
    buffer_free(&stream);
    arena_free(&arena);
    encoding_free(encoding);
}

static void short_names_cannot_be_taken_for_others(void **state)
{
    (void)state;
    struct value one = {.type = VALUE_INTEGER, .as.integer = 1};
    struct member usual_names[] = {{{"created_at", 10}, one}, {{"a", 1}, one}, {{"name", 4}, one}};
    struct member seldom[] = {
        {{"b", 1}, one}, {{"~", 1}, one}, {{"~b", 2}, one}, {{"created", 7}, one}, {{"", 0}, one}};
    struct record records[40];
    for (size_t i = 0; i < 40; i++)
        records[i] = (struct record){.key = {"k", 1}, .fields = usual_names, .field_count = 3};
    /* Of 40 records all are looked at: "b" is a name of the data, and so "a" too. */
    records[7] = (struct record){.key = {"k", 1}, .fields = seldom, .field_count = 5};
    const char *expected[42] = {"{\"c\":\"created_at\",\"d\":\"name\"}"};
    for (size_t i = 0; i < 40; i++)
        expected[i + 1] = "{\"c\":1,\"a\":1,\"d\":1}";
    expected[8] = "{\"b\":1,\"~~\":1,\"~~b\":1,\"created\":1,\"\":1}";
    assert_text("short+json", records, 40, expected);

    /* Learned without them, "b" and "c" are taken; what was not seen gets the mark. */
    struct tare_error error = {0};
    struct given given = {records};
    struct dataset dataset = {.kind = &given_kind, .state = &given};
    struct encoding *encoding = encoding_parse_steps("short+json", &error);
    struct arena arena = {0};
    struct slice bytes;
    struct counted counted;
    struct record back;
    records[7] = records[0];
    assert_int_equal(encoding_learn(encoding, &dataset, 40, &error), 0);
    struct record other = {.key = {"k", 1}, .fields = seldom, .field_count = 5};
    assert_int_equal(encoding_bytes(encoding, &other, &arena, &bytes, &counted, &error), 0);
    assert_true(slice_is(bytes, "{\"~b\":1,\"~~\":1,\"~~b\":1,\"created\":1,\"\":1}"));
    bytes.bytes = arena_copy(&arena, bytes.bytes, bytes.length);
    assert_int_equal(encoding_undo(encoding, bytes, &arena, &back, &error), 0);
    assert_same_members(back.fields, seldom, 5);
    arena_free(&arena);
    encoding_free(encoding);
}

static void a_schema_takes_the_names(void **state)
{
    (void)state;
    struct value one = {.type = VALUE_INTEGER, .as.integer = 1};
    struct member inner[] = {{{"x", 1}, one}}, list[] = {{{"", 0}, one}};
    struct value object = {.type = VALUE_OBJECT, .as.children = {inner, 1}};
    struct value array = {.type = VALUE_ARRAY, .as.children = {list, 1}};
    struct member elements[] = {{{"", 0}, object}, {{"", 0}, object}};
    struct value objects = {.type = VALUE_ARRAY, .as.children = {elements, 2}};
    struct member usual_names[] = {{{"n", 1}, one}, {{"o", 1}, object}, {{"l", 1}, objects}};
    struct member swapped[] = {{{"o", 1}, object}, {{"n", 1}, one}, {{"l", 1}, objects}};
    struct member arrays[] = {{{"n", 1}, array}, {{"o", 1}, array}, {{"l", 1}, array}};
    struct record records[] = {
        {.key = {"k", 1}, .fields = usual_names, .field_count = 3},
        {.key = {"k", 1}, .fields = usual_names, .field_count = 3},
        {.key = {"k", 1}, .fields = swapped, .field_count = 3},
        {.key = {"k", 1}, .fields = arrays, .field_count = 3},
    };
    static const char *const expected[] = {
        "\x83\xa1n\xc0\xa1o\x81\xa1x\xc0\xa1l\x91\x81\xa1x\xc0", /* the schema */
        "\x93\x01\x91\x01\x92\x91\x01\x91\x01",                  /* no names */
        "\x93\x01\x91\x01\x92\x91\x01\x91\x01",
        "\x83\xa1o\x81\xa1x\x01\xa1n\x01\xa1l\x92\x81\xa1x\x01\x81\xa1x\x01", /* all names */
        "\x93\x91\x01\x92\x91\x01\xc0\x91\x01", /* an array for the object of one name */
        NULL,
    };
    assert_text("msgpack-array", records, 4, expected);
    /* A single record's names would cost in the schema what they cost in the record. */
    static const char *const alone[] = {
        "\xc0", "\x83\xa1n\x01\xa1o\x81\xa1x\x01\xa1l\x92\x81\xa1x\x01\x81\xa1x\x01", NULL};
    assert_text("msgpack-array", records, 1, alone);
}

static void tables_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *steps;
        struct slice bytes;
        const char *message;
    } cases[] = {
        {"short+json",
         {"{\"a\":1}", 7},
         "the table of step 'short': short: no mapping of short "
         "names to long ones"},
        {"short+json",
         {"{\"a\":\"x\",\"b\":\"x\"}", 17},
         "the table of step 'short': short: no mapping of short names to long ones"},
        {"short+json",
         {"[]", 2},
         "the table of step 'short': json: not an object, and so no record"},
        {"msgpack-array",
         {"\x01", 1},
         "the table of step 'msgpack-array': msgpack-array: this is "
         "no schema"},
        {"msgpack-array",
         {"\x92\xc0\xc0", 3},
         "the table of step 'msgpack-array': msgpack-array: "
         "this is no schema"},
        {"json+zstd-dict",
         {"{}", 2},
         "the table of step 'zstd-dict': zstd-dict: this is no "
         "dictionary"},
        {"json+zstd-dict",
         {"\x37\xa4\x30\xec\x01\x02\x03\x04\x05\x06\x07", 11},
         "the table of step 'zstd-dict': zstd-dict: this is no dictionary"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tare_error error = {0};
        struct encoding *encoding = encoding_parse_steps(cases[i].steps, &error);
        assert_int_equal(encoding_load_table(encoding, 0, cases[i].bytes, &arena, &error), -1);
        assert_string_equal(error.message, cases[i].message);
        encoding_free(encoding);
    }
    /* An array that is none of the schema's. */
    struct tare_error error = {0};
    struct record record;
    struct encoding *encoding = encoding_parse_steps("msgpack-array", &error);
    assert_int_equal(
        encoding_load_table(encoding, 0, slice_text("\x82\xa1x\xc0\xa1y\xc0"), &arena, &error), 0);
    assert_int_equal(
        encoding_undo(encoding, slice_text("\x93\x01\x02\x03"), &arena, &record, &error), -1);
    assert_string_equal(error.message, "msgpack-array: an array of 3 where the schema has 2 names");
    encoding_free(encoding);
    arena_free(&arena);
}

/* Compressors on what is empty, small, and not to be compressed. */
static void bytes_of_any_length_are_read_back(void **state)
{
    (void)state;
    static const char *const chains[] = {"value",        "value+zstd",
                                         "value+lz4",    "value+gzip",
                                         "value+snappy", "value+gzip+zstd+snappy+lz4"};
    static const size_t lengths[] = {0, 1, 2, 15, 16, 17, 300, 4095, 65535, 65536, 65537, 300000};
    struct tare_error error = {0};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; i++) {
        struct encoding *encoding = encoding_parse_steps(chains[i], &error);
        for (size_t j = 0; j < 2 * sizeof lengths / sizeof lengths[0]; j++) {
            size_t length = lengths[j / 2];
            struct random random = random_at(1, (int64_t)j, 0);
            arena_reset(&arena);
            char *bytes = arena_take(&arena, length + 1);
            if (j % 2)
                random_bytes(&random, bytes, length);
            else
                memset(bytes, 'x', length);
            struct member field = {slice_text("value"),
                                   {.type = VALUE_BYTES, .as.text = slice_of(bytes, length)}};
            struct record record = {.key = {"k", 1}, .fields = &field, .field_count = 1};
            struct slice encoded;
            struct counted counted;
            assert_int_equal(encoding_bytes(encoding, &record, &arena, &encoded, &counted, &error),
                             0);
            assert_int_equal(counted.values, length);
            assert_int_equal(counted.values + counted.compression, encoded.length);
            assert_int_equal(counted_sum(&counted), encoded.length);
            struct buffer stream = {0};
            struct slice item;
            size_t framed;
            struct record back;
            encoding_frame(encoding, encoded, &stream);
            assert_int_equal(
                encoding_unframe(encoding, buffer_slice(&stream), true, &item, &framed, &error), 0);
            assert_int_equal(framed, stream.length);
            assert_int_equal(encoding_undo(encoding, item, &arena, &back, &error), 0);
            assert_same_members(back.fields, &field, 1);
            buffer_free(&stream);
        }
        encoding_free(encoding);
    }
    arena_free(&arena);
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

/* What BSON alone has comes back as the same bytes; JSON holds it as Extended JSON. */
static void types_of_bson_alone_are_kept(void **state)
{
    (void)state;
    static const char *const jsons[] = {
        "{\"_id\":{\"$oid\":\"507f1f77bcf86cd799439011\"}}",
        "{\"at\":{\"$date\":\"2024-02-29T12:00:00.5Z\"}}",
        "{\"old\":{\"$date\":{\"$numberLong\":\"-62135596800001\"}}}",
        "{\"price\":{\"$numberDecimal\":\"12.50\"}}",
        "{\"guid\":{\"$binary\":{\"base64\":\"AAECAwQFBgcICQoLDA0ODw==\",\"subType\":\"04\"}}}",
        "{\"pattern\":{\"$regularExpression\":{\"pattern\":\"^a\",\"options\":\"i\"}}}",
        "{\"t\":{\"$timestamp\":{\"t\":1,\"i\":2}}}",
        "{\"code\":{\"$code\":\"f()\"}}",
        "{\"least\":{\"$minKey\":1}}",
        "{\"in\":[{\"deep\":{\"$oid\":\"000000000000000000000000\"}}]}",
    };
    struct tare_error error = {0};
    struct encoding *bson = encoding_parse_steps("bson", &error);
    struct encoding *json = encoding_parse_steps("json", &error);
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof jsons / sizeof jsons[0]; i++) {
        bson_error_t reason;
        bson_t *document = bson_new_from_json((const uint8_t *)jsons[i], -1, &reason);
        if (!document)
            fail_msg("%s: %s", jsons[i], reason.message);
        struct record record;
        struct slice bytes, given = {(const char *)bson_get_data(document), document->len};
        struct counted counted;
        if (encoding_undo(bson, given, &arena, &record, &error))
            fail_msg("%s: %s", jsons[i], error.message);
        const struct value *value = &record.fields[0].value;
        int64_t text = value_text_length(value);

        assert_int_equal(encoding_bytes(bson, &record, &arena, &bytes, &counted, &error), 0);
        assert_true(slice_equal(bytes, given));
        assert_int_equal(counted_sum(&counted), bytes.length);
        assert_int_equal(counted.values, text);

        assert_int_equal(encoding_bytes(json, &record, &arena, &bytes, &counted, &error), 0);
        if (value->extended && i != 1)
            assert_true(slice_is(bytes, jsons[i]));
        assert_int_equal(counted_sum(&counted), bytes.length);
        assert_int_equal(counted.values, text);
        bson_destroy(document);
    }

    /* 64 bits stay 64 bits, though 32 would do. */
    static const struct slice wide = {"\x10\0\0\0\x12n\0\x05\0\0\0\0\0\0\0\0", 16};
    struct record record;
    struct slice bytes;
    struct counted counted;
    assert_int_equal(encoding_undo(bson, wide, &arena, &record, &error), 0);
    assert_int_equal(encoding_bytes(bson, &record, &arena, &bytes, &counted, &error), 0);
    assert_true(slice_equal(bytes, wide));
    assert_int_equal(encoding_bytes(json, &record, &arena, &bytes, &counted, &error), 0);
    assert_true(slice_is(bytes, "{\"n\":5}"));
    encoding_free(bson);
    encoding_free(json);
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
        {"json",
         {"{\"a\":1,\"a\":2}", 13},
         "json: the name 'a' stands twice in one object at byte 0"},
        {"json", {"{\"a\":18446744073709551615}", 26}, "json: an integer past 64 bits at byte 5"},
        {"json", {"", 0}, "json: the text ends where a value should be at byte 0"},
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
         NULL},                                                                 /* wrong length */
        {"bson", {"\x08\0\0\0\x20x\0\0", 8}, "bson: malformed at byte 7 of 8"}, /* no such type */
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

static int keep_first(void *context, const struct object *object, struct tare_error *error)
{
    struct object *kept = context;
    (void)error;
    if (!kept->key.bytes)
        *kept = *object;
    return 0;
}

/* What a client has of an object that it reads is the record again, in every shape. */
static void every_shape_is_read_back(void **state)
{
    static const char *const encodings[] = {"redis:hash",
                                            "redis:hash@index",
                                            "redis:hash+short",
                                            "redis:string+json",
                                            "redis:string+msgpack-array+zstd",
                                            "redis:bucket=10+cbor",
                                            "redis:list+bson+lz4",
                                            "redis:list=10+msgpack",
                                            "redis:stream",
                                            "redis:stream=10+short",
                                            "redis:json",
                                            "redis:json+short@ttl=86400",
                                            "mongodb:document",
                                            "mongodb:document@id=objectid",
                                            "mongodb:document+short@id=number",
                                            "mongodb:blob+msgpack",
                                            "mongodb:blob+json+gzip@id=number",
                                            "memory:json",
                                            "memory:bytes+cbor",
                                            "memory:objects",
                                            "memory:objects+short"};
    struct allowed allowed = few;
    struct dataset dataset = {.kind = &random_kind, .state = &allowed};
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof encodings / sizeof encodings[0]; i++) {
        struct tare_error error = {0};
        struct encoding *encoding = encoding_parse(encodings[i], &error);
        assert_non_null(encoding);
        assert_int_equal(encoding_learn(encoding, &dataset, 1000, &error), 0);
        for (int64_t number = 0; number < 1000; number++) {
            struct record record, back;
            struct object object = {0};
            arena_reset(&arena);
            read_random(&dataset, number, &arena, &record, &error);
            record.number = number;
            bool deep = number % 50 == 0 && encoding->shape->holds == OBJECT_JSON;
            if (record.field_count == 0 || deep)
                continue; /* no hash can hold it; RedisJSON 127 levels */
            if (encoding_apply(encoding, &record, &arena, keep_first, &object, &error) ||
                encoding_read(encoding, &object, &record, &arena, &back, &error))
                fail_msg("%s, record %d: %s", encoding->text, (int)number, error.message);
            assert_int_equal(back.field_count, record.field_count);
            assert_same_members(back.fields, record.fields, record.field_count);
        }
        encoding_free(encoding);
    }
    arena_free(&arena);
}

/* As many levels as serde_json reads, and one more: what the server would refuse is told before. */
static void redis_json_takes_127_levels(void **state)
{
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse("redis:json", &error);
    struct arena arena = {0};
    (void)state;
    for (int levels = 126; levels <= 127; levels++) {
        struct value value = {.type = VALUE_ARRAY};
        for (int i = 1; i < levels; i++) {
            struct member *item = arena_take(&arena, sizeof *item);
            *item = (struct member){{"", 0}, value};
            value = (struct value){.type = VALUE_ARRAY, .as.children = {item, 1}};
        }
        struct member field = {slice_text("a"), value};
        struct record record = {.key = slice_text("k"), .fields = &field, .field_count = 1};
        struct object object = {0};
        int failed = encoding_apply(encoding, &record, &arena, keep_first, &object, &error);
        assert_int_equal(failed, levels == 126 ? 0 : -1);
    }
    assert_string_equal(error.message,
                        "record 'k': nested deeper than the 127 levels that RedisJSON takes");
    encoding_free(encoding);
    arena_free(&arena);
}

static void a_field_that_is_of_another_type_is_refused(void **state)
{
    static const struct value types[] = {{.type = VALUE_NULL},
                                         {.type = VALUE_BOOLEAN},
                                         {.type = VALUE_INTEGER},
                                         {.type = VALUE_DOUBLE},
                                         {.type = VALUE_OBJECT}};
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse("redis:hash", &error);
    struct element element = {.name = slice_text("a"), .value = slice_text("x")};
    struct object object = {.type = OBJECT_HASH, .elements = &element, .element_count = 1};
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct member field = {slice_text("a"), types[i]};
        struct record like = {.fields = &field, .field_count = 1}, back;
        assert_int_equal(encoding_read(encoding, &object, &like, &arena, &back, &error), -1);
    }
    struct record like = {.field_count = 0}, back;
    assert_int_equal(encoding_read(encoding, &object, &like, &arena, &back, &error), -1);
    assert_string_equal(error.message, "1 fields where the record has 0");
    encoding_free(encoding);
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
        cmocka_unit_test(bytes_of_any_length_are_read_back),
        cmocka_unit_test(what_is_learned_is_kept_and_read_back),
        cmocka_unit_test(short_names_cannot_be_taken_for_others),
        cmocka_unit_test(a_schema_takes_the_names),
        cmocka_unit_test(tables_that_are_none_are_refused),
        cmocka_unit_test(json_escapes_no_more_than_it_must),
        cmocka_unit_test(what_cannot_be_carried_is_refused_by_name),
        cmocka_unit_test(types_of_bson_alone_are_kept),
        cmocka_unit_test(bytes_that_are_no_record_are_refused),
        cmocka_unit_test(every_shape_is_read_back),
        cmocka_unit_test(redis_json_takes_127_levels),
        cmocka_unit_test(a_field_that_is_of_another_type_is_refused),
    };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}

/* Encodings: parsing, chains, objects, counted bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bson/bson.h>

#include "core/random.h"
#include "encoders/encoding.h"
#include "encoders/shape.h"

static struct encoding *parse(const char *text)
{
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse(text, &error);
    if (!encoding)
        fail_msg("%s: %s", text, error.message);
    return encoding;
}

static void the_tables_are_complete(void **state)
{
    (void)state;
    struct tare_error error = {0};
    if (encoders_check(&error))
        fail_msg("%s", error.message);
}

static void encodings_are_normalised(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"redis:hash", "redis:hash"},
        {"redis:hash@index@listpack", "redis:hash@index@listpack"},
        {"redis:hash@ttl=864000", "redis:hash@ttl=864000"},
        {"redis:string", "redis:string+json"},
        {"redis:string+msgpack", "redis:string+msgpack"},
        {"redis:string@ttl=7200", "redis:string+json@ttl=7200"},
        {"redis:hash+short@index", "redis:hash+short@index"},
        {"redis:string+short", "redis:string+short+json"},
        {"redis:string+short+zstd-dict", "redis:string+short+json+zstd-dict"},
        {"mongodb:document+short", "mongodb:document+short"},
        {"redis:string+zstd", "redis:string+json+zstd"},
        {"redis:string+cbor+zstd=3", "redis:string+cbor+zstd"},
        {"redis:string+cbor+zstd=9", "redis:string+cbor+zstd=9"},
        {"mongodb:blob+msgpack+gzip=1", "mongodb:blob+msgpack+gzip=1"},
        {"mongodb:document", "mongodb:document"},
        {"mongodb:blob", "mongodb:blob+json"},
        {"mongodb:blob+bson", "mongodb:blob+bson"},
        {"null:string", "null:string+json"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct encoding *encoding = parse(cases[i][0]);
        assert_string_equal(encoding->text, cases[i][1]);
        encoding_free(encoding);
        /* The normalised text means the same. */
        encoding = parse(cases[i][1]);
        assert_string_equal(encoding->text, cases[i][1]);
        encoding_free(encoding);
    }
    struct encoding *encoding = parse("redis:hash@index@ttl=10k");
    assert_true(encoding->options.index);
    assert_false(encoding->options.listpack);
    assert_int_equal(encoding->options.ttl, 10000);
    encoding_free(encoding);
}

static void wrong_encodings_are_named(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "encoding '' names no store; it is STORE:SHAPE, as 'redis:hash@index'"},
        {"hash", "encoding 'hash' names no store; did you mean 'redis:hash'?"},
        {"json", "encoding 'json' names no store; did you mean 'redis:string+json'?"},
        {"docment", "encoding 'docment' names no store; did you mean 'mongodb:document'?"},
        {"rediss:hash", "unknown store 'rediss' of encoding 'rediss:hash'; did you mean 'redis'?"},
        {"oracle:row",
         "unknown store 'oracle' of encoding 'oracle:row'; known are redis, mongodb, memory, null"},
        {"redis:", "encoding 'redis:' names no shape; it is STORE:SHAPE, as 'redis:hash@index'"},
        {"redis:hahs", "unknown shape 'hahs' of store 'redis'; did you mean 'hash'?"},
        {"redis:hash=100", "shape 'redis:hash' in 'redis:hash=100' takes no number"},
        {"redis:string+msgpak",
         "unknown step 'msgpak' of encoding 'redis:string+msgpak'; did you mean 'msgpack'?"},
        {"redis:string++json", "empty step in 'redis:string++json'"},
        {"redis:string+", "empty step in 'redis:string+'"},
        {"redis:string+json=9", "step 'json' in 'redis:string+json=9' takes no number"},
        {"redis:string+msgpack+json", "step 'json' in 'redis:string+msgpack+json' takes a record, "
                                      "but 'msgpack' before it gives bytes"},
        {"redis:string+zstd+json", "step 'json' in 'redis:string+zstd+json' takes a record, but "
                                   "'zstd' before it gives bytes"},
        {"redis:string+zstd=23",
         "step 'zstd' in 'redis:string+zstd=23' must be a whole number from "
         "1 to 22, not '23'"},
        {"redis:hash+short+short",
         "step 'short' stands twice in 'redis:hash+short+short', and keeps one table"},
        {"redis:string+short+value", "step 'value' in 'redis:string+short+value' leaves names out, "
                                     "so 'short' before it gains nothing"},
        {"redis:string+json+short", "step 'short' in 'redis:string+json+short' takes a record, but "
                                    "'json' before it gives bytes"},
        {"redis:string+lz4=1", "step 'lz4' in 'redis:string+lz4=1' takes no number"},
        {"redis:hash+json", "shape 'redis:hash' takes a record, but step 'json' in "
                            "'redis:hash+json' gives bytes; take 'redis:string'"},
        {"redis:hash@idx", "unknown option 'idx' of encoding 'redis:hash'; did you mean 'index'?"},
        {"redis:string@index", "unknown option 'index' of encoding 'redis:string'; known are ttl"},
        {"mongodb:document@ttl=9999",
         "unknown option 'ttl' of encoding 'mongodb:document'; known are id, index"},
        {"mongodb:document@id=uuid", "option 'id' of encoding 'mongodb:document' must be one of "
                                     "given, objectid, number, not 'uuid'"},
        {"mongodb:document@index=",
         "option 'index' of encoding 'mongodb:document' needs a value: 'index=...'"},
        {"mongodb:document@index=:hashed",
         "option 'index' names no field; name a field of the records"},
        {"mongodb:document@index=_id", "option 'index' names _id; name a field of the records"},
        {"mongodb:document@index=age:text",
         "unknown kind 'text' of index 'age:text'; it is FIELD or FIELD:hashed"},
        {"redis:hash@index@index", "option 'index' of encoding 'redis:hash' is given twice"},
        {"redis:hash@@index", "empty option in 'redis:hash@@index'"},
        {"redis:hash@", "empty option in 'redis:hash@'"},
        {"redis:hash@ttl", "option 'ttl' of encoding 'redis:hash' needs a value: 'ttl=...'"},
        {"redis:hash@ttl=60", "an expiry of 60 s in 'redis:hash@ttl=60' could pass while the cell "
                              "is weighed; give 'ttl=3600' or more"},
        {"redis:string@ttl=7200+json",
         "in 'redis:string@ttl=7200+json' a step follows '@'; steps stand before all options"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tare_error error = {0};
        assert_null(encoding_parse(cases[i][0], &error));
        assert_string_equal(error.message, cases[i][1]);
        assert_int_equal(error.status, TARE_USAGE);
    }
}

static void steps_alone_give_bytes(void **state)
{
    (void)state;
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse_steps("msgpack", &error);
    assert_non_null(encoding);
    assert_string_equal(encoding->text, "msgpack");
    assert_null(encoding->shape);
    encoding_free(encoding);
    static const char *const cases[][2] = {
        {"redis:string+json",
         "steps are wanted, without a store and options: 'json', not 'redis:string+json'"},
        {"", "empty step in ''"},
        {"jsn", "unknown step 'jsn' of encoding 'jsn'; did you mean 'json'?"},
        {"json+bson",
         "step 'bson' in 'json+bson' takes a record, but 'json' before it gives bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_null(encoding_parse_steps(cases[i][0], &error));
        assert_string_equal(error.message, cases[i][1]);
    }
}

/* Copies of the objects of one record. */
struct seen {
    struct object objects[4];
    struct element elements[4][64];
    size_t count;
};

static int see(void *context, const struct object *object, struct tare_error *error)
{
    (void)error;
    struct seen *seen = context;
    assert_in_range(seen->count, 0, 3);
    assert_in_range(object->element_count, 0, 64);
    struct object *copy = &seen->objects[seen->count];
    *copy = *object;
    copy->elements = seen->elements[seen->count++];
    for (size_t i = 0; i < object->element_count; i++)
        copy->elements[i] = object->elements[i];
    return 0;
}

static int apply(const char *text, const struct record *record, struct arena *arena,
                 struct seen *seen, struct tare_error *error)
{
    struct encoding *encoding = parse(text);
    seen->count = 0;
    int failed = encoding_apply(encoding, record, arena, see, seen, error);
    encoding_free(encoding); /* the objects are the arena's */
    return failed;
}

static struct member text_member(const char *name, const char *text)
{
    return (struct member){slice_text(name), {.type = VALUE_TEXT, .as.text = slice_text(text)}};
}

static struct member integer_member(const char *name, int64_t integer)
{
    return (struct member){slice_text(name), {.type = VALUE_INTEGER, .as.integer = integer}};
}

/* {"s":"a\"b","i":-5,"r":2.0,"t":true,"n":null,"o":{"x":[1,"y"]}} */
static struct member *sample_fields(void)
{
    static struct member list[2], object[1], fields[6];
    list[0] = integer_member("", 1);
    list[1] = text_member("", "y");
    object[0] = (struct member){{"x", 1}, {.type = VALUE_ARRAY, .as.children = {list, 2}}};
    fields[0] = text_member("s", "a\"b");
    fields[1] = integer_member("i", -5);
    fields[2] = (struct member){{"r", 1}, {.type = VALUE_DOUBLE, .as.real = 2}};
    fields[3] = (struct member){{"t", 1}, {.type = VALUE_BOOLEAN, .as.boolean = true}};
    fields[4] = (struct member){{"n", 1}, {.type = VALUE_NULL}};
    fields[5] = (struct member){{"o", 1}, {.type = VALUE_OBJECT, .as.children = {object, 1}}};
    return fields;
}

static void assert_counted(const struct counted *counted, int64_t key, int64_t values,
                           int64_t field_names, int64_t framing, int64_t number_form,
                           int64_t escapes)
{
    assert_int_equal(counted->key, key);
    assert_int_equal(counted->values, values);
    assert_int_equal(counted->field_names, field_names);
    assert_int_equal(counted->framing, framing);
    assert_int_equal(counted->number_form, number_form);
    assert_int_equal(counted->escapes, escapes);
    assert_int_equal(counted->compression, 0);
}

static void hashes_hold_fields(void **state)
{
    (void)state;
    struct record record = {.key = {"key", 3}, .fields = sample_fields(), .field_count = 6};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct seen seen;
    assert_int_equal(apply("redis:hash@ttl=7200", &record, &arena, &seen, &error), 0);
    assert_int_equal(seen.count, 1);
    const struct object *object = &seen.objects[0];
    assert_int_equal(object->type, OBJECT_HASH);
    assert_true(slice_is(object->key, "key"));
    assert_int_equal(object->ttl_seconds, 7200);
    assert_false(object->shared);
    static const char *const values[] = {"a\"b", "-5", "2", "true", "null", "{\"x\":[1,\"y\"]}"};
    assert_int_equal(object->element_count, 6);
    int64_t held = 0;
    for (size_t i = 0; i < 6; i++) {
        assert_true(slice_equal(object->elements[i].name, record.fields[i].name));
        assert_true(slice_is(object->elements[i].value, values[i]));
        held += (int64_t)(object->elements[i].name.length + object->elements[i].value.length);
    }
    /* Of {"x":[1,"y"]}: values 1 y, name x, framing {"":[,""]}. */
    assert_counted(&object->counted, 3, 3 + 2 + 1 + 4 + 4 + 2, 6 + 1, 10, 0, 0);
    assert_int_equal(counted_sum(&object->counted), held + 3);

    record.field_count = 0;
    assert_int_equal(apply("redis:hash", &record, &arena, &seen, &error), -1);
    assert_string_equal(error.message, "record 'key': no fields, which 'redis:hash' cannot hold");
    arena_free(&arena);
}

static void an_index_is_an_object_that_is_shared(void **state)
{
    (void)state;
    struct record record = {
        .key = {"user6284781860667377211", 23}, .fields = sample_fields(), .field_count = 1};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct seen seen;
    assert_int_equal(apply("redis:hash@index", &record, &arena, &seen, &error), 0);
    assert_int_equal(seen.count, 2);
    const struct object *index = &seen.objects[1];
    assert_int_equal(index->type, OBJECT_ZSET);
    assert_true(index->shared);
    assert_true(slice_is(index->key, "_indices"));
    assert_int_equal(index->element_count, 1);
    assert_true(slice_equal(index->elements[0].name, record.key));
    assert_true(index->elements[0].score == (double)java_hash(record.key));
    assert_counted(&index->counted, 0, 0, 0, 0, 0, 0);
    arena_free(&arena);
}

static int read_sample(struct dataset *dataset, int64_t index, struct arena *arena,
                       struct record *record, struct tare_error *error)
{
    (void)dataset;
    (void)index;
    (void)arena;
    (void)error;
    static struct member fields[2];
    fields[0] = text_member("name", "x");
    fields[1] = integer_member("level", 7);
    *record = (struct record){.key = {"key", 3}, .fields = fields, .field_count = 2};
    return 0;
}

static void tables_are_objects_of_the_store(void **state)
{
    (void)state;
    static const struct dataset_kind kind = {.name = "sample", .read = read_sample};
    struct dataset dataset = {.kind = &kind};
    struct arena arena = {0};
    struct tare_error error = {0};
    static const struct {
        const char *encoding;
        size_t count;
        enum object_type type;
        const char *keys[2], *body;
    } cases[] = {
        {"redis:hash+short@ttl=7200",
         1,
         OBJECT_STRING,
         {"tare:short"},
         "{\"a\":\"name\",\"b\":\"level\"}"},
        {"redis:string+short+msgpack",
         1,
         OBJECT_STRING,
         {"tare:short"},
         "\x82\xa1"
         "a\xa4name\xa1"
         "b\xa5level"},
        {"null:string+msgpack-array",
         1,
         OBJECT_STRING,
         {"tare:msgpack-array"},
         "\x82\xa4name\xc0\xa5level\xc0"},
        {"mongodb:document+short@id=objectid@index=level",
         1,
         OBJECT_DOCUMENT,
         {"tare:short"},
         NULL},
        {"mongodb:blob+short+msgpack-array",
         2,
         OBJECT_DOCUMENT,
         {"tare:msgpack-array", "tare:short"},
         NULL},
        {"redis:hash", 0, OBJECT_STRING, {NULL}, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct encoding *encoding = parse(cases[i].encoding);
        struct seen seen = {0};
        assert_int_equal(encoding_learn(encoding, &dataset, 100, &error), 0);
        assert_int_equal(encoding_tables(encoding, &arena, see, &seen, &error), 0);
        assert_int_equal(seen.count, cases[i].count);
        for (size_t j = 0; j < seen.count; j++) {
            const struct object *object = &seen.objects[j];
            assert_int_equal(object->type, cases[i].type);
            assert_true(slice_is(object->key, cases[i].keys[j]));
            assert_true(object->once);
            assert_int_equal(object->ttl_seconds, 0);
            if (cases[i].body)
                assert_true(slice_is(object->body, cases[i].body));
            /* All of it is the dictionary's; a document holds its key. */
            assert_int_equal(object->counted.dictionary,
                             object->body.length +
                                 (object->type == OBJECT_STRING ? object->key.length : 0));
            assert_int_equal(counted_sum(&object->counted), object->counted.dictionary);
            if (object->index_count) /* of the name that the field has in the store */
                assert_string_equal(object->indexes[0].field, "b");
        }
        encoding_free(encoding);
    }
    arena_free(&arena);
}

/* Known from Java itself: "hello".hashCode() and so on. */
static void hashes_are_javas(void **state)
{
    (void)state;
    assert_int_equal(java_hash(slice_text("")), 0);
    assert_int_equal(java_hash(slice_text("hello")), 99162322);
    assert_int_equal(java_hash(slice_text("Aa")), 2112);
    assert_int_equal(java_hash(slice_text("BB")), 2112);
    assert_int_equal(java_hash(slice_text("polygenelubricants")), INT32_MIN);
    assert_int_equal(java_hash(slice_text("\xc3\xa4")), 0xe4);
    assert_int_equal(java_hash(slice_text("\xf0\x9f\x98\x80")), 0xd83d * 31 + 0xde00);
    assert_int_equal(java_hash(slice_text("\xff")), 0xfffd);
    assert_int_equal(java_hash(slice_text("user6284781860667377211")), -594971599);
}

static void strings_hold_bytes_counted_each(void **state)
{
    (void)state;
    struct record record = {.key = {"key", 3}, .fields = sample_fields(), .field_count = 6};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct seen seen;
    const char *json =
        "{\"s\":\"a\\\"b\",\"i\":-5,\"r\":2.0,\"t\":true,\"n\":null,\"o\":{\"x\":[1,\"y\"]}}";
    assert_int_equal(apply("redis:string", &record, &arena, &seen, &error), 0);
    assert_int_equal(seen.objects[0].type, OBJECT_STRING);
    assert_true(slice_is(seen.objects[0].body, json));
    /* 16 bytes of values; 7 of names; .0 is number form; a backslash the escape. */
    assert_counted(&seen.objects[0].counted, 3, 16, 7, (int64_t)strlen(json) - 16 - 7 - 2 - 1, 2,
                   1);

    static const char msgpack[] = "\x86\xa1s\xa3"
                                  "a\"b\xa1i\xfb\xa1r\xcb\x40\0\0\0\0\0\0\0\xa1t\xc3\xa1n\xc0\xa1o"
                                  "\x81\xa1x\x92\x01\xa1y";
    assert_int_equal(apply("redis:string+msgpack", &record, &arena, &seen, &error), 0);
    assert_int_equal(seen.objects[0].body.length, sizeof msgpack - 1);
    assert_memory_equal(seen.objects[0].body.bytes, msgpack, sizeof msgpack - 1);
    /* Framing: 3 maps and arrays, 7 names' and 2 texts' headers. Forms: -5 1 for 2, 2.0 9 for 1,
     * true 1 for 4, null 1 for 4, 1 1 for 1. */
    assert_counted(&seen.objects[0].counted, 3, 16, 7, 3 + 7 + 2, -1 + 8 - 3 - 3 + 0, 0);
    arena_free(&arena);
}

static void documents_are_bson_counted_each(void **state)
{
    (void)state;
    struct record record = {.key = {"key", 3}, .fields = sample_fields(), .field_count = 6};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct seen seen;
    assert_int_equal(apply("mongodb:document", &record, &arena, &seen, &error), 0);
    const struct object *object = &seen.objects[0];
    assert_int_equal(object->type, OBJECT_DOCUMENT);
    bson_t bson;
    assert_true(bson_init_static(&bson, (const uint8_t *)object->body.bytes, object->body.length));
    char *json = bson_as_relaxed_extended_json(&bson, NULL);
    assert_string_equal(json, "{ \"_id\" : \"key\", \"s\" : \"a\\\"b\", \"i\" : -5, \"r\" : 2.0, "
                              "\"t\" : true, \"n\" : null, \"o\" : { \"x\" : [ 1, \"y\" ] } }");
    bson_free(json);
    assert_int_equal(counted_sum(&object->counted), object->body.length);
    assert_int_equal(object->counted.key, 3);
    assert_int_equal(object->counted.values, 16);
    assert_int_equal(object->counted.field_names, 7);
    /* -5 4 for 2, 2.0 8 for 1, true 1 for 4, null 0 for 4, 1 4 for 1. */
    assert_int_equal(object->counted.number_form, 2 + 7 - 3 - 4 + 3);

    /* A blob: the JSON's bytes, and the document around them. */
    assert_int_equal(apply("mongodb:blob", &record, &arena, &seen, &error), 0);
    assert_true(bson_init_static(&bson, (const uint8_t *)object->body.bytes, object->body.length));
    assert_true(bson_has_field(&bson, "value"));
    assert_int_equal(counted_sum(&object->counted), object->body.length);
    assert_int_equal(object->counted.values, 16);
    assert_int_equal(object->counted.field_names, 7);
    assert_int_equal(object->counted.escapes, 1);

    struct member id = text_member("_id", "x");
    record = (struct record){.key = {"key", 3}, .fields = &id, .field_count = 1};
    assert_int_equal(apply("mongodb:document", &record, &arena, &seen, &error), -1);
    assert_string_equal(
        error.message,
        "record 'key': a field '_id', which 'mongodb:document' makes of its own unless it is "
        "the key; of a file it is with 'key=_id'");
    arena_free(&arena);
}

/* The document as JSON, and that every byte of it is counted, the key once. */
static void assert_document(const struct object *object, const char *expected, size_t key,
                            int64_t values, int64_t field_names)
{
    bson_t bson;
    assert_true(bson_init_static(&bson, (const uint8_t *)object->body.bytes, object->body.length));
    char *json = bson_as_canonical_extended_json(&bson, NULL);
    assert_string_equal(json, expected);
    bson_free(json);
    assert_int_equal(counted_sum(&object->counted), object->body.length);
    assert_int_equal(object->counted.key, key);
    assert_int_equal(object->counted.values, values);
    assert_int_equal(object->counted.field_names, field_names);
}

static void an_id_that_is_not_the_key_leaves_the_key_a_field(void **state)
{
    (void)state;
    struct member field = text_member("s", "ab");
    struct record record = {
        .number = (1 << 24) + 5, .key = {"key", 3}, .fields = &field, .field_count = 1};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct seen seen;
    const struct object *object = &seen.objects[0];
    assert_int_equal(apply("mongodb:document@id=given", &record, &arena, &seen, &error), 0);
    assert_document(object, "{ \"_id\" : \"key\", \"s\" : \"ab\" }", 3, 2, 1);
    assert_null(object->indexes);
    assert_int_equal(apply("mongodb:document@id=objectid", &record, &arena, &seen, &error), 0);
    assert_document(object,
                    "{ \"_id\" : { \"$oid\" : \"659200817461726500000005\" }, \"key\" : \"key\", "
                    "\"s\" : \"ab\" }",
                    3, 2, 1);
    assert_int_equal(apply("mongodb:document@id=number", &record, &arena, &seen, &error), 0);
    assert_document(
        object,
        "{ \"_id\" : { \"$numberInt\" : \"16777221\" }, \"key\" : \"key\", \"s\" : \"ab\" "
        "}",
        3, 2, 1);
    assert_int_equal(apply("mongodb:blob+value@id=number", &record, &arena, &seen, &error), 0);
    assert_document(
        object,
        "{ \"_id\" : { \"$numberInt\" : \"16777221\" }, \"key\" : \"key\", \"value\" : { "
        "\"$binary\" : { \"base64\" : \"YWI=\", \"subType\" : \"00\" } } }",
        3, 2, 0);

    /* A key that is a field already is that field. */
    field = text_member("name", "key");
    record.key_in_fields = true;
    assert_int_equal(apply("mongodb:document@id=number", &record, &arena, &seen, &error), 0);
    assert_document(object, "{ \"_id\" : { \"$numberInt\" : \"16777221\" }, \"name\" : \"key\" }",
                    3, 0, 4);

    field = text_member("key", "other");
    record.key_in_fields = false;
    assert_int_equal(apply("mongodb:document@id=objectid", &record, &arena, &seen, &error), -1);
    assert_string_equal(error.message,
                        "record 'key': a field 'key', which '@id=objectid' gives the record's key");
    arena_free(&arena);
}

static void an_index_goes_with_its_documents(void **state)
{
    (void)state;
    struct encoding *encoding = parse("mongodb:document@index=o.x");
    assert_string_equal(encoding->text, "mongodb:document@index=o.x");
    assert_string_equal(encoding->index.field, "o.x");
    assert_false(encoding->index.hashed);
    encoding_free(encoding);
    encoding = parse("mongodb:blob+msgpack@index=key:hashed@id=number");
    assert_string_equal(encoding->text, "mongodb:blob+msgpack@index=key:hashed@id=number");
    assert_string_equal(encoding->index.field, "key");
    assert_true(encoding->index.hashed);
    encoding_free(encoding);
}

/* The arithmetic of a YCSB record; its quotes and backslashes are what JSON adds to. */
static void ycsb_records_have_known_sizes(void **state)
{
    (void)state;
    struct tare_error error = {0};
    struct dataset *dataset = dataset_open("ycsb", 1, &error);
    struct arena arena = {0};
    struct seen seen;
    int64_t documents = 0;
    for (int64_t i = 0; i < 1000; i++) {
        struct record record;
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, &error), 0);
        int64_t key = (int64_t)record.key.length, escapes = 0;
        for (size_t j = 0; j < record.field_count; j++)
            for (size_t k = 0; k < 100; k++) {
                char c = record.fields[j].value.as.text.bytes[k];
                escapes += c == '"' || c == '\\';
            }
        apply("redis:hash", &record, &arena, &seen, &error);
        assert_counted(&seen.objects[0].counted, key, 1000, 60, 0, 0, 0);
        apply("redis:string+json", &record, &arena, &seen, &error);
        assert_counted(&seen.objects[0].counted, key, 1000, 60, 61, 0, escapes);
        assert_int_equal(seen.objects[0].body.length, 1121 + escapes);
        apply("redis:string+msgpack", &record, &arena, &seen, &error);
        assert_counted(&seen.objects[0].counted, key, 1000, 60, 31, 0, 0);
        assert_int_equal(seen.objects[0].body.length, 1091);
        apply("mongodb:document", &record, &arena, &seen, &error);
        /* 5; _id 1 + 4 + 4 + key + 1; ten times 1 + 7 + 4 + 1 + 100. */
        assert_int_equal(seen.objects[0].body.length, 5 + 10 + key + 10 * 113);
        assert_counted(&seen.objects[0].counted, key, 1000, 60, 85, 0, 0);
        documents += (int64_t)seen.objects[0].body.length;
    }
    /* 1,167.88 in the mean of 100,000 real ones. */
    assert_in_range(documents, 1167600, 1168200);
    arena_free(&arena);
    dataset_close(dataset);
}

static void kv_keeps_its_value_as_it_is(void **state)
{
    (void)state;
    struct tare_error error = {0};
    struct dataset *kv = dataset_open("kv", 1, &error), *ycsb = dataset_open("ycsb", 1, &error);
    struct arena arena = {0};
    struct record record;
    struct seen seen = {0};
    assert_int_equal(dataset_read(kv, 3, &arena, &record, &error), 0);
    struct encoding *encoding = parse("redis:string@ttl=7200");
    encoding_fit(encoding, ycsb);
    assert_string_equal(encoding->text, "redis:string+json@ttl=7200");
    encoding_fit(encoding, kv);
    assert_string_equal(encoding->text, "redis:string+value@ttl=7200");
    assert_int_equal(encoding_apply(encoding, &record, &arena, see, &seen, &error), 0);
    assert_true(slice_equal(seen.objects[0].body, record.fields[0].value.as.text));
    assert_counted(&seen.objects[0].counted, 32, (int64_t)seen.objects[0].body.length, 0, 0, 0, 0);
    encoding_free(encoding);

    encoding = parse("redis:string+json"); /* named: stays, and refuses what it cannot hold */
    encoding_fit(encoding, kv);
    assert_string_equal(encoding->text, "redis:string+json");
    assert_int_equal(encoding_apply(encoding, &record, &arena, see, &seen, &error), -1);
    assert_int_equal(error.status, TARE_USAGE);
    assert_non_null(strstr(error.message, "': field 'value': no UTF-8 at byte "));
    encoding_free(encoding);
    arena_free(&arena);
    dataset_close(kv);
    dataset_close(ycsb);
}

static void a_key_that_is_a_field_is_paid_once(void **state)
{
    (void)state;
    struct member fields[] = {text_member("id", "k7"), text_member("x", "abc")};
    struct record record = {
        .key = {"k7", 2}, .fields = fields, .field_count = 2, .key_in_fields = true};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct seen seen;
    apply("redis:hash", &record, &arena, &seen, &error);
    assert_counted(&seen.objects[0].counted, 2, 3, 3, 2, 0, 0);
    apply("redis:string+json", &record, &arena, &seen, &error);
    assert_int_equal(counted_sum(&seen.objects[0].counted), 2 + seen.objects[0].body.length);
    assert_int_equal(seen.objects[0].counted.values, 3);
    apply("mongodb:document", &record, &arena, &seen, &error);
    assert_int_equal(counted_sum(&seen.objects[0].counted), seen.objects[0].body.length);
    assert_int_equal(seen.objects[0].counted.values, 3);
    arena_free(&arena);
}

static void listpack_limits_are_raised_never_lowered(void **state)
{
    (void)state;
    struct figures largest = {0}, settings = {0};
    figures_integer(&largest, "elements", 600);
    figures_integer(&largest, "element.bytes", 100);
    struct encoding *plain = parse("redis:hash"), *packed = parse("redis:hash@listpack");
    plain->shape->server_settings(plain, &largest, &settings);
    assert_int_equal(settings.count, 0);
    packed->shape->server_settings(packed, &largest, &settings);
    assert_int_equal(figures_get(&settings, "hash-max-listpack-entries"), 600);
    assert_int_equal(figures_get(&settings, "hash-max-listpack-value"), 100);
    figures_integer(&largest, "elements", 5);
    figures_integer(&largest, "element.bytes", 12);
    packed->shape->server_settings(packed, &largest, &settings);
    assert_int_equal(figures_get(&settings, "hash-max-listpack-entries"), 512);
    assert_int_equal(figures_get(&settings, "hash-max-listpack-value"), 64);
    encoding_free(plain);
    encoding_free(packed);
    figures_free(&largest);
    figures_free(&settings);
}

static int refuse(void *context, const struct object *object, struct tare_error *error)
{
    (void)context;
    (void)object;
    return error_set(error, TARE_STORE, "the server is gone");
}

static void a_stores_failure_is_passed_on_as_it_is(void **state)
{
    (void)state;
    struct member field = text_member("a", "b");
    struct record record = {.key = {"key", 3}, .fields = &field, .field_count = 1};
    struct arena arena = {0};
    struct tare_error error = {0};
    struct encoding *encoding = parse("redis:hash@index");
    assert_int_equal(encoding_apply(encoding, &record, &arena, refuse, NULL, &error), -1);
    assert_int_equal(error.status, TARE_STORE);
    assert_string_equal(error.message, "the server is gone");
    encoding_free(encoding);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_are_complete),
        cmocka_unit_test(encodings_are_normalised),
        cmocka_unit_test(wrong_encodings_are_named),
        cmocka_unit_test(steps_alone_give_bytes),
        cmocka_unit_test(hashes_hold_fields),
        cmocka_unit_test(an_index_is_an_object_that_is_shared),
        cmocka_unit_test(tables_are_objects_of_the_store),
        cmocka_unit_test(hashes_are_javas),
        cmocka_unit_test(strings_hold_bytes_counted_each),
        cmocka_unit_test(documents_are_bson_counted_each),
        cmocka_unit_test(an_id_that_is_not_the_key_leaves_the_key_a_field),
        cmocka_unit_test(an_index_goes_with_its_documents),
        cmocka_unit_test(ycsb_records_have_known_sizes),
        cmocka_unit_test(kv_keeps_its_value_as_it_is),
        cmocka_unit_test(a_key_that_is_a_field_is_paid_once),
        cmocka_unit_test(listpack_limits_are_raised_never_lowered),
        cmocka_unit_test(a_stores_failure_is_passed_on_as_it_is),
    };
    return cmocka_run_group_tests_name("encodings", tests, NULL, NULL);
}

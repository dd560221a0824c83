#include "data/bson_record.h"

#include <bson/bson.h>

#include "data/json_text.h"

/* A value as a document of its own, with an empty name:
 *
 *   length (4), type (1), "" (1), the value, 0 (1)
 */
#define DOCUMENT_VALUE 6
#define OID_DOCUMENT   (DOCUMENT_VALUE + 12 + 1)
#define OID_TEXT       24

static int read_members(bson_iter_t *iter, struct arena *arena, bool named, struct member **members,
                        size_t *count, int depth, struct tare_error *error);

/* {"NAME": text}, as the members of an object. */
static void single_member(struct value *value, const char *name, struct slice text,
                          struct arena *arena)
{
    value->type = VALUE_OBJECT;
    value->as.extended.count = 1;
    value->as.extended.items = arena_take(arena, sizeof(struct member));
    value->as.extended.items[0] =
        (struct member){slice_text(name), {.type = VALUE_TEXT, .as.text = text}};
}

struct value bson_oid_value(const unsigned char oid[12], struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    struct value value = {.extended = true};
    char *bson = arena_take(arena, OID_DOCUMENT), *text = arena_take(arena, OID_TEXT + 1);
    memcpy(bson, (const char[]){OID_DOCUMENT, 0, 0, 0, BSON_TYPE_OID, 0}, DOCUMENT_VALUE);
    memcpy(bson + DOCUMENT_VALUE, oid, 12);
    bson[OID_DOCUMENT - 1] = 0;
    for (size_t i = 0; i < 12; i++) {
        text[2 * i] = digits[oid[i] >> 4];
        text[2 * i + 1] = digits[oid[i] & 15];
    }
    text[OID_TEXT] = '\0';
    single_member(&value, "$oid", slice_of(text, OID_TEXT), arena);
    value.as.extended.bson = bson;
    return value;
}

const unsigned char *bson_extended_oid(const struct value *value)
{
    return value_is_extended(value) && value->as.extended.bson[4] == BSON_TYPE_OID
               ? (const unsigned char *)value->as.extended.bson + DOCUMENT_VALUE
               : NULL;
}

const char *bson_extended_type(const struct value *value)
{
    switch ((bson_type_t)(unsigned char)value->as.extended.bson[4]) {
    case BSON_TYPE_OID:
        return "an ObjectId";
    case BSON_TYPE_DATE_TIME:
        return "a date";
    case BSON_TYPE_DECIMAL128:
        return "a decimal number";
    case BSON_TYPE_TIMESTAMP:
        return "a timestamp";
    case BSON_TYPE_BINARY:
        return "binary of a subtype";
    case BSON_TYPE_REGEX:
        return "a regular expression";
    case BSON_TYPE_CODE:
    case BSON_TYPE_CODEWSCOPE:
        return "a piece of JavaScript";
    default:
        return "of a type that BSON alone has";
    }
}

/* Extended JSON of any type, as libbson writes it. */
static int read_extended(const bson_iter_t *iter, struct arena *arena, struct value *value,
                         struct tare_error *error)
{
    bson_t one;
    size_t length, place;
    bson_init(&one);
    bool fits = bson_append_iter(&one, "", 0, iter);
    char *text = fits ? bson_as_relaxed_extended_json(&one, &length) : NULL;
    const char *bson = fits ? arena_copy(arena, bson_get_data(&one), one.len) : NULL;
    bson_destroy(&one);
    if (!text)
        return error_set(error, TARE_USAGE, "'%s' is malformed", bson_iter_key(iter));
    struct json_reader reader = {0};
    struct value whole;
    char *copy = arena_copy(arena, text, length);
    bson_free(text);
    int failed = json_read(&reader, copy, length, arena, &whole, &place, error);
    json_reader_free(&reader);
    if (failed)
        return error_prefix(error, "'%s' as extended JSON", bson_iter_key(iter));
    *value = whole.as.children.items[0].value;
    /* What Extended JSON has as an object; a plain form would not come back as what it was. */
    if (value->type != VALUE_OBJECT)
        return error_set(error, TARE_USAGE, "'%s' is of type 0x%02x, which a record has none for",
                         bson_iter_key(iter), (unsigned)bson_iter_type(iter));
    value->extended = true;
    value->as.extended.bson = bson;
    return 0;
}

static int read_text(const char *text, size_t length, struct arena *arena, struct slice *out,
                     struct tare_error *error)
{
    *out = slice_of(arena_copy(arena, text, length), length);
    return slice_utf8(*out)
               ? 0
               : error_set(error, TARE_USAGE, "a text of %zu bytes is no UTF-8", length);
}

static int read_value(bson_iter_t *iter, struct arena *arena, struct value *value, int depth,
                      struct tare_error *error)
{
    uint32_t length;
    const uint8_t *binary;
    bson_subtype_t subtype;
    bson_iter_t child;
    *value = (struct value){.type = VALUE_NULL};
    switch (bson_iter_type(iter)) {
    case BSON_TYPE_NULL:
        return 0;
    case BSON_TYPE_BOOL:
        value->type = VALUE_BOOLEAN;
        value->as.boolean = bson_iter_bool(iter);
        return 0;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        value->type = VALUE_INTEGER;
        value->wide = bson_iter_type(iter) == BSON_TYPE_INT64;
        value->as.integer = bson_iter_as_int64(iter);
        return 0;
    case BSON_TYPE_DOUBLE:
        value->type = VALUE_DOUBLE;
        value->as.real = bson_iter_double(iter);
        return 0;
    case BSON_TYPE_UTF8: {
        const char *text = bson_iter_utf8(iter, &length);
        value->type = VALUE_TEXT;
        return read_text(text, length, arena, &value->as.text, error);
    }
    case BSON_TYPE_BINARY:
        bson_iter_binary(iter, &subtype, &length, &binary);
        if (subtype != BSON_SUBTYPE_BINARY)
            return read_extended(iter, arena, value, error);
        value->type = VALUE_BYTES;
        value->as.text = slice_of(arena_copy(arena, binary, length), length);
        return 0;
    case BSON_TYPE_OID:
        *value = bson_oid_value(bson_iter_oid(iter)->bytes, arena);
        return 0;
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        value->type = bson_iter_type(iter) == BSON_TYPE_ARRAY ? VALUE_ARRAY : VALUE_OBJECT;
        if (!bson_iter_recurse(iter, &child))
            return error_set(error, TARE_USAGE, "'%s' is malformed", bson_iter_key(iter));
        return read_members(&child, arena, value->type == VALUE_OBJECT, &value->as.children.items,
                            &value->as.children.count, depth + 1, error);
    default:
        return read_extended(iter, arena, value, error);
    }
}

static int read_members(bson_iter_t *iter, struct arena *arena, bool named, struct member **members,
                        size_t *count, int depth, struct tare_error *error)
{
    char shown[SLICE_SHOW_SIZE];
    if (depth > RECORD_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than %d levels", RECORD_DEPTH_MAX);
    /* Counted first: an array of the arena's does not grow. */
    bson_iter_t counting = *iter;
    *count = 0;
    while (bson_iter_next(&counting))
        ++*count;
    if (counting.err_off)
        return error_set(error, TARE_USAGE, "malformed at byte %u of %u", counting.err_off,
                         iter->len);
    *members = arena_take(arena, *count * sizeof **members);
    for (struct member *member = *members; bson_iter_next(iter); member++) {
        member->name = slice_of("", 0);
        if (named &&
            read_text(bson_iter_key(iter), bson_iter_key_len(iter), arena, &member->name, error))
            return error_prefix(error, "a name");
        if (read_value(iter, arena, &member->value, depth, error))
            return -1;
    }
    const struct slice *twice = named ? members_twice(*members, *count, arena) : NULL;
    return twice ? error_set(error, TARE_USAGE, "the name '%s' stands twice in one object",
                             slice_show(*twice, shown))
                 : 0;
}

int bson_record_read(struct slice bytes, struct arena *arena, struct record *record,
                     struct tare_error *error)
{
    bson_iter_t iter;
    *record = (struct record){.key = slice_of("", 0)};
    if (bytes.length < 5 ||
        !bson_iter_init_from_data(&iter, (const uint8_t *)bytes.bytes, bytes.length))
        return error_set(error, TARE_USAGE, "not one whole document of %zu bytes", bytes.length);
    return read_members(&iter, arena, true, &record->fields, &record->field_count, 1, error);
}

int bson_record_read_extended(struct slice json, struct arena *arena, struct record *record,
                              struct tare_error *error)
{
    bson_error_t why;
    bson_t *bson = bson_new_from_json((const uint8_t *)json.bytes, (ssize_t)json.length, &why);
    if (!bson)
        return error_set(error, TARE_USAGE, "no Extended JSON: %s", why.message);
    struct slice bytes =
        slice_of(arena_copy(arena, (const char *)bson_get_data(bson), bson->len), bson->len);
    bson_destroy(bson);
    return bson_record_read(bytes, arena, record, error);
}

#include "encoders/bson_document.h"

#include <bson/bson.h>

#include "encoders/encoding.h"

/* libbson asks for room through this; the buffer keeps it for the next document. */
static void *grow_buffer(void *memory, size_t size, void *context)
{
    struct buffer *buffer = context;
    buffer->data = memory_resize(memory, size);
    buffer->capacity = size;
    return buffer->data;
}

/* libbson takes a NULL for "no value". */
static const char *bytes_of(struct slice slice)
{
    return slice.length ? slice.bytes : "";
}

static int too_large(struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "larger than BSON holds, 2 GiB");
}

static int check_name(struct slice name, struct tare_error *error)
{
    char shown[SLICE_SHOW_SIZE];
    if (name.length > INT32_MAX)
        return too_large(error);
    if (name.length && memchr(name.bytes, '\0', name.length))
        return error_set(error, TARE_USAGE,
                         "the name '%s' has a NUL in it, which BSON ends names with",
                         slice_show(name, shown));
    if (!slice_utf8(name))
        return error_set(error, TARE_USAGE, "the name '%s' is no UTF-8, which BSON requires",
                         slice_show(name, shown));
    return 0;
}

static int append_text(bson_t *bson, struct slice name, struct slice text, struct tare_error *error)
{
    if (text.length > INT32_MAX)
        return too_large(error);
    if (!slice_utf8(text))
        return error_set(error, TARE_USAGE, "text that is no UTF-8, which BSON requires");
    return bson_append_utf8(bson, bytes_of(name), (int)name.length, bytes_of(text),
                            (int)text.length)
               ? 0
               : too_large(error);
}

/* A number, boolean or null. */
static int append_plain(bson_t *bson, struct slice name, const struct value *value,
                        struct counted *counted, struct tare_error *error)
{
    const char *key = bytes_of(name);
    int length = (int)name.length;
    int64_t stored = 0;
    bool fits = false;
    switch (value->type) {
    case VALUE_BOOLEAN:
        stored = 1;
        fits = bson_append_bool(bson, key, length, value->as.boolean);
        break;
    case VALUE_INTEGER:
        if (!value->wide && value->as.integer >= INT32_MIN && value->as.integer <= INT32_MAX) {
            stored = 4;
            fits = bson_append_int32(bson, key, length, (int32_t)value->as.integer);
        } else {
            stored = 8;
            fits = bson_append_int64(bson, key, length, value->as.integer);
        }
        break;
    case VALUE_DOUBLE:
        stored = 8;
        fits = bson_append_double(bson, key, length, value->as.real);
        break;
    default:
        fits = bson_append_null(bson, key, length);
        break;
    }
    int64_t text = value_text_length(value);
    counted->values += text;
    counted->number_form += stored - text;
    return fits ? 0 : too_large(error);
}

static int append_members(bson_t *bson, const struct member *members, size_t count, bool named,
                          int depth, struct counted *counted, struct tare_error *error);

static int append_nested(bson_t *bson, struct slice name, const struct value *value, int depth,
                         struct counted *counted, struct tare_error *error)
{
    bson_t child;
    bool array = value->type == VALUE_ARRAY;
    bool fits = array ? bson_append_array_begin(bson, bytes_of(name), (int)name.length, &child)
                      : bson_append_document_begin(bson, bytes_of(name), (int)name.length, &child);
    if (!fits)
        return too_large(error);
    int failed = append_members(&child, value->as.children.items, value->as.children.count, !array,
                                depth + 1, counted, error);
    fits = array ? bson_append_array_end(bson, &child) : bson_append_document_end(bson, &child);
    return failed ? failed : fits ? 0 : too_large(error);
}

/* A value of a type that BSON alone has: its text is what Extended JSON writes. */
static int append_extended(bson_t *bson, struct slice name, const struct value *value,
                           struct counted *counted, struct tare_error *error)
{
    bson_iter_t iter;
    struct slice kept = value_extended_bson(value);
    if (!bson_iter_init_from_data(&iter, (const uint8_t *)kept.bytes, kept.length) ||
        !bson_iter_next(&iter) || !bson_append_iter(bson, bytes_of(name), (int)name.length, &iter))
        return too_large(error);
    int64_t text = value_text_length(value);
    counted->values += text;
    /* The document is the value with its length, type, name and end around it: 4, 1, 1, 1. */
    counted->number_form += (int64_t)kept.length - 7 - text;
    return 0;
}

static int append_value(bson_t *bson, struct slice name, const struct value *value, int depth,
                        struct counted *counted, struct tare_error *error)
{
    switch (value->type) {
    case VALUE_TEXT:
        counted->values += (int64_t)value->as.text.length;
        return append_text(bson, name, value->as.text, error);
    case VALUE_BYTES:
        counted->values += (int64_t)value->as.text.length;
        if (value->as.text.length > INT32_MAX ||
            !bson_append_binary(bson, bytes_of(name), (int)name.length, BSON_SUBTYPE_BINARY,
                                (const uint8_t *)bytes_of(value->as.text),
                                (uint32_t)value->as.text.length))
            return too_large(error);
        return 0;
    case VALUE_OBJECT:
        if (value_is_extended(value))
            return append_extended(bson, name, value, counted, error);
        return append_nested(bson, name, value, depth, counted, error);
    case VALUE_ARRAY:
        return append_nested(bson, name, value, depth, counted, error);
    default:
        return append_plain(bson, name, value, counted, error);
    }
}

static int append_members(bson_t *bson, const struct member *members, size_t count, bool named,
                          int depth, struct counted *counted, struct tare_error *error)
{
    if (depth > ENCODING_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than %d levels", ENCODING_DEPTH_MAX);
    for (size_t i = 0; i < count; i++) {
        struct slice name = members[i].name;
        char place[16];
        if (named) {
            if (check_name(name, error))
                return -1;
            counted->field_names += (int64_t)name.length;
        } else {
            /* An array is a document whose names are "0", "1", ...: framing, they are not data. */
            const char *text;
            size_t length = bson_uint32_to_string((uint32_t)i, &text, place, sizeof place);
            name = slice_of(text, length);
        }
        if (append_value(bson, name, &members[i].value, depth, counted, error)) {
            char shown[SLICE_SHOW_SIZE];
            return depth == 1
                       ? error_prefix(error, "field '%s'", slice_show(members[i].name, shown))
                       : -1;
        }
    }
    return 0;
}

static int append_id(bson_t *bson, const struct bson_id *id, struct counted *counted,
                     struct tare_error *error)
{
    /* 2024-01-01; a second more each time that the counter starts anew. */
    static const int64_t first_second = 1704067200;
    static const uint8_t process[] = {0x74, 0x61, 0x72, 0x65, 0x00};
    struct slice name = slice_text("_id");
    bson_oid_t oid;
    switch (id->type) {
    case BSON_ID_OBJECTID: {
        uint64_t second = (uint64_t)(first_second + id->number / (1 << 24));
        for (int i = 0; i < 4; i++)
            oid.bytes[i] = (uint8_t)(second >> (8 * (3 - i)));
        memcpy(oid.bytes + 4, process, sizeof process);
        for (int i = 0; i < 3; i++)
            oid.bytes[9 + i] = (uint8_t)((uint64_t)id->number >> (8 * (2 - i)));
        return bson_append_oid(bson, name.bytes, (int)name.length, &oid) ? 0 : too_large(error);
    }
    case BSON_ID_NUMBER: {
        struct value number = {.type = VALUE_INTEGER, .as.integer = id->number};
        struct counted framing = {0};
        return append_plain(bson, name, &number, &framing, error);
    }
    case BSON_ID_KEY:
        break;
    }
    counted->key = (int64_t)id->key.length;
    if (id->value) {
        struct counted stored = {0};
        int failed = append_value(bson, name, id->value, 1, &stored, error);
        counted->number_form += stored.number_form;
        return failed ? error_prefix(error, "the key") : 0;
    }
    return append_text(bson, name, id->key, error) ? error_prefix(error, "the key") : 0;
}

int bson_document_make(struct buffer *out, const struct bson_id *id, const struct member *members,
                       size_t count, struct counted *counted, struct tare_error *error)
{
    /* The empty document, which libbson goes on from: its length and its end. */
    static const char empty[] = {5, 0, 0, 0, 0};
    buffer_clear(out);
    buffer_append(out, empty, sizeof empty);
    uint8_t *data = (uint8_t *)out->data;
    size_t size = out->capacity;
    bson_t *bson = bson_new_from_buffer(&data, &size, grow_buffer, out);
    *counted = (struct counted){0};
    int failed = id ? append_id(bson, id, counted, error) : 0;
    if (!failed)
        failed = append_members(bson, members, count, true, 1, counted, error);
    out->length = bson->len;
    bson_destroy(bson); /* the struct alone: the bytes are the buffer's */
    counted->framing = (int64_t)out->length - counted_sum(counted);
    return failed;
}

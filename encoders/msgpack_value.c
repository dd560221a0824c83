/* MessagePack (msgpack.org, the format of 2013 with str and bin), by msgpack-c. Text is str, bytes
 * are bin, so that types survive; each integer takes the shortest form, each real 64 bits. */
#include "encoders/msgpack_value.h"

#include <msgpack.h>

#include "encoders/reading.h"

static int write_bytes(void *data, const char *bytes, size_t length)
{
    buffer_append(data, bytes, length);
    return 0;
}

static msgpack_packer packer_of(struct buffer *out)
{
    msgpack_packer packer;
    msgpack_packer_init(&packer, out, write_bytes);
    return packer;
}

static void put_head(struct buffer *out, bool named, size_t count)
{
    msgpack_packer packer = packer_of(out);
    if (named)
        msgpack_pack_map(&packer, count);
    else
        msgpack_pack_array(&packer, count);
}

static void put_text(struct buffer *out, struct slice text)
{
    msgpack_packer packer = packer_of(out);
    msgpack_pack_str(&packer, text.length);
    msgpack_pack_str_body(&packer, text.bytes, text.length);
}

static void put_bytes(struct buffer *out, struct slice bytes)
{
    msgpack_packer packer = packer_of(out);
    msgpack_pack_bin(&packer, bytes.length);
    msgpack_pack_bin_body(&packer, bytes.bytes, bytes.length);
}

static void put_plain(struct buffer *out, const struct value *value)
{
    msgpack_packer packer = packer_of(out);
    if (value->type == VALUE_INTEGER)
        msgpack_pack_int64(&packer, value->as.integer);
    else if (value->type == VALUE_DOUBLE)
        msgpack_pack_double(&packer, value->as.real);
    else if (value->type == VALUE_NULL)
        msgpack_pack_nil(&packer);
    else if (value->as.boolean)
        msgpack_pack_true(&packer);
    else
        msgpack_pack_false(&packer);
}

const struct tree_format msgpack_format = {
    .name = "msgpack",
    .length_most = UINT32_MAX,
    .head = put_head,
    .text = put_text,
    .bytes = put_bytes,
    .plain = put_plain,
};

/* Reading: msgpack-c's own template of an unpacker (unpack_template.h), with callbacks that make
 * values in the arena. msgpack_unpack_next() reads 32 levels and no more. */

#define MSGPACK_EMBED_STACK_SIZE (ENCODING_DEPTH_MAX + MSGPACK_DEPTH_MORE)
#include <msgpack/unpack_define.h>

/* Returned by callbacks that have set the error. */
#define REFUSED (-100)

struct reader {
    struct arena *arena; /* NULL: only the length is wanted */
    const char *format;
    size_t room; /* elements that there are bytes for */
    struct tare_error *error;
};

/* What the template carries: a value, and of a container how many elements it will have. */
struct read_value {
    struct value value;
    size_t expected;
};

static struct read_value reader_root(struct reader *reader)
{
    (void)reader;
    return (struct read_value){.value = {.type = VALUE_NULL}};
}

static int reader_nil(struct reader *reader, struct read_value *out)
{
    (void)reader;
    out->value = (struct value){.type = VALUE_NULL};
    return 0;
}

static int reader_true(struct reader *reader, struct read_value *out)
{
    (void)reader;
    out->value = (struct value){.type = VALUE_BOOLEAN, .as.boolean = true};
    return 0;
}

static int reader_false(struct reader *reader, struct read_value *out)
{
    (void)reader;
    out->value = (struct value){.type = VALUE_BOOLEAN, .as.boolean = false};
    return 0;
}

static int reader_int64(struct reader *reader, int64_t integer, struct read_value *out)
{
    (void)reader;
    out->value = (struct value){.type = VALUE_INTEGER, .as.integer = integer};
    return 0;
}

static int reader_uint64(struct reader *reader, uint64_t integer, struct read_value *out)
{
    if (integer > INT64_MAX) {
        error_set(reader->error, TARE_USAGE, "%s: the integer %llu is past 63 bits", reader->format,
                  (unsigned long long)integer);
        return REFUSED;
    }
    return reader_int64(reader, (int64_t)integer, out);
}

/* The template names each width. */
#define reader_uint8  reader_int64
#define reader_uint16 reader_int64
#define reader_uint32 reader_int64
#define reader_int8   reader_int64
#define reader_int16  reader_int64
#define reader_int32  reader_int64
#define reader_float  reader_double

static int reader_double(struct reader *reader, double real, struct read_value *out)
{
    (void)reader;
    out->value = (struct value){.type = VALUE_DOUBLE, .as.real = real};
    return 0;
}

static int reader_str(struct reader *reader, const char *base, const char *bytes,
                      unsigned int length, struct read_value *out)
{
    (void)base;
    out->value = (struct value){.type = VALUE_TEXT};
    if (reader->arena && reading_text(reader->arena, bytes, length, reader->format,
                                      &out->value.as.text, reader->error))
        return REFUSED;
    return 0;
}

static int reader_bin(struct reader *reader, const char *base, const char *bytes,
                      unsigned int length, struct read_value *out)
{
    (void)base;
    out->value = (struct value){.type = VALUE_BYTES};
    if (reader->arena)
        out->value.as.text = slice_copy(reader->arena, bytes, length);
    return 0;
}

static int reader_ext(struct reader *reader, const char *base, const char *bytes,
                      unsigned int length, struct read_value *out)
{
    (void)base;
    (void)length;
    if (!reader->arena)
        return reader_nil(reader, out);
    error_set(reader->error, TARE_USAGE, "%s: extension type %d has no form in a record",
              reader->format, *(const signed char *)bytes);
    return REFUSED;
}

static int reader_container(struct reader *reader, enum value_type type, size_t count,
                            struct read_value *out)
{
    *out = (struct read_value){.value = {.type = type}, .expected = count};
    if (!reader->arena)
        return 0;
    /* Each element has a byte of its own at least: no room is made for those that cannot be. */
    if (count > reader->room) {
        error_set(reader->error, TARE_USAGE, "%s: cut short: %zu elements are told of",
                  reader->format, count);
        return REFUSED;
    }
    reader->room -= count;
    out->value.as.children.items = arena_take(reader->arena, count * sizeof(struct member));
    return 0;
}

static int reader_array(struct reader *reader, unsigned int count, struct read_value *out)
{
    return reader_container(reader, VALUE_ARRAY, count, out);
}

static int reader_map(struct reader *reader, unsigned int count, struct read_value *out)
{
    return reader_container(reader, VALUE_OBJECT, count, out);
}

static int reader_array_item(struct reader *reader, struct read_value *array,
                             struct read_value item)
{
    if (reader->arena)
        array->value.as.children.items[array->value.as.children.count++] =
            (struct member){slice_of("", 0), item.value};
    return 0;
}

static int reader_map_item(struct reader *reader, struct read_value *map, struct read_value name,
                           struct read_value item)
{
    struct value *value = &map->value;
    if (!reader->arena)
        return 0;
    if (name.value.type != VALUE_TEXT) {
        error_set(reader->error, TARE_USAGE, "%s: a map's key %zu is no text", reader->format,
                  value->as.children.count);
        return REFUSED;
    }
    value->as.children.items[value->as.children.count++] =
        (struct member){name.value.as.text, item.value};
    if (value->as.children.count == map->expected &&
        reading_names_differ(value->as.children.items, value->as.children.count, reader->arena,
                             reader->format, reader->error))
        return REFUSED;
    return 0;
}

#define msgpack_unpack_struct(name)     struct unpacker##name
#define msgpack_unpack_func(type, name) static type unpacker##name
#define msgpack_unpack_callback(name)   reader##name
#define msgpack_unpack_object           struct read_value
#define msgpack_unpack_user             struct reader
#include <msgpack/unpack_template.h>

/* Reads what the bytes begin with; *length 0 where it is not whole. */
static int read_first(struct reader *reader, struct slice bytes, struct value *value,
                      size_t *length, struct tare_error *error)
{
    struct unpacker_context context;
    size_t place = 0;
    context.user = *reader;
    unpacker_init(&context);
    int result = unpacker_execute(&context, bytes.bytes ? bytes.bytes : "", bytes.length, &place);
    *length = 0;
    if (result == REFUSED)
        return -1;
    if (result == MSGPACK_UNPACK_NOMEM_ERROR)
        return error_set(error, TARE_USAGE, "%s: nested deeper than %d levels", reader->format,
                         MSGPACK_EMBED_STACK_SIZE);
    if (result < 0)
        return error_set(error, TARE_USAGE, "%s: malformed at byte %zu", reader->format, place);
    if (result > 0) {
        *length = place;
        *value = unpacker_data(&context).value;
    }
    return 0;
}

int msgpack_get_value(struct slice bytes, struct arena *arena, const char *format,
                      struct value *value, struct tare_error *error)
{
    struct reader reader = {arena, format, bytes.length, error};
    size_t length;
    if (read_first(&reader, bytes, value, &length, error))
        return -1;
    if (length == 0)
        return error_set(error, TARE_USAGE, "%s: cut short after %zu bytes", format, bytes.length);
    if (length != bytes.length)
        return error_set(error, TARE_USAGE, "%s: %zu bytes after the record", format,
                         bytes.length - length);
    return 0;
}

int msgpack_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                    size_t *length, struct tare_error *error)
{
    struct reader reader = {.format = step->kind->name, .error = error};
    struct value ignored;
    if (read_first(&reader, stream, &ignored, length, error))
        return -1;
    *item = slice_of(stream.bytes, *length);
    return *length == 0 && last ? error_set(error, TARE_USAGE, "%s: cut short after %zu bytes",
                                            step->kind->name, stream.length)
                                : 0;
}

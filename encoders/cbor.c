/* cbor: a record as one CBOR map (RFC 8949), by libcbor's streaming functions. Text is text, bytes
 * are byte strings; each integer and length takes the shortest form, each real 64 bits. In a file
 * one follows another. */
#include <cbor.h>

#include "encoders/reading.h"
#include "encoders/tree.h"

/* The largest head of an item: its type and 8 bytes. */
#define HEAD_MOST ((size_t)9)

/* Appends an item's head, or the whole of a plain one, by one of libcbor's cbor_encode_*(). */
#define PUT(out, encode, ...)                                                                      \
    do {                                                                                           \
        buffer_reserve(out, HEAD_MOST);                                                            \
        (out)->length +=                                                                           \
            encode(__VA_ARGS__, (unsigned char *)(out)->data + (out)->length, HEAD_MOST);          \
    } while (0)

static void put_head(struct buffer *out, bool named, size_t count)
{
    if (named)
        PUT(out, cbor_encode_map_start, count);
    else
        PUT(out, cbor_encode_array_start, count);
}

static void put_text(struct buffer *out, struct slice text)
{
    PUT(out, cbor_encode_string_start, text.length);
    buffer_append(out, text.bytes, text.length);
}

static void put_bytes(struct buffer *out, struct slice bytes)
{
    PUT(out, cbor_encode_bytestring_start, bytes.length);
    buffer_append(out, bytes.bytes, bytes.length);
}

static void put_plain(struct buffer *out, const struct value *value)
{
    if (value->type == VALUE_INTEGER && value->as.integer >= 0)
        PUT(out, cbor_encode_uint, (uint64_t)value->as.integer);
    else if (value->type == VALUE_INTEGER) /* -1 - n is stored as n */
        PUT(out, cbor_encode_negint, ~(uint64_t)value->as.integer);
    else if (value->type == VALUE_DOUBLE)
        PUT(out, cbor_encode_double, value->as.real);
    else if (value->type == VALUE_BOOLEAN)
        PUT(out, cbor_encode_bool, value->as.boolean);
    else
        PUT(out, cbor_encode_ctrl, CBOR_CTRL_NULL);
}

static const struct tree_format cbor_format = {
    .name = "cbor",
    .length_most = UINT64_MAX,
    .head = put_head,
    .text = put_text,
    .bytes = put_bytes,
    .plain = put_plain,
};

static int cbor_apply(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    return tree_apply(&cbor_format, in, out, error);
}

/* Reading: libcbor tells each item by a callback; containers are kept on a stack of our own.
 *
 *   {"a": [1, 2], ...     stack: the map, waiting for the value of "a"; the array, holding 1
 */

struct open_container {
    struct value value;
    size_t left, capacity;   /* elements to come; room for so many */
    bool indefinite, string; /* until a break; of chunks of a text or a byte string */
    bool has_name;           /* of a map: the name came, its value is next */
    struct slice name;
};

struct reader {
    struct arena *arena; /* NULL: only the length is wanted */
    size_t room;         /* elements that there are bytes for */
    struct tare_error *error;
    bool done, failed;
    struct value whole;
    size_t depth;
    struct open_container open[ENCODING_DEPTH_MAX];
};

static void refuse(struct reader *reader, const char *what)
{
    if (!reader->failed)
        error_set(reader->error, TARE_USAGE, "cbor: %s", what);
    reader->failed = true;
}

/* Room for one more element of a container whose length isn't told. */
static void grow(struct reader *reader, struct open_container *open)
{
    size_t count = open->value.as.children.count;
    if (count < open->capacity)
        return;
    size_t capacity = open->capacity ? open->capacity * 2 : 8;
    struct member *items = arena_take(reader->arena, capacity * sizeof *items);
    if (count)
        memcpy(items, open->value.as.children.items, count * sizeof *items);
    open->value.as.children.items = items;
    open->capacity = capacity;
}

/* A chunk is added to the string that is open. */
static void take_chunk(struct reader *reader, struct open_container *open,
                       const struct value *value)
{
    if (value->type != open->value.type) {
        refuse(reader, "a chunk of a string is of another type");
        return;
    }
    if (!reader->arena)
        return;
    struct slice old = open->value.as.text, more = value->as.text;
    char *bytes = arena_take(reader->arena, old.length + more.length + 1);
    memcpy(bytes, old.bytes, old.length);
    memcpy(bytes + old.length, more.bytes, more.length);
    open->value.as.text = slice_of(bytes, old.length + more.length);
}

static void close_container(struct reader *reader);

/* A whole value: an element, a name, or all that was wanted. */
static void take_value(struct reader *reader, const struct value *value)
{
    if (reader->failed)
        return;
    if (reader->depth == 0) {
        reader->whole = *value;
        reader->done = true;
        return;
    }
    struct open_container *open = &reader->open[reader->depth - 1];
    if (open->string) {
        take_chunk(reader, open, value);
        return;
    }
    if (open->value.type == VALUE_OBJECT && !open->has_name) {
        if (value->type != VALUE_TEXT) {
            refuse(reader, "a map's key is no text");
            return;
        }
        open->name = value->as.text;
        open->has_name = true;
        return;
    }
    open->has_name = false;
    if (reader->arena) {
        grow(reader, open);
        open->value.as.children.items[open->value.as.children.count++] = (struct member){
            open->value.type == VALUE_OBJECT ? open->name : slice_of("", 0), *value};
    }
    if (!open->indefinite && --open->left == 0)
        close_container(reader);
}

static void close_container(struct reader *reader)
{
    struct open_container *open = &reader->open[--reader->depth];
    struct value value = open->value;
    if (reader->arena && value.type == VALUE_OBJECT &&
        reading_names_differ(value.as.children.items, value.as.children.count, reader->arena,
                             "cbor", reader->error))
        reader->failed = true;
    take_value(reader, &value);
}

static void open_container(struct reader *reader, enum value_type type, size_t count,
                           bool indefinite)
{
    if (reader->failed)
        return;
    if (reader->depth == ENCODING_DEPTH_MAX) {
        error_set(reader->error, TARE_USAGE, "cbor: nested deeper than %d levels",
                  ENCODING_DEPTH_MAX);
        reader->failed = true;
        return;
    }
    if (reader->depth && reader->open[reader->depth - 1].string) {
        refuse(reader, "a chunk of a string is of another type");
        return;
    }
    struct open_container *open = &reader->open[reader->depth++];
    *open =
        (struct open_container){.value = {.type = type}, .left = count, .indefinite = indefinite};
    if (reader->arena && !indefinite) {
        /* Each element has a byte of its own at least: no room is made for those that cannot be. */
        if (count > reader->room) {
            refuse(reader, "cut short: more elements are told of than there are bytes");
            return;
        }
        reader->room -= count;
        open->value.as.children.items = arena_take(reader->arena, count * sizeof(struct member));
        open->capacity = count;
    }
    if (!indefinite && count == 0)
        close_container(reader);
}

static void on_uint64(void *context, uint64_t integer)
{
    if (integer > INT64_MAX)
        refuse(context, "an integer is past 63 bits");
    take_value(context, &(struct value){.type = VALUE_INTEGER, .as.integer = (int64_t)integer});
}

static void on_negative64(void *context, uint64_t integer)
{
    if (integer > INT64_MAX)
        refuse(context, "an integer is past 63 bits");
    take_value(context, &(struct value){.type = VALUE_INTEGER, .as.integer = (int64_t)~integer});
}

/* libcbor tells each width by another callback. */
#define OF_WIDTH(name, type, wide)                                                                 \
    static void name(void *context, type number)                                                   \
    {                                                                                              \
        wide(context, number);                                                                     \
    }
OF_WIDTH(on_uint8, uint8_t, on_uint64)
OF_WIDTH(on_uint16, uint16_t, on_uint64)
OF_WIDTH(on_uint32, uint32_t, on_uint64)
OF_WIDTH(on_negative8, uint8_t, on_negative64)
OF_WIDTH(on_negative16, uint16_t, on_negative64)
OF_WIDTH(on_negative32, uint32_t, on_negative64)

static void on_double(void *context, double real)
{
    take_value(context, &(struct value){.type = VALUE_DOUBLE, .as.real = real});
}
OF_WIDTH(on_float, float, on_double)

static void on_boolean(void *context, bool boolean)
{
    take_value(context, &(struct value){.type = VALUE_BOOLEAN, .as.boolean = boolean});
}

static void on_null(void *context)
{
    take_value(context, &(struct value){.type = VALUE_NULL});
}

static void on_undefined(void *context)
{
    refuse(context, "'undefined' has no form in a record");
}

static void on_tag(void *context, uint64_t tag)
{
    struct reader *reader = context;
    if (!reader->failed && reader->arena)
        error_set(reader->error, TARE_USAGE, "cbor: tag %llu has no form in a record",
                  (unsigned long long)tag);
    reader->failed = reader->failed || reader->arena;
}

static void on_text(void *context, cbor_data bytes, size_t length)
{
    struct reader *reader = context;
    struct value value = {.type = VALUE_TEXT};
    if (reader->failed)
        return;
    if (reader->arena && reading_text(reader->arena, (const char *)bytes, length, "cbor",
                                      &value.as.text, reader->error))
        reader->failed = true;
    take_value(reader, &value);
}

static void on_bytes(void *context, cbor_data bytes, size_t length)
{
    struct reader *reader = context;
    struct value value = {.type = VALUE_BYTES};
    if (reader->arena)
        value.as.text = slice_copy(reader->arena, bytes, length);
    take_value(reader, &value);
}

static void open_string(struct reader *reader, enum value_type type)
{
    open_container(reader, type, 0, true);
    if (reader->failed)
        return;
    struct open_container *open = &reader->open[reader->depth - 1];
    open->string = true;
    open->value.as.text = slice_of("", 0);
}

static void on_text_start(void *context)
{
    open_string(context, VALUE_TEXT);
}

static void on_bytes_start(void *context)
{
    open_string(context, VALUE_BYTES);
}

static void on_array(void *context, size_t count)
{
    open_container(context, VALUE_ARRAY, count, false);
}

static void on_array_start(void *context)
{
    open_container(context, VALUE_ARRAY, 0, true);
}

static void on_map(void *context, size_t count)
{
    open_container(context, VALUE_OBJECT, count, false);
}

static void on_map_start(void *context)
{
    open_container(context, VALUE_OBJECT, 0, true);
}

static void on_break(void *context)
{
    struct reader *reader = context;
    if (reader->failed)
        return;
    if (reader->depth == 0 || !reader->open[reader->depth - 1].indefinite ||
        reader->open[reader->depth - 1].has_name)
        refuse(reader, "a break where nothing ends");
    else
        close_container(reader);
}

static const struct cbor_callbacks callbacks = {
    .uint8 = on_uint8,
    .uint16 = on_uint16,
    .uint32 = on_uint32,
    .uint64 = on_uint64,
    .negint8 = on_negative8,
    .negint16 = on_negative16,
    .negint32 = on_negative32,
    .negint64 = on_negative64,
    .byte_string_start = on_bytes_start,
    .byte_string = on_bytes,
    .string_start = on_text_start,
    .string = on_text,
    .indef_array_start = on_array_start,
    .array_start = on_array,
    .indef_map_start = on_map_start,
    .map_start = on_map,
    .tag = on_tag,
    .float2 = on_float,
    .float4 = on_float,
    .float8 = on_double,
    .undefined = on_undefined,
    .null = on_null,
    .boolean = on_boolean,
    .indef_break = on_break,
};

/* Reads what the bytes begin with; *length 0 where it is not whole. */
static int read_first(struct reader *reader, struct arena *arena, struct slice bytes,
                      struct value *value, size_t *length, struct tare_error *error)
{
    size_t place = 0;
    reader->arena = arena;
    reader->room = bytes.length;
    reader->error = error;
    reader->done = reader->failed = false;
    reader->depth = 0;
    *length = 0;
    while (!reader->done) {
        struct cbor_decoder_result result = cbor_stream_decode(
            (cbor_data)bytes.bytes + place, bytes.length - place, &callbacks, reader);
        if (result.status == CBOR_DECODER_NEDATA)
            return 0;
        if (result.status == CBOR_DECODER_ERROR)
            return error_set(error, TARE_USAGE, "cbor: malformed at byte %zu", place);
        if (reader->failed)
            return -1;
        place += result.read;
    }
    *value = reader->whole;
    *length = place;
    return 0;
}

static int cbor_undo(const struct step *step, struct arena *arena, const struct item *in,
                     struct item *out, struct tare_error *error)
{
    struct value value;
    size_t length;
    if (read_first(step->state, arena, buffer_slice(&in->bytes), &value, &length, error))
        return -1;
    if (length == 0)
        return error_set(error, TARE_USAGE, "cbor: cut short after %zu bytes", in->bytes.length);
    if (length != in->bytes.length)
        return error_set(error, TARE_USAGE, "cbor: %zu bytes after the record",
                         in->bytes.length - length);
    return reading_record(&value, arena, "cbor: not a map, and so no record", out, error);
}

static int cbor_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                        size_t *length, struct tare_error *error)
{
    struct value ignored;
    if (read_first(step->state, NULL, stream, &ignored, length, error))
        return -1;
    *item = slice_of(stream.bytes, *length);
    return *length == 0 && last
               ? error_set(error, TARE_USAGE, "cbor: cut short after %zu bytes", stream.length)
               : 0;
}

const struct step_kind step_cbor = {
    .name = "cbor",
    .summary = "one CBOR map",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = cbor_apply,
    .undo = cbor_undo,
    .state_size = sizeof(struct reader), /* too large for the stack */
    .unframe = cbor_unframe,
};

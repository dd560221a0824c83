/* json: a record as one compact JSON object. Written here, since every byte is
 * counted as it is made, without a tree of the record in between. In a file a
 * record a line (NDJSON). */
#include "encoders/json.h"

#include <endian.h>
#include <math.h>

#include "data/json_text.h"
#include "encoders/encoding.h"
#include "encoders/reading.h"

/* Bytes of text that room is made for at once: each may become six, "\u0000". */
#define ESCAPE_CHUNK ((size_t)4096)
#define ESCAPE_MOST  6

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Marks, in the high bit of its byte, what may need care among eight bytes: a control character, a
 * quote, a backslash, or not ASCII. (w - 1) & ~w marks each byte that is 0, and maybe others above
 * it: the lowest mark is always right. */
static uint64_t care_marks(uint64_t word)
{
    uint64_t quote = word ^ EACH_BYTE('"'), backslash = word ^ EACH_BYTE('\\');
    return (((word - EACH_BYTE(0x20)) & ~word) | ((quote - EACH_BYTE(1)) & ~quote) |
            ((backslash - EACH_BYTE(1)) & ~backslash) | word) &
           EACH_BYTE(0x80);
}

/* Writes the escape of a character and returns its length. */
static size_t write_escape(char *out, unsigned char character)
{
    static const char digits[] = "0123456789abcdef";
    char letter = 0;
    switch (character) {
    case '"':
    case '\\':
        letter = (char)character;
        break;
    case '\b':
        letter = 'b';
        break;
    case '\f':
        letter = 'f';
        break;
    case '\n':
        letter = 'n';
        break;
    case '\r':
        letter = 'r';
        break;
    case '\t':
        letter = 't';
        break;
    default:
        memcpy(out, "\\u00", 4);
        out[4] = digits[character >> 4];
        out[5] = digits[character & 15];
        return 6;
    }
    out[0] = '\\';
    out[1] = letter;
    return 2;
}

/* Appends text in quotes; the quotes are framing, added escapes escapes, the text the caller's to
 * count. */
static int append_text(struct buffer *out, struct slice text, struct counted *counted,
                       struct tare_error *error)
{
    size_t place = 0, start = out->length;
    buffer_byte(out, '"');
    while (place < text.length) {
        size_t left = text.length - place;
        size_t end = place + (left < ESCAPE_CHUNK ? left : ESCAPE_CHUNK);
        buffer_reserve(out, ESCAPE_CHUNK * ESCAPE_MOST + sizeof(uint64_t));
        char *to = out->data + out->length;
        while (place < end) {
            uint64_t word;
            if (end - place >= sizeof word) {
                /* All eight are copied; what stands from the first mark on is written anew. */
                memcpy(&word, text.bytes + place, sizeof word);
                memcpy(to, &word, sizeof word);
                uint64_t marks = care_marks(le64toh(word));
                size_t plain = marks ? (size_t)__builtin_ctzll(marks) / 8 : sizeof word;
                to += plain;
                place += plain;
                if (!marks)
                    continue;
            }
            unsigned char character = (unsigned char)text.bytes[place];
            if (character < ' ' || character == '"' || character == '\\') {
                to += write_escape(to, character);
                place++;
            } else if (character < 0x80) {
                *to++ = (char)character;
                place++;
            } else {
                size_t size = utf8_character(text.bytes + place, text.length - place, NULL);
                if (!size)
                    return error_set(error, TARE_USAGE,
                                     "no UTF-8 at byte %zu, and 'json' holds text alone; take "
                                     "'msgpack' or 'bson'",
                                     place);
                memcpy(to, text.bytes + place, size);
                to += size;
                place += size;
            }
        }
        out->length = (size_t)(to - out->data);
    }
    buffer_byte(out, '"');
    counted->framing += 2;
    counted->escapes += (int64_t)(out->length - start - 2 - text.length);
    return 0;
}

static int append_name(struct buffer *out, struct slice name, struct counted *counted,
                       struct tare_error *error)
{
    char shown[SLICE_SHOW_SIZE];
    if (append_text(out, name, counted, error))
        return error_prefix(error, "the name '%s'", slice_show(name, shown));
    counted->field_names += (int64_t)name.length;
    buffer_byte(out, ':');
    counted->framing++;
    return 0;
}

static int append_double(struct buffer *out, double real, struct counted *counted,
                         struct tare_error *error)
{
    char text[32];
    size_t length = double_text(real, text);
    if (!isfinite(real))
        return error_set(error, TARE_USAGE, "the number '%s', which 'json' has no form for", text);
    buffer_append(out, text, length);
    counted->values += (int64_t)length;
    if (!strpbrk(text, ".e")) {
        buffer_append(out, ".0", 2);
        counted->number_form += 2;
    }
    return 0;
}

static int append_nested(struct buffer *out, const struct value *value, int depth,
                         struct counted *counted, struct tare_error *error);

static int append_members(struct buffer *out, const struct member *members, size_t count,
                          bool named, int depth, struct counted *counted, struct tare_error *error)
{
    if (depth > ENCODING_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than %d levels", ENCODING_DEPTH_MAX);
    buffer_byte(out, named ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buffer_byte(out, ',');
        if (named && append_name(out, members[i].name, counted, error))
            return -1;
        if (append_nested(out, &members[i].value, depth, counted, error)) {
            char shown[SLICE_SHOW_SIZE];
            /* The outermost name alone: the line stays readable at any depth. */
            return depth == 1 && named
                       ? error_prefix(error, "field '%s'", slice_show(members[i].name, shown))
                       : -1;
        }
    }
    buffer_byte(out, named ? '}' : ']');
    counted->framing += 2 + (count ? (int64_t)count - 1 : 0);
    return 0;
}

static int append_nested(struct buffer *out, const struct value *value, int depth,
                         struct counted *counted, struct tare_error *error)
{
    size_t start = out->length;
    switch (value->type) {
    case VALUE_NULL:
        buffer_append(out, "null", 4);
        break;
    case VALUE_BOOLEAN:
        buffer_text(out, value->as.boolean ? "true" : "false");
        break;
    case VALUE_INTEGER:
        buffer_format(out, "%lld", (long long)value->as.integer);
        break;
    case VALUE_DOUBLE:
        return append_double(out, value->as.real, counted, error);
    case VALUE_TEXT:
    case VALUE_BYTES:
        counted->values += (int64_t)value->as.text.length;
        return append_text(out, value->as.text, counted, error);
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        return append_members(out, value->as.children.items, value->as.children.count,
                              value->type == VALUE_OBJECT, depth + 1, counted, error);
    }
    counted->values += (int64_t)(out->length - start);
    return 0;
}

int json_append_value(struct buffer *out, const struct value *value, struct counted *counted,
                      struct tare_error *error)
{
    return append_nested(out, value, 1, counted, error);
}

static int json_apply(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    return append_members(&out->bytes, in->record->fields, in->record->field_count, true, 1,
                          &out->counted, error);
}

static int json_undo(const struct step *step, struct arena *arena, const struct item *item,
                     struct item *out, struct tare_error *error)
{
    struct slice in = buffer_slice(&item->bytes);
    struct json_reader reader = {0};
    struct value value;
    size_t place = 0;
    (void)step;
    int failed = json_read(&reader, arena_copy(arena, in.bytes, in.length), in.length, arena,
                           &value, &place, error);
    json_reader_free(&reader);
    if (failed)
        return error_set(error, TARE_USAGE, "json: %s at byte %zu", error ? error->message : "",
                         place);
    return reading_record(&value, arena, "json: not an object, and so no record", out, error);
}

static void json_frame(const struct step *step, struct slice item, struct buffer *stream)
{
    (void)step;
    buffer_append(stream, item.bytes, item.length);
    buffer_byte(stream, '\n');
}

/* A line; those that hold white space alone are no records. */
static int json_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                        size_t *length, struct tare_error *error)
{
    (void)step;
    (void)error;
    const char *end = stream.length ? memchr(stream.bytes, '\n', stream.length) : NULL;
    *length = 0;
    if (!end && !last)
        return 0;
    size_t line = end ? (size_t)(end - stream.bytes) : stream.length;
    *length = line + (end ? 1 : 0);
    size_t blanks = 0;
    while (blanks < line && memchr(" \t\r", stream.bytes[blanks], 3))
        blanks++;
    *item = blanks == line ? slice_of(NULL, 0) : slice_of(stream.bytes, line);
    return 0;
}

const struct step_kind step_json = {
    .name = "json",
    .summary = "one compact JSON object",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = json_apply,
    .undo = json_undo,
    .frame = json_frame,
    .unframe = json_unframe,
};

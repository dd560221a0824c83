/* value: the one value of a record as it is (data set kv), without its name. In a file its length
 * stands before each value, in 4 bytes, the highest first. */
#include <endian.h>

#include "encoders/encoding.h"

static int value_apply(const struct step *step, struct arena *arena, const struct item *in,
                       struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    const struct record *record = in->record;
    if (record->field_count != 1)
        return error_set(error, TARE_USAGE,
                         "%zu fields, and 'value' takes records of one; take 'json'",
                         record->field_count);
    const struct value *value = &record->fields[0].value;
    if (value->type != VALUE_TEXT && value->type != VALUE_BYTES)
        return error_set(error, TARE_USAGE,
                         "a value that is neither text nor bytes, and 'value' would lose "
                         "its type; take 'json'");
    if (value->as.text.length > UINT32_MAX)
        return error_set(error, TARE_USAGE, "longer than the 2^32 - 1 bytes that 'value' holds");
    buffer_append(&out->bytes, value->as.text.bytes, value->as.text.length);
    out->counted.values = (int64_t)value->as.text.length;
    return 0;
}

static int value_undo(const struct step *step, struct arena *arena, const struct item *item,
                      struct item *out, struct tare_error *error)
{
    struct slice in = buffer_slice(&item->bytes);
    (void)step;
    (void)error;
    struct record *record = arena_take(arena, sizeof *record);
    *record = (struct record){.key = slice_of("", 0),
                              .fields = arena_take(arena, sizeof *record->fields),
                              .field_count = 1};
    record->fields[0] =
        (struct member){slice_text("value"),
                        {.type = VALUE_BYTES,
                         .as.text = slice_of(arena_copy(arena, in.bytes, in.length), in.length)}};
    out->record = record;
    return 0;
}

static void value_frame(const struct step *step, struct slice item, struct buffer *stream)
{
    uint32_t length = htobe32((uint32_t)item.length);
    (void)step;
    buffer_append(stream, &length, sizeof length);
    buffer_append(stream, item.bytes, item.length);
}

static int value_unframe(const struct step *step, struct slice stream, bool last,
                         struct slice *item, size_t *length, struct tare_error *error)
{
    uint32_t told = 0;
    (void)step;
    *length = 0;
    if (stream.length >= sizeof told) {
        memcpy(&told, stream.bytes, sizeof told);
        told = be32toh(told);
    }
    if (stream.length < sizeof told || stream.length - sizeof told < told)
        return last
                   ? error_set(error, TARE_USAGE, "value: cut short after %zu bytes", stream.length)
                   : 0;
    *item = slice_of(stream.bytes + sizeof told, told);
    *length = sizeof told + told;
    return 0;
}

const struct step_kind step_value = {
    .name = "value",
    .summary = "the one value of a record as it is, for data set kv",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = value_apply,
    .undo = value_undo,
    .frame = value_frame,
    .unframe = value_unframe,
};

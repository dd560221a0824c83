/* value: the one value of a record as it is (data set kv), without its name. */
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
    buffer_append(&out->bytes, value->as.text.bytes, value->as.text.length);
    out->counted.values = (int64_t)value->as.text.length;
    return 0;
}

static int value_undo(const struct step *step, struct arena *arena, struct slice in,
                      struct item *out, struct tare_error *error)
{
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
    out->form = FORM_RECORD;
    out->record = record;
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
};

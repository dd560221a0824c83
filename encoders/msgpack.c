/* msgpack: a record as one MessagePack map. In a file one follows another. */
#include "encoders/msgpack_value.h"
#include "encoders/reading.h"

static int msgpack_apply(const struct step *step, struct arena *arena, const struct item *in,
                         struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    msgpack_packer packer = msgpack_packer_of(&out->bytes);
    if (msgpack_put_members(&packer, in->record->fields, in->record->field_count, true, 1,
                            &out->counted, error))
        return -1;
    /* Headers of maps, arrays, str and bin: all that is counted as nothing else. */
    out->counted.framing = (int64_t)out->bytes.length - counted_sum(&out->counted);
    return 0;
}

static int msgpack_undo(const struct step *step, struct arena *arena, const struct item *in,
                        struct item *out, struct tare_error *error)
{
    (void)step;
    struct value value;
    if (msgpack_get_value(buffer_slice(&in->bytes), arena, "msgpack", &value, error))
        return -1;
    return reading_record(&value, arena, "msgpack: not a map, and so no record", out, error);
}

const struct step_kind step_msgpack = {
    .name = "msgpack",
    .summary = "one MessagePack map",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = msgpack_apply,
    .undo = msgpack_undo,
    .unframe = msgpack_unframe,
};

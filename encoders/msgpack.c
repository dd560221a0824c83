/* msgpack: a record as one MessagePack map. In a file one follows another. */
#include "encoders/msgpack_value.h"
#include "encoders/reading.h"

static int msgpack_apply(const struct step *step, struct arena *arena, const struct item *in,
                         struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    return tree_apply(&msgpack_format, in, out, error);
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

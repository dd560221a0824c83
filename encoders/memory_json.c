/* memory:json: each record's compact JSON as one heap string, in a process's own memory. */
#include "encoders/shape.h"

static const struct option_spec memory_json_options[] = {{0}};

extern const struct step_kind step_json;

static int memory_json_encode(struct encoding *encoding, struct arena *arena,
                              const struct item *item, const struct record *record,
                              object_sink *sink, void *context, struct tare_error *error)
{
    struct buffer *scratch = &encoding->scratch[2];
    buffer_clear(scratch);
    struct item json = {.form = FORM_BYTES, .record = item->record, .bytes = *scratch};
    int failed = step_json.apply(NULL, arena, item, &json, error);
    if (!failed)
        failed = shape_encode_string(encoding, arena, &json, record, sink, context, error);
    *scratch = json.bytes;
    return failed;
}

static int memory_json_decode(const struct encoding *encoding, struct arena *arena,
                              const struct object *object, const struct record *like,
                              struct item *item, struct tare_error *error)
{
    struct item json;
    if (shape_decode_string(encoding, arena, object, like, &json, error))
        return -1;
    *item = (struct item){.form = FORM_RECORD};
    return step_json.undo(NULL, arena, &json, item, error);
}

const struct shape_kind shape_memory_json = {
    .store = "memory",
    .name = "json",
    .summary = "the record's JSON as one heap string, by key in a process's own memory",
    .example = "memory:json",
    .takes = FORM_RECORD,
    .holds = OBJECT_STRING,
    .options = memory_json_options,
    .encode = memory_json_encode,
    .decode = memory_json_decode,
};

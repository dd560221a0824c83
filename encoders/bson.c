/* bson: a record as one BSON document, without an _id. */
#include "encoders/bson_document.h"
#include "encoders/encoding.h"

static int bson_apply(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    return bson_document_make(&out->bytes, NULL, in->record->fields, in->record->field_count,
                              &out->counted, error);
}

static int bson_undo(const struct step *step, struct arena *arena, struct slice in,
                     struct item *out, struct tare_error *error)
{
    (void)step;
    struct record *record = arena_take(arena, sizeof *record);
    out->form = FORM_RECORD;
    out->record = record;
    return bson_document_read(in, arena, record, error);
}

const struct step_kind step_bson = {
    .name = "bson",
    .summary = "one BSON document",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = bson_apply,
    .undo = bson_undo,
};

/* bson: a record as one BSON document, without an _id. In a file one follows another. */
#include <endian.h>

#include "data/bson_record.h"
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

static int bson_undo(const struct step *step, struct arena *arena, const struct item *item,
                     struct item *out, struct tare_error *error)
{
    struct slice in = buffer_slice(&item->bytes);
    (void)step;
    struct record *record = arena_take(arena, sizeof *record);
    out->record = record;
    return bson_record_read(in, arena, record, error) ? error_prefix(error, "bson") : 0;
}

static int bson_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                        size_t *length, struct tare_error *error)
{
    uint32_t told = 0;
    (void)step;
    *length = 0;
    if (stream.length >= sizeof told) {
        memcpy(&told, stream.bytes, sizeof told);
        told = le32toh(told); /* of the whole document, these four bytes too */
        if (told < 5 || told > INT32_MAX)
            return error_set(error, TARE_USAGE, "bson: no document has %lu bytes",
                             (unsigned long)told);
    }
    if (stream.length < sizeof told || stream.length < told)
        return last ? error_set(error, TARE_USAGE, "bson: cut short after %zu bytes", stream.length)
                    : 0;
    *item = slice_of(stream.bytes, told);
    *length = told;
    return 0;
}

const struct step_kind step_bson = {
    .name = "bson",
    .summary = "one BSON document",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = bson_apply,
    .undo = bson_undo,
    .unframe = bson_unframe,
};

/* mongodb:blob: a document a record, of _id and one Binary field that is the
 * encoded record. */
#include "encoders/bson_document.h"
#include "encoders/shape.h"

static const struct option_spec mongodb_blob_options[] = {{0}};

static int mongodb_blob_encode(struct encoding *encoding, struct arena *arena,
                               const struct item *item, const struct record *record,
                               object_sink *sink, void *context, struct tare_error *error)
{
    struct slice bytes = buffer_slice(&item->bytes);
    struct member blob = {slice_text("value"), {.type = VALUE_BYTES, .as.text = bytes}};
    struct buffer *bson = &encoding->scratch[2];
    struct counted document;
    int failed = bson_document_make(bson, &record->key, &blob, 1, &document, error);
    if (!failed && bson->length > BSON_DOCUMENT_MAX)
        failed =
            error_set(error, TARE_USAGE,
                      "%zu bytes as BSON, and MongoDB holds documents up to 16 MiB", bson->length);
    if (!failed) {
        /* The blob's bytes are counted already, by the steps that made them; the document adds
         * its framing, of which the field's name is a part: it is none of the record's. */
        struct counted counted = item->counted;
        counted.framing += document.framing + document.field_names;
        struct object object = {
            .type = OBJECT_DOCUMENT,
            .key = record->key,
            .body = slice_of(arena_copy(arena, bson->data, bson->length), bson->length),
            .counted = shape_counted(record, &counted),
        };
        failed = sink(context, &object, error);
    }
    return failed;
}

const struct shape_kind shape_mongodb_blob = {
    .store = "mongodb",
    .name = "blob",
    .summary = "a document a record, of _id and the encoded record as one Binary field",
    .example = "mongodb:blob+msgpack",
    .takes = FORM_BYTES,
    .default_step = "json",
    .options = mongodb_blob_options,
    .encode = mongodb_blob_encode,
};

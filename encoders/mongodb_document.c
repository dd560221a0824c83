/* mongodb:document: a document a record, its _id the record's key. */
#include "encoders/bson_document.h"
#include "encoders/shape.h"

static const struct option_spec mongodb_document_options[] = {{0}};

static int mongodb_document_encode(struct encoding *encoding, struct arena *arena,
                                   const struct item *item, const struct record *record,
                                   object_sink *sink, void *context, struct tare_error *error)
{
    struct buffer *bson = &encoding->scratch[2];
    struct counted counted;
    for (size_t i = 0; i < item->record->field_count; i++)
        if (slice_is(item->record->fields[i].name, "_id"))
            return error_set(error, TARE_USAGE,
                             "a field '_id', which 'mongodb:document' gives the key");
    if (bson_document_make(bson, &record->key, item->record->fields, item->record->field_count,
                           &counted, error))
        return -1;
    if (bson->length > BSON_DOCUMENT_MAX)
        return error_set(error, TARE_USAGE,
                         "%zu bytes as BSON, and MongoDB holds documents up to 16 MiB",
                         bson->length);
    struct object object = {
        .type = OBJECT_DOCUMENT,
        .key = record->key,
        /* Copied: the buffer is overwritten by the next record. */
        .body = slice_of(arena_copy(arena, bson->data, bson->length), bson->length),
        .counted = shape_counted(record, &counted),
    };
    return sink(context, &object, error);
}

const struct shape_kind shape_mongodb_document = {
    .store = "mongodb",
    .name = "document",
    .summary = "a document a record, its _id the key",
    .example = "mongodb:document",
    .takes = FORM_RECORD,
    .options = mongodb_document_options,
    .encode = mongodb_document_encode,
};

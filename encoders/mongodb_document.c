/* mongodb:document: a document a record, its fields the record's. */
#include "encoders/mongodb_shape.h"

static int mongodb_document_encode(struct encoding *encoding, struct arena *arena,
                                   const struct item *item, const struct record *record,
                                   object_sink *sink, void *context, struct tare_error *error)
{
    return mongodb_shape_encode(encoding, arena, record, item->record->fields,
                                item->record->field_count, NULL, sink, context, error);
}

static int mongodb_document_decode(const struct encoding *encoding, struct arena *arena,
                                   const struct object *object, const struct record *like,
                                   struct item *item, struct tare_error *error)
{
    struct record *record = arena_take(arena, sizeof *record);
    item->record = record;
    return mongodb_shape_decode(encoding, object, like, false, arena, record, error);
}

const struct shape_kind shape_mongodb_document = {
    .store = "mongodb",
    .name = "document",
    .summary = "a document a record, its _id the key",
    .example = "mongodb:document@id=objectid@index=key",
    .takes = FORM_RECORD,
    .holds = OBJECT_DOCUMENT,
    .options = mongodb_shape_options,
    .check = mongodb_shape_check,
    .encode = mongodb_document_encode,
    .decode = mongodb_document_decode,
};

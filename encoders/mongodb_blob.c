/* mongodb:blob: a document a record, of _id and one Binary field that is the
 * encoded record. */
#include "encoders/mongodb_shape.h"

static int mongodb_blob_encode(struct encoding *encoding, struct arena *arena,
                               const struct item *item, const struct record *record,
                               object_sink *sink, void *context, struct tare_error *error)
{
    struct member blob = {slice_text("value"),
                          {.type = VALUE_BYTES, .as.text = buffer_slice(&item->bytes)}};
    return mongodb_shape_encode(encoding, arena, record, &blob, 1, &item->counted, sink, context,
                                error);
}

static int mongodb_blob_decode(const struct encoding *encoding, struct arena *arena,
                               const struct object *object, const struct record *like,
                               struct item *item, struct tare_error *error)
{
    struct record document;
    if (mongodb_shape_decode(encoding, object, like, true, arena, &document, error))
        return -1;
    const struct member *blob = &document.fields[document.field_count - 1];
    if (document.field_count != 1 || blob->value.type != VALUE_BYTES)
        return error_set(error, TARE_USAGE, "a document of more than one Binary field");
    struct slice bytes = blob->value.as.text;
    item->bytes = (struct buffer){.data = (char *)(uintptr_t)bytes.bytes,
                                  .length = bytes.length}; /* a view */
    return 0;
}

const struct shape_kind shape_mongodb_blob = {
    .store = "mongodb",
    .name = "blob",
    .summary = "a document a record, of _id and the encoded record as one Binary field",
    .example = "mongodb:blob+msgpack",
    .takes = FORM_BYTES,
    .holds = OBJECT_DOCUMENT,
    .default_step = "json",
    .options = mongodb_shape_options,
    .check = mongodb_shape_check,
    .encode = mongodb_blob_encode,
    .decode = mongodb_blob_decode,
};

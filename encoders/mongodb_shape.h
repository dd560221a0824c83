/* What MongoDB's shapes share: the _id, secondary indexes, and the document as an object. */
#ifndef TARE_ENCODERS_MONGODB_SHAPE_H
#define TARE_ENCODERS_MONGODB_SHAPE_H

#include "encoders/bson_document.h"
#include "encoders/shape.h"

/* The @ options of every MongoDB shape: @id and @index. */
extern const struct option_spec mongodb_shape_options[];
int mongodb_shape_check(struct encoding *encoding, struct tare_error *error);

/* The field that holds the key where the _id is something else and no field of the record is it. */
#define MONGODB_KEY_FIELD "key"

/* The record's document: the _id, the key as a field where @id makes the _id something else, then
 * the members. inside NULL: the members are the record's own. Else they hold it encoded, and this
 * is what the encoded bytes are counted as. */
int mongodb_shape_encode(struct encoding *encoding, struct arena *arena,
                         const struct record *record, const struct member *members, size_t count,
                         const struct counted *inside, object_sink *sink, void *context,
                         struct tare_error *error);
/* The inverse: the fields of the document but those that the shape has added. blob: they are none
 * of the record's own. */
int mongodb_shape_decode(const struct encoding *encoding, const struct object *object,
                         const struct record *like, bool blob, struct arena *arena,
                         struct record *record, struct tare_error *error);

#endif

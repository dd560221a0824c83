/* Records as BSON documents (bsonspec.org), by libbson. */
#ifndef TARE_ENCODERS_BSON_DOCUMENT_H
#define TARE_ENCODERS_BSON_DOCUMENT_H

#include "core/buffer.h"
#include "core/error.h"
#include "data/record.h"
#include "model/object.h"

enum bson_id_type { BSON_ID_KEY, BSON_ID_OBJECTID, BSON_ID_NUMBER };

struct bson_id {
    enum bson_id_type type;
    struct slice key; /* BSON_ID_KEY: UTF-8 */
    /* BSON_ID_KEY: the value that the key is the text of, where the _id is that; else NULL. */
    const struct value *value;
    int64_t number; /* the others: the record's */
};

/* Makes the whole document in *out, which is overwritten: _id first where id is not NULL, then the
 * members: bytes as Binary of subtype 0, text as UTF-8, integers as int32 where they fit, else as
 * int64.
 *
 * An ObjectId is made of the record's number, so that they ascend as a driver's do: seconds, five
 * bytes that stay the same, a counter of three bytes (the ObjectId specification).
 *
 * Counts every byte: a key that is the _id as key, text of values as values, names of members as
 * field names, the stored length of numbers, booleans and null less their text as number form, and
 * as framing all else: lengths, types, terminators, the name _id, an _id that is not the key,
 * places in arrays. */
int bson_document_make(struct buffer *out, const struct bson_id *id, const struct member *members,
                       size_t count, struct counted *counted, struct tare_error *error);

/* What MongoDB takes as one document (bson's BSON_MAX_SIZE is larger; server: BSONObjMaxUserSize).
 */
#define BSON_DOCUMENT_MAX (16 * 1024 * 1024)

#endif

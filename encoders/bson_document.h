/* Records as BSON documents (bsonspec.org), by libbson. */
#ifndef TARE_ENCODERS_BSON_DOCUMENT_H
#define TARE_ENCODERS_BSON_DOCUMENT_H

#include "core/buffer.h"
#include "core/error.h"
#include "data/record.h"
#include "model/object.h"

/* Makes the whole document in *out, which is overwritten: _id first where id is not NULL (as
 * UTF-8), then the members: bytes as Binary of subtype 0, text as UTF-8, integers as int32 where
 * they fit, else as int64.
 *
 * Counts every byte: id as key, text of values as values, names of members as field names, the
 * stored length of numbers, booleans and null less their text as number form, and as framing all
 * else: lengths, types, terminators, the name _id, places in arrays. */
int bson_document_make(struct buffer *out, const struct slice *id, const struct member *members,
                       size_t count, struct counted *counted, struct tare_error *error);

/* Reads a document into the arena. What a record has no type for is refused by name. */
int bson_document_read(struct slice bytes, struct arena *arena, struct record *record,
                       struct tare_error *error);

/* What MongoDB takes as one document (bson's BSON_MAX_SIZE is larger; server: BSONObjMaxUserSize).
 */
#define BSON_DOCUMENT_MAX (16 * 1024 * 1024)

#endif

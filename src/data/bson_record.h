/* BSON documents (bsonspec.org) as records, by libbson. */
#ifndef TARE_DATA_BSON_RECORD_H
#define TARE_DATA_BSON_RECORD_H

#include "core/error.h"
#include "data/record.h"

/* Reads a document into the arena. Types that BSON alone has become the objects that MongoDB's
 * Extended JSON (relaxed, version 2) writes them as, and keep the BSON (value.extended). Refused by
 * name: what is malformed, a name twice in a document, text that is no UTF-8, nesting past
 * RECORD_DEPTH_MAX. */
int bson_record_read(struct slice bytes, struct arena *arena, struct record *record,
                     struct tare_error *error);

/* Reads MongoDB's Extended JSON, canonical or relaxed, as mongoexport writes it: the same record as
 * of the BSON that it stands for. The text is JSON, which was looked at. */
int bson_record_read_extended(struct slice json, struct arena *arena, struct record *record,
                              struct tare_error *error);

/* An extended value's type as BSON has it ("an ObjectId", "a date"), for messages. */
const char *bson_extended_type(const struct value *value);
/* The 12 bytes of an extended value that is an ObjectId, or NULL. */
const unsigned char *bson_extended_oid(const struct value *value);
/* An ObjectId as a value, in the arena. */
struct value bson_oid_value(const unsigned char oid[12], struct arena *arena);

#endif

/* What shapes share: objects that hold a record as a hash, or bytes as a string. */
#ifndef TARE_ENCODERS_SHAPE_H
#define TARE_ENCODERS_SHAPE_H

#include "encoders/encoding.h"

/* Expiries shorter than an hour could pass while a cell is loaded, settled and read; encoding.c
 * refuses them. The most is 100 years, the range of any sensible expiry. */
#define SHAPE_TTL_LEAST 3600
#define SHAPE_TTL_MOST  INT64_C(3155760000)

/* Rows of the shapes' option tables. */
#define SHAPE_OPTION_INDEX                                                                         \
    {                                                                                              \
        "index", OPTION_FLAG, offsetof(struct shape_options, index), 0, 0, NULL,                   \
            "keep YCSB's sorted set of all keys, _indices"                                         \
    }
#define SHAPE_OPTION_LISTPACK                                                                      \
    {                                                                                              \
        "listpack", OPTION_FLAG, offsetof(struct shape_options, listpack), 0, 0, NULL,             \
            "raise the listpack limits so that the records fit"                                    \
    }
#define SHAPE_OPTION_TTL                                                                           \
    {                                                                                              \
        "ttl", OPTION_INTEGER, offsetof(struct shape_options, ttl), 1, SHAPE_TTL_MOST, NULL,       \
            "seconds until a record expires, 3600 at least"                                        \
    }

/* Records of one object at most (redis:bucket=N and its like). */
#define SHAPE_BATCH_MOST 1000000

/* An object's counted bytes: the key, and what the values were counted as. Where the key is a
 * field of the record too, that copy is moved from the values to the framing, so that payload
 * holds each key once. */
struct counted shape_counted(const struct record *record, const struct counted *values);

/* The same where the object doesn't hold the record's key, but for where it is a field too. */
struct counted shape_counted_keyless(const struct record *record, const struct counted *values);

/* What a record adds to an object that holds many: so many records as the encoding's number says
 * are under one key, "NAME:0", "NAME:1", ...; all of them under "NAME" where it is 0. */
struct object shape_batch(const struct encoding *encoding, struct arena *arena,
                          enum object_type type, const struct record *record);

/* A field an element; nested values as compact JSON. With @index the key also becomes an element
 * of the sorted set "_indices" that all records share, as YCSB's Redis binding keeps it. */
int shape_encode_hash(struct encoding *encoding, struct arena *arena, const struct item *item,
                      const struct record *record, object_sink *sink, void *context,
                      struct tare_error *error);

/* The item's bytes as one string. */
int shape_encode_string(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error);

/* The item's bytes as a field's value of a hash, under the record's key. */
int shape_encode_bucket(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error);

/* The item's bytes as an element of a list. */
int shape_encode_list(struct encoding *encoding, struct arena *arena, const struct item *item,
                      const struct record *record, object_sink *sink, void *context,
                      struct tare_error *error);

/* The record as a stream's entry, its fields the record's. IDs count milliseconds, one a record, so
 * that the same records make the same stream everywhere. */
int shape_encode_stream(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error);

/* The inverses of these, for what shapes' `decode` is: shape_decode.c. A stream's entry is read as
 * a hash is. */
int shape_decode_hash(const struct encoding *encoding, struct arena *arena,
                      const struct object *object, const struct record *like, struct item *item,
                      struct tare_error *error);
int shape_decode_string(const struct encoding *encoding, struct arena *arena,
                        const struct object *object, const struct record *like, struct item *item,
                        struct tare_error *error);
int shape_decode_bucket(const struct encoding *encoding, struct arena *arena,
                        const struct object *object, const struct record *like, struct item *item,
                        struct tare_error *error);
int shape_decode_list(const struct encoding *encoding, struct arena *arena,
                      const struct object *object, const struct record *like, struct item *item,
                      struct tare_error *error);

/* Reads JSON into the arena. */
int shape_read_json(struct slice text, struct arena *arena, struct value *value,
                    struct tare_error *error);

/* @listpack: raises the limits of packed hashes so that the records, or the batches of them, fit.
 */
void shape_listpack_settings(const struct encoding *encoding, const struct figures *largest,
                             struct figures *settings);

/* Java's String.hashCode() of UTF-8 text: over its UTF-16 units. A byte that is no UTF-8 counts as
 * U+FFFD, which Java decodes it to. */
int32_t java_hash(struct slice text);

#endif

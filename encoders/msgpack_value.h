/* Values in MessagePack, for the steps that make it of records: msgpack, msgpack-array. */
#ifndef TARE_ENCODERS_MSGPACK_VALUE_H
#define TARE_ENCODERS_MSGPACK_VALUE_H

#include "encoders/encoding.h"
#include "encoders/tree.h"

extern const struct tree_format msgpack_format;

/* Levels that are read beyond ENCODING_DEPTH_MAX, for what msgpack-array puts around values. */
#define MSGPACK_DEPTH_MORE 64

/* Reads the one value that the bytes are, into the arena. format: the step's name, for errors. */
int msgpack_get_value(struct slice bytes, struct arena *arena, const char *format,
                      struct value *value, struct tare_error *error);

/* unframe of struct step_kind: values one after another. */
int msgpack_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                    size_t *length, struct tare_error *error);

#endif

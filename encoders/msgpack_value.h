/* Values in MessagePack, for the steps that make it of records: msgpack, msgpack-array. */
#ifndef TARE_ENCODERS_MSGPACK_VALUE_H
#define TARE_ENCODERS_MSGPACK_VALUE_H

#include <msgpack.h>

#include "encoders/encoding.h"

/* A packer that appends to the buffer. */
msgpack_packer msgpack_packer_of(struct buffer *out);

/* Appends and counts a value, headers apart: what is not counted when all is written is framing.
 * depth: containers around it and it, if it is one. */
int msgpack_put_value(msgpack_packer *packer, const struct value *value, int depth,
                      struct counted *counted, struct tare_error *error);
/* An object as a map, or an array. */
int msgpack_put_members(msgpack_packer *packer, const struct member *members, size_t count,
                        bool named, int depth, struct counted *counted, struct tare_error *error);

/* Levels that are read beyond ENCODING_DEPTH_MAX, for what msgpack-array puts around values. */
#define MSGPACK_DEPTH_MORE 64

/* Reads the one value that the bytes are, into the arena. format: the step's name, for errors. */
int msgpack_get_value(struct slice bytes, struct arena *arena, const char *format,
                      struct value *value, struct tare_error *error);

/* unframe of struct step_kind: values one after another. */
int msgpack_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                    size_t *length, struct tare_error *error);

#endif

/* Records in binary formats of one family (MessagePack, CBOR): a head before each value that tells
 * its type and length. The walk, the counting and the checks are here; a format writes the heads.
 */
#ifndef TARE_ENCODERS_TREE_H
#define TARE_ENCODERS_TREE_H

#include "encoders/encoding.h"

struct tree_format {
    const char *name;     /* the step's, for errors */
    uint64_t length_most; /* of a text, and members of an object or array */
    /* Each appends to the buffer. */
    void (*head)(struct buffer *out, bool named, size_t count); /* of an object, of an array */
    void (*text)(struct buffer *out, struct slice text);
    void (*bytes)(struct buffer *out, struct slice bytes);
    void (*plain)(struct buffer *out, const struct value *value); /* number, boolean, null */
};

/* Appends a value and counts its text, names and number form; the heads are what is not counted
 * when all is written. depth: containers around the value. */
int tree_put_value(const struct tree_format *format, struct buffer *out, const struct value *value,
                   int depth, struct counted *counted, struct tare_error *error);

/* Members of an object (named) or array; depth: containers around them, their own too. */
int tree_put_members(const struct tree_format *format, struct buffer *out,
                     const struct member *members, size_t count, bool named, int depth,
                     struct counted *counted, struct tare_error *error);

/* apply of struct step_kind: the record as one object. */
int tree_apply(const struct tree_format *format, const struct item *in, struct item *out,
               struct tare_error *error);

/* Counts as framing what a step wrote and counted as nothing else. */
void tree_count_heads(struct item *out);

#endif

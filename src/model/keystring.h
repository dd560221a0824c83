/* KeyStrings: how MongoDB writes index keys, so that memcmp orders them (src/mongo/db/storage/
 * key_string.cpp of 4.4 to 6.0, version 1). What an index of a collection holds of a document. */
#ifndef TARE_MODEL_KEYSTRING_H
#define TARE_MODEL_KEYSTRING_H

#include "core/buffer.h"
#include "model/object.h"

/* The keys that one index holds of one document. {0} is an empty list; what it holds is used again
 * by the next document. */
struct keystrings {
    struct buffer bytes; /* the keys, one behind the other, each with its end byte */
    struct keystring {
        size_t offset, length;
        unsigned
            type_bits; /* that tell a key's types where its bytes don't; 0 where all are zero */
    } * items;
    size_t count, capacity;
};

/* The key of an _id: the document's where its bytes are there, else the object's key as a string.
 */
void keystrings_of_id(const struct object *object, struct keystrings *keys);
/* The keys of a secondary index, ascending and each once: more than one where the field is an
 * array, of null where it is missing, which is told by false. A hashed index holds 64 bits of a
 * hash; the model takes another function than the server, which spreads keys alike. */
bool keystrings_of_index(const struct object *object, const struct object_index *index,
                         struct keystrings *keys);
struct slice keystrings_get(const struct keystrings *keys, size_t place);
void keystrings_free(struct keystrings *keys);

/* Bytes that so many type bits take behind a key's record id; 0 of none. */
int keystring_type_bytes(unsigned type_bits);
/* Length of a record id as KeyStrings hold it, and the id itself into out (9 bytes). */
int keystring_record_id_length(uint64_t number);
int keystring_record_id(uint64_t number, unsigned char *out);

#endif

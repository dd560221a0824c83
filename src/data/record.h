/* A record: a key and its fields, or a nested document. All memory is the
 * arena's that the data set was given. */
#ifndef TARE_DATA_RECORD_H
#define TARE_DATA_RECORD_H

#include "core/memory.h"
#include "core/slice.h"

enum value_type {
    VALUE_NULL,
    VALUE_BOOLEAN,
    VALUE_INTEGER,
    VALUE_DOUBLE,
    VALUE_TEXT,  /* UTF-8 */
    VALUE_BYTES, /* not known to be text: YCSB's random bytes */
    VALUE_ARRAY,
    VALUE_OBJECT
};

/* Levels of nesting of a record; deeper ones would endanger tare's own stack. */
#define RECORD_DEPTH_MAX 1000

struct member;

struct value {
    enum value_type type;
    /* VALUE_INTEGER: BSON's int64, which stays one in BSON where 32 bits would do. */
    bool wide;
    /* VALUE_OBJECT: stands for a value of a type that BSON alone has (an ObjectId, a date, ...):
     * its members are those of MongoDB's Extended JSON, and as.extended has it as BSON. What
     * doesn't know of it takes the object, what writes BSON the value itself. */
    bool extended;
    union {
        bool boolean;
        int64_t integer;
        double real;
        struct slice text; /* VALUE_TEXT, VALUE_BYTES */
        struct {
            struct member *items; /* names are empty in an array */
            size_t count;
        } children; /* VALUE_ARRAY, VALUE_OBJECT */
        struct {
            struct member *items;
            size_t count;     /* as in children */
            const char *bson; /* a document of this one value, its name empty */
        } extended;
    } as;
};

struct member {
    struct slice name;
    struct value value;
};

struct record {
    int64_t number; /* i of a data set's record i; -1: it is no data set's */
    struct slice key;
    struct member *fields;
    size_t field_count;
    bool key_in_fields; /* the key is a field of the record too (a file's), not counted twice */
    /* That field, whose text the key is; NULL where it is no field. */
    const struct member *key_field;
};

/* A name that two of the members have, or NULL. */
const struct slice *members_twice(const struct member *members, size_t count, struct arena *arena);

static inline bool value_is_extended(const struct value *value)
{
    return value->type == VALUE_OBJECT && value->extended;
}
/* The document that an extended value keeps. */
struct slice value_extended_bson(const struct value *value);
/* The one text that an extended value (ObjectId, date, decimal) is written as, or NULL where it
 * takes more than one. */
const struct slice *value_extended_text(const struct value *value);

/* Length in bytes of a value's canonical text: a text's own bytes, a number's
 * shortest decimal text, true/false/null; of an array or object the sum over
 * its leaves. This is what payload counts. */
int64_t value_text_length(const struct value *value);

/* The canonical text itself of a leaf (not array, not object), in the arena or
 * borrowed from the value. */
struct slice value_text(const struct value *value, struct arena *arena);

/* A prefix and a number's decimal text, in the arena: "player:42". */
struct slice numbered_text(const char *prefix, int64_t number, struct arena *arena);

/* A copy of the record and of all that it holds, in the arena. */
struct record record_copy(const struct record *record, struct arena *arena);

/* Length of all names inside the value: of an object's members, recursively. */
int64_t value_names_length(const struct value *value);

/* Shortest decimal text that reads back as the same double; out holds 32. */
size_t double_text(double real, char *out);

#endif

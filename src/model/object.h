/* An object: what a store is asked to hold, in neutral terms. A record through
 * an encoding gives one or more; so does a key sampled from a live server. A
 * store turns an object into its wire form; a model turns it into blocks. */
#ifndef TARE_MODEL_OBJECT_H
#define TARE_MODEL_OBJECT_H

#include <stddef.h>
#include <stdint.h>

#include "core/slice.h"

enum object_type {
    OBJECT_STRING,
    OBJECT_HASH,
    OBJECT_LIST,
    OBJECT_SET,
    OBJECT_ZSET,
    OBJECT_STREAM,   /* elements are the fields and values of its entries */
    OBJECT_DOCUMENT, /* a BSON document; _id and key stand in body */
    OBJECT_TREE,     /* a tree of values: body is it in MessagePack (tree.h) */
    OBJECT_JSON      /* a value that is kept as a tree; body is the JSON that it is sent as */
};

/* A hash's field and value; a sorted set's member (name) and score; a list's
 * or set's member (name). Bytes may be NULL where only lengths are known; a
 * number is then told by is_integer. */
struct element {
    struct slice name;
    struct slice value;
    double score;
    bool name_is_integer, value_is_integer; /* set where bytes are NULL; else told from the bytes */
};

/* The bytes that the encoder counted in this object, by account of the stages
 * payload and encoding. Their sum is what the object's content occupies before
 * any store adds to it. */
struct counted {
    int64_t key;
    int64_t values; /* canonical text of the values */
    int64_t field_names;
    int64_t framing;     /* punctuation, headers, types, lengths, the name _id */
    int64_t number_form; /* stored length of numbers less canonical text; may be negative */
    int64_t escapes;
    int64_t compression; /* compressed less plain; negative where it gains */
    int64_t dictionary;  /* all of an object that is kept once for all records */
};

/* An entry of a stream: its ID, and how many of the object's elements are its fields. */
struct stream_entry {
    int64_t milliseconds, sequence;
    size_t elements;
};

enum json_node_type { NODE_PLAIN, NODE_INTEGER, NODE_DOUBLE, NODE_TEXT, NODE_ARRAY, NODE_OBJECT };

/* A value inside an object of type OBJECT_JSON. */
struct json_node {
    enum json_node_type type; /* NODE_PLAIN: null, true, false */
    bool named;               /* a member: it has a name */
    struct slice name;
    struct slice text; /* NODE_TEXT: the text; of numbers and plain ones the length alone */
    int64_t integer;   /* NODE_INTEGER */
    size_t children;   /* of an array or object: values right inside it */
};

int64_t counted_sum(const struct counted *counted);
void counted_add(struct counted *to, const struct counted *from);

/* A secondary index of the collection that a document belongs to. */
struct object_index {
    const char *field; /* its name; of a nested one with full stops: "name.first" */
    bool hashed;
};

struct object {
    enum object_type type;
    struct slice key;
    struct slice body;        /* a string's value; a document's BSON, whole */
    struct element *elements; /* of the other types, in the order of the wire */
    size_t element_count;
    const struct stream_entry *entries; /* of a stream, in order */
    size_t entry_count;
    const struct json_node *nodes; /* OBJECT_JSON: its values, each before those inside it */
    size_t node_count;
    int64_t ttl_seconds; /* 0: none */
    /* True: the elements are added to one object that many records share (YCSB's
     * _indices); the model lets it grow. False: the object is whole and new. */
    bool shared;
    /* True: the elements join those of the objects before it that have the same key, which stand
     * for so many records and end where another key begins; first: it begins one. */
    bool batch, first;
    /* True: kept once however many records there are (an encoding's table); it comes before them.
     */
    bool once;
    /* A document's: the same of every document of a collection; borrowed. */
    const struct object_index *indexes;
    size_t index_count;
    struct counted counted;
};

/* A number that objects with the same element names, in the same order, share (FNV-1a over lengths
 * and bytes; where bytes are NULL, over the lengths): a server's hash seed treats them alike. */
uint64_t object_names_signature(const struct object *object);

#endif

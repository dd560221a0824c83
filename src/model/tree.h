/* A record as a tree of values on its way to a store: MessagePack (msgpack.org),
 * read one node after another, in the order in which they stand. */
#ifndef TARE_MODEL_TREE_H
#define TARE_MODEL_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/slice.h"

enum tree_type {
    TREE_NULL,
    TREE_FALSE,
    TREE_TRUE,
    TREE_INTEGER,
    TREE_REAL,
    TREE_TEXT, /* str and bin: a holder of trees makes no difference */
    TREE_ARRAY,
    TREE_OBJECT /* count pairs of a TREE_TEXT, the name, and a value follow */
};

struct tree_node {
    enum tree_type type;
    int64_t integer;
    double real;
    struct slice text; /* borrowed from what is read */
    size_t count;      /* of an array's elements or an object's members, which follow */
};

struct tree_reader {
    const unsigned char *at, *end;
};

struct tree_reader tree_read(struct slice bytes);
/* The next node; false where the bytes end, or are none of these types. */
bool tree_next(struct tree_reader *reader, struct tree_node *node);

#endif

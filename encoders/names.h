/* A set of names, numbered in the order in which they came, with what a step keeps of each. */
#ifndef TARE_ENCODERS_NAMES_H
#define TARE_ENCODERS_NAMES_H

#include "core/slice.h"

struct name {
    struct slice text;  /* the set's own copy */
    int64_t count;      /* the step's */
    struct slice other; /* the step's; borrowed */
};

/* {0} is an empty one. */
struct names {
    struct name *items;
    size_t count, capacity;
    uint32_t *slots; /* places in items + 1; 0: free */
    size_t slot_count;
};

struct name *names_find(const struct names *names, struct slice text); /* or NULL */
/* Finds or adds. The others move when the set grows; their copies of text stay. */
struct name *names_add(struct names *names, struct slice text);
void names_free(struct names *names);

#endif

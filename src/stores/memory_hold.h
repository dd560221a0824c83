/* The process that holds records in its own heap for the memory store: one map
 * of jansson, filled over a unix socket. */
#ifndef TARE_STORES_MEMORY_HOLD_H
#define TARE_STORES_MEMORY_HOLD_H

#include <stdint.h>

#include "core/error.h"

/* A request: this head, the key and the body. Both ends are on one machine. */
enum hold_request {
    HOLD_BYTES,  /* keep the body as a string under the key */
    HOLD_TREE,   /* keep the tree that the body is (model/tree.h) */
    HOLD_REMOVE, /* the key and its value */
    HOLD_FLUSH,  /* reply: uint64_t, how many were kept so far */
    HOLD_READ,   /* look each key up and read all of its value; reply: uint64_t, how many */
    /* Of workloads; the reply is a byte, whether the key was there: */
    HOLD_GET,          /* read all of the key's value */
    HOLD_CHANGE_BYTES, /* the key's string becomes the body */
    HOLD_CHANGE_TREE,  /* what differs of the key's tree becomes as in the body */
    HOLD_ADD_BYTES,    /* as HOLD_BYTES, HOLD_TREE */
    HOLD_ADD_TREE,
    HOLD_FIGURES, /* reply: uint64_t length, then "NAME NUMBER" lines */
};

struct hold_head {
    uint32_t request; /* enum hold_request */
    uint32_t key_length, body_length;
};

/* Listens at the path, and serves connections until the first one ends. */
int memory_hold(const char *socket_path, struct tare_error *error);

#endif

/* Blocks: allocations that a build makes for objects. A block has a kind, a
 * requested size and parts, each part belonging to one account; CONTENT is the
 * part that the encoder counted already. */
#ifndef TARE_MODEL_BLOCK_H
#define TARE_MODEL_BLOCK_H

#include "model/account.h"
#include "model/build.h"

/* An allocator's model: what a request of this many bytes occupies. */
struct allocator;

struct allocator_kind {
    const char *name;        /* "jemalloc" */
    const char *explanation; /* one line: source and versions */
    bool (*fits)(const struct build *build);
    /* Bytes that the build's total (used_memory, current_allocated_bytes) counts for the request.
     */
    int64_t (*usable)(const struct build *build, int64_t requested);
    /* Bytes outside that total a block (glibc's header); may be NULL. */
    int64_t (*header)(const struct build *build, int64_t requested);
};

extern const struct allocator_kind
    *const allocator_kinds[]; /* NULL-terminated; the last one fits all */
const struct allocator_kind *allocator_of(const struct build *build);
/* Whether used_memory on glibc is of what was asked for, with a prefix, not of usable sizes. */
bool allocator_counts_requests(const struct build *build);
int allocator_kinds_check(struct tare_error *error);

/* The blocks of a model so far: sums by account, and a histogram of requested
 * sizes. Counts are real numbers, since a model may speak of an expected
 * number of blocks (skip-list levels); sums are rounded when they are read. */
struct block_class {
    const char *kind; /* constant text: "sds", "dictEntry" */
    int64_t requested;
    int64_t usable;
    int64_t header; /* outside the total */
    double count;
};

struct blocks {
    const struct build *build;
    const struct allocator_kind *allocator;
    double content;   /* CONTENT parts in all */
    double sums[128]; /* by account place; rounding kept apart from parts */
    double rounding;  /* usable - requested, all blocks */
    double headers;   /* outside the total */
    double unwritten; /* bytes inside requests that were never written: room at a block's end */
    double block_count;
    struct block_class *classes; /* open addressing by (kind, requested) */
    size_t class_count, class_size;
};

void blocks_open(struct blocks *blocks, const struct build *build);
void blocks_free(struct blocks *blocks);

/* A part of a block; account NULL means CONTENT. */
struct part {
    const struct account *account;
    int64_t bytes;
};

/* Adds `count` equal blocks. The requested size is the sum of the parts. */
void blocks_add(struct blocks *blocks, const char *kind, double count, const struct part *parts,
                size_t part_count);
/* Shorthand: content bytes + structure bytes of one account. */
void blocks_add_plain(struct blocks *blocks, const char *kind, double count, int64_t content,
                      const struct account *account, int64_t structure);
/* Bytes of content that no block holds, and that the account makes up for: it is negative. */
void blocks_absent(struct blocks *blocks, double count, int64_t bytes,
                   const struct account *account);
/* text_length bytes of content that no block holds: integer form shrinks by as much as content
 * grows. What an integer does occupy is a CONTENT part of its block, and not in text_length. */
void blocks_integer_form(struct blocks *blocks, double count, int64_t text_length);
/* Bytes of them all that the build's total counts. */
double blocks_total(const struct blocks *blocks);
/* The same blocks `factor` times: for scaling a sample. */
void blocks_scale(struct blocks *blocks, double factor);
void blocks_merge(struct blocks *to, const struct blocks *from);

#endif

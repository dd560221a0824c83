/* The MongoDB model's own header: what mongodb.c and mongodb_index.c share. */
#ifndef TARE_MODEL_MONGODB_H
#define TARE_MODEL_MONGODB_H

#include "model/model.h"

/* Sizes of WiredTiger's structures on 64-bit machines, a row a version range; the headers are those
 * of the WiredTiger that the MongoDB release carries (src/third_party/wiredtiger/src/include). */
struct mongodb_layout {
    int first, last;           /* MongoDB versions, as version_number() */
    const char *verified;      /* on which server; NULL: on none */
    int update;                /* WT_UPDATE_SIZE, btmem.h: the struct up to its data */
    int page;                  /* WT_PAGE, btmem.h */
    int page_modify;           /* WT_PAGE_MODIFY, btmem.h */
    int ref;                   /* WT_REF, btmem.h */
    int insert_head;           /* WT_INSERT_HEAD, btmem.h: 10 heads and 10 tails */
    int instantiated_key;      /* WT_IKEY, btmem.h: the struct before the key */
    int address;               /* WT_ADDR, btmem.h */
    int multi;                 /* WT_MULTI, reconcile.h / btmem.h */
    int transaction_operation; /* WT_TXN_OP, txn.h */
    int statistics; /* WT_DSRC_STATS of one table, stat.h: counters x 8 x WT_COUNTER_SLOTS */
    int prefix_minimum_run; /* WT_KEY_PREFIX_PREVIOUS_MINIMUM, reconcile.h; 0: neighbours alone */
};

/* WT_PAGE_HEADER (28, btmem.h) and the block header (12, block.h) head each page image. */
#define MONGODB_IMAGE_HEADER 40
/* A skip list's node: WT_INSERT (btmem.h) is 16 bytes and 8 a level, then the key. Each further
 * level has a chance of one in four (WT_SKIP_PROBABILITY), ten at most (WT_SKIP_MAXDEPTH; misc.h).
 */
#define MONGODB_INSERT      16
#define MONGODB_LEVEL       8
#define MONGODB_LEVELS_MOST 10
#define MONGODB_LEVELS_MEAN (4.0 / 3)
double mongodb_level_share(int level); /* of nodes that have exactly this many levels */

/* Sessions that a load writes with: the loader's writers (stores/mongodb.h). */
#define MONGODB_SESSIONS 2

/* Length of an unsigned integer in WiredTiger's packed form (intpack_inline.h). */
int mongodb_packed_length(uint64_t number);

/* --- An index, simulated on its keys (mongodb_index.c) --- */

struct mongodb_index;

/* account: which all of its blocks belong to. */
struct mongodb_index *mongodb_index_open(const struct mongodb_layout *layout, bool in_memory,
                                         const struct account *account);
void mongodb_index_close(struct mongodb_index *index);
/* A key as WiredTiger gets it, and the length of its value. batch: number of the server's batch,
 * ascending: entries of the running one are put back as inserts when their page is reconciled. */
void mongodb_index_insert(struct mongodb_index *index, struct slice key, int value_length,
                          uint32_t batch);
/* Its blocks. */
void mongodb_index_blocks(const struct mongodb_index *index, bool checkpointed,
                          struct blocks *blocks);

/* Where the server reconciles pages on its own account (evicting updates beyond its target), which
 * page when is its choice: then what the index has come to is told by these counts. */
struct mongodb_index_state {
    double unreconciled; /* entries that are still inserts */
    double heads;        /* slots with inserts */
    double instantiated; /* rows whose keys were instantiated */
    double modified;     /* pages with WT_PAGE_MODIFY and an insert array */
    double resident;     /* pages whose image is in the cache; < 0: all */
};
/* Its blocks for `records` keys in that state. */
void mongodb_index_blocks_in(const struct mongodb_index *index,
                             const struct mongodb_index_state *state, double records,
                             struct blocks *blocks);
/* Pages of images that so many reconciled keys make; mean length of a key. */
double mongodb_index_images(const struct mongodb_index *index, double keys);
double mongodb_index_key_length(const struct mongodb_index *index);
int mongodb_index_value_length(const struct mongodb_index *index); /* the largest */
/* How many of the blocks of one unreconciled entry (its update and its insert) are of this class.
 */
double mongodb_index_entry_blocks(const struct mongodb_index *index,
                                  const struct allocator_kind *allocator, const struct build *build,
                                  int64_t usable);

#endif

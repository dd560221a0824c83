/* What a server build is: all that a model needs to know of it. Found by a
 * store from a running server (INFO, buildInfo, MALLOC-STATS), or given by the
 * user as a version ("redis=7.0.15,allocator=jemalloc-5.3.0,quantum=16"). */
#ifndef TARE_MODEL_BUILD_H
#define TARE_MODEL_BUILD_H

#include "core/error.h"
#include "core/figures.h"

struct build {
    char store[16];      /* the server's KIND: "redis", "valkey", "mongodb", "null" */
    char version[32];    /* "7.0.15" */
    int number;          /* 7 * 10000 + 0 * 100 + 15 */
    char allocator[32];  /* "jemalloc-5.3.0", "libc", "tcmalloc" */
    char engine[16];     /* "memory", "disk"; "" where a store has no engines */
    int quantum;         /* jemalloc: smallest spacing, 8 or 16; 0: not known yet */
    int page_size;       /* jemalloc's page: 4096, 65536 */
    int cache_oblivious; /* jemalloc pads blocks of 16 KiB and more by a page: 1, 0; -1: not known
                            yet */
};

/* "7.0.15" -> 70015; -1 where it is no version. */
int version_number(const char *version);

/* Fills what is implied by store, version and allocator: the allocator that
 * upstream bundles where none is given, its quantum, page and padding. Members
 * that are known already stay as they are (cache_oblivious counts as known
 * where quantum is known and it is not -1). */
void build_defaults(struct build *build);

/* Corrects the build by what the server shows of itself (MALLOC-STATS): the
 * version of the allocator that is really loaded, its quantum by its bins, its
 * page and padding. Pure. What the figures don't tell is filled by
 * build_defaults(). */
void build_refine(struct build *build, const struct figures *figures);

/* 5.3.0 of "jemalloc-5.3.0" as 50300; 0 where the allocator is another one. */
int build_jemalloc(const struct build *build);

/* Server settings and state inputs that a model uses, by name: figures of text
 * or integer type ("hash-max-listpack-value" = 64). */

#endif

/* A census of keys: which of them stand more than once. Exact but for two keys of the same 128
 * bits, and of bounded memory: what is more goes sorted into a temporary file. */
#ifndef TARE_DATA_CENSUS_H
#define TARE_DATA_CENSUS_H

#include <stdint.h>
#include <stdio.h>

#include "core/error.h"
#include "core/slice.h"

struct census_entry {
    uint64_t high, low; /* of the key */
    int64_t number;     /* of its holder */
};

struct census {
    struct census_entry *entries; /* the run that is being filled */
    size_t count, capacity;
    FILE *runs; /* those before it, each CENSUS_RUN entries, sorted */
    int64_t run_count;
};

/* Numbers ascend from call to call. */
int census_add(struct census *census, struct slice key, int64_t number, struct tare_error *error);
/* Calls `twice` for each number whose key a smaller one has already, with the smallest that has it;
 * in no order of the numbers. Ends where it returns other than 0, with that. */
int census_end(struct census *census,
               int (*twice)(void *context, int64_t number, int64_t first, struct tare_error *error),
               void *context, struct tare_error *error);
void census_free(struct census *census);

#endif

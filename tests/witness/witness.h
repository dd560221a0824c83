/* The counters that the witness keeps in a mapped file, for any reader at any time: no signal and
 * no command disturbs the server. Numbers are in the machine's order. compare.py reads the same. */
#ifndef TARE_TESTS_WITNESS_H
#define TARE_TESTS_WITNESS_H

#include <stdint.h>

#define WITNESS_MAGIC INT64_C(0x3173736e74697754) /* "Twitnss1" */
/* Requests below this have a counter each; larger ones a row each in a table of their own. */
#define WITNESS_SMALL 65536
#define WITNESS_LARGE 8192

struct witness_large {
    int64_t requested; /* 0: unused */
    int64_t blocks;
};

struct witness_counters {
    int64_t magic;
    int64_t blocks, bytes;                     /* live: as many calls that are not freed yet */
    int64_t lost;                              /* blocks that found no place in a table: none */
    int64_t small[WITNESS_SMALL];              /* live blocks by requested bytes */
    struct witness_large large[WITNESS_LARGE]; /* in no order */
};

#endif

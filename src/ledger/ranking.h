/* Encodings beside each other: cells of the same records in the same state,
 * ranked by what they take, each against the plain one. */
#ifndef TARE_LEDGER_RANKING_H
#define TARE_LEDGER_RANKING_H

#include "ledger/ledger.h"

struct ranked {
    const struct cell *cell;
    const struct ledger *ledger;
    int64_t rank;      /* from 1; the same where bytes are */
    int64_t bytes;     /* of all records */
    double per_record; /* bytes */
    double ratio;      /* to the plain one; 0 where that has no bytes */
    double difference; /* bytes a record, less the plain one's */
};

/* All borrowed from the report but for the items, which are in ascending order of bytes. */
struct ranking {
    const char *dataset, *state;
    int64_t records;
    const struct account *account; /* what is compared: total.resident where every cell has it, else
                                      total.allocated */
    const struct ranked *plain;    /* one of the items */
    struct ranked *items;
    size_t count, capacity;
};

struct rankings {
    struct ranking *items;
    size_t count, capacity;
};

/* A ranking for each data set, number of records and state in which the report has cells of
 * different encodings, in the report's order. Plain is the first cell in that order whose encoding
 * has no options, and no step, or one that writes a record out as it is (json, value); where there
 * is none, the first cell. Free with rankings_free(). */
void rankings_of(const struct report *report, struct rankings *rankings);
void rankings_free(struct rankings *rankings);

#endif

/* Data sets: a generator or a file. Record i is a pure function of (data set,
 * options, seed, i). One kind is one file that ends in one const struct, and a
 * line in dataset.c's table. */
#ifndef TARE_DATA_DATASET_H
#define TARE_DATA_DATASET_H

#include "core/error.h"
#include "core/options.h"
#include "data/record.h"

struct dataset;

struct dataset_kind {
    const char *name;    /* "ycsb" */
    const char *summary; /* one line for `tare list datasets` */
    const char *example; /* "ycsb:fieldcount=10,fieldlength=100" */
    const struct option_spec *options;
    size_t
        state_size; /* of the kind's own struct, zeroed before open; options are parsed into it */
    /* A record is one value under its key (kv): a shape of bytes holds it as it is. */
    bool single_value;
    /* Options are in dataset->state already (defaults set by `defaults`, texts freed by dataset.c).
     */
    void (*defaults)(void *state);
    int (*open)(struct dataset *dataset, struct tare_error *error);
    int (*read)(struct dataset *dataset, int64_t index, struct arena *arena, struct record *record,
                struct tare_error *error);
    void (*close)(struct dataset *dataset); /* may be NULL */
    /* What the options mean, for people: "10 fields x 100 bytes"; the caller frees. NULL: none. */
    char *(*describe)(const struct dataset *dataset);
};

struct dataset {
    const struct dataset_kind *kind;
    char *text;  /* as given: "ycsb:fieldcount=20" */
    void *state; /* the kind's own */
    uint64_t seed;
    int64_t count; /* records it has; -1: endless */
};

/* Opens "NAME[:k=v,...]"; the caller closes with dataset_close(). */
struct dataset *dataset_open(const char *text, uint64_t seed, struct tare_error *error);
int dataset_read(struct dataset *dataset, int64_t index, struct arena *arena, struct record *record,
                 struct tare_error *error);
void dataset_close(struct dataset *dataset);

/* The table, NULL-terminated; and the start-up check that rejects an entry with
 * a missing member or a name twice. */
extern const struct dataset_kind *const dataset_kinds[];
int dataset_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests; examples are opened by the real table's names. */
int dataset_table_check(const struct dataset_kind *const kinds[], struct tare_error *error);

#endif

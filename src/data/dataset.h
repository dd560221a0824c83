/* Data sets: a generator or a file. Record i of a generator is a pure function
 * of (data set, options, seed, i), and there is no last one; a file has as many
 * as it has, and where more are asked for its values go round under fresh keys.
 * One kind is one file that ends in one const struct, and a line in dataset.c's
 * table. */
#ifndef TARE_DATA_DATASET_H
#define TARE_DATA_DATASET_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/options.h"
#include "data/record.h"

struct dataset;

/* How far a file is looked into before its records are read. */
enum dataset_survey {
    DATASET_COUNT, /* how many there are */
    DATASET_KEYS,  /* and that no key stands twice: before they go where keys are told apart */
    DATASET_CHECK  /* and that there is nothing bad among them: before anything is loaded */
};

struct dataset_kind {
    const char *name;    /* "ycsb" */
    const char *summary; /* one line for `tare list datasets` */
    const char *example; /* "ycsb:fieldcount=10,fieldlength=100" */
    const struct option_spec *options;
    /* A path stands behind the name, and options behind that: dataset->path. The example is then
     * not opened when the table is checked. */
    bool takes_path;
    size_t
        state_size; /* of the kind's own struct, zeroed before open; options are parsed into it */
    /* A record is one value under its key (kv): a shape of bytes holds it as it is. */
    bool single_value;
    /* Options are in dataset->state already (defaults set by `defaults`, texts freed by dataset.c).
     */
    void (*defaults)(void *state);
    int (*open)(struct dataset *dataset, struct tare_error *error);
    /* Returns 0, -1, or DATASET_END where the data set is streamed and has no record `index`. */
    int (*read)(struct dataset *dataset, int64_t index, struct arena *arena, struct record *record,
                struct tare_error *error);
    /* The key of record `index` alone, in the arena, where that costs less than the record; may be
     * NULL. */
    struct slice (*key)(const struct dataset *dataset, int64_t index, struct arena *arena);
    /* Of a file, else NULL: reads up to `records` records ahead (DATASET_ALL: all of them), and
     * takes their number into dataset->count where the end was reached. */
    int (*survey)(struct dataset *dataset, int64_t records, enum dataset_survey survey,
                  struct tare_error *error);
    /* Appends lines for people: what was left out, goes round, was put aside. May be NULL. */
    void (*notes)(const struct dataset *dataset, struct buffer *lines);
    void (*close)(struct dataset *dataset); /* may be NULL */
    /* What the options mean, for people: "10 fields x 100 bytes"; the caller frees. NULL: none. */
    char *(*describe)(const struct dataset *dataset);
};

/* For a number of records: as many as the data set has, or is usually taken for. */
#define DATASET_ALL (-1)
#define DATASET_END 1

struct dataset {
    const struct dataset_kind *kind;
    char *text;  /* as given: "ycsb:fieldcount=20" */
    char *path;  /* where the kind takes one */
    void *state; /* the kind's own */
    uint64_t seed;
    int64_t usual_records; /* of a generator: taken where no number is given */
    int64_t count;         /* records that a file has; -1: endless, or not known yet */
    int64_t wanted;        /* as dataset_prepare() found it; -1 before */
    /* Set by the caller before the first read: records are read in their order, each once, until
     * DATASET_END. */
    bool streamed;
    /* By open: someone named the field that the key is, so that no key may stand twice, whatever
     * becomes of the records. */
    bool key_named;
    /* Asked now and then in long work, where not NULL: -1 ends it. */
    int (*interrupted)(struct tare_error *error);
};

/* Opens "NAME[:k=v,...]"; the caller closes with dataset_close(). Nothing is read of a file yet. */
struct dataset *dataset_open(const char *text, uint64_t seed, struct tare_error *error);
/* Before any of `*records` records is read: settles their number where that is DATASET_ALL, and
 * surveys a file. */
int dataset_prepare(struct dataset *dataset, int64_t *records, enum dataset_survey survey,
                    struct tare_error *error);
/* Any record, in any order; in their order is the fastest for a file. */
int dataset_read(struct dataset *dataset, int64_t index, struct arena *arena, struct record *record,
                 struct tare_error *error);
/* Appends what there is to say of what was read so far, a line each. */
void dataset_notes(const struct dataset *dataset, struct buffer *lines);
void dataset_close(struct dataset *dataset);

/* How many records stand for `records`, and the index of the i-th of them: all, where that isn't
 * more than `all`; else some `sample`, evenly spread. Of a file all records that it has; where they
 * go round, whole rounds of them, with keys from first to last. */
int64_t dataset_sample_size(const struct dataset *dataset, int64_t records, int64_t all,
                            int64_t sample);
int64_t dataset_sample_index(const struct dataset *dataset, int64_t records, int64_t sampled,
                             int64_t i);
/* i * whole / parts without leaving int64_t: the i-th of `parts` places spread over `whole`. */
int64_t dataset_spread(int64_t whole, int64_t parts, int64_t i);

/* The table, NULL-terminated; and the start-up check that rejects an entry with
 * a missing member or a name twice. */
extern const struct dataset_kind *const dataset_kinds[];
int dataset_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests; examples are opened by the real table's names.
 */
int dataset_table_check(const struct dataset_kind *const kinds[], struct tare_error *error);

#endif

/* Ledgers: the bytes by account, closed and checked. Everything is int64_t;
 * whatever the model missed is an account of its own with its sign. */
#ifndef TARE_LEDGER_LEDGER_H
#define TARE_LEDGER_LEDGER_H

#include "core/error.h"
#include "core/figures.h"
#include "ledger/workload.h"
#include "model/model.h"

struct ledger_row {
    const struct account *account;
    enum basis basis;
    int64_t bytes;
    int64_t low, high; /* where has_range (plan) */
    bool has_range;
    double marginal; /* bytes a record, where has_marginal */
    bool has_marginal;
    int64_t spread_low, spread_high; /* over --repeat runs, where has_spread */
    bool has_spread;
};

/* Blocks that the model says are there: so many of one kind and one requested size. */
struct ledger_block {
    char *kind; /* "sds", "dictEntry" */
    int64_t requested;
    double count; /* an expected number; negative where the base holds one that is gone */
};

/* A note that acts: what would make the cell smaller, by the model. Its text is one of the notes.
 */
struct ledger_advice {
    char *kind;   /* "size class" */
    size_t note;  /* its place among the ledger's notes */
    char *change; /* what to weigh instead: an encoding, or a setting as --set takes it; NULL */
    int64_t saved, saved_resident; /* bytes of total.allocated and total.resident, all records */
};

/* One closed ledger: a cell in one state. Rows are in account order. */
struct ledger {
    char *state; /* "settled" */
    struct ledger_row *rows;
    size_t count, capacity;
    int64_t records;        /* that were there, where they aren't the cell's; 0 elsewhere */
    char *settings;         /* in this state, where they aren't the cell's; NULL elsewhere */
    struct figures inputs;  /* state inputs: NAME, NAME.source */
    struct figures samples; /* raw figures of this state */
    struct figures base;    /* and of its base, where that isn't the cell's */
    struct evidence evidence;
    char *evidence_source; /* owned text behind evidence.source where it was read from a file */
    struct ledger_block *blocks; /* by kind and requested size */
    size_t block_count, block_capacity;
    int64_t subtotal; /* figure on the way; 0: none */
    char *subtotal_name;
    char **notes;
    size_t note_count, note_capacity;
    struct workload *workload;    /* of the step that led here; owned; NULL: it was none */
    struct ledger_advice *advice; /* the most saved first */
    size_t advice_count, advice_capacity;
    /* plan only */
    int64_t peak_allocated;
    struct table_step steps[4];
    size_t step_count;
};

/* Closes an empty ledger: counted (payload and encoding) + prediction + measurement -> rows with
 * both residuals and totals, and the notes of both. An account that holds nothing has no row, but
 * for key, values, residuals, totals and base. The prediction's blocks are kept. Where resident
 * memory can't be seen the ledger ends at total.allocated. measurement NULL: a prediction (plan),
 * modelled but for what is counted, with the ranges, the peak and the table steps. Where measured,
 * the stage server is the measurement's alone: what the prediction says of it is left out. */
void ledger_close(struct ledger *ledger, const char *state, const struct counted *counted,
                  const struct prediction *prediction, const struct measurement *measurement);
/* Puts a row into its place in account order, and returns it (until the next call). Rows of one
 * account and one basis become one, summed; of another basis they stay two, which
 * ledger_check rejects. */
struct ledger_row *ledger_put(struct ledger *ledger, const struct account *account,
                              enum basis basis, int64_t bytes);
/* The contract's checks (exact sums, allowed bases, uniqueness, order, residual and base rows,
 * ranges). 0 where all hold, else -1, and the error says which is broken in this state, without
 * naming the ledger: for files that were read. */
int ledger_fault(const struct ledger *ledger, struct tare_error *error);
/* The same of a ledger that tare closed itself, where a fault is one of tare's own; runs on every
 * ledger before output. */
int ledger_check(const struct ledger *ledger, struct tare_error *error);
const struct ledger_row *ledger_find(const struct ledger *ledger, const struct account *account);
int64_t ledger_bytes(const struct ledger *ledger,
                     const struct account *account); /* 0 where missing */
/* Adds blocks; the kind is copied. */
void ledger_add_block(struct ledger *ledger, const char *kind, int64_t requested, double count);
void ledger_note(struct ledger *ledger, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a note that acts; the texts are copied, change may be NULL. What saves more goes first. */
void ledger_advise(struct ledger *ledger, const char *kind, const char *text, const char *change,
                   int64_t saved, int64_t saved_resident);
/* The advice whose text is note `note`, or NULL. */
const struct ledger_advice *ledger_advice_of(const struct ledger *ledger, size_t note);
void ledger_free(struct ledger *ledger);

/* Shares, >= 0. Of allocated: |unattributed.allocated| / total.allocated. Of resident: the sum of
 * both magnitudes / total.resident; -1 where there is no such total. */
double ledger_share_allocated(const struct ledger *ledger);
double ledger_share_resident(const struct ledger *ledger);

/* A report's headline, in bytes of allocated memory. */
struct headline {
    int64_t predicted; /* total.allocated less what the model missed */
    int64_t measured;
    double missed; /* (measured - predicted) / measured, with its sign; 0 where measured is 0 */
    bool has_predicted; /* false for a store without a block model */
    bool has_measured;  /* false in plan, and where the server has no such figure */
};
struct headline ledger_headline(const struct ledger *ledger);
int64_t ledger_stage(const struct ledger *ledger, enum stage stage); /* sum of a stage's rows */
/* True where no server was measured: a total is modelled. */
bool ledger_is_prediction(const struct ledger *ledger);

struct checkpoint {
    int64_t records;
    int64_t allocated, resident; /* growth over the base; resident -1 where it can't be seen */
    struct counted counted;
    double seconds;
    struct sums modelled; /* structure and rounding rows at this point */
};

/* One cell: an encoding x server x data set x N x settings. */
struct cell {
    char *name;
    struct build build;
    char *encoding, *dataset;
    int64_t records; /* at the end of its steps */
    char *settings;  /* "hash-max-listpack-value=128 ..." : NAME=VALUE with blanks between; state
                        inputs among them */
    bool complete;
    bool predicted; /* by plan, without a server */
    char *error;    /* why it broke; NULL where complete */
    struct ledger *states;
    size_t state_count, state_capacity;
    struct checkpoint *checkpoints;
    size_t checkpoint_count, checkpoint_capacity;
    struct figures base; /* raw figures of the base */
    double load_seconds, client_cpu_seconds, server_cpu_seconds;
    double encode_ns, decode_ns; /* processor time a record, median; 0: not known */
    int64_t repeats;
    char *dataset_summary; /* what the data set's options mean: "10 fields x 100 bytes"; may be NULL
                            */
};

/* Of a ledger of this cell: its own, or else the cell's. Settings are never NULL. */
int64_t ledger_records(const struct cell *cell, const struct ledger *ledger);
/* That its first state has: what was loaded. */
int64_t cell_loaded_records(const struct cell *cell);
const char *ledger_settings(const struct cell *cell, const struct ledger *ledger);

/* The cost of one more record: the median of the differences between successive checkpoints,
 * each over its records, into the marginals of the totals and of counted and modelled accounts, in
 * the states that the load leads to (loaded, settled). Differences in which a table that grows by
 * doubling stepped are left out as long as others are there: a step is no cost of one record.
 * Without two checkpoints that differ in records there is no marginal. */
void cell_marginals(struct cell *cell);
void cell_free(struct cell *cell);

/* All of a run. */
struct report {
    char *command_line; /* passwords replaced */
    char *created;      /* ISO 8601, UTC */
    char *tare_version;
    int64_t seed;
    bool seed_unknown;          /* read from a CSV, which has none */
    struct figures environment; /* kernel, page size, transparent huge pages, cgroup limit, swap */
    struct cell *cells;
    size_t count, capacity;
};
struct cell *report_add_cell(struct report *report); /* pointers to cells move */
void report_free(struct report *report);
/* A cell by name, by a part that only its name has, or (name NULL) the only one. The error lists
 * the candidates. */
const struct cell *report_find(const struct report *report, const char *name,
                               struct tare_error *error);
/* Every ledger's checks, and that (cell, state) is unique. The error names the cell; it is one of
 * tare's own, unless the report was read from a file. */
int report_check(const struct report *report, struct tare_error *error);

/* The gap by account between two ledgers: rows of both in account order. */
struct gap_row {
    const struct account *account;
    bool in_a, in_b;
    enum basis basis_a, basis_b;
    double a, b;              /* bytes a record; 0 where there are no records */
    int64_t bytes_a, bytes_b; /* of all records */
};
/* A figure that others publish, on both sides. */
struct gap_figure {
    const struct published *published;
    bool in_a, in_b;
    int64_t a, b; /* bytes in all, the empty server included */
};
struct gap {
    struct gap_row *rows;
    size_t count, capacity;
    struct gap_figure *figures; /* those of allocated, then of resident, then of the disk */
    size_t figure_count, figure_capacity;
};
/* The caller frees with gap_free(). */
void gap_of(const struct cell *a, const struct ledger *state_a, const struct cell *b,
            const struct ledger *state_b, struct gap *gap);
void gap_free(struct gap *gap);

#endif

/* Models: pure functions from (build, settings, objects, N) to bytes by
 * account. One store family's model is one file (or folder) that ends in one
 * const struct, and one line in model.c's table. */
#ifndef TARE_MODEL_MODEL_H
#define TARE_MODEL_MODEL_H

#include "core/figures.h"
#include "model/block.h"
#include "model/object.h"

struct model_kind;

/* One account of a prediction or of a measurement. */
struct amount {
    const struct account *account;
    enum basis basis;
    int64_t bytes;
    int64_t low, high; /* the range, where has_range */
    bool has_range;
};

struct amounts {
    struct amount *items;
    size_t count, capacity;
};

void amounts_add(struct amounts *amounts, const struct account *account, enum basis basis,
                 int64_t bytes);
void amounts_add_range(struct amounts *amounts, const struct account *account, enum basis basis,
                       int64_t bytes, int64_t low, int64_t high);
int64_t amounts_sum(const struct amounts *amounts);
void amounts_free(struct amounts *amounts);

/* A step of a table that grows with the number of keys. */
struct table_step {
    int64_t records;     /* at the insertion of this record */
    int64_t bytes;       /* allocated grows by this at once */
    int64_t freed_after; /* and shrinks by the old table once the rehash is done */
};

struct prediction {
    struct amounts amounts; /* structure and rounding (and server where modelled): what allocated
                               adds to counted */
    int64_t allocated;      /* counted + amounts */
    int64_t allocated_low, allocated_high;
    /* For plan: allocator and process stage, to resident; all modelled. */
    struct amounts resident_amounts;
    int64_t resident, resident_low, resident_high;
    int64_t freed; /* of blocks that are gone since they were written, rounded: room in slabs */
    int64_t
        peak_allocated; /* while the key table rehashes last below N; 0 where the store has none */
    struct table_step steps[4]; /* the next ones above N */
    size_t step_count;
    struct blocks blocks; /* evidence */
    char notes[8][256];   /* warnings: "layout verified on no build", ... */
    size_t note_count;
};

void prediction_note(struct prediction *prediction, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void prediction_free(struct prediction *prediction);

/* What was measured, as growth over the base. */
struct measurement {
    struct amounts amounts; /* stages server, allocator, process */
    bool has_allocated, has_resident;
    int64_t allocated, resident;           /* growth: the totals */
    int64_t base_allocated, base_resident; /* the base's own figures */
    int64_t subtotal; /* a figure on the way (WiredTiger's cache without its 8 %); 0: none */
    const char *subtotal_name;
    char notes[8][256]; /* "part of the data was evicted: ..." */
    size_t note_count;
};

void measurement_note(struct measurement *measurement, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void measurement_free(struct measurement *measurement);

/* Blocks predicted beside blocks counted, a size class a row. */
struct evidence_row {
    int64_t size;
    int64_t predicted, counted;
};

struct evidence {
    const char *source; /* "MEMORY MALLOC-STATS bins" */
    struct evidence_row *rows;
    size_t count, capacity;
};

/* The row of the size, a new one of zeros where there is none yet; until the next call. */
struct evidence_row *evidence_row(struct evidence *evidence, int64_t size);
void evidence_sort(struct evidence *evidence); /* by size */
void evidence_free(struct evidence *evidence);

/* Every model begins with this. */
struct model {
    const struct model_kind *kind;
    struct build build;
};

/* A figure of the samples that others publish as the memory, or the disk, that data takes: as the
 * server or the kernel shows it, the empty server included. */
struct published {
    const char *name;       /* in its source's words: "used_memory" */
    const char *figures[2]; /* names of samples: the first that is there; the second may be NULL */
    int64_t unit;           /* bytes that one of it is */
    const struct account *total; /* what it is held beside; NULL: it is of the disk */
    bool logical; /* the length of the data alone: no memory, though it is taken for that */
};

extern const struct model_kind *const model_kinds[]; /* NULL-terminated */
int model_kinds_check(struct tare_error *error);
const struct model_kind *model_kind_of(const struct build *build); /* or NULL */
/* The figure in bytes; false where the samples don't have it. */
bool published_bytes(const struct published *published, const struct figures *samples,
                     int64_t *bytes);
/* Opens the model that fits the build; an error names the models there are. */
struct model *model_open(const struct build *build, const struct figures *settings,
                         struct tare_error *error);
void model_close(struct model *model);
/* Asks the model that fits the build whether it takes objects of the type. */
int model_takes(const struct build *build, enum object_type type, struct tare_error *error);

/* A setting up to which an object keeps its small form. */
struct model_limit {
    const char *what; /* constant: "listpack limit" */
    char setting[48]; /* "hash-max-listpack-value" */
    int64_t value;
    bool of_elements; /* of their number; else of the length of each */
};
#define MODEL_LIMITS_MAX 4

/* A setting that no server has: bytes of memory of the machine that is planned for. */
#define MODEL_MACHINE_MEMORY "machine.memory_bytes"

struct model_kind {
    const char *name;        /* "redis" */
    const char *explanation; /* one line for `tare list models` */
    bool (*fits)(const struct build *build);
    const struct published *published; /* ends with {0}; NULL: none */
    /* Whether the build can hold objects of the type at all; an error says since when it could. May
     * be NULL: it can. */
    int (*takes)(const struct build *build, enum object_type type, struct tare_error *error);
    /* settings: server settings by their own names and state inputs ("state." + name);
     * those missing take the build's defaults. */
    struct model *(*open)(const struct build *build, const struct figures *settings,
                          struct tare_error *error);
    /* Takes an object into the sums. May be called on every record, or on an
     * evenly spread sample of them. */
    int (*add)(struct model *model, const struct object *object, struct tare_error *error);
    /* The objects to come are written over a new connection, where that leaves a trace in them. May
     * be NULL: it doesn't. */
    void (*connected)(struct model *model);
    /* Sums for `records` records, of which `sampled` were added; counted: bytes of the stages
     * payload and encoding of all `records`. inputs: state inputs by name, each optional. May be
     * called more than once while records are added (checkpoints); *prediction is filled anew. */
    int (*predict)(struct model *model, int64_t sampled, int64_t records, int64_t counted,
                   const struct figures *inputs, struct prediction *prediction,
                   struct tare_error *error);
    /* From figures read before and after to measured accounts: the stages server,
     * allocator and process; totals go into the struct. Pure. */
    int (*measure)(struct model *model, const struct figures *base, const struct figures *end,
                   const struct prediction *prediction, struct measurement *measurement,
                   struct tare_error *error);
    /* From figures to the state inputs that predict takes: NAME = value, and "NAME.source" = the
     * figure that it was read from, which is no total. May be NULL: none. */
    int (*state_inputs)(struct model *model, const struct figures *base, const struct figures *end,
                        struct figures *inputs, struct tare_error *error);
    /* True where a state input is told only by writing an object to the server as it now is: after
     * a restart its hash seed is another one. May be NULL: never. */
    bool (*asks_branch)(const struct model *model);
    /* Blocks predicted beside blocks counted, by size class; may be NULL. */
    int (*evidence)(struct model *model, const struct figures *base, const struct figures *end,
                    const struct prediction *prediction, struct evidence *evidence);
    /* The limits by which the form of such an object is chosen (of the whole, where it is a batch's
     * part); returns how many. May be NULL. */
    size_t (*limits)(const struct model *model, const struct object *object,
                     struct model_limit limits[MODEL_LIMITS_MAX]);
    void (*close)(struct model *model);
};

#endif

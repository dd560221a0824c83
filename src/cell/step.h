/* Steps of a cell: load, settle, read, a workload, ... Each closes a ledger of
 * its own, whose label is the state. One kind of step is one file in steps/
 * that ends in one const struct, and a line in step.c's table.
 *
 *   NAME[=VALUE][:k=v...]     workload=a:threads=8/16/32:operations=100k */
#ifndef TARE_CELL_STEP_H
#define TARE_CELL_STEP_H

#include "core/error.h"
#include "core/options.h"
#include "encoders/encoding.h"
#include "stores/store.h"

struct measuring;
struct cell_step;

/* What is known of a cell beforehand: seconds of its load, until it is still, to start a server. */
struct cell_forecast {
    double load, settling, start;
    double round_trip; /* of an operation whose answer is waited for */
    int64_t records;
};

struct cell_step_kind {
    const char *name;    /* "update" */
    const char *state;   /* "updated": the label of the ledger that it closes */
    const char *summary; /* one line for `tare list steps` */
    const char *value;   /* what stands behind "=": "a|b|PATH"; NULL: nothing does */
    /* Of the kind's own struct, zeroed before defaults; options and size 0: it takes none. */
    const struct option_spec *options;
    size_t settings_size;
    void (*defaults)(void *settings);
    /* Looks at value (NULL: none was given) and options, which are parsed already; may give the
     * step another state. May be NULL: a value is an error then. */
    int (*parse)(struct cell_step *step, const char *value, struct tare_error *error);
    /* An error where such a server, or objects of such a kind, don't know the step; may be NULL. */
    int (*check)(const struct cell_step *step, const struct server_spec *server,
                 const struct encoding *encoding, struct tare_error *error);
    /* Done once with the empty server, where its first time leaves traces; may be NULL. */
    int (*rehearse)(struct measuring *measuring, struct tare_error *error);
    int (*run)(struct measuring *measuring, const struct cell_step *step, struct tare_error *error);
    double (*forecast)(const struct cell_step *step, const struct cell_forecast *known);
};

extern const struct cell_step_kind *const cell_step_kinds[]; /* NULL-terminated */
int cell_step_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests. */
int cell_step_table_check(const struct cell_step_kind *const kinds[], struct tare_error *error);
/* What a cell without steps does: load, settle. */
extern const struct cell_step_kind cell_step_load, cell_step_settle;

struct cell_step {
    const struct cell_step_kind *kind;
    char *text;     /* as given, one number of threads alone: "workload=a:threads=8"; owned */
    char *state;    /* of the ledger that it closes; owned, unique in its list */
    void *settings; /* the kind's own; owned */
};

struct cell_steps {
    struct cell_step *items;
    size_t count, capacity;
};

/* Appends a step, or one for each number of threads=8/16/32. what names the source of an error:
 * "--steps". A list begins with load; a state that is in the list already gets a number: "read",
 * "read-2". */
int cell_steps_add(struct cell_steps *steps, const char *text, const char *what,
                   struct tare_error *error);
/* "load,settle,read" of the command line. */
int cell_steps_parse(struct cell_steps *steps, const char *text, struct tare_error *error);
/* An error where such a server doesn't know one of the steps, or isn't tare's to restart. */
int cell_steps_check(const struct cell_steps *steps, const struct server_spec *server,
                     const struct encoding *encoding, struct tare_error *error);
bool cell_steps_have(const struct cell_steps *steps, const struct cell_step_kind *kind);
void cell_steps_free(struct cell_steps *steps);

/* --- For kinds of steps --- */

/* The error of a kind of server that doesn't know the step. */
int cell_step_unknown_to(const struct cell_step *step, const struct server_spec *server,
                         struct tare_error *error);
/* An error where tare doesn't start the server. */
int cell_step_own_server(const struct cell_step *step, const struct server_spec *server,
                         struct tare_error *error);

#endif

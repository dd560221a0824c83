/* Steps of a cell: load, settle, read, ... Each closes a ledger of its own,
 * whose label is the state. */
#ifndef TARE_CELL_STEP_H
#define TARE_CELL_STEP_H

#include "core/error.h"
#include "stores/store.h"

enum step_type { STEP_LOAD, STEP_SETTLE, STEP_READ, STEP_RELOAD, STEP_RESTART, STEP_TYPES };

extern const char *const cell_step_names[];  /* "load", ..., NULL-terminated */
extern const char *const cell_state_names[]; /* "loaded", ... */

struct cell_step {
    enum step_type type;
    char *state; /* of the ledger that it closes; owned, unique in its list */
};

struct cell_steps {
    struct cell_step *items;
    size_t count, capacity;
};

/* Appends a step by its name. what names the source of an error: "--steps". A list begins with
 * load; a state that is in the list already gets a number: "read", "read-2". */
int cell_steps_add(struct cell_steps *steps, const char *name, const char *what,
                   struct tare_error *error);
/* "load,settle,read" of the command line. */
int cell_steps_parse(struct cell_steps *steps, const char *text, struct tare_error *error);
/* An error where such a server doesn't know one of the steps, or isn't tare's to restart. */
int cell_steps_check(const struct cell_steps *steps, const struct server_spec *server,
                     struct tare_error *error);
bool cell_steps_have(const struct cell_steps *steps, enum step_type type);
void cell_steps_free(struct cell_steps *steps);

#endif

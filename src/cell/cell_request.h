/* What is to be weighed: a selection (encodings x servers x a data set x N x
 * settings) multiplied out into requests, one a cell. The corridor is one:
 * `run` measures a request, `plan` predicts it, by the same stations. */
#ifndef TARE_CELL_REQUEST_H
#define TARE_CELL_REQUEST_H

#include "core/error.h"
#include "core/figures.h"
#include "encoders/encoding.h"
#include "ledger/ledger.h"
#include "stores/store.h"

/* A step of a cell; each closes a ledger of its own, whose label is the state. */
enum cell_step {
    CELL_STEP_LOAD,
    CELL_STEP_SETTLE,
    CELL_STEP_READ,
    CELL_STEP_RESTART,
    CELL_STEP_COUNT
};

extern const char *const cell_step_names[];  /* "load", ..., NULL-terminated */
extern const char *const cell_state_names[]; /* "loaded", ... */

#define CELL_STEPS_MAX 16

/* As the command line gives it. All owned. */
struct cell_selection {
    char *dataset;
    int64_t records;
    int64_t seed;
    char **encodings;
    size_t encoding_count, encoding_capacity;
    char **servers;
    size_t server_count, server_capacity;
    struct figures settings; /* --set */
    struct figures given;    /* --given: state inputs for plan */
    enum cell_step steps[CELL_STEPS_MAX];
    size_t step_count; /* 0: one ledger, state settled */
    struct store_limits limits;
};

struct cell_request {
    const struct cell_selection *selection;
    struct encoding *encoding;
    struct server_spec server;
    /* Another request has the same encoding: on another engine of the same program; on another
     * server. The cell's name then says which. */
    bool name_needs_engine, name_needs_server;
};

struct cell_requests {
    struct cell_request *items;
    size_t count, capacity;
};

/* Checks everything that can be checked without a server: encodings, servers, the data set, steps;
 * finds default programs. planning: a version is a server too, and a program need not exist. */
int cell_requests_make(const struct cell_selection *selection, bool planning,
                       struct cell_requests *requests, struct tare_error *error);
void cell_requests_free(struct cell_requests *requests);
void cell_selection_free(struct cell_selection *selection);

/* Progress, called some times a second at most; stage is "load", "settle", ... */
struct cell_progress {
    void (*show)(void *context, const char *stage, int64_t done, int64_t of, double per_second);
    void *context;
};

/* Measures one cell on a fresh server. *cell is filled as far as it came: where the return value
 * is -1, cell->complete is false and cell->error says why. */
int cell_measure(const struct cell_request *request, struct report *report, struct cell *cell,
                 const struct cell_progress *progress, struct tare_error *error);

/* Predicts one cell; no server is started. */
int cell_predict(const struct cell_request *request, struct report *report, struct cell *cell,
                 struct tare_error *error);

/* The kernel's and the machine's facts that a reader of the figures needs. */
void cell_environment(struct figures *environment);

#endif

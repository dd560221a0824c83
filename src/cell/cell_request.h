/* What is to be weighed: a selection (encodings x servers x a data set x N x
 * settings) multiplied out into requests, one a cell. The corridor is one:
 * `run` measures a request, `plan` predicts it, by the same stations. */
#ifndef TARE_CELL_REQUEST_H
#define TARE_CELL_REQUEST_H

#include "cell/step.h"
#include "core/error.h"
#include "core/figures.h"
#include "data/dataset.h"
#include "encoders/encoding.h"
#include "ledger/ledger.h"
#include "stores/store.h"

/* As the command line, or a job's block, gives it. All owned. */
struct cell_selection {
    char *dataset;
    struct dataset *opened; /* by cell_requests_make(), for all its cells */
    int64_t records;        /* DATASET_ALL before that, where no number was given */
    int64_t seed;
    char **encodings;
    size_t encoding_count, encoding_capacity;
    char **servers;
    size_t server_count, server_capacity;
    struct figures settings; /* --set */
    struct figures given;    /* --given: state inputs for plan */
    struct cell_steps steps; /* none: one ledger, state settled */
    struct store_limits limits;
    /* Of a job: a server that isn't here costs its own cells alone. */
    bool tolerant;
};

struct cell_request {
    const struct cell_selection *selection;
    struct encoding *encoding; /* NULL where broken */
    struct server_spec server;
    /* Another request has the same encoding: on another engine of the same program, on another
     * server, of another data set, with another number of records, other settings. The cell's name
     * then says which. */
    bool name_needs_engine, name_needs_server, name_needs_dataset, name_needs_records,
        name_needs_settings;
    bool compared; /* another request has another encoding */
    /* A cell of a job that can't be run here, and why (status TARE_STORE): it fails alone. */
    char *broken_encoding; /* NULL: it can be run */
    struct tare_error broken;
};

struct cell_requests {
    struct cell_request *items;
    size_t count, capacity;
};

/* Opens the selection's data set, for all its cells, and settles how many records are weighed. A
 * file is read ahead: for a run to its end, so that bad input is found before anything is loaded;
 * planning looks into every record by itself. */
int cell_selection_open(struct cell_selection *selection, bool planning, struct tare_error *error);
/* Checks everything that can be checked without a server: encodings, servers, the data set, which
 * it opens, steps; finds default programs; appends a request for each cell. The selection is
 * borrowed. planning: a version is a server too, and a program need not exist. */
int cell_requests_make(struct cell_selection *selection, bool planning,
                       struct cell_requests *requests, struct tare_error *error);
/* The cells of one encoding of a selection, whose data set is open. server_used: a place for each
 * of the selection's servers, set where one takes the encoding. */
int cell_requests_add(struct cell_requests *requests, const struct cell_selection *selection,
                      const char *encoding, const struct dataset *dataset, bool *server_used,
                      bool planning, struct tare_error *error);
/* The error of a server that none of the encodings runs on. Returns -1. */
int cell_server_unused(const char *server, struct tare_error *error);
/* Appends a cell that can't be run; takes the encoding's text over. reason: one line; spec: its
 * server, taken over, where tare knows the kind; NULL elsewhere. */
void cell_requests_add_broken(struct cell_requests *requests,
                              const struct cell_selection *selection, char *encoding,
                              const struct server_spec *spec, const char *reason);
void cell_requests_free(struct cell_requests *requests);
/* What the request weighs, as -e takes it. */
const char *cell_request_encoding(const struct cell_request *request);
void cell_selection_free(struct cell_selection *selection);

/* --set and a job's settings, as far as they are for servers of this kind, in its own names. */
int cell_server_settings(const struct cell_selection *selection, const struct store_kind *kind,
                         struct figures *settings, struct tare_error *error);
/* Setting "batch": how many records are sent before their replies are waited for; 0: as many as
 * the store likes. */
int64_t cell_batch(const struct cell_selection *selection);

/* Progress, called some times a second at most; stage is "load", "settle", ... */
struct cell_progress {
    void (*show)(void *context, const char *stage, int64_t done, int64_t of, double per_second);
    void *context;
};

/* Measures one cell on a fresh server. *cell is filled as far as it came: where the return value
 * is -1, cell->complete is false and cell->error says why. */
int cell_measure(const struct cell_request *request, struct report *report, struct cell *cell,
                 const struct cell_progress *progress, struct tare_error *error);

/* Predicts one cell; no server is started. advise: also what would make it smaller. */
int cell_predict(const struct cell_request *request, struct report *report, struct cell *cell,
                 bool advise, struct tare_error *error);

/* The kernel's and the machine's facts that a reader of the figures needs. */
void cell_environment(struct figures *environment);

#endif

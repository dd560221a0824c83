/* Workloads: client threads that read, update, insert or miss records by key,
 * as YCSB's do. Throughput, latencies and memory along it go to the ledger. */
#ifndef TARE_CELL_WORKLOAD_H
#define TARE_CELL_WORKLOAD_H

#include "cell/step.h"

struct workload_settings {
    int64_t operations;    /* 0: not given; one a record, unless `seconds` is */
    int64_t seconds;       /* 0: not given; after which no operation is begun */
    int64_t threads;       /* 0: not given; 1 */
    int64_t pipeline;      /* operations that a client sends before it waits for their answers */
    int64_t rate;          /* operations a second in all; 0: as fast as may be */
    int distribution;      /* enum distribution; -1: not given */
    int distribution_else; /* taken then */
    double proportions[OPERATION_TYPES];
    bool write_all; /* an update changes every field */
};

/* The options of every step that is a workload, in struct workload_settings. */
extern const struct option_spec workload_options[];
void workload_defaults(void *settings);
/* Looks at the options, and tells the number of threads in the step's state. */
int workload_parse(struct cell_step *step, struct tare_error *error);

/* The members of such a kind of step. */
int workload_check(const struct cell_step *step, const struct server_spec *server,
                   const struct encoding *encoding, struct tare_error *error);
int workload_run(struct measuring *m, const struct cell_step *step, struct tare_error *error);
double workload_forecast(const struct cell_step *step, const struct cell_forecast *known);

#endif

/* What a workload came to, beside the ledger that it left. */
#ifndef TARE_LEDGER_WORKLOAD_H
#define TARE_LEDGER_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum workload_bound { BOUND_NONE, BOUND_CLIENT, BOUND_PROCESSORS };
extern const char *const workload_bound_names[]; /* "none", "tare", "processors", NULL */

/* Latencies in nanoseconds, of one kind of operation or of all. */
struct workload_latency {
    char *operation; /* "read", "all"; owned */
    int64_t operations;
    int64_t mean, p50, p95, p99, p999, max;
};

/* Memory along it: growth over the base, as a checkpoint's. */
struct workload_sample {
    double seconds;
    int64_t operations;
    int64_t allocated, resident; /* resident -1 where it can't be seen */
};

struct workload {
    int64_t operations;
    int64_t not_found; /* records that should have been there, or keys that should not */
    double seconds;
    int64_t threads, pipeline;
    int64_t rate;       /* operations a second that were to be begun; 0: as fast as may be */
    char *distribution; /* "zipfian"; owned */
    double client_cpu_seconds, server_cpu_seconds; /* of tare; of the server, 0 where unseen */
    int64_t processors;                            /* that tare may use */
    enum workload_bound bound;
    struct workload_latency *latencies; /* all together first, then by operation */
    size_t latency_count, latency_capacity;
    struct workload_sample *samples;
    size_t sample_count, sample_capacity;
};

struct workload *workload_new(void);
void workload_free(struct workload *workload);               /* NULL: does nothing */
double workload_per_second(const struct workload *workload); /* 0 where it took no time */
/* What held it up, by the processor times: BOUND_CLIENT where tare took 9 tenths of a processor and
 * more, which is what it makes operations on, and the server less; BOUND_PROCESSORS where both
 * together took that share of all that there are. */
enum workload_bound workload_bound_of(const struct workload *workload);

#endif

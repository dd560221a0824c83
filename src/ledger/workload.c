#include "ledger/workload.h"

#include <stdlib.h>

#include "core/memory.h"

const char *const workload_bound_names[] = {"none", "tare", "processors", NULL};

struct workload *workload_new(void)
{
    return memory_new(sizeof(struct workload));
}

void workload_free(struct workload *workload)
{
    if (!workload)
        return;
    for (size_t i = 0; i < workload->latency_count; i++)
        free(workload->latencies[i].operation);
    free(workload->latencies);
    free(workload->samples);
    free(workload->distribution);
    free(workload);
}

double workload_per_second(const struct workload *workload)
{
    return workload->seconds > 0 ? (double)workload->operations / workload->seconds : 0;
}

#define BUSY 0.9

enum workload_bound workload_bound_of(const struct workload *workload)
{
    double client = workload->client_cpu_seconds, server = workload->server_cpu_seconds;
    double busy = BUSY * workload->seconds;
    if (client >= busy && server < busy)
        return BOUND_CLIENT;
    return client + server >= busy * (double)workload->processors ? BOUND_PROCESSORS : BOUND_NONE;
}

/* MEMORY STATS (4.0 and later): memory.stats.PATH, names as in the reply. */
#include <string.h>

#include "probes/redis_text.h"

int redis_ask_if_known(struct store *store, const char *question, const char *prefix,
                       const char *missing, struct figures *figures, struct tare_error *error)
{
    struct tare_error one = {0};
    if (store->kind->ask(store, question, prefix, figures, &one) == 0)
        return 0;
    if (!strstr(one.message, "unknown command") && !strstr(one.message, "NOPERM") &&
        !strstr(one.message, "ERR ")) {
        *error = one;
        return -1;
    }
    figures_text(figures, missing, one.message);
    return 0;
}

static int memory_stats_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    return redis_ask_if_known(store, "MEMORY STATS", "memory.stats", "memory.stats.missing",
                              figures, error);
}

const struct probe_kind probe_redis_memory_stats = {
    .name = "memory.stats",
    .family = "redis",
    .summary = "MEMORY STATS: overheads by kind, keys, fragmentation",
    .read = memory_stats_read,
};

/* CONFIG GET of the settings that a model or a reader needs: config.NAME. */
#include <stdio.h>

#include "probes/redis_text.h"

/* Patterns, one CONFIG GET each: several in one call came with 7.0. */
static const char *const patterns[] = {
    "maxmemory*", "hash-max-*",      "zset-max-*",   "set-max-*",  "list-*",
    "stream-*",   "activerehashing", "activedefrag", "appendonly", "save",
    "hz",         "cluster-enabled", "databases",    "lazyfree-*",
};

static int config_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        char question[64];
        snprintf(question, sizeof question, "CONFIG GET %s", patterns[i]);
        if (redis_ask_if_known(store, question, "config", "config.missing", figures, error))
            return -1;
        /* Managed services refuse CONFIG: once is enough. */
        if (figures_has(figures, "config.missing"))
            break;
    }
    return 0;
}

const struct probe_kind probe_redis_config = {
    .name = "config",
    .family = "redis",
    .summary = "CONFIG GET: limits of compact encodings, maxmemory, persistence",
    .read = config_read,
};

/* MEMORY STATS (4.0 and later): memory.stats.PATH, names as in the reply. */
#include <string.h>
#include <strings.h>

#include "probes/redis_text.h"

bool redis_is_refusal(const char *message, const char *address, const char *question)
{
    /* "ADDRESS: COMMAND: CODE words", as redis_command() says what the server answered. */
    size_t place = strlen(address), word = strcspn(question, " ");
    if (strncmp(message, address, place) != 0 || strncmp(message + place, ": ", 2) != 0)
        return false;
    message += place + 2;
    if (strncmp(message, question, word) != 0 || strncmp(message + word, ": ", 2) != 0)
        return false;
    message += word + 2;
    return strncmp(message, "ERR ", 4) == 0 || strncmp(message, "NOPERM ", 7) == 0 ||
           strncasecmp(message, "unknown command", 15) == 0;
}

int redis_ask_if_known(struct store *store, const char *question, const char *prefix,
                       const char *missing, struct figures *figures, struct tare_error *error)
{
    struct tare_error one = {0};
    if (store->kind->ask(store, question, prefix, figures, &one) == 0)
        return 0;
    if (!redis_is_refusal(one.message, store->address, question)) {
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

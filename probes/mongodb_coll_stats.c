/* collStats of the collection that is weighed, in bytes (scale 1), with WiredTiger's figures of
 * each index: collStats.wiredTiger.cache.NAME, collStats.indexDetails.INDEX.cache.NAME. In the
 * base there is no collection yet: collStats.missing is 1. */
#include "probes/probe.h"

#include <string.h>

static int coll_stats_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    /* From 4.2 a missing collection has zeros and no index, before that it is an error. */
    struct tare_error failure = {TARE_OK, ""};
    if (store->kind->ask(store, ". {\"collStats\": \".\", \"indexDetails\": true, \"scale\": 1}",
                         "collStats", figures, &failure)) {
        if (!strstr(failure.message, "not found")) {
            if (error)
                *error = failure;
            return -1;
        }
    }
    if (figures_get(figures, "collStats.nindexes") == 0)
        figures_integer(figures, "collStats.missing", 1);
    return 0;
}

const struct probe_kind probe_mongodb_coll_stats = {
    .name = "collStats",
    .family = "mongodb",
    .summary = "collStats with index details: cache, reconciliation and sizes by table",
    .read = coll_stats_read,
};

/* dbStats of the database that is weighed, in bytes (scale 1). */
#include "probes/probe.h"

static int db_stats_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    return store->kind->ask(store, ". {\"dbStats\": 1, \"scale\": 1}", "dbStats", figures, error);
}

const struct probe_kind probe_mongodb_db_stats = {
    .name = "dbStats",
    .family = "mongodb",
    .summary = "dbStats: documents, logical and stored sizes of the database",
    .read = db_stats_read,
};

/* getCmdLineOpts: how the server was started. It alone tells an in-memory WiredTiger
 * from one on disk. */
#include "probes/probe.h"

static int command_line_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    return store->kind->ask(store, "admin {\"getCmdLineOpts\": 1}", "cmdLine", figures, error);
}

const struct probe_kind probe_mongodb_command_line = {
    .name = "cmdLine",
    .family = "mongodb",
    .summary = "getCmdLineOpts: arguments and settings of the start",
    .read = command_line_read,
};

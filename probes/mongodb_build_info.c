/* buildInfo: which mongod this is, and the allocator that it was linked with. */
#include "probes/probe.h"

static int build_info_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    return store->kind->ask(store, "admin {\"buildInfo\": 1}", "buildInfo", figures, error);
}

const struct probe_kind probe_mongodb_build_info = {
    .name = "buildInfo",
    .family = "mongodb",
    .summary = "buildInfo: version, allocator, how it was compiled",
    .read = build_info_read,
};

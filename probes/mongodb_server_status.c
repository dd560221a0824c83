/* serverStatus, with the size classes of tcmalloc (tcmalloc: 2):
 * serverStatus.tcmalloc.tcmalloc.size_classes.INDEX.bytes_per_object, num_spans, ..., where an
 * index is tcmalloc's number of the class, the same in every answer of one build. */
#include "probes/probe.h"

static int server_status_read(struct store *store, struct figures *figures,
                              struct tare_error *error)
{
    return store->kind->ask(store, "admin {\"serverStatus\": 1, \"tcmalloc\": 2}", "serverStatus",
                            figures, error);
}

const struct probe_kind probe_mongodb_server_status = {
    .name = "serverStatus",
    .family = "mongodb",
    .summary = "serverStatus: cache, connections, sessions, tcmalloc with its size classes",
    .read = server_status_read,
};

/* What the process of the memory store counts of its own heap: memory.blocks, memory.usable,
 * memory.sizes.SIZE of the map's blocks; mallinfo.* of glibc (malloc.h, mallinfo2). */
#include "probes/probe.h"

static int memory_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    return store->kind->ask(store, "figures", "", figures, error);
}

const struct probe_kind probe_memory = {
    .name = "memory",
    .family = "memory",
    .summary = "the holding process's own count of its blocks, and glibc's mallinfo2",
    .read = memory_read,
};

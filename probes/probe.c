/* The table of probes, in the order of reading. */
#include "probes/probe.h"

#include <string.h>

extern const struct probe_kind probe_redis_info, probe_redis_memory_stats, probe_redis_malloc_stats,
    probe_redis_config, probe_redis_rdb_file, probe_redis_json, probe_mongodb_build_info,
    probe_mongodb_command_line, probe_mongodb_server_status, probe_mongodb_db_stats,
    probe_mongodb_coll_stats, probe_null, probe_memory, probe_glibc_heap, probe_process_status,
    probe_process_smaps;

/* The server's own words first, the pages last: reading the pages changes nothing, while a
 * command's reply may grow a buffer. INFO comes after the other commands for the same reason. */
const struct probe_kind *const probe_kinds[] = {
    /* Before the others: what INFO tells of clients' memory is as of serverCron's last visit, and
     * that may have met a long reply on its way out. */
    &probe_redis_info,
    &probe_redis_config,
    &probe_redis_rdb_file,
    &probe_redis_json,
    &probe_redis_memory_stats,
    &probe_redis_malloc_stats,
    &probe_mongodb_build_info,
    &probe_mongodb_command_line,
    &probe_mongodb_db_stats,
    &probe_mongodb_coll_stats,
    &probe_mongodb_server_status,
    &probe_null,
    &probe_memory,
    &probe_glibc_heap,
    &probe_process_status,
    &probe_process_smaps,
    NULL,
};

int probe_table_check(const struct probe_kind *const kinds[], struct tare_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const struct probe_kind *kind = kinds[i];
        if (!kind->name || !kind->summary || !kind->read)
            return error_set(error, TARE_USAGE, "internal: probe '%s' is incomplete",
                             kind->name ? kind->name : "?");
        for (size_t j = 0; j < i; j++)
            if (strcmp(kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "internal: probe '%s' is there twice",
                                 kind->name);
    }
    return 0;
}

int probe_kinds_check(struct tare_error *error)
{
    return probe_table_check(probe_kinds, error);
}

int probes_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    for (size_t i = 0; probe_kinds[i]; i++) {
        const struct probe_kind *kind = probe_kinds[i];
        if (kind->family ? strcmp(kind->family, store->kind->family) != 0 : store->pid == 0)
            continue;
        if (kind->read(store, figures, error))
            return -1;
    }
    return 0;
}

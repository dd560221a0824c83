/* Size of the RDB file that all of a server's objects were read from: after step reload or restart.
 *
 *   file.rdb    bytes of dir/dbfilename
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/memory.h"
#include "probes/redis_text.h"

static int rdb_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    /* The folder is no figure: it stays out of the samples. */
    struct figures told = {0};
    if (store->pid <= 0 || !store->made_by || strcmp(store->made_by, "rdb") != 0)
        return 0;
    int failed =
        redis_ask_if_known(store, "CONFIG GET dir", "config", "missing", &told, error) ||
        redis_ask_if_known(store, "CONFIG GET dbfilename", "config", "missing", &told, error);
    const char *folder = figures_get_text(&told, "config.dir");
    const char *name = figures_get_text(&told, "config.dbfilename");
    if (!failed && folder && name) {
        struct stat status;
        char *path = memory_format("%s/%s", folder, name);
        if (stat(path, &status) == 0)
            figures_integer(figures, "file.rdb", status.st_size);
        free(path);
    }
    figures_free(&told);
    return failed;
}

const struct probe_kind probe_redis_rdb_file = {
    .name = "file",
    .family = "redis",
    .summary = "size of the RDB file that all was read from, after step reload or restart",
    .read = rdb_read,
};

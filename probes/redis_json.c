/* What RedisJSON itself says that its values take (JSON.DEBUG MEMORY), of up to some thousand keys
 * of a server that a cell needs the module on.
 *
 *   json.debug.keys     values asked
 *   json.debug.bytes    what was said of them
 *   json.debug.memory   the same of all keys: by the mean of those
 */
#include "probes/probe.h"

static int json_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    return store->kind->value_memory ? store->kind->value_memory(store, figures, error) : 0;
}

const struct probe_kind probe_redis_json = {
    .name = "json.debug",
    .family = "redis",
    .summary = "JSON.DEBUG MEMORY of RedisJSON's values, where the encoding is one of them",
    .read = json_read,
};

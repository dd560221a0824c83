/* redis:hash: a hash a record, a field of it a field of the record. */
#include "encoders/shape.h"

static const struct option_spec redis_hash_options[] = {
    SHAPE_OPTION_INDEX, SHAPE_OPTION_LISTPACK, SHAPE_OPTION_TTL, {0}};

/* The servers' defaults (redis.conf of 7.0 to 8.2, valkey.conf): limits are raised, never lowered.
 */
#define LISTPACK_ENTRIES 512
#define LISTPACK_VALUE   64

static void redis_hash_settings(const struct encoding *encoding, const struct figures *largest,
                                struct figures *settings)
{
    if (!encoding->options.listpack)
        return;
    int64_t elements = figures_get(largest, "elements");
    int64_t bytes = figures_get(largest, "element.bytes");
    figures_integer(settings, "hash-max-listpack-entries",
                    elements > LISTPACK_ENTRIES ? elements : LISTPACK_ENTRIES);
    figures_integer(settings, "hash-max-listpack-value",
                    bytes > LISTPACK_VALUE ? bytes : LISTPACK_VALUE);
}

const struct shape_kind shape_redis_hash = {
    .store = "redis",
    .name = "hash",
    .summary = "a hash a record, its fields the record's",
    .example = "redis:hash@index",
    .takes = FORM_RECORD,
    .options = redis_hash_options,
    .server_settings = redis_hash_settings,
    .encode = shape_encode_hash,
};

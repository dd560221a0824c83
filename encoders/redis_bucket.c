/* redis:bucket=N: N records a hash, as people do for many small values: a field a record, named by
 * its key, whose value is the encoded record. */
#include "encoders/shape.h"

static const struct option_spec redis_bucket_options[] = {
    SHAPE_OPTION_LISTPACK, SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_redis_bucket = {
    .store = "redis",
    .name = "bucket",
    .summary = "N records a hash (100), each a field under its key, its value the encoded record",
    .example = "redis:bucket=100+msgpack",
    .takes = FORM_BYTES,
    .default_step = "json",
    .batch_most = SHAPE_BATCH_MOST,
    .batch_default = 100,
    .holds = OBJECT_HASH,
    .options = redis_bucket_options,
    .server_settings = shape_listpack_settings,
    .encode = shape_encode_bucket,
    .decode = shape_decode_bucket,
};

/* redis:hash: a hash a record, a field of it a field of the record. */
#include "encoders/shape.h"

static const struct option_spec redis_hash_options[] = {
    SHAPE_OPTION_INDEX, SHAPE_OPTION_LISTPACK, SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_redis_hash = {
    .store = "redis",
    .name = "hash",
    .summary = "a hash a record, its fields the record's",
    .example = "redis:hash@index",
    .takes = FORM_RECORD,
    .holds = OBJECT_HASH,
    .options = redis_hash_options,
    .server_settings = shape_listpack_settings,
    .encode = shape_encode_hash,
    .decode = shape_decode_hash,
};

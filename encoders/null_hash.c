/* null:hash: redis:hash for the null store, which holds nothing. */
#include "encoders/shape.h"

static const struct option_spec null_hash_options[] = {SHAPE_OPTION_INDEX, SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_null_hash = {
    .store = "null",
    .name = "hash",
    .summary = "a hash a record, for tests without a server",
    .example = "null:hash",
    .takes = FORM_RECORD,
    .holds = OBJECT_HASH,
    .options = null_hash_options,
    .encode = shape_encode_hash,
    .decode = shape_decode_hash,
};

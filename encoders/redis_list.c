/* redis:list: the encoded records as elements of one list; redis:list=N: of a list for each N. */
#include "encoders/shape.h"

static const struct option_spec redis_list_options[] = {SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_redis_list = {
    .store = "redis",
    .name = "list",
    .summary = "all records in one list, or N a list, each element an encoded record; no keys",
    .example = "redis:list+json",
    .takes = FORM_BYTES,
    .default_step = "json",
    .batch_most = SHAPE_BATCH_MOST,
    .holds = OBJECT_LIST,
    .options = redis_list_options,
    .encode = shape_encode_list,
    .decode = shape_decode_list,
};

/* redis:string: a string a record, whose value is the encoded record. */
#include "encoders/shape.h"

static const struct option_spec redis_string_options[] = {SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_redis_string = {
    .store = "redis",
    .name = "string",
    .summary = "a string a record, its value the encoded record",
    .example = "redis:string+json",
    .takes = FORM_BYTES,
    .default_step = "json",
    .options = redis_string_options,
    .encode = shape_encode_string,
    .decode = shape_decode_string,
};

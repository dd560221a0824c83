/* null:string: redis:string for the null store, which holds nothing. */
#include "encoders/shape.h"

static const struct option_spec null_string_options[] = {SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_null_string = {
    .store = "null",
    .name = "string",
    .summary = "a string a record, for tests without a server",
    .example = "null:string+json",
    .takes = FORM_BYTES,
    .default_step = "json",
    .options = null_string_options,
    .encode = shape_encode_string,
    .decode = shape_decode_string,
};

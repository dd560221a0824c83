/* memory:bytes: a heap string a record, in a process's own memory. */
#include "encoders/shape.h"

static const struct option_spec memory_bytes_options[] = {{0}};

const struct shape_kind shape_memory_bytes = {
    .store = "memory",
    .name = "bytes",
    .summary = "the encoded record as one heap string, by key in a process's own memory",
    .example = "memory:bytes+msgpack",
    .takes = FORM_BYTES,
    .default_step = "json",
    .holds = OBJECT_STRING,
    .options = memory_bytes_options,
    .encode = shape_encode_string,
    .decode = shape_decode_string,
};

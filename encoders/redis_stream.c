/* redis:stream: the records as entries of one stream; redis:stream=N: of a stream for each N. */
#include "encoders/shape.h"

static const struct option_spec redis_stream_options[] = {SHAPE_OPTION_TTL, {0}};

const struct shape_kind shape_redis_stream = {
    .store = "redis",
    .name = "stream",
    .summary = "all records in one stream, or N a stream, an entry a record; IDs for keys (5.0)",
    .example = "redis:stream=1000",
    .takes = FORM_RECORD,
    .batch_most = SHAPE_BATCH_MOST,
    .holds = OBJECT_STREAM,
    .options = redis_stream_options,
    .encode = shape_encode_stream,
    .decode = shape_decode_hash,
};

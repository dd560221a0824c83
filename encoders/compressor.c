#include "encoders/compressor.h"

void compressor_count(const struct item *in, struct item *out)
{
    out->counted = in->counted;
    out->counted.compression += (int64_t)out->bytes.length - (int64_t)in->bytes.length;
}

/* Beyond it the output grows by doubling, as it comes. */
#define LIKELY_RATIO ((uint64_t)32)
#define LEAST_ROOM   ((uint64_t)4096)

void compressor_reserve(struct buffer *out, size_t compressed, uint64_t claimed)
{
    uint64_t likely = (uint64_t)compressed * LIKELY_RATIO + LEAST_ROOM;
    buffer_reserve(out, (size_t)(claimed < likely ? claimed : likely));
}

int compressor_cut_short(const char *name, size_t length, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "%s: cut short after %zu bytes", name, length);
}

int compressor_more_follows(const char *name, size_t length, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "%s: %zu bytes after the record", name, length);
}

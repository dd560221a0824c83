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

void compressor_make_room(struct buffer *out, bool keep)
{
    if (!keep)
        buffer_clear(out);
    if (out->length + 1 >= out->capacity)
        buffer_reserve(out, out->capacity < LEAST_ROOM ? LEAST_ROOM : out->capacity);
}

int compressor_undo(compressor_read *read, const struct step *step, const struct item *in,
                    struct item *out, struct tare_error *error)
{
    size_t length, given = in->bytes.length;
    if (read(step, buffer_slice(&in->bytes), true, &out->bytes, &length, error))
        return -1;
    if (length == 0)
        return compressor_cut_short(step->kind->name, given, error);
    return length == given ? 0 : compressor_more_follows(step->kind->name, given - length, error);
}

int compressor_unframe(compressor_read *read, const struct step *step, struct slice stream,
                       bool last, struct slice *item, size_t *length, struct tare_error *error)
{
    struct buffer ignored = {0};
    int failed = read(step, stream, false, &ignored, length, error);
    buffer_free(&ignored);
    if (!failed && *length == 0 && last)
        failed = compressor_cut_short(step->kind->name, stream.length, error);
    *item = slice_of(stream.bytes, failed ? 0 : *length);
    return failed;
}

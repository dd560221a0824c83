/* snappy: bytes as one block in Snappy's raw format (format_description.txt), which does not tell
 * where it ends. In a file each block stands as Hadoop frames it: length of the plain bytes and
 * length of the block, each in 4 bytes, the highest first, then the block. */
#include <endian.h>
#include <snappy-c.h>

#include "encoders/compressor.h"

#define FRAME_HEADER ((size_t)8)

static int snappy_apply(const struct step *step, struct arena *arena, const struct item *in,
                        struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    if (in->bytes.length > UINT32_MAX)
        return error_set(error, TARE_USAGE, "longer than the 2^32 - 1 bytes that 'snappy' holds");
    size_t length = snappy_max_compressed_length(in->bytes.length);
    buffer_reserve(&out->bytes, length);
    snappy_compress(in->bytes.data ? in->bytes.data : "", in->bytes.length, out->bytes.data,
                    &length);
    out->bytes.length = length;
    compressor_count(in, out);
    return 0;
}

static int snappy_undo(const struct step *step, struct arena *arena, const struct item *in,
                       struct item *out, struct tare_error *error)
{
    size_t length;
    (void)step;
    (void)arena;
    /* Looked through first: a false length would cost the memory that it claims. */
    if (snappy_validate_compressed_buffer(in->bytes.data, in->bytes.length) != SNAPPY_OK ||
        snappy_uncompressed_length(in->bytes.data, in->bytes.length, &length) != SNAPPY_OK)
        return error_set(error, TARE_USAGE, "snappy: malformed in %zu bytes", in->bytes.length);
    buffer_reserve(&out->bytes, length);
    if (snappy_uncompress(in->bytes.data, in->bytes.length, out->bytes.data, &length) != SNAPPY_OK)
        return error_set(error, TARE_USAGE, "snappy: malformed in %zu bytes", in->bytes.length);
    out->bytes.length = length;
    return 0;
}

static void snappy_frame(const struct step *step, struct slice item, struct buffer *stream)
{
    size_t plain = 0;
    uint32_t lengths[2];
    (void)step;
    snappy_uncompressed_length(item.bytes, item.length, &plain);
    lengths[0] = htobe32((uint32_t)plain);
    lengths[1] = htobe32((uint32_t)item.length);
    buffer_append(stream, lengths, sizeof lengths);
    buffer_append(stream, item.bytes, item.length);
}

static int snappy_unframe(const struct step *step, struct slice stream, bool last,
                          struct slice *item, size_t *length, struct tare_error *error)
{
    uint32_t lengths[2] = {0};
    size_t plain = 0;
    (void)step;
    *length = 0;
    if (stream.length >= FRAME_HEADER) {
        memcpy(lengths, stream.bytes, sizeof lengths);
        *item = slice_of(stream.bytes + FRAME_HEADER, be32toh(lengths[1]));
    }
    if (stream.length < FRAME_HEADER || stream.length - FRAME_HEADER < item->length)
        return last ? compressor_cut_short("snappy", stream.length, error) : 0;
    if (snappy_uncompressed_length(item->bytes, item->length, &plain) != SNAPPY_OK ||
        plain != be32toh(lengths[0]))
        return error_set(error, TARE_USAGE, "snappy: malformed: its frame tells %lu plain bytes",
                         (unsigned long)be32toh(lengths[0]));
    *length = FRAME_HEADER + item->length;
    return 0;
}

const struct step_kind step_snappy = {
    .name = "snappy",
    .summary = "one Snappy block; in a file, as Hadoop frames it",
    .takes = FORM_BYTES,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = snappy_apply,
    .undo = snappy_undo,
    .frame = snappy_frame,
    .unframe = snappy_unframe,
};

/* lz4: bytes as one LZ4 frame (lz4_Frame_format.md), without checksums. In a file one frame
 * follows another: lz4 -d reads it. */
#include <lz4frame.h>

#include "encoders/compressor.h"

struct lz4_state {
    LZ4F_dctx *decompressor;
};

static void lz4_close(const struct step *step)
{
    struct lz4_state *state = step->state;
    LZ4F_freeDecompressionContext(state->decompressor);
}

static int lz4_failed(size_t code, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "lz4: %s", LZ4F_getErrorName(code));
}

static int lz4_apply(const struct step *step, struct arena *arena, const struct item *in,
                     struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    size_t room = LZ4F_compressFrameBound(in->bytes.length, NULL);
    buffer_reserve(&out->bytes, room);
    size_t length =
        LZ4F_compressFrame(out->bytes.data, room, in->bytes.data, in->bytes.length, NULL);
    if (LZ4F_isError(length))
        return lz4_failed(length, error);
    out->bytes.length = length;
    compressor_count(in, out);
    return 0;
}

/* The decompressor, ready for a new frame. */
static LZ4F_dctx *lz4_decompressor(const struct step *step)
{
    struct lz4_state *state = step->state;
    if (!state->decompressor)
        LZ4F_createDecompressionContext(&state->decompressor, LZ4F_VERSION);
    LZ4F_resetDecompressionContext(state->decompressor);
    return state->decompressor;
}

static int lz4_read_frame(const struct step *step, struct slice bytes, bool keep,
                          struct buffer *out, size_t *length, struct tare_error *error)
{
    LZ4F_dctx *decompressor = lz4_decompressor(step);
    size_t place = 0, left;
    compressor_reserve(out, keep ? bytes.length : 0, UINT64_MAX); /* the format tells no length */
    do {
        compressor_make_room(out, keep);
        size_t from = bytes.length - place, to = out->capacity - 1 - out->length;
        left = LZ4F_decompress(decompressor, out->data + out->length, &to, bytes.bytes + place,
                               &from, NULL);
        if (LZ4F_isError(left))
            return lz4_failed(left, error);
        place += from;
        out->length += to;
        if (left && from == 0 && to == 0 && place == bytes.length) {
            *length = 0;
            return 0;
        }
    } while (left);
    *length = place;
    return 0;
}

static int lz4_undo(const struct step *step, struct arena *arena, const struct item *in,
                    struct item *out, struct tare_error *error)
{
    (void)arena;
    return compressor_undo(lz4_read_frame, step, in, out, error);
}

static int lz4_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                       size_t *length, struct tare_error *error)
{
    return compressor_unframe(lz4_read_frame, step, stream, last, item, length, error);
}

const struct step_kind step_lz4 = {
    .name = "lz4",
    .summary = "one LZ4 frame",
    .takes = FORM_BYTES,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = lz4_apply,
    .undo = lz4_undo,
    .state_size = sizeof(struct lz4_state),
    .close = lz4_close,
    .unframe = lz4_unframe,
};

/* zstd: bytes as one Zstandard frame (RFC 8878), with the length of the content and without a
 * checksum, as ZSTD_compress2() makes it. In a file one frame follows another: zstd -d reads it. */
#include <zstd.h>
#include <zstd_errors.h>

#include "encoders/compressor.h"
#include "encoders/zstd_frame.h"

struct zstd_state {
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
};

static void zstd_close(const struct step *step)
{
    struct zstd_state *state = step->state;
    ZSTD_freeCCtx(state->compressor);
    ZSTD_freeDCtx(state->decompressor);
}

static int zstd_apply(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    struct zstd_state *state = step->state;
    (void)arena;
    if (!state->compressor)
        state->compressor = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(in->bytes.length);
    buffer_reserve(&out->bytes, room);
    size_t length = ZSTD_compressCCtx(state->compressor, out->bytes.data, room, in->bytes.data,
                                      in->bytes.length, (int)step->parameter);
    if (ZSTD_isError(length))
        return error_set(error, TARE_USAGE, "zstd: %s", ZSTD_getErrorName(length));
    out->bytes.length = length;
    compressor_count(in, out);
    return 0;
}

int zstd_decompress(ZSTD_DCtx *decompressor, const char *name, struct slice frame,
                    struct buffer *out, struct tare_error *error)
{
    unsigned long long claimed = ZSTD_getFrameContentSize(frame.bytes, frame.length);
    ZSTD_inBuffer from = {frame.bytes, frame.length, 0};
    /* Unknown or unreadable: two values above any length. */
    compressor_reserve(out, frame.length, claimed < ZSTD_CONTENTSIZE_ERROR ? claimed : 0);
    size_t left;
    do {
        ZSTD_outBuffer to = {out->data, out->capacity - 1, out->length};
        left = ZSTD_decompressStream(decompressor, &to, &from);
        if (ZSTD_isError(left))
            return error_set(error, TARE_USAGE, "%s: %s", name, ZSTD_getErrorName(left));
        out->length = to.pos;
        if (left && to.pos < to.size)
            return compressor_cut_short(name, frame.length, error);
        if (left)
            buffer_reserve(out, out->capacity);
    } while (left);
    return from.pos == frame.length ? 0
                                    : compressor_more_follows(name, frame.length - from.pos, error);
}

static int zstd_undo(const struct step *step, struct arena *arena, const struct item *in,
                     struct item *out, struct tare_error *error)
{
    struct zstd_state *state = step->state;
    (void)arena;
    if (!state->decompressor)
        state->decompressor = ZSTD_createDCtx();
    ZSTD_DCtx_reset(state->decompressor, ZSTD_reset_session_only);
    return zstd_decompress(state->decompressor, "zstd", buffer_slice(&in->bytes), &out->bytes,
                           error);
}

int zstd_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                 size_t *length, struct tare_error *error)
{
    size_t found = ZSTD_findFrameCompressedSize(stream.bytes, stream.length);
    *length = 0;
    if (ZSTD_isError(found)) {
        if (ZSTD_getErrorCode(found) == ZSTD_error_srcSize_wrong)
            return last ? compressor_cut_short(step->kind->name, stream.length, error) : 0;
        return error_set(error, TARE_USAGE, "%s: %s", step->kind->name, ZSTD_getErrorName(found));
    }
    *length = found;
    *item = slice_of(stream.bytes, found);
    return 0;
}

int64_t zstd_effort(const struct step *step)
{
    return 3 + step->parameter;
}

const struct step_kind step_zstd = {
    .name = "zstd",
    .summary = "one Zstandard frame, of level N, 1 to 22 (3)",
    .takes = FORM_BYTES,
    .gives = FORM_BYTES,
    .parameter_low = 1,
    .parameter_high = 22,
    .parameter_default = ZSTD_CLEVEL_DEFAULT,
    .apply = zstd_apply,
    .undo = zstd_undo,
    .state_size = sizeof(struct zstd_state),
    .close = zstd_close,
    .effort = zstd_effort,
    .unframe = zstd_unframe,
};

/* gzip: bytes as one gzip member (RFC 1952) without a name or a time, by zlib. In a file one member
 * follows another: gzip -d reads it. */
#include <limits.h>
#include <zlib.h>

#include "encoders/compressor.h"

/* deflateInit2(), zlib.h: the largest window, and 16 more for the gzip format; the default memory.
 */
#define WINDOW_GZIP (15 + 16)
#define MEMORY      8

struct gzip_state {
    z_stream compressor, decompressor;
    bool compressor_open, decompressor_open;
};

static void gzip_close(const struct step *step)
{
    struct gzip_state *state = step->state;
    if (state->compressor_open)
        deflateEnd(&state->compressor);
    if (state->decompressor_open)
        inflateEnd(&state->decompressor);
}

static int gzip_failed(const z_stream *stream, int code, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "gzip: %s", stream->msg ? stream->msg : zError(code));
}

/* zlib's counts are unsigned int. */
static uInt piece(size_t left)
{
    return left < UINT_MAX ? (uInt)left : UINT_MAX;
}

/* zlib reads only what it is given to read. */
static Bytef *readable(const char *bytes)
{
    return (Bytef *)(uintptr_t)bytes;
}

static int gzip_apply(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    struct gzip_state *state = step->state;
    z_stream *stream = &state->compressor;
    (void)arena;
    int code = state->compressor_open ? deflateReset(stream)
                                      : deflateInit2(stream, (int)step->parameter, Z_DEFLATED,
                                                     WINDOW_GZIP, MEMORY, Z_DEFAULT_STRATEGY);
    if (code != Z_OK)
        return gzip_failed(stream, code, error);
    state->compressor_open = true;
    size_t room = deflateBound(stream, in->bytes.length), place = 0;
    buffer_reserve(&out->bytes, room);
    do {
        stream->next_in = readable(in->bytes.data + place);
        stream->avail_in = piece(in->bytes.length - place);
        stream->next_out = (Bytef *)out->bytes.data + out->bytes.length;
        stream->avail_out = piece(room - out->bytes.length);
        uInt given = stream->avail_in, offered = stream->avail_out;
        code = deflate(stream, place + given == in->bytes.length ? Z_FINISH : Z_NO_FLUSH);
        place += given - stream->avail_in;
        out->bytes.length += offered - stream->avail_out;
    } while (code == Z_OK);
    if (code != Z_STREAM_END)
        return gzip_failed(stream, code, error);
    compressor_count(in, out);
    return 0;
}

static int gzip_read_member(const struct step *step, struct slice bytes, bool keep,
                            struct buffer *out, size_t *length, struct tare_error *error)
{
    struct gzip_state *state = step->state;
    z_stream *stream = &state->decompressor;
    int code = state->decompressor_open ? inflateReset(stream) : inflateInit2(stream, WINDOW_GZIP);
    if (code != Z_OK)
        return gzip_failed(stream, code, error);
    state->decompressor_open = true;
    size_t place = 0;
    *length = 0;
    compressor_reserve(out, keep ? bytes.length : 0, UINT64_MAX); /* the format tells no length */
    do {
        compressor_make_room(out, keep);
        stream->next_in = readable(bytes.bytes + place);
        stream->avail_in = piece(bytes.length - place);
        stream->next_out = (Bytef *)out->data + out->length;
        stream->avail_out = piece(out->capacity - 1 - out->length);
        uInt given = stream->avail_in, offered = stream->avail_out;
        code = inflate(stream, Z_NO_FLUSH);
        place += given - stream->avail_in;
        out->length += offered - stream->avail_out;
        if (code == Z_BUF_ERROR && place == bytes.length)
            return 0;
    } while (code == Z_OK);
    if (code != Z_STREAM_END)
        return gzip_failed(stream, code, error);
    *length = place;
    return 0;
}

static int gzip_undo(const struct step *step, struct arena *arena, const struct item *in,
                     struct item *out, struct tare_error *error)
{
    (void)arena;
    return compressor_undo(gzip_read_member, step, in, out, error);
}

static int gzip_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                        size_t *length, struct tare_error *error)
{
    return compressor_unframe(gzip_read_member, step, stream, last, item, length, error);
}

/* Of records of 1 KiB, at level 6 as at 9, where JSON alone is one. */
static int64_t gzip_effort(const struct step *step)
{
    (void)step;
    return 12;
}

const struct step_kind step_gzip = {
    .name = "gzip",
    .summary = "one gzip member, of level N, 1 to 9 (6)",
    .takes = FORM_BYTES,
    .gives = FORM_BYTES,
    .parameter_low = Z_BEST_SPEED,
    .parameter_high = Z_BEST_COMPRESSION,
    .parameter_default = 6, /* what Z_DEFAULT_COMPRESSION stands for, zlib.h */
    .apply = gzip_apply,
    .undo = gzip_undo,
    .state_size = sizeof(struct gzip_state),
    .close = gzip_close,
    .effort = gzip_effort,
    .unframe = gzip_unframe,
};

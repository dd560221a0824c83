/* zstd-dict: bytes as one Zstandard frame that refers to a dictionary, which is trained on a sample
 * of the records and kept once. In a file the dictionary comes first, in a skippable frame (RFC
 * 8878, 3.1.2) that other readers pass over; zstd -d -D DICTIONARY reads what follows. */
#include <endian.h>
#include <stdlib.h>
#define ZDICT_STATIC_LINKING_ONLY /* ZDICT_optimizeTrainFromBuffer_fastCover */
#include <zdict.h>
#include <zstd.h>

#include "encoders/compressor.h"
#include "encoders/zstd_frame.h"

/* As large as the dictionaries that zstd's own README is about. zdict.h advises a sample 100 times
 * as large: of 32 times frames of YCSB's records, articles, players and entities came out within
 * 2 % of those of 128 times, and training took a quarter of the time. */
#define DICTIONARY_SIZE ((size_t)16 * 1024)
#define SAMPLE_SIZE     (32 * DICTIONARY_SIZE)
/* ZDICT_trainFromBuffer's own parameters (zdict.h) but for f and steps: its f, 20, takes tables of
 * 14 MB, and of a sample of half a MiB those of 2^16 frequencies tell as much; its 4 steps made the
 * frames of those data sets at most 1 % shorter than one does. */
#define TRAIN_D     8
#define TRAIN_STEPS 1
#define TRAIN_F     16
/* Of one record no more is looked at (ZSTD_BLOCKSIZE_MAX, zstd.h). */
#define SAMPLE_PIECE ((size_t)128 * 1024)

#define SKIPPABLE_HEADER ((size_t)8)

struct dict_state {
    /* While learning: every `stride`-th item, one after another. */
    struct buffer sample;
    size_t *sizes;
    size_t count, capacity;
    int64_t stride, seen;

    struct buffer dictionary;
    ZSTD_CDict *for_compressing;
    ZSTD_DDict *for_decompressing;
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
};

static void dict_close(const struct step *step)
{
    struct dict_state *state = step->state;
    buffer_free(&state->sample);
    free(state->sizes);
    buffer_free(&state->dictionary);
    ZSTD_freeCDict(state->for_compressing);
    ZSTD_freeDDict(state->for_decompressing);
    ZSTD_freeCCtx(state->compressor);
    ZSTD_freeDCtx(state->decompressor);
    *state = (struct dict_state){0};
}

/* Every second item of the sample goes, so that the rest is spread as evenly. */
static void thin_sample(struct dict_state *state)
{
    size_t from = 0, to = 0, kept = 0;
    for (size_t i = 0; i < state->count; i++) {
        if (i % 2 == 0) {
            memmove(state->sample.data + to, state->sample.data + from, state->sizes[i]);
            to += state->sizes[i];
            state->sizes[kept++] = state->sizes[i];
        }
        from += state->sizes[i];
    }
    state->sample.length = to;
    state->count = kept;
    state->stride *= 2;
}

static int dict_learn(const struct step *step, const struct item *in, struct tare_error *error)
{
    struct dict_state *state = step->state;
    size_t length = in->bytes.length < SAMPLE_PIECE ? in->bytes.length : SAMPLE_PIECE;
    (void)error;
    if (state->stride == 0)
        state->stride = 1;
    if (state->seen++ % state->stride != 0)
        return 0;
    MEMORY_GROW(state->sizes, state->count, state->capacity);
    state->sizes[state->count++] = length;
    buffer_append(&state->sample, in->bytes.data, length);
    if (state->sample.length > SAMPLE_SIZE && state->count > 1)
        thin_sample(state);
    return 0;
}

static int take_dictionary(struct dict_state *state, int64_t level, struct tare_error *error)
{
    state->for_compressing =
        ZSTD_createCDict(state->dictionary.data, state->dictionary.length, (int)level);
    state->for_decompressing = ZSTD_createDDict(state->dictionary.data, state->dictionary.length);
    state->compressor = ZSTD_createCCtx();
    state->decompressor = ZSTD_createDCtx();
    if (!state->for_compressing || !state->for_decompressing)
        return error_set(error, TARE_USAGE, "zstd-dict: this is no dictionary");
    ZSTD_DCtx_refDDict(state->decompressor, state->for_decompressing);
    return 0;
}

static int dict_learned(const struct step *step, double records_each, struct tare_error *error)
{
    struct dict_state *state = step->state;
    (void)records_each;
    buffer_reserve(&state->dictionary, DICTIONARY_SIZE);
    ZDICT_fastCover_params_t parameters = {.d = TRAIN_D,
                                           .f = TRAIN_F,
                                           .steps = TRAIN_STEPS,
                                           .accel = 1,
                                           .nbThreads = 1,
                                           .zParams.compressionLevel = ZSTD_CLEVEL_DEFAULT};
    size_t length = ZDICT_optimizeTrainFromBuffer_fastCover(state->dictionary.data, DICTIONARY_SIZE,
                                                            state->sample.data, state->sizes,
                                                            (unsigned)state->count, &parameters);
    if (ZDICT_isError(length))
        return error_set(error, TARE_USAGE,
                         "zstd-dict: no dictionary can be trained on %zu records of %zu bytes in "
                         "all (%s); take more records, or 'zstd'",
                         state->count, state->sample.length, ZDICT_getErrorName(length));
    state->dictionary.length = length;
    buffer_free(&state->sample);
    free(state->sizes);
    state->sizes = NULL;
    return take_dictionary(state, step->parameter, error);
}

static int dict_apply(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    struct dict_state *state = step->state;
    (void)arena;
    if (!state->for_compressing)
        return error_set(error, TARE_USAGE, "zstd-dict: there is no dictionary yet");
    size_t room = ZSTD_compressBound(in->bytes.length);
    buffer_reserve(&out->bytes, room);
    size_t length =
        ZSTD_compress_usingCDict(state->compressor, out->bytes.data, room, in->bytes.data,
                                 in->bytes.length, state->for_compressing);
    if (ZSTD_isError(length))
        return error_set(error, TARE_USAGE, "zstd-dict: %s", ZSTD_getErrorName(length));
    out->bytes.length = length;
    compressor_count(in, out);
    return 0;
}

static int dict_undo(const struct step *step, struct arena *arena, const struct item *in,
                     struct item *out, struct tare_error *error)
{
    struct dict_state *state = step->state;
    (void)arena;
    if (!state->for_decompressing)
        return error_set(error, TARE_USAGE, "zstd-dict: there is no dictionary yet");
    ZSTD_DCtx_reset(state->decompressor, ZSTD_reset_session_only);
    return zstd_decompress(state->decompressor, "zstd-dict", buffer_slice(&in->bytes), &out->bytes,
                           error);
}

static int dict_table(const struct step *step, struct arena *arena, struct item *out,
                      struct tare_error *error)
{
    const struct dict_state *state = step->state;
    (void)error;
    out->bytes =
        (struct buffer){.data = arena_copy(arena, state->dictionary.data, state->dictionary.length),
                        .length = state->dictionary.length};
    out->counted.framing = (int64_t)out->bytes.length;
    return 0;
}

static uint32_t first_word(struct slice bytes)
{
    uint32_t word = 0;
    if (bytes.length >= sizeof word)
        memcpy(&word, bytes.bytes, sizeof word);
    return le32toh(word);
}

static int dict_load(const struct step *step, struct arena *arena, const struct item *table,
                     struct tare_error *error)
{
    struct dict_state *state = step->state;
    (void)arena;
    dict_close(step);
    if (first_word(buffer_slice(&table->bytes)) != ZSTD_MAGIC_DICTIONARY)
        return error_set(error, TARE_USAGE, "zstd-dict: this is no dictionary");
    buffer_append(&state->dictionary, table->bytes.data, table->bytes.length);
    return take_dictionary(state, step->parameter, error);
}

/* A dictionary is told from a frame by its first word, and put into a skippable frame. */
static void dict_frame(const struct step *step, struct slice item, struct buffer *stream)
{
    uint32_t header[2] = {htole32(ZSTD_MAGIC_SKIPPABLE_START), htole32((uint32_t)item.length)};
    (void)step;
    if (first_word(item) == ZSTD_MAGIC_DICTIONARY)
        buffer_append(stream, header, sizeof header);
    buffer_append(stream, item.bytes, item.length);
}

static int dict_unframe(const struct step *step, struct slice stream, bool last, struct slice *item,
                        size_t *length, struct tare_error *error)
{
    if (zstd_unframe(step, stream, last, item, length, error))
        return -1;
    if (*length > SKIPPABLE_HEADER &&
        (first_word(*item) & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START)
        *item = slice_of(item->bytes + SKIPPABLE_HEADER, *length - SKIPPABLE_HEADER);
    return 0;
}

const struct step_kind step_zstd_dict = {
    .name = "zstd-dict",
    .summary = "one Zstandard frame, of level N, 1 to 22 (3), by a dictionary of 16 KiB that is "
               "trained on the records and kept once",
    .takes = FORM_BYTES,
    .gives = FORM_BYTES,
    .parameter_low = 1,
    .parameter_high = 22,
    .parameter_default = ZSTD_CLEVEL_DEFAULT,
    .apply = dict_apply,
    .undo = dict_undo,
    .state_size = sizeof(struct dict_state),
    .close = dict_close,
    .learn = dict_learn,
    .learn_bytes = 2 * SAMPLE_SIZE, /* half of which thin_sample may have taken */
    .learned = dict_learned,
    .table = dict_table,
    .load = dict_load,
    .effort = zstd_effort,
    .frame = dict_frame,
    .unframe = dict_unframe,
};

/* What the steps that compress share. */
#ifndef TARE_ENCODERS_COMPRESSOR_H
#define TARE_ENCODERS_COMPRESSOR_H

#include "encoders/encoding.h"

/* Counts what a compressor made of in: all that in was counted as, and the difference in length. */
void compressor_count(const struct item *in, struct item *out);

/* Room that a decompressor's output is first given: what the header claims, as long as that is not
 * much more than `compressed` bytes are likely to hold, so that a false claim costs nothing. */
void compressor_reserve(struct buffer *out, size_t compressed, uint64_t claimed);

/* Errors in one form: "zstd: cut short after 7 bytes". */
int compressor_cut_short(const char *name, size_t length, struct tare_error *error);
int compressor_more_follows(const char *name, size_t length, struct tare_error *error);

/* A format whose end is found only by decompressing: appends to out what the frame holds that the
 * bytes begin with, *length is its length, or 0 where it is not whole. keep: false where only the
 * length is wanted, and out may lose what it held. */
typedef int compressor_read(const struct step *step, struct slice bytes, bool keep,
                            struct buffer *out, size_t *length, struct tare_error *error);
/* Room for the next piece of output, in such a function. */
void compressor_make_room(struct buffer *out, bool keep);
/* undo and unframe of struct step_kind by such a function. */
int compressor_undo(compressor_read *read, const struct step *step, const struct item *in,
                    struct item *out, struct tare_error *error);
int compressor_unframe(compressor_read *read, const struct step *step, struct slice stream,
                       bool last, struct slice *item, size_t *length, struct tare_error *error);

#endif

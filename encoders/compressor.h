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

#endif

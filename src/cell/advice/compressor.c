/* A compressor that is there and gains nothing, or is not there and would gain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cell/advice.h"
#include "core/memory.h"
#include "core/units.h"

/* A gain of this share of what the compressor takes off counts as none: it is lost to rounding. */
#define GAIN_KEPT 0.1

/* "zstd", or "lz4+zstd". */
static char *names_of(const struct encoding *encoding, size_t first)
{
    struct buffer names = {0};
    for (size_t i = first; i < encoding->step_count; i++)
        buffer_format(&names, "%s%s", i > first ? "+" : "", encoding->steps[i].kind->name);
    return buffer_steal(&names);
}

static void consider_present(const struct advising *advising, size_t first)
{
    const struct encoding *encoding = advising->question->request->encoding;
    char *without = advice_encoding(advising, first, encoding->step_count - first, NULL);
    char *names = names_of(encoding, first);
    struct advice_weight plain;
    char off[UNITS_SIZE], kept[UNITS_SIZE];
    if (advice_weigh(advising, &(struct advice_variant){.encoding = without}, &plain)) {
        double gain = plain.allocated - advising->weight.allocated;
        double compressed = -advising->weight.compression;
        units_decimal(off, fabs(compressed), 1);
        units_decimal(kept, fabs(gain), 1);
        if (compressed <= 0)
            advice_add(advising, "compressor", without, &plain,
                       "%s makes a record %s bytes longer: %s would save %s", names, off, without,
                       gain < 0 ? kept : "its time alone");
        else if (gain < GAIN_KEPT * compressed)
            advice_add(advising, "compressor", without, &plain,
                       "the compressor's gain stays inside one size class: %s takes %s bytes off a "
                       "record, and memory %s %s",
                       names, off, gain < 0 ? "grows by" : "shrinks by", kept);
    }
    free(names);
    free(without);
}

/* The compressor that is tried where there is none, at its default level. */
#define TRIED "zstd"
/* What it saves must be worth its time. */
#define SHARE_TOLD 0.05

static void consider_absent(const struct advising *advising)
{
    const struct encoding *encoding = advising->question->request->encoding;
    char *with = advice_encoding(advising, encoding->step_count, 0, TRIED);
    struct advice_weight compressed;
    char percent[UNITS_SIZE], saved[UNITS_SIZE];
    if (advice_weigh(advising, &(struct advice_variant){.encoding = with}, &compressed) &&
        advice_share(advising, &compressed) >= SHARE_TOLD)
        advice_add(advising, "compressor", with, &compressed,
                   "it compresses: %s would save %s of it, %s bytes a record", with,
                   units_percent(percent, advice_share(advising, &compressed), 0),
                   units_decimal(saved, advising->weight.allocated - compressed.allocated, 1));
    free(with);
}

static void consider(const struct advising *advising)
{
    const struct encoding *encoding = advising->question->request->encoding;
    size_t codec = advice_codec_place(encoding);
    if (codec + 1 < encoding->step_count)
        consider_present(advising, codec + 1);
    else if (codec < encoding->step_count)
        consider_absent(advising);
}

const struct advice_kind advice_compressor = {
    .name = "compressor",
    .summary = "one whose gain is lost to rounding; what one would save where there is none",
    .consider = consider,
};

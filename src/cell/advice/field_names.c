/* Field names, and what shorter ones or none would save. */
#include <stdlib.h>
#include <string.h>

#include "cell/advice.h"
#include "core/units.h"

/* Names that take less than this of it are not worth a word. */
#define SHARE_TOLD 0.05

struct choice {
    char *encoding; /* NULL: none that can be weighed */
    struct advice_weight weight;
};

static void choose(const struct advising *advising, char *encoding, struct choice *choice)
{
    *choice = (struct choice){.encoding = encoding};
    if (!advice_weigh(advising, &(struct advice_variant){.encoding = encoding}, &choice->weight)) {
        free(encoding);
        choice->encoding = NULL;
    }
}

static void consider(const struct advising *advising)
{
    const struct encoding *encoding = advising->question->request->encoding;
    const struct advice_weight *own = &advising->weight;
    struct choice by_short = {0}, by_array = {0};
    size_t codec = advice_codec_place(encoding);
    char percent[UNITS_SIZE], names[UNITS_SIZE], saved[UNITS_SIZE], also[UNITS_SIZE];
    if (own->field_names < SHARE_TOLD * own->allocated ||
        encoding->shape->holds == OBJECT_JSON) /* which holds each name once */
        return;
    if (!advice_has_step(encoding, "short"))
        choose(advising, advice_encoding(advising, 0, 0, "short"), &by_short);
    if (codec < encoding->step_count && !advice_has_step(encoding, "msgpack-array"))
        choose(advising, advice_encoding(advising, codec, 1, "msgpack-array"), &by_array);
    struct choice *best = by_array.encoding && (!by_short.encoding || by_array.weight.allocated <
                                                                          by_short.weight.allocated)
                              ? &by_array
                              : &by_short;
    struct choice *second = best == &by_array ? &by_short : &by_array;
    bool both = second->encoding && advice_share(advising, &second->weight) >= ADVICE_SHARE_LEAST;
    units_percent(percent, own->field_names / own->allocated, 0);
    units_decimal(names, own->field_names, 1);
    if (best->encoding && advice_share(advising, &best->weight) >= ADVICE_SHARE_LEAST) {
        units_decimal(saved, own->allocated - best->weight.allocated, 1);
        units_decimal(also, own->allocated - second->weight.allocated, 1);
        advice_add(advising, "field names", best->encoding, &best->weight,
                   "field names are %s of it, %s bytes a record: %s would save %s%s%s%s%s", percent,
                   names, best->encoding, saved, both ? ", " : "", both ? second->encoding : "",
                   both ? " " : "", both ? also : "");
    } else if (best->encoding) {
        advice_add(
            advising, "field names", NULL, NULL,
            "field names are %s of it, %s bytes a record, but %s would save no more than %s: "
            "blocks stay in their size classes",
            percent, names, best->encoding,
            units_decimal(saved, own->allocated - best->weight.allocated, 1));
    }
    free(by_short.encoding);
    free(by_array.encoding);
}

const struct advice_kind advice_field_names = {
    .name = "field names",
    .summary = "their share, and what short ones or an array would save",
    .consider = consider,
};

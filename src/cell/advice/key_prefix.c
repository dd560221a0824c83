/* What every key begins with. */
#include "cell/advice.h"
#include "core/units.h"

/* How many bytes all keys of the sample begin with, without a number that they merely share the
 * first digits of. */
static size_t common_prefix(const struct sample *sample)
{
    struct slice first = sample_record(sample, 0)->key;
    size_t length = first.length;
    for (int64_t i = 1; i < sample_count(sample); i++) {
        struct slice key = sample_record(sample, i)->key;
        size_t same = 0;
        while (same < length && same < key.length && key.bytes[same] == first.bytes[same])
            same++;
        length = same;
    }
    while (length && first.bytes[length - 1] >= '0' && first.bytes[length - 1] <= '9')
        length--;
    return length;
}

static void consider(const struct advising *advising)
{
    const struct sample *sample = advising->question->sample;
    struct advice_weight other;
    char shown[SLICE_SHOW_SIZE], mean[UNITS_SIZE], saved[UNITS_SIZE];
    size_t prefix = sample_count(sample) > 1 ? common_prefix(sample) : 0;
    int64_t keys = 0;
    if (prefix == 0 ||
        !advice_weigh(advising, &(struct advice_variant){.key_cut = prefix}, &other) ||
        advice_share(advising, &other) < ADVICE_SHARE_LEAST)
        return;
    for (int64_t i = 0; i < sample_count(sample); i++)
        keys += (int64_t)sample_record(sample, i)->key.length;
    advice_add(advising, "key prefix", NULL, &other,
               "every key begins with '%s', %zu of its %s bytes: without it %s bytes a record "
               "would be saved",
               slice_show(slice_of(sample_record(sample, 0)->key.bytes, prefix), shown), prefix,
               units_decimal(mean, (double)keys / (double)sample_count(sample), 1),
               units_decimal(saved, advising->weight.allocated - other.allocated, 1));
}

const struct advice_kind advice_key_prefix = {
    .name = "key prefix",
    .summary = "what every key begins with, and what it costs",
    .consider = consider,
};

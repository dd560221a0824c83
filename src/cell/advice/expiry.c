/* What a time to live costs. */
#include <stdlib.h>

#include "cell/advice.h"
#include "core/units.h"

static void consider(const struct advising *advising)
{
    struct advice_weight other;
    char cost[UNITS_SIZE], percent[UNITS_SIZE];
    if (advising->question->request->encoding->options.ttl == 0)
        return;
    char *without = advice_without_option(advising, "ttl");
    if (advice_weigh(advising, &(struct advice_variant){.encoding = without}, &other))
        advice_add(advising, "expiry", without, &other,
                   "the time to live costs %s bytes a record, %s of it",
                   units_decimal(cost, advising->weight.allocated - other.allocated, 1),
                   units_percent(percent, advice_share(advising, &other), 1));
    free(without);
}

const struct advice_kind advice_expiry = {
    .name = "expiry",
    .summary = "what a time to live costs",
    .consider = consider,
};

/* A table that is about to double. */
#include "cell/advice.h"
#include "core/units.h"

/* So near: a share of the records that there are. */
#define NEAR 0.05
/* Bytes a record that are worth a word. */
#define LEAST 1.0

static void consider(const struct advising *advising)
{
    const struct prediction *prediction = advising->question->prediction;
    int64_t records = advising->question->request->selection->records;
    char at[UNITS_SIZE], more[UNITS_SIZE], bytes[UNITS_SIZE], freed[UNITS_SIZE];
    if (prediction->step_count == 0)
        return;
    const struct table_step *step = &prediction->steps[0];
    int64_t left = step->records - records;
    if (left < 0 || (double)left > NEAR * (double)records ||
        (double)step->bytes < LEAST * (double)records)
        return;
    units_count(more, left);
    units_bytes(bytes, step->bytes);
    units_bytes(freed, step->freed_after);
    advice_add(
        advising, "table step", NULL, NULL,
        "the key table doubles at record %s, %s more than now: %s at once, less %s when it is "
        "rehashed",
        units_count(at, step->records), more, bytes, freed);
}

const struct advice_kind advice_table_step = {
    .name = "table step",
    .summary = "how many records are left until a table doubles",
    .consider = consider,
};

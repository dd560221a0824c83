/* Whole numbers that the records hold as text. */
#include "cell/advice.h"
#include "core/units.h"

struct texts_seen {
    int64_t texts, numbers;
};

static void see(const struct member *members, size_t count, struct texts_seen *seen)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *value = &members[i].value;
        int64_t number;
        if (value->type == VALUE_TEXT) {
            seen->texts++;
            seen->numbers += slice_integer(value->as.text, &number);
        } else if (value->type == VALUE_ARRAY || value->type == VALUE_OBJECT) {
            see(value->as.children.items, value->as.children.count, seen);
        }
    }
}

static void consider(const struct advising *advising)
{
    const struct sample *sample = advising->question->sample;
    struct texts_seen seen = {0};
    struct advice_weight other;
    char percent[UNITS_SIZE], saved[UNITS_SIZE];
    for (int64_t i = 0; i < sample_count(sample); i++) {
        const struct record *record = sample_record(sample, i);
        see(record->fields, record->field_count, &seen);
    }
    if (seen.numbers && advice_weigh(advising, &(struct advice_variant){.numbers = true}, &other) &&
        advice_share(advising, &other) >= ADVICE_SHARE_LEAST)
        advice_add(advising, "numbers as text", NULL, &other,
                   "%s of the texts are whole numbers: held as numbers they would save %s bytes a "
                   "record",
                   units_percent(percent, (double)seen.numbers / (double)seen.texts, 0),
                   units_decimal(saved, advising->weight.allocated - other.allocated, 1));
}

const struct advice_kind advice_numbers = {
    .name = "numbers as text",
    .summary = "what whole numbers that are texts would save as numbers",
    .consider = consider,
};

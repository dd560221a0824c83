#include "cell/advice.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

extern const struct advice_kind advice_size_class, advice_packed_limit, advice_field_names,
    advice_compressor, advice_codec, advice_numbers, advice_key_prefix, advice_expiry,
    advice_table_step, advice_bucket;

const struct advice_kind *const advice_kinds[] = {
    &advice_size_class,
    &advice_packed_limit,
    &advice_field_names,
    &advice_compressor,
    &advice_codec,
    &advice_numbers,
    &advice_key_prefix,
    &advice_expiry,
    &advice_bucket,
    &advice_table_step,
    NULL,
};

int advice_table_check(const struct advice_kind *const kinds[], struct tare_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const struct advice_kind *kind = kinds[i];
        if (!kind->name || !kind->name[0] || !kind->summary || !kind->consider)
            return error_set(error, TARE_USAGE, "internal: kind of note %zu is incomplete", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "internal: kind of note '%s' is there twice",
                                 kind->name);
    }
    return 0;
}

int advice_kinds_check(struct tare_error *error)
{
    return advice_table_check(advice_kinds, error);
}

/* ---- variants ------------------------------------------------------------------------------ */

/* The sample with each of its records changed. */
struct altered {
    struct dataset dataset;
    struct dataset_kind kind;
    struct dataset *plain;
    const struct advice_variant *variant;
};

/* Text that is a whole number's canonical one becomes that number. */
static void alter_numbers(struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct value *value = &members[i].value;
        int64_t number;
        if (value->type == VALUE_TEXT && slice_integer(value->as.text, &number))
            *value = (struct value){.type = VALUE_INTEGER, .as.integer = number};
        else if (value->type == VALUE_ARRAY || value->type == VALUE_OBJECT)
            alter_numbers(value->as.children.items, value->as.children.count);
    }
}

static int altered_read(struct dataset *dataset, int64_t index, struct arena *arena,
                        struct record *record, struct tare_error *error)
{
    const struct altered *altered = dataset->state;
    const struct advice_variant *variant = altered->variant;
    if (dataset_read(altered->plain, index, arena, record, error))
        return -1;
    if (variant->numbers) {
        *record = record_copy(record, arena);
        alter_numbers(record->fields, record->field_count);
    }
    if (variant->key_cut < record->key.length)
        record->key =
            slice_of(record->key.bytes + variant->key_cut, record->key.length - variant->key_cut);
    return 0;
}

static struct dataset *alter(struct altered *altered, struct dataset *plain,
                             const struct advice_variant *variant)
{
    *altered = (struct altered){
        .dataset = *plain, .kind = *plain->kind, .plain = plain, .variant = variant};
    altered->kind.read = altered_read;
    altered->dataset.kind = &altered->kind;
    altered->dataset.state = altered;
    return &altered->dataset;
}

static bool weigh_by(const struct advising *advising, struct encoding *encoding,
                     struct dataset *dataset, const struct advice_variant *variant,
                     struct advice_weight *weight)
{
    const struct advice_question *question = advising->question;
    int64_t records = question->request->selection->records;
    struct cell_request request = *question->request;
    struct figures settings = {0};
    struct tare_error ignored;
    struct counted counted;
    struct prediction prediction = {0};
    request.encoding = encoding;
    struct corridor corridor = {.request = &request, .dataset = dataset};
    figures_copy(&settings, question->settings);
    if (variant->settings)
        figures_copy(&settings, variant->settings);
    corridor.model = model_open(question->build, &settings, &ignored);
    bool weighed =
        corridor.model && corridor_predict(&corridor, sample_count(question->sample),
                                           question->inputs, &counted, &prediction, &ignored) == 0;
    if (weighed)
        *weight =
            (struct advice_weight){.allocated = (double)prediction.allocated / (double)records,
                                   .resident = (double)prediction.resident / (double)records,
                                   .field_names = (double)counted.field_names / (double)records,
                                   .compression = (double)counted.compression / (double)records};
    prediction_free(&prediction);
    model_close(corridor.model);
    arena_free(&corridor.arena);
    figures_free(&settings);
    return weighed;
}

bool advice_weigh(const struct advising *advising, const struct advice_variant *variant,
                  struct advice_weight *weight)
{
    const struct advice_question *question = advising->question;
    int64_t records = question->request->selection->records;
    int64_t sampled = sample_count(question->sample);
    struct altered altered;
    struct dataset *dataset = alter(&altered, sample_dataset(question->sample, records), variant);
    struct encoding *encoding = question->request->encoding, *other = NULL;
    struct tare_error ignored;
    if (variant->encoding) {
        other = encoding_parse(variant->encoding, &ignored);
        if (!other)
            return false;
        encoding_fit(other, dataset);
        if (encoding_learn_from(other, dataset, sampled, records, &ignored)) {
            encoding_free(other);
            return false;
        }
        encoding = other;
    }
    bool weighed = weigh_by(advising, encoding, dataset, variant, weight);
    encoding_free(other);
    return weighed;
}

double advice_share(const struct advising *advising, const struct advice_weight *other)
{
    return advising->weight.allocated > 0
               ? (advising->weight.allocated - other->allocated) / advising->weight.allocated
               : 0;
}

void advice_add(const struct advising *advising, const char *kind, const char *change,
                const struct advice_weight *other, const char *format, ...)
{
    double records = (double)advising->question->request->selection->records;
    const struct advice_weight *own = &advising->weight;
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ledger_advise(advising->ledger, kind, text, change,
                  other ? llround((own->allocated - other->allocated) * records) : 0,
                  other ? llround((own->resident - other->resident) * records) : 0);
}

int64_t advice_objects(const struct advising *advising, struct arena *arena, int64_t most,
                       object_sink *sink, void *context)
{
    const struct advice_question *question = advising->question;
    int64_t count = sample_count(question->sample), taken = count < most ? count : most;
    struct tare_error ignored;
    struct arena own = {0};
    int failed = 0;
    for (int64_t i = 0; !failed && i < taken; i++) {
        const struct record *record = sample_record(question->sample, i * count / taken);
        arena_reset(&own);
        failed = encoding_apply(question->request->encoding, record, arena ? arena : &own, sink,
                                context, &ignored);
    }
    arena_free(&own);
    return failed ? 0 : taken;
}

/* ---- encodings ----------------------------------------------------------------------------- */

char *advice_encoding(const struct advising *advising, size_t first, size_t dropped,
                      const char *inserted)
{
    const char *text = advising->question->request->encoding->text;
    size_t head = strcspn(text, "+@");
    const char *options = text + strcspn(text, "@");
    struct buffer out = {0};
    size_t place = 0;
    buffer_append(&out, text, head);
    for (const char *step = text + head; *step == '+'; place++) {
        size_t length = strcspn(step + 1, "+@");
        if (place == first && inserted)
            buffer_format(&out, "+%s", inserted);
        if (place < first || place >= first + dropped)
            buffer_append(&out, step, length + 1);
        step += length + 1;
    }
    if (first >= place && inserted)
        buffer_format(&out, "+%s", inserted);
    buffer_text(&out, options);
    return buffer_steal(&out);
}

char *advice_without_option(const struct advising *advising, const char *name)
{
    const char *text = advising->question->request->encoding->text;
    struct buffer out = {0};
    size_t head = strcspn(text, "@");
    buffer_append(&out, text, head);
    for (const char *option = text + head; *option == '@';) {
        size_t length = strcspn(option + 1, "@");
        size_t named = strcspn(option + 1, "@=");
        if (named != strlen(name) || strncmp(option + 1, name, named) != 0)
            buffer_append(&out, option, length + 1);
        option += length + 1;
    }
    return buffer_steal(&out);
}

size_t advice_codec_place(const struct encoding *encoding)
{
    size_t place = 0;
    while (place < encoding->step_count && encoding->steps[place].kind->gives != FORM_BYTES)
        place++;
    return place;
}

bool advice_has_step(const struct encoding *encoding, const char *name)
{
    for (size_t i = 0; i < encoding->step_count; i++)
        if (strcmp(encoding->steps[i].kind->name, name) == 0)
            return true;
    return false;
}

/* ---- the whole ----------------------------------------------------------------------------- */

void advice_give(const struct advice_question *question, struct ledger *ledger)
{
    struct advising advising = {.question = question, .ledger = ledger};
    if (question->request->selection->records == 0 || sample_count(question->sample) == 0 ||
        !advice_weigh(&advising, &(struct advice_variant){0}, &advising.weight))
        return;
    for (size_t i = 0; advice_kinds[i]; i++)
        advice_kinds[i]->consider(&advising);
}

/* The table of models, its start-up check, and the lists that models fill. */
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

extern const struct model_kind model_null, model_redis, model_mongodb, model_memory;

const struct model_kind *const model_kinds[] = {
    &model_null, &model_redis, &model_mongodb, &model_memory, NULL,
};

int model_kinds_check(struct tare_error *error)
{
    for (size_t i = 0; model_kinds[i]; i++) {
        const struct model_kind *kind = model_kinds[i];
        if (!kind->name || !kind->explanation || !kind->fits || !kind->open || !kind->add ||
            !kind->predict || !kind->measure || !kind->close)
            return error_set(error, TARE_USAGE, "model '%s' of the table is incomplete",
                             kind->name ? kind->name : "?");
        for (const struct published *figure = kind->published; figure && figure->name; figure++)
            if (!figure->figures[0] || figure->unit <= 0)
                return error_set(error, TARE_USAGE, "figure '%s' of model '%s' is incomplete",
                                 figure->name, kind->name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(model_kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "model '%s' stands twice in the table",
                                 kind->name);
    }
    return allocator_kinds_check(error);
}

const struct model_kind *model_kind_of(const struct build *build)
{
    const struct model_kind *const *kind = model_kinds;
    while (*kind && !(*kind)->fits(build))
        kind++;
    return *kind;
}

bool published_bytes(const struct published *published, const struct figures *samples,
                     int64_t *bytes)
{
    for (size_t i = 0; i < 2 && published->figures[i]; i++) {
        const struct figure *figure = figures_find(samples, published->figures[i]);
        if (figure && figure->type != FIGURE_TEXT) {
            *bytes = figure->integer * published->unit;
            return true;
        }
    }
    return false;
}

struct model *model_open(const struct build *build, const struct figures *settings,
                         struct tare_error *error)
{
    const struct model_kind *kind = model_kind_of(build);
    if (kind) {
        struct model *model = kind->open(build, settings, error);
        if (model)
            model->kind = kind;
        return model;
    }
    char names[200] = "";
    for (size_t i = 0; model_kinds[i]; i++) {
        size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "",
                 model_kinds[i]->name);
    }
    error_set(error, TARE_USAGE,
              "no model fits a server of kind '%s', version '%s' (there are: %s)", build->store,
              build->version, names);
    return NULL;
}

int model_takes(const struct build *build, enum object_type type, struct tare_error *error)
{
    for (size_t i = 0; model_kinds[i]; i++)
        if (model_kinds[i]->fits(build))
            return model_kinds[i]->takes ? model_kinds[i]->takes(build, type, error) : 0;
    return 0; /* model_open() says that none fits */
}

void model_close(struct model *model)
{
    if (model)
        model->kind->close(model);
}

static struct amount *amounts_next(struct amounts *amounts, const struct account *account,
                                   enum basis basis, int64_t bytes)
{
    MEMORY_GROW(amounts->items, amounts->count, amounts->capacity);
    struct amount *amount = &amounts->items[amounts->count++];
    *amount = (struct amount){.account = account, .basis = basis, .bytes = bytes};
    return amount;
}

void amounts_add(struct amounts *amounts, const struct account *account, enum basis basis,
                 int64_t bytes)
{
    amounts_next(amounts, account, basis, bytes);
}

void amounts_add_range(struct amounts *amounts, const struct account *account, enum basis basis,
                       int64_t bytes, int64_t low, int64_t high)
{
    struct amount *amount = amounts_next(amounts, account, basis, bytes);
    amount->low = low;
    amount->high = high;
    amount->has_range = true;
}

int64_t amounts_sum(const struct amounts *amounts)
{
    int64_t sum = 0;
    for (size_t i = 0; i < amounts->count; i++)
        sum += amounts->items[i].bytes;
    return sum;
}

void amounts_free(struct amounts *amounts)
{
    free(amounts->items);
    *amounts = (struct amounts){0};
}

/* Notes beyond the eighth are left out: the first ones are the ones that matter. */
static void note(char (*notes)[256], size_t *count, size_t most, const char *format, va_list list)
    __attribute__((format(printf, 4, 0)));

static void note(char (*notes)[256], size_t *count, size_t most, const char *format, va_list list)
{
    if (*count < most)
        vsnprintf(notes[(*count)++], sizeof notes[0], format, list);
}

void prediction_note(struct prediction *prediction, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    note(prediction->notes, &prediction->note_count,
         sizeof prediction->notes / sizeof prediction->notes[0], format, list);
    va_end(list);
}

void prediction_free(struct prediction *prediction)
{
    amounts_free(&prediction->amounts);
    amounts_free(&prediction->resident_amounts);
    blocks_free(&prediction->blocks);
    *prediction = (struct prediction){0};
}

void measurement_note(struct measurement *measurement, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    note(measurement->notes, &measurement->note_count,
         sizeof measurement->notes / sizeof measurement->notes[0], format, list);
    va_end(list);
}

void measurement_free(struct measurement *measurement)
{
    amounts_free(&measurement->amounts);
    *measurement = (struct measurement){0};
}

struct evidence_row *evidence_row(struct evidence *evidence, int64_t size)
{
    for (size_t i = 0; i < evidence->count; i++)
        if (evidence->rows[i].size == size)
            return &evidence->rows[i];
    MEMORY_GROW(evidence->rows, evidence->count, evidence->capacity);
    evidence->rows[evidence->count] = (struct evidence_row){.size = size};
    return &evidence->rows[evidence->count++];
}

static int by_size(const void *a, const void *b)
{
    const struct evidence_row *x = a, *y = b;
    return (x->size > y->size) - (x->size < y->size);
}

void evidence_sort(struct evidence *evidence)
{
    if (evidence->count > 0)
        qsort(evidence->rows, evidence->count, sizeof *evidence->rows, by_size);
}

void evidence_free(struct evidence *evidence)
{
    free(evidence->rows);
    *evidence = (struct evidence){0};
}

/* The null store's model: content and a slot of 16 bytes an object, nothing
 * else. The store's figures follow the same rule (src/stores/null.c), so every
 * ledger of it closes exactly: it makes commands testable without a server. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/model.h"

/* The null store's slot. */
#define SLOT 16

static bool fits(const struct build *build)
{
    return strcmp(build->store, "null") == 0;
}

static int64_t usable(const struct build *build, int64_t requested)
{
    (void)build;
    return requested;
}

extern const struct allocator_kind allocator_null;
const struct allocator_kind allocator_null = {
    .name = "null",
    .explanation = "the null store's: every request occupies itself",
    .fits = fits,
    .usable = usable,
};

struct null_model {
    struct model model;
    struct blocks blocks, once; /* of all records; of what is kept once */
};

static struct model *open(const struct build *build, const struct figures *settings,
                          struct tare_error *error)
{
    (void)settings;
    (void)error;
    struct null_model *null = memory_new(sizeof *null);
    null->model.build = *build;
    blocks_open(&null->blocks, &null->model.build);
    blocks_open(&null->once, &null->model.build);
    return &null->model;
}

static int add(struct model *model, const struct object *object, struct tare_error *error)
{
    struct null_model *null = (struct null_model *)model;
    (void)error;
    blocks_add_plain(object->once ? &null->once : &null->blocks, "slot", 1,
                     counted_sum(&object->counted), &account_null_slot, SLOT);
    return 0;
}

static int predict(struct model *model, int64_t sampled, int64_t records, int64_t counted,
                   const struct figures *inputs, struct prediction *prediction,
                   struct tare_error *error)
{
    const struct null_model *null = (const struct null_model *)model;
    (void)inputs;
    (void)error;
    prediction_free(prediction);
    blocks_open(&prediction->blocks, &model->build);
    blocks_merge(&prediction->blocks, &null->blocks);
    if (sampled > 0)
        blocks_scale(&prediction->blocks, (double)records / (double)sampled);
    blocks_merge(&prediction->blocks, &null->once);
    int64_t slots = llround(prediction->blocks.sums[account_place(&account_null_slot)]);
    amounts_add(&prediction->amounts, &account_null_slot, BASIS_MODELLED, slots);
    prediction->allocated = prediction->allocated_low = prediction->allocated_high =
        counted + slots;
    prediction->resident = prediction->resident_low = prediction->resident_high =
        prediction->allocated;
    return 0;
}

static int measure(struct model *model, const struct figures *base, const struct figures *end,
                   const struct prediction *prediction, struct measurement *measurement,
                   struct tare_error *error)
{
    (void)model;
    (void)prediction;
    (void)error;
    measurement_free(measurement);
    measurement->has_allocated = figures_has(end, "allocated");
    measurement->allocated = figures_growth(base, end, "allocated");
    measurement->base_allocated = figures_get(base, "allocated");
    measurement->has_resident = figures_has(end, "resident");
    measurement->resident = figures_growth(base, end, "resident");
    measurement->base_resident = figures_get(base, "resident");
    return 0;
}

static void close(struct model *model)
{
    struct null_model *null = (struct null_model *)model;
    blocks_free(&null->blocks);
    blocks_free(&null->once);
    free(null);
}

const struct model_kind model_null = {
    .name = "null",
    .explanation = "content and 16 bytes an object, for tests without a server",
    .fits = fits,
    .open = open,
    .add = add,
    .predict = predict,
    .measure = measure,
    .close = close,
};

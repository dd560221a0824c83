/* Measures a cell: a fresh server, its base, the load with checkpoints, and a
 * closed ledger a step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cell/advice.h"
#include "cell/measuring.h"
#include "cell/timing.h"
#include "core/clock.h"
#include "core/memory.h"
#include "probes/probe.h"
#include "stores/process.h"

/* Settled: figures within 0.1 % over 2 s, 10 s at most. */
#define SETTLE_SHARE    0.001
#define SETTLE_SECONDS  2.0
#define SETTLE_PATIENCE 10.0
#define SETTLE_GLANCE   0.25
/* Growth that is smaller than this is still: a server's own timers move some KiB. */
#define SETTLE_FLOOR (64 * 1024)

/* Records that a store is warmed up with: one, or one of each kind where hashes of other names may
 * take another branch of the server's hash seed; where an object holds many, as many as make its
 * blocks grow through all their sizes, so that the allocator has filled its caches of them. */
#define WARM_UP_TOGETHER 300
#define WARM_UP_BYTES    (1024 * 1024)
/* Kinds are looked for among the first records, and so many are asked of at most. */
#define WARM_UP_LOOKED 1000
#define WARM_UP_KINDS  16

void measuring_show(struct measuring *m, const char *stage, int64_t done, int64_t of, double rate)
{
    if (!m->progress)
        return;
    double now = clock_seconds();
    if (now - m->progress_shown < 0.2)
        return;
    m->progress_shown = now;
    m->progress->show(m->progress->context, stage, done, of, rate);
}

int measuring_settle(struct measuring *m, struct tare_error *error)
{
    double begin = clock_seconds(), still_since = begin;
    int64_t allocated = -1, resident = -1;
    if (!m->store->kind->settle)
        return 0;
    while (1) {
        struct figures glance = {0};
        bool quiet = true;
        measuring_show(m, "settle", 0, 0, 0);
        if (process_check_interrupt(error) ||
            (m->store->kind->settle && m->store->kind->settle(m->store, &quiet, error)) ||
            m->store->kind->glance(m->store, &glance, error)) {
            figures_free(&glance);
            return -1;
        }
        int64_t a = figures_get(&glance, "allocated"), r = figures_get(&glance, "resident");
        figures_free(&glance);
        double now = clock_seconds();
        int64_t moved_a = llabs(a - allocated), moved_r = llabs(r - resident);
        if (!quiet || allocated < 0 ||
            (moved_a > SETTLE_FLOOR && (double)moved_a > SETTLE_SHARE * (double)a) ||
            (moved_r > SETTLE_FLOOR && (double)moved_r > SETTLE_SHARE * (double)r)) {
            allocated = a;
            resident = r;
            still_since = now;
        }
        if (now - still_since >= SETTLE_SECONDS || now - begin >= SETTLE_PATIENCE)
            return 0;
        clock_pause(SETTLE_GLANCE);
    }
}

struct kinds {
    uint64_t signatures[WARM_UP_KINDS];
    size_t count;
    bool new; /* the last object was of none of them */
};

static int see_kind(void *context, const struct object *object, struct tare_error *error)
{
    struct kinds *kinds = context;
    (void)error;
    if (object->type != OBJECT_HASH || object->shared || kinds->count == WARM_UP_KINDS)
        return 0;
    uint64_t signature = object_names_signature(object);
    for (size_t i = 0; i < kinds->count; i++)
        if (kinds->signatures[i] == signature)
            return 0;
    kinds->signatures[kinds->count++] = signature;
    kinds->new = true;
    return 0;
}

/* Whether record `index` makes a hash whose field names no record before it had. */
static int look_for_kind(struct measuring *m, int64_t index, struct arena *arena,
                         struct kinds *kinds, struct tare_error *error)
{
    struct corridor *corridor = &m->corridor;
    struct record record = {0};
    kinds->new = false;
    arena_reset(arena);
    return dataset_read(corridor->dataset, index, arena, &record, error) ||
           encoding_apply(corridor->request->encoding, &record, arena, see_kind, kinds, error);
}

/* The objects of the first records, and those that are kept once; the arena's. */
static int gather_first(struct measuring *m, struct objects *objects, struct tare_error *error)
{
    struct corridor *corridor = &m->corridor;
    struct encoding *encoding = corridor->request->encoding;
    bool by_kind = encoding->shape->holds == OBJECT_HASH && encoding->shape->batch_most == 0;
    int64_t records = by_kind ? WARM_UP_LOOKED : encoding->shape->batch_most ? WARM_UP_TOGETHER : 1;
    int64_t bytes = 0;
    struct arena looked = {0};
    struct kinds kinds = {0};
    size_t seen = 0;
    int failed = 0;
    if (m->cell->records == 0)
        return 0;
    objects->arena = &corridor->arena;
    arena_reset(&corridor->arena);
    for (int64_t i = 0; !failed && i < records && i < m->cell->records; i++) {
        struct record record = {0};
        failed = by_kind && look_for_kind(m, i, &looked, &kinds, error);
        if (failed || (by_kind && !kinds.new))
            continue;
        failed = dataset_read(corridor->dataset, i, &corridor->arena, &record, error) ||
                 encoding_apply(encoding, &record, &corridor->arena, objects_take, objects, error);
        for (; seen < objects->count; seen++)
            bytes += counted_sum(&objects->items[seen].counted);
        if (bytes > WARM_UP_BYTES)
            break;
    }
    arena_free(&looked);
    return failed || encoding_tables(encoding, &corridor->arena, objects_take, objects, error) ? -1
                                                                                               : 0;
}

/* A restarted server has another hash seed. Asked after the sample, in which it leaves no trace. */
static int ask_branch_again(struct measuring *m, struct tare_error *error)
{
    const struct model *model = m->corridor.model;
    struct objects objects = {0};
    if (!m->restarted || m->branch_asked || !m->store->kind->ask_branch ||
        !model->kind->asks_branch || !model->kind->asks_branch(model))
        return 0;
    m->branch_asked = true;
    int failed = gather_first(m, &objects, error) ||
                 m->store->kind->ask_branch(m->store, objects.items, objects.count,
                                            &m->restarted_base, error);
    objects_free(&objects);
    return failed ? -1 : 0;
}

int measuring_read(struct measuring *m, struct figures *figures, struct tare_error *error)
{
    const struct store_kind *kind = m->store->kind;
    return (kind->steady && kind->steady(m->store, error)) || probes_read(m->store, figures, error)
               ? -1
               : 0;
}

/* Each probe once: what its first reading leaves in a server is no growth. */
static int read_probes_once(struct measuring *m, struct tare_error *error)
{
    struct figures figures = {0};
    int failed = measuring_read(m, &figures, error);
    figures_free(&figures);
    return failed;
}

int measuring_restart(struct measuring *m, struct tare_error *error)
{
    measuring_show(m, "restart", 0, 0, 0);
    if (m->store->kind->restart(m->store, error))
        return -1;
    if (m->store->kind->restarts_empty && read_probes_once(m, error))
        return -1;
    return measuring_settle(m, error);
}

/* What the steps to come do is done once with the empty server: its first time leaves traces. */
static int rehearse_steps(struct measuring *m, struct tare_error *error)
{
    const struct cell_steps *steps = &m->corridor.request->selection->steps;
    size_t kinds = 0;
    while (cell_step_kinds[kinds])
        kinds++;
    while (kinds-- > 0) {
        const struct cell_step_kind *kind = cell_step_kinds[kinds];
        if (kind->rehearse && cell_steps_have(steps, kind) && kind->rehearse(m, error))
            return -1;
    }
    return 0;
}

/* The base: probes read once, every command of the load used once, then sampled. */
static int sample_base(struct measuring *m, struct tare_error *error)
{
    struct cell *cell = m->cell;
    struct store *store = m->store;
    if (rehearse_steps(m, error) || read_probes_once(m, error))
        return -1;
    struct objects objects = {0};
    int failed = gather_first(m, &objects, error);
    if (!failed && store->kind->warm_up)
        failed = store->kind->warm_up(store, objects.items, objects.count, &cell->base, error);
    objects_free(&objects);
    if (failed || measuring_settle(m, error))
        return -1;
    store->made_by = NULL;
    store->purged = 0;
    return measuring_read(m, &cell->base, error);
}

void cell_model_settings(const struct figures *samples, struct figures *settings)
{
    for (size_t i = 0; i < samples->count; i++) {
        const struct figure *figure = &samples->items[i];
        if (strncmp(figure->name, "config.", 7) != 0)
            continue;
        if (figure->type == FIGURE_TEXT)
            figures_text(settings, figure->name + 7, figure->text);
        else
            figures_integer(settings, figure->name + 7, figure->integer);
    }
}

/* Checkpoints as growth over the base's totals, which only the first measurement tells. */
static void checkpoints_over_base(struct cell *cell, const struct measurement *measurement)
{
    for (size_t i = 0; i < cell->checkpoint_count; i++) {
        cell->checkpoints[i].allocated -= measurement->base_allocated;
        if (cell->checkpoints[i].resident >= 0 && measurement->has_resident)
            cell->checkpoints[i].resident -= measurement->base_resident;
        else
            cell->checkpoints[i].resident = -1;
    }
}

static void warn_swapped(struct measurement *measurement, const struct figures *end)
{
    int64_t swapped = figures_get(end, "status.VmSwap");
    if (swapped <= 0)
        return;
    measurement->has_resident = false;
    measurement_note(measurement,
                     "the server has %lld bytes in swap: its resident total can't be trusted and "
                     "is withheld",
                     (long long)swapped);
}

void measuring_forget_updates(struct measuring *m)
{
    free(m->updates);
    m->updates = NULL;
    m->updates_count = 0;
}

/* How many of the records were updated so many times and more, up to the times that none was: for
 * models whose objects change by being touched. */
static void tell_updates(const struct measuring *m, struct figures *samples)
{
    int64_t at_least[UINT8_MAX + 1] = {0};
    for (int64_t i = 0; i < m->updates_count; i++)
        at_least[m->updates[i]]++;
    for (int times = UINT8_MAX - 1; times > 0; times--)
        at_least[times] += at_least[times + 1];
    for (int times = 1; m->updates && times <= UINT8_MAX && at_least[times] > 0; times++) {
        char name[40];
        snprintf(name, sizeof name, "workload.updated.%d", times);
        figures_integer(samples, name, at_least[times]);
    }
}

/* The curve as growth over the base's totals, as checkpoints are. */
static void curve_over_base(struct workload *workload, const struct measurement *measurement)
{
    for (size_t i = 0; workload && i < workload->sample_count; i++) {
        struct workload_sample *sample = &workload->samples[i];
        sample->allocated -= measurement->base_allocated;
        if (sample->resident >= 0 && measurement->has_resident)
            sample->resident -= measurement->base_resident;
        else
            sample->resident = -1;
    }
}

/* Samples, predicts with the state inputs, measures, and closes one ledger. */
static int close_ledger(struct measuring *m, const char *state, struct tare_error *error)
{
    struct cell *cell = m->cell;
    struct model *model = m->corridor.model;
    MEMORY_GROW(cell->states, cell->state_count, cell->state_capacity);
    struct ledger *ledger = &cell->states[cell->state_count];
    *ledger = (struct ledger){0};
    struct prediction prediction = {0};
    struct measurement measurement = {0};
    const struct figures *base = m->restarted ? &m->restarted_base : &cell->base;
    int failed = measuring_read(m, &ledger->samples, error);
    if (m->store->purged)
        figures_integer(&ledger->samples, "store.purged", m->store->purged);
    m->store->purged = 0;
    if (m->store->made_by)
        figures_text(&ledger->samples, "store.made_by", m->store->made_by);
    tell_updates(m, &ledger->samples);
    if (!failed)
        failed = ask_branch_again(m, error);
    if (m->restarted)
        figures_copy(&ledger->base, &m->restarted_base);
    if (!failed && model->kind->state_inputs)
        failed = model->kind->state_inputs(model, base, &ledger->samples, &ledger->inputs, error);
    if (!failed)
        failed = model->kind->predict(model, cell->records, cell->records,
                                      counted_sum(&m->corridor.counted), &ledger->inputs,
                                      &prediction, error);
    if (!failed)
        failed =
            model->kind->measure(model, base, &ledger->samples, &prediction, &measurement, error);
    if (!failed) {
        warn_swapped(&measurement, &ledger->samples);
        if (m->store->unseen[0])
            measurement_note(&measurement, "resident memory is not shown: %s", m->store->unseen);
        if (model->kind->evidence)
            failed = model->kind->evidence(model, base, &ledger->samples, &prediction,
                                           &ledger->evidence);
    }
    if (!failed) {
        ledger_close(ledger, state, &m->corridor.counted, &prediction, &measurement);
        failed = ledger_check(ledger, error);
    }
    if (!failed && cell->state_count == 0) {
        const struct advice_question question = {.request = m->corridor.request,
                                                 .build = &cell->build,
                                                 .settings = &m->model_settings,
                                                 .inputs = &ledger->inputs,
                                                 .sample = m->corridor.sample,
                                                 .prediction = &prediction};
        advice_give(&question, ledger);
    }
    if (!failed) {
        if (cell->state_count == 0)
            checkpoints_over_base(cell, &measurement);
        curve_over_base(m->workload, &measurement);
        ledger->workload = m->workload;
        m->workload = NULL;
        cell->state_count++;
        free(cell->settings);
        cell->settings = corridor_settings_text(&m->corridor, &m->settings, &ledger->inputs);
        ledger->settings = memory_text(cell->settings);
    } else {
        ledger_free(ledger);
    }
    prediction_free(&prediction);
    measurement_free(&measurement);
    return failed;
}

static int measure_steps(struct measuring *m, struct tare_error *error)
{
    const struct cell_steps *steps = &m->corridor.request->selection->steps;
    if (steps->count == 0) {
        if (cell_step_load.run(m, NULL, error) || cell_step_settle.run(m, NULL, error))
            return -1;
        return close_ledger(m, cell_step_settle.state, error);
    }
    for (size_t i = 0; i < steps->count; i++) {
        const struct cell_step *step = &steps->items[i];
        if (step->kind->run(m, step, error) || close_ledger(m, step->state, error))
            return -1;
    }
    return 0;
}

static int measure(struct measuring *m, struct tare_error *error)
{
    const struct cell_request *request = m->corridor.request;
    struct cell *cell = m->cell;
    if (corridor_settings(&m->corridor, &m->settings, error))
        return -1;
    free(cell->settings);
    cell->settings = corridor_settings_text(&m->corridor, &m->settings, &(struct figures){0});
    m->store = request->server.kind->open(&request->server, &m->settings,
                                          &request->selection->limits, error);
    if (!m->store || m->store->kind->describe(m->store, &cell->build, error) ||
        model_takes(&cell->build, request->encoding->shape->holds, error))
        return -1;
    if (sample_base(m, error))
        return -1;
    build_defaults(&cell->build);
    build_refine(&cell->build, &cell->base);
    cell_set_name(cell, request, m->report);

    figures_copy(&m->model_settings, &m->settings);
    cell_model_settings(&cell->base, &m->model_settings);
    m->corridor.model = model_open(&cell->build, &m->model_settings, error);
    if (!m->corridor.model)
        return -1;
    m->corridor.store = m->store;
    m->corridor.sample = sample_open(m->corridor.dataset, cell->records);
    if (measure_steps(m, error))
        return -1;
    if (request->compared)
        timing_measure(request->encoding, m->corridor.sample, &cell->encode_ns, &cell->decode_ns);
    cell_marginals(cell);
    return 0;
}

int cell_measure(const struct cell_request *request, struct report *report, struct cell *cell,
                 const struct cell_progress *progress, struct tare_error *error)
{
    struct measuring m = {.report = report, .cell = cell, .progress = progress};
    cell->records = request->selection->records;
    cell->repeats = 1;
    if (request->broken_encoding) {
        *error = request->broken;
        cell_name_broken(request, report, cell);
        return -1;
    }
    snprintf(cell->build.store, sizeof cell->build.store, "%s", request->server.kind->name);
    int failed = corridor_open(&m.corridor, request, error);
    cell->encoding = memory_text(request->encoding->text);
    cell->dataset = memory_text(request->selection->dataset);
    cell->dataset_summary = corridor_dataset_summary(&m.corridor);
    if (!failed)
        failed = measure(&m, error);
    if (m.store)
        m.store->kind->close(m.store);
    model_close(m.corridor.model);
    corridor_close(&m.corridor);
    sample_free(m.corridor.sample);
    figures_free(&m.settings);
    figures_free(&m.model_settings);
    figures_free(&m.restarted_base);
    measuring_forget_updates(&m);
    workload_free(m.workload);
    cell->complete = !failed;
    if (failed) {
        cell->error = memory_text(error->message);
        if (!cell->name)
            cell_set_name(cell, request, report);
        if (!cell->settings)
            cell->settings = memory_text("");
    }
    return failed ? -1 : 0;
}

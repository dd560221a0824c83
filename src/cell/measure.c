/* Measures a cell: a fresh server, its base, the load with checkpoints, and a
 * closed ledger a step. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cell/advice.h"
#include "cell/corridor.h"
#include "cell/timing.h"
#include "core/memory.h"
#include "probes/probe.h"
#include "stores/process.h"

/* Checkpoints of a load: cheap figures, for the marginal cost. */
#define CHECKPOINTS 40

/* Settled: figures within 0.1 % over 2 s, 10 s at most. */
#define SETTLE_SHARE    0.001
#define SETTLE_SECONDS  2.0
#define SETTLE_PATIENCE 10.0
#define SETTLE_GLANCE   0.25
/* Growth that is smaller than this is still: a server's own timers move some KiB. */
#define SETTLE_FLOOR (64 * 1024)

/* Records that a store is warmed up with: one; where an object holds many, as many as make its
 * blocks grow through all their sizes, so that the allocator has filled its caches of them. */
#define WARM_UP_TOGETHER 300
#define WARM_UP_BYTES    (1024 * 1024)

struct measuring {
    struct corridor corridor;
    struct report *report;
    struct cell *cell;
    const struct cell_progress *progress;
    struct store *store;
    struct figures settings, model_settings; /* that tare gives; those and the server's own */
    /* Of a server that was restarted while it was empty; what a restarted one is held against. */
    struct figures restarted_base;
    bool restarted, branch_asked;
    double progress_shown; /* time of the last call */
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double own_cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* User and system time of a process, from fields 14 and 15 of /proc/PID/stat; 0 where unseen. */
static double process_cpu_seconds(pid_t pid)
{
    if (pid <= 0)
        return 0;
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *after = strrchr(text, ')'); /* the name may hold blanks */
    unsigned long user, system;
    if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                         &system) != 2)
        return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void sleep_seconds(double seconds)
{
    struct timespec wait = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&wait, NULL); /* a signal ends it early: the callers look */
}

static void show(struct measuring *m, const char *stage, int64_t done, int64_t of, double rate)
{
    if (!m->progress)
        return;
    double now = now_seconds();
    if (now - m->progress_shown < 0.2)
        return;
    m->progress_shown = now;
    m->progress->show(m->progress->context, stage, done, of, rate);
}

/* Waits until the server says that nothing is under way and its figures stand still. */
static int settle(struct measuring *m, struct tare_error *error)
{
    double begin = now_seconds(), still_since = begin;
    int64_t allocated = -1, resident = -1;
    if (!m->store->kind->settle)
        return 0;
    while (1) {
        struct figures glance = {0};
        bool quiet = true;
        show(m, "settle", 0, 0, 0);
        if (process_check_interrupt(error) ||
            (m->store->kind->settle && m->store->kind->settle(m->store, &quiet, error)) ||
            m->store->kind->glance(m->store, &glance, error)) {
            figures_free(&glance);
            return -1;
        }
        int64_t a = figures_get(&glance, "allocated"), r = figures_get(&glance, "resident");
        figures_free(&glance);
        double now = now_seconds();
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
        sleep_seconds(SETTLE_GLANCE);
    }
}

struct gathered {
    struct arena *arena;
    struct object *objects;
    size_t count, capacity;
    int64_t bytes;
};

static int gather(void *context, const struct object *object, struct tare_error *error)
{
    struct gathered *gathered = context;
    (void)error;
    /* A shape's elements may live no longer than this call. */
    MEMORY_GROW(gathered->objects, gathered->count, gathered->capacity);
    struct object *kept = &gathered->objects[gathered->count++];
    *kept = *object;
    if (object->element_count) {
        size_t size = object->element_count * sizeof *kept->elements;
        kept->elements = memcpy(arena_take(gathered->arena, size), object->elements, size);
    }
    if (object->entry_count) {
        size_t size = object->entry_count * sizeof *kept->entries;
        kept->entries = memcpy(arena_take(gathered->arena, size), object->entries, size);
    }
    gathered->bytes += counted_sum(&object->counted);
    return 0;
}

/* The objects of the first records, and those that are kept once; the arena's. */
static int gather_first(struct measuring *m, struct gathered *gathered, struct tare_error *error)
{
    struct corridor *corridor = &m->corridor;
    struct encoding *encoding = corridor->request->encoding;
    int64_t records = encoding->shape->batch_most ? WARM_UP_TOGETHER : 1;
    int failed = 0;
    if (m->cell->records == 0)
        return 0;
    gathered->arena = &corridor->arena;
    arena_reset(&corridor->arena);
    for (int64_t i = 0; !failed && i < records && i < m->cell->records; i++) {
        struct record record = {0};
        failed = dataset_read(corridor->dataset, i, &corridor->arena, &record, error) ||
                 encoding_apply(encoding, &record, &corridor->arena, gather, gathered, error);
        if (gathered->bytes > WARM_UP_BYTES)
            break;
    }
    return failed || encoding_tables(encoding, &corridor->arena, gather, gathered, error) ? -1 : 0;
}

/* A restarted server has another hash seed. Asked after the sample, in which it leaves no trace. */
static int ask_branch_again(struct measuring *m, struct tare_error *error)
{
    const struct model *model = m->corridor.model;
    struct gathered gathered = {0};
    if (!m->restarted || m->branch_asked || !m->store->kind->ask_branch ||
        !model->kind->asks_branch || !model->kind->asks_branch(model))
        return 0;
    m->branch_asked = true;
    int failed = gather_first(m, &gathered, error) ||
                 m->store->kind->ask_branch(m->store, gathered.objects, gathered.count,
                                            &m->restarted_base, error);
    free(gathered.objects);
    return failed ? -1 : 0;
}

static int read_probes(struct measuring *m, struct figures *figures, struct tare_error *error)
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
    int failed = read_probes(m, &figures, error);
    figures_free(&figures);
    return failed;
}

static int restart(struct measuring *m, struct tare_error *error)
{
    show(m, "restart", 0, 0, 0);
    if (m->store->kind->restart(m->store, error))
        return -1;
    if (m->store->kind->restarts_empty && read_probes_once(m, error))
        return -1;
    return settle(m, error);
}

/* What the steps to come do is done once with the empty server: its first time leaves traces. */
static int rehearse_steps(struct measuring *m, struct tare_error *error)
{
    const struct store_kind *kind = m->store->kind;
    const struct cell_steps *steps = &m->corridor.request->selection->steps;
    if (cell_steps_have(steps, STEP_RESTART) && kind->restarts_empty &&
        (restart(m, error) || read_probes(m, &m->restarted_base, error)))
        return -1;
    return cell_steps_have(steps, STEP_RELOAD) ? kind->reload(m->store, error) : 0;
}

/* The base: probes read once, every command of the load used once, then sampled. */
static int sample_base(struct measuring *m, struct tare_error *error)
{
    struct cell *cell = m->cell;
    struct store *store = m->store;
    if (rehearse_steps(m, error) || read_probes_once(m, error))
        return -1;
    struct gathered gathered = {0};
    int failed = gather_first(m, &gathered, error);
    if (!failed && store->kind->warm_up)
        failed = store->kind->warm_up(store, gathered.objects, gathered.count, &cell->base, error);
    free(gathered.objects);
    if (failed || settle(m, error))
        return -1;
    store->made_by = NULL;
    return read_probes(m, &cell->base, error);
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

static int take_checkpoint(struct measuring *m, int64_t done, double seconds,
                           struct tare_error *error)
{
    struct cell *cell = m->cell;
    struct figures glance = {0};
    if (m->store->kind->glance(m->store, &glance, error)) {
        figures_free(&glance);
        return -1;
    }
    struct prediction prediction = {0};
    MEMORY_GROW(cell->checkpoints, cell->checkpoint_count, cell->checkpoint_capacity);
    struct checkpoint *checkpoint = &cell->checkpoints[cell->checkpoint_count];
    *checkpoint = (struct checkpoint){
        .records = done,
        .allocated = figures_get(&glance, "allocated"),
        .resident = figures_has(&glance, "resident") ? figures_get(&glance, "resident") : -1,
        .counted = m->corridor.counted,
        .seconds = seconds,
    };
    figures_free(&glance);
    int failed = m->corridor.model->kind->predict(
        m->corridor.model, done, done, counted_sum(&m->corridor.counted), NULL, &prediction, error);
    for (size_t i = 0; !failed && i < prediction.amounts.count; i++)
        *sums_of(&checkpoint->modelled, prediction.amounts.items[i].account) +=
            prediction.amounts.items[i].bytes;
    prediction_free(&prediction);
    if (!failed)
        cell->checkpoint_count++;
    return failed;
}

/* Loads all records. The loader's connections are closed before every sample, so that their
 * buffers are in none. */
static int load(struct measuring *m, struct tare_error *error)
{
    struct cell *cell = m->cell;
    struct store *store = m->store;
    int64_t n = cell->records, segments = n < CHECKPOINTS ? n : CHECKPOINTS, done = 0;
    int64_t batch = cell_batch(m->corridor.request->selection);
    double elapsed = 0;
    double client_cpu = 0, server_cpu = process_cpu_seconds(store->pid);
    for (int64_t segment = 1; segment <= segments; segment++) {
        int64_t end = n / segments * segment + n % segments * segment / segments;
        double begin = now_seconds(), cpu = own_cpu_seconds();
        int failed = store->kind->load_open(store, error);
        if (!failed && done == 0)
            failed = corridor_tables(&m->corridor, error);
        for (; !failed && done < end; done++) {
            failed = corridor_pass(&m->corridor, done, error);
            if (!failed && batch > 0 && (done + 1) % batch == 0)
                failed = store->kind->flush(store, error);
            if ((done & 0xff) == 0) {
                double so_far = elapsed + now_seconds() - begin;
                show(m, "load", done, n, so_far > 0.5 ? (double)done / so_far : 0);
                if (!failed)
                    failed = process_check_interrupt(error);
            }
        }
        if (!failed)
            failed = store->kind->flush(store, error);
        elapsed += now_seconds() - begin;
        client_cpu += own_cpu_seconds() - cpu;
        store->kind->load_close(store);
        cell->load_seconds = elapsed;
        cell->client_cpu_seconds = client_cpu;
        cell->server_cpu_seconds = process_cpu_seconds(store->pid) - server_cpu;
        if (failed || take_checkpoint(m, done, elapsed, error))
            return -1;
    }
    return 0;
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
    int failed = read_probes(m, &ledger->samples, error);
    if (m->store->made_by)
        figures_text(&ledger->samples, "store.made_by", m->store->made_by);
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

static int take_step(struct measuring *m, enum step_type step, struct tare_error *error)
{
    int64_t count = 0;
    switch (step) {
    case STEP_LOAD:
        return load(m, error);
    case STEP_SETTLE:
        return settle(m, error);
    case STEP_READ:
        show(m, "read", 0, 0, 0);
        if (m->store->kind->read_all(m->store, &count, error))
            return -1;
        return settle(m, error);
    case STEP_RELOAD:
        show(m, "reload", 0, 0, 0);
        if (m->store->kind->reload(m->store, error))
            return -1;
        return settle(m, error);
    case STEP_RESTART:
        m->restarted = m->store->kind->restarts_empty;
        m->branch_asked = false;
        return restart(m, error);
    case STEP_TYPES:
        break;
    }
    return 0;
}

static int measure_steps(struct measuring *m, struct tare_error *error)
{
    const struct cell_steps *steps = &m->corridor.request->selection->steps;
    if (steps->count == 0) {
        if (take_step(m, STEP_LOAD, error) || take_step(m, STEP_SETTLE, error))
            return -1;
        return close_ledger(m, cell_state_names[STEP_SETTLE], error);
    }
    for (size_t i = 0; i < steps->count; i++)
        if (take_step(m, steps->items[i].type, error) ||
            close_ledger(m, steps->items[i].state, error))
            return -1;
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

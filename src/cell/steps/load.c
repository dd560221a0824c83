/* load: all records are written, with cheap figures along the way. */
#include "cell/measuring.h"
#include "core/clock.h"
#include "core/memory.h"
#include "stores/process.h"

/* Cheap figures along a load, for the marginal cost. */
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
static int load(struct measuring *m, const struct cell_step *step, struct tare_error *error)
{
    struct cell *cell = m->cell;
    struct store *store = m->store;
    (void)step;
    int64_t n = cell->records, done = 0;
    int64_t batch = cell_batch(m->corridor.request->selection);
    double elapsed = 0;
    double client_cpu = 0, server_cpu = process_cpu_seconds(store->pid);
    for (int64_t segment = 1; done < n; segment++) {
        int64_t end = corridor_segment_end(n, segment);
        double begin = clock_seconds(), cpu = clock_own_cpu();
        int failed = store->kind->load_open(store, error);
        corridor_connected(&m->corridor);
        if (!failed && done == 0)
            failed = corridor_tables(&m->corridor, error);
        for (; !failed && done < end; done++) {
            failed = corridor_pass(&m->corridor, done, error);
            if (!failed && batch > 0 && (done + 1) % batch == 0)
                failed = store->kind->flush(store, error);
            if ((done & 0xff) == 0) {
                double so_far = elapsed + clock_seconds() - begin;
                measuring_show(m, "load", done, n, so_far > 0.5 ? (double)done / so_far : 0);
                if (!failed)
                    failed = process_check_interrupt(error);
            }
        }
        if (!failed)
            failed = store->kind->flush(store, error);
        elapsed += clock_seconds() - begin;
        client_cpu += clock_own_cpu() - cpu;
        store->kind->load_close(store);
        cell->load_seconds = elapsed;
        cell->client_cpu_seconds = client_cpu;
        cell->server_cpu_seconds = process_cpu_seconds(store->pid) - server_cpu;
        if (failed || take_checkpoint(m, done, elapsed, error))
            return -1;
    }
    return 0;
}

static double forecast(const struct cell_step *step, const struct cell_forecast *known)
{
    (void)step;
    return known->load;
}

const struct cell_step_kind cell_step_load = {
    .name = "load",
    .state = "loaded",
    .summary = "all records are written; the first of every list",
    .run = load,
    .forecast = forecast,
};

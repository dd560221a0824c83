#include "cell/workload.h"

#include <errno.h>
#include <hdr/hdr_histogram.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cell/measuring.h"
#include "core/clock.h"
#include "core/memory.h"
#include "data/change.h"
#include "data/chooser.h"
#include "stores/process.h"

/* ---- settings ------------------------------------------------------------------------------ */

#define THREADS_MOST    1024
#define SECONDS_MOST    (24 * 3600)
#define PIPELINE_MOST   4096
#define RATE_MOST       100000000
#define OPERATIONS_MOST INT64_C(1000000000000)

const struct option_spec workload_options[] = {
    {"operations", OPTION_INTEGER, offsetof(struct workload_settings, operations), 1,
     OPERATIONS_MOST, NULL, "how many; k, M, G (as many as there are records)"},
    {"seconds", OPTION_INTEGER, offsetof(struct workload_settings, seconds), 1, SECONDS_MOST, NULL,
     "no operation is begun after so many"},
    {"distribution", OPTION_CHOICE, offsetof(struct workload_settings, distribution), 0, 0,
     distribution_names, "which records (sequential; of a workload as it says)"},
    {"threads", OPTION_INTEGER, offsetof(struct workload_settings, threads), 1, THREADS_MOST, NULL,
     "clients at once, each with a connection (1); 8/16/32: a step each"},
    {"pipeline", OPTION_INTEGER, offsetof(struct workload_settings, pipeline), 1, PIPELINE_MOST,
     NULL, "operations that a client sends before it waits for their answers (1)"},
    {"rate", OPTION_INTEGER, offsetof(struct workload_settings, rate), 1, RATE_MOST, NULL,
     "operations a second; latencies then count from when one was due"},
    {0}};

void workload_defaults(void *to)
{
    struct workload_settings *settings = to;
    settings->pipeline = 1;
    settings->distribution = -1;
    settings->distribution_else = DISTRIBUTION_SEQUENTIAL;
}

int workload_parse(struct cell_step *step, struct tare_error *error)
{
    struct workload_settings *settings = step->settings;
    double sum = 0;
    for (size_t i = 0; i < OPERATION_TYPES; i++)
        sum += settings->proportions[i];
    if (sum <= 0)
        return error_set(error, TARE_USAGE, "step '%s': its proportions add up to nothing",
                         step->text);
    if (settings->rate && settings->pipeline > 1)
        return error_set(error, TARE_USAGE,
                         "step '%s': an operation that is sent when it is due waits for no others; "
                         "leave pipeline or rate out",
                         step->text);
    if (settings->distribution < 0)
        settings->distribution = settings->distribution_else;
    if (settings->threads) {
        char *state = memory_format("%s@%lld", step->state, (long long)settings->threads);
        free(step->state);
        step->state = state;
    } else {
        settings->threads = 1;
    }
    return 0;
}

/* A step after which bytes have another length, or another one with the same length of values. */
static const char *compressor_of(const struct encoding *encoding)
{
    for (size_t i = 0; i < encoding->step_count; i++)
        if (encoding->steps[i].kind->takes == FORM_BYTES)
            return encoding->steps[i].kind->name;
    return NULL;
}

int workload_check(const struct cell_step *step, const struct server_spec *server,
                   const struct encoding *encoding, struct tare_error *error)
{
    const struct workload_settings *settings = step->settings;
    const struct store_kind *kind = server->kind;
    enum object_type type = encoding->shape->holds;
    const char *compressor = compressor_of(encoding);
    if (!kind->client_open)
        return cell_step_unknown_to(step, server, error);
    if (type != OBJECT_STRING && type != OBJECT_HASH && type != OBJECT_DOCUMENT &&
        type != OBJECT_TREE)
        return error_set(
            error, TARE_USAGE,
            "step '%s' is for strings, hashes, documents and trees by key; '%s:%s' holds none",
            step->kind->name, encoding->shape->store, encoding->shape->name);
    if (settings->proportions[OPERATION_UPDATE] > 0 && compressor)
        return error_set(error, TARE_USAGE,
                         "step '%s' keeps the length of what it updates, and '%s' of '%s' doesn't",
                         step->kind->name, compressor, encoding->text);
    if (settings->pipeline > kind->in_flight_most)
        return error_set(error, TARE_USAGE,
                         kind->in_flight_most == 1
                             ? "step '%s': a client of '%s' servers waits for each answer; leave "
                               "pipeline out"
                             : "step '%s': a client of '%s' servers sends no more than %lld ahead",
                         step->text, kind->name, (long long)kind->in_flight_most);
    return 0;
}

static int64_t operations_of(const struct workload_settings *settings, int64_t records)
{
    if (settings->operations)
        return settings->operations;
    return settings->seconds ? INT64_MAX : records;
}

double workload_forecast(const struct cell_step *step, const struct cell_forecast *known)
{
    const struct workload_settings *settings = step->settings;
    int64_t operations = operations_of(settings, known->records);
    /* As a load of one at a time, or what was asked for. */
    double each = known->round_trip / (double)settings->pipeline +
                  (known->records ? known->load / (double)known->records : 0);
    double seconds = (double)operations * each;
    if (settings->rate && (double)operations / (double)settings->rate > seconds)
        seconds = (double)operations / (double)settings->rate;
    if (settings->seconds && (double)settings->seconds < seconds)
        seconds = (double)settings->seconds;
    return seconds + known->settling;
}

/* ---- running ------------------------------------------------------------------------------- */

/* Latencies from 1 ns to 1 h, three digits of each. */
#define LATENCY_MOST   INT64_C(3600000000000)
#define LATENCY_DIGITS 3

#define SAMPLE_SECONDS 1.0
#define GLANCE_MS      100 /* between looks at an interrupt */

struct run;

struct worker {
    struct run *run;
    struct store_client *client;
    pthread_t thread;
    int64_t inserting;          /* the first record whose insert isn't acknowledged; -1: none */
    enum operation *operations; /* in flight, in turn */
    int64_t *due;               /* when each was to begin; 0: when it was sent */
};

struct run {
    struct measuring *m;
    const struct cell_step *step;
    const struct workload_settings *settings;
    /* Making an operation (drawing it, reading and encoding its record) is one worker's at a time:
     * data set, encoding and model are one. Under this: */
    pthread_mutex_t making;
    struct chooser chooser;
    struct objects objects, before;
    int64_t begun, most; /* operations */
    uint64_t purpose;    /* of its random numbers: another step's are others */
    int64_t records;     /* inserts that were begun included */
    bool failed;
    struct tare_error error; /* the first worker's that failed */
    int running;
    pthread_cond_t ended;
    /* Each worker's own to add to. */
    struct hdr_histogram *latencies[OPERATION_TYPES + 1]; /* the last of all, at the end */
    _Atomic int64_t done, not_found, inserted;
    _Atomic bool stop;
    int64_t begin, deadline; /* nanoseconds; deadline 0: none */
    struct worker *workers;
    size_t worker_count;
};

static void fail(struct run *run, const struct tare_error *error)
{
    pthread_mutex_lock(&run->making);
    if (!run->failed)
        run->error = *error;
    run->failed = true;
    pthread_mutex_unlock(&run->making);
    atomic_store(&run->stop, true);
}

/* As YCSB's DiscreteGenerator. */
static enum operation draw_operation(const struct workload_settings *settings,
                                     struct random *random)
{
    double sum = 0, unit;
    enum operation last = OPERATION_READ;
    for (size_t i = 0; i < OPERATION_TYPES; i++)
        sum += settings->proportions[i];
    unit = random_unit(random) * sum;
    for (size_t i = 0; i < OPERATION_TYPES; i++) {
        if (settings->proportions[i] <= 0)
            continue;
        last = (enum operation)i;
        if (unit < settings->proportions[i])
            return last;
        unit -= settings->proportions[i];
    }
    return last;
}

/* Records whose inserts are acknowledged, all of them up to there. */
static int64_t records_there(const struct run *run)
{
    int64_t there = run->records;
    if (run->settings->proportions[OPERATION_INSERT] > 0)
        for (size_t i = 0; i < run->worker_count; i++)
            if (run->workers[i].inserting >= 0 && run->workers[i].inserting < there)
                there = run->workers[i].inserting;
    return there;
}

static void note_update(struct measuring *m, int64_t record)
{
    if (record >= m->updates_count) {
        int64_t count = record < m->cell->records ? m->cell->records : record + record / 8 + 1;
        m->updates = memory_resize(m->updates, (size_t)count);
        memset(m->updates + m->updates_count, 0, (size_t)(count - m->updates_count));
        m->updates_count = count;
    }
    if (m->updates[record] < UINT8_MAX)
        m->updates[record]++;
}

/* The record's objects as they are, and with a value changed. */
static int make_update(struct run *run, const struct record *record, int64_t place,
                       struct random *random, struct tare_error *error)
{
    struct corridor *corridor = &run->m->corridor;
    struct record changed;
    if (!record_change(record, run->settings->write_all, random, &corridor->arena, &changed))
        return error_set(error, TARE_USAGE,
                         "step '%s': record %lld has no value that can be changed with its length "
                         "kept",
                         run->step->kind->name, (long long)place);
    if (objects_gather(&run->before, corridor, record, error) ||
        objects_gather(&run->objects, corridor, &changed, error))
        return -1;
    bool same = run->before.count == run->objects.count;
    for (size_t i = 0; same && i < run->before.count; i++)
        same = counted_sum(&run->before.items[i].counted) ==
               counted_sum(&run->objects.items[i].counted);
    if (!same)
        return error_set(error, TARE_USAGE,
                         "step '%s': an update of record %lld changed its length",
                         run->step->kind->name, (long long)place);
    note_update(run->m, place);
    return 0;
}

/* What finds the record: its key, where the data set tells that without the record; else its
 * objects. */
static int make_lookup(struct run *run, int64_t place, struct tare_error *error)
{
    struct corridor *corridor = &run->m->corridor;
    const struct dataset *dataset = corridor->dataset;
    const struct shape_kind *shape = corridor->request->encoding->shape;
    struct record record = {0};
    if (dataset->kind->key && shape->batch_most == 0 &&
        (shape->holds != OBJECT_DOCUMENT || shape->takes == FORM_RECORD)) {
        struct slice key = dataset->kind->key(dataset, place, &corridor->arena);
        struct object object = {.type = shape->holds, .key = key};
        record = (struct record){.number = place, .key = key};
        run->objects.arena = &corridor->arena;
        run->objects.count = 0;
        /* A document's _id is made of the key. */
        return shape->holds == OBJECT_DOCUMENT
                   ? objects_gather(&run->objects, corridor, &record, error)
                   : objects_take(&run->objects, &object, error);
    }
    return dataset_read(corridor->dataset, place, &corridor->arena, &record, error) ||
                   objects_gather(&run->objects, corridor, &record, error)
               ? -1
               : 0;
}

/* A new record goes through the corridor: it is counted and modelled as a loaded one is. */
static int make_insert(struct run *run, struct worker *worker, const struct record *record,
                       struct tare_error *error)
{
    struct corridor *corridor = &run->m->corridor;
    if (objects_gather(&run->objects, corridor, record, error))
        return -1;
    for (size_t i = 0; i < run->objects.count; i++)
        if (corridor_account(corridor, &run->objects.items[i], error))
            return -1;
    if (worker->inserting < 0)
        worker->inserting = run->records;
    run->records++;
    return 0;
}

static int make_write(struct run *run, struct worker *worker, enum operation operation,
                      int64_t place, struct random *random, struct tare_error *error)
{
    struct corridor *corridor = &run->m->corridor;
    struct record record = {0};
    if (dataset_read(corridor->dataset, place, &corridor->arena, &record, error))
        return -1;
    return operation == OPERATION_UPDATE ? make_update(run, &record, place, random, error)
                                         : make_insert(run, worker, &record, error);
}

/* The worker's next operation, made and added to its client; called with `making` held. */
static int make(struct run *run, struct worker *worker, size_t slot, struct tare_error *error)
{
    struct corridor *corridor = &run->m->corridor;
    /* The same operations in the same order, however many clients take them on. */
    struct random random =
        random_at((uint64_t)corridor->request->selection->seed, run->begun, run->purpose);
    enum operation operation = draw_operation(run->settings, &random);
    int64_t place = operation == OPERATION_INSERT
                        ? run->records
                        : chooser_draw(&run->chooser, records_there(run), &random);
    if (operation == OPERATION_MISS)
        place += run->records;
    arena_reset(&corridor->arena);
    int failed = operation == OPERATION_UPDATE || operation == OPERATION_INSERT
                     ? make_write(run, worker, operation, place, &random, error)
                     : make_lookup(run, place, error);
    if (failed ||
        run->m->store->kind->client_add(worker->client, operation, run->objects.items,
                                        operation == OPERATION_UPDATE ? run->before.items : NULL,
                                        run->objects.count, error))
        return -1;
    worker->operations[slot] = operation;
    worker->due[slot] =
        run->settings->rate
            ? run->begin + (int64_t)((double)run->begun * 1e9 / (double)run->settings->rate)
            : 0;
    run->begun++;
    return 0;
}

/* As many operations as a client may have in flight; fewer, or none, at the end. */
static int make_some(struct run *run, struct worker *worker, size_t *count,
                     struct tare_error *error)
{
    int failed = 0;
    *count = 0;
    pthread_mutex_lock(&run->making);
    while (!failed && *count < (size_t)run->settings->pipeline && run->begun < run->most &&
           !atomic_load(&run->stop)) {
        failed = make(run, worker, *count, error);
        *count += !failed;
    }
    pthread_mutex_unlock(&run->making);
    return failed;
}

static int take(struct run *run, struct worker *worker, size_t slot, int64_t sent,
                struct tare_error *error)
{
    enum operation operation = worker->operations[slot];
    bool found;
    if (worker->client->store->kind->client_take(worker->client, &found, error))
        return -1;
    int64_t from = worker->due[slot] ? worker->due[slot] : sent;
    int64_t took = clock_nanoseconds() - from;
    hdr_record_value_atomic(run->latencies[operation], took < 1              ? 1
                                                       : took > LATENCY_MOST ? LATENCY_MOST
                                                                             : took);
    if (found == (operation == OPERATION_MISS))
        atomic_fetch_add(&run->not_found, 1);
    if (operation == OPERATION_INSERT)
        atomic_fetch_add(&run->inserted, 1);
    atomic_fetch_add(&run->done, 1);
    return 0;
}

static int work_on(struct run *run, struct worker *worker, bool *more, struct tare_error *error)
{
    const struct store_kind *kind = worker->client->store->kind;
    size_t count;
    if (run->deadline && clock_nanoseconds() >= run->deadline)
        atomic_store(&run->stop, true);
    if (make_some(run, worker, &count, error))
        return -1;
    *more = count > 0;
    if (count == 0)
        return 0;
    if (worker->due[0])
        clock_wait_until(worker->due[0]);
    int64_t sent = clock_nanoseconds();
    if (kind->client_send(worker->client, error))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (take(run, worker, i, sent, error))
            return -1;
    if (worker->inserting >= 0) {
        pthread_mutex_lock(&run->making);
        worker->inserting = -1;
        pthread_mutex_unlock(&run->making);
    }
    return 0;
}

static void *work(void *context)
{
    struct worker *worker = context;
    struct run *run = worker->run;
    struct tare_error error = {0};
    bool more = true;
    while (more && !atomic_load(&run->stop)) {
        if (work_on(run, worker, &more, &error)) {
            fail(run, &error);
            break;
        }
    }
    pthread_mutex_lock(&run->making);
    run->running--;
    pthread_cond_signal(&run->ended);
    pthread_mutex_unlock(&run->making);
    return NULL;
}

/* ---- the main thread ----------------------------------------------------------------------- */

static int sample_memory(struct run *run, struct workload *workload, struct tare_error *error)
{
    struct figures glance = {0};
    double seconds = (double)(clock_nanoseconds() - run->begin) / 1e9;
    int64_t done = atomic_load(&run->done);
    int failed = run->m->store->kind->glance(run->m->store, &glance, error);
    if (!failed) {
        MEMORY_GROW(workload->samples, workload->sample_count, workload->sample_capacity);
        workload->samples[workload->sample_count++] = (struct workload_sample){
            .seconds = seconds,
            .operations = done,
            .allocated = figures_get(&glance, "allocated"),
            .resident = figures_has(&glance, "resident") ? figures_get(&glance, "resident") : -1,
        };
    }
    figures_free(&glance);
    return failed;
}

/* True once no worker runs any more. */
static bool wait_some(struct run *run)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += GLANCE_MS * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&run->making);
    if (run->running > 0)
        pthread_cond_timedwait(&run->ended, &run->making, &until);
    bool ended = run->running == 0;
    pthread_mutex_unlock(&run->making);
    return ended;
}

/* Looks after the workers until the last has ended; a failure here ends them too. */
static int watch(struct run *run, struct workload *workload, struct tare_error *error)
{
    int64_t next = run->begin + (int64_t)(SAMPLE_SECONDS * 1e9);
    int failed = 0;
    while (!wait_some(run)) {
        int64_t now = clock_nanoseconds(), done = atomic_load(&run->done);
        double elapsed = (double)(now - run->begin) / 1e9;
        measuring_show(run->m, run->step->text, done, run->most == INT64_MAX ? 0 : run->most,
                       (double)done / elapsed);
        if (failed)
            continue;
        failed = process_check_interrupt(error);
        if (!failed && now >= next) {
            failed = sample_memory(run, workload, error);
            while (next <= now)
                next += (int64_t)(SAMPLE_SECONDS * 1e9);
        }
        if (failed)
            atomic_store(&run->stop, true);
    }
    return failed;
}

static int open_workers(struct run *run, struct tare_error *error)
{
    size_t in_flight = (size_t)run->settings->pipeline;
    run->workers = memory_new((size_t)run->settings->threads * sizeof *run->workers);
    for (int64_t i = 0; i < run->settings->threads; i++) {
        struct worker *worker = &run->workers[i];
        *worker = (struct worker){.run = run, .inserting = -1};
        worker->client = run->m->store->kind->client_open(run->m->store, error);
        if (!worker->client)
            return error_prefix(error, "client %lld", (long long)i + 1);
        worker->operations = memory_new(in_flight * sizeof *worker->operations);
        worker->due = memory_new(in_flight * sizeof *worker->due);
        run->worker_count++;
    }
    return 0;
}

static void close_workers(struct run *run)
{
    for (size_t i = 0; i < run->worker_count; i++) {
        run->m->store->kind->client_close(run->workers[i].client);
        free(run->workers[i].operations);
        free(run->workers[i].due);
    }
    free(run->workers);
    run->workers = NULL;
    run->worker_count = 0;
}

/* Starts the workers' threads; of those that can't be started the others take the operations. */
static size_t start_threads(struct run *run)
{
    sigset_t all, before;
    size_t started = 0;
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_mutex_lock(&run->making);
    while (started < run->worker_count &&
           pthread_create(&run->workers[started].thread, NULL, work, &run->workers[started]) == 0)
        started++;
    run->running = (int)started;
    pthread_mutex_unlock(&run->making);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static int work_through(struct run *run, struct workload *workload, struct tare_error *error)
{
    const struct store *store = run->m->store;
    run->begin = clock_nanoseconds();
    if (sample_memory(run, workload, error))
        return -1;
    double client_cpu = clock_own_cpu(), server_cpu = process_cpu_seconds(store->pid);
    run->begin = clock_nanoseconds();
    if (run->settings->seconds)
        run->deadline = run->begin + run->settings->seconds * INT64_C(1000000000);
    size_t started = start_threads(run);
    int failed = watch(run, workload, error);
    for (size_t i = 0; i < started; i++)
        pthread_join(run->workers[i].thread, NULL);
    workload->seconds = (double)(clock_nanoseconds() - run->begin) / 1e9;
    workload->client_cpu_seconds = clock_own_cpu() - client_cpu;
    workload->server_cpu_seconds = process_cpu_seconds(store->pid) - server_cpu;
    if (!failed && started < run->worker_count)
        failed = error_set(error, TARE_STORE, "step '%s': only %zu threads could be started",
                           run->step->text, started);
    /* A server that has ended tells more by itself than a client whose connection it closed. */
    if (!failed)
        failed = sample_memory(run, workload, error);
    if (!failed && run->failed) {
        *error = run->error;
        failed = -1;
    }
    return failed;
}

static void add_latency(struct workload *workload, const char *operation,
                        const struct hdr_histogram *histogram)
{
    MEMORY_GROW(workload->latencies, workload->latency_count, workload->latency_capacity);
    workload->latencies[workload->latency_count++] = (struct workload_latency){
        .operation = memory_text(operation),
        .operations = histogram->total_count,
        .mean = (int64_t)(histogram->total_count ? hdr_mean(histogram) : 0),
        .p50 = hdr_value_at_percentile(histogram, 50),
        .p95 = hdr_value_at_percentile(histogram, 95),
        .p99 = hdr_value_at_percentile(histogram, 99),
        .p999 = hdr_value_at_percentile(histogram, 99.9),
        .max = histogram->total_count ? hdr_max(histogram) : 0,
    };
}

static int open_latencies(struct run *run, struct tare_error *error)
{
    for (size_t i = 0; i <= OPERATION_TYPES; i++)
        if (hdr_init(1, LATENCY_MOST, LATENCY_DIGITS, &run->latencies[i]) != 0)
            return error_set(error, TARE_STORE, "out of memory: no room for latencies");
    return 0;
}

static void tell_latencies(const struct run *run, struct workload *workload)
{
    struct hdr_histogram *all = run->latencies[OPERATION_TYPES];
    size_t kinds = 0;
    for (size_t i = 0; i < OPERATION_TYPES; i++) {
        hdr_add(all, run->latencies[i]);
        kinds += run->latencies[i]->total_count > 0;
    }
    add_latency(workload, "all", all);
    for (size_t i = 0; kinds > 1 && i < OPERATION_TYPES; i++)
        if (run->latencies[i]->total_count > 0)
            add_latency(workload, operation_names[i], run->latencies[i]);
}

static int64_t processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Ledgers before this one are of fewer records than the cell comes to. */
static void take_inserted(struct measuring *m, int64_t records)
{
    if (records == m->cell->records)
        return;
    for (size_t i = 0; i < m->cell->state_count; i++)
        if (m->cell->states[i].records == 0)
            m->cell->states[i].records = m->cell->records;
    m->cell->records = records;
}

int workload_run(struct measuring *m, const struct cell_step *step, struct tare_error *error)
{
    const struct workload_settings *settings = step->settings;
    struct workload *workload = workload_new();
    struct run run = {.m = m, .step = step, .settings = settings, .records = m->cell->records};
    if (run.records == 0) {
        workload_free(workload);
        return error_set(error, TARE_USAGE, "step '%s' needs records, and there are none",
                         step->text);
    }
    run.most = operations_of(settings, run.records);
    run.purpose = 1 + (uint64_t)m->cell->state_count;
    double inserts = settings->proportions[OPERATION_INSERT] *
                     (double)(run.most == INT64_MAX ? run.records : run.most);
    chooser_open(&run.chooser, (enum distribution)settings->distribution, run.records,
                 (int64_t)inserts);
    pthread_mutex_init(&run.making, NULL);
    pthread_cond_init(&run.ended, NULL);
    workload_free(m->workload);
    m->workload = workload;

    int failed = open_latencies(&run, error) || open_workers(&run, error) ||
                 work_through(&run, workload, error);
    close_workers(&run);
    workload->operations = atomic_load(&run.done);
    workload->not_found = atomic_load(&run.not_found);
    workload->threads = settings->threads;
    workload->pipeline = settings->pipeline;
    workload->rate = settings->rate;
    workload->distribution = memory_text(distribution_names[settings->distribution]);
    workload->processors = processors();
    workload->bound = workload_bound_of(workload);
    if (!failed)
        tell_latencies(&run, workload);
    m->store->written += atomic_load(&run.inserted);
    take_inserted(m, run.records);
    for (size_t i = 0; i <= OPERATION_TYPES; i++)
        hdr_close(run.latencies[i]);
    objects_free(&run.objects);
    objects_free(&run.before);
    pthread_cond_destroy(&run.ended);
    pthread_mutex_destroy(&run.making);
    return failed ? -1 : measuring_settle(m, error);
}

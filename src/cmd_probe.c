/* tare probe URL: weighs a running server, read only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "cell/corridor.h"
#include "cell/pattern.h"
#include "command.h"
#include "core/memory.h"
#include "core/units.h"
#include "probes/probe.h"

extern const struct command command_probe;

/* "KIND=URL", or a bare URL: then the kinds whose scheme it has are tried in the table's order. */
static struct store *probe_open(const char *target, struct server_spec *spec,
                                struct tare_error *error)
{
    const struct store_limits limits = {.read_only = true};
    const struct figures none = {0};
    const char *scheme = strstr(target, "://");
    const char *equals = strchr(target, '=');
    struct store *store = NULL;
    bool tried = false;
    if (!scheme) {
        error_set(error, TARE_USAGE,
                  "probe takes a URL: 'tare probe redis://localhost:6379' or 'tare probe "
                  "mongodb://localhost'");
        return NULL;
    }
    for (size_t i = 0; !store && store_kinds[i]; i++) {
        const struct store_kind *kind = store_kinds[i];
        bool named = equals && equals < scheme;
        if (!named &&
            (!kind->url_scheme || strncmp(target, kind->url_scheme, strlen(kind->url_scheme)) != 0))
            continue;
        char *text = named ? memory_text(target) : memory_format("%s=%s", kind->name, target);
        struct tare_error one = {0};
        server_spec_free(spec);
        if (server_spec_parse(text, spec, &one) == 0)
            store = spec->kind->open(spec, &none, &limits, &one);
        free(text);
        /* The first kind's word counts: the next one is tried only for a server of another name. */
        if (!store && !tried)
            *error = one;
        tried = true;
        if (named)
            break;
    }
    if (!tried)
        error_set(error, TARE_USAGE, "no store has a URL that begins as '%.*s'",
                  (int)(scheme - target) + 3, target);
    return store;
}

/* ---- weighing ------------------------------------------------------------------------------ */

/* So many patterns of keys are told apart; the rest stand together. */
#define PATTERNS_MOST 12

struct pattern {
    char text[PATTERN_SIZE];
    struct model *model;
    struct counted counted;
    int64_t sampled, bytes;
};

/* The sample so far: all keys in one model, and those of each pattern in one of its own. */
struct sample {
    const struct build *build;
    const struct figures *settings;
    struct model *model;
    struct counted counted;
    int64_t sampled, keys, skipped;
    struct pattern patterns[PATTERNS_MOST];
    size_t pattern_count;
};

static struct pattern *pattern_find(struct sample *sample, struct slice key,
                                    struct tare_error *error)
{
    char text[PATTERN_SIZE];
    pattern_of_key(key, text);
    for (size_t i = 0; i < sample->pattern_count; i++)
        if (strcmp(sample->patterns[i].text, text) == 0)
            return &sample->patterns[i];
    if (sample->pattern_count == PATTERNS_MOST)
        return &sample->patterns[PATTERNS_MOST - 1];
    struct pattern *pattern = &sample->patterns[sample->pattern_count];
    strcpy(pattern->text, text);
    if (sample->pattern_count + 1 == PATTERNS_MOST)
        strcpy(pattern->text, "(other patterns)");
    pattern->model = model_open(sample->build, sample->settings, error);
    if (!pattern->model)
        return NULL;
    sample->pattern_count++;
    return pattern;
}

static int sample_object(void *context, const struct object *object, struct tare_error *error)
{
    struct sample *sample = context;
    struct pattern *pattern = pattern_find(sample, object->key, error);
    if (!pattern || sample->model->kind->add(sample->model, object, error) ||
        pattern->model->kind->add(pattern->model, object, error))
        return -1;
    counted_add(&sample->counted, &object->counted);
    counted_add(&pattern->counted, &object->counted);
    sample->sampled++;
    pattern->sampled++;
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct pattern *x = a, *y = b;
    return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

/* What each pattern's keys come to, extrapolated, largest first, as notes of the ledger. */
static int note_patterns(struct sample *sample, int64_t keys, struct ledger *ledger,
                         struct tare_error *error)
{
    for (size_t i = 0; i < sample->pattern_count; i++) {
        struct pattern *pattern = &sample->patterns[i];
        struct prediction prediction = {0};
        struct counted counted = pattern->counted;
        int64_t all = keys * pattern->sampled / sample->sampled;
        corridor_scale_counted(&counted, pattern->sampled, all);
        int failed = pattern->model->kind->predict(pattern->model, pattern->sampled, all,
                                                   counted_sum(&counted), &(struct figures){0},
                                                   &prediction, error);
        pattern->bytes = prediction.allocated;
        prediction_free(&prediction);
        if (failed)
            return -1;
    }
    qsort(sample->patterns, sample->pattern_count, sizeof *sample->patterns, by_bytes);
    for (size_t i = 0; i < sample->pattern_count; i++) {
        const struct pattern *pattern = &sample->patterns[i];
        int64_t all = keys * pattern->sampled / sample->sampled;
        char count[UNITS_SIZE], bytes[UNITS_SIZE], each[UNITS_SIZE];
        ledger_note(ledger,
                    "%s: %lld of %lld sampled keys, so about %s keys and %s, %s bytes a key",
                    pattern->text, (long long)pattern->sampled, (long long)sample->sampled,
                    units_count(count, all), units_bytes(bytes, pattern->bytes),
                    units_decimal(each, all ? (double)pattern->bytes / (double)all : 0, 1));
    }
    return 0;
}

/* Samples keys, and predicts from them what all of them hold. */
static int take_sample(struct store *store, struct sample *sample, int64_t count,
                       struct prediction *prediction, struct counted *counted,
                       struct tare_error *error)
{
    if (count && !store->kind->sample)
        return error_set(error, TARE_USAGE, "--sample: '%s' servers can't be sampled",
                         store->kind->name);
    if (count && store->kind->sample(store, count, sample_object, sample, &sample->keys,
                                     &sample->skipped, error))
        return -1;
    *counted = sample->counted;
    int64_t seen = sample->sampled + sample->skipped, weighed = 0;
    if (sample->sampled) {
        weighed = (int64_t)((__int128)sample->keys * sample->sampled / seen);
        corridor_scale_counted(counted, sample->sampled, weighed);
    }
    return sample->model->kind->predict(sample->model, sample->sampled, weighed,
                                        counted_sum(counted), &(struct figures){0}, prediction,
                                        error);
}

static int note_sample(struct sample *sample, struct ledger *ledger, struct tare_error *error)
{
    if (!sample->sampled) {
        ledger_note(ledger, "nothing was sampled: what the data's structures hold is unattributed "
                            "here; --sample 1000 weighs keys");
        return 0;
    }
    int64_t seen = sample->sampled + sample->skipped;
    int64_t weighed = (int64_t)((__int128)sample->keys * sample->sampled / seen);
    if (note_patterns(sample, weighed, ledger, error))
        return -1;
    ledger_note(ledger,
                "%lld of %lld keys were sampled and weighed as if each had been written whole in "
                "one command; that explains %.1f %% of what is allocated",
                (long long)sample->sampled, (long long)sample->keys,
                100 - 100 * ledger_share_allocated(ledger));
    if (sample->skipped)
        ledger_note(ledger,
                    "%lld of %lld sampled keys are of types that aren't weighed yet, or too large "
                    "to be read; they are unattributed",
                    (long long)sample->skipped, (long long)seen);
    return 0;
}

/* The server as it stands, as one ledger over nothing: what its own figures account for, what the
 * sampled keys come to, and the rest as unattributed. */
static int weigh(struct store *store, struct cell *cell, struct sample *sample, int64_t count,
                 struct tare_error *error)
{
    struct ledger *ledger = &cell->states[0];
    struct figures nothing = {0};
    struct prediction prediction = {0};
    struct measurement measurement = {0};
    struct counted counted = {0};
    int failed = take_sample(store, sample, count, &prediction, &counted, error);
    /* Over an empty server that weighs nothing: every figure counts whole. */
    for (size_t i = 0; i < ledger->samples.count; i++)
        if (ledger->samples.items[i].type == FIGURE_INTEGER)
            figures_integer(&nothing, ledger->samples.items[i].name, 0);
    if (!failed)
        failed = sample->model->kind->measure(sample->model, &nothing, &ledger->samples,
                                              &prediction, &measurement, error);
    if (!failed) {
        if (store->unseen[0])
            measurement_note(&measurement, "resident memory is not shown: %s", store->unseen);
        cell->records = sample->keys;
        ledger_close(ledger, "probed", &counted, &prediction, &measurement);
        cell->state_count = 1;
        failed = note_sample(sample, ledger, error) || ledger_check(ledger, error);
    }
    cell->complete = !failed;
    figures_free(&nothing);
    prediction_free(&prediction);
    measurement_free(&measurement);
    return failed;
}

static int probe_weigh(struct store *store, struct cell *cell, int64_t count,
                       struct tare_error *error)
{
    struct figures settings = {0};
    cell->states = memory_new(sizeof *cell->states);
    cell->state_capacity = 1;
    if (store->kind->describe(store, &cell->build, error) ||
        probes_read(store, &cell->states[0].samples, error))
        return -1;
    build_defaults(&cell->build);
    build_refine(&cell->build, &cell->states[0].samples);
    cell_model_settings(&cell->states[0].samples, &settings);
    struct sample sample = {.build = &cell->build, .settings = &settings};
    sample.model = model_open(&cell->build, &settings, error);
    int failed = sample.model ? weigh(store, cell, &sample, count, error) : -1;
    for (size_t i = 0; i < sample.pattern_count; i++)
        model_close(sample.patterns[i].model);
    model_close(sample.model);
    figures_free(&settings);
    return failed;
}

static int probe_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct report report = {0};
    struct server_spec spec = {0};
    struct store *store = NULL;
    int failed = arguments_parse(&arguments, "probe", ARGUMENTS_OUTPUT | ARGUMENTS_SAMPLE, argc,
                                 argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_probe);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count != 1)
        failed = error_set(error, TARE_USAGE,
                           "probe takes one URL: 'tare probe redis://localhost:6379'");
    failed = failed || arguments_open_exports(&arguments, error);
    if (!failed) {
        store = probe_open(arguments.operands[0], &spec, error);
        failed = store ? 0 : -1;
    }
    if (!failed) {
        report.seed_unknown = true; /* nothing was made here */
        report.tare_version = memory_text(TARE_VERSION);
        report.command_line = arguments_command_line(argc, argv);
        cell_environment(&report.environment);
        struct cell *cell = report_add_cell(&report);
        cell->name = memory_text(store->address);
        cell->encoding = memory_text("");
        cell->dataset = memory_text("");
        cell->settings = memory_text("");
        cell->repeats = 1;
        failed = probe_weigh(store, cell, arguments.sample, error) ||
                 arguments_write(&arguments, &report, error);
    }
    if (store)
        store->kind->close(store);
    server_spec_free(&spec);
    report_free(&report);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_probe = {
    .name = "probe",
    .summary = "weigh a running server, read only",
    .usage =
        "usage: tare probe URL [--sample N] [--format F] [--export-json F] [-v]\n\n"
        "URL is redis://[[user]:password@]host[:port][/db] or mongodb://...; KIND=URL names\n"
        "the kind. Nothing is written. The JSON holds every raw figure.\n"
        "      --sample N            weighs N keys (strings and hashes of Redis and Valkey) by\n"
        "                            the model of the build, and tells them by key pattern\n",
    .examples = "  tare probe redis://localhost:6379\n"
                "  tare probe redis://localhost:6379/2 --sample 1000\n"
                "  tare probe mongodb://localhost:27017 --format json\n",
    .run = probe_run,
};

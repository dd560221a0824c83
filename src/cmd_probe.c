/* tare probe URL: weighs a running server, read only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "cell/corridor.h"
#include "command.h"
#include "core/memory.h"
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
        if (!named && (!kind->url_scheme ||
                       strncmp(target, kind->url_scheme, strlen(kind->url_scheme)) != 0))
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

/* The server as it stands, as one ledger over nothing: what its own figures account for, and the
 * rest as unattributed. */
static int probe_weigh(struct store *store, struct cell *cell, struct tare_error *error)
{
    struct figures nothing = {0};
    struct prediction prediction = {0};
    struct measurement measurement = {0};
    struct counted counted = {0};
    cell->states = memory_new(sizeof *cell->states);
    cell->state_capacity = 1;
    struct ledger *ledger = &cell->states[0];
    if (store->kind->describe(store, &cell->build, error) ||
        probes_read(store, &ledger->samples, error))
        return -1;
    build_defaults(&cell->build);
    build_refine(&cell->build, &ledger->samples);
    /* Over an empty server that weighs nothing: every figure counts whole. */
    for (size_t i = 0; i < ledger->samples.count; i++)
        if (ledger->samples.items[i].type == FIGURE_INTEGER)
            figures_integer(&nothing, ledger->samples.items[i].name, 0);
    struct model *model = model_open(&cell->build, &ledger->samples, error);
    if (!model) {
        figures_free(&nothing);
        return -1;
    }
    int failed = model->kind->predict(model, 0, 0, 0, &nothing, &prediction, error) ||
                 model->kind->measure(model, &nothing, &ledger->samples, &prediction, &measurement,
                                      error);
    if (!failed) {
        if (store->unseen[0])
            measurement_note(&measurement, "resident memory is not shown: %s", store->unseen);
        ledger_close(ledger, "probed", &counted, &prediction, &measurement);
        ledger_note(ledger, "nothing was sampled: what the data's structures hold is unattributed "
                            "here");
        cell->state_count = 1;
        cell->complete = true;
        failed = ledger_check(ledger, error);
    }
    prediction_free(&prediction);
    measurement_free(&measurement);
    figures_free(&nothing);
    model_close(model);
    return failed;
}

static int probe_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct report report = {0};
    struct server_spec spec = {0};
    struct store *store = NULL;
    int failed = arguments_parse(&arguments, "probe", ARGUMENTS_OUTPUT, argc, argv, error);
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
        report.tare_version = memory_text(TARE_VERSION);
        report.command_line = arguments_command_line(argc, argv);
        cell_environment(&report.environment);
        struct cell *cell = report_add_cell(&report);
        cell->name = memory_text(store->address);
        cell->encoding = memory_text("-");
        cell->dataset = memory_text("-");
        cell->settings = memory_text("");
        cell->repeats = 1;
        failed = probe_weigh(store, cell, error) || arguments_write(&arguments, &report, error);
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
    .usage = "usage: tare probe URL [--format F] [--export-json F] [-v]\n\n"
             "URL is redis://[[user]:password@]host[:port][/db] or mongodb://...; KIND=URL names\n"
             "the kind. Nothing is written. The JSON holds every raw figure.\n",
    .examples = "  tare probe redis://localhost:6379\n"
                "  tare probe mongodb://localhost:27017 --format json\n",
    .run = probe_run,
};

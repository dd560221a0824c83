/* tare list [encodings|stores|probes|datasets|models|accounts|notes|steps] */
#include <stdio.h>
#include <string.h>

#include "cell/advice.h"
#include "cell/step.h"
#include "command.h"
#include "core/options.h"
#include "data/dataset.h"
#include "encoders/encoding.h"
#include "model/model.h"
#include "probes/probe.h"
#include "stores/store.h"

static void list_options(const struct option_spec *specs, const char *prefix)
{
    for (; specs && specs->name; specs++) {
        printf("    %s%s", prefix, specs->name);
        if (specs->type == OPTION_CHOICE) {
            for (size_t i = 0; specs->choices[i]; i++)
                printf("%c%s", i ? '|' : '=', specs->choices[i]);
        } else if (specs->type == OPTION_INTEGER) {
            printf("=N");
        } else if (specs->type == OPTION_TEXT) {
            printf("=TEXT");
        }
        printf("  %s\n", specs->help ? specs->help : "");
    }
}

static void list_encodings(void)
{
    printf("shapes: STORE:SHAPE[+STEP...][@OPTION[=VALUE]...]\n");
    for (size_t i = 0; shape_kinds[i]; i++) {
        const struct shape_kind *shape = shape_kinds[i];
        char name[64];
        snprintf(name, sizeof name, "%s:%s", shape->store, shape->name);
        printf("  %-18s %s; for example %s\n", name, shape->summary, shape->example);
        list_options(shape->options, "@");
    }
    printf("steps\n");
    for (size_t i = 0; step_kinds[i]; i++) {
        const struct step_kind *step = step_kinds[i];
        char name[64];
        snprintf(name, sizeof name, "%s%s", step->name,
                 step->parameter_low <= step->parameter_high ? "[=N]" : "");
        printf("  +%-17s %s (%s -> %s)\n", name, step->summary,
               step->takes == FORM_RECORD ? "record" : "bytes",
               step->gives == FORM_RECORD ? "record" : "bytes");
    }
}

static void list_stores(void)
{
    printf("stores: --server KIND=TARGET[,k=v...]; TARGET is a program, a URL or a version\n");
    for (size_t i = 0; store_kinds[i]; i++) {
        const struct store_kind *kind = store_kinds[i];
        printf("  %-10s %s", kind->name, kind->summary);
        for (size_t j = 0; kind->engines && kind->engines[j]; j++)
            printf("%s%s", j ? "|" : "; engine=", kind->engines[j]);
        printf("\n");
    }
}

static void list_probes(void)
{
    printf("probes: each reads one source of figures and never writes\n");
    for (size_t i = 0; probe_kinds[i]; i++)
        printf("  %-22s %-8s %s\n", probe_kinds[i]->name,
               probe_kinds[i]->family ? probe_kinds[i]->family : "any", probe_kinds[i]->summary);
}

static void list_datasets(void)
{
    printf("data sets: NAME[:k=v,...]\n");
    for (size_t i = 0; dataset_kinds[i]; i++) {
        printf("  %-10s %s; for example %s\n", dataset_kinds[i]->name, dataset_kinds[i]->summary,
               dataset_kinds[i]->example);
        list_options(dataset_kinds[i]->options, "");
    }
}

static void list_models(void)
{
    printf("models: predict every block that a build makes\n");
    for (size_t i = 0; model_kinds[i]; i++)
        printf("  %-10s %s\n", model_kinds[i]->name, model_kinds[i]->explanation);
    printf("allocators: what a request occupies\n");
    for (size_t i = 0; allocator_kinds[i]; i++)
        printf("  %-10s %s\n", allocator_kinds[i]->name, allocator_kinds[i]->explanation);
}

static void list_accounts(void)
{
    printf("accounts: every byte belongs to exactly one\n");
    for (size_t i = 0; accounts[i]; i++)
        printf("  %-10s %-22s %-9s %s\n", stage_names[accounts[i]->stage], accounts[i]->name,
               basis_names[accounts[i]->basis], accounts[i]->explanation);
}

static void list_notes(void)
{
    printf("notes: what would make a cell smaller, each saving by the model\n");
    for (size_t i = 0; advice_kinds[i]; i++)
        printf("  %-16s %s\n", advice_kinds[i]->name, advice_kinds[i]->summary);
}

static void list_steps(void)
{
    const struct option_spec *options = NULL;
    printf("steps: --steps NAME[=VALUE][:k=v...][,...]; each closes a ledger of its own\n");
    for (size_t i = 0; cell_step_kinds[i]; i++) {
        const struct cell_step_kind *kind = cell_step_kinds[i];
        char name[64];
        snprintf(name, sizeof name, "%s%s%s", kind->name, kind->value ? "=" : "",
                 kind->value ? kind->value : "");
        printf("  %-22s %s\n", name, kind->summary);
        if (kind->options)
            options = kind->options;
    }
    printf("options of read, update, miss and workload\n");
    list_options(options, ":");
}

static const struct {
    const char *name;
    void (*print)(void);
} lists[] = {
    {"encodings", list_encodings}, {"stores", list_stores}, {"probes", list_probes},
    {"datasets", list_datasets},   {"models", list_models}, {"accounts", list_accounts},
    {"notes", list_notes},         {"steps", list_steps},
};

#define LIST_COUNT (sizeof lists / sizeof lists[0])

static int list_run(int argc, char **argv, struct tare_error *error)
{
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        extern const struct command command_list;
        command_print_help(&command_list);
        return TARE_OK;
    }
    if (argc > 2) {
        error_set(error, TARE_USAGE, "list takes one name: 'tare list encodings'");
        return TARE_USAGE;
    }
    if (argc < 2) {
        for (size_t i = 0; i < LIST_COUNT; i++) {
            printf("%s", i ? "\n" : "");
            lists[i].print();
        }
        return TARE_OK;
    }
    const char *names[LIST_COUNT + 1];
    for (size_t i = 0; i < LIST_COUNT; i++) {
        if (strcmp(lists[i].name, argv[1]) == 0) {
            lists[i].print();
            return TARE_OK;
        }
        names[i] = lists[i].name;
    }
    names[LIST_COUNT] = NULL;
    error_unknown(error, "list", argv[1], names, NULL);
    return TARE_USAGE;
}

const struct command command_list = {
    .name = "list",
    .summary =
        "what tare knows: encodings, stores, probes, data sets, models, accounts, notes, steps",
    .usage = "usage: tare list [encodings|stores|probes|datasets|models|accounts|notes]\n",
    .examples = "  tare list encodings\n  tare list accounts\n",
    .run = list_run,
};

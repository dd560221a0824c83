/* workload: reads, updates and inserts in the proportions of one of YCSB's core workloads, or of a
 * property file of YCSB's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cell/workload.h"
#include "core/memory.h"
#include "data/chooser.h"
#include "data/properties.h"

/* YCSB's workloads/workloada to workloadd (0.17.0). */
static const struct {
    const char *name;
    double read, update, insert;
    enum distribution distribution;
} core_workloads[] = {
    {"a", 0.5, 0.5, 0, DISTRIBUTION_ZIPFIAN},
    {"b", 0.95, 0.05, 0, DISTRIBUTION_ZIPFIAN},
    {"c", 1, 0, 0, DISTRIBUTION_ZIPFIAN},
    {"d", 0.95, 0, 0.05, DISTRIBUTION_LATEST},
};

static int take_proportion(const struct figures *properties, const char *name, const char *preset,
                           double *proportion, struct tare_error *error)
{
    const char *text = figures_get_text(properties, name);
    char *end;
    errno = 0;
    *proportion = strtod(text ? text : preset, &end);
    if (text && (end == text || *end || errno || !(*proportion >= 0 && *proportion <= 1)))
        return error_set(error, TARE_USAGE, "%s is a share of 0 to 1, not '%s'", name, text);
    return 0;
}

static int take_distribution(const struct figures *properties, int *distribution,
                             struct tare_error *error)
{
    const char *text = figures_get_text(properties, "requestdistribution");
    if (!text)
        text = "uniform"; /* CoreWorkload's REQUEST_DISTRIBUTION_PROPERTY_DEFAULT */
    for (int i = 0; distribution_names[i]; i++) {
        if (strcmp(distribution_names[i], text) == 0) {
            *distribution = i;
            return 0;
        }
    }
    return error_unknown(error, "requestdistribution", text, distribution_names, NULL);
}

static int take_flag(const struct figures *properties, const char *name, bool *flag,
                     struct tare_error *error)
{
    const char *text = figures_get_text(properties, name);
    if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return error_set(error, TARE_USAGE, "%s is true or false, not '%s'", name, text);
    if (text)
        *flag = strcmp(text, "true") == 0;
    return 0;
}

/* The defaults are CoreWorkload's. What else is in the file is the load's (-d and -n say that), or
 * a binding's. */
static int take_properties(const struct figures *properties, struct workload_settings *settings,
                           struct tare_error *error)
{
    double scan, both;
    bool read_all = true;
    if (take_proportion(properties, "readproportion", "0.95",
                        &settings->proportions[OPERATION_READ], error) ||
        take_proportion(properties, "updateproportion", "0.05",
                        &settings->proportions[OPERATION_UPDATE], error) ||
        take_proportion(properties, "insertproportion", "0",
                        &settings->proportions[OPERATION_INSERT], error) ||
        take_proportion(properties, "scanproportion", "0", &scan, error) ||
        take_proportion(properties, "readmodifywriteproportion", "0", &both, error) ||
        take_distribution(properties, &settings->distribution_else, error) ||
        take_flag(properties, "writeallfields", &settings->write_all, error) ||
        take_flag(properties, "readallfields", &read_all, error))
        return -1;
    if (scan > 0 || both > 0)
        return error_set(error, TARE_USAGE, "%s is above 0, and tare reads, updates and inserts",
                         scan > 0 ? "scanproportion" : "readmodifywriteproportion");
    if (!read_all)
        return error_set(error, TARE_USAGE, "readallfields is false, and tare reads whole records");
    const char *count = figures_get_text(properties, "operationcount");
    if (count && settings->operations == 0)
        return parse_integer(count, 1, INT64_MAX, "operationcount", &settings->operations, error);
    return 0;
}

static int read_file(const char *path, struct workload_settings *settings, struct tare_error *error)
{
    struct figures properties = {0};
    int failed = properties_read(path, &properties, error);
    if (failed)
        error_prefix(error, "step 'workload'");
    else if ((failed = take_properties(&properties, settings, error)))
        error_prefix(error, "workload '%s'", path);
    figures_free(&properties);
    return failed;
}

/* "workload-a" of a core workload, of "workloada" and of "workloads/a.properties". */
static char *state_of(const char *value)
{
    const char *slash = strrchr(value, '/');
    const char *base = slash ? slash + 1 : value;
    if (strncmp(base, "workload", 8) == 0 && base[8])
        base += 8;
    char *state = memory_format("workload-%.*s", (int)strcspn(base, "."), base);
    for (char *c = state; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", *c))
            *c = '-';
    return state;
}

static int parse(struct cell_step *step, const char *value, struct tare_error *error)
{
    struct workload_settings *settings = step->settings;
    if (!value || !*value)
        return error_set(error, TARE_USAGE,
                         "step 'workload' needs a value: workload=a, b, c or d of YCSB, or "
                         "workload=PATH of a property file");
    bool core = false;
    for (size_t i = 0; i < sizeof core_workloads / sizeof core_workloads[0]; i++) {
        if (strcmp(core_workloads[i].name, value) != 0)
            continue;
        core = true;
        settings->proportions[OPERATION_READ] = core_workloads[i].read;
        settings->proportions[OPERATION_UPDATE] = core_workloads[i].update;
        settings->proportions[OPERATION_INSERT] = core_workloads[i].insert;
        settings->distribution_else = core_workloads[i].distribution;
    }
    if (!core && read_file(value, settings, error))
        return -1;
    free(step->state);
    step->state = state_of(value);
    return workload_parse(step, error);
}

const struct cell_step_kind cell_step_workload = {
    .name = "workload",
    .state = "workload",
    .summary = "reads, updates and inserts as YCSB's workload a, b, c or d, or a property file has "
               "them",
    .value = "a|b|c|d|PATH",
    .options = workload_options,
    .settings_size = sizeof(struct workload_settings),
    .defaults = workload_defaults,
    .parse = parse,
    .check = workload_check,
    .run = workload_run,
    .forecast = workload_forecast,
};

/* update: a value of each record is changed, in their order unless distribution= says otherwise. */
#include "cell/workload.h"

static int parse(struct cell_step *step, const char *value, struct tare_error *error)
{
    struct workload_settings *settings = step->settings;
    (void)value;
    settings->proportions[OPERATION_UPDATE] = 1;
    return workload_parse(step, error);
}

const struct cell_step_kind cell_step_update = {
    .name = "update",
    .state = "updated",
    .summary = "a value of each record is changed, its length kept",
    .options = workload_options,
    .settings_size = sizeof(struct workload_settings),
    .defaults = workload_defaults,
    .parse = parse,
    .check = workload_check,
    .run = workload_run,
    .forecast = workload_forecast,
};

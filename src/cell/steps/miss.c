/* miss: keys are asked for that no record has, as many as there are records. */
#include "cell/workload.h"

static int parse(struct cell_step *step, const char *value, struct tare_error *error)
{
    struct workload_settings *settings = step->settings;
    (void)value;
    settings->proportions[OPERATION_MISS] = 1;
    return workload_parse(step, error);
}

const struct cell_step_kind cell_step_miss = {
    .name = "miss",
    .state = "missed",
    .summary = "as many keys as there are records are asked for, and none is there",
    .options = workload_options,
    .settings_size = sizeof(struct workload_settings),
    .defaults = workload_defaults,
    .parse = parse,
    .check = workload_check,
    .run = workload_run,
    .forecast = workload_forecast,
};

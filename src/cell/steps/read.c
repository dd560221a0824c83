/* read: each object once, as the store finds them; with options a workload of reads by key. */
#include "cell/measuring.h"
#include "cell/workload.h"

static int parse(struct cell_step *step, const char *value, struct tare_error *error)
{
    struct workload_settings *settings = step->settings;
    (void)value;
    settings->proportions[OPERATION_READ] = 1;
    return workload_parse(step, error);
}

static bool by_key(const struct cell_step *step)
{
    return strchr(step->text, ':') != NULL;
}

static int check(const struct cell_step *step, const struct server_spec *server,
                 const struct encoding *encoding, struct tare_error *error)
{
    if (by_key(step))
        return workload_check(step, server, encoding, error);
    return server->kind->read_all ? 0 : cell_step_unknown_to(step, server, error);
}

static int run(struct measuring *m, const struct cell_step *step, struct tare_error *error)
{
    int64_t count;
    if (by_key(step))
        return workload_run(m, step, error);
    measuring_show(m, step->kind->name, 0, 0, 0);
    if (m->store->kind->read_all(m->store, &count, error))
        return -1;
    return measuring_settle(m, error);
}

/* Reading all takes about as long as loading did. */
static double forecast(const struct cell_step *step, const struct cell_forecast *known)
{
    return by_key(step) ? workload_forecast(step, known) : known->load + known->settling;
}

const struct cell_step_kind cell_step_read = {
    .name = "read",
    .state = "read",
    .summary = "each object once, as the store finds them; with options by key, in a workload",
    .options = workload_options,
    .settings_size = sizeof(struct workload_settings),
    .defaults = workload_defaults,
    .parse = parse,
    .check = check,
    .run = run,
    .forecast = forecast,
};

/* reload: all records go to a file and come back in the same process. */
#include "cell/measuring.h"

static int check(const struct cell_step *step, const struct server_spec *server,
                 const struct encoding *encoding, struct tare_error *error)
{
    (void)encoding;
    if (!server->kind->reload)
        return cell_step_unknown_to(step, server, error);
    return cell_step_own_server(step, server, error);
}

static int rehearse(struct measuring *m, struct tare_error *error)
{
    return m->store->kind->reload(m->store, error);
}

static int run(struct measuring *m, const struct cell_step *step, struct tare_error *error)
{
    measuring_show(m, step->kind->name, 0, 0, 0);
    measuring_forget_updates(m);
    if (m->store->kind->reload(m->store, error))
        return -1;
    return measuring_settle(m, error);
}

static double forecast(const struct cell_step *step, const struct cell_forecast *known)
{
    (void)step;
    return known->load + known->settling;
}

const struct cell_step_kind cell_step_reload = {
    .name = "reload",
    .state = "reloaded",
    .summary = "to a file and back in the same process (Redis: DEBUG RELOAD)",
    .check = check,
    .rehearse = rehearse,
    .run = run,
    .forecast = forecast,
};

/* restart: the server is stopped and started again on its own file. */
#include "cell/measuring.h"

static int check(const struct cell_step *step, const struct server_spec *server,
                 const struct encoding *encoding, struct tare_error *error)
{
    (void)encoding;
    if (!server->kind->restart)
        return cell_step_unknown_to(step, server, error);
    return cell_step_own_server(step, server, error);
}

static int rehearse(struct measuring *m, struct tare_error *error)
{
    if (!m->store->kind->restarts_empty)
        return 0;
    return measuring_restart(m, error) || measuring_read(m, &m->restarted_base, error) ? -1 : 0;
}

static int run(struct measuring *m, const struct cell_step *step, struct tare_error *error)
{
    (void)step;
    m->restarted = m->store->kind->restarts_empty;
    m->branch_asked = false;
    measuring_forget_updates(m);
    return measuring_restart(m, error);
}

static double forecast(const struct cell_step *step, const struct cell_forecast *known)
{
    (void)step;
    return known->start + known->load / 2 + known->settling;
}

const struct cell_step_kind cell_step_restart = {
    .name = "restart",
    .state = "restarted",
    .summary = "the server stops, and starts again from its file, held against an empty one",
    .check = check,
    .rehearse = rehearse,
    .run = run,
    .forecast = forecast,
};

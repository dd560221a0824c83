/* settle: until the server's figures stand still. */
#include "cell/measuring.h"

static int run(struct measuring *m, const struct cell_step *step, struct tare_error *error)
{
    (void)step;
    return measuring_settle(m, error);
}

static double forecast(const struct cell_step *step, const struct cell_forecast *known)
{
    (void)step;
    return known->settling;
}

const struct cell_step_kind cell_step_settle = {
    .name = "settle",
    .state = "settled",
    .summary = "until figures stand still, tables are rehashed and, on disk, a checkpoint is taken",
    .run = run,
    .forecast = forecast,
};

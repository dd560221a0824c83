/* A cell that is being measured: what measure.c and the kinds of steps share. */
#ifndef TARE_CELL_MEASURING_H
#define TARE_CELL_MEASURING_H

#include "cell/corridor.h"

struct measuring {
    struct corridor corridor;
    struct report *report;
    struct cell *cell;
    const struct cell_progress *progress;
    struct store *store;
    struct figures settings, model_settings; /* that tare gives; those and the server's own */
    /* Of a server that was restarted while it was empty; what a restarted one is held against. */
    struct figures restarted_base;
    bool restarted, branch_asked;
    double progress_shown; /* time of the last call */
    /* How many updates each record has had since it was written; 255: that many or more. NULL:
     * none was. */
    uint8_t *updates;
    int64_t updates_count;
    struct workload *workload; /* of the step that was taken last; NULL: it was none */
};

/* Waits until the server says that nothing is under way and its figures stand still. */
int measuring_settle(struct measuring *m, struct tare_error *error);
/* Stops and starts the server, and waits as above. */
int measuring_restart(struct measuring *m, struct tare_error *error);
/* All probes, as the base and every sample read them. */
int measuring_read(struct measuring *m, struct figures *figures, struct tare_error *error);
/* Shows progress, some times a second at most. of 0, rate 0: not known. */
void measuring_show(struct measuring *m, const char *stage, int64_t done, int64_t of, double rate);
/* All objects are as if they had just been written. */
void measuring_forget_updates(struct measuring *m);

#endif

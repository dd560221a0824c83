/* What a list of cells will take, before any of it is begun: memory by the
 * model's prediction, time by what is known of each kind of store. */
#ifndef TARE_CELL_OUTLOOK_H
#define TARE_CELL_OUTLOOK_H

#include "cell/cell_request.h"

struct cell_outlook {
    char *name;     /* as the cell will be called; owned */
    int64_t memory; /* bytes that it takes at once at most; -1: not on this machine, or broken */
    double seconds; /* -1: it can't be told */
};

struct outlook {
    struct cell_outlook *cells; /* one a request */
    size_t count;
    double seconds; /* of all, one after the other; cells that can't be told left out */
    bool whole;     /* none is left out */
    size_t largest; /* the cell that takes most; meaningless where none takes any */
};

/* Predicts each request's cell. repeat: runs of each. An error: a cell can't be predicted. */
int outlook_make(const struct cell_requests *requests, int repeat, struct outlook *outlook,
                 struct tare_error *error);
void outlook_free(struct outlook *outlook);

/* Memory that this process may still take: the kernel's MemAvailable, or what a control group
 * leaves of its limit, whichever is less. reason: which of them, at least 32 bytes. -1 where the
 * kernel tells neither. */
int64_t memory_available(char *reason);
/* The same of other folders than /proc and /sys/fs/cgroup, for tests. */
int64_t memory_available_at(const char *proc, const char *cgroup, char *reason);

/* An error where one of the cells takes more than this machine has left. what is being refused, as
 * "job 'x.json'". */
int outlook_refuse(const struct outlook *outlook, const char *what, struct tare_error *error);

#endif

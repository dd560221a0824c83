/* Which record a request is for, as YCSB's CoreWorkload chooses (site.ycsb:core:0.17.0). */
#ifndef TARE_DATA_CHOOSER_H
#define TARE_DATA_CHOOSER_H

#include "data/zipfian.h"

enum distribution {
    DISTRIBUTION_SEQUENTIAL, /* one after the other, again from the first after the last */
    DISTRIBUTION_UNIFORM,
    DISTRIBUTION_ZIPFIAN, /* a few records of all places are asked for most */
    DISTRIBUTION_LATEST   /* the newest are */
};
extern const char *const distribution_names[]; /* NULL-terminated */

struct chooser {
    enum distribution distribution;
    int64_t items; /* that the draws range over */
    int64_t next;  /* sequential */
    struct zipfian zipfian;
};

/* expected: records that will be inserted while it is used. */
void chooser_open(struct chooser *chooser, enum distribution distribution, int64_t records,
                  int64_t expected);
/* 0 to records - 1; records: 1 at least, as many as there are by now. */
int64_t chooser_draw(struct chooser *chooser, int64_t records, struct random *random);

#endif

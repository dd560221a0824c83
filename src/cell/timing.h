/* What an encoding costs in processor time. */
#ifndef TARE_CELL_TIMING_H
#define TARE_CELL_TIMING_H

#include "data/sample.h"
#include "encoders/encoding.h"

/* Nanoseconds of this thread's processor time a record, the median of several rounds over the same
 * records of the sample, after one that is not counted. *encode: from a record to the object that
 * the store is given. *decode: from that object, as a client has read it, back to a record whose
 * fields have their types. 0 where it can't be told: there are no records, or one isn't carried.
 * The encoding has learned. */
void timing_measure(struct encoding *encoding, const struct sample *sample, double *encode,
                    double *decode);

#endif

/* What an encoding costs in processor time. */
#ifndef TARE_CELL_TIMING_H
#define TARE_CELL_TIMING_H

#include "data/sample.h"
#include "encoders/encoding.h"

/* Nanoseconds of this thread's processor time a record, the median of several rounds over the same
 * records of the sample, after one that is not counted. *encode: from a record to the object that
 * the store is given. *decode: back from bytes to a record. 0 where it can't be told: there are no
 * records, one isn't carried, or the encoding ends in no bytes. The encoding has learned. */
void timing_measure(struct encoding *encoding, const struct sample *sample, double *encode,
                    double *decode);

#endif

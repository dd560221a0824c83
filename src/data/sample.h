/* A sample of the records that pass by: an even spread of a thousand at most,
 * and of a few MiB, kept as copies. It is a data set of its own, so that what is
 * asked of it later needs no second reading. The same records in the same order
 * make the same sample. */
#ifndef TARE_DATA_SAMPLE_H
#define TARE_DATA_SAMPLE_H

#include "data/dataset.h"

struct sample;

/* A sample of `expected` records of the data set, which is borrowed. */
struct sample *sample_open(const struct dataset *of, int64_t expected);
/* Offers the next record; it is copied where the sample takes it. */
void sample_offer(struct sample *sample, const struct record *record);
int64_t sample_count(const struct sample *sample);
const struct record *sample_record(const struct sample *sample, int64_t place);
/* The sample as a data set that stands for `records` records (no fewer than the sample has): an
 * even spread of as many of them as the sample has reads each of its records once. Borrowed; the
 * records are the sample's. */
struct dataset *sample_dataset(struct sample *sample, int64_t records);
void sample_free(struct sample *sample);

#endif

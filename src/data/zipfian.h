/* Zipfian draws, as YCSB makes them (site.ycsb:core:0.17.0, ZipfianGenerator). */
#ifndef TARE_DATA_ZIPFIAN_H
#define TARE_DATA_ZIPFIAN_H

#include "core/random.h"

/* A Zipfian distribution over 1 to n by rejection-free inversion (Gray et al., "Quickly
 * Generating Billion-Record Synthetic Databases", 1994). */
struct zipfian {
    double items, zeta, eta, second; /* zeta(n), and the bound of the second item */
};

/* zeta(n) is summed up, n terms. */
struct zipfian zipfian_over(int64_t items);
/* The same with zeta known. */
struct zipfian zipfian_with(int64_t items, double zeta);
/* Lets it grow to so many items; the further terms are summed up. */
void zipfian_grow(struct zipfian *zipfian, int64_t items);
/* 0 to items - 1, the first the most likely. */
int64_t zipfian_draw(const struct zipfian *zipfian, struct random *random);
/* What a draw of `unit`, in [0, 1), gives. */
int64_t zipfian_at(const struct zipfian *zipfian, double unit);

/* FNV-1a over the eight octets from the lowest, then Java's Math.abs(), which leaves the least
 * number as it is (YCSB's Utils.fnvhash64()). */
int64_t ycsb_hash(int64_t number);

#endif

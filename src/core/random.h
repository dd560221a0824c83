/* Pseudo-random numbers that are a pure function of their place: a stream is
 * seeded by (seed, record, purpose), so that record i is the same on any
 * machine and in any order. Mixing is SplitMix64 (Steele, Lea, Flood 2014). */
#ifndef TARE_CORE_RANDOM_H
#define TARE_CORE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct random {
    uint64_t state;
};

struct random random_at(uint64_t seed, int64_t record, uint64_t purpose);

/* Inline: a data set draws once for each 12 bytes that it makes. */
static inline uint64_t random_next(struct random *random)
{
    uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio, odd */
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t random_below(struct random *random, uint64_t bound); /* uniform in [0, bound), unbiased */
double random_unit(struct random *random);                    /* in [0, 1), 53 bits */
/* length random bytes of all 256 values */
void random_bytes(struct random *random, void *out, size_t length);
/* length printable ASCII characters, space to tilde (32 to 126), each as likely */
void random_printable(struct random *random, char *out, size_t length);

#endif

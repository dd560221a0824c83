#include "core/random.h"

#include <endian.h>
#include <string.h>

/* A state that depends on all bits of both: one draw of a stream that starts at their sum. */
static uint64_t mix(uint64_t state, uint64_t place)
{
    struct random random = {state + place * UINT64_C(0x9e3779b97f4a7c15)};
    return random_next(&random);
}

struct random random_at(uint64_t seed, int64_t record, uint64_t purpose)
{
    /* Mixed one after the other, so that (1, 2) and (2, 1) are unrelated streams. */
    return (struct random){mix(mix(mix(0, seed), (uint64_t)record), purpose)};
}

uint64_t random_below(struct random *random, uint64_t bound)
{
    if (bound < 2)
        return 0;
    /* The high half of a product is uniform once the low halves that stand for
     * the 2^64 mod bound extra draws are refused (Lemire 2019). */
    unsigned __int128 product = (unsigned __int128)random_next(random) * bound;
    if ((uint64_t)product < bound) {
        uint64_t refused = (0 - bound) % bound;
        while ((uint64_t)product < refused)
            product = (unsigned __int128)random_next(random) * bound;
    }
    return (uint64_t)(product >> 64);
}

double random_unit(struct random *random)
{
    return (double)(random_next(random) >> 11) * 0x1.0p-53;
}

void random_bytes(struct random *random, void *out, size_t length)
{
    unsigned char *bytes = out;
    while (length) {
        uint64_t draw = htole64(random_next(random)); /* the same bytes on any machine */
        size_t part = length < sizeof draw ? length : sizeof draw;
        memcpy(bytes, &draw, part);
        bytes += part;
        length -= part;
    }
}

/* Nine characters of 95 come from one draw: 95^9 goes into 2^64 29 times; the
 * draws above are refused, so that each character is as likely. */
#define PRINTABLE_COUNT    95
#define PRINTABLE_PER_DRAW 9
#define PRINTABLE_PRODUCT  UINT64_C(630249409724609375) /* 95^9 */

void random_printable(struct random *random, char *out, size_t length)
{
    size_t place = 0;
    while (place < length) {
        uint64_t draw = random_next(random);
        if (draw >= UINT64_MAX / PRINTABLE_PRODUCT * PRINTABLE_PRODUCT)
            continue;
        for (int i = 0; i < PRINTABLE_PER_DRAW && place < length; i++) {
            out[place++] = (char)(' ' + draw % PRINTABLE_COUNT);
            draw /= PRINTABLE_COUNT;
        }
    }
}

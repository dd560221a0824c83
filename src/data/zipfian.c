#include "data/zipfian.h"

#include <math.h>

#define ZIPFIAN_THETA 0.99

static double zeta_terms(int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t i = from; i <= to; i++)
        sum += 1 / pow((double)i, ZIPFIAN_THETA);
    return sum;
}

struct zipfian zipfian_with(int64_t items, double zeta)
{
    struct zipfian zipfian = {
        .items = (double)items, .zeta = zeta, .second = 1 + pow(0.5, ZIPFIAN_THETA)};
    zipfian.eta =
        (1 - pow(2 / zipfian.items, 1 - ZIPFIAN_THETA)) / (1 - zipfian.second / zipfian.zeta);
    return zipfian;
}

struct zipfian zipfian_over(int64_t items)
{
    return zipfian_with(items, zeta_terms(1, items));
}

void zipfian_grow(struct zipfian *zipfian, int64_t items)
{
    int64_t known = (int64_t)zipfian->items;
    if (items > known)
        *zipfian = zipfian_with(items, zipfian->zeta + zeta_terms(known + 1, items));
}

int64_t zipfian_at(const struct zipfian *zipfian, double unit)
{
    double place = unit * zipfian->zeta;
    if (place < 1)
        return 0;
    if (place < zipfian->second)
        return 1;
    return (int64_t)(zipfian->items *
                     pow(zipfian->eta * unit - zipfian->eta + 1, 1 / (1 - ZIPFIAN_THETA)));
}

int64_t zipfian_draw(const struct zipfian *zipfian, struct random *random)
{
    return zipfian_at(zipfian, random_unit(random));
}

int64_t ycsb_hash(int64_t number)
{
    uint64_t rest = (uint64_t)number, hash = UINT64_C(0xcbf29ce484222325);
    for (int i = 0; i < 8; i++, rest >>= 8)
        hash = (hash ^ (rest & 0xff)) * UINT64_C(0x100000001b3);
    return (int64_t)(hash >> 63 ? 0 - hash : hash);
}

#include "data/chooser.h"

#include <stddef.h>

const char *const distribution_names[] = {"sequential", "uniform", "zipfian", "latest", NULL};

/* ScrambledZipfianGenerator draws from 0 to ITEM_COUNT, whatever the number of records, so that
 * zeta need not be summed up, and spreads what it drew by a hash. */
#define SCRAMBLED_ITEMS (INT64_C(10000000000) + 1)
#define SCRAMBLED_ZETA  26.46902820178302

void chooser_open(struct chooser *chooser, enum distribution distribution, int64_t records,
                  int64_t expected)
{
    *chooser = (struct chooser){.distribution = distribution, .items = records};
    if (distribution == DISTRIBUTION_ZIPFIAN) {
        /* CoreWorkload.init(): room for twice as many as are expected, its last place included;
         * what isn't there yet is drawn again. */
        chooser->items = records + 2 * expected + 1;
        chooser->zipfian = zipfian_with(SCRAMBLED_ITEMS, SCRAMBLED_ZETA);
    } else if (distribution == DISTRIBUTION_LATEST) {
        chooser->zipfian = zipfian_over(records > 1 ? records - 1 : 1);
    }
}

int64_t chooser_draw(struct chooser *chooser, int64_t records, struct random *random)
{
    int64_t place = 0;
    switch (chooser->distribution) {
    case DISTRIBUTION_SEQUENTIAL:
        place = chooser->next < records ? chooser->next : 0;
        chooser->next = place + 1;
        break;
    case DISTRIBUTION_UNIFORM: /* of those that the run began with */
        place = (int64_t)random_below(random, (uint64_t)chooser->items);
        break;
    case DISTRIBUTION_ZIPFIAN:
        do
            place = ycsb_hash(zipfian_draw(&chooser->zipfian, random)) % chooser->items;
        while (place >= records);
        break;
    case DISTRIBUTION_LATEST: /* SkewedLatestGenerator: so far behind the last one */
        zipfian_grow(&chooser->zipfian, records - 1);
        do
            place = records - 1 - zipfian_draw(&chooser->zipfian, random);
        while (place < 0);
        break;
    }
    return place;
}

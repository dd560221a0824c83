/* How Redis's and Valkey's tables grow: dict.c (chained) and hashtable.c
 * (buckets of 64 bytes). */
#include <math.h>
#include <string.h>

#include "core/random.h"
#include "model/redis.h"

int redis_sds_header(int64_t length)
{
    /* sdshdr5 holds lengths below 2^5; an empty string takes sdshdr8, since it is likely to grow
     * (sds.c, sdsnewlen). */
    if (length > 0 && length < 1 << 5)
        return 1;
    if (length < 1 << 8)
        return 3;
    if (length < 1 << 16)
        return 5;
    return length < (int64_t)1 << 32 ? 9 : 17;
}

int64_t redis_sds_overhead(int64_t length)
{
    return redis_sds_header(length) + 1;
}

int64_t redis_dict_buckets(int64_t keys)
{
    int64_t buckets = 4; /* DICT_HT_INITIAL_SIZE */
    while (buckets < keys)
        buckets *= 2;
    return buckets;
}

/* Distribution of the number of occupied buckets, key by key: a key meets an occupied one with
 * probability occupied / buckets. probabilities holds buckets + 1. */
static void occupancy(int64_t keys, int64_t buckets, double *probabilities)
{
    memset(probabilities, 0, (size_t)(buckets + 1) * sizeof *probabilities);
    probabilities[0] = 1;
    for (int64_t key = 0; key < keys; key++)
        for (int64_t c = buckets; c >= 0; c--)
            probabilities[c] =
                probabilities[c] * (double)c / (double)buckets +
                (c > 0 ? probabilities[c - 1] * (double)(buckets - c + 1) / (double)buckets : 0);
}

#define EXACT_UP_TO 256

/* Probability that more than `moved` of the buckets are occupied. */
static double more_occupied(int64_t keys, int64_t buckets, int64_t moved)
{
    if (moved >= buckets)
        return 0;
    if (buckets <= EXACT_UP_TO) {
        double probabilities[EXACT_UP_TO + 1], sum = 0;
        occupancy(keys, buckets, probabilities);
        for (int64_t c = moved + 1; c <= buckets; c++)
            sum += probabilities[c];
        return sum;
    }
    /* Normal approximation with the exact mean and variance of the occupancy problem. */
    double b = (double)buckets, k = (double)keys;
    double empty = pow(1 - 1 / b, k), both = pow(1 - 2 / b, k);
    double mean = b * (1 - empty);
    double variance = b * empty + b * (b - 1) * both - b * b * empty * empty;
    return 0.5 * erfc(((double)moved + 0.5 - mean) / sqrt(2 * fmax(variance, 1e-9)));
}

double redis_occupancy(int64_t keys, int64_t buckets, int64_t occupied)
{
    return more_occupied(keys, buckets, occupied - 1) - more_occupied(keys, buckets, occupied);
}

static void outcome_add(struct redis_outcomes *outcomes, struct redis_outcome outcome)
{
    for (size_t i = 0; i < outcomes->count; i++) {
        struct redis_outcome *known = &outcomes->items[i];
        if (known->table == outcome.table && known->table_extra == outcome.table_extra &&
            known->old == outcome.old && known->old_extra == outcome.old_extra) {
            known->probability += outcome.probability;
            return;
        }
    }
    if (outcomes->count < REDIS_OUTCOMES_MAX)
        outcomes->items[outcomes->count++] = outcome;
}

/* A chained table: it doubles at the insertion of field s + 1. The rehash that begins there moves
 * one occupied bucket a step, dict_step steps with each further field (and dict_first_step with
 * field s + 1); nothing continues it after the command, so the old array stands as long as any of
 * its occupied buckets is left. */
static void chained_outcomes(const struct redis_layout *layout, int64_t fields, int64_t presized,
                             struct redis_outcomes *outcomes)
{
    int64_t buckets = redis_dict_buckets(fields);
    int64_t first = redis_dict_buckets(presized);
    struct redis_outcome gone = {.table = buckets * 8};
    if (buckets == first) {
        gone.probability = 1;
        outcome_add(outcomes, gone);
        return;
    }
    int64_t size = buckets / 2;
    int64_t moved = layout->dict_step * (fields - size - 1) + layout->dict_first_step;
    double stands = more_occupied(size, size, moved);
    struct redis_outcome old = {.table = buckets * 8, .old = size * 8, .probability = stands};
    gone.probability = 1 - stands;
    if (gone.probability > 1e-6)
        outcome_add(outcomes, gone);
    if (old.probability > 1e-6)
        outcome_add(outcomes, old);
}

int64_t redis_bucket_count(int64_t keys)
{
    /* MAX_FILL_PERCENT_SOFT 100: a table grows when its 7 places a bucket don't do. */
    int64_t buckets = 1;
    while (buckets * REDIS_BUCKET_PLACES < keys)
        buckets *= 2;
    return buckets;
}

int64_t redis_bucket_count_sized(int64_t keys)
{
    /* BUCKET_FACTOR 5, BUCKET_DIVISOR 32 on 64-bit builds: 6.4 keys a bucket. */
    int64_t buckets = 1;
    while (buckets * 32 < keys * 5)
        buckets *= 2;
    return buckets;
}

/* A full bucket's last place becomes a pointer to a child: c children make 6 c + 7 places. */
static int64_t children(int64_t keys)
{
    return keys <= REDIS_BUCKET_PLACES
               ? 0
               : (keys - REDIS_BUCKET_PLACES + REDIS_BUCKET_PLACES - 2) / (REDIS_BUCKET_PLACES - 1);
}

double redis_child_buckets(int64_t keys, int64_t buckets)
{
    if (buckets == 1)
        return (double)children(keys);
    /* Binomial(keys, 1 / buckets) by its recurrence, in logarithms where it starts too small. */
    double p = 1 / (double)buckets, expected = 0;
    double mean = (double)keys * p;
    int64_t most = (int64_t)(mean + 12 * sqrt(mean) + 24);
    for (int64_t k = REDIS_BUCKET_PLACES + 1; k <= keys && k <= most; k++) {
        double logarithm = lgamma((double)keys + 1) - lgamma((double)k + 1) -
                           lgamma((double)(keys - k) + 1) + (double)k * log(p) +
                           (double)(keys - k) * log1p(-p);
        expected += exp(logarithm) * (double)children(k);
    }
    return expected * (double)buckets;
}

/* Tables of buckets, up to which fields the branches are told apart by trying them. */
#define TRIED_UP_TO 64
#define TRIES       4096

/* One insertion sequence with made-up hashes; what hashtable.c would hold at its end. */
static struct redis_outcome try_buckets(int64_t fields, int64_t presized, struct random *random)
{
    uint64_t hashes[TRIED_UP_TO];
    int64_t in_old[TRIED_UP_TO] = {0}, in_new[TRIED_UP_TO] = {0};
    int64_t buckets = redis_bucket_count(presized > 0 ? presized : 1), old = 0, moved = 0;
    /* Keys of a finished table are counted in in_new; while rehashing, buckets of the old one
     * below `moved` are empty. */
    for (int64_t i = 0; i < fields; i++) {
        if (old > 0) { /* an insertion first moves one bucket */
            for (int64_t j = 0; j < i; j++)
                if ((int64_t)(hashes[j] & (uint64_t)(old - 1)) == moved && in_old[moved] > 0) {
                    /* only keys that were in the old table: those before the growth */
                    if (j < old * REDIS_BUCKET_PLACES) {
                        in_new[hashes[j] & (uint64_t)(buckets - 1)]++;
                        in_old[moved]--;
                    }
                }
            if (++moved == old)
                old = 0;
        }
        if (old == 0 && i + 1 > buckets * REDIS_BUCKET_PLACES) {
            memcpy(in_old, in_new, sizeof in_old);
            memset(in_new, 0, sizeof in_new);
            old = buckets;
            moved = 0;
            buckets *= 2;
        }
        hashes[i] = random_next(random);
        in_new[hashes[i] & (uint64_t)(buckets - 1)]++;
    }
    struct redis_outcome outcome = {.table = buckets * REDIS_BUCKET, .old = old * REDIS_BUCKET};
    for (int64_t b = 0; b < buckets; b++)
        outcome.table_extra += children(in_new[b]);
    for (int64_t b = 0; b < old; b++)
        outcome.old_extra += children(in_old[b]);
    return outcome;
}

static void bucket_outcomes(int64_t fields, int64_t presized, struct redis_outcomes *outcomes)
{
    if (fields <= TRIED_UP_TO) {
        /* Always the same made-up hashes: a prediction is a pure function. */
        struct random random = random_at(1, fields, 0x7461626c65);
        for (int i = 0; i < TRIES; i++) {
            struct redis_outcome outcome = try_buckets(fields, presized, &random);
            outcome.probability = 1.0 / TRIES;
            outcome_add(outcomes, outcome);
        }
        /* Rare ones beyond the last place were left out. */
        double all = 0;
        for (size_t i = 0; i < outcomes->count; i++)
            all += outcomes->items[i].probability;
        for (size_t i = 0; i < outcomes->count; i++)
            outcomes->items[i].probability /= all;
        return;
    }
    int64_t buckets = redis_bucket_count(fields), old = buckets / 2;
    struct redis_outcome outcome = {.table = buckets * REDIS_BUCKET, .probability = 1};
    int64_t later = fields - old * REDIS_BUCKET_PLACES - 1;
    if (buckets > redis_bucket_count(presized > 0 ? presized : 1) && later < old) {
        outcome.old = old * REDIS_BUCKET;
        double left = (double)(old - later) / (double)old;
        outcome.old_extra = llround(left * redis_child_buckets(old * REDIS_BUCKET_PLACES, old));
        outcome.table_extra = llround((1 - left) * redis_child_buckets(fields, buckets));
    } else {
        outcome.table_extra = llround(redis_child_buckets(fields, buckets));
    }
    outcome_add(outcomes, outcome);
}

/* A table that is replaced by one for `rest` more keys once it holds `first`, and grows by itself
 * from there; a rehash moves one bucket with each key. */
static void chained_read_outcomes(const struct redis_layout *layout, int64_t fields, int64_t first,
                                  struct redis_outcomes *outcomes)
{
    struct redis_layout by_ones = *layout;
    by_ones.dict_step = 1;
    by_ones.dict_first_step = 0;
    int64_t rest = fields - first;
    int64_t presized = first == 0 ? fields : rest > 4 && rest >= first ? rest : 0;
    chained_outcomes(&by_ones, fields, layout->sized_on_read ? presized : 0, outcomes);
}

void redis_read_outcomes(const struct redis_layout *layout, int64_t fields, int64_t first,
                         struct redis_outcomes *outcomes)
{
    outcomes->count = 0;
    if (layout->field_table == REDIS_TABLE_BUCKETS)
        bucket_outcomes(fields, fields - first, outcomes);
    else
        chained_read_outcomes(layout, fields, first, outcomes);
}

void redis_hash_outcomes(const struct redis_layout *layout, int64_t fields, int64_t presized,
                         struct redis_outcomes *outcomes)
{
    outcomes->count = 0;
    if (layout->field_table == REDIS_TABLE_BUCKETS)
        bucket_outcomes(fields, presized, outcomes);
    else
        chained_outcomes(layout, fields, presized, outcomes);
}

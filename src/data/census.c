#include "data/census.h"

#include <stdlib.h>

#include "core/memory.h"
#include "core/random.h"
#include "core/temporary.h"

/* Entries of a run: 6 MiB. */
#define CENSUS_RUN ((size_t)256 * 1024)
/* Entries of each run that are held while the runs are merged: 12 KiB. */
#define CENSUS_HELD ((size_t)512)

static uint64_t mix(uint64_t state, uint64_t word)
{
    struct random random = {state ^ word};
    return random_next(&random);
}

static void hash_key(struct slice key, struct census_entry *entry)
{
    /* Two chains from different starts: the words go through both. */
    uint64_t a = 1, b = 2;
    for (size_t place = 0; place < key.length; place += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t left = key.length - place;
        memcpy(&word, key.bytes + place, left < sizeof word ? left : sizeof word);
        a = mix(a, word);
        b = mix(b + a, word);
    }
    entry->high = mix(a, key.length);
    entry->low = mix(b, key.length);
}

static int compare(const void *a, const void *b)
{
    const struct census_entry *x = a, *y = b;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static int broken(struct tare_error *error)
{
    return temporary_error("the keys, to find those that stand twice,", error);
}

static FILE *open_runs(void)
{
    int descriptor = temporary_open();
    return descriptor < 0 ? NULL : fdopen(descriptor, "w+b");
}

static int write_run(struct census *census, struct tare_error *error)
{
    if (!census->runs)
        census->runs = open_runs();
    if (!census->runs)
        return broken(error);
    qsort(census->entries, census->count, sizeof *census->entries, compare);
    if (fwrite(census->entries, sizeof *census->entries, census->count, census->runs) !=
        census->count)
        return broken(error);
    census->run_count++;
    census->count = 0;
    return 0;
}

int census_add(struct census *census, struct slice key, int64_t number, struct tare_error *error)
{
    if (census->count == CENSUS_RUN && write_run(census, error))
        return -1;
    MEMORY_GROW(census->entries, census->count, census->capacity);
    struct census_entry *entry = &census->entries[census->count++];
    hash_key(key, entry);
    entry->number = number;
    return 0;
}

/* The smallest entries of a run that were not taken yet. */
struct run {
    struct census_entry *held;
    size_t count, place;
    int64_t offset, left; /* in the file: of the next entry, how many there are */
};

static int run_fill(struct census *census, struct run *run, struct tare_error *error)
{
    if (run->place < run->count || run->left == 0)
        return 0;
    size_t wanted = run->left < (int64_t)CENSUS_HELD ? (size_t)run->left : CENSUS_HELD;
    if (fseeko(census->runs, run->offset, SEEK_SET) != 0 ||
        fread(run->held, sizeof *run->held, wanted, census->runs) != wanted)
        return broken(error);
    run->count = wanted;
    run->place = 0;
    run->offset += (int64_t)(wanted * sizeof *run->held);
    run->left -= (int64_t)wanted;
    return 0;
}

static bool run_empty(const struct run *run)
{
    return run->place == run->count;
}

/* Is the next entry of a smaller than that of b? An empty run is the largest. */
static bool run_less(const struct run *a, const struct run *b)
{
    if (run_empty(a) || run_empty(b))
        return !run_empty(a);
    return compare(&a->held[a->place], &b->held[b->place]) < 0;
}

/* Lets the run at `at` of a heap, the smallest on top, sink to its place. */
static void sink(struct run *runs, size_t count, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && run_less(&runs[child + 1], &runs[child]))
            child++;
        if (!run_less(&runs[child], &runs[at]))
            break;
        struct run moved = runs[at];
        runs[at] = runs[child];
        runs[child] = moved;
    }
}

struct seen {
    struct census_entry last; /* of the key that is being gone through: its smallest number */
    bool any;
};

static int see(struct seen *seen, const struct census_entry *entry,
               int (*twice)(void *context, int64_t number, int64_t first, struct tare_error *error),
               void *context, struct tare_error *error)
{
    if (seen->any && seen->last.high == entry->high && seen->last.low == entry->low)
        return twice(context, entry->number, seen->last.number, error);
    seen->last = *entry;
    seen->any = true;
    return 0;
}

int census_end(struct census *census,
               int (*twice)(void *context, int64_t number, int64_t first, struct tare_error *error),
               void *context, struct tare_error *error)
{
    struct seen seen = {0};
    int failed = 0;
    if (census->run_count == 0) {
        if (census->count)
            qsort(census->entries, census->count, sizeof *census->entries, compare);
        for (size_t i = 0; !failed && i < census->count; i++)
            failed = see(&seen, &census->entries[i], twice, context, error);
        return failed;
    }
    /* All runs but the last are full. */
    int64_t last = (int64_t)census->count;
    if (last && write_run(census, error))
        return -1;
    if (!last)
        last = (int64_t)CENSUS_RUN;
    size_t count = (size_t)census->run_count;
    struct run *runs = memory_new(count * sizeof *runs);
    for (size_t i = 0; !failed && i < count; i++) {
        runs[i] = (struct run){
            .held = memory_new(CENSUS_HELD * sizeof *runs[i].held),
            .offset = (int64_t)(i * CENSUS_RUN * sizeof *census->entries),
            .left = i + 1 < count ? (int64_t)CENSUS_RUN : last,
        };
        failed = run_fill(census, &runs[i], error);
    }
    for (size_t i = count / 2; !failed && i-- > 0;)
        sink(runs, count, i);
    while (!failed && !run_empty(&runs[0])) {
        failed = see(&seen, &runs[0].held[runs[0].place], twice, context, error);
        runs[0].place++;
        if (!failed)
            failed = run_fill(census, &runs[0], error);
        sink(runs, count, 0);
    }
    for (size_t i = 0; i < count; i++)
        free(runs[i].held);
    free(runs);
    return failed;
}

void census_free(struct census *census)
{
    free(census->entries);
    if (census->runs)
        fclose(census->runs);
    *census = (struct census){0};
}

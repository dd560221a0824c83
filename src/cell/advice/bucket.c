/* How many small values a hash should hold, where it holds several; and what it would save to hold
 * several where each is a string of its own. */
#include <stdlib.h>
#include <string.h>

#include "cell/advice.h"
#include "core/memory.h"
#include "core/units.h"

/* What is tried. A packed hash is read from its beginning: more are no good advice. */
static const int64_t sizes[] = {10, 20, 50, 100, 200, 500};
/* The fewest that save as much as the best, but for such a part of the cell. */
#define AS_GOOD 0.02
/* A string a record is simpler: several in a hash must save such a part at least. */
#define WORTH_A_CHANGE 0.2

/* The shape of the encoding's store that takes N encoded records a hash; NULL: none. */
static const struct shape_kind *bucket_shape(const struct encoding *encoding)
{
    for (size_t i = 0; shape_kinds[i]; i++)
        if (strcmp(shape_kinds[i]->store, encoding->shape->store) == 0 &&
            shape_kinds[i]->holds == OBJECT_HASH && shape_kinds[i]->batch_default > 0)
            return shape_kinds[i];
    return NULL;
}

/* The cell's encoding in that shape, so many records a hash; the caller frees. */
static char *in_buckets(const struct encoding *encoding, const struct shape_kind *shape,
                        int64_t size)
{
    return memory_format("%s:%s=%lld%s", shape->store, shape->name, (long long)size,
                         encoding->text + strcspn(encoding->text, "+@"));
}

struct tried {
    int64_t size;
    struct advice_weight weight;
};

static void advise(const struct advising *advising, const struct shape_kind *shape,
                   const struct tried *chosen)
{
    const struct encoding *encoding = advising->question->request->encoding;
    bool in_one = encoding->shape == shape;
    char share[UNITS_SIZE], saved[UNITS_SIZE], size[UNITS_SIZE], own[UNITS_SIZE];
    char *changed = in_buckets(encoding, shape, chosen->size);
    units_count(size, chosen->size);
    units_percent(share, advice_share(advising, &chosen->weight), 1);
    units_decimal(saved, advising->weight.allocated - chosen->weight.allocated, 1);
    if (in_one)
        advice_add(
            advising, "bucket", changed, &chosen->weight,
            "buckets of %s records instead of %s, %s, would save %s of it, %s bytes a record", size,
            units_count(own, encoding->batch), changed, share, saved);
    else
        advice_add(advising, "bucket", changed, &chosen->weight,
                   "%s records a hash, %s, would save %s of it, %s bytes a record; none can then "
                   "expire on its own",
                   size, changed, share, saved);
    free(changed);
}

static void consider(const struct advising *advising)
{
    const struct encoding *encoding = advising->question->request->encoding;
    const struct shape_kind *shape = bucket_shape(encoding);
    struct tried tried[sizeof sizes / sizeof sizes[0]];
    size_t count = 0, best = 0;
    bool in_one = encoding->shape == shape;
    if (!shape || !(in_one || (encoding->shape->takes == FORM_BYTES &&
                               encoding->shape->holds == OBJECT_STRING && !encoding->options.ttl)))
        return;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (sizes[i] > advising->question->request->selection->records ||
            (in_one && sizes[i] == encoding->batch))
            continue;
        char *changed = in_buckets(encoding, shape, sizes[i]);
        tried[count].size = sizes[i];
        if (advice_weigh(advising, &(struct advice_variant){.encoding = changed},
                         &tried[count].weight)) {
            if (tried[count].weight.allocated < tried[best].weight.allocated)
                best = count;
            count++;
        }
        free(changed);
    }
    if (count == 0)
        return;
    size_t chosen = 0; /* fewer in a hash are found sooner */
    while (tried[chosen].weight.allocated >
           tried[best].weight.allocated + AS_GOOD * advising->weight.allocated)
        chosen++;
    if (advice_share(advising, &tried[chosen].weight) >=
        (in_one ? ADVICE_SHARE_LEAST : WORTH_A_CHANGE))
        advise(advising, shape, &tried[chosen]);
}

const struct advice_kind advice_bucket = {
    .name = "bucket",
    .summary = "how many small values a hash should hold, and what that would save",
    .consider = consider,
};

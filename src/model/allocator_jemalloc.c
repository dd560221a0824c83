/* jemalloc's size classes (its include/jemalloc/internal: size_classes.h of
 * 4.x, sc.h and sz.h of 5.x): multiples of the quantum up to four of them, then
 * four classes a doubling. Quantum 16 has one class of 8 besides. Redis's
 * used_memory counts the class (je_malloc_usable_size). */
#include "model/block.h"

static bool fits(const struct build *build)
{
    return build_jemalloc(build) != 0;
}

/* Floor of the binary logarithm. */
static int logarithm(uint64_t number)
{
    return 63 - __builtin_clzll(number);
}

static int64_t usable(const struct build *build, int64_t requested)
{
    int log_quantum = build->quantum == 8 ? 3 : 4;
    if (requested <= 8)
        return 8;
    /* Above: 2^log_group is the doubling that holds the request, a quarter of it the spacing. */
    int log_group = logarithm((uint64_t)requested * 2 - 1);
    int log_spacing = log_group < log_quantum + 3 ? log_quantum : log_group - 3;
    int64_t mask = ((int64_t)1 << log_spacing) - 1;
    return (requested + mask) & ~mask;
}

const struct allocator_kind allocator_jemalloc = {
    .name = "jemalloc",
    .explanation = "size classes of jemalloc 3.6 to 5.3 by quantum; used_memory counts the class",
    .fits = fits,
    .usable = usable,
};

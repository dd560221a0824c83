/* What is assumed where nothing is known of an allocator. */
#include "model/block.h"

static bool fits(const struct build *build)
{
    (void)build;
    return true;
}

static int64_t usable(const struct build *build, int64_t requested)
{
    (void)build;
    /* alignof(max_align_t): no allocator for C on 64-bit machines spaces blocks closer. */
    return requested <= 16 ? 16 : (requested + 15) / 16 * 16;
}

const struct allocator_kind allocator_generic = {
    .name = "generic",
    .explanation = "a fallback for allocators without a model: multiples of 16, nothing else",
    .fits = fits,
    .usable = usable,
};

/* glibc's malloc (malloc.c): a chunk is the request with an 8-byte header,
 * aligned to 16, 32 at least; chunks of 128 KiB and more are mapped by
 * themselves with a header of 16. */
#include <string.h>

#include "model/block.h"

/* DEFAULT_MMAP_THRESHOLD. It rises when a mapped chunk is freed (to that chunk's size, at most 32
 * MiB), so that a later, smaller request may come from the heap: a rounding of a page at most. */
#define MAPPED_FROM (128 * 1024)

static bool fits(const struct build *build)
{
    return strcmp(build->allocator, "libc") == 0 || strncmp(build->allocator, "glibc", 5) == 0;
}

static int64_t align(int64_t bytes, int64_t to)
{
    return (bytes + to - 1) / to * to;
}

static int64_t chunk(int64_t requested)
{
    if (requested + 8 >= MAPPED_FROM)
        return align(requested + 16, 4096);
    int64_t size = align(requested + 8, 16);
    return size < 32 ? 32 : size;
}

/* Up to 3.2 zmalloc.h knows no malloc_usable_size on Linux: zmalloc puts the size in 8 bytes before
 * each block and counts request + 8, in multiples of 8 (zmalloc.c, PREFIX_SIZE). 4.0 and later ask
 * glibc for the usable size. */
static bool prefixed(const struct build *build)
{
    return strcmp(build->store, "redis") == 0 && build->number < 40000;
}

static int64_t usable(const struct build *build, int64_t requested)
{
    if (prefixed(build))
        return align(requested + 8, 8);
    return chunk(requested) - (requested + 8 >= MAPPED_FROM ? 16 : 8);
}

static int64_t header(const struct build *build, int64_t requested)
{
    return chunk(prefixed(build) ? requested + 8 : requested) - usable(build, requested);
}

const struct allocator_kind allocator_glibc = {
    .name = "glibc",
    .explanation = "usable sizes of glibc's malloc, its 8-byte headers kept apart; "
                   "used_memory of Redis 3.2 counts requests + 8",
    .fits = fits,
    .usable = usable,
    .header = header,
};

/* glibc's malloc (malloc.c): a chunk is the request with an 8-byte header,
 * aligned to 16, 32 at least; tables of 128 KiB and more are mapped by
 * themselves with a header of 16. */
#include <string.h>

#include "model/block.h"

/* DEFAULT_MMAP_THRESHOLD. It rises to the size of each mapped chunk that is freed (to 32 MiB at
 * most): a server that took a large value in had buffers as large, and has freed one, so the next
 * value comes from the heap. Tables double: each is larger than the one freed before it, and is
 * mapped. So a request that is a power of two is taken as mapped, any other one as of the heap;
 * where that is wrong, a block is less than a page off. The memory store's process leaves the
 * threshold where it is (memory_hold.c): there each chunk as large as that is mapped. */
#define MAPPED_FROM (128 * 1024)

static bool is_mapped(const struct build *build, int64_t requested)
{
    if (strcmp(build->store, "memory") == 0)
        return requested + 8 > MAPPED_FROM - 16;
    return requested >= MAPPED_FROM && (requested & (requested - 1)) == 0;
}

static bool fits(const struct build *build)
{
    return strcmp(build->allocator, "libc") == 0 || strncmp(build->allocator, "glibc", 5) == 0;
}

static int64_t align(int64_t bytes, int64_t to)
{
    return (bytes + to - 1) / to * to;
}

/* The whole chunk of a request of `prefix` bytes more; mapped ones have 8 bytes more (malloc.c,
 * sysmalloc_mmap). */
static int64_t chunk(const struct build *build, int64_t requested, int64_t prefix)
{
    int64_t size = align(requested + prefix + 8, 16);
    if (is_mapped(build, requested))
        return align(size + 8, 4096);
    return size < 32 ? 32 : size;
}

/* Up to 4.0 zmalloc.h knows no malloc_usable_size on Linux: zmalloc puts the size in 8 bytes before
 * each block and counts request + 8, in multiples of 8 (zmalloc.c, PREFIX_SIZE). 5.0 and later ask
 * glibc for the usable size. */
bool allocator_counts_requests(const struct build *build)
{
    return strcmp(build->store, "redis") == 0 && build->number < 50000;
}

static int64_t usable(const struct build *build, int64_t requested)
{
    if (allocator_counts_requests(build))
        return align(requested + 8, 8);
    return chunk(build, requested, 0) - (is_mapped(build, requested) ? 16 : 8);
}

static int64_t header(const struct build *build, int64_t requested)
{
    return chunk(build, requested, allocator_counts_requests(build) ? 8 : 0) -
           usable(build, requested);
}

const struct allocator_kind allocator_glibc = {
    .name = "glibc",
    .explanation = "usable sizes of glibc's malloc, its 8-byte headers kept apart; "
                   "used_memory of Redis up to 4.0 counts requests + 8",
    .fits = fits,
    .usable = usable,
    .header = header,
};

/* From used_memory to resident pages: the allocator's and the process's
 * accounts, measured (run) and predicted (plan), and the blocks by size class
 * that MALLOC-STATS counts, beside those predicted. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/redis.h"

/* --- Blocks by what they occupy --- */

struct sizes {
    struct size {
        int64_t usable;
        double count;
    } * items;
    size_t count;
};

static int by_usable(const void *a, const void *b)
{
    const struct size *x = a, *y = b;
    return (x->usable > y->usable) - (x->usable < y->usable);
}

static void sizes_of(const struct blocks *blocks, struct sizes *sizes)
{
    size_t all = 0;
    sizes->items = memory_new((blocks->class_count + 1) * sizeof *sizes->items);
    for (size_t i = 0; i < blocks->class_size; i++)
        if (blocks->classes[i].kind)
            sizes->items[all++] =
                (struct size){blocks->classes[i].usable, blocks->classes[i].count};
    qsort(sizes->items, all, sizeof *sizes->items, by_usable);
    sizes->count = 0;
    for (size_t i = 0; i < all; i++) {
        if (sizes->count > 0 && sizes->items[sizes->count - 1].usable == sizes->items[i].usable)
            sizes->items[sizes->count - 1].count += sizes->items[i].count;
        else
            sizes->items[sizes->count++] = sizes->items[i];
    }
}

/* --- jemalloc 5: slabs, their metadata --- */

/* jemalloc's sc.c: a slab of a class has the fewest pages that the class divides. */
static int64_t slab_bytes(int64_t size, int64_t page)
{
    int64_t bytes = page;
    while (bytes % size != 0)
        bytes += page;
    return bytes;
}

/* Classes below four pages are small (SC_SMALL_MAXCLASS: 14 KiB with pages of 4 KiB). */
static bool is_small(int64_t size, int64_t page)
{
    return size < 4 * page;
}

/* sizeof(edata_t) of 5.3, extent_t of 5.0 to 5.2: 128 with the bitmap of a slab of 4 KiB pages
 * (512 places: 64 bytes); pages of 64 KiB need 8,192 places: 1,152. */
static int64_t extent_struct(const struct build *build)
{
    return 64 + build->page_size / 8 / 8 + (build->page_size > 4096 ? 64 : 0);
}

/* The kernel's pages. */
#define PAGE 4096

/* Large blocks are pages of their own, and those behind the request are never touched (negative).
 * Where a block starts anywhere in its first page (cache-oblivious), requests end anywhere too. */
static int64_t untouched(const struct build *build, const struct blocks *blocks)
{
    double bytes = -blocks->unwritten;
    for (size_t i = 0; i < blocks->class_size; i++) {
        const struct block_class *class = &blocks->classes[i];
        if (!class->kind || is_small(class->usable, build->page_size))
            continue;
        int64_t touched =
            build->cache_oblivious ? class->requested : (class->requested + PAGE - 1) / PAGE * PAGE;
        bytes += class->count * (double)(touched - class->usable);
    }
    return llround(bytes);
}

/* A page of active memory has an element in the page map (rtree.h): 8 bytes with addresses of 48
 * bits, in leaves of 2 MiB; 16 bytes in leaves of 512 KiB where jemalloc was built on a machine
 * with addresses of 57 bits. A leaf counts whole in malloc.metadata though few of its pages are
 * touched. */
#define PAGE_MAP_ELEMENT      8
#define PAGE_MAP_ELEMENT_WIDE 16
#define PAGE_MAP_LEAF         (2 * 1024 * 1024)
#define PAGE_MAP_LEAF_WIDE    (512 * 1024)

/* Which of them: told by the leaves, in what malloc.metadata grew by besides the extents. */
static int64_t page_map_element(const struct build *build, int64_t extents, int64_t metadata_grown)
{
    int64_t leaves = metadata_grown - extents * extent_struct(build);
    int64_t count = (leaves + PAGE_MAP_LEAF_WIDE / 2) / PAGE_MAP_LEAF_WIDE;
    bool fits = llabs(leaves - count * PAGE_MAP_LEAF_WIDE) < PAGE_MAP_LEAF_WIDE / 16;
    bool wide = fits && count > 0 && count * PAGE_MAP_LEAF_WIDE % PAGE_MAP_LEAF != 0;
    return wide ? PAGE_MAP_ELEMENT_WIDE : PAGE_MAP_ELEMENT;
}

static int64_t metadata(const struct build *build, int64_t extents, int64_t active, int64_t element)
{
    return extents * extent_struct(build) + active / build->page_size * element;
}

/* jemalloc 4 heads each chunk of 2 MiB (512 pages) with 13 pages of page map (arena.h: 8 bytes a
 * page and the run structures); blocks of 2 MiB and more have chunks of their own without one. */
#define CHUNK_HEADER_PAGES 13
#define CHUNK_PAGES        512
#define CHUNK_BYTES        (2 * 1024 * 1024)

static int64_t chunk_headers(const struct blocks *blocks, int64_t allocated)
{
    for (size_t i = 0; i < blocks->class_size; i++)
        if (blocks->classes[i].kind && blocks->classes[i].usable >= CHUNK_BYTES)
            allocated -= llround(blocks->classes[i].count * (double)blocks->classes[i].usable);
    return allocated * CHUNK_HEADER_PAGES / (CHUNK_PAGES - CHUNK_HEADER_PAGES);
}

/* Large blocks of jemalloc 4 (16 KiB and more, in chunks that others share) start anywhere in their
 * first page and have a page more for it (arena.c, large_pad). */
static int64_t large_padding(const struct build *build, const struct blocks *blocks)
{
    double count = 0;
    for (size_t i = 0; build->cache_oblivious && i < blocks->class_size; i++)
        if (blocks->classes[i].kind && blocks->classes[i].usable >= 4 * PAGE &&
            blocks->classes[i].usable < CHUNK_BYTES)
            count += blocks->classes[i].count;
    return llround(count * PAGE);
}

/* freed: room that blocks left behind, in runs with others. */
static void add_jemalloc_4(const struct build *build, const struct blocks *blocks,
                           int64_t allocated, int64_t freed, struct amounts *amounts)
{
    int64_t padding = large_padding(build, blocks);
    if (padding + freed)
        amounts_add(amounts, &account_fragmentation, BASIS_MODELLED, padding + freed);
    if (padding) {
        amounts_add(amounts, &account_untouched_pages, BASIS_MODELLED, untouched(build, blocks));
    }
    amounts_add(amounts, &account_chunk_headers, BASIS_MODELLED,
                chunk_headers(blocks, allocated + padding + freed));
}

/* --- plan --- */

/* Dirty pages that a load may leave behind (freed tables, buffers), at most, by 2.5 s after it. */
#define DIRTY_AT_MOST (6 * 1024 * 1024)
/* Code, buffers and stacks that a server touches for the first time while it loads. */
#define TOUCHED (512 * 1024)

void redis_predict_resident(const struct redis_model *redis, int64_t buffers, int64_t branch_low,
                            int64_t branch_high, struct prediction *prediction)
{
    const struct build *build = &redis->model.build;
    const struct blocks *blocks = &prediction->blocks;
    struct amounts *amounts = &prediction->resident_amounts;
    int64_t allocated = prediction->allocated, dirty = 0;
    int jemalloc = build_jemalloc(build);
    if (jemalloc >= 50000) {
        struct sizes sizes;
        sizes_of(blocks, &sizes);
        double extents = 0, fragmentation = 0;
        for (size_t i = 0; i < sizes.count; i++) {
            double count = sizes.items[i].count;
            int64_t size = sizes.items[i].usable;
            if (is_small(size, build->page_size)) {
                int64_t slab = slab_bytes(size, build->page_size);
                /* Its last slab is touched as far as it is used: half a page more than that. */
                extents += ceil(count * (double)size / (double)slab);
                fragmentation += PAGE / 2;
            } else {
                extents += count;
                if (build->cache_oblivious)
                    fragmentation += count * build->page_size;
                /* Large blocks take whole pages. */
                int64_t over = size % build->page_size;
                fragmentation += over ? count * (double)(build->page_size - over) : 0;
            }
        }
        free(sizes.items);
        dirty = allocated > 0 ? DIRTY_AT_MOST : 0;
        amounts_add(amounts, &account_fragmentation, BASIS_MODELLED, llround(fragmentation));
        amounts_add(amounts, &account_allocator_metadata, BASIS_MODELLED,
                    metadata(build, llround(extents), allocated + llround(fragmentation),
                             PAGE_MAP_ELEMENT));
        amounts_add(amounts, &account_untouched_pages, BASIS_MODELLED, untouched(build, blocks));
    } else if (jemalloc) {
        dirty = allocated > 0 ? DIRTY_AT_MOST : 0;
        add_jemalloc_4(build, blocks, allocated, prediction->freed, amounts);
    } else {
        amounts_add(amounts, &account_block_headers, BASIS_MODELLED, llround(blocks->headers));
        dirty = allocated > 0 ? DIRTY_AT_MOST : 0; /* free chunks between blocks */
    }
    prediction->resident = allocated + amounts_sum(amounts);
    /* Half a percent each way, and what a load leaves behind: within 2 % from 100 MB up. */
    int64_t resident = prediction->resident;
    int64_t slack = resident / 200 + (allocated > 0 ? TOUCHED : 0);
    int64_t low = prediction->allocated_low - allocated - branch_low - slack;
    int64_t high = prediction->allocated_high - allocated - branch_high + slack + dirty;
    int64_t most = resident / 50;
    if (resident >= 100 * 1000 * 1000) {
        low = low < -most ? -most : low;
        high = high > most ? most : high;
    }
    /* The branch of the server's hash seed is no slack: all of it may come. */
    prediction->resident_low = resident + low + branch_low;
    prediction->resident_high = resident + high + branch_high + buffers;
}

/* --- run --- */

/* The growth of a column, summed over all rows "GROUP.SIZE.COLUMN" of the end. */
static int64_t growth_of_column(const struct figures *base, const struct figures *end,
                                const char *group, const char *const *columns)
{
    int64_t sum = 0;
    size_t length = strlen(group);
    for (size_t i = 0; i < end->count; i++) {
        const char *name = end->items[i].name;
        if (strncmp(name, group, length) != 0)
            continue;
        const char *last = strrchr(name, '.');
        for (size_t c = 0; columns[c]; c++)
            if (strcmp(last + 1, columns[c]) == 0)
                sum += end->items[i].integer - figures_get(base, name);
    }
    return sum;
}

/* Both figures there: a growth; else nothing is added. */
static bool growth(const struct figures *base, const struct figures *end, const char *name,
                   int64_t *bytes)
{
    *bytes = figures_growth(base, end, name);
    return figures_has(base, name) && figures_has(end, name);
}

static void add_growth(struct measurement *measurement, const struct account *account,
                       const struct figures *base, const struct figures *end,
                       const char *const *names)
{
    int64_t sum = 0;
    bool any = false;
    for (size_t i = 0; names[i]; i++) {
        int64_t bytes;
        if (growth(base, end, names[i], &bytes)) {
            sum += bytes;
            any = true;
        }
    }
    if (any)
        amounts_add(&measurement->amounts, account, BASIS_MEASURED, sum);
}

/* An empty server's allocator has active pages that were never touched: slabs of which a few blocks
 * are in use, and caches of threads that were filled in batches. What a load puts there doesn't
 * make active grow, but it makes pages resident: as much as allocated grew beyond active (what was
 * freed since included), as far as
 * the base's active pages and metadata were not resident. Active pages that were freed since are
 * counted as dirty, touched or not: so much less. */
static int64_t touched_later(const struct build *build, const struct figures *base, int64_t beyond)
{
    static const char *const slabs[] = {"curslabs", NULL};
    static const char *const extents[] = {"curlextents", NULL};
    static const struct figures nothing;
    if (beyond <= 0 || !figures_has(base, "smaps.anonymous.rss"))
        return 0;
    int64_t active = figures_get(base, "malloc.active");
    int64_t count = growth_of_column(&nothing, base, "malloc.bins.", slabs) +
                    growth_of_column(&nothing, base, "malloc.large.", extents);
    int64_t not_resident = active + metadata(build, count, active, PAGE_MAP_ELEMENT) -
                           figures_get(base, "smaps.anonymous.rss") -
                           figures_get(base, "smaps.heap.rss");
    if (not_resident < 0)
        return 0;
    return not_resident < beyond ? not_resident : beyond;
}

static void measure_jemalloc_5(const struct build *build, const struct figures *base,
                               const struct figures *end, const struct prediction *prediction,
                               struct measurement *measurement)
{
    int64_t allocated, active, metadata_stat, resident;
    if (!growth(base, end, "malloc.allocated", &allocated) ||
        !growth(base, end, "malloc.active", &active)) {
        measurement_note(measurement, "the server shows no MEMORY MALLOC-STATS: the allocator's "
                                      "accounts can't be told apart");
        return;
    }
    struct amounts *amounts = &measurement->amounts;
    /* What the allocator has handed out and the server does not count: caches of threads. */
    amounts_add(amounts, &account_thread_cache, BASIS_DERIVED, allocated - measurement->allocated);
    amounts_add(amounts, &account_fragmentation, BASIS_DERIVED, active - allocated);
    static const char *const slabs[] = {"curslabs", NULL};
    static const char *const extents[] = {"curlextents", NULL};
    int64_t count = growth_of_column(base, end, "malloc.bins.", slabs) +
                    growth_of_column(base, end, "malloc.large.", extents);
    bool has_metadata = growth(base, end, "malloc.metadata", &metadata_stat);
    int64_t element =
        has_metadata ? page_map_element(build, count, metadata_stat) : PAGE_MAP_ELEMENT;
    amounts_add(amounts, &account_allocator_metadata, BASIS_MODELLED,
                metadata(build, count, active, element));
    int64_t dirty = 0;
    bool has_dirty = has_metadata && growth(base, end, "malloc.resident", &resident);
    if (has_dirty)
        dirty = resident - active - metadata_stat;
    amounts_add(amounts, &account_untouched_pages, BASIS_DERIVED,
                untouched(build, &prediction->blocks) +
                    touched_later(build, base,
                                  measurement->allocated + prediction->freed - active - dirty));
    if (has_dirty)
        amounts_add(amounts, &account_dirty_pages, BASIS_DERIVED, dirty);
}

/* A thread's arena reserves as much address space at once (glibc, arena.c, HEAP_MAX_SIZE). */
#define ARENA ((int64_t)64 << 20)

/* By a walk of the heap's chunks. */
static void measure_glibc(const struct build *build, const struct figures *base,
                          const struct figures *end, struct measurement *measurement)
{
    struct amounts *amounts = &measurement->amounts;
    int64_t used, chunks, free_bytes, top, heap, heap_resident, mapped, mapped_resident;
    if (!growth(base, end, "heap.used", &used) || !growth(base, end, "heap.blocks", &chunks) ||
        !growth(base, end, "heap.free", &free_bytes) || !growth(base, end, "heap.top", &top))
        return;
    amounts_add(amounts, &account_free_chunks, BASIS_MEASURED, free_bytes + top);
    if (!growth(base, end, "smaps.heap.size", &heap) ||
        !growth(base, end, "smaps.heap.rss", &heap_resident) ||
        !growth(base, end, "smaps.anonymous.size", &mapped) ||
        !growth(base, end, "smaps.anonymous.rss", &mapped_resident) ||
        mapped - mapped_resident >= ARENA / 2)
        return;
    amounts_add(amounts, &account_untouched_pages, BASIS_DERIVED,
                heap_resident - heap + mapped_resident - mapped);
    /* Chunks that look as if in use and are the server's no more: freed into a thread's cache or a
     * fast bin. Where used_memory counts usable sizes, which each chunk's header is no part of. */
    if (!allocator_counts_requests(build))
        amounts_add(amounts, &account_thread_cache, BASIS_DERIVED,
                    used - 8 * chunks + mapped - measurement->allocated);
}

int redis_measure(struct model *model, const struct figures *base, const struct figures *end,
                  const struct prediction *prediction, struct measurement *measurement,
                  struct tare_error *error)
{
    const struct build *build = &model->build;
    (void)error;
    measurement_free(measurement);
    measurement->has_allocated =
        growth(base, end, "info.memory.used_memory", &measurement->allocated);
    measurement->base_allocated = figures_get(base, "info.memory.used_memory");
    measurement->has_resident = growth(base, end, "smaps.total.rss", &measurement->resident);
    measurement->base_resident = figures_get(base, "smaps.total.rss");

    static const char *const clients[] = {"info.memory.mem_clients_normal",
                                          "info.memory.mem_clients_slaves",
                                          "info.memory.mem_cluster_links", NULL};
    static const char *const buffers[] = {"info.memory.mem_aof_buffer",
                                          "info.memory.mem_total_replication_buffers", NULL};
    static const char *const start[] = {"info.memory.used_memory_startup", NULL};
    add_growth(measurement, &account_server_start, base, end, start);
    add_growth(measurement, &account_client_buffers, base, end, clients);
    add_growth(measurement, &account_server_buffers, base, end, buffers);

    if (measurement->has_resident) {
        int jemalloc = build_jemalloc(build);
        struct amounts *amounts = &measurement->amounts;
        if (jemalloc >= 50000) {
            measure_jemalloc_5(build, base, end, prediction, measurement);
        } else if (jemalloc) {
            add_jemalloc_4(build, &prediction->blocks, measurement->allocated, prediction->freed,
                           amounts);
        } else {
            amounts_add(amounts, &account_block_headers, BASIS_MODELLED,
                        llround(prediction->blocks.headers));
            measure_glibc(build, base, end, measurement);
        }
        static const char *const files[] = {"smaps.file.rss", NULL};
        static const char *const stacks[] = {"smaps.stack.rss", NULL};
        add_growth(measurement, &account_mapped_files, base, end, files);
        add_growth(measurement, &account_stacks, base, end, stacks);
    }
    redis_json_note(end, &prediction->blocks, measurement);
    const struct redis_model *redis = (const struct redis_model *)model;
    if (figures_get(end, REDIS_UPDATED "1") > 0 && redis->hashes_count != 1 &&
        prediction->blocks.sums[account_field_table_old.place] > 0)
        measurement_note(measurement,
                         "updates and look-ups end rehashes: of hashes with different fields, or "
                         "that hold many records, it can't be told which old tables are gone");
    if (figures_get(end, "store.purged") > 0)
        measurement_note(measurement,
                         "jemalloc held %.1f MiB of freed pages, as large buffers leave them: "
                         "MEMORY PURGE gave them back before the figures were read",
                         (double)figures_get(end, "store.purged") / (1 << 20));
    if (figures_get(end, "info.memory.lazyfree_pending_objects") > 0)
        measurement_note(measurement, "the server still had objects to free in the background");
    if (figures_get(end, "info.memory.active_defrag_running") > 0)
        measurement_note(measurement, "active defragmentation was running");
    return 0;
}

/* --- Evidence --- */

/* The growth of one of these columns by size: "malloc.bins.320.curregs". */
static void count_column(struct evidence *evidence, const struct figures *base,
                         const struct figures *end, const char *group, const char *column)
{
    size_t length = strlen(group);
    for (size_t i = 0; i < end->count; i++) {
        const char *name = end->items[i].name;
        char *rest;
        if (strncmp(name, group, length) != 0)
            continue;
        long long size = strtoll(name + length, &rest, 10);
        if (rest == name + length || *rest != '.' || strcmp(rest + 1, column) != 0)
            continue;
        int64_t counted = end->items[i].integer - figures_get(base, name);
        if (counted)
            evidence_row(evidence, size)->counted += counted;
    }
}

int redis_evidence(struct model *model, const struct figures *base, const struct figures *end,
                   const struct prediction *prediction, struct evidence *evidence)
{
    evidence_free(evidence);
    if (!build_jemalloc(&model->build) || !figures_has(end, "malloc.allocated"))
        return 0;
    evidence->source = "MEMORY MALLOC-STATS";
    count_column(evidence, base, end, "malloc.bins.", "curregs");
    count_column(evidence, base, end, "malloc.large.", "curlextents");
    count_column(evidence, base, end, "malloc.large.", "curruns");
    count_column(evidence, base, end, "malloc.huge.", "curhchunks");
    struct sizes sizes;
    sizes_of(&prediction->blocks, &sizes);
    for (size_t i = 0; i < sizes.count; i++) {
        int64_t predicted = llround(sizes.items[i].count);
        if (predicted)
            evidence_row(evidence, sizes.items[i].usable)->predicted += predicted;
    }
    free(sizes.items);
    evidence_sort(evidence);
    return 0;
}

/* Sums by account and a histogram of blocks. Adding a block is the inner loop
 * of every prediction, so a class keeps its usable size once it was found. */
#include "model/block.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

void blocks_open(struct blocks *blocks, const struct build *build)
{
    *blocks = (struct blocks){.build = build, .allocator = allocator_of(build)};
}

void blocks_free(struct blocks *blocks)
{
    free(blocks->classes);
    blocks->classes = NULL;
    blocks->class_count = blocks->class_size = 0;
}

/* By the size alone, which few kinds share: by kind's address too, the order of the classes, and
 * with it the last digit of every sum over them, would be another in each process. */
static size_t class_place(const struct blocks *blocks, const char *kind, int64_t requested)
{
    uint64_t hash = (uint64_t)requested * 0x9e3779b97f4a7c15u;
    size_t mask = blocks->class_size - 1, at = (size_t)(hash >> 32) & mask;
    while (blocks->classes[at].kind &&
           (blocks->classes[at].requested != requested || blocks->classes[at].kind != kind))
        at = (at + 1) & mask;
    return at;
}

static void grow(struct blocks *blocks)
{
    struct block_class *old = blocks->classes;
    size_t old_size = blocks->class_size;
    blocks->class_size = old_size ? old_size * 2 : 64;
    blocks->classes = memory_new(blocks->class_size * sizeof *blocks->classes);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].kind)
            blocks->classes[class_place(blocks, old[i].kind, old[i].requested)] = old[i];
    free(old);
}

/* The class of (kind, requested). kind is told by its address: the same constant for each add. */
static struct block_class *class_of(struct blocks *blocks, const char *kind, int64_t requested)
{
    if (blocks->class_count * 3 >= blocks->class_size * 2)
        grow(blocks);
    struct block_class *class = &blocks->classes[class_place(blocks, kind, requested)];
    if (!class->kind) {
        class->kind = kind;
        class->requested = requested;
        class->usable = blocks->allocator->usable(blocks->build, requested);
        class->header =
            blocks->allocator->header ? blocks->allocator->header(blocks->build, requested) : 0;
        blocks->class_count++;
    }
    return class;
}

void blocks_add(struct blocks *blocks, const char *kind, double count, const struct part *parts,
                size_t part_count)
{
    int64_t requested = 0;
    for (size_t i = 0; i < part_count; i++) {
        requested += parts[i].bytes;
        if (parts[i].account)
            blocks->sums[parts[i].account->place] += count * (double)parts[i].bytes;
        else
            blocks->content += count * (double)parts[i].bytes;
    }
    struct block_class *class = class_of(blocks, kind, requested);
    class->count += count;
    blocks->rounding += count * (double)(class->usable - requested);
    blocks->headers += count * (double)class->header;
    blocks->block_count += count;
}

void blocks_add_plain(struct blocks *blocks, const char *kind, double count, int64_t content,
                      const struct account *account, int64_t structure)
{
    const struct part parts[] = {{NULL, content}, {account, structure}};
    blocks_add(blocks, kind, count, parts, 2);
}

void blocks_absent(struct blocks *blocks, double count, int64_t bytes,
                   const struct account *account)
{
    blocks->content += count * (double)bytes;
    blocks->sums[account->place] -= count * (double)bytes;
}

void blocks_integer_form(struct blocks *blocks, double count, int64_t text_length)
{
    blocks_absent(blocks, count, text_length, &account_integer_form);
}

double blocks_total(const struct blocks *blocks)
{
    double total = blocks->content + blocks->rounding;
    for (size_t i = 0; accounts[i]; i++)
        total += blocks->sums[accounts[i]->place];
    return total;
}

void blocks_scale(struct blocks *blocks, double factor)
{
    blocks->content *= factor;
    for (size_t i = 0; i < sizeof blocks->sums / sizeof *blocks->sums; i++)
        blocks->sums[i] *= factor;
    blocks->rounding *= factor;
    blocks->headers *= factor;
    blocks->unwritten *= factor;
    blocks->block_count *= factor;
    for (size_t i = 0; i < blocks->class_size; i++)
        blocks->classes[i].count *= factor;
}

void blocks_merge(struct blocks *to, const struct blocks *from)
{
    to->content += from->content;
    for (size_t i = 0; i < sizeof to->sums / sizeof *to->sums; i++)
        to->sums[i] += from->sums[i];
    to->rounding += from->rounding;
    to->headers += from->headers;
    to->unwritten += from->unwritten;
    to->block_count += from->block_count;
    for (size_t i = 0; i < from->class_size; i++)
        if (from->classes[i].kind)
            class_of(to, from->classes[i].kind, from->classes[i].requested)->count +=
                from->classes[i].count;
}

/* Allocators. The order matters: the first that fits is taken, the last fits all. */
extern const struct allocator_kind allocator_jemalloc, allocator_glibc, allocator_generic;
extern const struct allocator_kind allocator_null, allocator_tcmalloc;

const struct allocator_kind *const allocator_kinds[] = {&allocator_null,     &allocator_jemalloc,
                                                        &allocator_tcmalloc, &allocator_glibc,
                                                        &allocator_generic,  NULL};

const struct allocator_kind *allocator_of(const struct build *build)
{
    const struct allocator_kind *const *kind = allocator_kinds;
    while (kind[1] && !(*kind)->fits(build))
        kind++;
    return *kind;
}

int allocator_kinds_check(struct tare_error *error)
{
    for (size_t i = 0; allocator_kinds[i]; i++) {
        const struct allocator_kind *kind = allocator_kinds[i];
        if (!kind->name || !kind->explanation || !kind->fits || !kind->usable)
            return error_set(error, TARE_USAGE, "allocator '%s' of the table is incomplete",
                             kind->name ? kind->name : "?");
        for (size_t j = 0; j < i; j++)
            if (strcmp(allocator_kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "allocator '%s' stands twice in the table",
                                 kind->name);
    }
    return 0;
}

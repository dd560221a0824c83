/* A library for LD_PRELOAD that counts the live blocks of a program built on glibc's malloc, by the
 * size that was asked for. It is the oracle for a model's blocks.
 *
 *   WITNESS_FILE=F WITNESS_PROGRAM=redis-server LD_PRELOAD=witness.so redis-server ...
 *
 * It acts only in a program of that name, and changes nothing that the program can see: no header
 * is added to a block, malloc_usable_size says what it always says, and what the witness itself
 * needs is mapped, never taken from the heap. Calls go to glibc by its own other names, so there is
 * nothing to look up: it works before main, in constructors and in the dynamic linker's calls. */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "witness.h"

/* glibc's names of its own functions behind those that a program may replace (malloc.c). */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

/* A live block; address 0 is an unused place. */
struct place {
    uintptr_t address;
    size_t requested;
};

/* Open addressing with linear probing, a power of two, never more than half full. */
struct places {
    struct place *items;
    size_t size, used;
};

static struct places places;
static struct witness_counters *counters;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* Before the constructor has looked at the program's name, blocks are counted. */
static atomic_bool idle;

static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static size_t home(uintptr_t address)
{
    return (size_t)((uint64_t)(address >> 4) * 0x9e3779b97f4a7c15u >> 20) & (places.size - 1);
}

static void place_put(uintptr_t address, size_t requested)
{
    size_t at = home(address);
    while (places.items[at].address)
        at = (at + 1) & (places.size - 1);
    places.items[at] = (struct place){address, requested};
    places.used++;
}

/* False where there is no memory for a larger table. */
static bool places_grow(void)
{
    struct places old = places;
    size_t size = old.size ? old.size * 2 : 1 << 16;
    struct place *items = map(size * sizeof *items);
    if (!items)
        return false;
    places = (struct places){items, size, 0};
    for (size_t i = 0; i < old.size; i++)
        if (old.items[i].address)
            place_put(old.items[i].address, old.items[i].requested);
    if (old.items)
        munmap(old.items, old.size * sizeof *old.items);
    return true;
}

/* Removes the block; false where it isn't known. */
static bool place_take(uintptr_t address, size_t *requested)
{
    if (!places.size)
        return false;
    size_t mask = places.size - 1, at = home(address);
    while (places.items[at].address != address) {
        if (!places.items[at].address)
            return false;
        at = (at + 1) & mask;
    }
    *requested = places.items[at].requested;
    /* What follows without a gap moves up where its home allows, so that no gap hides it. */
    for (size_t next = (at + 1) & mask; places.items[next].address; next = (next + 1) & mask) {
        size_t wanted = home(places.items[next].address);
        if (((next - wanted) & mask) >= ((next - at) & mask)) {
            places.items[at] = places.items[next];
            at = next;
        }
    }
    places.items[at].address = 0;
    places.used--;
    return true;
}

/* Until the constructor has opened the file, counters stand in memory of their own. */
static struct witness_counters *counters_here(void)
{
    if (!counters) {
        counters = map(sizeof *counters);
        if (counters)
            counters->magic = WITNESS_MAGIC;
    }
    return counters;
}

static void count(size_t requested, int64_t blocks)
{
    struct witness_counters *here = counters_here();
    if (!here)
        return;
    here->blocks += blocks;
    here->bytes += blocks * (int64_t)requested;
    if (requested < WITNESS_SMALL) {
        here->small[requested] += blocks;
        return;
    }
    size_t at = requested * 0x9e3779b97f4a7c15u >> 51; /* 13 bits: WITNESS_LARGE */
    for (size_t i = 0; i < WITNESS_LARGE; i++, at = (at + 1) % WITNESS_LARGE) {
        if (here->large[at].requested == 0)
            here->large[at].requested = (int64_t)requested;
        if (here->large[at].requested == (int64_t)requested) {
            here->large[at].blocks += blocks;
            return;
        }
    }
    here->lost += blocks;
}

static void born(void *block, size_t requested)
{
    if (!block || atomic_load_explicit(&idle, memory_order_relaxed))
        return;
    pthread_mutex_lock(&mutex);
    if (places.used * 2 >= places.size && !places_grow()) {
        if (counters_here())
            counters->lost++;
    } else {
        place_put((uintptr_t)block, requested);
        count(requested, 1);
    }
    pthread_mutex_unlock(&mutex);
}

/* Called before the block is given back: from then on its address may be another's. */
static bool gone(void *block, size_t *requested)
{
    if (!block || atomic_load_explicit(&idle, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&mutex);
    bool known = place_take((uintptr_t)block, requested);
    if (known)
        count(*requested, -1);
    pthread_mutex_unlock(&mutex);
    return known;
}

/* ---- what the program calls ---- */

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    born(block, size);
    return block;
}

void *calloc(size_t number, size_t size)
{
    void *block = __libc_calloc(number, size); /* NULL where the product overflows */
    born(block, number * size);
    return block;
}

void *realloc(void *block, size_t size)
{
    size_t before = 0;
    bool known = gone(block, &before);
    void *moved = __libc_realloc(block, size);
    if (moved)
        born(moved, size);
    else if (known && size > 0) /* it failed, and the old block stands */
        born(block, before);
    return moved;
}

void *reallocarray(void *block, size_t number, size_t size)
{
    if (size && number > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, number * size);
}

void free(void *block)
{
    size_t requested;
    gone(block, &requested);
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size)
{
    void *block = __libc_memalign(alignment, size);
    born(block, size);
    return block;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (alignment % sizeof(void *) || alignment == 0 || (alignment & (alignment - 1)))
        return EINVAL;
    int before = errno; /* the answer tells, errno stays */
    void *block = memalign(alignment, size);
    errno = before;
    if (!block)
        return ENOMEM;
    *out = block;
    return 0;
}

void *valloc(size_t size)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

void *pvalloc(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return memalign(page, (size + page - 1) / page * page);
}

/* ---- beginning, and children ---- */

/* A child counts nothing: it shares the file with its parent. */
static void lock(void)
{
    pthread_mutex_lock(&mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static void child(void)
{
    atomic_store(&idle, true);
    pthread_mutex_unlock(&mutex);
}

static struct witness_counters *open_file(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0)
        return NULL;
    void *memory = MAP_FAILED;
    if (ftruncate(file, sizeof(struct witness_counters)) == 0)
        memory = mmap(NULL, sizeof(struct witness_counters), PROT_READ | PROT_WRITE, MAP_SHARED,
                      file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

__attribute__((constructor)) static void begin(void)
{
    const char *program = getenv("WITNESS_PROGRAM"), *path = getenv("WITNESS_FILE");
    struct witness_counters *shared = NULL;
    if (program && path && strcmp(program, program_invocation_short_name) == 0)
        shared = open_file(path);
    pthread_mutex_lock(&mutex);
    if (shared && counters_here()) {
        memcpy(shared, counters, sizeof *shared);
        munmap(counters, sizeof *counters);
        counters = shared;
    } else {
        atomic_store(&idle, true);
    }
    pthread_mutex_unlock(&mutex);
    pthread_atfork(lock, unlock, child);
}

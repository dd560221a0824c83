/* A walk of glibc's main heap from outside, through /proc/PID/mem: only of a
 * server whose allocator is the C library's (mem_allocator:libc), since then
 * no figure of the server tells what is free.
 *
 *   heap.blocks, heap.used    chunks in use, with their headers
 *   heap.free_blocks, heap.free   free chunks between them
 *   heap.top                  the chunk at the heap's end, from which new ones are cut
 *
 * glibc 2.36, malloc.c, struct malloc_chunk: 8 bytes that belong to the chunk before, 8 bytes of
 * size with three flags in the lowest bits; PREV_INUSE (1) in the next chunk's size tells whether
 * a chunk is free. Chunks in a thread's cache and in fast bins count as in use there. The last
 * chunk, to the exact end of [heap], is the top. In a program that is linked statically the main
 * thread's own storage comes first (csu/libc-tls.c takes it by sbrk): the chunks begin with the
 * first that malloc hands out, a thread's cache (malloc.c, tcache_init).
 *
 * The server goes on meanwhile: a walk that doesn't come out at the end exactly is tried again,
 * and after some tries the figures are left out. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "probes/probe.h"

#define TRIES       5
#define WINDOW      (1 << 20)
#define HEADER      16
#define SIZE_FLAGS  UINT64_C(7)
#define PREV_INUSE  UINT64_C(1)
#define CHUNK_LEAST 32
/* sizeof(struct tcache_perthread_struct) with its header, before glibc 2.30 and since. */
#define TCACHE_OLD UINT64_C(0x250)
#define TCACHE     UINT64_C(0x290)
/* Within which it begins: no thread-local storage is as large. */
#define TLS_MOST 65536

struct walk {
    int64_t used_blocks, used, free_blocks, free, top;
};

/* A window of the process's memory, so that one header costs no system call. */
struct window {
    int memory;
    uint64_t begin, end;
    char *bytes;
};

static bool read_size(struct window *window, uint64_t chunk, uint64_t *size)
{
    if (chunk < window->begin || chunk + HEADER > window->end) {
        ssize_t got = pread(window->memory, window->bytes, WINDOW, (off_t)chunk);
        if (got < HEADER)
            return false;
        window->begin = chunk;
        window->end = chunk + (uint64_t)got;
    }
    memcpy(size, window->bytes + (chunk - window->begin) + 8, sizeof *size);
    return true;
}

/* The borders of [heap]. */
static bool find_heap(pid_t pid, uint64_t *begin, uint64_t *end)
{
    char path[64], line[512];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found =
            strstr(line, "[heap]") != NULL && sscanf(line, "%" SCNx64 "-%" SCNx64, begin, end) == 2;
    if (file)
        fclose(file);
    return found;
}

static bool walk_heap(struct window *window, uint64_t begin, uint64_t end, struct walk *walk)
{
    uint64_t chunk = begin, size, next;
    *walk = (struct walk){0};
    window->begin = window->end = 0;
    if (!read_size(window, chunk, &size))
        return false;
    while (1) {
        uint64_t length = size & ~SIZE_FLAGS;
        if (length < CHUNK_LEAST || length % 16 != 0 || length > end - chunk)
            return false;
        if (chunk + length == end) {
            walk->top = (int64_t)length;
            return true;
        }
        if (!read_size(window, chunk + length, &next))
            return false;
        if (next & PREV_INUSE) {
            walk->used_blocks++;
            walk->used += (int64_t)length;
        } else {
            walk->free_blocks++;
            walk->free += (int64_t)length;
        }
        chunk += length;
        size = next;
    }
}

/* The first chunk at or after *chunk that may be a thread's cache. */
static bool find_cache(struct window *window, uint64_t end, uint64_t *chunk)
{
    uint64_t size;
    for (; *chunk < end && read_size(window, *chunk, &size); *chunk += 16)
        if (size == (TCACHE | PREV_INUSE) || size == (TCACHE_OLD | PREV_INUSE))
            return true;
    return false;
}

static bool walk_any_heap(struct window *window, uint64_t begin, uint64_t end, struct walk *walk)
{
    uint64_t border = end - begin > TLS_MOST ? begin + TLS_MOST : end;
    if (walk_heap(window, begin, end, walk))
        return true;
    for (uint64_t chunk = begin + 16; find_cache(window, border, &chunk); chunk += 16)
        if (walk_heap(window, chunk, end, walk))
            return true;
    return false;
}

static int heap_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    const char *allocator = figures_get_text(figures, "info.memory.mem_allocator");
    char path[64];
    struct walk walk;
    uint64_t begin = 0, end = 0;
    bool whole = false;
    (void)error;
    if (store->pid <= 0 || !allocator || strcmp(allocator, "libc") != 0)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/mem", (int)store->pid);
    struct window window = {.memory = open(path, O_RDONLY | O_CLOEXEC)};
    if (window.memory < 0) {
        figures_text(figures, "heap.missing", strerror(errno));
        return 0;
    }
    window.bytes = memory_new(WINDOW);
    for (int i = 0; i < TRIES && !whole; i++)
        whole = find_heap(store->pid, &begin, &end) && walk_any_heap(&window, begin, end, &walk);
    free(window.bytes);
    close(window.memory);
    if (!whole) {
        figures_text(figures, "heap.missing", "no walk of the heap came out at its end");
        return 0;
    }
    figures_integer(figures, "heap.blocks", walk.used_blocks);
    figures_integer(figures, "heap.used", walk.used);
    figures_integer(figures, "heap.free_blocks", walk.free_blocks);
    figures_integer(figures, "heap.free", walk.free);
    figures_integer(figures, "heap.top", walk.top);
    return 0;
}

const struct probe_kind probe_glibc_heap = {
    .name = "heap",
    .family = "redis",
    .summary = "a walk of glibc's heap through /proc/PID/mem: chunks in use, free, top",
    .read = heap_read,
};

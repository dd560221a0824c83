#include "core/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

/* No allocation here: there may be no memory left for it. */
static _Noreturn void memory_exhausted(size_t size)
{
    fprintf(stderr, "tare: out of memory: %zu bytes could not be had\n", size);
    exit(TARE_STORE);
}

void *memory_new(size_t size)
{
    void *block = calloc(1, size ? size : 1);
    if (!block)
        memory_exhausted(size);
    return block;
}

void *memory_resize(void *block, size_t size)
{
    void *resized = realloc(block, size ? size : 1);
    if (!resized)
        memory_exhausted(size);
    return resized;
}

char *memory_text_n(const char *bytes, size_t length)
{
    char *copy = memory_resize(NULL, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

char *memory_text(const char *text)
{
    return text ? memory_text_n(text, strlen(text)) : NULL;
}

char *memory_format(const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        memory_exhausted(strlen(format));
    return text;
}

/* Arena: a list of chunks; `current` is the one that is being filled, those
 * after it are empty and wait for reuse.
 *
 *   first -> [full] -> current [used | free] -> [empty] -> NULL
 */
#define ARENA_ALIGNMENT  16
#define ARENA_CHUNK_SIZE ((size_t)64 * 1024)
#define ARENA_KEPT_SIZE  ((size_t)1024 * 1024)

struct arena_chunk {
    struct arena_chunk *next;
    size_t size; /* of bytes */
    _Alignas(ARENA_ALIGNMENT) char bytes[];
};

static struct arena_chunk *arena_chunk_new(size_t size)
{
    if (size < ARENA_CHUNK_SIZE)
        size = ARENA_CHUNK_SIZE;
    if (size > SIZE_MAX - sizeof(struct arena_chunk))
        memory_exhausted(size);
    struct arena_chunk *chunk = memory_resize(NULL, sizeof *chunk + size);
    chunk->next = NULL;
    chunk->size = size;
    return chunk;
}

/* The current chunk is too full: goes on to the next one that the block fits
 * in; where the next does not do, a new one is put before it. */
static void *arena_take_next(struct arena *arena, size_t size)
{
    struct arena_chunk *next = arena->current ? arena->current->next : arena->first;
    if (!next || next->size < size) {
        struct arena_chunk *chunk = arena_chunk_new(size);
        chunk->next = next;
        if (arena->current)
            arena->current->next = chunk;
        else
            arena->first = chunk;
        next = chunk;
    }
    arena->current = next;
    arena->used = size;
    return next->bytes;
}

void *arena_take(struct arena *arena, size_t size)
{
    if (size > SIZE_MAX - ARENA_ALIGNMENT)
        memory_exhausted(size);
    size = (size + ARENA_ALIGNMENT - 1) & ~(size_t)(ARENA_ALIGNMENT - 1);
    if (arena->current && size <= arena->current->size - arena->used) {
        void *block = arena->current->bytes + arena->used;
        arena->used += size;
        return block;
    }
    return arena_take_next(arena, size);
}

char *arena_copy(struct arena *arena, const void *bytes, size_t length)
{
    if (length == SIZE_MAX)
        memory_exhausted(length);
    char *copy = arena_take(arena, length + 1);
    if (length)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    return copy;
}

void arena_reset(struct arena *arena)
{
    size_t kept = 0;
    for (struct arena_chunk **link = &arena->first; *link;) {
        struct arena_chunk *chunk = *link;
        if (kept + chunk->size <= ARENA_KEPT_SIZE) {
            kept += chunk->size;
            link = &chunk->next;
        } else {
            *link = chunk->next;
            free(chunk);
        }
    }
    arena->current = arena->first;
    arena->used = 0;
}

void arena_free(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->first; chunk;) {
        struct arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct arena){0};
}

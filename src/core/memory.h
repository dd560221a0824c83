/* Memory. tare treats exhaustion of its own memory as git does: one line and
 * the end of the process (exit 2). Started servers end with it, by their death
 * signal. Nothing that grows with the record count is ever held. */
#ifndef TARE_CORE_MEMORY_H
#define TARE_CORE_MEMORY_H

#include <stddef.h>

void *memory_new(size_t size);                         /* zeroed, never NULL */
void *memory_resize(void *block, size_t size);         /* never NULL */
char *memory_text(const char *text);                   /* a copy; NULL stays NULL */
char *memory_text_n(const char *bytes, size_t length); /* a copy with a NUL */
char *memory_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Grows an array held as (items, count, capacity) so that one more fits. */
#define MEMORY_GROW(items, count, capacity)                                                        \
    do {                                                                                           \
        if ((count) >= (capacity)) {                                                               \
            (capacity) = (capacity) ? (capacity)*2 : 8;                                            \
            (items) = memory_resize((items), (capacity) * sizeof *(items));                        \
        }                                                                                          \
    } while (0)

/* An arena: what is taken from it lives until the next arena_reset(). One
 * record is built in one arena, so a record costs no malloc in the long run. */
struct arena {
    struct arena_chunk *first, *current;
    size_t used; /* of current */
};

void *arena_take(struct arena *arena, size_t size); /* aligned to 16, not zeroed */
char *arena_copy(struct arena *arena, const void *bytes, size_t length); /* + NUL */
void arena_reset(struct arena *arena); /* keeps the chunks (up to 1 MiB) for reuse */
void arena_free(struct arena *arena);

#endif

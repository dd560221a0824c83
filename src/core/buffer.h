/* A growable byte buffer. {0} is an empty one. data is NUL-terminated once
 * anything was appended; the NUL is not counted in length. */
#ifndef TARE_CORE_BUFFER_H
#define TARE_CORE_BUFFER_H

#include "core/slice.h"

struct buffer {
    char *data;
    size_t length, capacity;
};

void buffer_reserve(struct buffer *buffer, size_t more); /* room for more bytes + NUL */
void buffer_append(struct buffer *buffer, const void *bytes, size_t length);
void buffer_text(struct buffer *buffer, const char *text);
void buffer_byte(struct buffer *buffer, char byte);
void buffer_format(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buffer_clear(struct buffer *buffer); /* keeps the memory */
void buffer_free(struct buffer *buffer);
char *buffer_steal(struct buffer *buffer); /* the caller frees; the buffer is empty after */
struct slice buffer_slice(const struct buffer *buffer);

#endif

#include "core/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"

#define BUFFER_SIZE_FIRST 64

void buffer_reserve(struct buffer *buffer, size_t more)
{
    /* An overflowing size becomes one that no machine has: memory_resize() says so. */
    size_t needed = more < SIZE_MAX - 1 - buffer->length ? buffer->length + more + 1 : SIZE_MAX;
    if (needed <= buffer->capacity)
        return;
    size_t capacity = buffer->capacity ? buffer->capacity : BUFFER_SIZE_FIRST;
    while (capacity < needed)
        capacity = capacity <= SIZE_MAX / 2 ? capacity * 2 : SIZE_MAX;
    buffer->data = memory_resize(buffer->data, capacity);
    buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
    buffer_reserve(buffer, length);
    if (length)
        memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void buffer_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_byte(struct buffer *buffer, char byte)
{
    buffer_reserve(buffer, 1);
    buffer->data[buffer->length++] = byte;
    buffer->data[buffer->length] = '\0';
}

void buffer_format(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    buffer_reserve(buffer, BUFFER_SIZE_FIRST);
    size_t room = buffer->capacity - buffer->length;
    va_start(arguments, format);
    int length = vsnprintf(buffer->data + buffer->length, room, format, arguments);
    va_end(arguments);
    if (length >= 0 && (size_t)length >= room) {
        buffer_reserve(buffer, (size_t)length);
        va_start(arguments, format);
        vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, arguments);
        va_end(arguments);
    }
    if (length > 0)
        buffer->length += (size_t)length;
    buffer->data[buffer->length] = '\0';
}

void buffer_clear(struct buffer *buffer)
{
    buffer->length = 0;
    if (buffer->data)
        buffer->data[0] = '\0';
}

void buffer_free(struct buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct buffer){0};
}

char *buffer_steal(struct buffer *buffer)
{
    char *data = buffer->data ? buffer->data : memory_text("");
    *buffer = (struct buffer){0};
    return data;
}

struct slice buffer_slice(const struct buffer *buffer)
{
    return slice_of(buffer->data, buffer->length);
}

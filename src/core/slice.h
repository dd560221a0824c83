/* Borrowed bytes: a pointer and a length, not NUL-terminated. bytes may be
 * NULL where only the length is known (an object sampled from a server). */
#ifndef TARE_CORE_SLICE_H
#define TARE_CORE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *bytes;
    size_t length;
};

static inline struct slice slice_of(const char *bytes, size_t length)
{
    return (struct slice){bytes, length};
}

static inline struct slice slice_text(const char *text)
{
    return (struct slice){text, strlen(text)};
}

bool slice_equal(struct slice a, struct slice b);
bool slice_is(struct slice a, const char *text);

/* True and *number set where the bytes are the canonical decimal text of a
 * signed 64-bit integer: "0", "-1", "42"; not "+1", "01", "-0", " 1", "". */
bool slice_integer(struct slice slice, int64_t *number);

/* The length, 1 to 4, of the UTF-8 character that the bytes begin with, and its code point in *code
 * (if not NULL); 0 where they begin with none. Strict (RFC 3629): no surrogates, no long forms. */
size_t utf8_character(const char *bytes, size_t length, uint32_t *code);
bool slice_utf8(struct slice slice);

/* As text for a message: at most SLICE_SHOW_SIZE - 1 characters into out, bytes that are not
 * printable ASCII as "?", the end of a long one as "...". Returns out. */
#define SLICE_SHOW_SIZE 64
char *slice_show(struct slice slice, char *out);

#endif

#include "cell/pattern.h"

#include <ctype.h>

/* A run of so many hexadecimal digits is an identifier rather than a word. */
#define IDENTIFIER_LENGTH 8

static size_t run_of(struct slice key, size_t at, int (*belongs)(int))
{
    size_t length = 0;
    while (at + length < key.length && belongs((unsigned char)key.bytes[at + length]))
        length++;
    return length;
}

static bool has_digit(struct slice key, size_t at, size_t length)
{
    for (size_t i = at; i < at + length; i++)
        if (isdigit((unsigned char)key.bytes[i]))
            return true;
    return false;
}

void pattern_of_key(struct slice key, char out[PATTERN_SIZE])
{
    size_t length = 0;
    for (size_t at = 0; at < key.length && length + 1 < PATTERN_SIZE;) {
        size_t digits = run_of(key, at, isdigit), hex = run_of(key, at, isxdigit);
        if (hex >= IDENTIFIER_LENGTH && hex > digits && has_digit(key, at, hex)) {
            out[length++] = '*';
            at += hex;
        } else if (digits) {
            out[length++] = '#';
            at += digits;
        } else {
            unsigned char byte = (unsigned char)key.bytes[at++];
            out[length++] = isprint(byte) ? (char)byte : '*';
        }
    }
    out[length] = '\0';
}

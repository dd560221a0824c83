#include "core/slice.h"

bool slice_equal(struct slice a, struct slice b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

bool slice_is(struct slice a, const char *text)
{
    return slice_equal(a, slice_text(text));
}

bool slice_integer(struct slice slice, int64_t *number)
{
    size_t place = 0;
    bool negative = slice.length && slice.bytes[0] == '-';
    if (negative)
        place = 1;
    /* 19 digits hold any 64-bit number, and cannot overflow the unsigned sum. */
    size_t digits = slice.length - place;
    if (digits == 0 || digits > 19)
        return false;
    if (slice.bytes[place] == '0' && (digits > 1 || negative))
        return false;
    uint64_t sum = 0;
    for (; place < slice.length; place++) {
        char digit = slice.bytes[place];
        if (digit < '0' || digit > '9')
            return false;
        sum = sum * 10 + (uint64_t)(digit - '0');
    }
    if (sum > (uint64_t)INT64_MAX + (negative ? 1 : 0))
        return false;
    *number = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

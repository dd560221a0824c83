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

size_t utf8_character(const char *bytes, size_t length, uint32_t *code)
{
    if (length == 0)
        return 0;
    unsigned char first = (unsigned char)bytes[0];
    size_t size = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (size == 0 || size > length || first > 0xf4)
        return 0;
    uint32_t sum = size == 1 ? first : first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        unsigned char next = (unsigned char)bytes[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        sum = sum << 6 | (next & 0x3f);
    }
    /* Long forms of three and four bytes, surrogates, and what is past the last code point. */
    if ((size == 3 && (sum < 0x800 || (sum >= 0xd800 && sum < 0xe000))) ||
        (size == 4 && (sum < 0x10000 || sum > 0x10ffff)))
        return 0;
    if (code)
        *code = sum;
    return size;
}

bool slice_utf8(struct slice slice)
{
    size_t place = 0;
    while (place < slice.length) {
        uint64_t word;
        if (slice.length - place >= sizeof word) {
            memcpy(&word, slice.bytes + place, sizeof word);
            if (!(word & UINT64_C(0x8080808080808080))) {
                place += sizeof word;
                continue;
            }
        }
        size_t size = utf8_character(slice.bytes + place, slice.length - place, NULL);
        if (!size)
            return false;
        place += size;
    }
    return true;
}

char *slice_show(struct slice slice, char *out)
{
    bool cut = slice.length > SLICE_SHOW_SIZE - 1;
    size_t length = cut ? SLICE_SHOW_SIZE - 1 - 3 : slice.length;
    for (size_t i = 0; i < length; i++)
        out[i] = slice.bytes[i] < ' ' || slice.bytes[i] > '~' ? '?' : slice.bytes[i];
    strcpy(out + length, cut ? "..." : "");
    return out;
}

#include "report/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"

typedef __int128 wide;

/* Quotient rounded down, also of negative numbers; *remainder in [0, divisor). */
static wide divide_down(wide number, int64_t divisor, int64_t *remainder)
{
    wide quotient = number / divisor, rest = number % divisor;
    if (rest < 0) {
        quotient--;
        rest += divisor;
    }
    if (remainder)
        *remainder = (int64_t)rest;
    return quotient;
}

/* Half up: floor(number / divisor + 1/2). */
static wide divide_nearest(wide number, int64_t divisor)
{
    int64_t remainder;
    wide quotient = divide_down(number, divisor, &remainder);
    return quotient + (remainder >= divisor - remainder);
}

/* ten-thousandths -> "12.3400" without its trailing zeros when `trim` */
static char *ten_thousandths(char *out, wide number, bool trim)
{
    bool negative = number < 0;
    unsigned __int128 magnitude = negative ? -(unsigned __int128)number : (unsigned __int128)number;
    unsigned long long whole = (unsigned long long)(magnitude / 10000);
    unsigned fraction = (unsigned)(magnitude % 10000);
    int length = snprintf(out, NUMBER_SIZE, "%s%llu.%04u", negative ? "-" : "", whole, fraction);
    if (trim) {
        while (out[length - 1] == '0')
            out[--length] = '\0';
        if (out[length - 1] == '.')
            out[--length] = '\0';
    }
    return out;
}

char *number_per_record(char *out, int64_t bytes, int64_t records)
{
    out[0] = '\0';
    if (records <= 0)
        return out;
    return ten_thousandths(out, divide_nearest((wide)bytes * 10000, records), false);
}

char *number_fixed(char *out, double number)
{
    out[0] = '\0';
    if (!isfinite(number))
        return out;
    /* Beyond this a double has no decimals, and "%.0f" has no decimal point to localise. */
    if (fabs(number) >= 9e14)
        snprintf(out, NUMBER_SIZE, fabs(number) < 1e40 ? "%.0f" : "%.0e", number);
    else
        ten_thousandths(out, llround(number * 10000), true);
    return out;
}

bool number_parse_fixed(const char *text, double *number)
{
    const char *place = text + (*text == '-');
    int64_t digits = 0, scale = 1;
    size_t seen = 0;
    bool point = false;

    for (; *place; place++) {
        if (*place == '.' && !point && seen) {
            point = true;
            continue;
        }
        if (*place < '0' || *place > '9' || digits > (INT64_MAX - 9) / 10 || scale > 1000000000)
            return false;
        digits = digits * 10 + (*place - '0');
        scale *= point ? 10 : 1;
        seen++;
    }
    if (!seen)
        return false;
    /* Both are exact up to 2^53, so that the quotient is the nearest double. */
    *number = (double)digits / (double)scale;
    if (*text == '-')
        *number = -*number;
    return true;
}

bool number_parse_integer(const char *text, int64_t *number)
{
    bool negative = *text == '-';
    const char *place = text + negative;
    int64_t value = 0; /* kept negative: its range is the larger one */

    if (!*place)
        return false;
    for (; *place; place++) {
        if (*place < '0' || *place > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_sub_overflow(value, *place - '0', &value))
            return false;
    }
    if (!negative && value == INT64_MIN)
        return false;
    *number = negative ? value : -value;
    return true;
}

/* Tenths are added and subtracted freely: they stay within a quarter of int64_t, which no memory
 * reaches, but a damaged file may. */
static int64_t clamp(wide number)
{
    const int64_t limit = INT64_MAX / 4;
    return number > limit ? limit : number < -limit ? -limit : (int64_t)number;
}

int64_t number_tenths(int64_t bytes, int64_t records)
{
    return records > 0 ? clamp(divide_nearest((wide)bytes * 10, records)) : 0;
}

void number_tenths_of_all(const int64_t *bytes, size_t count, int64_t records, int64_t target,
                          int64_t *tenths)
{
    if (records <= 0) {
        memset(tenths, 0, count * sizeof *tenths);
        return;
    }
    int64_t *remainders = memory_new((count ? count : 1) * sizeof *remainders);
    wide left = target;
    for (size_t i = 0; i < count; i++) {
        tenths[i] = clamp(divide_down((wide)bytes[i] * 10, records, &remainders[i]));
        left -= tenths[i];
    }
    for (size_t rounds = 0; left > 0 && rounds < count; rounds++, left--) {
        size_t largest = 0;
        for (size_t i = 1; i < count; i++)
            if (remainders[i] > remainders[largest])
                largest = i;
        if (remainders[largest] <= 0)
            break;
        remainders[largest] = 0;
        tenths[largest]++;
    }
    free(remainders);
}

char *number_tenths_text(char *out, int64_t tenths)
{
    char whole[UNITS_SIZE];
    uint64_t magnitude = tenths < 0 ? -(uint64_t)tenths : (uint64_t)tenths;
    units_count(whole, (int64_t)(magnitude / 10));
    snprintf(out, NUMBER_SIZE, "%s%s.%u", tenths < 0 ? "-" : "", whole, (unsigned)(magnitude % 10));
    return out;
}

/* Length of the UTF-8 character at `text` (RFC 3629), 0 where there is none. */
static size_t utf8_length(const unsigned char *text)
{
    unsigned char first = text[0], low = 0x80, high = 0xbf;
    size_t more;

    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        more = 1;
    else if (first >= 0xe0 && first <= 0xef)
        more = 2;
    else if (first >= 0xf0 && first <= 0xf4)
        more = 3;
    else
        return 0;
    /* No overlong forms, no surrogates, nothing beyond U+10FFFF. */
    if (first == 0xe0)
        low = 0xa0;
    else if (first == 0xed)
        high = 0x9f;
    else if (first == 0xf0)
        low = 0x90;
    else if (first == 0xf4)
        high = 0x8f;
    for (size_t i = 1; i <= more; i++) {
        if (text[i] < low || text[i] > high)
            return 0;
        low = 0x80;
        high = 0xbf;
    }
    return more + 1;
}

void text_safe(struct buffer *out, const char *text, bool controls)
{
    const unsigned char *place = (const unsigned char *)text;

    while (*place) {
        size_t length = utf8_length(place);
        bool control = controls && (*place < 0x20 || *place == 0x7f ||
                                    (*place == 0xc2 && place[1] < 0xa0)); /* C1 */
        if (length == 0 || control) {
            size_t shown = length ? length : 1;
            for (size_t i = 0; i < shown; i++)
                buffer_format(out, "\\x%02x", place[i]);
            place += shown;
        } else {
            buffer_append(out, place, length);
            place += length;
        }
    }
}

size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

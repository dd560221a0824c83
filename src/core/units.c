#include "core/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Copies a decimal text with a comma before each group of three digits of its
 * whole part. */
static void group_digits(char *out, const char *text)
{
    size_t start = text[0] == '-' || text[0] == '+' ? 1 : 0;
    size_t whole = strspn(text + start, "0123456789");
    size_t length = 0;
    if (start)
        out[length++] = text[0];
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            out[length++] = ',';
        out[length++] = text[start + i];
    }
    strcpy(out + length, text + start + whole);
}

char *units_count(char *out, int64_t number)
{
    char text[UNITS_SIZE];
    snprintf(text, sizeof text, "%lld", (long long)number);
    group_digits(out, text);
    return out;
}

char *units_bytes(char *out, int64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double number = (double)bytes;
    size_t unit = 0;
    /* 1,023.5 and more would be rounded to 1,024 of the smaller unit. */
    while (fabs(number) >= (unit ? 1023.5 : 1024.0) && unit + 1 < sizeof units / sizeof units[0]) {
        number /= 1024;
        unit++;
    }
    /* Three significant digits; 9.995 and 99.95 are where rounding adds one. */
    int digits = unit == 0 ? 0 : fabs(number) < 9.995 ? 2 : fabs(number) < 99.95 ? 1 : 0;
    snprintf(out, UNITS_SIZE, "%.*f %s", digits, number, units[unit]);
    return out;
}

char *units_duration(char *out, double seconds)
{
    if (!(seconds < 1e15)) {
        strcpy(out, "-");
        return out;
    }
    long long whole = llround(seconds);
    if (whole < 60)
        snprintf(out, UNITS_SIZE, "%lld s", whole);
    else if (whole < 3600)
        snprintf(out, UNITS_SIZE, "%lld min %lld s", whole / 60, whole % 60);
    else
        snprintf(out, UNITS_SIZE, "%lld h %lld min", whole / 3600, whole % 3600 / 60);
    return out;
}

/* Writes number with this many decimals and groups of three. A number that no
 * one can read in digits is written with an exponent; one that is none, "-". */
static void write_decimal(char *out, double number, int digits, bool negative_zero, bool plus)
{
    char text[UNITS_SIZE];
    digits = digits < 0 ? 0 : digits > 9 ? 9 : digits;
    if (!isfinite(number)) {
        strcpy(out, "-");
        return;
    }
    if (fabs(number) >= 1e18) {
        snprintf(out, UNITS_SIZE - 2, plus ? "%+.3e" : "%.3e", number);
        return;
    }
    snprintf(text, sizeof text, plus ? "%+.*f" : "%.*f", digits, number);
    if (!negative_zero && text[0] == '-' && !text[1 + strspn(text + 1, "0.")])
        memmove(text, text + 1, strlen(text));
    group_digits(out, text);
}

char *units_decimal(char *out, double number, int digits)
{
    write_decimal(out, number, digits, false, false);
    return out;
}

char *units_percent(char *out, double share, int digits)
{
    write_decimal(out, share * 100, digits, false, false);
    strcat(out, " %");
    return out;
}

char *units_signed_percent(char *out, double share, int digits)
{
    write_decimal(out, share * 100, digits, true, true);
    strcat(out, " %");
    return out;
}

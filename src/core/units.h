/* Figures as people read them. Each writes into a caller's buffer of at least
 * UNITS_SIZE bytes and returns it. */
#ifndef TARE_CORE_UNITS_H
#define TARE_CORE_UNITS_H

#include <stdint.h>

#define UNITS_SIZE 48

char *units_count(char *out, int64_t number);                    /* 1,234,567 */
char *units_bytes(char *out, int64_t bytes);                     /* 187 MiB, 3.02 GiB, 512 B */
char *units_duration(char *out, double seconds);                 /* 4 s, 3 min 20 s, 1 h 5 min */
char *units_decimal(char *out, double number, int digits);       /* 1,867.3 */
char *units_percent(char *out, double share, int digits);        /* share 0.001: "0.1 %" */
char *units_signed_percent(char *out, double share, int digits); /* "+0.1 %", "-0.0 %" */

#endif

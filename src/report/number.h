/* Numbers and texts as files and tables hold them: never dependent on the
 * locale, and safe for what they are put into. */
#ifndef TARE_REPORT_NUMBER_H
#define TARE_REPORT_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/buffer.h"

#define NUMBER_SIZE 64

/* bytes / records with four decimals, exact but for the last one's rounding; "" where records is
 * not positive. Writes into out (NUMBER_SIZE) and returns it. */
char *number_per_record(char *out, int64_t bytes, int64_t records);
/* A real number with four decimals at most, a point in every locale; "" where it is none. */
char *number_fixed(char *out, double number);
/* Reads what number_fixed writes (and whole numbers); false where the text is anything else. */
bool number_parse_fixed(const char *text, double *number);
/* A whole decimal integer, all of the text; false where it is none or leaves int64_t. */
bool number_parse_integer(const char *text, int64_t *number);

/* Tenths of a byte a record, rounded half up; 0 where records is not positive. */
int64_t number_tenths(int64_t bytes, int64_t records);
/* Tenths of each of these, rounded so that they sum to `target` (their own sum's tenths): those
 * with the largest remainders are rounded up. A column then sums to its total as it is printed. */
void number_tenths_of_all(const int64_t *bytes, size_t count, int64_t records, int64_t target,
                          int64_t *tenths);
/* "1,867.3" of 18673. */
char *number_tenths_text(char *out, int64_t tenths);

/* Appends a text with bytes that are not UTF-8 as \xNN; with `controls` also control characters, so
 * that no text from elsewhere moves a terminal's cursor or breaks a table's line. */
void text_safe(struct buffer *out, const char *text, bool controls);
/* Characters of a valid UTF-8 text. */
size_t text_width(const char *text);

#endif

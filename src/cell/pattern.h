/* Patterns of keys: what stays of a key when its numbers and identifiers are
 * taken out, so that keys of one kind can be told together: "user:#:cart". */
#ifndef TARE_CELL_PATTERN_H
#define TARE_CELL_PATTERN_H

#include "core/slice.h"

#define PATTERN_SIZE 80

/* Writes the key's pattern into out: '#' for a run of digits, '*' for a run of 8 or more
 * hexadecimal digits that has letters too (and for a byte that can't be printed); what is longer
 * than PATTERN_SIZE - 1 is cut. */
void pattern_of_key(struct slice key, char out[PATTERN_SIZE]);

#endif

/* An update: a record with one field's value changed, whose length stays, and with it every length
 * that an encoding without a compressor gives it. */
#ifndef TARE_DATA_CHANGE_H
#define TARE_DATA_CHANGE_H

#include <stdbool.h>

#include "core/random.h"
#include "data/record.h"

/* Copies the record into the arena with the value of a field that is drawn changed; all: of every
 * field. In texts and bytes letters become letters and digits digits; whole numbers others that
 * have as many digits and that no encoding or store holds in another width. What has neither
 * (true, null, a fraction, a key's own field) stays as it is. Returns how many values differ. */
size_t record_change(const struct record *record, bool all, struct random *random,
                     struct arena *arena, struct record *changed);

/* The same of one value; true where it differs. */
bool value_change(struct value *value, struct random *random, struct arena *arena);

#endif

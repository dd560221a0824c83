/* What steps share that read records back. */
#ifndef TARE_ENCODERS_READING_H
#define TARE_ENCODERS_READING_H

#include "encoders/encoding.h"

/* A copy of bytes in the arena. */
struct slice slice_copy(struct arena *arena, const void *bytes, size_t length);

/* An error where two members have one name: which of them a reader takes is anyone's guess. format:
 * the step's name, for the error. */
int reading_names_differ(const struct member *members, size_t count, struct arena *arena,
                         const char *format, struct tare_error *error);

/* Copies text; an error where it is no UTF-8. */
int reading_text(struct arena *arena, const char *bytes, size_t length, const char *format,
                 struct slice *text, struct tare_error *error);

/* The object's members as a record without a key, the arena's; `otherwise` is the error where the
 * value is no object. */
int reading_record(const struct value *value, struct arena *arena, const char *otherwise,
                   struct item *out, struct tare_error *error);

#endif

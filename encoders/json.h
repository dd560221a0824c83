/* Compact JSON (RFC 8259) of values. */
#ifndef TARE_ENCODERS_JSON_H
#define TARE_ENCODERS_JSON_H

#include "core/buffer.h"
#include "core/error.h"
#include "data/record.h"
#include "model/object.h"

/* Appends the value and counts each of its bytes: a text's own as values, names as field names,
 * quotes and punctuation as framing, what escaping adds as escapes, the ".0" that tells a real
 * number from an integer as number form. What JSON cannot hold is an error: bytes that are no
 * UTF-8, numbers that are not finite, nesting past ENCODING_DEPTH_MAX. */
int json_append_value(struct buffer *out, const struct value *value, struct counted *counted,
                      struct tare_error *error);

#endif

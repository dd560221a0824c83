/* Reading JSON (RFC 8259), strictly: into an arena, without a tree in between. Written here, since
 * a file is read as fast as its records can be loaded, and each fault is told by its place; the
 * tests hold it against jansson. */
#ifndef TARE_DATA_JSON_TEXT_H
#define TARE_DATA_JSON_TEXT_H

#include "core/error.h"
#include "data/record.h"

/* Members of objects that are not whole yet; {0} at first, kept from one text to the next. */
struct json_reader {
    struct member *open;
    size_t count, capacity;
};

void json_reader_free(struct json_reader *reader);

/* Reads the one value that the text holds. The text must end in a NUL behind its length, and is
 * written to: strings are unescaped where they stand, and names and texts are borrowed from it.
 * "-0" is 0, as in Python and jansson: it is written as an integer, and those have one zero.
 *
 * Refused, with the reason in *error and the byte in *place: what is no JSON, a name twice in an
 * object, integers past 64 bits, real numbers past the largest, nesting past RECORD_DEPTH_MAX,
 * text that is no UTF-8. */
int json_read(struct json_reader *reader, char *text, size_t length, struct arena *arena,
              struct value *value, size_t *place, struct tare_error *error);

#endif

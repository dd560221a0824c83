/* Options in text: "k=v,k=v" of data sets and servers, "@k=v" of encodings.
 * A table of specs says which are known, of what type and in what range;
 * the parser names the nearest known one where a name is not known. */
#ifndef TARE_CORE_OPTIONS_H
#define TARE_CORE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

enum option_type {
    OPTION_INTEGER, /* int64_t, low to high */
    OPTION_CHOICE,  /* int, an index into choices */
    OPTION_TEXT,    /* char *, owned by the target */
    OPTION_FLAG     /* bool; takes no value, or 0 or 1 */
};

struct option_spec {
    const char *name;
    enum option_type type;
    size_t offset; /* of the member in the target struct */
    int64_t low, high;
    const char *const *choices; /* NULL-terminated, for OPTION_CHOICE */
    const char *help;           /* one line, for `tare list` */
};

/* Sets one option. specs ends with {0}. subject is what is being parsed, for
 * messages: "data set 'ycsb'". value is NULL where no "=" was given. */
int option_set(const struct option_spec *specs, const char *name, const char *value, void *target,
               const char *subject, struct tare_error *error);

/* Parses "k=v,k=v" (may be NULL or empty) into the target. A given option twice
 * is an error. */
int options_parse(const struct option_spec *specs, const char *text, void *target,
                  const char *subject, struct tare_error *error);

/* Where, in a text that may hold such characters of its own ("PATH,k=v"), the options begin: behind
 * the leftmost of the separators that only known names follow, from the right. NULL: nowhere. */
const char *options_behind(const struct option_spec *specs, const char *text,
                           const char *separators);

/* Frees what OPTION_TEXT members of the target hold. */
void options_free(const struct option_spec *specs, void *target);

/* A whole decimal integer in [low, high]; "1000000", also with the suffixes
 * k, M, G (powers of 1,000). what names it in the message: "-n". */
int parse_integer(const char *text, int64_t low, int64_t high, const char *what, int64_t *number,
                  struct tare_error *error);

/* The nearest of names (NULL-terminated) by edit distance, or NULL where none
 * is near enough to be meant. */
const char *nearest_name(const char *name, const char *const *names);

/* "unknown WHAT 'NAME' of SUBJECT; did you mean 'NEAREST'?"; where none is near, the known names.
 * subject may be NULL. Returns -1 with status TARE_USAGE. */
int error_unknown(struct tare_error *error, const char *what, const char *name,
                  const char *const *names, const char *subject);

#endif

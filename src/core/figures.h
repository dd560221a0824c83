/* Figures: what a probe read, as (name, value) in the order read. Names are
 * dotted paths that begin with the probe's name: "info.memory.used_memory",
 * "malloc.bins.320.curregs", "smaps.file.rss". A figure is a whole number, a
 * real number or a text; models read them by name and never guess one that is
 * missing. */
#ifndef TARE_CORE_FIGURES_H
#define TARE_CORE_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum figure_type { FIGURE_INTEGER, FIGURE_REAL, FIGURE_TEXT };

struct figure {
    char *name;
    enum figure_type type;
    int64_t integer; /* also the rounded value of a FIGURE_REAL */
    double real;     /* also of a FIGURE_INTEGER */
    char *text;      /* of a FIGURE_TEXT */
};

struct figures {
    struct figure *items;
    size_t count, capacity;
    size_t *index; /* open addressing over names, kept by the functions below */
    size_t index_size;
};

void figures_integer(struct figures *figures, const char *name,
                     int64_t value); /* sets or replaces */
void figures_real(struct figures *figures, const char *name, double value);
void figures_text(struct figures *figures, const char *name, const char *value);
/* As a figure: an integer or a real where the whole text is one, else a text. */
void figures_parse(struct figures *figures, const char *name, const char *text);
/* Sets or replaces, with another's value. */
void figures_put(struct figures *figures, const char *name, const struct figure *value);
void figures_copy(struct figures *to, const struct figures *from); /* to gains all of from */

const struct figure *figures_find(const struct figures *figures, const char *name); /* or NULL */
bool figures_has(const struct figures *figures, const char *name);
int64_t figures_get(const struct figures *figures, const char *name); /* 0 where missing */
const char *figures_get_text(const struct figures *figures,
                             const char *name); /* NULL where missing */
/* end - base, counting a figure missing from either as 0. */
int64_t figures_growth(const struct figures *base, const struct figures *end, const char *name);

/* True where both hold the same names with the same values, in whatever order. */
bool figures_equal(const struct figures *a, const struct figures *b);

void figures_free(struct figures *figures);

#endif

#include "core/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/slice.h"

/* The index is an open-addressed table of places in items, each plus one (0:
 * free), at most half full; nothing is ever removed from it. */

/* FNV-1a, 64 bits (Fowler, Noll, Vo): short names, no need for more. */
static uint64_t name_hash(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

/* The slot of the index that holds the name, or the free one where it would go. */
static size_t index_slot(const struct figures *figures, const char *name)
{
    size_t mask = figures->index_size - 1;
    size_t slot = (size_t)name_hash(name) & mask;
    while (figures->index[slot] && strcmp(figures->items[figures->index[slot] - 1].name, name) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

static void index_grow(struct figures *figures)
{
    figures->index_size = figures->index_size ? figures->index_size * 2 : 64;
    free(figures->index);
    figures->index = memory_new(figures->index_size * sizeof *figures->index);
    for (size_t i = 0; i < figures->count; i++)
        figures->index[index_slot(figures, figures->items[i].name)] = i + 1;
}

/* The figure of this name, emptied of its old value, or a new one. */
static struct figure *figures_take(struct figures *figures, const char *name)
{
    if ((figures->count + 1) * 2 > figures->index_size)
        index_grow(figures);
    size_t slot = index_slot(figures, name);
    if (figures->index[slot]) {
        struct figure *old = &figures->items[figures->index[slot] - 1];
        free(old->text);
        *old = (struct figure){.name = old->name};
        return old;
    }
    MEMORY_GROW(figures->items, figures->count, figures->capacity);
    struct figure *figure = &figures->items[figures->count++];
    *figure = (struct figure){.name = memory_text(name)};
    figures->index[slot] = figures->count;
    return figure;
}

void figures_integer(struct figures *figures, const char *name, int64_t value)
{
    struct figure *figure = figures_take(figures, name);
    figure->type = FIGURE_INTEGER;
    figure->integer = value;
    figure->real = (double)value;
}

void figures_real(struct figures *figures, const char *name, double value)
{
    struct figure *figure = figures_take(figures, name);
    figure->type = FIGURE_REAL;
    figure->real = value;
    /* 2^63 is the first double that does not fit. */
    if (isnan(value))
        figure->integer = 0;
    else if (value >= 0x1p63)
        figure->integer = INT64_MAX;
    else if (value <= -0x1p63)
        figure->integer = INT64_MIN;
    else
        figure->integer = llround(value);
}

void figures_text(struct figures *figures, const char *name, const char *value)
{
    /* Copied first: the value may be the old text of this very figure. */
    char *copy = memory_text(value ? value : "");
    struct figure *figure = figures_take(figures, name);
    figure->type = FIGURE_TEXT;
    figure->text = copy;
}

/* True where the text is written as a real number is: digits with a point, or
 * an exponent with its sign, or more digits than 64 bits hold. A build id as
 * "12e4" or "00000000", "nan" and "0x10" are texts. */
static bool looks_real(const char *text)
{
    const char *place = text + (*text == '-');
    size_t whole = strspn(place, "0123456789");
    if (!whole)
        return false;
    place += whole;
    bool point = *place == '.';
    if (point) {
        size_t digits = strspn(++place, "0123456789");
        if (!digits)
            return false;
        place += digits;
    }
    if (*place == 'e' || *place == 'E') {
        place++;
        if (*place == '-' || *place == '+')
            place++;
        else if (!point)
            return false;
        size_t digits = strspn(place, "0123456789");
        if (!digits)
            return false;
        place += digits;
        return !*place;
    }
    return !*place && (point || (whole > 18 && text[*text == '-'] != '0'));
}

void figures_parse(struct figures *figures, const char *name, const char *text)
{
    int64_t integer;
    if (slice_integer(slice_text(text), &integer))
        figures_integer(figures, name, integer);
    else if (looks_real(text))
        figures_real(figures, name, strtod(text, NULL));
    else
        figures_text(figures, name, text);
}

void figures_put(struct figures *figures, const char *name, const struct figure *value)
{
    switch (value->type) {
    case FIGURE_INTEGER:
        figures_integer(figures, name, value->integer);
        break;
    case FIGURE_REAL:
        figures_real(figures, name, value->real);
        break;
    case FIGURE_TEXT:
        figures_text(figures, name, value->text);
        break;
    }
}

void figures_copy(struct figures *to, const struct figures *from)
{
    for (size_t i = 0; to != from && i < from->count; i++)
        figures_put(to, from->items[i].name, &from->items[i]);
}

const struct figure *figures_find(const struct figures *figures, const char *name)
{
    if (!figures->index_size)
        return NULL;
    size_t place = figures->index[index_slot(figures, name)];
    return place ? &figures->items[place - 1] : NULL;
}

bool figures_has(const struct figures *figures, const char *name)
{
    return figures_find(figures, name) != NULL;
}

int64_t figures_get(const struct figures *figures, const char *name)
{
    const struct figure *figure = figures_find(figures, name);
    return figure ? figure->integer : 0;
}

const char *figures_get_text(const struct figures *figures, const char *name)
{
    const struct figure *figure = figures_find(figures, name);
    return figure ? figure->text : NULL;
}

int64_t figures_growth(const struct figures *base, const struct figures *end, const char *name)
{
    return figures_get(end, name) - figures_get(base, name);
}

static bool figure_equal(const struct figure *a, const struct figure *b)
{
    if (a->type != b->type)
        return false;
    if (a->type == FIGURE_TEXT)
        return strcmp(a->text, b->text) == 0;
    return a->type == FIGURE_INTEGER ? a->integer == b->integer : a->real == b->real;
}

bool figures_equal(const struct figures *a, const struct figures *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct figure *other = figures_find(b, a->items[i].name);
        if (!other || !figure_equal(&a->items[i], other))
            return false;
    }
    return true;
}

void figures_free(struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        free(figures->items[i].name);
        free(figures->items[i].text);
    }
    free(figures->items);
    free(figures->index);
    *figures = (struct figures){0};
}

#include "core/options.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/memory.h"

/* Names longer than this are told apart by their beginnings alone. */
#define NEAREST_LENGTH 64

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits (insert, remove, replace a letter, swap two neighbours) that turn one
 * name into the other, letters of either case being equal. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows = strnlen(a, NEAREST_LENGTH), columns = strnlen(b, NEAREST_LENGTH);
    size_t distance[3][NEAREST_LENGTH + 1]; /* the row before the last, the last, this one */
    for (size_t j = 0; j <= columns; j++)
        distance[0][j] = distance[1][j] = j;
    size_t *before = distance[0], *last = distance[1], *here = distance[2];
    for (size_t i = 1; i <= rows; i++) {
        here[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            int left = tolower((unsigned char)a[i - 1]), top = tolower((unsigned char)b[j - 1]);
            here[j] = least(least(last[j], here[j - 1]) + 1, last[j - 1] + (left != top));
            if (i > 1 && j > 1 && left == tolower((unsigned char)b[j - 2]) &&
                top == tolower((unsigned char)a[i - 2]))
                here[j] = least(here[j], before[j - 2] + 1);
        }
        size_t *reused = before;
        before = last;
        last = here;
        here = reused;
    }
    return last[columns];
}

const char *nearest_name(const char *name, const char *const *names)
{
    const char *nearest = NULL;
    size_t nearest_distance = 0;
    for (; *names; names++) {
        size_t distance = edit_distance(name, *names);
        size_t longer = strnlen(name, NEAREST_LENGTH);
        if (longer < strnlen(*names, NEAREST_LENGTH))
            longer = strnlen(*names, NEAREST_LENGTH);
        /* More than half of it different: something else was meant. */
        if (distance * 2 > longer)
            continue;
        if (!nearest || distance < nearest_distance) {
            nearest = *names;
            nearest_distance = distance;
        }
    }
    return nearest;
}

int parse_integer(const char *text, int64_t low, int64_t high, const char *what, int64_t *number,
                  struct tare_error *error)
{
    const char *place = text;
    bool negative = *place == '-';
    place += negative;
    bool wrong = !isdigit((unsigned char)*place), over = false;
    uint64_t sum = 0;
    for (; isdigit((unsigned char)*place); place++)
        over = over || __builtin_mul_overflow(sum, 10, &sum) ||
               __builtin_add_overflow(sum, (uint64_t)(*place - '0'), &sum);
    uint64_t factor = 1;
    if (*place) {
        factor = *place == 'k'   ? UINT64_C(1000)
                 : *place == 'M' ? UINT64_C(1000000)
                 : *place == 'G' ? UINT64_C(1000000000)
                                 : 0;
        wrong = wrong || !factor || place[1];
    }
    over = over || __builtin_mul_overflow(sum, factor, &sum) || sum > INT64_MAX;
    int64_t value = over ? 0 : negative ? -(int64_t)sum : (int64_t)sum;
    if (!wrong && !over && value >= low && value <= high) {
        *number = value;
        return 0;
    }
    if (high == INT64_MAX)
        return error_set(error, TARE_USAGE, "%s must be a whole number of at least %lld, not '%s'",
                         what, (long long)low, text);
    return error_set(error, TARE_USAGE, "%s must be a whole number from %lld to %lld, not '%s'",
                     what, (long long)low, (long long)high, text);
}

/* "a, b, c" for messages; the caller frees. */
static char *name_list(const char *const *names)
{
    struct buffer list = {0};
    for (size_t i = 0; names[i]; i++)
        buffer_format(&list, "%s%s", i ? ", " : "", names[i]);
    return buffer_steal(&list);
}

int error_unknown(struct tare_error *error, const char *what, const char *name,
                  const char *const *names, const char *subject)
{
    const char *nearest = nearest_name(name, names);
    const char *of = subject ? " of " : "";
    subject = subject ? subject : "";
    if (nearest)
        return error_set(error, TARE_USAGE, "unknown %s '%s'%s%s; did you mean '%s'?", what, name,
                         of, subject, nearest);
    if (!names[0])
        return error_set(error, TARE_USAGE, "unknown %s '%s'%s%s, which has none", what, name, of,
                         subject);
    char *list = name_list(names);
    error_set(error, TARE_USAGE, "unknown %s '%s'%s%s; known are %s", what, name, of, subject,
              list);
    free(list);
    return -1;
}

static int unknown_option(const struct option_spec *specs, const char *name, const char *subject,
                          struct tare_error *error)
{
    size_t count = 0;
    while (specs[count].name)
        count++;
    const char **names = memory_new((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = specs[i].name;
    error_unknown(error, "option", name, names, subject);
    free(names);
    return -1;
}

static int set_integer(const struct option_spec *spec, const char *value, void *member,
                       const char *subject, struct tare_error *error)
{
    char *what = memory_format("option '%s' of %s", spec->name, subject);
    int64_t number;
    int failed = parse_integer(value, spec->low, spec->high, what, &number, error);
    free(what);
    if (!failed)
        memcpy(member, &number, sizeof number);
    return failed;
}

static int set_choice(const struct option_spec *spec, const char *value, void *member,
                      const char *subject, struct tare_error *error)
{
    for (int i = 0; spec->choices[i]; i++) {
        if (strcmp(spec->choices[i], value) == 0) {
            memcpy(member, &i, sizeof i);
            return 0;
        }
    }
    char *list = name_list(spec->choices);
    const char *nearest = nearest_name(value, spec->choices);
    error_set(error, TARE_USAGE, "option '%s' of %s must be one of %s, not '%s'%s%s%s", spec->name,
              subject, list, value, nearest ? "; did you mean '" : "", nearest ? nearest : "",
              nearest ? "'?" : "");
    free(list);
    return -1;
}

static int set_flag(const struct option_spec *spec, const char *value, void *member,
                    const char *subject, struct tare_error *error)
{
    bool flag = !value || strcmp(value, "1") == 0;
    if (!flag && strcmp(value, "0") != 0)
        return error_set(error, TARE_USAGE, "option '%s' of %s takes no value, or 0 or 1, not '%s'",
                         spec->name, subject, value);
    memcpy(member, &flag, sizeof flag);
    return 0;
}

int option_set(const struct option_spec *specs, const char *name, const char *value, void *target,
               const char *subject, struct tare_error *error)
{
    static const struct option_spec none[] = {{0}};
    const struct option_spec *spec = specs ? specs : none;
    while (spec->name && strcmp(spec->name, name) != 0)
        spec++;
    if (!spec->name)
        return unknown_option(specs ? specs : none, name, subject, error);
    void *member = (char *)target + spec->offset;
    if (spec->type != OPTION_FLAG && (!value || !*value))
        return error_set(error, TARE_USAGE, "option '%s' of %s needs a value: '%s=...'", name,
                         subject, name);
    switch (spec->type) {
    case OPTION_INTEGER:
        return set_integer(spec, value, member, subject, error);
    case OPTION_CHOICE:
        return set_choice(spec, value, member, subject, error);
    case OPTION_FLAG:
        return set_flag(spec, value, member, subject, error);
    case OPTION_TEXT: {
        char **text = member;
        free(*text);
        *text = memory_text(value);
        return 0;
    }
    }
    return error_set(error, TARE_USAGE, "option '%s' of %s has no type", name, subject);
}

int options_parse(const struct option_spec *specs, const char *text, void *target,
                  const char *subject, struct tare_error *error)
{
    if (!text || !*text)
        return 0;
    const char **given = NULL; /* names seen so far: few, so each is compared with each */
    size_t count = 0, capacity = 0;
    int failed = 0;
    char *copy = memory_text(text);
    for (char *part = copy, *next; part && !failed; part = next) {
        next = strchr(part, ',');
        if (next)
            *next++ = '\0';
        char *value = strchr(part, '=');
        if (value)
            *value++ = '\0';
        if (!*part) {
            failed = error_set(error, TARE_USAGE, "empty option in '%s' of %s", text, subject);
            break;
        }
        for (size_t i = 0; i < count && !failed; i++)
            if (strcmp(given[i], part) == 0)
                failed =
                    error_set(error, TARE_USAGE, "option '%s' of %s is given twice", part, subject);
        if (failed)
            break;
        MEMORY_GROW(given, count, capacity);
        given[count++] = part;
        failed = option_set(specs, part, value, target, subject, error);
    }
    free(given);
    free(copy);
    return failed;
}

/* Does "NAME", "NAME=..." or "NAME,..." begin here, of a known name? Where a value must follow, it
 * is there. */
static bool option_begins(const struct option_spec *specs, const char *text)
{
    size_t length = strcspn(text, "=,");
    for (; specs->name; specs++)
        if (strlen(specs->name) == length && strncmp(specs->name, text, length) == 0)
            return text[length] == '=' || specs->type == OPTION_FLAG;
    return false;
}

const char *options_behind(const struct option_spec *specs, const char *text,
                           const char *separators)
{
    const char *begin = NULL;
    for (const char *c = text + strlen(text); c-- > text;) {
        if (!strchr(separators, *c))
            continue;
        if (option_begins(specs, c + 1))
            begin = c + 1;
        else if (*c == ',' || begin)
            break;
    }
    return begin;
}

void options_free(const struct option_spec *specs, void *target)
{
    for (; specs && specs->name; specs++) {
        if (specs->type != OPTION_TEXT)
            continue;
        char **text = (char **)(void *)((char *)target + specs->offset);
        free(*text);
        *text = NULL;
    }
}

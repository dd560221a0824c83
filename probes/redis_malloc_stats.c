/* MEMORY MALLOC-STATS (4.0 and later, with jemalloc): the text that jemalloc
 * prints of itself, by its own headers.
 *
 *   malloc.version, malloc.opt.NAME, malloc.config.NAME, malloc.quantum, malloc.page_size
 *   malloc.allocated, active, metadata, resident, mapped, retained
 *   malloc.bins.SIZE.COLUMN and malloc.large.SIZE.COLUMN (4.x: malloc.huge too)
 *   malloc.decaying.dirty.npages, malloc.decaying.muzzy.npages
 *
 * Tables are read by the names in their head line; columns that are rates ("(#/sec)") are
 * passed over, and so is "util", a share. A text may hold a part for all arenas merged and one for
 * each: where there is a merged part it alone is read; else what the arenas show is added up. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "probes/redis_text.h"

#define COLUMNS_MAX 64

struct table {
    char name[16];                 /* "bins", "large", "huge"; "" outside */
    char columns[COLUMNS_MAX][32]; /* "" for a column that is passed over */
    size_t count;
    size_t size_column;
};

static void add(struct figures *figures, const char *name, int64_t value)
{
    figures_integer(figures, name, figures_get(figures, name) + value);
}

static bool begins(const char *line, const char *with)
{
    return strncmp(line, with, strlen(with)) == 0;
}

/* How a bin is laid out is the same in every arena; what is in it adds up. */
static bool is_layout(const char *column)
{
    static const char *const names[] = {"ind", "regs", "pgs", "nshards"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(column, names[i]) == 0)
            return true;
    return false;
}

/* Splits at blanks; returns how many words. */
static size_t split(char *line, char **words, size_t most)
{
    size_t count = 0;
    for (char *word; count < most && (word = strsep(&line, " \t"));)
        if (*word)
            words[count++] = word;
    return count;
}

static bool is_integer(const char *word)
{
    if (*word == '-')
        word++;
    if (!*word)
        return false;
    for (; *word; word++)
        if (!isdigit((unsigned char)*word))
            return false;
    return true;
}

/* "bins:           size ind    allocated      nmalloc (#/sec) ..." */
static void begin_table(const char *line, struct table *table)
{
    size_t length = strcspn(line, ":");
    *table = (struct table){0};
    memcpy(table->name, line, length);
    char *copy = memory_text(line + length + 1);
    char *words[COLUMNS_MAX];
    size_t count = split(copy, words, COLUMNS_MAX);
    table->size_column = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        /* A rate of the column before it; a share, whole only where it is 1. */
        if (*words[i] == '(' || strcmp(words[i], "util") == 0)
            words[i][0] = '\0';
        strncpy(table->columns[i], words[i], sizeof table->columns[i] - 1);
        if (strcmp(words[i], "size") == 0)
            table->size_column = i;
    }
    table->count = count;
    free(copy);
}

/* A row of the table; false where the line is none, and the table is over. */
static bool table_row(const char *line, const struct table *table, struct figures *figures)
{
    char *copy = memory_text(line), *words[COLUMNS_MAX + 1];
    size_t count = split(copy, words, COLUMNS_MAX + 1);
    bool is_row = count == table->count && table->size_column < count && is_integer(words[0]) &&
                  is_integer(words[table->size_column]);
    for (size_t i = 0; is_row && i < count; i++) {
        if (!table->columns[i][0] || i == table->size_column || !is_integer(words[i]))
            continue;
        char *name = memory_format("malloc.%s.%s.%s", table->name, words[table->size_column],
                                   table->columns[i]);
        int64_t value = strtoll(words[i], NULL, 10);
        if (is_layout(table->columns[i]))
            figures_integer(figures, name, value);
        else if (begins(table->columns[i], "max_"))
            figures_integer(figures, name,
                            value > figures_get(figures, name) ? value
                                                               : figures_get(figures, name));
        else
            add(figures, name, value);
        free(name);
    }
    free(copy);
    return is_row;
}

/* "Allocated: 1776864, active: 1921024, metadata: 2757616 (n_thp 0), resident: ..." */
static void totals(const char *line, struct figures *figures)
{
    static const char *const names[] = {
        "llocated: ", "active: ", "metadata: ", "resident: ", "mapped: ", "retained: "};
    static const char *const paths[] = {"malloc.allocated", "malloc.active", "malloc.metadata",
                                        "malloc.resident",  "malloc.mapped", "malloc.retained"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(line, names[i]);
        if (at)
            figures_integer(figures, paths[i], strtoll(at + strlen(names[i]), NULL, 10));
    }
}

/* "  opt.cache_oblivious: true" and "  config.stats: true (run-time words)". */
static void option(const char *line, struct figures *figures)
{
    const char *colon = strchr(line, ':');
    if (!colon)
        return;
    const char *value = colon + 1 + strspn(colon + 1, " ");
    bool quoted = *value == '"';
    value += quoted;
    size_t length = strcspn(value, quoted ? "\"" : " ");
    char *name = memory_format("malloc.%.*s", (int)(colon - line), line);
    if (strncmp(value, "true", length) == 0 && length == 4)
        figures_integer(figures, name, 1);
    else if (strncmp(value, "false", length) == 0 && length == 5)
        figures_integer(figures, name, 0);
    else {
        char *text = memory_text_n(value, length);
        figures_parse(figures, name, text);
        free(text);
    }
    free(name);
}

/* "Version: "5.3.0-0-g54eaed1d..."" */
static void version(const char *value, struct figures *figures)
{
    value += strspn(value, " \"");
    char *text = memory_text_n(value, strcspn(value, "\""));
    figures_text(figures, "malloc.version", text);
    free(text);
}

/* "   dirty: 10000            0 ..." under "decaying:  time       npages ...". */
static void decaying(const char *line, struct figures *figures)
{
    char *copy = memory_text(line), *words[4];
    if (split(copy, words, 4) >= 3) {
        words[0][strcspn(words[0], ":")] = '\0';
        char *name = memory_format("malloc.decaying.%s.npages", words[0]);
        if (is_integer(words[2]))
            add(figures, name, strtoll(words[2], NULL, 10));
        free(name);
    }
    free(copy);
}

void redis_malloc_stats_parse(const char *text, struct figures *figures)
{
    bool merged = strstr(text, "Merged arenas stats:") != NULL;
    bool reading = true; /* this arena's part counts */
    struct table table = {0};
    char *copy = memory_text(text), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "\r")] = '\0';
        const char *trimmed = line + strspn(line, " ");
        if (begins(line, "Merged arenas stats:"))
            reading = true;
        else if (begins(line, "Destroyed arenas stats:"))
            reading = false; /* of arenas that hold nothing any more */
        else if (begins(line, "arenas["))
            reading = !merged;
        else if (begins(line, "Version: "))
            version(line + strlen("Version: "), figures);
        else if (begins(line, "Quantum size: "))
            figures_integer(figures, "malloc.quantum", strtoll(strchr(line, ':') + 1, NULL, 10));
        else if (begins(line, "Page size: "))
            figures_integer(figures, "malloc.page_size", strtoll(strchr(line, ':') + 1, NULL, 10));
        else if (begins(line, "Allocated: "))
            totals(line, figures);
        else if (begins(trimmed, "opt.") || begins(trimmed, "config."))
            option(trimmed, figures);
        if (!reading)
            continue;
        if (begins(line, "bins:") || begins(line, "large:") || begins(line, "huge:")) {
            /* "large:" heads a table only where columns of names follow; else it is a sum. */
            if (strstr(line, " size "))
                begin_table(line, &table);
        } else if (table.name[0] && !table_row(line, &table, figures) && !strstr(line, "---")) {
            table.name[0] = '\0';
        }
        if (begins(trimmed, "dirty:") || begins(trimmed, "muzzy:"))
            decaying(trimmed, figures);
    }
    free(copy);
}

static int malloc_stats_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    struct figures reply = {0};
    int failed =
        redis_ask_if_known(store, "MEMORY MALLOC-STATS", "text", "malloc.missing", &reply, error);
    const char *text = figures_get_text(&reply, "text");
    const char *missing = figures_get_text(&reply, "malloc.missing");
    if (text && strstr(text, "jemalloc statistics"))
        redis_malloc_stats_parse(text, figures);
    else if (text || missing)
        figures_text(figures, "malloc.missing", text ? text : missing);
    figures_free(&reply);
    return failed;
}

const struct probe_kind probe_redis_malloc_stats = {
    .name = "malloc",
    .family = "redis",
    .summary = "MEMORY MALLOC-STATS: jemalloc's totals, and its bins by size",
    .read = malloc_stats_read,
};

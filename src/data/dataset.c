#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

extern const struct dataset_kind dataset_ycsb;
extern const struct dataset_kind dataset_player;
extern const struct dataset_kind dataset_kv;
extern const struct dataset_kind dataset_article;
extern const struct dataset_kind dataset_entity;
extern const struct dataset_kind dataset_file;

const struct dataset_kind *const dataset_kinds[] = {
    &dataset_ycsb,   &dataset_player, &dataset_kv, &dataset_article,
    &dataset_entity, &dataset_file,   NULL,
};

int dataset_table_check(const struct dataset_kind *const kinds[], struct tare_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const struct dataset_kind *kind = kinds[i];
        if (!kind->name || !*kind->name)
            return error_set(error, TARE_USAGE, "data set %zu of the table has no name", i);
        const char *missing = !kind->summary      ? "summary"
                              : !kind->example    ? "example"
                              : !kind->options    ? "options"
                              : !kind->state_size ? "state_size"
                              : !kind->defaults   ? "defaults"
                              : !kind->open       ? "open"
                              : !kind->read       ? "read"
                                                  : NULL;
        if (missing)
            return error_set(error, TARE_USAGE, "data set '%s' lacks '%s'", kind->name, missing);
        for (size_t j = 0; j < i; j++)
            if (strcmp(kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "data set '%s' is in the table twice",
                                 kind->name);
        if (kind->takes_path)
            continue;
        struct dataset *dataset = dataset_open(kind->example, 1, error);
        if (!dataset)
            return error_prefix(error, "example of data set '%s'", kind->name);
        dataset_close(dataset);
    }
    return 0;
}

int dataset_kinds_check(struct tare_error *error)
{
    return dataset_table_check(dataset_kinds, error);
}

static const struct dataset_kind *dataset_kind_of_name(const char *name, struct tare_error *error)
{
    const char *names[sizeof dataset_kinds / sizeof dataset_kinds[0]];
    size_t count = 0;
    for (; dataset_kinds[count]; count++) {
        if (strcmp(dataset_kinds[count]->name, name) == 0)
            return dataset_kinds[count];
        names[count] = dataset_kinds[count]->name;
    }
    names[count] = NULL;
    error_unknown(error, "data set", name, names, NULL);
    return NULL;
}

/* "NAME", "NAME:REST", and "-", which is a file of that name, with its options behind a colon or a
 * comma: "-:key=id". */
static const struct dataset_kind *split_text(const char *text, const char **rest,
                                             struct tare_error *error)
{
    if (text[0] == '-' && (text[1] == '\0' || text[1] == ':' || text[1] == ',')) {
        *rest = text;
        return dataset_kind_of_name("file", error);
    }
    const char *colon = strchr(text, ':');
    char *name = memory_text_n(text, colon ? (size_t)(colon - text) : strlen(text));
    const struct dataset_kind *kind = NULL;
    if (*name)
        kind = dataset_kind_of_name(name, error);
    else
        error_set(error, TARE_USAGE, "data set '%s' has no name; 'tare list datasets' lists them",
                  text);
    free(name);
    *rest = colon ? colon + 1 : NULL;
    return kind;
}

/* The path of "PATH[,k=v...]", with the options split off; a path may hold commas and colons. */
static int split_path(struct dataset *dataset, const char **rest, struct tare_error *error)
{
    const char *text = *rest ? *rest : "";
    const char *options = options_behind(dataset->kind->options, text, ":,");
    size_t length = options ? (size_t)(options - text) - 1 : strlen(text);
    if (length == 0)
        return error_set(error, TARE_USAGE, "data set '%s' needs a path: '%s'", dataset->text,
                         dataset->kind->example);
    dataset->path = memory_text_n(text, length);
    *rest = options;
    return 0;
}

/* What is taken where neither -n nor the data set says how many. */
#define USUAL_RECORDS 100000

struct dataset *dataset_open(const char *text, uint64_t seed, struct tare_error *error)
{
    const char *options;
    const struct dataset_kind *kind = split_text(text, &options, error);
    if (!kind)
        return NULL;

    struct dataset *dataset = memory_new(sizeof *dataset);
    dataset->kind = kind;
    dataset->text = memory_text(text);
    dataset->seed = seed;
    dataset->usual_records = USUAL_RECORDS;
    dataset->count = dataset->wanted = -1;
    dataset->state = memory_new(kind->state_size);
    kind->defaults(dataset->state);

    char *subject = memory_format("data set '%s'", kind->name);
    int failed = kind->takes_path ? split_path(dataset, &options, error) : 0;
    if (!failed && options)
        failed = options_parse(kind->options, options, dataset->state, subject, error);
    free(subject);
    if (!failed)
        failed = kind->open(dataset, error);
    if (failed) {
        dataset_close(dataset);
        return NULL;
    }
    return dataset;
}

int dataset_prepare(struct dataset *dataset, int64_t *records, enum dataset_survey survey,
                    struct tare_error *error)
{
    if (dataset->kind->survey) {
        if (dataset->kind->survey(dataset, *records, survey, error))
            return -1;
        if (*records == DATASET_ALL)
            *records = dataset->count;
    } else if (*records == DATASET_ALL) {
        *records = dataset->usual_records;
    }
    dataset->wanted = *records;
    return 0;
}

int dataset_read(struct dataset *dataset, int64_t index, struct arena *arena, struct record *record,
                 struct tare_error *error)
{
    int failed = dataset->kind->read(dataset, index, arena, record, error);
    record->number = index;
    return failed;
}

/* Up to so many rounds of a file's records are all evaluated; beyond, a last round that is not
 * whole weighs little. */
#define ROUNDS_EVALUATED 10

int64_t dataset_sample_size(const struct dataset *dataset, int64_t records, int64_t all,
                            int64_t sample)
{
    int64_t count = dataset->count;
    if (records <= all)
        return records;
    if (!dataset->kind->survey)
        return sample;
    if (count < 0 || records / count < ROUNDS_EVALUATED)
        return records;
    return count >= sample ? count : (sample + count - 1) / count * count;
}

int64_t dataset_spread(int64_t whole, int64_t parts, int64_t i)
{
    return whole / parts * i + whole % parts * i / parts;
}

int64_t dataset_sample_index(const struct dataset *dataset, int64_t records, int64_t sampled,
                             int64_t i)
{
    if (sampled == records)
        return i;
    if (!dataset->kind->survey)
        return dataset_spread(records, sampled, i);
    int64_t count = dataset->count;
    return dataset_spread(records / count, sampled, i) * count + i % count;
}

void dataset_notes(const struct dataset *dataset, struct buffer *lines)
{
    if (dataset->kind->notes)
        dataset->kind->notes(dataset, lines);
}

void dataset_close(struct dataset *dataset)
{
    if (!dataset)
        return;
    if (dataset->kind->close)
        dataset->kind->close(dataset);
    options_free(dataset->kind->options, dataset->state);
    free(dataset->state);
    free(dataset->text);
    free(dataset->path);
    free(dataset);
}

#include "data/dataset.h"

#include <stdlib.h>
#include <string.h>

extern const struct dataset_kind dataset_ycsb;
extern const struct dataset_kind dataset_player;
extern const struct dataset_kind dataset_kv;

const struct dataset_kind *const dataset_kinds[] = {
    &dataset_ycsb,
    &dataset_player,
    &dataset_kv,
    NULL,
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

struct dataset *dataset_open(const char *text, uint64_t seed, struct tare_error *error)
{
    const char *options = strchr(text, ':');
    char *name = memory_text_n(text, options ? (size_t)(options - text) : strlen(text));
    const struct dataset_kind *kind = NULL;
    if (*name)
        kind = dataset_kind_of_name(name, error);
    else
        error_set(error, TARE_USAGE, "data set '%s' has no name; 'tare list datasets' lists them",
                  text);
    free(name);
    if (!kind)
        return NULL;

    struct dataset *dataset = memory_new(sizeof *dataset);
    dataset->kind = kind;
    dataset->text = memory_text(text);
    dataset->seed = seed;
    dataset->count = -1;
    dataset->state = memory_new(kind->state_size);
    kind->defaults(dataset->state);

    char *subject = memory_format("data set '%s'", kind->name);
    int failed =
        options ? options_parse(kind->options, options + 1, dataset->state, subject, error) : 0;
    free(subject);
    if (!failed)
        failed = kind->open(dataset, error);
    if (failed) {
        dataset_close(dataset);
        return NULL;
    }
    return dataset;
}

int dataset_read(struct dataset *dataset, int64_t index, struct arena *arena, struct record *record,
                 struct tare_error *error)
{
    int failed = dataset->kind->read(dataset, index, arena, record, error);
    record->number = index;
    return failed;
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
    free(dataset);
}

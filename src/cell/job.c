#include "cell/job.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/options.h"
#include "data/dataset.h"

/* As -n: beyond it a byte count could leave int64_t. */
#define RECORDS_MAX INT64_C(1000000000000)

/* A value of the file, with its place in it: "$.blocks[0].encodings[1]". */
struct place {
    const char *path; /* of the file */
    char at[160];
    json_t *value; /* NULL: it isn't there */
    struct tare_error *error;
};

static int fail(const struct place *place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(const struct place *place, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(place->error, TARE_USAGE, "job '%s': %s: %s", place->path, place->at, text);
}

/* Puts file and place before an error that others found. */
static int fault(const struct place *place)
{
    return error_prefix(place->error, "job '%s': %s", place->path, place->at);
}

static struct place member(const struct place *place, const char *name)
{
    struct place inner = *place;
    snprintf(inner.at + strlen(inner.at), sizeof inner.at - strlen(inner.at), ".%s", name);
    inner.value = json_object_get(place->value, name);
    return inner;
}

static struct place element(const struct place *place, size_t i)
{
    struct place inner = *place;
    /* A value stands for a list of one. */
    if (!json_is_array(place->value))
        return inner;
    snprintf(inner.at + strlen(inner.at), sizeof inner.at - strlen(inner.at), "[%zu]", i);
    inner.value = json_array_get(place->value, i);
    return inner;
}

static size_t length_of(const struct place *place)
{
    return json_is_array(place->value) ? json_array_size(place->value) : place->value ? 1 : 0;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        break;
    }
    return "null";
}

/* An object that holds none but these members. */
static int check_members(const struct place *place, const char *what, const char *const *names)
{
    const char *name;
    json_t *value;
    if (!json_is_object(place->value))
        return fail(place, "%s is an object, not %s", what, type_name(place->value));
    json_object_foreach(place->value, name, value)
    {
        size_t i = 0;
        while (names[i] && strcmp(names[i], name) != 0)
            i++;
        if (names[i])
            continue;
        error_unknown(place->error, "member", name, names, NULL);
        return fault(place);
    }
    return 0;
}

static int read_text(const struct place *place, const char **text)
{
    *text = json_string_value(place->value);
    return *text ? 0 : fail(place, "a string is wanted, not %s", type_name(place->value));
}

static int read_count(const struct place *place, int64_t *count)
{
    if (json_is_string(place->value)) /* "100k" */
        return parse_integer(json_string_value(place->value), 0, RECORDS_MAX, "a count", count,
                             place->error)
                   ? fault(place)
                   : 0;
    if (!json_is_integer(place->value))
        return fail(place, "a count is a whole number, not %s",
                    json_is_real(place->value) ? "a fraction" : type_name(place->value));
    *count = json_integer_value(place->value);
    if (*count < 0 || *count > RECORDS_MAX)
        return fail(place, "a count is a whole number from 0 to %lld, not %lld",
                    (long long)RECORDS_MAX, (long long)*count);
    return 0;
}

static int64_t scaled(int64_t count, double scale)
{
    double product = round((double)count * scale);
    if (count == 0)
        return 0;
    return product < 1 ? 1 : product > (double)RECORDS_MAX ? RECORDS_MAX : (int64_t)product;
}

static int read_settings(const struct place *place, struct figures *settings)
{
    const char *name;
    json_t *value;
    if (!json_is_object(place->value))
        return fail(place, "settings are an object, {\"NAME\": VALUE}, not %s",
                    type_name(place->value));
    json_object_foreach(place->value, name, value)
    {
        struct place one = member(place, name);
        if (json_is_string(value))
            figures_parse(settings, name, json_string_value(value));
        else if (json_is_integer(value))
            figures_integer(settings, name, json_integer_value(value));
        else if (json_is_real(value))
            figures_real(settings, name, json_real_value(value));
        else if (json_is_boolean(value))
            figures_text(settings, name, json_is_true(value) ? "yes" : "no");
        else
            return fail(&one, "a setting is a string, a number, true or false, not %s",
                        type_name(value));
    }
    return 0;
}

static int read_steps(const struct place *place, struct cell_steps *steps)
{
    for (size_t i = 0; i < length_of(place); i++) {
        struct place one = element(place, i);
        const char *name;
        if (read_text(&one, &name))
            return -1;
        if (cell_steps_add(steps, name, NULL, one.error))
            return fault(&one);
    }
    return 0;
}

/* ---- cells --------------------------------------------------------------------------------- */

/* "riak" of "riak:object", "ravendb" of "ravendb=http://...": what stands before the mark. */
static bool store_is_known(const char *text, char mark)
{
    size_t length = (size_t)(strchrnul(text, mark) - text);
    for (size_t i = 0; store_kinds[i]; i++) {
        const char *names[] = {store_kinds[i]->name, store_kinds[i]->family};
        for (size_t j = 0; j < 2; j++)
            if (strlen(names[j]) == length && memcmp(names[j], text, length) == 0)
                return true;
    }
    return false;
}

/* A job may name stores that other tools know, so that its comparison is whole: the cell fails
 * alone. What is no STORE:SHAPE at all is a mistake. */
static bool of_unknown_store(const char *encoding)
{
    const char *colon = strchr(encoding, ':');
    return colon && colon > encoding && !store_is_known(encoding, ':');
}

static void add_unknown(struct job *job, const struct cell_selection *selection,
                        const char *encoding)
{
    int length = (int)strcspn(encoding, ":");
    char *reason = memory_format("tare knows no store '%.*s'; 'tare list stores' lists those it "
                                 "knows",
                                 length, encoding);
    cell_requests_add_broken(&job->requests, selection, memory_text(encoding), NULL, reason);
    free(reason);
}

static struct cell_selection *add_selection(struct job *job, const struct job_options *options)
{
    struct cell_selection *selection = memory_new(sizeof *selection);
    MEMORY_GROW(job->selections, job->count, job->capacity);
    job->selections[job->count++] = selection;
    selection->seed = job->seed;
    selection->limits = options->limits;
    selection->tolerant = true;
    return selection;
}

struct block {
    struct place datasets, encodings, servers, counts, settings, steps;
};

static int read_servers(const struct block *block, struct cell_selection *selection)
{
    const char *text;
    for (size_t i = 0; i < length_of(&block->servers); i++) {
        struct place server = element(&block->servers, i);
        if (read_text(&server, &text))
            return -1;
        if (!strchr(text, '='))
            return fail(&server, "a server is KIND=TARGET, not '%s'", text);
        /* Of an unknown store: so is the encoding that goes with it. */
        if (!store_is_known(text, '='))
            continue;
        MEMORY_GROW(selection->servers, selection->server_count, selection->server_capacity);
        selection->servers[selection->server_count++] = memory_text(text);
    }
    return 0;
}

/* Each encoding in its place, also those of unknown stores. */
static int add_cells(struct job *job, const struct block *block,
                     const struct cell_selection *selection, const struct dataset *dataset,
                     bool *server_used)
{
    for (size_t i = 0; i < length_of(&block->encodings); i++) {
        struct place encoding = element(&block->encodings, i);
        const char *text;
        if (read_text(&encoding, &text))
            return -1;
        if (of_unknown_store(text))
            add_unknown(job, selection, text);
        else if (cell_requests_add(&job->requests, selection, text, dataset, server_used, false,
                                   encoding.error))
            return fault(&encoding);
    }
    for (size_t i = 0; i < selection->server_count; i++)
        if (!server_used[i] && cell_server_unused(selection->servers[i], block->servers.error))
            return fault(&block->servers);
    return 0;
}

/* The cells of one data set, one count and one group of settings (NULL: none). */
static int read_cells(struct job *job, const struct job_options *options, const struct block *block,
                      const struct place *dataset_place, int64_t count,
                      const struct place *settings)
{
    struct cell_selection *selection = add_selection(job, options);
    const char *text;
    selection->records = count;
    if (read_text(dataset_place, &text))
        return -1;
    selection->dataset = memory_text(text);
    if ((settings && read_settings(settings, &selection->settings)) ||
        read_steps(&block->steps, &selection->steps) || read_servers(block, selection))
        return -1;
    if (cell_selection_open(selection, false, dataset_place->error))
        return fault(dataset_place);
    bool *used = memory_new((selection->server_count + 1) * sizeof *used);
    int failed = add_cells(job, block, selection, selection->opened, used);
    free(used);
    return failed;
}

/* Counts as they are scaled: what becomes the same number is one cell. The caller frees. */
static int read_counts(const struct place *place, double scale, int64_t **counts, size_t *count)
{
    size_t length = length_of(place);
    *counts = memory_new((length + 1) * sizeof **counts);
    *count = 0;
    for (size_t i = 0; i < length; i++) {
        struct place one = element(place, i);
        int64_t number;
        if (read_count(&one, &number))
            return -1;
        number = scaled(number, scale);
        size_t j = 0;
        while (j < *count && (*counts)[j] != number)
            j++;
        if (j == *count)
            (*counts)[(*count)++] = number;
    }
    return 0;
}

static int read_block(struct job *job, const struct job_options *options, const struct place *place)
{
    static const char *const names[] = {"about",  "datasets", "encodings", "servers",
                                        "counts", "settings", "steps",     NULL};
    if (check_members(place, "a block", names))
        return -1;
    struct block block = {
        .datasets = member(place, "datasets"),
        .encodings = member(place, "encodings"),
        .servers = member(place, "servers"),
        .counts = member(place, "counts"),
        .settings = member(place, "settings"),
        .steps = member(place, "steps"),
    };
    const struct place *const wanted[] = {&block.datasets, &block.encodings, &block.counts};
    static const char *const examples[] = {
        "\"datasets\": [\"ycsb\"]", "\"encodings\": [\"redis:hash\"]", "\"counts\": [100000]"};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (length_of(wanted[i]) == 0)
            return fail(place, "a block needs a list %s", examples[i]);
    int64_t *counts;
    size_t count;
    int failed = read_counts(&block.counts, options->scale, &counts, &count);
    size_t groups = length_of(&block.settings);
    for (size_t d = 0; !failed && d < length_of(&block.datasets); d++)
        for (size_t c = 0; !failed && c < count; c++)
            for (size_t s = 0; !failed && s < (groups ? groups : 1); s++) {
                struct place dataset = element(&block.datasets, d);
                struct place settings = element(&block.settings, s);
                failed = read_cells(job, options, &block, &dataset, counts[c],
                                    groups ? &settings : NULL);
            }
    free(counts);
    return failed;
}

static int read_job(struct job *job, const struct job_options *options, struct place *root)
{
    static const char *const names[] = {"about", "seed", "blocks", NULL};
    struct place blocks = *root;
    job->seed = 1;
    if (!json_is_array(root->value)) {
        if (check_members(root, "a job", names))
            return -1;
        blocks = member(root, "blocks");
        struct place seed = member(root, "seed"), about = member(root, "about");
        const char *text = NULL;
        if (seed.value && read_count(&seed, &job->seed))
            return -1;
        if (about.value && read_text(&about, &text))
            return -1;
        job->about = memory_text(text);
        if (!json_is_array(blocks.value))
            return fail(root, "a job needs a list \"blocks\"");
    }
    if (options->seed_given)
        job->seed = options->seed;
    if (json_array_size(blocks.value) == 0)
        return fail(&blocks, "there are no blocks");
    for (size_t i = 0; i < json_array_size(blocks.value); i++) {
        struct place block = element(&blocks, i);
        if (read_block(job, options, &block))
            return -1;
    }
    return 0;
}

int job_read(const char *path, const struct job_options *options, struct job *job,
             struct tare_error *error)
{
    json_error_t reason;
    *job = (struct job){0};
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, TARE_USAGE, "job '%s': %s", path, strerror(errno));
    json_set_alloc_funcs(memory_new, free);
    json_t *value = json_loadf(file, JSON_REJECT_DUPLICATES, &reason);
    fclose(file);
    if (!value)
        return error_set(error, TARE_USAGE, "job '%s', line %d, column %d: %s", path, reason.line,
                         reason.column, reason.text);
    struct place root = {.path = path, .at = "$", .value = value, .error = error};
    int failed = json_is_array(value) || json_is_object(value)
                     ? read_job(job, options, &root)
                     : fail(&root, "a job is an object or a list of blocks");
    json_decref(value);
    return failed;
}

void job_free(struct job *job)
{
    cell_requests_free(&job->requests);
    for (size_t i = 0; i < job->count; i++) {
        cell_selection_free(job->selections[i]);
        free(job->selections[i]);
    }
    free(job->selections);
    free(job->about);
    *job = (struct job){0};
}

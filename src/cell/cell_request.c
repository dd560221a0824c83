#include "cell/cell_request.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/options.h"
#include "data/dataset.h"
#include "stores/process.h"

const char *cell_request_encoding(const struct cell_request *request)
{
    return request->encoding ? request->encoding->text : request->broken_encoding;
}

/* Which parts a name needs so that each cell is told from this other one with its encoding. */
static void tell_apart(struct cell_request *a, struct cell_request *b)
{
    if (strcmp(cell_request_encoding(a), cell_request_encoding(b)) != 0) {
        a->compared = b->compared = true;
        return;
    }
    const struct cell_selection *x = a->selection, *y = b->selection;
    if (a->server.text && b->server.text && strcmp(a->server.text, b->server.text) != 0) {
        if (a->server.engine && b->server.engine && a->server.kind == b->server.kind &&
            strcmp(a->server.target, b->server.target) == 0)
            a->name_needs_engine = b->name_needs_engine = true;
        else
            a->name_needs_server = b->name_needs_server = true;
    }
    if (x == y)
        return;
    if (strcmp(x->dataset, y->dataset) != 0)
        a->name_needs_dataset = b->name_needs_dataset = true;
    if (x->records != y->records)
        a->name_needs_records = b->name_needs_records = true;
    if (!figures_equal(&x->settings, &y->settings))
        a->name_needs_settings = b->name_needs_settings = true;
}

static void requests_add(struct cell_requests *requests, const struct cell_request *request)
{
    MEMORY_GROW(requests->items, requests->count, requests->capacity);
    requests->items[requests->count++] = *request;
    for (size_t i = 0; i + 1 < requests->count; i++)
        tell_apart(&requests->items[i], &requests->items[requests->count - 1]);
}

void cell_requests_add_broken(struct cell_requests *requests,
                              const struct cell_selection *selection, char *encoding,
                              const struct server_spec *spec, const char *reason)
{
    struct cell_request request = {.selection = selection, .broken_encoding = encoding};
    if (spec)
        request.server = *spec;
    error_set(&request.broken, TARE_STORE, "%s", reason);
    requests_add(requests, &request);
}

/* The program of a server of --server. A version to run on is the one that set-up put into the
 * build folder, if it is there. */
static int server_find(struct server_spec *spec, struct tare_error *error)
{
    if (spec->target_type == TARGET_VERSION)
        return server_spec_find_version(spec, error);
    return server_spec_find_program(spec, error);
}

/* The server that the encodings of this store run on where no --server names one. */
static int server_default(const char *family, const char *text, bool planning,
                          struct server_spec *spec, struct tare_error *error)
{
    const struct store_kind *kind = store_kind_of_family(family);
    if (!kind)
        return error_set(error, TARE_USAGE, "no store takes encoding '%s'", text);
    return planning ? server_spec_plan_default(kind, spec, error)
                    : server_spec_default(kind, NULL, spec, error);
}

/* Whether this selection has the cell already. */
static bool asked_for(const struct cell_requests *requests, const struct cell_selection *selection,
                      const struct encoding *encoding, const struct server_spec *spec)
{
    for (size_t i = 0; i < requests->count; i++) {
        const struct cell_request *item = &requests->items[i];
        if (item->selection == selection && item->encoding &&
            strcmp(item->encoding->text, encoding->text) == 0 &&
            strcmp(item->server.text, spec->text) == 0)
            return true;
    }
    return false;
}

/* tare's own setting: how many records are sent before their replies are waited for. */
#define BATCH "batch"

/* The name that a setting has for servers of this kind; NULL where it isn't for them: "redis.NAME"
 * is for redis servers (and valkey's, whose family that is) alone. */
static const char *setting_for(const char *name, const struct store_kind *kind)
{
    for (size_t i = 0; store_kinds[i]; i++) {
        size_t length = strlen(store_kinds[i]->name);
        if (strncmp(name, store_kinds[i]->name, length) == 0 && name[length] == '.')
            return store_kinds[i] == kind || strcmp(store_kinds[i]->name, kind->family) == 0
                       ? name + length + 1
                       : NULL;
    }
    return name;
}

int cell_server_settings(const struct cell_selection *selection, const struct store_kind *kind,
                         struct figures *settings, struct tare_error *error)
{
    for (size_t i = 0; i < selection->settings.count; i++) {
        const struct figure *figure = &selection->settings.items[i];
        const char *name = setting_for(figure->name, kind);
        if (!name)
            continue;
        if (strcmp(name, BATCH) == 0) {
            if (figure->type != FIGURE_INTEGER || figure->integer < 1)
                return error_set(error, TARE_USAGE,
                                 "setting 'batch' is a number of records, 1 at least");
            continue;
        }
        bool common = false;
        for (size_t j = 0; store_common_settings[j]; j++)
            common = common || strcmp(store_common_settings[j], name) == 0;
        if (!common) {
            figures_put(settings, name, figure);
        } else if (!kind->common_setting) {
            return error_set(error, TARE_USAGE,
                             "setting '%s' is not there for '%s' servers; 'redis.%s' is for redis "
                             "servers alone",
                             name, kind->name, name);
        } else if (kind->common_setting(name, figure, settings, error)) {
            return -1;
        }
    }
    return 0;
}

int64_t cell_batch(const struct cell_selection *selection)
{
    return figures_get(&selection->settings, BATCH);
}

static int check_settings(const struct cell_selection *selection, const struct store_kind *kind,
                          struct tare_error *error)
{
    struct figures settings = {0};
    int failed = cell_server_settings(selection, kind, &settings, error);
    figures_free(&settings);
    return failed;
}

/* Appends the cell of one encoding on one server; takes both over. missing: the server isn't to be
 * had, for the reason in *why. */
static int request_of_server(struct cell_requests *requests, const struct cell_selection *selection,
                             struct encoding *encoding, struct server_spec *spec, bool missing,
                             const struct tare_error *why, struct tare_error *error)
{
    int failed = 0;
    if (missing && selection->tolerant) {
        cell_requests_add_broken(requests, selection, memory_text(encoding->text), spec,
                                 why->message);
        encoding_free(encoding);
        return 0;
    } else if (missing) {
        *error = *why;
        failed = -1;
    } else if (asked_for(requests, selection, encoding, spec)) {
        failed = error_set(error, TARE_USAGE, "encoding '%s' on server '%s' is asked for twice",
                           encoding->text, spec->text);
    } else if (cell_steps_check(&selection->steps, spec, encoding, error) ||
               check_settings(selection, spec->kind, error)) {
        failed = -1;
    } else {
        const struct cell_request request = {
            .selection = selection, .encoding = encoding, .server = *spec};
        requests_add(requests, &request);
        return 0;
    }
    server_spec_free(spec);
    encoding_free(encoding);
    return failed;
}

/* The servers of --server that take this encoding, or the family's default one. */
int cell_requests_add(struct cell_requests *requests, const struct cell_selection *selection,
                      const char *text, const struct dataset *dataset, bool *server_used,
                      bool planning, struct tare_error *error)
{
    bool found = false;
    for (size_t i = 0; i <= selection->server_count; i++) {
        bool given = i < selection->server_count;
        if (!given && found)
            break;
        struct encoding *encoding = encoding_parse(text, error);
        if (!encoding)
            return -1;
        encoding_fit(encoding, dataset);
        struct server_spec spec = {0};
        struct tare_error why = {0};
        int missing = 0;
        if (!given) {
            missing = server_default(encoding->shape->store, text, planning, &spec, &why);
        } else {
            if (server_spec_parse(selection->servers[i], &spec, error)) {
                server_spec_free(&spec);
                encoding_free(encoding);
                return -1;
            }
            if (strcmp(spec.kind->family, encoding->shape->store) != 0) {
                server_spec_free(&spec);
                encoding_free(encoding);
                continue;
            }
            missing = planning ? 0 : server_find(&spec, &why);
            server_used[i] = true;
        }
        found = true;
        if (request_of_server(requests, selection, encoding, &spec, missing != 0, &why, error))
            return -1;
    }
    return 0;
}

int cell_server_unused(const char *server, struct tare_error *error)
{
    struct server_spec spec = {0};
    if (server_spec_parse(server, &spec, error) == 0)
        error_set(error, TARE_USAGE,
                  "--server '%s': no encoding of -e runs on it; its encodings begin with '%s:'",
                  spec.text, spec.kind->family);
    server_spec_free(&spec);
    return -1;
}

int cell_selection_open(struct cell_selection *selection, bool planning, struct tare_error *error)
{
    selection->opened = dataset_open(selection->dataset, (uint64_t)selection->seed, error);
    if (!selection->opened)
        return -1;
    selection->opened->interrupted = process_check_interrupt;
    return dataset_prepare(selection->opened, &selection->records,
                           planning ? DATASET_KEYS : DATASET_CHECK, error);
}

int cell_requests_make(struct cell_selection *selection, bool planning,
                       struct cell_requests *requests, struct tare_error *error)
{
    if (selection->encoding_count == 0)
        return error_set(error, TARE_USAGE,
                         "no encoding: name one or more, as '-e redis:hash,mongodb:document'; "
                         "'tare list encodings' lists them");
    if (cell_selection_open(selection, planning, error))
        return -1;

    bool *server_used = memory_new((selection->server_count + 1) * sizeof *server_used);
    int failed = 0;
    for (size_t i = 0; !failed && i < selection->encoding_count; i++)
        failed = cell_requests_add(requests, selection, selection->encodings[i], selection->opened,
                                   server_used, planning, error);
    for (size_t i = 0; !failed && i < selection->server_count; i++) {
        if (!server_used[i])
            failed = cell_server_unused(selection->servers[i], error);
    }
    free(server_used);
    return failed;
}

void cell_requests_free(struct cell_requests *requests)
{
    for (size_t i = 0; i < requests->count; i++) {
        if (requests->items[i].encoding)
            encoding_free(requests->items[i].encoding);
        free(requests->items[i].broken_encoding);
        server_spec_free(&requests->items[i].server);
    }
    free(requests->items);
    *requests = (struct cell_requests){0};
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void cell_selection_free(struct cell_selection *selection)
{
    dataset_close(selection->opened);
    free(selection->dataset);
    free_texts(selection->encodings, selection->encoding_count);
    free_texts(selection->servers, selection->server_count);
    figures_free(&selection->settings);
    figures_free(&selection->given);
    cell_steps_free(&selection->steps);
    *selection = (struct cell_selection){0};
}

#include "cell/cell_request.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/options.h"
#include "data/dataset.h"

const char *const cell_step_names[] = {"load", "settle", "read", "restart", NULL};
const char *const cell_state_names[] = {"loaded", "settled", "read", "restarted", NULL};

/* Appends the request of one encoding on one server. Takes the spec over. */
static void requests_add(struct cell_requests *requests, const struct cell_selection *selection,
                         struct encoding *encoding, struct server_spec spec)
{
    MEMORY_GROW(requests->items, requests->count, requests->capacity);
    struct cell_request *request = &requests->items[requests->count++];
    *request = (struct cell_request){.selection = selection, .encoding = encoding, .server = spec};
    for (size_t i = 0; i + 1 < requests->count; i++) {
        struct cell_request *earlier = &requests->items[i];
        if (strcmp(earlier->encoding->text, encoding->text) != 0)
            continue;
        if (spec.engine && earlier->server.engine && spec.kind == earlier->server.kind &&
            strcmp(spec.target, earlier->server.target) == 0)
            earlier->name_needs_engine = request->name_needs_engine = true;
        else
            earlier->name_needs_server = request->name_needs_server = true;
    }
}

static int server_parse(const char *text, bool planning, struct server_spec *spec,
                        struct tare_error *error)
{
    if (server_spec_parse(text, spec, error))
        return -1;
    if (planning)
        return 0;
    /* A version to run on is the one that set-up put into the build folder, if it is there. */
    if (spec->target_type == TARGET_VERSION)
        return server_spec_find_version(spec, error);
    return server_spec_find_program(spec, error);
}

/* The servers of --server that take this encoding, or the family's default one. */
static int requests_of_encoding(struct cell_requests *requests,
                                const struct cell_selection *selection, const char *text,
                                const struct dataset *dataset, bool *server_used, bool planning,
                                struct tare_error *error)
{
    bool found = false;
    for (size_t i = 0; i <= selection->server_count; i++) {
        struct encoding *encoding = encoding_parse(text, error);
        if (!encoding)
            return -1;
        encoding_fit(encoding, dataset);
        struct server_spec spec = {0};
        int failed = 0;
        bool fits = true;
        if (i < selection->server_count) {
            failed = server_parse(selection->servers[i], planning, &spec, error);
            fits = !failed && strcmp(spec.kind->family, encoding->shape->store) == 0;
        } else if (found) {
            fits = false;
        } else {
            const struct store_kind *kind = store_kind_of_family(encoding->shape->store);
            if (!kind)
                failed = error_set(error, TARE_USAGE, "no store takes encoding '%s'", text);
            else
                failed = planning ? server_spec_plan_default(kind, &spec, error)
                                  : server_spec_default(kind, NULL, &spec, error);
        }
        if (failed || !fits) {
            server_spec_free(&spec);
            encoding_free(encoding);
            if (failed)
                return -1;
            continue;
        }
        found = true;
        if (i < selection->server_count)
            server_used[i] = true;
        for (size_t j = 0; j < requests->count; j++)
            if (strcmp(requests->items[j].encoding->text, encoding->text) == 0 &&
                strcmp(requests->items[j].server.text, spec.text) == 0) {
                error_set(error, TARE_USAGE, "encoding '%s' on server '%s' is asked for twice",
                          encoding->text, spec.text);
                server_spec_free(&spec);
                encoding_free(encoding);
                return -1;
            }
        requests_add(requests, selection, encoding, spec);
    }
    return 0;
}

int cell_requests_make(const struct cell_selection *selection, bool planning,
                       struct cell_requests *requests, struct tare_error *error)
{
    if (selection->encoding_count == 0)
        return error_set(error, TARE_USAGE,
                         "no encoding: name one or more, as '-e redis:hash,mongodb:document'; "
                         "'tare list encodings' lists them");
    struct dataset *dataset = dataset_open(selection->dataset, (uint64_t)selection->seed, error);
    if (!dataset)
        return -1;

    bool *server_used = memory_new((selection->server_count + 1) * sizeof *server_used);
    int failed = 0;
    for (size_t i = 0; !failed && i < selection->encoding_count; i++)
        failed = requests_of_encoding(requests, selection, selection->encodings[i], dataset,
                                      server_used, planning, error);
    dataset_close(dataset);
    for (size_t i = 0; !failed && i < selection->server_count; i++) {
        if (server_used[i])
            continue;
        struct server_spec spec = {0};
        failed = server_spec_parse(selection->servers[i], &spec, error);
        if (!failed)
            failed = error_set(error, TARE_USAGE,
                               "--server '%s': no encoding of -e runs on it; its encodings begin "
                               "with '%s:'",
                               spec.text, spec.kind->family);
        server_spec_free(&spec);
    }
    free(server_used);
    for (size_t s = 0; !failed && s < selection->step_count; s++)
        for (size_t i = 0; !failed && i < requests->count; i++) {
            const struct store_kind *kind = requests->items[i].server.kind;
            if ((selection->steps[s] == CELL_STEP_READ && !kind->read_all) ||
                (selection->steps[s] == CELL_STEP_RESTART && !kind->restart))
                failed = error_set(error, TARE_USAGE, "step '%s' is not there for '%s' servers",
                                   cell_step_names[selection->steps[s]], kind->name);
        }
    return failed;
}

void cell_requests_free(struct cell_requests *requests)
{
    for (size_t i = 0; i < requests->count; i++) {
        encoding_free(requests->items[i].encoding);
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
    free(selection->dataset);
    free_texts(selection->encodings, selection->encoding_count);
    free_texts(selection->servers, selection->server_count);
    figures_free(&selection->settings);
    figures_free(&selection->given);
    *selection = (struct cell_selection){0};
}

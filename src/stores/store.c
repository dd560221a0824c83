/* The table of stores, and what --server means. */
#include "stores/store.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/memory.h"
#include "stores/process.h"

extern const struct store_kind store_redis, store_valkey, store_mongodb, store_memory, store_null;

/* The first kind of a family is the one that its encodings run on where no --server names one. */
const struct store_kind *const store_kinds[] = {&store_redis,  &store_valkey, &store_mongodb,
                                                &store_memory, &store_null,   NULL};

const char *const store_common_settings[] = {"aof", "rdb", NULL};

const char *const operation_names[] = {"read", "update", "insert", "miss", NULL};

static bool has_whole_client(const struct store_kind *kind)
{
    return kind->client_add && kind->client_send && kind->client_take && kind->client_close &&
           kind->in_flight_most > 0;
}

int store_table_check(const struct store_kind *const kinds[], struct tare_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const struct store_kind *kind = kinds[i];
        if (!kind->name || !kind->family || !kind->summary || !kind->open || !kind->describe ||
            !kind->load_open || !kind->put || !kind->flush || !kind->load_close || !kind->glance ||
            !kind->ask || !kind->close ||
            (kind->program && (!kind->install || !kind->build_of_version_text)) ||
            (kind->engines && !kind->engines[0]) || (kind->client_open && !has_whole_client(kind)))
            return error_set(error, TARE_USAGE, "internal: store '%s' is incomplete",
                             kind->name ? kind->name : "?");
        for (size_t j = 0; j < i; j++)
            if (strcmp(kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "internal: store '%s' is there twice",
                                 kind->name);
    }
    return 0;
}

int store_kinds_check(struct tare_error *error)
{
    return store_table_check(store_kinds, error);
}

const struct store_kind *store_kind_of_name(const char *name)
{
    for (size_t i = 0; store_kinds[i]; i++)
        if (strcmp(store_kinds[i]->name, name) == 0)
            return store_kinds[i];
    return NULL;
}

const struct store_kind *store_kind_of_family(const char *family)
{
    for (size_t i = 0; store_kinds[i]; i++)
        if (strcmp(store_kinds[i]->family, family) == 0)
            return store_kinds[i];
    return NULL;
}

/* ---- parsing ------------------------------------------------------------------------------- */

/* Where the authority "HOST[:PORT][,HOST...]" holds what is no port behind a colon: a password
 * whose "@HOST" was forgotten. NULL: nowhere. */
static const char *no_port(const char *authority)
{
    bool bracket = false;
    for (const char *c = authority; *c && !strchr("/?", *c); c++) {
        bracket = *c == '[' || (bracket && *c != ']');
        if (*c != ':' || bracket)
            continue;
        size_t digits = strspn(c + 1, "0123456789");
        if (c[1 + digits] && !strchr("/?,", c[1 + digits]))
            return c;
    }
    return NULL;
}

/* A copy of the text in which *** stands for each value of a parameter whose name ends in
 * "password" (MongoDB: tlsCertificateKeyFilePassword). */
static char *masked_parameters(const char *text)
{
    static const char word[] = "password=";
    struct buffer out = {0};
    for (const char *found; (found = strcasestr(text, word));) {
        size_t length = (size_t)(found - text) + sizeof word - 1;
        buffer_append(&out, text, length);
        buffer_text(&out, "***");
        text += length + strcspn(text + length, "&,");
    }
    buffer_text(&out, text);
    return buffer_steal(&out);
}

/* The password of "scheme://[user]:password@host" goes from the first colon of the authority to
 * the text's last '@': a password may hold any byte by mistake, and rather too much is hidden. */
char *server_text_masked(const char *text)
{
    const char *authority = strstr(text, "://");
    if (!authority)
        return memory_text(text);
    authority += 3;
    const char *at = strrchr(authority, '@');
    const char *colon = at ? memchr(authority, ':', (size_t)(at - authority)) : no_port(authority);
    if (!colon)
        return masked_parameters(text);
    char *rest = masked_parameters(at ? at : "");
    char *all = memory_format("%.*s:***%s", (int)(colon - text), text, rest);
    free(rest);
    return all;
}

static bool looks_like_version(const char *text)
{
    bool dot = false;
    if (!isdigit((unsigned char)*text))
        return false;
    for (; *text; text++) {
        if (*text == '.')
            dot = true;
        else if (!isalnum((unsigned char)*text) && *text != '-')
            return false;
    }
    return dot;
}

struct server_options {
    char *engine, *allocator;
    int64_t quantum, page_size, cache_oblivious;
};

static const struct option_spec server_option_specs[] = {
    {"engine", OPTION_TEXT, offsetof(struct server_options, engine), 0, 0, NULL, "memory or disk"},
    {"allocator", OPTION_TEXT, offsetof(struct server_options, allocator), 0, 0, NULL,
     "of a version: jemalloc-5.3.0, libc"},
    {"quantum", OPTION_INTEGER, offsetof(struct server_options, quantum), 8, 64, NULL,
     "jemalloc's spacing of small classes: 8 or 16"},
    {"page", OPTION_INTEGER, offsetof(struct server_options, page_size), 4096, 65536, NULL,
     "jemalloc's page"},
    {"cache-oblivious", OPTION_INTEGER, offsetof(struct server_options, cache_oblivious), 0, 1,
     NULL, "whether jemalloc pads large blocks"},
    {0}};

static bool known_option(const char *text)
{
    size_t length = strcspn(text, "=,");
    if (text[length] != '=')
        return false;
    for (size_t i = 0; server_option_specs[i].name; i++)
        if (strlen(server_option_specs[i].name) == length &&
            memcmp(server_option_specs[i].name, text, length) == 0)
            return true;
    return false;
}

/* Splits known options off from the right: a URL may hold commas of its own. Returns where they
 * begin (at the comma), or NULL. */
static char *find_options(char *target)
{
    char *options = NULL;
    for (char *end = target + strlen(target);;) {
        char *comma = NULL;
        for (char *c = target; c < end; c++)
            if (*c == ',')
                comma = c;
        if (!comma || !known_option(comma + 1))
            return options;
        options = comma;
        end = comma;
    }
}

static int check_engine(const struct server_spec *spec, struct tare_error *error)
{
    if (!spec->engine)
        return 0;
    if (!spec->kind->engines)
        return error_set(error, TARE_USAGE, "--server '%s': '%s' servers have no engines",
                         spec->text, spec->kind->name);
    for (size_t i = 0; spec->kind->engines[i]; i++)
        if (strcmp(spec->kind->engines[i], spec->engine) == 0)
            return 0;
    char *subject = memory_format("--server '%s'", spec->text);
    error_unknown(error, "engine", spec->engine, spec->kind->engines, subject);
    free(subject);
    return -1;
}

int server_spec_parse(const char *text, struct server_spec *spec, struct tare_error *error)
{
    *spec = (struct server_spec){.text = server_text_masked(text), .cache_oblivious = -1};
    const char *equals = strchr(text, '='), *scheme = strstr(text, "://");
    /* A URL without a kind may hold a '=' of its own, behind a password. */
    if (!equals || equals == text || (scheme && scheme < equals) || !equals[1] ||
        equals[1] == ',' || known_option(equals + 1))
        return error_set(error, TARE_USAGE,
                         "--server takes KIND=TARGET, as 'redis=redis-server' or "
                         "'redis=redis://localhost:6379/3', not '%s'",
                         spec->text);
    char *name = memory_text_n(text, (size_t)(equals - text));
    spec->kind = store_kind_of_name(name);
    if (!spec->kind) {
        const char *names[16];
        size_t count = 0;
        for (; store_kinds[count] && count < 15; count++)
            names[count] = store_kinds[count]->name;
        names[count] = NULL;
        error_unknown(error, "kind of server", name, names, "--server");
        free(name);
        return -1;
    }
    free(name);
    spec->target = memory_text(equals + 1);
    struct server_options options = {.cache_oblivious = -1};
    char *at = find_options(spec->target);
    int failed = 0;
    if (at) {
        char *subject = memory_format("--server '%s'", spec->text);
        failed = options_parse(server_option_specs, at + 1, &options, subject, error);
        free(subject);
        *at = '\0';
    }
    spec->engine = options.engine;
    spec->allocator = options.allocator;
    spec->quantum = options.quantum;
    spec->page_size = options.page_size;
    spec->cache_oblivious = (int)options.cache_oblivious;
    if (failed)
        return -1;
    if (strstr(spec->target, "://")) {
        spec->target_type = TARGET_URL;
        if (!spec->kind->url_scheme)
            return error_set(error, TARE_USAGE, "--server '%s': a '%s' server has no URL",
                             spec->text, spec->kind->name);
    } else if (looks_like_version(spec->target)) {
        spec->target_type = TARGET_VERSION;
        if (version_number(spec->target) < 0)
            return error_set(error, TARE_USAGE, "--server '%s': '%s' is no version", spec->text,
                             spec->target);
    } else {
        spec->target_type = TARGET_PROGRAM;
        if (!spec->kind->program && strcmp(spec->target, spec->kind->name) != 0)
            return error_set(error, TARE_USAGE,
                             "--server '%s': '%s' is a part of tare and starts no program; say "
                             "'%s=%s', or a version",
                             spec->text, spec->kind->name, spec->kind->name, spec->kind->name);
    }
    if (spec->target_type != TARGET_VERSION &&
        (spec->allocator || spec->quantum || spec->page_size || spec->cache_oblivious >= 0))
        return error_set(error, TARE_USAGE,
                         "--server '%s': allocator, quantum, page and cache-oblivious go with a "
                         "version; a server tells its own",
                         spec->text);
    return check_engine(spec, error);
}

void server_spec_free(struct server_spec *spec)
{
    free(spec->text);
    free(spec->target);
    free(spec->engine);
    free(spec->allocator);
    *spec = (struct server_spec){0};
}

/* ---- finding programs ---------------------------------------------------------------------- */

/* FOLDER/build/servers: under the current directory, and beside tare's own executable. */
static size_t build_folders(char folders[2][PATH_MAX])
{
    size_t count = 0;
    snprintf(folders[count++], PATH_MAX, "build/servers");
    char own[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length > 0) {
        own[length] = '\0';
        char *slash = strrchr(own, '/');
        if (slash)
            *slash = '\0';
        if ((size_t)snprintf(folders[count], PATH_MAX, "%s/build/servers", own) < PATH_MAX)
            count++;
    }
    return count;
}

static char *in_folder(const char *folder, const char *name, const char *program)
{
    char *path = memory_format("%s/%s/%s", folder, name, program);
    if (access(path, X_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* The newest build/servers/KIND-VERSION/PROGRAM. */
static char *find_in_build(const struct store_kind *kind)
{
    char folders[2][PATH_MAX];
    size_t count = build_folders(folders);
    char *best = NULL;
    for (size_t i = 0; !best && i < count; i++) {
        DIR *directory = opendir(folders[i]);
        if (!directory)
            continue;
        char *best_name = NULL;
        size_t prefix = strlen(kind->name);
        for (struct dirent *entry; (entry = readdir(directory));) {
            const char *name = entry->d_name;
            if (strncmp(name, kind->name, prefix) != 0 || name[prefix] != '-')
                continue;
            int number = version_number(name + prefix + 1);
            int best_number = best_name ? version_number(best_name + prefix + 1) : -1;
            /* Of one version's builds the plain one: "redis-8.0.2" before "redis-8.0.2-libc". */
            if (number < best_number || number < 0 ||
                (number == best_number && strcmp(name, best_name) > 0))
                continue;
            char *path = in_folder(folders[i], name, kind->program);
            if (!path)
                continue;
            free(best);
            free(best_name);
            best = path;
            best_name = memory_text(name);
        }
        free(best_name);
        closedir(directory);
    }
    return best;
}

static char *find_program(const struct store_kind *kind, const char *name)
{
    char *path = process_find_program(name);
    if (!path && strcmp(name, kind->program) == 0)
        path = find_in_build(kind);
    return path;
}

int server_spec_default(const struct store_kind *kind, const char *engine, struct server_spec *spec,
                        struct tare_error *error)
{
    *spec = (struct server_spec){.kind = kind, .cache_oblivious = -1};
    spec->target_type = TARGET_PROGRAM;
    spec->engine = memory_text(engine);
    if (kind->program) {
        spec->target = find_program(kind, kind->program);
        if (!spec->target)
            return error_set(error, TARE_USAGE,
                             "no '%s' on PATH or in build/servers: %s, or name one with --server "
                             "%s=PATH",
                             kind->program, kind->install, kind->name);
    } else {
        spec->target = memory_text(kind->name);
    }
    spec->text = memory_format("%s=%s", kind->name, spec->target);
    return check_engine(spec, error);
}

int server_spec_find_version(struct server_spec *spec, struct tare_error *error)
{
    char folders[2][PATH_MAX];
    size_t count = build_folders(folders);
    if (!spec->kind->program)
        return error_set(error, TARE_USAGE,
                         "--server '%s': '%s' is a part of tare, of one version alone; 'tare plan' "
                         "takes others",
                         spec->text, spec->kind->name);
    char *name = memory_format("%s-%s", spec->kind->name, spec->target);
    char *path = NULL;
    for (size_t i = 0; !path && i < count; i++)
        path = in_folder(folders[i], name, spec->kind->program);
    free(name);
    if (!path)
        return error_set(error, TARE_USAGE,
                         "--server '%s': version %s is not in build/servers; './setup.sh servers "
                         "%s-%s' gets it where it can be had, or name a program",
                         spec->text, spec->target, spec->kind->name, spec->target);
    free(spec->target);
    spec->target = path;
    spec->target_type = TARGET_PROGRAM;
    return 0;
}

int server_spec_find_program(struct server_spec *spec, struct tare_error *error)
{
    if (spec->target_type != TARGET_PROGRAM || !spec->kind->program)
        return 0;
    char *path = find_program(spec->kind, spec->target);
    if (!path)
        return error_set(error, TARE_USAGE, "--server '%s': there is no program '%s' to run: %s",
                         spec->text, spec->target, spec->kind->install);
    free(spec->target);
    spec->target = path;
    return 0;
}

int server_spec_plan_default(const struct store_kind *kind, struct server_spec *spec,
                             struct tare_error *error)
{
    struct tare_error ignored = {0};
    if (server_spec_default(kind, NULL, spec, &ignored) == 0)
        return 0;
    server_spec_free(spec);
    if (!kind->plan_version) {
        *error = ignored;
        return -1;
    }
    char *text = memory_format("%s=%s", kind->name, kind->plan_version);
    int failed = server_spec_parse(text, spec, error);
    free(text);
    return failed;
}

/* ---- builds -------------------------------------------------------------------------------- */

static int build_of_program(const struct server_spec *spec, struct build *build,
                            struct tare_error *error)
{
    char *path = find_program(spec->kind, spec->target);
    if (!path)
        return error_set(error, TARE_USAGE, "--server '%s': no program '%s' is there: %s",
                         spec->text, spec->target, spec->kind->install);
    char option[] = "--version";
    char *arguments[] = {path, option, NULL};
    struct buffer out = {0};
    int failed = process_capture(arguments, 5000, &out, error);
    if (!failed)
        failed = spec->kind->build_of_version_text(path, out.data ? out.data : "", build, error);
    buffer_free(&out);
    free(path);
    return failed;
}

static int build_of_url(const struct server_spec *spec, struct build *build,
                        struct tare_error *error)
{
    const struct store_limits limits = {.read_only = true};
    const struct figures none = {0};
    struct store *store = spec->kind->open(spec, &none, &limits, error);
    if (!store)
        return -1;
    int failed = spec->kind->describe(store, build, error);
    store->kind->close(store);
    return failed;
}

int server_spec_build(const struct server_spec *spec, struct build *build, struct tare_error *error)
{
    *build = (struct build){.cache_oblivious = -1};
    snprintf(build->store, sizeof build->store, "%s", spec->kind->name);
    int failed = 0;
    if (spec->target_type == TARGET_URL) {
        failed = build_of_url(spec, build, error);
    } else if (spec->target_type == TARGET_PROGRAM && spec->kind->program) {
        failed = build_of_program(spec, build, error);
    } else if (spec->target_type == TARGET_PROGRAM && spec->kind->own_build) {
        spec->kind->own_build(build);
    } else {
        snprintf(build->version, sizeof build->version, "%s",
                 spec->target_type == TARGET_VERSION ? spec->target : "0.0.0");
        build->number = version_number(build->version);
        if (spec->allocator)
            snprintf(build->allocator, sizeof build->allocator, "%s", spec->allocator);
        build->quantum = (int)spec->quantum;
        build->page_size = (int)spec->page_size;
        build->cache_oblivious = spec->cache_oblivious;
    }
    if (failed)
        return -1;
    const char *engine = spec->engine;
    if (!engine && spec->kind->engines)
        engine = spec->kind->engines[0];
    if (engine && !build->engine[0])
        snprintf(build->engine, sizeof build->engine, "%s", engine);
    build_defaults(build);
    return 0;
}

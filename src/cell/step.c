#include "cell/step.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

extern const struct cell_step_kind cell_step_read, cell_step_update, cell_step_miss,
    cell_step_workload, cell_step_reload, cell_step_restart;

/* Rehearsed from the last to the first: what restart leaves is a new process, in which a reload's
 * traces must be too. */
const struct cell_step_kind *const cell_step_kinds[] = {
    &cell_step_load,   &cell_step_settle,  &cell_step_read,
    &cell_step_update, &cell_step_miss,    &cell_step_workload,
    &cell_step_reload, &cell_step_restart, NULL,
};

#define STEP_KINDS (sizeof cell_step_kinds / sizeof cell_step_kinds[0])

int cell_step_table_check(const struct cell_step_kind *const kinds[], struct tare_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const struct cell_step_kind *kind = kinds[i];
        if (!kind->name || !kind->state || !kind->summary || !kind->run || !kind->forecast ||
            (kind->value && !kind->parse) || !kind->options != !kind->settings_size ||
            !kind->options != !kind->defaults)
            return error_set(error, TARE_USAGE, "internal: kind of step %zu is incomplete", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "internal: kind of step '%s' is there twice",
                                 kind->name);
    }
    return 0;
}

int cell_step_kinds_check(struct tare_error *error)
{
    return cell_step_table_check(cell_step_kinds, error);
}

static bool state_taken(const struct cell_steps *steps, const char *state)
{
    for (size_t i = 0; i < steps->count; i++)
        if (strcmp(steps->items[i].state, state) == 0)
            return true;
    return false;
}

/* The state itself, or the first of state-2, state-3, ... that is free. Takes it over. */
static char *free_state(const struct cell_steps *steps, char *state)
{
    char *label = state;
    for (int number = 2; state_taken(steps, label); number++) {
        if (label != state)
            free(label);
        label = memory_format("%s-%d", state, number);
    }
    if (label != state)
        free(state);
    return label;
}

static const struct cell_step_kind *kind_of_name(const char *name, const char *what,
                                                 struct tare_error *error)
{
    const char *names[STEP_KINDS] = {NULL};
    for (size_t i = 0; cell_step_kinds[i]; i++) {
        if (strcmp(cell_step_kinds[i]->name, name) == 0)
            return cell_step_kinds[i];
        names[i] = cell_step_kinds[i]->name;
    }
    error_unknown(error, "step", name, names, what);
    return NULL;
}

static int parse_options(const struct cell_step *step, char *options, struct tare_error *error)
{
    char *subject = memory_format("step '%s'", step->kind->name);
    for (char *colon = options; (colon = strchr(colon, ':'));)
        *colon = ',';
    int failed = options_parse(step->kind->options, options, step->settings, subject, error);
    free(subject);
    return failed;
}

/* What stands behind the name: "=VALUE", ":k=v...", both, or nothing. */
static int parse_rest(struct cell_step *step, char *rest, struct tare_error *error)
{
    const struct cell_step_kind *kind = step->kind;
    char *value = *rest == '=' ? rest + 1 : NULL, *options = NULL;
    if (*rest == ':') {
        options = rest + 1;
    } else if (value && kind->options) {
        /* A path may hold colons. */
        const char *behind = options_behind(kind->options, value, ":");
        if (behind) {
            options = value + (behind - value);
            options[-1] = '\0';
        }
    }
    if (options && !kind->options)
        return error_set(error, TARE_USAGE, "step '%s' takes no options, and '%s' was given",
                         kind->name, options);
    if (value && !kind->value)
        return error_set(error, TARE_USAGE, "step '%s' takes no value, and '%s' was given",
                         kind->name, value);
    if (kind->options) {
        step->settings = memory_new(kind->settings_size);
        kind->defaults(step->settings);
    }
    if (options && parse_options(step, options, error))
        return -1;
    return kind->parse ? kind->parse(step, value, error) : 0;
}

static void step_free(struct cell_step *step)
{
    if (step->kind->options)
        options_free(step->kind->options, step->settings);
    free(step->settings);
    free(step->state);
    free(step->text);
}

static int add_one(struct cell_steps *steps, const char *text, const char *what,
                   struct tare_error *error)
{
    size_t length = strcspn(text, "=:");
    char *name = memory_text_n(text, length);
    const struct cell_step_kind *kind = kind_of_name(name, what, error);
    free(name);
    if (!kind)
        return -1;
    const char *list = what ? what : "a list of steps";
    if (steps->count == 0 && kind != &cell_step_load)
        return error_set(error, TARE_USAGE, "%s begins with load, not '%s'", list, kind->name);
    if (steps->count > 0 && kind == &cell_step_load)
        return error_set(error, TARE_USAGE, "%s names 'load' twice", list);
    struct cell_step step = {
        .kind = kind, .text = memory_text(text), .state = memory_text(kind->state)};
    char *rest = memory_text(text + length);
    int failed = parse_rest(&step, rest, error);
    free(rest);
    if (failed) {
        step_free(&step);
        return -1;
    }
    step.state = free_state(steps, step.state);
    MEMORY_GROW(steps->items, steps->count, steps->capacity);
    steps->items[steps->count++] = step;
    return 0;
}

#define THREADS ":threads="

int cell_steps_add(struct cell_steps *steps, const char *text, const char *what,
                   struct tare_error *error)
{
    const char *list = strstr(text, THREADS);
    if (!list)
        return add_one(steps, text, what, error);
    list += strlen(THREADS);
    size_t before = (size_t)(list - text), length = strcspn(list, ":");
    for (size_t at = 0; at <= length;) {
        size_t digits = strcspn(list + at, "/:");
        char *one =
            memory_format("%.*s%.*s%s", (int)before, text, (int)digits, list + at, list + length);
        int failed = add_one(steps, one, what, error);
        free(one);
        if (failed)
            return -1;
        at += digits + 1;
    }
    return 0;
}

int cell_steps_parse(struct cell_steps *steps, const char *text, struct tare_error *error)
{
    while (1) {
        size_t length = strcspn(text, ",");
        char *name = memory_text_n(text, length);
        int failed = cell_steps_add(steps, name, "--steps", error);
        free(name);
        if (failed)
            return -1;
        if (text[length] == '\0')
            return 0;
        text += length + 1;
    }
}

int cell_step_unknown_to(const struct cell_step *step, const struct server_spec *server,
                         struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "step '%s' is not there for '%s' servers", step->kind->name,
                     server->kind->name);
}

int cell_step_own_server(const struct cell_step *step, const struct server_spec *server,
                         struct tare_error *error)
{
    if (server->target_type != TARGET_URL)
        return 0;
    return error_set(error, TARE_USAGE,
                     "step '%s' is for servers that tare starts; '%s' is left as it is",
                     step->kind->name, server->text);
}

int cell_steps_check(const struct cell_steps *steps, const struct server_spec *server,
                     const struct encoding *encoding, struct tare_error *error)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct cell_step *step = &steps->items[i];
        if (step->kind->check && step->kind->check(step, server, encoding, error))
            return -1;
    }
    return 0;
}

bool cell_steps_have(const struct cell_steps *steps, const struct cell_step_kind *kind)
{
    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].kind == kind)
            return true;
    return false;
}

void cell_steps_free(struct cell_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++)
        step_free(&steps->items[i]);
    free(steps->items);
    *steps = (struct cell_steps){0};
}

#include "cell/step.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

const char *const cell_step_names[] = {"load", "settle", "read", "reload", "restart", NULL};
const char *const cell_state_names[] = {"loaded", "settled", "read", "reloaded", "restarted", NULL};

static bool state_taken(const struct cell_steps *steps, const char *state)
{
    for (size_t i = 0; i < steps->count; i++)
        if (strcmp(steps->items[i].state, state) == 0)
            return true;
    return false;
}

/* The state itself, or the first of state-2, state-3, ... that is free. The caller frees. */
static char *free_state(const struct cell_steps *steps, const char *state)
{
    char *label = memory_text(state);
    for (int number = 2; state_taken(steps, label); number++) {
        free(label);
        label = memory_format("%s-%d", state, number);
    }
    return label;
}

int cell_steps_add(struct cell_steps *steps, const char *name, const char *what,
                   struct tare_error *error)
{
    const char *list = what ? what : "a list of steps";
    int type = 0;
    while (cell_step_names[type] && strcmp(cell_step_names[type], name) != 0)
        type++;
    if (!cell_step_names[type])
        return error_unknown(error, "step", name, cell_step_names, what);
    if (steps->count == 0 && type != STEP_LOAD)
        return error_set(error, TARE_USAGE, "%s begins with load, not '%s'", list, name);
    if (steps->count > 0 && type == STEP_LOAD)
        return error_set(error, TARE_USAGE, "%s names 'load' twice", list);
    char *state = free_state(steps, cell_state_names[type]);
    MEMORY_GROW(steps->items, steps->count, steps->capacity);
    steps->items[steps->count++] = (struct cell_step){.type = (enum step_type)type, .state = state};
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

int cell_steps_check(const struct cell_steps *steps, const struct server_spec *server,
                     struct tare_error *error)
{
    const struct store_kind *kind = server->kind;
    for (size_t i = 0; i < steps->count; i++) {
        enum step_type type = steps->items[i].type;
        if ((type == STEP_READ && !kind->read_all) || (type == STEP_RELOAD && !kind->reload) ||
            (type == STEP_RESTART && !kind->restart))
            return error_set(error, TARE_USAGE, "step '%s' is not there for '%s' servers",
                             cell_step_names[type], kind->name);
        if ((type == STEP_RELOAD || type == STEP_RESTART) && server->target_type == TARGET_URL)
            return error_set(error, TARE_USAGE,
                             "step '%s' is for servers that tare starts; '%s' is left as it is",
                             cell_step_names[type], server->text);
    }
    return 0;
}

bool cell_steps_have(const struct cell_steps *steps, enum step_type type)
{
    for (size_t i = 0; i < steps->count; i++)
        if (steps->items[i].type == type)
            return true;
    return false;
}

void cell_steps_free(struct cell_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++)
        free(steps->items[i].state);
    free(steps->items);
    *steps = (struct cell_steps){0};
}

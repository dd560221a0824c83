/* short: fields by names of one or two characters, "a" for "created_at", as people do who keep the
 * mapping beside the data. Learned from a sample: the more often a name stands in it, the shorter
 * it becomes; a name stays as it is where the mapping would cost more than it saves. The mapping is
 * kept once, as a record of short names and the long ones.
 *
 *   mapping   {"a":"created_at","b":"name"}
 *   record    {"created_at":1,"name":"x","n":2,"b":3}  ->  {"a":1,"b":"x","n":2,"~b":3}
 *
 * A name that is not in the mapping and could be read as a short one, or begins with the mark, gets
 * the mark in front: any record is carried. */
#include <stdlib.h>

#include "encoders/names.h"
#include "encoders/reading.h"

#define MARK '~'

/* Different names that are looked at while learning: a data set may have a name a record. */
#define NAMES_MOST 65536
/* What the mapping holds of a name beside it and its short one, as JSON: "":"", */
#define MAPPING_FRAME 6

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
#define LETTERS     (sizeof letters - 1)
#define CODES_COUNT (LETTERS + LETTERS * LETTERS)

struct short_state {
    struct names seen;         /* while learning: count is how often */
    struct names longs, codes; /* other: the short name of a long one, and back */
};

static void short_close(const struct step *step)
{
    struct short_state *state = step->state;
    names_free(&state->seen);
    names_free(&state->longs);
    names_free(&state->codes);
}

static void map_name(struct short_state *state, struct slice name, struct slice code)
{
    struct name *to = names_add(&state->longs, name), *from = names_add(&state->codes, code);
    to->other = from->text;
    from->other = to->text;
}

static void see_names(struct names *seen, const struct member *members, size_t count, bool named,
                      int depth)
{
    for (size_t i = 0; i < count && depth <= ENCODING_DEPTH_MAX; i++) {
        /* MongoDB's name for the key has to stay. */
        bool kept = !named || slice_is(members[i].name, "_id");
        struct name *name = kept                       ? NULL
                            : seen->count < NAMES_MOST ? names_add(seen, members[i].name)
                                                       : names_find(seen, members[i].name);
        if (name)
            name->count++;
        const struct value *value = &members[i].value;
        if (value->type == VALUE_ARRAY || value->type == VALUE_OBJECT)
            see_names(seen, value->as.children.items, value->as.children.count,
                      value->type == VALUE_OBJECT, depth + 1);
    }
}

static int short_learn(const struct step *step, const struct item *in, struct tare_error *error)
{
    struct short_state *state = step->state;
    (void)error;
    see_names(&state->seen, in->record->fields, in->record->field_count, true, 1);
    return 0;
}

/* The next code that no name of the data has; its length, 0 where there is none left. */
static size_t next_code(const struct short_state *state, size_t *number, char code[2])
{
    while (*number < CODES_COUNT) {
        size_t of_two = *number - LETTERS, length = *number < LETTERS ? 1 : 2;
        code[0] = letters[length == 1 ? *number : of_two / LETTERS];
        code[1] = letters[length == 1 ? 0 : of_two % LETTERS];
        ++*number;
        if (!names_find(&state->seen, slice_of(code, length)))
            return length;
    }
    return 0;
}

static int by_count(const void *a, const void *b)
{
    const struct name *x = *(const struct name *const *)a, *y = *(const struct name *const *)b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x < y ? -1 : 1; /* as they came */
}

static int short_learned(const struct step *step, double records_each, struct tare_error *error)
{
    struct short_state *state = step->state;
    size_t count = state->seen.count, number = 0, length = 0;
    const struct name **order = memory_new((count + 1) * sizeof *order);
    char code[2];
    (void)error;
    for (size_t i = 0; i < count; i++)
        order[i] = &state->seen.items[i];
    qsort(order, count, sizeof *order, by_count);
    for (size_t i = 0; i < count; i++) {
        struct slice name = order[i]->text;
        if (length == 0)
            length = next_code(state, &number, code);
        if (length == 0)
            break;
        double saved =
            (double)order[i]->count * records_each * ((double)name.length - (double)length);
        if (saved <= (double)(name.length + length + MAPPING_FRAME))
            continue;
        map_name(state, name, slice_of(code, length));
        length = 0;
    }
    free(order);
    names_free(&state->seen);
    return 0;
}

/* The name in the arena, with the mark in front. */
static struct slice marked(struct arena *arena, struct slice name)
{
    char *text = arena_take(arena, name.length + 1);
    text[0] = MARK;
    if (name.length)
        memcpy(text + 1, name.bytes, name.length);
    return slice_of(text, name.length + 1);
}

static struct slice short_of(const struct short_state *state, struct arena *arena,
                             struct slice name)
{
    const struct name *mapped = names_find(&state->longs, name);
    if (mapped)
        return mapped->other;
    bool taken = (name.length && name.bytes[0] == MARK) || names_find(&state->codes, name);
    return taken ? marked(arena, name) : name;
}

static struct slice long_of(const struct short_state *state, struct arena *arena, struct slice name)
{
    (void)arena;
    const struct name *mapped = names_find(&state->codes, name);
    if (mapped)
        return mapped->other;
    return name.length && name.bytes[0] == MARK ? slice_of(name.bytes + 1, name.length - 1) : name;
}

typedef struct slice rename_function(const struct short_state *state, struct arena *arena,
                                     struct slice name);

/* A copy of the members under other names, objects inside them too. */
static int rename_members(const struct short_state *state, rename_function *rename,
                          struct arena *arena, struct member **members, size_t count, bool named,
                          int depth, struct tare_error *error)
{
    if (depth > ENCODING_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than %d levels", ENCODING_DEPTH_MAX);
    struct member *copy = arena_take(arena, count * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = (*members)[i];
        struct value *value = &copy[i].value;
        if (named)
            copy[i].name = rename(state, arena, copy[i].name);
        if ((value->type == VALUE_ARRAY || value->type == VALUE_OBJECT) &&
            rename_members(state, rename, arena, &value->as.children.items,
                           value->as.children.count, value->type == VALUE_OBJECT, depth + 1, error))
            return -1;
    }
    *members = copy;
    return 0;
}

static int rename_record(const struct step *step, rename_function *rename, struct arena *arena,
                         const struct item *in, struct item *out, struct tare_error *error)
{
    struct record *record = arena_take(arena, sizeof *record);
    *record = *in->record;
    out->record = record;
    return rename_members(step->state, rename, arena, &record->fields, record->field_count, true, 1,
                          error);
}

static int short_apply(const struct step *step, struct arena *arena, const struct item *in,
                       struct item *out, struct tare_error *error)
{
    return rename_record(step, short_of, arena, in, out, error);
}

static int short_undo(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    return rename_record(step, long_of, arena, in, out, error);
}

static int short_table(const struct step *step, struct arena *arena, struct item *out,
                       struct tare_error *error)
{
    const struct short_state *state = step->state;
    struct record *record = arena_take(arena, sizeof *record);
    size_t count = state->codes.count;
    (void)error;
    *record = (struct record){.key = slice_of("", 0),
                              .fields = arena_take(arena, count * sizeof *record->fields),
                              .field_count = count};
    for (size_t i = 0; i < count; i++)
        record->fields[i] =
            (struct member){state->codes.items[i].text,
                            {.type = VALUE_TEXT, .as.text = state->codes.items[i].other}};
    out->form = FORM_RECORD;
    out->record = record;
    return 0;
}

static int short_load(const struct step *step, struct arena *arena, const struct item *table,
                      struct tare_error *error)
{
    struct short_state *state = step->state;
    (void)arena;
    short_close(step);
    for (size_t i = 0; i < table->record->field_count; i++) {
        const struct member *member = &table->record->fields[i];
        if (member->value.type != VALUE_TEXT || names_find(&state->longs, member->value.as.text) ||
            names_find(&state->codes, member->name))
            return error_set(error, TARE_USAGE, "short: no mapping of short names to long ones");
        map_name(state, member->value.as.text, member->name);
    }
    return 0;
}

const struct step_kind step_short = {
    .name = "short",
    .summary = "fields by short names; the mapping is kept once",
    .takes = FORM_RECORD,
    .gives = FORM_RECORD,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = short_apply,
    .undo = short_undo,
    .state_size = sizeof(struct short_state),
    .close = short_close,
    .learn = short_learn,
    .learned = short_learned,
    .table = short_table,
    .load = short_load,
};

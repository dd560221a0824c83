/* msgpack-array: a record as one MessagePack array of its values, the names left out, as
 * serialisers with typed classes write it. The schema is learned from a sample and kept once: an
 * example of a record, with nil for what is neither an object nor an array of objects.
 *
 *   schema   {"id": nil, "address": {"street": nil, "zip": nil}, "items": [{"sku": nil}]}
 *   record   [7, ["Main St", "123"], [["a"], ["b"]]]
 *
 * Any record is carried: an object with other names than its schema's, or in another order, stays a
 * map; an array where the schema has an object stands alone in an array of one (of two, the second
 * nil, where the schema's object has one name). */
#include <stdlib.h>

#include "encoders/msgpack_value.h"
#include "encoders/names.h"
#include "encoders/reading.h"

/* Levels of a schema; what is deeper keeps its names. */
#define SCHEMA_DEPTH_MAX (MSGPACK_DEPTH_MORE - 1)
/* Bounds of what is remembered while learning: positions in all, lists of names at one. */
#define POSITIONS_MOST 4096
#define LISTS_MOST     16

/* A schema: of an object its names and what is known of each value; of an array what is known of
 * its elements. */
struct schema {
    bool is_array; /* and then count is 1 and names is NULL */
    size_t count;
    struct slice *names;
    struct schema **children; /* NULL where nothing is known */
};

/* While learning: what stood at a position. */
struct name_list {
    struct slice *names;
    size_t length;
    int64_t count;
};

struct position {
    int64_t objects, arrays;
    struct name_list lists[LISTS_MOST];
    size_t list_count;
    struct names fields;        /* count of a name is the place of its position + 1 */
    struct position **children; /* of the names; places from 0 */
    size_t child_count, child_capacity;
    struct position *element;
};

struct array_state {
    struct schema *schema; /* NULL: none; every record keeps its names */
    struct position *root; /* while learning */
    size_t position_count;
};

static struct slice own_copy(struct slice text)
{
    return slice_of(memory_text_n(text.length ? text.bytes : "", text.length), text.length);
}

static void free_names(struct slice *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((char *)(uintptr_t)names[i].bytes);
    free(names);
}

static void schema_free(struct schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->count; i++)
        schema_free(schema->children[i]);
    if (schema->names)
        free_names(schema->names, schema->count);
    free(schema->children);
    free(schema);
}

static void position_free(struct position *position)
{
    if (!position)
        return;
    for (size_t i = 0; i < position->list_count; i++)
        free_names(position->lists[i].names, position->lists[i].length);
    for (size_t i = 0; i < position->child_count; i++)
        position_free(position->children[i]);
    free(position->children);
    names_free(&position->fields);
    position_free(position->element);
    free(position);
}

static void array_close(const struct step *step)
{
    struct array_state *state = step->state;
    schema_free(state->schema);
    position_free(state->root);
    *state = (struct array_state){0};
}

/* Learning. */

static struct position *new_position(struct array_state *state)
{
    if (state->position_count == POSITIONS_MOST)
        return NULL;
    state->position_count++;
    return memory_new(sizeof(struct position));
}

static bool names_match(const struct slice *names, size_t length, const struct member *members,
                        size_t count)
{
    if (length != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!slice_equal(names[i], members[i].name))
            return false;
    return true;
}

/* True where the list is one of those that are remembered. */
static bool see_list(struct position *position, const struct member *members, size_t count)
{
    for (size_t i = 0; i < position->list_count; i++)
        if (names_match(position->lists[i].names, position->lists[i].length, members, count)) {
            position->lists[i].count++;
            return true;
        }
    if (position->list_count == LISTS_MOST)
        return false;
    struct name_list *list = &position->lists[position->list_count++];
    *list = (struct name_list){memory_new((count + 1) * sizeof *list->names), count, 1};
    for (size_t i = 0; i < count; i++)
        list->names[i] = own_copy(members[i].name);
    return true;
}

static struct position *child_position(struct array_state *state, struct position *position,
                                       struct slice text)
{
    struct name *name = names_add(&position->fields, text);
    if (name->count == 0) {
        struct position *child = new_position(state);
        if (!child)
            return NULL;
        MEMORY_GROW(position->children, position->child_count, position->child_capacity);
        position->children[position->child_count++] = child;
        name->count = (int64_t)position->child_count;
    }
    return position->children[name->count - 1];
}

static void see_value(struct array_state *state, struct position *position,
                      const struct value *value, int depth)
{
    size_t count = value->as.children.count;
    if (!position || depth > SCHEMA_DEPTH_MAX)
        return;
    if (value->type == VALUE_OBJECT) {
        position->objects++;
        if (!see_list(position, value->as.children.items, count))
            return;
    } else if (value->type == VALUE_ARRAY) {
        position->arrays++;
        if (count && !position->element)
            position->element = new_position(state);
    } else {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &value->as.children.items[i];
        if (member->value.type != VALUE_OBJECT && member->value.type != VALUE_ARRAY)
            continue;
        see_value(state,
                  value->type == VALUE_ARRAY ? position->element
                                             : child_position(state, position, member->name),
                  &member->value, depth + 1);
    }
}

static struct value record_value(const struct record *record)
{
    return (struct value){.type = VALUE_OBJECT,
                          .as.children = {record->fields, record->field_count}};
}

static int array_learn(const struct step *step, const struct item *in, struct tare_error *error)
{
    struct array_state *state = step->state;
    struct value value = record_value(in->record);
    (void)error;
    if (!state->root)
        state->root = new_position(state);
    see_value(state, state->root, &value, 1);
    return 0;
}

static struct schema *schema_new(size_t count)
{
    struct schema *schema = memory_new(sizeof *schema);
    schema->count = count;
    schema->children = memory_new((count + 1) * sizeof(struct schema *));
    return schema;
}

/* The commonest object that stood there, unless it is so rare that its names cost as much in the
 * schema as in the records. */
static struct schema *schema_of(const struct position *position, double records_each)
{
    const struct name_list *best = NULL;
    if (!position)
        return NULL;
    if (position->arrays > position->objects) {
        struct schema *element = schema_of(position->element, records_each);
        if (!element)
            return NULL;
        struct schema *schema = schema_new(1);
        schema->is_array = true;
        schema->children[0] = element;
        return schema;
    }
    for (size_t i = 0; i < position->list_count; i++)
        if (!best || position->lists[i].count > best->count)
            best = &position->lists[i];
    if (!best || (double)best->count * records_each < 2)
        return NULL;
    struct schema *schema = schema_new(best->length);
    schema->names = memory_new((best->length + 1) * sizeof *schema->names);
    for (size_t i = 0; i < best->length; i++) {
        schema->names[i] = own_copy(best->names[i]);
        const struct name *name = names_find(&position->fields, best->names[i]);
        if (name && name->count)
            schema->children[i] = schema_of(position->children[name->count - 1], records_each);
    }
    return schema;
}

static int array_learned(const struct step *step, double records_each, struct tare_error *error)
{
    struct array_state *state = step->state;
    (void)error;
    state->schema = schema_of(state->root, records_each);
    position_free(state->root);
    state->root = NULL;
    return 0;
}

/* Writing. */

/* What stands around an array where the schema has an object. */
static size_t wrapping(const struct schema *schema)
{
    return schema->count == 1 ? 2 : 1;
}

static int put_by_schema(struct buffer *out, const struct value *value, const struct schema *schema,
                         int depth, struct counted *counted, struct tare_error *error)
{
    const struct member *members = value->as.children.items;
    size_t count = value->as.children.count;
    bool object = value->type == VALUE_OBJECT, array = value->type == VALUE_ARRAY;
    if (schema && !schema->is_array && array) {
        static const struct value nil = {.type = VALUE_NULL};
        msgpack_format.head(out, false, wrapping(schema));
        if (wrapping(schema) == 2) { /* the nil's bytes are framing: it is none of the record's */
            if (tree_put_value(&msgpack_format, out, value, depth - 1, counted, error))
                return -1;
            msgpack_format.plain(out, &nil);
            return 0;
        }
        return tree_put_value(&msgpack_format, out, value, depth - 1, counted, error);
    }
    bool fits = schema && (schema->is_array ? array
                                            : object && names_match(schema->names, schema->count,
                                                                    members, count));
    if (!fits && depth == 1) /* the record itself: its fields are named in errors */
        return tree_put_members(&msgpack_format, out, members, count, true, depth, counted, error);
    if (!fits)
        return tree_put_value(&msgpack_format, out, value, depth - 1, counted, error);
    msgpack_format.head(out, false, count);
    for (size_t i = 0; i < count; i++)
        if (put_by_schema(out, &members[i].value, schema->children[schema->is_array ? 0 : i],
                          depth + 1, counted, error)) {
            char shown[SLICE_SHOW_SIZE];
            return depth == 1
                       ? error_prefix(error, "field '%s'", slice_show(members[i].name, shown))
                       : -1;
        }
    return 0;
}

static int array_apply(const struct step *step, struct arena *arena, const struct item *in,
                       struct item *out, struct tare_error *error)
{
    const struct array_state *state = step->state;
    struct value value = record_value(in->record);
    (void)arena;
    if (put_by_schema(&out->bytes, &value, state->schema, 1, &out->counted, error))
        return -1;
    tree_count_heads(out);
    return 0;
}

/* Reading: the arrays that stand for objects get their names back. */

static int name_by_schema(struct value *value, const struct schema *schema,
                          struct tare_error *error)
{
    if (!schema || value->type != VALUE_ARRAY)
        return 0;
    struct member *members = value->as.children.items;
    size_t count = value->as.children.count;
    if (!schema->is_array && count != schema->count) {
        if (count != wrapping(schema) || members[0].value.type != VALUE_ARRAY)
            return error_set(error, TARE_USAGE,
                             "msgpack-array: an array of %zu where the schema has %zu names", count,
                             schema->count);
        *value = members[0].value;
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (name_by_schema(&members[i].value, schema->children[schema->is_array ? 0 : i], error))
            return -1;
        if (!schema->is_array)
            members[i].name = schema->names[i];
    }
    if (!schema->is_array)
        value->type = VALUE_OBJECT;
    return 0;
}

static int array_undo(const struct step *step, struct arena *arena, const struct item *in,
                      struct item *out, struct tare_error *error)
{
    const struct array_state *state = step->state;
    struct value value;
    if (msgpack_get_value(buffer_slice(&in->bytes), arena, "msgpack-array", &value, error) ||
        name_by_schema(&value, state->schema, error))
        return -1;
    return reading_record(&value, arena, "msgpack-array: neither a map nor the schema's array", out,
                          error);
}

/* The schema as a value, and back. */

static struct value schema_value(const struct schema *schema, struct arena *arena)
{
    if (!schema)
        return (struct value){.type = VALUE_NULL};
    struct value value = {.type = schema->is_array ? VALUE_ARRAY : VALUE_OBJECT};
    value.as.children.count = schema->count;
    value.as.children.items = arena_take(arena, schema->count * sizeof(struct member));
    for (size_t i = 0; i < schema->count; i++)
        value.as.children.items[i] = (struct member){
            schema->is_array ? slice_of("", 0) : schema->names[i],
            schema_value(schema->children[i], arena),
        };
    return value;
}

static struct schema *schema_read(const struct value *value, bool *wrong, int depth)
{
    size_t count = value->as.children.count;
    bool array = value->type == VALUE_ARRAY;
    if (value->type == VALUE_NULL)
        return NULL;
    if (depth > SCHEMA_DEPTH_MAX || (array ? count != 1 : value->type != VALUE_OBJECT)) {
        *wrong = true;
        return NULL;
    }
    struct schema *schema = schema_new(count);
    schema->is_array = array;
    if (!array)
        schema->names = memory_new((count + 1) * sizeof *schema->names);
    for (size_t i = 0; i < count; i++) {
        const struct member *member = &value->as.children.items[i];
        if (!array)
            schema->names[i] = own_copy(member->name);
        schema->children[i] = schema_read(&member->value, wrong, depth + 1);
    }
    return schema;
}

static int array_table(const struct step *step, struct arena *arena, struct item *out,
                       struct tare_error *error)
{
    const struct array_state *state = step->state;
    struct value value = schema_value(state->schema, arena);
    struct counted ignored = {0};
    struct buffer bytes = {0};
    int failed = tree_put_value(&msgpack_format, &bytes, &value, 0, &ignored, error);
    if (!failed) {
        out->bytes = (struct buffer){.data = arena_copy(arena, bytes.data, bytes.length),
                                     .length = bytes.length};
        out->counted.framing = (int64_t)bytes.length;
    }
    buffer_free(&bytes);
    return failed;
}

static int array_load(const struct step *step, struct arena *arena, const struct item *table,
                      struct tare_error *error)
{
    struct array_state *state = step->state;
    struct value value;
    bool wrong = false;
    array_close(step);
    if (msgpack_get_value(buffer_slice(&table->bytes), arena, "msgpack-array", &value, error))
        return -1;
    state->schema = schema_read(&value, &wrong, 1);
    return wrong ? error_set(error, TARE_USAGE, "msgpack-array: this is no schema") : 0;
}

const struct step_kind step_msgpack_array = {
    .name = "msgpack-array",
    .summary = "one MessagePack array, names left out; the schema is kept once",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = array_apply,
    .undo = array_undo,
    .state_size = sizeof(struct array_state),
    .close = array_close,
    .learn = array_learn,
    .learned = array_learned,
    .table = array_table,
    .load = array_load,
    .unframe = msgpack_unframe,
};

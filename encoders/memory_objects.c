/* memory:objects: a record as a tree of objects, in a process's own memory. */
#include "encoders/msgpack_value.h"
#include "encoders/reading.h"
#include "encoders/shape.h"

static const struct option_spec memory_objects_options[] = {{0}};

/* An integer and a real take 8 bytes each; true, false and null none: a value points to the one
 * that there is of each. */
#define NUMBER_BYTES 8

static void count_value(const struct value *value, bool named, struct counted *counted)
{
    int64_t text;
    switch (value->type) {
    case VALUE_NULL:
    case VALUE_BOOLEAN:
    case VALUE_INTEGER:
    case VALUE_DOUBLE:
        text = value_text_length(value);
        counted->values += text;
        counted->number_form -= text;
        if (value->type == VALUE_INTEGER || value->type == VALUE_DOUBLE)
            counted->number_form += NUMBER_BYTES;
        return;
    case VALUE_TEXT:
    case VALUE_BYTES:
        counted->values += (int64_t)value->as.text.length;
        return;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        for (size_t i = 0; i < value->as.children.count; i++) {
            const struct member *member = &value->as.children.items[i];
            counted->field_names += named ? (int64_t)member->name.length : 0;
            count_value(&member->value, member->value.type == VALUE_OBJECT, counted);
        }
        return;
    }
}

static int memory_objects_encode(struct encoding *encoding, struct arena *arena,
                                 const struct item *item, const struct record *record,
                                 object_sink *sink, void *context, struct tare_error *error)
{
    struct buffer *tree = &encoding->scratch[2];
    struct counted counted = {0}, ignored = {0};
    struct value whole = {
        .type = VALUE_OBJECT,
        .as.children = {item->record->fields, item->record->field_count},
    };
    buffer_clear(tree);
    if (tree_put_members(&msgpack_format, tree, item->record->fields, item->record->field_count,
                         true, 1, &ignored, error))
        return -1;
    count_value(&whole, true, &counted);
    struct object object = {
        .type = OBJECT_TREE,
        .key = record->key,
        .body = slice_of(arena_copy(arena, tree->data, tree->length), tree->length),
        .counted = shape_counted(record, &counted),
    };
    return sink(context, &object, error);
}

static int memory_objects_decode(const struct encoding *encoding, struct arena *arena,
                                 const struct object *object, const struct record *like,
                                 struct item *item, struct tare_error *error)
{
    struct value value;
    (void)encoding;
    (void)like;
    *item = (struct item){.form = FORM_RECORD};
    return msgpack_get_value(object->body, arena, "memory:objects", &value, error) ||
           reading_record(&value, arena, "memory:objects: no object, and so no record", item,
                          error);
}

const struct shape_kind shape_memory_objects = {
    .store = "memory",
    .name = "objects",
    .summary = "the record as a tree of jansson's values, by key in a process's own memory",
    .example = "memory:objects+short",
    .takes = FORM_RECORD,
    .holds = OBJECT_TREE,
    .options = memory_objects_options,
    .encode = memory_objects_encode,
    .decode = memory_objects_decode,
    .read_in_place = true,
};

#include "encoders/shape.h"

#include "encoders/json.h"

struct counted shape_counted(const struct record *record, const struct counted *values)
{
    struct counted counted = *values;
    counted.key = (int64_t)record->key.length;
    if (record->key_in_fields) {
        counted.values -= counted.key;
        counted.framing += counted.key;
    }
    return counted;
}

int32_t java_hash(struct slice text)
{
    uint32_t hash = 0, code;
    for (size_t place = 0; place < text.length;) {
        size_t size = utf8_character(text.bytes + place, text.length - place, &code);
        if (!size) {
            size = 1;
            code = 0xfffd;
        }
        if (code > 0xffff) { /* two units, a surrogate pair */
            hash = hash * 31 + (0xd800 + ((code - 0x10000) >> 10));
            code = 0xdc00 + ((code - 0x10000) & 0x3ff);
        }
        hash = hash * 31 + code;
        place += size;
    }
    return (int32_t)hash;
}

/* The value as a hash holds it: a leaf's text, or compact JSON. */
static int element_value(const struct value *value, struct arena *arena, struct counted *counted,
                         struct slice *text, struct tare_error *error)
{
    if (value->type != VALUE_ARRAY && value->type != VALUE_OBJECT) {
        *text = value_text(value, arena);
        counted->values += (int64_t)text->length;
        return 0;
    }
    struct buffer json = {0};
    int failed = json_append_value(&json, value, counted, error);
    if (!failed)
        *text = slice_of(arena_copy(arena, json.data, json.length), json.length);
    buffer_free(&json);
    return failed;
}

static int emit_index(const struct record *record, object_sink *sink, void *context,
                      struct tare_error *error)
{
    struct element element = {.name = record->key, .score = (double)java_hash(record->key)};
    struct object object = {
        .type = OBJECT_ZSET,
        .key = slice_text("_indices"),
        .elements = &element,
        .element_count = 1,
        .shared = true,
    };
    return sink(context, &object, error);
}

int shape_encode_hash(struct encoding *encoding, struct arena *arena, const struct item *item,
                      const struct record *record, object_sink *sink, void *context,
                      struct tare_error *error)
{
    const struct record *held = item->record;
    size_t count = held->field_count;
    if (count == 0)
        return error_set(error, TARE_USAGE, "no fields, which '%s:%s' cannot hold",
                         encoding->shape->store, encoding->shape->name);
    struct element *elements = arena_take(arena, count * sizeof *elements);
    struct counted values = {0};
    for (size_t i = 0; i < count; i++) {
        elements[i] = (struct element){.name = held->fields[i].name};
        values.field_names += (int64_t)elements[i].name.length;
        if (element_value(&held->fields[i].value, arena, &values, &elements[i].value, error)) {
            char name[SLICE_SHOW_SIZE];
            return error_prefix(error, "field '%s'", slice_show(held->fields[i].name, name));
        }
    }
    struct object object = {
        .type = OBJECT_HASH,
        .key = record->key,
        .elements = elements,
        .element_count = count,
        .ttl_seconds = encoding->options.ttl,
        .counted = shape_counted(record, &values),
    };
    if (sink(context, &object, error))
        return -1;
    return encoding->options.index ? emit_index(record, sink, context, error) : 0;
}

int shape_encode_string(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error)
{
    struct slice bytes = buffer_slice(&item->bytes);
    struct object object = {
        .type = OBJECT_STRING,
        .key = record->key,
        /* Copied: the chain's buffer is overwritten by the next record. */
        .body = slice_of(arena_copy(arena, bytes.bytes, bytes.length), bytes.length),
        .ttl_seconds = encoding->options.ttl,
        .counted = shape_counted(record, &item->counted),
    };
    return sink(context, &object, error);
}

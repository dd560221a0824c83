#include "encoders/shape.h"

#include <stdio.h>

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

struct counted shape_counted_keyless(const struct record *record, const struct counted *values)
{
    struct counted counted = *values;
    if (record->key_in_fields) {
        counted.key = (int64_t)record->key.length;
        counted.values -= counted.key;
    }
    return counted;
}

struct object shape_batch(const struct encoding *encoding, struct arena *arena,
                          enum object_type type, const struct record *record)
{
    const char *name = encoding->shape->name;
    struct object object = {.type = type, .ttl_seconds = encoding->options.ttl};
    if (encoding->batch == 0) {
        object.key = slice_text(name);
        object.shared = true;
        object.first = record->number == 0;
        return object;
    }
    char *prefix = arena_take(arena, strlen(name) + 2);
    sprintf(prefix, "%s:", name);
    object.key = numbered_text(prefix, record->number / encoding->batch, arena);
    object.batch = true;
    object.first = record->number % encoding->batch == 0;
    return object;
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
    const struct slice *extended = value_extended_text(value);
    if (extended) {
        *text = *extended; /* an ObjectId, a date: its text is all that there is to it */
        counted->values += (int64_t)text->length;
        return 0;
    }
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

/* One element, in the arena: a sink may keep the object as long as the arena's record. */
static void hold_element(struct object *object, struct arena *arena, struct element element)
{
    object->elements = arena_take(arena, sizeof *object->elements);
    object->elements[0] = element;
    object->element_count = 1;
}

static int emit_index(const struct record *record, struct arena *arena, object_sink *sink,
                      void *context, struct tare_error *error)
{
    struct object object = {.type = OBJECT_ZSET, .key = slice_text("_indices"), .shared = true};
    hold_element(&object, arena,
                 (struct element){.name = record->key, .score = (double)java_hash(record->key)});
    return sink(context, &object, error);
}

/* The record's fields as elements, in the arena. */
static int make_fields(const struct encoding *encoding, struct arena *arena,
                       const struct record *held, struct object *object, struct counted *counted,
                       struct tare_error *error)
{
    size_t count = held->field_count;
    if (count == 0)
        return error_set(error, TARE_USAGE, "no fields, which '%s:%s' cannot hold",
                         encoding->shape->store, encoding->shape->name);
    struct element *elements = arena_take(arena, count * sizeof *elements);
    for (size_t i = 0; i < count; i++) {
        elements[i] = (struct element){.name = held->fields[i].name};
        counted->field_names += (int64_t)elements[i].name.length;
        if (element_value(&held->fields[i].value, arena, counted, &elements[i].value, error)) {
            char name[SLICE_SHOW_SIZE];
            return error_prefix(error, "field '%s'", slice_show(held->fields[i].name, name));
        }
    }
    object->elements = elements;
    object->element_count = count;
    return 0;
}

int shape_encode_hash(struct encoding *encoding, struct arena *arena, const struct item *item,
                      const struct record *record, object_sink *sink, void *context,
                      struct tare_error *error)
{
    struct counted values = {0};
    struct object object = {
        .type = OBJECT_HASH,
        .key = record->key,
        .ttl_seconds = encoding->options.ttl,
    };
    if (make_fields(encoding, arena, item->record, &object, &values, error))
        return -1;
    object.counted = shape_counted(record, &values);
    if (sink(context, &object, error))
        return -1;
    return encoding->options.index ? emit_index(record, arena, sink, context, error) : 0;
}

/* The chain's buffer is overwritten by the next record. */
static struct slice item_bytes(struct arena *arena, const struct item *item)
{
    struct slice bytes = buffer_slice(&item->bytes);
    return slice_of(arena_copy(arena, bytes.bytes, bytes.length), bytes.length);
}

int shape_encode_string(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error)
{
    struct object object = {
        .type = OBJECT_STRING,
        .key = record->key,
        .body = item_bytes(arena, item),
        .ttl_seconds = encoding->options.ttl,
        .counted = shape_counted(record, &item->counted),
    };
    return sink(context, &object, error);
}

int shape_encode_bucket(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error)
{
    struct object object = shape_batch(encoding, arena, OBJECT_HASH, record);
    hold_element(&object, arena,
                 (struct element){.name = record->key, .value = item_bytes(arena, item)});
    object.counted = shape_counted(record, &item->counted);
    return sink(context, &object, error);
}

int shape_encode_list(struct encoding *encoding, struct arena *arena, const struct item *item,
                      const struct record *record, object_sink *sink, void *context,
                      struct tare_error *error)
{
    struct object object = shape_batch(encoding, arena, OBJECT_LIST, record);
    hold_element(&object, arena, (struct element){.name = item_bytes(arena, item)});
    object.counted = shape_counted_keyless(record, &item->counted);
    return sink(context, &object, error);
}

/* The first entry's time, 2023-11-14T22:13:20Z: as long as IDs are that servers make. */
#define STREAM_BEGIN INT64_C(1700000000000)

int shape_encode_stream(struct encoding *encoding, struct arena *arena, const struct item *item,
                        const struct record *record, object_sink *sink, void *context,
                        struct tare_error *error)
{
    struct object object = shape_batch(encoding, arena, OBJECT_STREAM, record);
    struct counted values = {0};
    if (make_fields(encoding, arena, item->record, &object, &values, error))
        return -1;
    struct stream_entry *entry = arena_take(arena, sizeof *entry);
    *entry = (struct stream_entry){.milliseconds = STREAM_BEGIN + record->number,
                                   .elements = object.element_count};
    object.entries = entry;
    object.entry_count = 1;
    object.counted = shape_counted_keyless(record, &values);
    return sink(context, &object, error);
}

/* The servers' defaults (redis.conf of 7.0 to 8.2, valkey.conf): limits are raised, never lowered.
 */
#define LISTPACK_ENTRIES 512
#define LISTPACK_VALUE   64

void shape_listpack_settings(const struct encoding *encoding, const struct figures *largest,
                             struct figures *settings)
{
    if (!encoding->options.listpack)
        return;
    int64_t elements = encoding->batch ? encoding->batch : figures_get(largest, "elements");
    int64_t bytes = figures_get(largest, "element.bytes");
    figures_integer(settings, "hash-max-listpack-entries",
                    elements > LISTPACK_ENTRIES ? elements : LISTPACK_ENTRIES);
    figures_integer(settings, "hash-max-listpack-value",
                    bytes > LISTPACK_VALUE ? bytes : LISTPACK_VALUE);
}

/* What a client does with an object that it has read: the inverse of shape.c. Elements and bodies
 * are text; whoever wrote the record knows the types of its fields, so `like` tells them. */
#include <stdlib.h>

#include "data/json_text.h"
#include "encoders/reading.h"
#include "encoders/shape.h"

/* The longest text of a number that is read: longer ones are no value's canonical text. */
#define NUMBER_TEXT 64

static int not_its_type(struct slice text, const char *type, struct tare_error *error)
{
    char shown[SLICE_SHOW_SIZE];
    return error_set(error, TARE_USAGE, "'%s' where the record has %s", slice_show(text, shown),
                     type);
}

static int read_double(struct slice text, double *real, struct tare_error *error)
{
    char copy[NUMBER_TEXT], *end = copy;
    if (text.length < sizeof copy) {
        memcpy(copy, text.bytes, text.length);
        copy[text.length] = '\0';
        *real = strtod(copy, &end);
    }
    return end != copy && (size_t)(end - copy) == text.length
               ? 0
               : not_its_type(text, "a real number", error);
}

int shape_read_json(struct slice text, struct arena *arena, struct value *value,
                    struct tare_error *error)
{
    struct json_reader reader = {0};
    size_t place = 0;
    int failed = json_read(&reader, arena_copy(arena, text.bytes, text.length), text.length, arena,
                           value, &place, error);
    json_reader_free(&reader);
    return failed;
}

/* The text of an element as a value of the type that `like` has. */
static int read_value(struct slice text, const struct value *like, struct arena *arena,
                      struct value *value, struct tare_error *error)
{
    *value = (struct value){.type = like->type, .wide = like->wide};
    switch (like->type) {
    case VALUE_NULL:
        return slice_is(text, "null") ? 0 : not_its_type(text, "null", error);
    case VALUE_BOOLEAN:
        value->as.boolean = slice_is(text, "true");
        return value->as.boolean || slice_is(text, "false")
                   ? 0
                   : not_its_type(text, "true or false", error);
    case VALUE_INTEGER:
        return slice_integer(text, &value->as.integer) ? 0
                                                       : not_its_type(text, "an integer", error);
    case VALUE_DOUBLE:
        return read_double(text, &value->as.real, error);
    case VALUE_TEXT:
    case VALUE_BYTES:
        value->as.text = slice_copy(arena, text.bytes, text.length);
        return 0;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        if (value_extended_text(like)) { /* an ObjectId, a date: a client of Redis has its text */
            *value = (struct value){.type = VALUE_TEXT,
                                    .as.text = slice_copy(arena, text.bytes, text.length)};
            return 0;
        }
        return shape_read_json(text, arena, value, error);
    }
    return error_set(error, TARE_USAGE, "a value without a type");
}

static int decode_fields(const struct object *object, const struct record *like,
                         struct arena *arena, struct item *item, struct tare_error *error)
{
    struct record *record = arena_take(arena, sizeof *record);
    struct member *fields = arena_take(arena, object->element_count * sizeof *fields);
    if (object->element_count != like->field_count)
        return error_set(error, TARE_USAGE, "%zu fields where the record has %zu",
                         object->element_count, like->field_count);
    for (size_t i = 0; i < object->element_count; i++) {
        struct slice name = object->elements[i].name;
        fields[i].name = slice_copy(arena, name.bytes, name.length);
        if (read_value(object->elements[i].value, &like->fields[i].value, arena, &fields[i].value,
                       error))
            return -1;
    }
    *record = (struct record){
        .key = slice_of("", 0), .fields = fields, .field_count = object->element_count};
    item->record = record;
    return 0;
}

int shape_decode_hash(const struct encoding *encoding, struct arena *arena,
                      const struct object *object, const struct record *like, struct item *item,
                      struct tare_error *error)
{
    (void)encoding;
    return decode_fields(object, like, arena, item, error);
}

/* A view: steps only read what they undo. */
static int view(struct slice bytes, struct item *item)
{
    item->bytes = (struct buffer){.data = (char *)(uintptr_t)bytes.bytes, .length = bytes.length};
    return 0;
}

int shape_decode_string(const struct encoding *encoding, struct arena *arena,
                        const struct object *object, const struct record *like, struct item *item,
                        struct tare_error *error)
{
    (void)encoding, (void)arena, (void)like, (void)error;
    return view(object->body, item);
}

int shape_decode_bucket(const struct encoding *encoding, struct arena *arena,
                        const struct object *object, const struct record *like, struct item *item,
                        struct tare_error *error)
{
    (void)encoding, (void)arena, (void)like, (void)error;
    return view(object->elements[0].value, item);
}

int shape_decode_list(const struct encoding *encoding, struct arena *arena,
                      const struct object *object, const struct record *like, struct item *item,
                      struct tare_error *error)
{
    (void)encoding, (void)arena, (void)like, (void)error;
    return view(object->elements[0].name, item);
}

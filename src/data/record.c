#include "data/record.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int compare_names(const void *a, const void *b)
{
    struct slice x = *(const struct slice *)a, y = *(const struct slice *)b;
    int order = memcmp(x.bytes, y.bytes, x.length < y.length ? x.length : y.length);
    return order ? order : (x.length > y.length) - (x.length < y.length);
}

/* So many names are compared each with each; more are sorted. */
#define FEW_NAMES 16

const struct slice *members_twice(const struct member *members, size_t count, struct arena *arena)
{
    if (count <= FEW_NAMES) {
        for (size_t i = 1; i < count; i++)
            for (size_t j = 0; j < i; j++)
                if (slice_equal(members[i].name, members[j].name))
                    return &members[i].name;
        return NULL;
    }
    struct slice *names = arena_take(arena, count * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = members[i].name;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++)
        if (slice_equal(names[i - 1], names[i]))
            return &names[i];
    return NULL;
}

struct slice value_extended_bson(const struct value *value)
{
    uint32_t length; /* a document begins with it, lowest byte first */
    memcpy(&length, value->as.extended.bson, sizeof length);
    return slice_of(value->as.extended.bson, le32toh(length));
}

const struct slice *value_extended_text(const struct value *value)
{
    return value_is_extended(value) && value->as.children.count == 1 &&
                   value->as.children.items->value.type == VALUE_TEXT
               ? &value->as.children.items->value.as.text
               : NULL;
}

#define INTEGER_TEXT_SIZE 24
#define DOUBLE_TEXT_SIZE  32

/* Writes the decimal text of an integer and returns its length; faster than
 * snprintf(), since every number of every record passes here. */
static size_t integer_text(int64_t integer, char *out)
{
    char digits[INTEGER_TEXT_SIZE];
    size_t count = 0, length = 0;
    uint64_t rest = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
    do
        digits[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (integer < 0)
        out[length++] = '-';
    while (count)
        out[length++] = digits[--count];
    return length;
}

/* "1e+05" -> "1e5", "1e-05" -> "1e-5". */
static size_t shorten_exponent(char *text, size_t length)
{
    char *exponent = strchr(text, 'e');
    if (!exponent)
        return length;
    char *to = exponent + 1, *from = exponent + 1;
    if (*from == '-')
        *to++ = *from++;
    else if (*from == '+')
        from++;
    while (*from == '0' && from[1])
        from++;
    while ((*to++ = *from++))
        ;
    return (size_t)(to - text) - 1;
}

size_t double_text(double real, char *out)
{
    /* 15 digits always survive, 17 always suffice (DBL_DIG, DBL_DECIMAL_DIG); a denormal
     * number has fewer that count. */
    int digits = real != 0 && fabs(real) < DBL_MIN ? 1 : DBL_DIG;
    int length = 0;
    for (; digits <= DBL_DECIMAL_DIG; digits++) {
        length = snprintf(out, DOUBLE_TEXT_SIZE, "%.*g", digits, real);
        if (!isfinite(real) || strtod(out, NULL) == real)
            break;
    }
    return shorten_exponent(out, (size_t)length);
}

int64_t value_text_length(const struct value *value)
{
    char text[DOUBLE_TEXT_SIZE];
    int64_t length = 0;
    switch (value->type) {
    case VALUE_NULL:
        return (int64_t)strlen("null");
    case VALUE_BOOLEAN:
        return (int64_t)strlen(value->as.boolean ? "true" : "false");
    case VALUE_INTEGER:
        return (int64_t)integer_text(value->as.integer, text);
    case VALUE_DOUBLE:
        return (int64_t)double_text(value->as.real, text);
    case VALUE_TEXT:
    case VALUE_BYTES:
        return (int64_t)value->as.text.length;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        for (size_t i = 0; i < value->as.children.count; i++)
            length += value_text_length(&value->as.children.items[i].value);
        break;
    }
    return length;
}

struct slice value_text(const struct value *value, struct arena *arena)
{
    char *text;
    switch (value->type) {
    case VALUE_NULL:
        return slice_text("null");
    case VALUE_BOOLEAN:
        return slice_text(value->as.boolean ? "true" : "false");
    case VALUE_INTEGER:
        text = arena_take(arena, INTEGER_TEXT_SIZE);
        return slice_of(text, integer_text(value->as.integer, text));
    case VALUE_DOUBLE:
        text = arena_take(arena, DOUBLE_TEXT_SIZE);
        return slice_of(text, double_text(value->as.real, text));
    case VALUE_TEXT:
    case VALUE_BYTES:
        return value->as.text;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        break; /* no leaf: it has no text of its own */
    }
    return slice_of("", 0);
}

struct slice numbered_text(const char *prefix, int64_t number, struct arena *arena)
{
    size_t length = strlen(prefix);
    char *text = arena_take(arena, length + INTEGER_TEXT_SIZE);
    memcpy(text, prefix, length);
    return slice_of(text, length + integer_text(number, text + length));
}

int64_t value_names_length(const struct value *value)
{
    if (value->type != VALUE_ARRAY && value->type != VALUE_OBJECT)
        return 0;
    int64_t length = 0;
    for (size_t i = 0; i < value->as.children.count; i++) {
        const struct member *member = &value->as.children.items[i];
        if (value->type == VALUE_OBJECT)
            length += (int64_t)member->name.length;
        length += value_names_length(&member->value);
    }
    return length;
}

static struct slice slice_copy(struct slice slice, struct arena *arena)
{
    return slice_of(arena_copy(arena, slice.bytes, slice.length), slice.length);
}

static struct member *members_copy(const struct member *members, size_t count, struct arena *arena)
{
    struct member *copy = arena_take(arena, count * sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        struct value *value = &copy[i].value;
        copy[i] = members[i];
        copy[i].name = slice_copy(members[i].name, arena);
        if (value->type == VALUE_TEXT || value->type == VALUE_BYTES)
            value->as.text = slice_copy(value->as.text, arena);
        else if (value->type == VALUE_ARRAY || value->type == VALUE_OBJECT)
            value->as.children.items =
                members_copy(value->as.children.items, value->as.children.count, arena);
        if (value_is_extended(value))
            value->as.extended.bson =
                arena_copy(arena, value->as.extended.bson, value_extended_bson(value).length);
    }
    return copy;
}

struct record record_copy(const struct record *record, struct arena *arena)
{
    struct record copy = *record;
    copy.key = slice_copy(record->key, arena);
    copy.fields = members_copy(record->fields, record->field_count, arena);
    if (record->key_field)
        copy.key_field = copy.fields + (record->key_field - record->fields);
    return copy;
}

#include "data/change.h"

/* From each of these on a number is held in another width by some store or codec:
 *   ziplist.c (Redis to 6.2)   13, 128, 2^15, 2^23, 2^31
 *   listpack.c                 128, 2^12, 2^15, 2^23, 2^31
 *   server.h                   10,000 (OBJ_SHARED_INTEGERS)
 *   CBOR (RFC 8949)            24, 2^8, 2^16, 2^32
 *   MessagePack                128, 2^8, 2^16, 2^32
 *   BSON                       2^31
 * Negative numbers have limits of their own and stay as they are. */
static const int64_t widths[] = {13,      24,      128,     256,       4096,     10000,
                                 1 << 15, 1 << 16, 1 << 23, 1LL << 31, 1LL << 32};

static size_t width_of(int64_t number)
{
    size_t width = 0;
    while (width < sizeof widths / sizeof widths[0] && number >= widths[width])
        width++;
    return width;
}

/* Another number with this one's digits but the last, of the same width; itself where none is. */
static int64_t change_integer(int64_t number, struct random *random)
{
    if (number < 0)
        return number;
    int64_t tens = number / 10 * 10;
    int first = (int)random_below(random, 10);
    for (int i = 0; i < 10; i++) {
        int64_t other = tens + (first + i) % 10;
        if (other != number && width_of(other) == width_of(number))
            return other;
    }
    return number;
}

/* "007", "-0", one of 19 digits too large for 64 bits: with other digits it might be a number. */
static bool might_be_number(struct slice text)
{
    size_t sign = text.length && text.bytes[0] == '-' ? 1 : 0;
    for (size_t i = sign; i < text.length; i++)
        if (text.bytes[i] < '0' || text.bytes[i] > '9')
            return false;
    return text.length > sign;
}

static bool change_text(struct slice *text, struct random *random, struct arena *arena)
{
    int64_t number;
    if (slice_integer(*text, &number)) {
        /* A text that stores hold as the number that it is. */
        int64_t other = change_integer(number, random);
        if (other != number)
            *text = numbered_text("", other, arena);
        return other != number;
    }
    if (might_be_number(*text))
        return false;
    char *copy = arena_copy(arena, text->bytes, text->length);
    bool differs = false;
    uint64_t draw = 0;
    int left = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = copy[i];
        char first = c >= 'a' && c <= 'z' ? 'a' : c >= 'A' && c <= 'Z' ? 'A' : '0';
        unsigned span = first == '0' ? 10 : 26;
        if (first == '0' && (c < '0' || c > '9'))
            continue;
        if (left == 0) {
            draw = random_next(random);
            left = 8;
        }
        copy[i] = (char)(first + (char)((draw & 0xff) * span >> 8));
        draw >>= 8;
        left--;
        differs = differs || copy[i] != c;
    }
    *text = slice_of(copy, text->length);
    return differs;
}

bool value_change(struct value *value, struct random *random, struct arena *arena)
{
    if (value->type == VALUE_TEXT || value->type == VALUE_BYTES)
        return change_text(&value->as.text, random, arena);
    if (value->type == VALUE_INTEGER) {
        int64_t before = value->as.integer;
        value->as.integer = change_integer(before, random);
        return value->as.integer != before;
    }
    if ((value->type != VALUE_ARRAY && value->type != VALUE_OBJECT) || value_is_extended(value))
        return false;
    size_t count = value->as.children.count;
    struct member *items = arena_take(arena, count * sizeof *items);
    bool differs = false;
    if (count)
        memcpy(items, value->as.children.items, count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        differs = value_change(&items[i].value, random, arena) || differs;
    value->as.children.items = items;
    return differs;
}

size_t record_change(const struct record *record, bool all, struct random *random,
                     struct arena *arena, struct record *changed)
{
    size_t count = record->field_count, differ = 0;
    *changed = *record;
    if (count == 0)
        return 0;
    changed->fields = arena_take(arena, count * sizeof *changed->fields);
    memcpy(changed->fields, record->fields, count * sizeof *changed->fields);
    if (record->key_field)
        changed->key_field = changed->fields + (record->key_field - record->fields);
    size_t first = (size_t)random_below(random, count);
    for (size_t i = 0; i < count && (all || differ == 0); i++) {
        struct member *field = &changed->fields[(first + i) % count];
        if (field != changed->key_field && value_change(&field->value, random, arena))
            differ++;
    }
    return differ;
}

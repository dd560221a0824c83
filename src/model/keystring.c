#include "model/keystring.h"

#include <bson/bson.h>
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"

/* Types, in their order (key_string.cpp, enum CType), and the byte that ends a key. */
enum {
    TYPE_UNDEFINED = 15,
    TYPE_NULL = 20,
    TYPE_NUMBER = 30, /* NaN; a number's own type says its sign and its bytes */
    TYPE_NUMBER_ZERO = TYPE_NUMBER + 11,
    TYPE_STRING = 60,
    TYPE_OBJECT = 70,
    TYPE_ARRAY = 80,
    TYPE_BINARY = 90,
    TYPE_OBJECTID = 100,
    TYPE_FALSE = 110,
    TYPE_TRUE = 111,
    TYPE_DATE = 120,
    TYPE_TIMESTAMP = 130,
    END = 4
};
/* Of a number: below 1, one byte of integer, ..., eight bytes of it, larger than 2^63. */
#define MAGNITUDE_BELOW_ONE 1
#define MAGNITUDE_LARGE     10
#define LARGE_DOUBLE        9223372036854775808.0 /* 2^63 */

/* Deeper documents are cut: their keys would be too. */
#define DEPTH_MOST 100

struct writer {
    struct buffer *out;
    unsigned bits; /* written so far; how many of them are not zero */
    bool any;
    bool invert;
};

static void put(struct writer *writer, unsigned byte)
{
    buffer_byte(writer->out, (char)(writer->invert ? ~byte : byte));
}

static void put_big_endian(struct writer *writer, uint64_t number, int bytes)
{
    while (bytes-- > 0)
        put(writer, (unsigned)(number >> (8 * bytes)) & 0xff);
}

static void put_bits(struct writer *writer, unsigned bits, unsigned count)
{
    writer->bits += count;
    writer->any = writer->any || bits;
}

static int bytes_of(uint64_t number)
{
    int bytes = 0;
    for (; number; number >>= 8)
        bytes++;
    return bytes;
}

/* The type byte of a number; then, of a negative one, all bytes are inverted. */
static void put_number_type(struct writer *writer, int magnitude, bool negative)
{
    put(writer, (unsigned)(TYPE_NUMBER_ZERO + (negative ? -magnitude : magnitude)));
    writer->invert = negative;
}

static void put_integer_part(struct writer *writer, uint64_t shifted, bool negative)
{
    int bytes = bytes_of(shifted);
    put_number_type(writer, MAGNITUDE_BELOW_ONE + bytes, negative);
    put_big_endian(writer, shifted, bytes);
}

static void put_integer(struct writer *writer, int64_t number)
{
    uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    if (number == 0) {
        put(writer, TYPE_NUMBER_ZERO);
    } else if (magnitude >> 63) {
        put_number_type(writer, MAGNITUDE_LARGE, true);
        put_big_endian(writer, magnitude, 8);
    } else {
        /* The lowest bit says whether a fraction follows. */
        put_integer_part(writer, magnitude << 1, number < 0);
    }
    writer->invert = false;
}

static void put_double(struct writer *writer, double number)
{
    double magnitude = fabs(number);
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    if (isnan(number)) {
        put(writer, TYPE_NUMBER);
    } else if (magnitude < LARGE_DOUBLE && magnitude == floor(magnitude)) {
        put_integer(writer, (int64_t)number);
    } else if (magnitude >= LARGE_DOUBLE || magnitude < 1) {
        put_number_type(writer, magnitude < 1 ? MAGNITUDE_BELOW_ONE : MAGNITUDE_LARGE, number < 0);
        put_big_endian(writer, magnitude < 1 ? bits << 1 : bits, 8);
    } else {
        /* The integer, a set bit, then what of the 53 bits is left for the fraction. */
        uint64_t whole = (uint64_t)magnitude;
        int width = 0;
        for (uint64_t rest = whole; rest; rest >>= 1)
            width++;
        int fraction = (53 - width + 7) / 8;
        put_integer_part(writer, whole << 1 | 1, number < 0);
        put_big_endian(writer, (uint64_t)ldexp(magnitude - (double)whole, fraction * 8), fraction);
    }
    writer->invert = false;
}

/* A NUL inside is written as 0x00 0xff, so that 0x00 ends the string. */
static void put_string(struct writer *writer, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        put(writer, (unsigned char)text[i]);
        if (!text[i])
            put(writer, 0xff);
    }
    put(writer, 0);
}

static unsigned generic_type(bson_type_t type)
{
    switch (type) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_DOUBLE:
        return TYPE_NUMBER;
    case BSON_TYPE_UTF8:
        return TYPE_STRING;
    case BSON_TYPE_DOCUMENT:
        return TYPE_OBJECT;
    case BSON_TYPE_ARRAY:
        return TYPE_ARRAY;
    case BSON_TYPE_BINARY:
        return TYPE_BINARY;
    case BSON_TYPE_OID:
        return TYPE_OBJECTID;
    case BSON_TYPE_BOOL:
        return TYPE_FALSE;
    case BSON_TYPE_DATE_TIME:
        return TYPE_DATE;
    case BSON_TYPE_TIMESTAMP:
        return TYPE_TIMESTAMP;
    default:
        return TYPE_NULL;
    }
}

static void put_value(struct writer *writer, const bson_iter_t *value, int depth);

static void put_children(struct writer *writer, const bson_iter_t *value, bool named, int depth)
{
    bson_iter_t child;
    put(writer, named ? TYPE_OBJECT : TYPE_ARRAY);
    bool has = depth < DEPTH_MOST && bson_iter_recurse(value, &child);
    while (has && bson_iter_next(&child)) {
        if (named) {
            put(writer, generic_type(bson_iter_type(&child)));
            put_string(writer, bson_iter_key(&child), bson_iter_key_len(&child));
        }
        put_value(writer, &child, depth + 1);
    }
    put(writer, 0);
}

static void put_binary(struct writer *writer, const bson_iter_t *value)
{
    bson_subtype_t subtype;
    uint32_t length;
    const uint8_t *bytes;
    bson_iter_binary(value, &subtype, &length, &bytes);
    put(writer, TYPE_BINARY);
    put(writer, length < 0xff ? length : 0xff);
    if (length >= 0xff)
        put_big_endian(writer, length, 4);
    put(writer, subtype);
    for (uint32_t i = 0; i < length; i++)
        put(writer, bytes[i]);
}

static void put_value(struct writer *writer, const bson_iter_t *value, int depth)
{
    uint32_t length, increment;
    switch (bson_iter_type(value)) {
    case BSON_TYPE_INT32:
        put_integer(writer, bson_iter_int32(value));
        put_bits(writer, 0, 2);
        break;
    case BSON_TYPE_INT64:
        put_integer(writer, bson_iter_int64(value));
        put_bits(writer, 2, 2);
        break;
    case BSON_TYPE_DOUBLE:
        put_double(writer, bson_iter_double(value));
        put_bits(writer, 1, 2);
        break;
    case BSON_TYPE_UTF8: {
        const char *text = bson_iter_utf8(value, &length);
        put(writer, TYPE_STRING);
        put_string(writer, text, length);
        put_bits(writer, 0, 1);
        break;
    }
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        put_children(writer, value, bson_iter_type(value) == BSON_TYPE_DOCUMENT, depth);
        break;
    case BSON_TYPE_BINARY:
        put_binary(writer, value);
        break;
    case BSON_TYPE_OID:
        put(writer, TYPE_OBJECTID);
        for (int i = 0; i < 12; i++)
            put(writer, bson_iter_oid(value)->bytes[i]);
        break;
    case BSON_TYPE_BOOL:
        put(writer, bson_iter_bool(value) ? TYPE_TRUE : TYPE_FALSE);
        break;
    case BSON_TYPE_DATE_TIME:
        put(writer, TYPE_DATE);
        put_big_endian(writer, (uint64_t)bson_iter_date_time(value) ^ UINT64_C(1) << 63, 8);
        break;
    case BSON_TYPE_TIMESTAMP:
        bson_iter_timestamp(value, &length, &increment);
        put(writer, TYPE_TIMESTAMP);
        put_big_endian(writer, (uint64_t)length << 32 | increment, 8);
        break;
    default:
        put(writer, TYPE_NULL);
        break;
    }
}

static struct writer begin(struct keystrings *keys)
{
    MEMORY_GROW(keys->items, keys->count, keys->capacity);
    keys->items[keys->count] = (struct keystring){.offset = keys->bytes.length};
    return (struct writer){.out = &keys->bytes};
}

static void end(struct keystrings *keys, struct writer *writer)
{
    struct keystring *key = &keys->items[keys->count++];
    put(writer, END);
    key->length = keys->bytes.length - key->offset;
    key->type_bits = writer->any ? writer->bits : 0;
}

static void add_value(struct keystrings *keys, const bson_iter_t *value)
{
    struct writer writer = begin(keys);
    put_value(&writer, value, 0);
    end(keys, &writer);
}

static void add_type(struct keystrings *keys, unsigned type)
{
    struct writer writer = begin(keys);
    put(&writer, type);
    end(keys, &writer);
}

static void clear(struct keystrings *keys)
{
    buffer_clear(&keys->bytes);
    keys->count = 0;
}

void keystrings_of_id(const struct object *object, struct keystrings *keys)
{
    bson_iter_t iter;
    clear(keys);
    if (object->body.bytes &&
        bson_iter_init_from_data(&iter, (const uint8_t *)object->body.bytes, object->body.length) &&
        bson_iter_find(&iter, "_id")) {
        add_value(keys, &iter);
        return;
    }
    struct writer writer = begin(keys);
    put(&writer, TYPE_STRING);
    put_string(&writer, object->key.bytes, object->key.length);
    end(keys, &writer);
}

/* The values that a path leads to: each of an array's elements is one, of its documents the path
 * goes on. */
static void add_path(struct keystrings *keys, bson_iter_t from, const char *path, int depth)
{
    size_t length = strcspn(path, ".");
    bool found = false;
    while (!found && bson_iter_next(&from))
        found =
            bson_iter_key_len(&from) == length && memcmp(bson_iter_key(&from), path, length) == 0;
    if (!found) {
        add_type(keys, TYPE_NULL);
        return;
    }
    const char *rest = path[length] ? path + length + 1 : NULL;
    bson_iter_t child, inner;
    bool array = BSON_ITER_HOLDS_ARRAY(&from);
    if (!array && !rest) {
        add_value(keys, &from);
    } else if (!array) {
        if (BSON_ITER_HOLDS_DOCUMENT(&from) && depth < DEPTH_MOST &&
            bson_iter_recurse(&from, &child))
            add_path(keys, child, rest, depth + 1);
        else
            add_type(keys, TYPE_NULL);
    } else if (bson_iter_recurse(&from, &child)) {
        size_t before = keys->count;
        while (bson_iter_next(&child)) {
            if (!rest)
                add_value(keys, &child);
            else if (BSON_ITER_HOLDS_DOCUMENT(&child) && depth < DEPTH_MOST &&
                     bson_iter_recurse(&child, &inner))
                add_path(keys, inner, rest, depth + 1);
            else
                add_type(keys, TYPE_NULL);
        }
        if (keys->count == before)
            add_type(keys, rest ? TYPE_NULL : TYPE_UNDEFINED);
    }
}

static int compare(const struct keystrings *keys, const struct keystring *a,
                   const struct keystring *b)
{
    size_t least = a->length < b->length ? a->length : b->length;
    int order = memcmp(keys->bytes.data + a->offset, keys->bytes.data + b->offset, least);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* By insertion: a document has few keys, and most have one. */
static void sort_and_unite(struct keystrings *keys)
{
    size_t kept = 0;
    for (size_t i = 0; i < keys->count; i++) {
        struct keystring key = keys->items[i];
        size_t at = kept;
        while (at > 0 && compare(keys, &key, &keys->items[at - 1]) < 0)
            at--;
        if (at > 0 && compare(keys, &key, &keys->items[at - 1]) == 0)
            continue;
        memmove(&keys->items[at + 1], &keys->items[at], (kept - at) * sizeof key);
        keys->items[at] = key;
        kept++;
    }
    keys->count = kept;
}

static void hash_first(struct keystrings *keys)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a, then mixed so that all bits are even */
    struct slice key = keystrings_get(keys, 0);
    for (size_t i = 0; i < key.length; i++)
        hash = (hash ^ (unsigned char)key.bytes[i]) * UINT64_C(0x100000001b3);
    hash = (hash ^ hash >> 33) * UINT64_C(0xff51afd7ed558ccd);
    hash = (hash ^ hash >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    clear(keys);
    struct writer writer = begin(keys);
    put_integer(&writer, (int64_t)(hash ^ hash >> 33));
    put_bits(&writer, 2, 2);
    end(keys, &writer);
}

bool keystrings_of_index(const struct object *object, const struct object_index *index,
                         struct keystrings *keys)
{
    bson_iter_t iter;
    clear(keys);
    if (object->body.bytes &&
        bson_iter_init_from_data(&iter, (const uint8_t *)object->body.bytes, object->body.length))
        add_path(keys, iter, index->field, 0);
    else
        add_type(keys, TYPE_NULL);
    sort_and_unite(keys);
    bool found = keys->count > 1 || keys->bytes.data[keys->items[0].offset] != TYPE_NULL;
    if (index->hashed)
        hash_first(keys);
    return found;
}

struct slice keystrings_get(const struct keystrings *keys, size_t place)
{
    return slice_of(keys->bytes.data + keys->items[place].offset, keys->items[place].length);
}

void keystrings_free(struct keystrings *keys)
{
    buffer_free(&keys->bytes);
    free(keys->items);
    *keys = (struct keystrings){0};
}

/* Up to seven bits in one byte; more behind a byte that says how many (TypeBits::getSize). */
int keystring_type_bytes(unsigned type_bits)
{
    if (type_bits == 0)
        return 0;
    return type_bits <= 7 ? 1 : 1 + (int)(type_bits + 7) / 8;
}

int keystring_record_id_length(uint64_t number)
{
    int length = 2;
    while (length < 9 && number >= UINT64_C(1) << (10 + 8 * (length - 2)))
        length++;
    return length;
}

/* Three bits with the number of bytes between the first and the last, at both ends, and the id
 * (appendRecordId). */
int keystring_record_id(uint64_t number, unsigned char *out)
{
    int length = keystring_record_id_length(number), more = length - 2;
    out[0] = (unsigned char)((unsigned)more << 5 | (number >> (5 + 8 * more) & 0x1f));
    for (int i = 0; i < more; i++)
        out[1 + i] = (unsigned char)(number >> (5 + 8 * (more - 1 - i)));
    out[length - 1] = (unsigned char)(number << 3 | (unsigned)more);
    return length;
}

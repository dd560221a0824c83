/* Listpacks and ziplists: elements one after another in one block. */
#include <stdlib.h>

#include "model/redis.h"

static const char kind_packed[] = "packed";

bool redis_is_number(struct slice text, bool told, int64_t *number)
{
    if (!text.bytes) {
        *number = 0;
        return told && text.length <= 20;
    }
    return text.length > 0 && text.length <= 20 && slice_integer(text, number);
}

/* An entry: `data` what its text or its integer's bytes take, `frame` what stands around them. */
struct packed_entry {
    int64_t data, frame;
    bool integer;
};

static int64_t integer_bytes(int64_t number)
{
    if (number >= INT16_MIN && number <= INT16_MAX)
        return number >= INT8_MIN && number <= INT8_MAX ? 1 : 2;
    if (number >= -(1 << 23) && number < 1 << 23)
        return 3;
    return number >= INT32_MIN && number <= INT32_MAX ? 4 : 8;
}

/* What a listpack's entry ends with: its own length (listpack.c, lpEncodeBacklen). */
static int64_t back_length(int64_t length)
{
    return length <= 127        ? 1
           : length < 16383     ? 2
           : length < 2097151   ? 3
           : length < 268435455 ? 4
                                : 5;
}

/* 7 bits in the first byte; 13 bits in two bytes; else a byte before the integer. */
static struct packed_entry listpack_number(int64_t number)
{
    struct packed_entry entry = {.frame = 1, .integer = true};
    if (number >= -4096 && number <= 4095)
        entry.data = number >= 0 && number <= 127 ? 0 : 1;
    else
        entry.data = integer_bytes(number) < 2 ? 2 : integer_bytes(number);
    entry.frame += back_length(entry.data + entry.frame);
    return entry;
}

static struct packed_entry listpack_entry(struct slice text, bool told)
{
    int64_t number;
    if (redis_is_number(text, told, &number))
        return listpack_number(number);
    struct packed_entry entry = {.data = (int64_t)text.length};
    entry.frame = entry.data < 64 ? 1 : entry.data < 4096 ? 2 : 5;
    entry.frame += back_length(entry.data + entry.frame);
    return entry;
}

/* The same of a ziplist (ziplist.c); previous: length of the entry before it. */
static struct packed_entry ziplist_entry(struct slice text, bool told, int64_t previous)
{
    struct packed_entry entry = {.frame = previous < 254 ? 1 : 5};
    int64_t number;
    if (text.length < 32 && redis_is_number(text, told, &number)) {
        entry.integer = true;
        entry.frame += 1;
        entry.data = number >= 0 && number <= 12 ? 0 : integer_bytes(number);
    } else {
        entry.data = (int64_t)text.length;
        entry.frame += entry.data < 64 ? 1 : entry.data < 16384 ? 2 : 5;
    }
    return entry;
}

void redis_packed_open(struct redis_packed *packed, enum redis_packed_form form)
{
    /* listpack: 6 bytes of header and an end byte; ziplist: 10 and one. */
    int64_t empty = form == REDIS_LISTPACK ? 7 : 11;
    *packed = (struct redis_packed){.form = form, .bytes = empty, .structure = empty};
}

void redis_packed_add(struct redis_packed *packed, struct slice text, bool told)
{
    struct packed_entry entry = packed->form == REDIS_LISTPACK
                                    ? listpack_entry(text, told)
                                    : ziplist_entry(text, told, packed->previous);
    packed->previous = entry.data + entry.frame;
    packed->bytes += packed->previous;
    packed->structure += entry.frame;
    packed->content += entry.data;
    packed->count++;
    if (entry.integer)
        packed->shrunk += (int64_t)text.length - entry.data;
}

void redis_packed_add_own(struct redis_packed *packed, int64_t number)
{
    struct packed_entry entry = listpack_number(number);
    packed->bytes += entry.data + entry.frame;
    packed->structure += entry.data + entry.frame;
    packed->count++;
}

void redis_packed_replace_own(struct redis_packed *packed, int64_t from, int64_t to)
{
    struct packed_entry old = listpack_number(from), new = listpack_number(to);
    int64_t grown = new.data + new.frame - old.data - old.frame;
    packed->bytes += grown;
    packed->structure += grown;
}

void redis_packed_blocks(const struct redis_packed *packed, const struct account *account,
                         int64_t reserved, double count, struct blocks *blocks)
{
    int64_t spare = reserved > packed->bytes ? reserved - packed->bytes : 0;
    blocks_add_plain(blocks, kind_packed, count, packed->content, account,
                     packed->structure + spare);
    if (packed->shrunk)
        blocks_integer_form(blocks, count, packed->shrunk);
}

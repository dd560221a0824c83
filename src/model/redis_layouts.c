/* Rows of constants, one a range of versions. Sizes are of 64-bit builds. Each
 * member's comment in redis.h names the header that a constant comes from;
 * `verified` names the servers against which a row's predictions were held. */
#include <string.h>

#include "model/redis.h"

/* Redis up to 3.2: fields and values of hash tables are objects. */
#define REDIS_3_2                                                                                  \
    .key_form = REDIS_KEY_APART, .key_table = REDIS_TABLE_CHAINED,                                 \
    .field_table = REDIS_TABLE_CHAINED, .field_form = REDIS_FIELD_OBJECTS,                         \
    .packed = REDIS_ZIPLIST, .object = 16, .embstr_limit = 44, .entry = 24, .dict = 96,            \
    .zset_dict = 96, .dict_step = 1, .zset_dict_step = 2, .skip_list_levels = 32

/* 4.0 to 6.2: fields and values are plain sds; HSET looks a field up before it adds it, and both
 * move a bucket of an unfinished rehash. */
#define REDIS_4_0                                                                                  \
    .key_form = REDIS_KEY_APART, .key_table = REDIS_TABLE_CHAINED,                                 \
    .field_table = REDIS_TABLE_CHAINED, .field_form = REDIS_FIELD_STRINGS,                         \
    .packed = REDIS_ZIPLIST, .object = 16, .embstr_limit = 44, .entry = 24, .dict = 96,            \
    .zset_dict = 96, .dict_step = 2, .zset_dict_step = 2

/* From 7.0: listpacks; struct dict lost privdata and the two dictht. */
#define REDIS_7_0                                                                                  \
    .key_form = REDIS_KEY_APART, .key_table = REDIS_TABLE_CHAINED,                                 \
    .field_table = REDIS_TABLE_CHAINED, .field_form = REDIS_FIELD_STRINGS,                         \
    .packed = REDIS_LISTPACK, .object = 16, .embstr_limit = 44, .entry = 24, .dict = 56,           \
    .zset_dict = 56, .zset_dict_step = 2, .skip_list_levels = 32, .integer_in_pointer = true,      \
    .sized_on_convert = true, .big_arguments_keep_line_end = true

/* 7.2: one step a field (dictAddRaw alone); tables sized by the number of arguments. */
#define REDIS_7_2 REDIS_7_0, .dict_step = 1, .sized_from_count = true

const struct redis_layout redis_layouts[] = {
    {.store = "redis", .from = 30200, .range = "3.2", REDIS_3_2},
    {.store = "redis", .from = 40000, .range = "4.0", REDIS_4_0, .skip_list_levels = 32},
    {.store = "redis", .from = 50000, .range = "5.0", REDIS_4_0, .skip_list_levels = 64},
    {.store = "redis",
     .from = 60000,
     .range = "6.0, 6.2",
     REDIS_4_0,
     .skip_list_levels = 32,
     .integer_in_pointer = true},
    {.store = "redis", .from = 70000, .range = "7.0", REDIS_7_0, .dict_step = 2},
};

const size_t redis_layout_count = sizeof redis_layouts / sizeof *redis_layouts;

const struct redis_layout *redis_layout_of(const struct build *build, bool *newer)
{
    const struct redis_layout *found = NULL, *first = NULL;
    bool last = false;
    for (size_t i = 0; i < redis_layout_count; i++) {
        const struct redis_layout *row = &redis_layouts[i];
        if (strcmp(row->store, build->store) != 0)
            continue;
        first = first ? first : row;
        last = build->number >= row->from;
        found = last ? row : found;
    }
    /* Newer than the newest row's own minor version: its structures may have changed. */
    *newer = last && found && build->number / 100 > found->from / 100;
    return found ? found : first;
}

/* Rows of constants, one a range of versions. Sizes are of 64-bit builds. Each
 * member's comment in redis.h names the header that a constant comes from;
 * `verified` names the servers against which a row's predictions were held. */
#include <string.h>

#include "model/redis.h"

/* A sorted set's skip list with a table of members beside it (server.h). */
#define SKIP_LIST(levels)                                                                          \
    .skip_list = 32, .skip_list_head = 24 + 16 * (levels), .skip_list_node = 24, .zset_entry = 24, \
    .skip_list_levels = (levels)

/* Redis up to 3.2: fields and values of hash tables are objects. */
#define REDIS_3_2                                                                                  \
    .key_form = REDIS_KEY_APART, .key_table = REDIS_TABLE_CHAINED,                                 \
    .field_table = REDIS_TABLE_CHAINED, .field_form = REDIS_FIELD_OBJECTS,                         \
    .packed = REDIS_ZIPLIST, .object = 16, .embstr_limit = 44, .entry = 24, .dict = 96,            \
    .zset_dict = 96, .dict_step = 1, .zset_dict_step = 2, .list = 32, .list_node = 32,             \
    .big_argument = REDIS_BIG_ROOM

/* 4.0 to 6.2: fields and values are plain sds; HSET looks a field up before it adds it, and both
 * move a bucket of an unfinished rehash. */
#define REDIS_4_0                                                                                  \
    .key_form = REDIS_KEY_APART, .key_table = REDIS_TABLE_CHAINED,                                 \
    .field_table = REDIS_TABLE_CHAINED, .field_form = REDIS_FIELD_STRINGS,                         \
    .packed = REDIS_ZIPLIST, .object = 16, .embstr_limit = 44, .entry = 24, .dict = 96,            \
    .zset_dict = 96, .dict_step = 2, .zset_dict_step = 2, .list = 40, .list_node = 32

/* From 7.0: listpacks; struct dict lost privdata and the two dictht. */
#define REDIS_7_0                                                                                  \
    .field_table = REDIS_TABLE_CHAINED, .field_form = REDIS_FIELD_STRINGS,                         \
    .packed = REDIS_LISTPACK, .object = 16, .embstr_limit = 44, .entry = 24, .dict = 56,           \
    .zset_dict = 56, .zset_dict_step = 2, .integer_in_pointer = true, .sized_on_read = true,       \
    .sized_on_convert = true, .big_argument = REDIS_BIG_LINE_END, .list = 40, .list_node = 40,     \
    SKIP_LIST(32)

/* From 7.2: one look-up a field (dictAddRaw alone); tables sized by the number of arguments. */
#define REDIS_7_2 REDIS_7_0, .dict_step = 1, .sized_from_count = true, .list_bare = true

/* Valkey from 8.1: hashtable.c instead of dict.c; objects hold their key. sizeof(hashtable) is 72
 * in 8.1; from 9.0 it is 80, and 88 for hashes, with a pointer of metadata. */
#define VALKEY_8_1                                                                                 \
    .key_form = REDIS_KEY_IN_OBJECT, .key_table = REDIS_TABLE_BUCKETS,                             \
    .field_table = REDIS_TABLE_BUCKETS, .packed = REDIS_LISTPACK, .object = 16,                    \
    .embstr_limit = 44, .zset_dict = 80, .integer_in_pointer = true, .sized_on_read = true,        \
    .sized_on_convert = true, .sized_from_count = true, .big_argument = REDIS_BIG_LINE_END,        \
    .skip_list_levels = 32, .list = 40, .list_node = 40, .list_bare = true,                        \
    .list_plain_above_limit = true

const struct redis_layout redis_layouts[] = {
    {.store = "redis",
     .from = 30200,
     .range = "3.2",
     .verified = "3.2.6 with jemalloc 4.0.3, libc",
     REDIS_3_2,
     SKIP_LIST(32)},
    {.store = "redis",
     .from = 40000,
     .range = "4.0",
     REDIS_4_0,
     SKIP_LIST(32),
     .big_argument = REDIS_BIG_ROOM},
    {.store = "redis",
     .from = 50000,
     .range = "5.0.0 to 5.0.5",
     REDIS_4_0,
     SKIP_LIST(64),
     .sized_on_read = true,
     .big_argument = REDIS_BIG_ROOM_READ},
    {.store = "redis",
     .from = 50006,
     .range = "5.0",
     .verified = "5.0.6 with jemalloc 5.1.0, libc",
     REDIS_4_0,
     SKIP_LIST(64),
     .integer_in_pointer = true,
     .sized_on_read = true,
     .big_argument = REDIS_BIG_ROOM_READ},
    {.store = "redis",
     .from = 60000,
     .range = "6.0",
     .verified = "6.0.16 with jemalloc 5.2.1",
     REDIS_4_0,
     SKIP_LIST(32),
     .integer_in_pointer = true,
     .sized_on_read = true,
     .big_argument = REDIS_BIG_ROOM},
    {.store = "redis",
     .from = 60200,
     .range = "6.2",
     .verified = "6.2.5 with jemalloc 5.1.0, 6.2.14 with libc",
     REDIS_4_0,
     SKIP_LIST(32),
     .integer_in_pointer = true,
     .sized_on_read = true,
     .big_argument = REDIS_BIG_ROOM_USABLE},
    {.store = "redis",
     .from = 70000,
     .range = "7.0",
     .verified = "7.0.15 with jemalloc 5.3.0 (quantum 16), 5.2.1, libc",
     REDIS_7_0,
     .dict_step = 2},
    {.store = "redis",
     .from = 70200,
     .range = "7.2",
     .verified = "7.2.4 with jemalloc 5.3.0",
     REDIS_7_2},
    {.store = "redis",
     .from = 70400,
     .range = "7.4",
     .verified = "7.4.1 with jemalloc 5.3.0 (pages of 64 KiB)",
     REDIS_7_2,
     .full_table_grows = true,
     .list_plain_above_limit = true},
    {.store = "redis",
     .from = 80000,
     .range = "8.0",
     .verified = "8.0.2 with jemalloc 5.3.0, libc",
     REDIS_7_0,
     .dict_step = 2,
     .full_table_grows = true,
     .sized_from_count = true,
     .list_bare = true,
     .list_plain_above_limit = true},
    {.store = "redis",
     .from = 80200,
     .range = "8.2",
     .verified = "8.2.3 with jemalloc 5.3.0",
     REDIS_7_0,
     .key_form = REDIS_KEY_IN_OBJECT,
     .key_table = REDIS_TABLE_KEYS,
     .entry_key_only = 16,
     .embedded_total = 64,
     .embedded_object = 16,
     .embedded_value_limit = 44,
     .expire_reserved_from = 128,
     .dict_step = 1,
     .dict_first_step = 1,
     .full_table_grows = true,
     .sized_from_count = true,
     .list_bare = true,
     .list_plain_above_limit = true},
    {.store = "valkey", .from = 70200, .range = "7.2", REDIS_7_2},
    {.store = "valkey",
     .from = 80000,
     .range = "8.0",
     .verified = "8.0.1 with jemalloc 5.3.0 (quantum 16)",
     REDIS_7_2,
     .key_form = REDIS_KEY_IN_ENTRY,
     .full_table_grows = true,
     .list_plain_above_limit = true},
    {.store = "valkey",
     .from = 80100,
     .range = "8.1",
     .verified = "8.1.8 with libc",
     VALKEY_8_1,
     .field_form = REDIS_FIELD_FUSED,
     .fused_total = 128,
     .dict = 72,
     .embedded_total = 64,
     .embedded_object = 16,
     .embedded_value_limit = 44,
     .expire_reserved_from = 128,
     .skip_list = 32,
     .skip_list_head = 24 + 16 * 32,
     .skip_list_node = 24},
    {.store = "valkey",
     .from = 90000,
     .range = "9.0",
     .verified = "9.0.0 with libc",
     VALKEY_8_1,
     .field_form = REDIS_FIELD_FUSED,
     .fused_total = 128,
     .dict = 88,
     .embedded_total = 64,
     .embedded_object = 16,
     .embedded_value_limit = 44,
     .expire_reserved_from = 128,
     .skip_list = 32,
     .skip_list_head = 24 + 16 * 32,
     .skip_list_node = 24},
    {.store = "valkey",
     .from = 90100,
     .range = "9.1",
     .verified = "9.1.2 with libc",
     VALKEY_8_1,
     .field_form = REDIS_FIELD_FUSED,
     .fused_total = 128,
     .dict = 88,
     .embedded_total = 128,
     .embedded_object = 8,
     .embedded_value_limit = 128,
     .skip_list = 16 + 16 * 32,
     .skip_list_node = 16,
     .member_in_node = true},
};

const size_t redis_layout_count = sizeof redis_layouts / sizeof *redis_layouts;

/* Streams. 6.2 began to make listpacks with room, 5.0.14, 6.0.16 and 6.2.6 to reckon the new entry
 * in. */
static const struct redis_stream_layout streams[] = {
    {.store = "redis", .from = 50000, .range = "5.0", .stream = 40, .tree = 24, .one_over = true},
    {.store = "redis", .from = 50009, .range = "5.0.9", .stream = 40, .tree = 24},
    {.store = "redis",
     .from = 50014,
     .range = "5.0.14",
     .stream = 40,
     .tree = 24,
     .counts_entry = true},
    {.store = "redis", .from = 60000, .range = "6.0", .stream = 40, .tree = 24},
    {.store = "redis",
     .from = 60016,
     .range = "6.0.16",
     .stream = 40,
     .tree = 24,
     .counts_entry = true},
    {.store = "redis", .from = 60200, .range = "6.2", .stream = 40, .tree = 24, .reserved = 4096},
    {.store = "redis",
     .from = 60206,
     .range = "6.2.6",
     .stream = 40,
     .tree = 24,
     .reserved = 4096,
     .counts_entry = true},
    {.store = "redis",
     .from = 70000,
     .range = "7.0",
     .stream = 80,
     .tree = 24,
     .reserved = 4096,
     .counts_entry = true},
    {.store = "redis",
     .from = 80200,
     .range = "8.2",
     .stream = 112,
     .tree = 24,
     .reserved = 4096,
     .counts_entry = true},
    {.store = "valkey",
     .from = 70200,
     .range = "7.2",
     .stream = 80,
     .tree = 24,
     .reserved = 4096,
     .counts_entry = true},
    {.store = "valkey",
     .from = 90100,
     .range = "9.1",
     .stream = 80,
     .tree = 32,
     .reserved = 4096,
     .counts_entry = true},
};

const struct redis_stream_layout *redis_stream_layout_of(const struct build *build)
{
    const struct redis_stream_layout *found = NULL;
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (strcmp(streams[i].store, build->store) == 0 && build->number >= streams[i].from)
            found = &streams[i];
    return found;
}

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

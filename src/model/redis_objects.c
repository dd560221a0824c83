/* Objects to blocks, by layout. A block's CONTENT is what the encoder counted;
 * everything else of it belongs to an account of stage structure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/redis.h"

/* Kinds of blocks, told by address. */
static const char kind_sds[] = "sds", kind_object[] = "robj", kind_entry[] = "dictEntry",
                  kind_dict[] = "dict", kind_packed[] = "packed", kind_table[] = "table",
                  kind_zset[] = "zset", kind_node[] = "zskiplistNode", kind_key[] = "kvobj";

#define BIG_ARGUMENT (32 * 1024)            /* PROTO_MBULK_BIG_ARG, server.h */
#define PREALLOCATED ((int64_t)1024 * 1024) /* SDS_MAX_PREALLOC, sds.h */

/* The header byte in front of a key that stands in another block: the size of its sds header. */
#define HEADER_SIZE 1
#define EXPIRY      8

/* A block that holds the key and the object, and (value >= 0) an embedded string. The expiry's 8
 * bytes are asked for where a key has one, unless the block as it was made without had room. */
static bool embeds(const struct redis_layout *layout, int64_t key, int64_t value, bool expires)
{
    /* The server reckons with the short header of a key (kvobjSet, object.c) where the limit is a
     * cache line. */
    int64_t key_bytes = layout->embedded_object == layout->object
                            ? HEADER_SIZE + key + 2
                            : HEADER_SIZE + key + redis_sds_overhead(key);
    return value >= 0 && value <= layout->embedded_value_limit &&
           layout->embedded_object + key_bytes + 3 + value + 1 + (expires ? EXPIRY : 0) <=
               layout->embedded_total;
}

static int64_t key_block(const struct redis_layout *layout, int64_t key, int64_t value,
                         bool embedded)
{
    return (embedded ? layout->embedded_object + 3 + value + 1 : layout->object) + HEADER_SIZE +
           key + redis_sds_overhead(key);
}

/* The block of an object that holds its key; value: the length of a string that might be embedded,
 * -1 for none. Returns whether it is. */
static bool add_key_block(const struct redis_model *redis, struct blocks *blocks,
                          const struct redis_key *key, int64_t value)
{
    const struct redis_layout *layout = redis->layout;
    bool embedded = embeds(layout, key->length, value, false), reserved = false;
    int64_t expiry = 0;
    if (layout->expire_reserved_from && key->length >= layout->expire_reserved_from && !embedded) {
        reserved = true;
        expiry = EXPIRY;
    }
    if (key->expires && !reserved) {
        int64_t bytes = key_block(layout, key->length, value, embedded);
        int64_t room = blocks->allocator->usable(&redis->model.build, bytes) - bytes;
        if (room < EXPIRY) {
            embedded = embeds(layout, key->length, value, true);
            expiry = EXPIRY;
        }
    }
    const struct part parts[] = {
        {&account_object, (embedded ? layout->embedded_object : layout->object) + HEADER_SIZE},
        {key->text, key->length},
        {&account_key_sds, redis_sds_overhead(key->length)},
        {&account_expires, expiry},
        {NULL, embedded ? value : 0},
        {&account_value_sds, embedded ? 3 + 1 : 0}};
    blocks_add(blocks, kind_key, 1, parts, 6);
    return embedded;
}

/* The key and what refers to it, where it stands apart from the object. */
static void add_key(const struct redis_layout *layout, struct blocks *blocks,
                    const struct redis_key *key)
{
    int64_t overhead = redis_sds_overhead(key->length);
    const struct part apart[] = {{key->text, key->length}, {&account_key_sds, overhead}};
    if (layout->key_form == REDIS_KEY_APART) {
        blocks_add(blocks, kind_sds, 1, apart, 2);
        blocks_add_plain(blocks, kind_entry, 1, 0, &account_entry, layout->entry);
    } else if (layout->key_form == REDIS_KEY_IN_ENTRY) {
        /* dictEntryEmbedded of Valkey 8.0's dict.c: value, next, the size of the sds header; the
         * key is always an sdshdr8 at least. */
        const struct part parts[] = {{&account_entry, layout->entry - 8 + HEADER_SIZE},
                                     {key->text, key->length},
                                     {&account_key_sds, overhead < 3 + 1 ? 3 + 1 : overhead}};
        blocks_add(blocks, kind_entry, 1, parts, 3);
    }
}

static void add_object_block(const struct redis_layout *layout, struct blocks *blocks)
{
    blocks_add_plain(blocks, kind_object, 1, 0, &account_object, layout->object);
}

struct redis_key redis_key_of(const struct object *object)
{
    return (struct redis_key){.length = (int64_t)object->key.length,
                              .expires = object->ttl_seconds != 0};
}

void redis_add_whole_object(const struct redis_model *redis, struct blocks *blocks,
                            const struct redis_key *key)
{
    add_key(redis->layout, blocks, key);
    if (redis->layout->key_form == REDIS_KEY_IN_OBJECT)
        add_key_block(redis, blocks, key, -1);
    else
        add_object_block(redis->layout, blocks);
}

/* The text that a query buffer takes which was made for so much. */
static int64_t room_of(const struct redis_model *redis, int64_t text)
{
    int64_t overhead = redis_sds_overhead(text);
    if (redis->layout->big_argument == REDIS_BIG_ROOM ||
        redis->layout->big_argument == REDIS_BIG_ROOM_READ)
        return text;
    return redis->blocks.allocator->usable(redis->blocks.build, overhead + text) - overhead;
}

/* Of a value that came as the first big one behind its command: a read takes 16 KiB
 * (PROTO_IOBUF_LEN, server.h), "*3 $3 SET $KEY key $VALUE " first. */
static int64_t read_with_command(const struct object *object)
{
    char head[64];
    int length = snprintf(head, sizeof head, "*3\r\n$3\r\nSET\r\n$%zu\r\n\r\n$%zu\r\n",
                          object->key.length, object->body.length);
    return 16 * 1024 - length - (int64_t)object->key.length;
}

/* By how much the block of so much text is larger with the room. */
static double room_bytes(const struct redis_model *redis, int64_t text, int64_t made_for)
{
    const struct blocks *blocks = &redis->blocks;
    int64_t with = made_for + redis_sds_overhead(made_for);
    int64_t without = text + redis_sds_overhead(text);
    return (double)(blocks->allocator->usable(blocks->build, with) -
                    blocks->allocator->usable(blocks->build, without));
}

/* Room behind a big argument that its value keeps. The buffer was made for the last one, with its
 * line's end. If that is too short, it grows: to twice the size, or from 1 MiB on by 1 MiB
 * (SDS_MAX_PREALLOC, sds.h), or by less where clientsCron has shrunk it meanwhile. Room of more
 * than a tenth of the value is freed (object.c, tryObjectEncoding, trimStringObjectIfNeeded).
 * From 7.0 on it grows as far as needed, and is then read full: whether a value is alone in it, and
 * so keeps it, depends on how much has come. */
static int64_t kept_room(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    int64_t length = (int64_t)object->body.length, made_for = redis->big_room;
    bool greedy = layout->big_argument != REDIS_BIG_LINE_END, grown = false;
    if (length < BIG_ARGUMENT)
        return 0;
    int64_t needed = length + 2;
    if (layout->big_argument == REDIS_BIG_ROOM_READ)
        needed += read_with_command(object);
    if (room_of(redis, made_for) < needed) {
        made_for = !greedy ? needed : needed < PREALLOCATED ? 2 * needed : needed + PREALLOCATED;
        grown = true;
    }
    redis->big_room = length + 2;
    redis->big_bytes += (double)length;
    bool kept = room_of(redis, made_for) - length <= length / 10 && made_for >= length;
    if (!greedy) {
        if (kept)
            redis->big_band += room_bytes(redis, length + 2, made_for);
        return 2;
    }
    if (!kept)
        return 0;
    if (grown)
        redis->big_room_bytes += room_bytes(redis, length, made_for);
    redis->blocks.unwritten += (double)(made_for - length);
    return made_for - length;
}

/* A string's sds of its own; a big one may be the query buffer that it came in. */
static void add_raw_string(struct redis_model *redis, const struct object *object)
{
    int64_t length = (int64_t)object->body.length, room = kept_room(redis, object);
    blocks_add_plain(&redis->blocks, kind_sds, 1, length, &account_value_sds,
                     redis_sds_overhead(length + room) + room);
}

static void add_string(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    struct blocks *blocks = &redis->blocks;
    int64_t length = (int64_t)object->body.length, number;
    bool integer = redis_is_number(object->body, false, &number);
    const struct redis_key key = redis_key_of(object);
    add_key(layout, blocks, &key);
    if (layout->key_form == REDIS_KEY_IN_OBJECT) {
        if (add_key_block(redis, blocks, &key, integer ? -1 : length))
            return;
        if (integer)
            blocks_integer_form(blocks, 1, length);
        else
            add_raw_string(redis, object);
        return;
    }
    if (integer && redis->shared_integers && number >= 0 && number < REDIS_SHARED_INTEGERS) {
        blocks_integer_form(blocks, 1, length);
        return;
    }
    if (integer && layout->integer_in_pointer) {
        add_object_block(layout, blocks);
        blocks_integer_form(blocks, 1, length);
        return;
    }
    if (length <= layout->embstr_limit) {
        /* createEmbeddedStringObject: robj, sdshdr8, text, NUL in one block. */
        const struct part parts[] = {
            {&account_object, layout->object}, {NULL, length}, {&account_value_sds, 3 + 1}};
        blocks_add(blocks, kind_object, 1, parts, 3);
        return;
    }
    add_object_block(layout, blocks);
    add_raw_string(redis, object);
}

static int add_shared_members(struct redis_model *redis, const struct object *object,
                              struct tare_error *error);

int redis_add_object(struct redis_model *redis, const struct object *object,
                     struct tare_error *error)
{
    bool grows =
        object->type == OBJECT_HASH || object->type == OBJECT_LIST || object->type == OBJECT_STREAM;
    if (object->type == OBJECT_STREAM && !redis->stream_layout)
        return redis_takes(&redis->model.build, object->type, error);
    if (object->shared && object->type == OBJECT_ZSET)
        return add_shared_members(redis, object, error);
    if (object->shared && grows) {
        redis_add_to_whole(redis, object);
        return 0;
    }
    if (object->batch && grows) {
        redis_add_to_batch(redis, object);
        return 0;
    }
    if (object->shared || (object->type != OBJECT_STRING && object->type != OBJECT_HASH &&
                           object->type != OBJECT_JSON))
        return error_set(error, TARE_USAGE,
                         "the model of %s has no layout yet for objects other than strings, "
                         "hashes, lists, streams, RedisJSON's values and an index's sorted set",
                         redis->model.build.store);
    redis->keys++;
    redis->expiring += object->ttl_seconds != 0;
    if (object->type == OBJECT_STRING)
        add_string(redis, object);
    else if (object->type == OBJECT_JSON)
        redis_add_json(redis, object);
    else
        redis_add_hash(redis, object);
    return 0;
}

/* --- Objects that many records share --- */

static struct redis_shared *shared_of(struct redis_model *redis, const struct object *object)
{
    for (size_t i = 0; i < redis->shared_count; i++)
        if (redis->shared[i].key_length == object->key.length &&
            memcmp(redis->shared[i].key, object->key.bytes, object->key.length) == 0)
            return &redis->shared[i];
    MEMORY_GROW(redis->shared, redis->shared_count, redis->shared_capacity);
    struct redis_shared *shared = &redis->shared[redis->shared_count++];
    struct redis_packed packed;
    redis_packed_open(&packed, redis->layout->packed);
    *shared = (struct redis_shared){.key = memory_text_n(object->key.bytes, object->key.length),
                                    .key_length = object->key.length,
                                    .type = object->type,
                                    .packed_bytes = packed.bytes,
                                    .fits_packed = true};
    blocks_open(&shared->members_blocks, &redis->model.build);
    return shared;
}

/* A score's text in a packed sorted set: a whole number's decimal text, or 17 digits. */
static size_t score_text(double score, char *out, size_t size)
{
    if (score == floor(score) && fabs(score) < 1e15)
        return (size_t)snprintf(out, size, "%.0f", score);
    return (size_t)snprintf(out, size, "%.17g", score);
}

static int add_shared_members(struct redis_model *redis, const struct object *object,
                              struct tare_error *error)
{
    const struct redis_layout *layout = redis->layout;
    (void)error;
    struct redis_shared *shared = shared_of(redis, object);
    for (size_t i = 0; i < object->element_count; i++) {
        const struct element *element = &object->elements[i];
        int64_t length = (int64_t)element->name.length;
        if (shared->fits_packed && shared->members <= redis->zset_entries) {
            /* Entries stand in the order of scores; only a ziplist's entries of 254 bytes and more
             * would make that matter. */
            struct redis_packed packed;
            redis_packed_open(&packed, layout->packed);
            int64_t empty = packed.bytes;
            char text[40];
            redis_packed_add(&packed, element->name, element->name_is_integer);
            redis_packed_add(&packed, slice_of(text, score_text(element->score, text, sizeof text)),
                             false);
            shared->packed_bytes += packed.bytes - empty;
        }
        if (length > redis->zset_value)
            shared->fits_packed = false;
        shared->members++;
        shared->member_bytes += length;
        struct blocks *blocks = &shared->members_blocks;
        if (layout->field_form == REDIS_FIELD_OBJECTS) {
            /* 3.2: the member is an object that skip list and table share. */
            const struct part parts[] = {{&account_index_members, length + 3 + 1 + 16}};
            if (length <= layout->embstr_limit) {
                blocks_add(blocks, kind_object, 1, parts, 1);
            } else {
                blocks_add_plain(blocks, kind_object, 1, 0, &account_index_members, layout->object);
                blocks_add_plain(blocks, kind_sds, 1, 0, &account_index_members,
                                 length + redis_sds_overhead(length));
            }
        } else if (layout->member_in_node) {
            /* The node's block depends on its level too, which no one draws beforehand: a node of
             * each level by its probability (zslRandomLevel: 1/4 for each level more). */
            double left = 1;
            for (int level = 1; level <= layout->skip_list_levels && left > 1e-12; level++) {
                double share = level < layout->skip_list_levels ? left * 0.75 : left;
                const struct part parts[] = {
                    {&account_skip_list, layout->skip_list_node + 16 * level},
                    {&account_index_members, HEADER_SIZE + length + redis_sds_overhead(length)}};
                blocks_add(blocks, kind_node, share, parts, 2);
                left -= share;
            }
        } else {
            blocks_add_plain(blocks, kind_sds, 1, 0, &account_index_members,
                             length + redis_sds_overhead(length));
        }
    }
    return 0;
}

/* The table of a sorted set that was filled one member a command, or read from an RDB file. */
static void add_member_table(const struct redis_layout *layout, int64_t members, bool read,
                             struct blocks *blocks)
{
    bool sized = read && layout->sized_on_read;
    if (layout->field_table == REDIS_TABLE_BUCKETS) {
        int64_t buckets = sized ? redis_bucket_count_sized(members) : redis_bucket_count(members);
        int64_t old = sized ? 0 : buckets / 2, later = members - old * REDIS_BUCKET_PLACES - 1;
        blocks_add_plain(blocks, kind_table, 1, 0, &account_index_table, buckets * REDIS_BUCKET);
        blocks_add_plain(blocks, kind_table, redis_child_buckets(members, buckets), 0,
                         &account_index_table, REDIS_BUCKET);
        if (old > 0 && later < old) /* each insertion moves one bucket */
            blocks_add_plain(blocks, kind_table, 1, 0, &account_index_table, old * REDIS_BUCKET);
        return;
    }
    /* Each ZADD looks the member up and adds it: two buckets of an unfinished rehash. */
    struct redis_layout by_ones = *layout;
    by_ones.dict_step = read ? 1 : layout->zset_dict_step;
    by_ones.dict_first_step = 0;
    struct redis_outcomes outcomes;
    redis_hash_outcomes(&by_ones, members, sized ? members : 0, &outcomes);
    blocks_add_plain(blocks, kind_table, 1, 0, &account_index_table,
                     redis_dict_buckets(members) * 8);
    for (size_t i = 0; i < outcomes.count; i++)
        if (outcomes.items[i].old)
            blocks_add_plain(blocks, kind_table, outcomes.items[i].probability, 0,
                             &account_index_table, outcomes.items[i].old);
}

void redis_add_shared(const struct redis_model *redis, const struct redis_shared *shared,
                      double factor, bool read, struct blocks *blocks)
{
    const struct redis_layout *layout = redis->layout;
    int64_t members = llround((double)shared->members * factor);
    int64_t key = (int64_t)shared->key_length;
    if (members == 0)
        return;
    /* The key of an index is no record's: all of it is structure. */
    if (layout->key_form == REDIS_KEY_IN_OBJECT) {
        blocks_add_plain(blocks, kind_key, 1, 0, &account_index_table,
                         key_block(layout, key, -1, false));
    } else {
        if (layout->key_form == REDIS_KEY_APART) {
            blocks_add_plain(blocks, kind_sds, 1, 0, &account_index_table,
                             key + redis_sds_overhead(key));
            blocks_add_plain(blocks, kind_entry, 1, 0, &account_index_table, layout->entry);
        } else {
            blocks_add_plain(blocks, kind_entry, 1, 0, &account_index_table,
                             layout->entry - 8 + HEADER_SIZE + key + 3 + 1);
        }
        blocks_add_plain(blocks, kind_object, 1, 0, &account_index_table, layout->object);
    }
    if (shared->fits_packed && members <= redis->zset_entries) {
        blocks_add_plain(blocks, kind_packed, 1, 0, &account_index_members, shared->packed_bytes);
        return;
    }
    struct blocks scaled;
    blocks_open(&scaled, &redis->model.build);
    blocks_merge(&scaled, &shared->members_blocks);
    blocks_scale(&scaled, factor);
    blocks_merge(blocks, &scaled);
    blocks_free(&scaled);
    /* server.h: zset two pointers; the list and its head, which has all levels; nodes. */
    blocks_add_plain(blocks, kind_zset, 1, 0, &account_index_table, 16);
    blocks_add_plain(blocks, kind_dict, 1, 0, &account_index_table, layout->zset_dict);
    blocks_add_plain(blocks, kind_zset, 1, 0, &account_skip_list, layout->skip_list);
    if (layout->skip_list_head)
        blocks_add_plain(blocks, kind_node, 1, 0, &account_skip_list, layout->skip_list_head);
    double left = layout->member_in_node ? 0 : (double)members;
    for (int level = 1; level <= layout->skip_list_levels; level++) {
        double count = level < layout->skip_list_levels ? left * 0.75 : left;
        if (count > 0)
            blocks_add_plain(blocks, kind_node, count, 0, &account_skip_list,
                             layout->skip_list_node + 16 * level);
        left -= count;
    }
    if (layout->zset_entry)
        blocks_add_plain(blocks, kind_entry, (double)members, 0, &account_index_entries,
                         layout->zset_entry);
    add_member_table(layout, members, read, blocks);
}

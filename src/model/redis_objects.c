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
                  kind_zset[] = "zset", kind_node[] = "zskiplistNode", kind_key[] = "kvobj",
                  kind_field[] = "field";

#define OBJECT_SHARED_INTEGERS 10000       /* OBJ_SHARED_INTEGERS, server.h */
#define BIG_ARGUMENT           (32 * 1024) /* PROTO_MBULK_BIG_ARG, server.h */

/* Header and NUL of an sds of this length. */
static int64_t sds_overhead(int64_t length)
{
    return redis_sds_header(length) + 1;
}

/* Whether the text is kept as a number: canonical, 64 bits, 20 characters at most. */
static bool is_number(struct slice text, bool told, int64_t *number)
{
    if (!text.bytes) {
        *number = 0;
        return told && text.length <= 20;
    }
    return text.length > 0 && text.length <= 20 && slice_integer(text, number);
}

/* Bytes of an entry of a listpack (listpack.c): `data` what its text or its integer's bytes take,
 * `frame` what stands around them. */
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

static struct packed_entry listpack_entry(struct slice text, bool told)
{
    struct packed_entry entry = {0};
    int64_t number;
    if (is_number(text, told, &number)) {
        entry.integer = true;
        /* 7 bits in the first byte; 13 bits in two bytes; else a byte before the integer. */
        if (number >= 0 && number <= 127) {
            entry.frame = 1;
        } else if (number >= -4096 && number <= 4095) {
            entry.frame = 1;
            entry.data = 1;
        } else {
            entry.frame = 1;
            entry.data = integer_bytes(number) < 2 ? 2 : integer_bytes(number);
        }
    } else {
        entry.data = (int64_t)text.length;
        entry.frame = entry.data < 64 ? 1 : entry.data < 4096 ? 2 : 5;
    }
    int64_t length = entry.data + entry.frame; /* lpEncodeBacklen */
    entry.frame += length <= 127        ? 1
                   : length < 16383     ? 2
                   : length < 2097151   ? 3
                   : length < 268435455 ? 4
                                        : 5;
    return entry;
}

/* The same of a ziplist (ziplist.c); previous: length of the entry before it. */
static struct packed_entry ziplist_entry(struct slice text, bool told, int64_t previous)
{
    struct packed_entry entry = {.frame = previous < 254 ? 1 : 5};
    int64_t number;
    if (text.length < 32 && is_number(text, told, &number)) {
        entry.integer = true;
        entry.frame += 1;
        entry.data = number >= 0 && number <= 12 ? 0 : integer_bytes(number);
    } else {
        entry.data = (int64_t)text.length;
        entry.frame += entry.data < 64 ? 1 : entry.data < 16384 ? 2 : 5;
    }
    return entry;
}

struct packed {
    enum redis_packed_form form;
    int64_t bytes, previous;
    int64_t structure, content; /* bytes = structure + content */
    int64_t shrunk;             /* text that integers made go away */
};

static void packed_open(struct packed *packed, enum redis_packed_form form)
{
    /* listpack: 6 bytes of header and an end byte; ziplist: 10 and one. */
    int64_t empty = form == REDIS_LISTPACK ? 7 : 11;
    *packed = (struct packed){.form = form, .bytes = empty, .structure = empty};
}

static void packed_add(struct packed *packed, struct slice text, bool told)
{
    struct packed_entry entry = packed->form == REDIS_LISTPACK
                                    ? listpack_entry(text, told)
                                    : ziplist_entry(text, told, packed->previous);
    packed->previous = entry.data + entry.frame;
    packed->bytes += packed->previous;
    packed->structure += entry.frame;
    packed->content += entry.data;
    if (entry.integer)
        packed->shrunk += (int64_t)text.length - entry.data;
}

static void add_packed(struct blocks *blocks, const struct packed *packed)
{
    blocks_add_plain(blocks, kind_packed, 1, packed->content, &account_listpack, packed->structure);
    if (packed->shrunk)
        blocks_integer_form(blocks, 1, packed->shrunk);
}

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
                            : HEADER_SIZE + key + sds_overhead(key);
    return value >= 0 && value <= layout->embedded_value_limit &&
           layout->embedded_object + key_bytes + 3 + value + 1 + (expires ? EXPIRY : 0) <=
               layout->embedded_total;
}

static int64_t key_block(const struct redis_layout *layout, int64_t key, int64_t value,
                         bool embedded)
{
    return (embedded ? layout->embedded_object + 3 + value + 1 : layout->object) + HEADER_SIZE +
           key + sds_overhead(key);
}

/* The block of an object that holds its key; value: the length of a string that might be embedded,
 * -1 for none. Returns whether it is. */
static bool add_key_block(struct redis_model *redis, int64_t key, int64_t value, bool expires)
{
    const struct redis_layout *layout = redis->layout;
    bool embedded = embeds(layout, key, value, false), reserved = false;
    int64_t expiry = 0;
    if (layout->expire_reserved_from && key >= layout->expire_reserved_from && !embedded) {
        reserved = true;
        expiry = EXPIRY;
    }
    if (expires && !reserved) {
        int64_t bytes = key_block(layout, key, value, embedded);
        int64_t room = redis->blocks.allocator->usable(&redis->model.build, bytes) - bytes;
        if (room < EXPIRY) {
            embedded = embeds(layout, key, value, true);
            expiry = EXPIRY;
        }
    }
    const struct part parts[] = {
        {&account_object, (embedded ? layout->embedded_object : layout->object) + HEADER_SIZE},
        {NULL, key},
        {&account_key_sds, sds_overhead(key)},
        {&account_expires, expiry},
        {NULL, embedded ? value : 0},
        {&account_value_sds, embedded ? 3 + 1 : 0}};
    blocks_add(&redis->blocks, kind_key, 1, parts, 6);
    return embedded;
}

/* The key and what refers to it, where it stands apart from the object. */
static void add_key(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    int64_t key = (int64_t)object->key.length;
    if (layout->key_form == REDIS_KEY_APART) {
        blocks_add_plain(&redis->blocks, kind_sds, 1, key, &account_key_sds, sds_overhead(key));
        blocks_add_plain(&redis->blocks, kind_entry, 1, 0, &account_entry, layout->entry);
    } else if (layout->key_form == REDIS_KEY_IN_ENTRY) {
        /* dictEntryEmbedded of Valkey 8.0's dict.c: value, next, the size of the sds header; the
         * key is always an sdshdr8 at least. */
        int64_t overhead = sds_overhead(key) < 3 + 1 ? 3 + 1 : sds_overhead(key);
        const struct part parts[] = {{&account_entry, layout->entry - 8 + HEADER_SIZE},
                                     {NULL, key},
                                     {&account_key_sds, overhead}};
        blocks_add(&redis->blocks, kind_entry, 1, parts, 3);
    }
    redis->keys++;
    if (object->ttl_seconds)
        redis->expiring++;
}

static void add_object_block(struct redis_model *redis)
{
    blocks_add_plain(&redis->blocks, kind_object, 1, 0, &account_object, redis->layout->object);
}

/* The block of an object of any type but string, with the key where the layout puts it there. */
static void add_whole_object(struct redis_model *redis, const struct object *object)
{
    if (redis->layout->key_form == REDIS_KEY_IN_OBJECT)
        add_key_block(redis, (int64_t)object->key.length, -1, object->ttl_seconds != 0);
    else
        add_object_block(redis);
}

/* A string's sds of its own; a big one may be the query buffer that it came in. */
static void add_raw_string(struct redis_model *redis, int64_t length)
{
    int64_t line_end = redis->layout->big_arguments_keep_line_end && length >= BIG_ARGUMENT ? 2 : 0;
    blocks_add_plain(&redis->blocks, kind_sds, 1, length, &account_value_sds,
                     sds_overhead(length + line_end) + line_end);
}

static void add_string(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    struct blocks *blocks = &redis->blocks;
    int64_t length = (int64_t)object->body.length, number;
    bool integer = is_number(object->body, false, &number);
    if (layout->key_form == REDIS_KEY_IN_OBJECT) {
        if (add_key_block(redis, (int64_t)object->key.length, integer ? -1 : length,
                          object->ttl_seconds != 0))
            return;
        if (integer)
            blocks_integer_form(blocks, 1, length);
        else
            add_raw_string(redis, length);
        return;
    }
    if (integer && redis->shared_integers && number >= 0 && number < OBJECT_SHARED_INTEGERS) {
        blocks_integer_form(blocks, 1, length);
        return;
    }
    if (integer && layout->integer_in_pointer) {
        add_object_block(redis);
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
    add_object_block(redis);
    add_raw_string(redis, length);
}

/* A field's or value's object of 3.2 (t_hash.c, hashTypeTryObjectEncoding). */
static void add_string_object(struct redis_model *redis, struct slice text, bool told,
                              const struct account *account)
{
    const struct redis_layout *layout = redis->layout;
    struct blocks *blocks = &redis->blocks;
    int64_t length = (int64_t)text.length, number;
    if (is_number(text, told, &number) && redis->shared_integers && number >= 0 &&
        number < OBJECT_SHARED_INTEGERS && (text.bytes || length < 5)) {
        blocks_integer_form(blocks, 1, length);
        return;
    }
    if (length <= layout->embstr_limit) {
        const struct part parts[] = {
            {&account_object, layout->object}, {NULL, length}, {account, 3 + 1}};
        blocks_add(blocks, kind_object, 1, parts, 3);
        return;
    }
    add_object_block(redis);
    blocks_add_plain(blocks, kind_sds, 1, length, account, sds_overhead(length));
}

static size_t hashes_slot(const struct redis_model *redis, uint64_t signature, int64_t fields,
                          int64_t presized)
{
    size_t mask = redis->hashes_index_size - 1;
    size_t at = (size_t)((signature ^ (uint64_t)fields) * 0x9e3779b97f4a7c15u >> 32) & mask;
    for (; redis->hashes_index[at]; at = (at + 1) & mask) {
        const struct redis_hashes *hashes = &redis->hashes[redis->hashes_index[at] - 1];
        if (hashes->signature == signature && hashes->fields == fields &&
            hashes->presized == presized)
            break;
    }
    return at;
}

static void hashes_reindex(struct redis_model *redis)
{
    redis->hashes_index_size = redis->hashes_index_size ? redis->hashes_index_size * 2 : 64;
    free(redis->hashes_index);
    redis->hashes_index = memory_new(redis->hashes_index_size * sizeof *redis->hashes_index);
    for (size_t i = 0; i < redis->hashes_count; i++) {
        const struct redis_hashes *hashes = &redis->hashes[i];
        redis->hashes_index[hashes_slot(redis, hashes->signature, hashes->fields,
                                        hashes->presized)] = i + 1;
    }
}

/* So many sets of field names are told apart; the rest is told by its number of fields. */
#define SIGNATURES_MAX 1024

static struct redis_hashes *note_hash(struct redis_model *redis, uint64_t signature, int64_t fields,
                                      int64_t presized)
{
    if (redis->hashes_count * 2 >= redis->hashes_index_size)
        hashes_reindex(redis);
    size_t slot = hashes_slot(redis, signature, fields, presized);
    if (!redis->hashes_index[slot] && redis->hashes_count >= SIGNATURES_MAX && signature)
        return note_hash(redis, 0, fields, presized);
    if (!redis->hashes_index[slot]) {
        int place = 1;
        for (size_t i = 0; i < redis->hashes_count; i++)
            place += redis->hashes[i].fields == fields;
        MEMORY_GROW(redis->hashes, redis->hashes_count, redis->hashes_capacity);
        redis->hashes[redis->hashes_count++] = (struct redis_hashes){
            .signature = signature, .fields = fields, .presized = presized, .place = place};
        redis->hashes_index[slot] = redis->hashes_count;
    }
    struct redis_hashes *hashes = &redis->hashes[redis->hashes_index[slot] - 1];
    hashes->count++;
    return hashes;
}

static double blocks_total(const struct blocks *blocks)
{
    double total = blocks->content + blocks->rounding;
    for (size_t i = 0; accounts[i]; i++)
        total += blocks->sums[i];
    return total;
}

/* Valkey's hash entries (t_hash.c of 8.1, entry.c from 9.0): field and value in one block where
 * that is short; else the field behind a pointer to the value's sds. */
static void add_fused_field(struct redis_model *redis, int64_t name, int64_t value)
{
    const struct redis_layout *layout = redis->layout;
    struct blocks *blocks = &redis->blocks;
    if (name + sds_overhead(name) + 3 + value + 1 <= layout->fused_total) {
        const struct part parts[] = {{NULL, name},
                                     {&account_field_sds, sds_overhead(name)},
                                     {NULL, value},
                                     {&account_value_sds, 3 + 1}};
        blocks_add(blocks, kind_field, 1, parts, 4);
        return;
    }
    int64_t overhead = sds_overhead(name);
    if (layout->fused_total && overhead < 3 + 1)
        overhead = 3 + 1;
    const struct part parts[] = {{&account_field_entries, 8 + (layout->fused_total ? 0 : 1)},
                                 {NULL, name},
                                 {&account_field_sds, overhead}};
    blocks_add(blocks, kind_field, 1, parts, 3);
    blocks_add_plain(blocks, kind_sds, 1, value, &account_value_sds, sds_overhead(value));
}

static void add_hash_fields(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    struct blocks *blocks = &redis->blocks;
    for (size_t i = 0; i < object->element_count; i++) {
        const struct element *element = &object->elements[i];
        int64_t name = (int64_t)element->name.length, value = (int64_t)element->value.length;
        switch (layout->field_form) {
        case REDIS_FIELD_OBJECTS:
            add_string_object(redis, element->name, element->name_is_integer, &account_field_sds);
            add_string_object(redis, element->value, element->value_is_integer, &account_value_sds);
            break;
        case REDIS_FIELD_STRINGS:
            blocks_add_plain(blocks, kind_sds, 1, name, &account_field_sds, sds_overhead(name));
            blocks_add_plain(blocks, kind_sds, 1, value, &account_value_sds, sds_overhead(value));
            break;
        case REDIS_FIELD_FUSED:
            add_fused_field(redis, name, value);
            break;
        }
    }
    if (layout->field_table == REDIS_TABLE_CHAINED)
        blocks_add_plain(blocks, kind_entry, (double)object->element_count, 0,
                         &account_field_entries, layout->entry);
}

static void add_hash(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    int64_t fields = (int64_t)object->element_count;
    bool packs = true;
    int64_t pairs = 0;
    for (size_t i = 0; packs && i < object->element_count; i++, pairs++)
        packs = (int64_t)object->elements[i].name.length <= redis->hash_value &&
                (int64_t)object->elements[i].value.length <= redis->hash_value;
    double before = blocks_total(&redis->blocks);
    add_whole_object(redis, object);
    if (packs && fields <= redis->hash_entries) {
        struct packed packed;
        packed_open(&packed, layout->packed);
        for (size_t i = 0; i < object->element_count; i++) {
            const struct element *element = &object->elements[i];
            packed_add(&packed, element->name, element->name_is_integer);
            packed_add(&packed, element->value, element->value_is_integer);
        }
        add_packed(&redis->blocks, &packed);
        return;
    }
    int64_t presized = 0;
    if (fields > redis->hash_entries && layout->sized_from_count)
        presized = fields;
    else if (packs && layout->sized_on_convert)
        presized = redis->hash_entries + 1;
    blocks_add_plain(&redis->blocks, kind_dict, 1, 0, &account_field_dict, layout->dict);
    add_hash_fields(redis, object);
    struct redis_hashes *hashes =
        note_hash(redis, object_names_signature(object), fields, presized);
    if (hashes->count == 1 && fields <= redis->hash_entries)
        hashes->first = pairs;
    if (hashes->count == 1)
        hashes->first_total = blocks_total(&redis->blocks) - before;
}

static int add_shared_members(struct redis_model *redis, const struct object *object,
                              struct tare_error *error);

int redis_add_object(struct redis_model *redis, const struct object *object,
                     struct tare_error *error)
{
    if (object->shared)
        return add_shared_members(redis, object, error);
    if (object->type != OBJECT_STRING && object->type != OBJECT_HASH)
        return error_set(error, TARE_USAGE,
                         "the model of %s has no layout yet for objects other than strings, hashes "
                         "and an index's sorted set",
                         redis->model.build.store);
    add_key(redis, object);
    if (object->type == OBJECT_STRING)
        add_string(redis, object);
    else
        add_hash(redis, object);
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
    struct packed packed;
    packed_open(&packed, redis->layout->packed);
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
    if (object->type != OBJECT_ZSET)
        return error_set(error, TARE_USAGE,
                         "the model of %s knows shared objects of type sorted set only",
                         redis->model.build.store);
    struct redis_shared *shared = shared_of(redis, object);
    for (size_t i = 0; i < object->element_count; i++) {
        const struct element *element = &object->elements[i];
        int64_t length = (int64_t)element->name.length;
        if (shared->fits_packed && shared->members <= redis->zset_entries) {
            /* Entries stand in the order of scores; only a ziplist's entries of 254 bytes and more
             * would make that matter. */
            struct packed packed;
            packed_open(&packed, layout->packed);
            int64_t empty = packed.bytes;
            char text[40];
            packed_add(&packed, element->name, element->name_is_integer);
            packed_add(&packed, slice_of(text, score_text(element->score, text, sizeof text)),
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
                                 length + sds_overhead(length));
            }
        } else if (layout->member_in_node) {
            /* The node's block depends on its level too, which no one draws beforehand: a node of
             * each level by its probability (zslRandomLevel: 1/4 for each level more). */
            double left = 1;
            for (int level = 1; level <= layout->skip_list_levels && left > 1e-12; level++) {
                double share = level < layout->skip_list_levels ? left * 0.75 : left;
                const struct part parts[] = {
                    {&account_skip_list, layout->skip_list_node + 16 * level},
                    {&account_index_members, HEADER_SIZE + length + sds_overhead(length)}};
                blocks_add(blocks, kind_node, share, parts, 2);
                left -= share;
            }
        } else {
            blocks_add_plain(blocks, kind_sds, 1, 0, &account_index_members,
                             length + sds_overhead(length));
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
            blocks_add_plain(blocks, kind_sds, 1, 0, &account_index_table, key + sds_overhead(key));
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

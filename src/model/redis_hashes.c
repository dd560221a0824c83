/* Hashes: fields packed in one block, or in a table. One command makes a hash whole; a hash that
 * grows gets a field a command. */
#include <stdlib.h>

#include "core/memory.h"
#include "model/redis.h"

static const char kind_sds[] = "sds", kind_object[] = "robj", kind_entry[] = "dictEntry",
                  kind_dict[] = "dict", kind_field[] = "field";

/* A field's or value's object of 3.2 (t_hash.c, hashTypeTryObjectEncoding). */
static void add_string_object(const struct redis_model *redis, struct blocks *blocks,
                              struct slice text, bool told, const struct account *account)
{
    const struct redis_layout *layout = redis->layout;
    int64_t length = (int64_t)text.length, number;
    if (redis_is_number(text, told, &number) && redis->shared_integers && number >= 0 &&
        number < REDIS_SHARED_INTEGERS && (text.bytes || length < 5)) {
        blocks_integer_form(blocks, 1, length);
        return;
    }
    if (length <= layout->embstr_limit) {
        const struct part parts[] = {
            {&account_object, layout->object}, {NULL, length}, {account, 3 + 1}};
        blocks_add(blocks, kind_object, 1, parts, 3);
        return;
    }
    blocks_add_plain(blocks, kind_object, 1, 0, &account_object, layout->object);
    blocks_add_plain(blocks, kind_sds, 1, length, account, redis_sds_overhead(length));
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

/* Valkey's hash entries (t_hash.c of 8.1, entry.c from 9.0): field and value in one block where
 * that is short; else the field behind a pointer to the value's sds. */
static void add_fused_field(const struct redis_layout *layout, struct blocks *blocks, int64_t name,
                            int64_t value)
{
    if (name + redis_sds_overhead(name) + 3 + value + 1 <= layout->fused_total) {
        const struct part parts[] = {{NULL, name},
                                     {&account_field_sds, redis_sds_overhead(name)},
                                     {NULL, value},
                                     {&account_value_sds, 3 + 1}};
        blocks_add(blocks, kind_field, 1, parts, 4);
        return;
    }
    int64_t overhead = redis_sds_overhead(name);
    if (layout->fused_total && overhead < 3 + 1)
        overhead = 3 + 1;
    const struct part parts[] = {{&account_field_entries, 8 + (layout->fused_total ? 0 : 1)},
                                 {NULL, name},
                                 {&account_field_sds, overhead}};
    blocks_add(blocks, kind_field, 1, parts, 3);
    blocks_add_plain(blocks, kind_sds, 1, value, &account_value_sds, redis_sds_overhead(value));
}

static void add_field(const struct redis_model *redis, struct blocks *blocks,
                      const struct element *element)
{
    const struct redis_layout *layout = redis->layout;
    int64_t name = (int64_t)element->name.length, value = (int64_t)element->value.length;
    switch (layout->field_form) {
    case REDIS_FIELD_OBJECTS:
        add_string_object(redis, blocks, element->name, element->name_is_integer,
                          &account_field_sds);
        add_string_object(redis, blocks, element->value, element->value_is_integer,
                          &account_value_sds);
        break;
    case REDIS_FIELD_STRINGS:
        blocks_add_plain(blocks, kind_sds, 1, name, &account_field_sds, redis_sds_overhead(name));
        blocks_add_plain(blocks, kind_sds, 1, value, &account_value_sds, redis_sds_overhead(value));
        break;
    case REDIS_FIELD_FUSED:
        add_fused_field(layout, blocks, name, value);
        break;
    }
}

static bool field_packs(const struct redis_model *redis, const struct element *element)
{
    return (int64_t)element->name.length <= redis->hash_value &&
           (int64_t)element->value.length <= redis->hash_value;
}

/* The header and the entries; tables are added with all hashes'. */
static void add_dict(const struct redis_layout *layout, struct blocks *blocks, int64_t fields)
{
    blocks_add_plain(blocks, kind_dict, 1, 0, &account_field_dict, layout->dict);
    if (layout->field_table == REDIS_TABLE_CHAINED)
        blocks_add_plain(blocks, kind_entry, (double)fields, 0, &account_field_entries,
                         layout->entry);
}

void redis_add_hash(struct redis_model *redis, const struct object *object)
{
    const struct redis_layout *layout = redis->layout;
    const struct redis_key key = redis_key_of(object);
    int64_t fields = (int64_t)object->element_count;
    bool packs = true;
    int64_t pairs = 0;
    for (size_t i = 0; packs && i < object->element_count; i++, pairs++)
        packs = field_packs(redis, &object->elements[i]);
    double before = blocks_total(&redis->blocks);
    redis_add_whole_object(redis, &redis->blocks, &key);
    if (packs && fields <= redis->hash_entries) {
        struct redis_packed packed;
        redis_packed_open(&packed, layout->packed);
        for (size_t i = 0; i < object->element_count; i++) {
            const struct element *element = &object->elements[i];
            redis_packed_add(&packed, element->name, element->name_is_integer);
            redis_packed_add(&packed, element->value, element->value_is_integer);
        }
        redis_packed_blocks(&packed, &account_listpack, 0, 1, &redis->blocks);
        return;
    }
    int64_t presized = 0;
    if (fields > redis->hash_entries && layout->sized_from_count)
        presized = fields;
    else if (packs && layout->sized_on_convert)
        presized = redis->hash_entries + 1;
    for (size_t i = 0; i < object->element_count; i++)
        add_field(redis, &redis->blocks, &object->elements[i]);
    add_dict(layout, &redis->blocks, fields);
    struct redis_hashes *hashes =
        note_hash(redis, object_names_signature(object), fields, presized);
    if (hashes->count == 1 && fields <= redis->hash_entries)
        hashes->first = pairs;
    if (hashes->count == 1)
        hashes->first_total = blocks_total(&redis->blocks) - before;
}

/* ---- hashes that grow ---------------------------------------------------------------------- */

void redis_hash_open(struct redis_hash *hash, const struct redis_model *redis)
{
    *hash = (struct redis_hash){.packs = true};
    redis_packed_open(&hash->packed, redis->layout->packed);
    blocks_open(&hash->fields_blocks, &redis->model.build);
}

void redis_hash_close(struct redis_hash *hash)
{
    blocks_free(&hash->fields_blocks);
}

void redis_hash_add(struct redis_hash *hash, const struct redis_model *redis,
                    const struct element *element)
{
    if (hash->packs && !field_packs(redis, element)) {
        /* Converted before the field goes in, which makes a table for those that are there. */
        hash->packs = false;
        hash->first = hash->fields + 1;
        hash->presized = redis->layout->sized_on_convert ? hash->fields : 0;
    }
    add_field(redis, &hash->fields_blocks, element);
    hash->fields++;
    if (!hash->packs)
        return;
    redis_packed_add(&hash->packed, element->name, element->name_is_integer);
    redis_packed_add(&hash->packed, element->value, element->value_is_integer);
    if (hash->fields > redis->hash_entries) {
        hash->packs = false;
        hash->presized = redis->layout->sized_on_convert ? hash->fields : 0;
    }
}

void redis_hash_end(const struct redis_hash *hash, const struct redis_model *redis,
                    struct blocks *blocks)
{
    if (hash->packs) {
        redis_packed_blocks(&hash->packed, &account_listpack, 0, 1, blocks);
        return;
    }
    blocks_merge(blocks, &hash->fields_blocks);
    add_dict(redis->layout, blocks, hash->fields);
}

void redis_hash_note(const struct redis_hash *hash, struct redis_model *redis)
{
    if (hash->packs)
        return;
    struct redis_hashes *hashes = note_hash(redis, 0, hash->fields, hash->presized);
    if (hashes->count == 1 && hash->fields <= redis->hash_entries)
        hashes->first = hash->first;
}

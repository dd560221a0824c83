/* Objects that hold many records and grow by one at a time: N records a key, one key after another,
 * or all of them under one key. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/redis.h"

void redis_growing_open(struct redis_growing *growing, const struct redis_model *redis,
                        const struct object *object)
{
    *growing = (struct redis_growing){.type = object->type,
                                      .key = memory_text_n(object->key.bytes, object->key.length),
                                      .key_length = (int64_t)object->key.length,
                                      .expires = object->ttl_seconds != 0};
    if (object->type == OBJECT_LIST)
        redis_list_open(&growing->as.list, redis);
    else if (object->type == OBJECT_STREAM)
        redis_stream_open(&growing->as.stream, redis);
    else
        redis_hash_open(&growing->as.hash, redis);
}

void redis_growing_close(struct redis_growing *growing)
{
    if (!growing->key)
        return;
    if (growing->type == OBJECT_LIST)
        redis_list_close(&growing->as.list);
    else if (growing->type == OBJECT_STREAM)
        redis_stream_close(&growing->as.stream);
    else
        redis_hash_close(&growing->as.hash);
    free(growing->key);
    growing->key = NULL;
}

bool redis_growing_is(const struct redis_growing *growing, const struct object *object)
{
    return growing->key && growing->type == object->type &&
           growing->key_length == (int64_t)object->key.length &&
           memcmp(growing->key, object->key.bytes, object->key.length) == 0;
}

void redis_growing_add(struct redis_growing *growing, const struct redis_model *redis,
                       const struct object *object)
{
    size_t element = 0;
    switch (growing->type) {
    case OBJECT_LIST:
        for (size_t i = 0; i < object->element_count; i++)
            element += object->elements[i].name.length;
        redis_list_announce(&growing->as.list, redis, (int64_t)element,
                            (int64_t)object->element_count);
        for (size_t i = 0; i < object->element_count; i++)
            redis_list_add(&growing->as.list, redis, object->elements[i].name,
                           object->elements[i].name_is_integer);
        break;
    case OBJECT_STREAM:
        for (size_t i = 0; i < object->entry_count; i++) {
            redis_stream_add(&growing->as.stream, redis, object->elements + element,
                             &object->entries[i]);
            element += object->entries[i].elements;
        }
        break;
    default:
        for (size_t i = 0; i < object->element_count; i++)
            redis_hash_add(&growing->as.hash, redis, &object->elements[i]);
    }
}

/* The key's text is no record's. */
static struct redis_key key_of(const struct redis_growing *growing)
{
    return (struct redis_key){
        .length = growing->key_length, .text = &account_batch_keys, .expires = growing->expires};
}

static void add_parts(const struct redis_growing *growing, const struct redis_model *redis,
                      bool read, struct blocks *blocks)
{
    const struct redis_key key = key_of(growing);
    redis_add_whole_object(redis, blocks, &key);
    if (growing->type == OBJECT_LIST)
        redis_list_end(&growing->as.list, redis, blocks);
    else if (growing->type == OBJECT_STREAM)
        redis_stream_end(&growing->as.stream, redis, read, blocks);
    else
        redis_hash_end(&growing->as.hash, redis, blocks);
}

void redis_growing_blocks(const struct redis_growing *growing, const struct redis_model *redis,
                          double factor, bool read, struct blocks *blocks)
{
    const struct blocks *finished = growing->type == OBJECT_LIST     ? &growing->as.list.nodes
                                    : growing->type == OBJECT_STREAM ? &growing->as.stream.blocks
                                                                     : NULL;
    if (finished) {
        struct blocks scaled;
        blocks_open(&scaled, blocks->build);
        blocks_merge(&scaled, finished);
        blocks_scale(&scaled, factor);
        blocks_merge(blocks, &scaled);
        blocks_free(&scaled);
    }
    add_parts(growing, redis, read, blocks);
}

/* ---- N records a key ----------------------------------------------------------------------- */

static void end_batch(struct redis_model *redis)
{
    struct redis_growing *batch = &redis->batch;
    if (!batch->key)
        return;
    redis_growing_blocks(batch, redis, 1, false, &redis->blocks);
    if (batch->type == OBJECT_STREAM)
        redis_stream_reading(&batch->as.stream, redis, &redis->reading);
    if (batch->type == OBJECT_HASH)
        redis_hash_note(&batch->as.hash, redis);
    redis->keys++;
    redis->expiring += batch->expires;
    redis_growing_close(batch);
}

void redis_add_to_batch(struct redis_model *redis, const struct object *object)
{
    if (object->first || !redis_growing_is(&redis->batch, object)) {
        end_batch(redis);
        redis_growing_open(&redis->batch, redis, object);
    }
    redis_growing_add(&redis->batch, redis, object);
}

/* ---- all records under one key ------------------------------------------------------------- */

void redis_add_to_whole(struct redis_model *redis, const struct object *object)
{
    for (size_t i = 0; i < redis->wholes_count; i++)
        if (redis_growing_is(&redis->wholes[i], object)) {
            redis_growing_add(&redis->wholes[i], redis, object);
            return;
        }
    MEMORY_GROW(redis->wholes, redis->wholes_count, redis->wholes_capacity);
    struct redis_growing *whole = &redis->wholes[redis->wholes_count++];
    redis_growing_open(whole, redis, object);
    redis_growing_add(whole, redis, object);
}

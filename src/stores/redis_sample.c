/* Sampling a Redis or Valkey database, read only: keys by SCAN, as objects
 * with the lengths of what they hold. SCAN goes through the key table in the
 * order of hashes, so that its first keys are as good as any. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stores/redis.h"

/* A value up to here is read whole, since it may be a number; of a longer one the length is asked.
 */
#define NUMBER_LENGTH 20
/* Hashes with more fields are passed over: reading them would hold up the server. */
#define FIELDS_MOST 10000
#define SCAN_COUNT  "500"

struct sampler {
    struct redis *redis;
    store_object_sink *sink;
    void *context;
    int64_t taken, skipped;
};

static redisReply *ask_key(struct redis *redis, const char *command, struct slice key,
                           struct tare_error *error)
{
    const char *words[] = {command, key.bytes};
    size_t lengths[] = {strlen(command), key.length};
    return redis_command(redis, 2, words, lengths, error);
}

static int ask_number(struct redis *redis, const char *command, struct slice key, int64_t *number,
                      struct tare_error *error)
{
    redisReply *reply = ask_key(redis, command, key, error);
    if (!reply)
        return -1;
    *number = reply->type == REDIS_REPLY_INTEGER ? reply->integer : -1;
    freeReplyObject(reply);
    return 0;
}

static int sample_string(struct sampler *sampler, struct object *object, struct tare_error *error)
{
    int64_t length;
    redisReply *reply = NULL;
    object->type = OBJECT_STRING;
    if (ask_number(sampler->redis, "STRLEN", object->key, &length, error))
        return -1;
    if (length < 0)
        return 0;
    object->body.length = (size_t)length;
    if (length <= NUMBER_LENGTH) {
        reply = ask_key(sampler->redis, "GET", object->key, error);
        if (!reply)
            return -1;
        if (reply->type == REDIS_REPLY_STRING)
            object->body = slice_of(reply->str, reply->len);
    }
    object->counted.values = (int64_t)object->body.length;
    int failed = sampler->sink(sampler->context, object, error);
    sampler->taken++;
    if (reply)
        freeReplyObject(reply);
    return failed;
}

static int sample_hash(struct sampler *sampler, struct object *object, struct tare_error *error)
{
    int64_t fields;
    object->type = OBJECT_HASH;
    if (ask_number(sampler->redis, "HLEN", object->key, &fields, error))
        return -1;
    if (fields <= 0 || fields > FIELDS_MOST) {
        sampler->skipped += fields > 0;
        return 0;
    }
    redisReply *reply = ask_key(sampler->redis, "HGETALL", object->key, error);
    if (!reply)
        return -1;
    size_t count = reply->type == REDIS_REPLY_ARRAY ? reply->elements / 2 : 0;
    object->elements = memory_new((count + 1) * sizeof *object->elements);
    object->element_count = count;
    for (size_t i = 0; i < count; i++) {
        const redisReply *name = reply->element[2 * i], *value = reply->element[2 * i + 1];
        object->elements[i] = (struct element){.name = slice_of(name->str, name->len),
                                               .value = slice_of(value->str, value->len)};
        object->counted.field_names += (int64_t)name->len;
        object->counted.values += (int64_t)value->len;
    }
    int failed = count ? sampler->sink(sampler->context, object, error) : 0;
    sampler->taken += count > 0;
    free(object->elements);
    freeReplyObject(reply);
    return failed;
}

static int sample_key(struct sampler *sampler, struct slice key, struct tare_error *error)
{
    struct object object = {.key = key, .counted = {.key = (int64_t)key.length}};
    int64_t ttl = -1;
    redisReply *reply = ask_key(sampler->redis, "TYPE", key, error);
    if (!reply)
        return -1;
    bool is_string = strcmp(reply->str, "string") == 0, is_hash = strcmp(reply->str, "hash") == 0;
    bool is_gone = strcmp(reply->str, "none") == 0;
    freeReplyObject(reply);
    if (!is_string && !is_hash) {
        sampler->skipped += !is_gone;
        return 0;
    }
    if (ask_number(sampler->redis, "TTL", key, &ttl, error))
        return -1;
    object.ttl_seconds = ttl > 0 ? ttl : 0;
    return is_string ? sample_string(sampler, &object, error)
                     : sample_hash(sampler, &object, error);
}

int redis_sample(struct store *store, int64_t count, store_object_sink *sink, void *context,
                 int64_t *keys, int64_t *skipped, struct tare_error *error)
{
    struct sampler sampler = {.redis = (struct redis *)store, .sink = sink, .context = context};
    redisReply *size = redis_line(sampler.redis, "DBSIZE", error);
    if (!size)
        return -1;
    *keys = size->integer;
    freeReplyObject(size);
    char *cursor = memory_text("0");
    int failed = 0;
    do {
        const char *words[] = {"SCAN", cursor, "COUNT", SCAN_COUNT};
        redisReply *reply = redis_command(sampler.redis, 4, words, NULL, error);
        if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
            failed = -1;
        } else {
            free(cursor);
            cursor = memory_text(reply->element[0]->str);
            const redisReply *found = reply->element[1];
            for (size_t i = 0; !failed && i < found->elements; i++) {
                if (sampler.taken + sampler.skipped >= count)
                    break;
                failed = sample_key(
                    &sampler, slice_of(found->element[i]->str, found->element[i]->len), error);
            }
        }
        if (reply)
            freeReplyObject(reply);
        failed = failed || process_check_interrupt(error);
    } while (!failed && strcmp(cursor, "0") != 0 && sampler.taken + sampler.skipped < count);
    free(cursor);
    *skipped = sampler.skipped;
    return failed;
}

/* Keys that JSON.DEBUG MEMORY is asked of: SCAN gives them in the order of hashes. */
#define JSON_KEYS "1000"

/* Adds what is said of one key, where it holds a value of RedisJSON. */
static int add_json_memory(struct redis *redis, struct slice key, int64_t *keys, int64_t *bytes,
                           struct tare_error *error)
{
    const char *words[] = {"JSON.DEBUG", "MEMORY", key.bytes};
    size_t lengths[] = {strlen(words[0]), strlen(words[1]), key.length};
    struct tare_error why;
    redisReply *reply = redis_command(redis, 3, words, lengths, &why);
    if (!reply && !redis->control) {
        *error = why;
        return -1;
    }
    bool told = reply && reply->type == REDIS_REPLY_INTEGER && reply->integer > 0;
    *keys += told;
    *bytes += told ? reply->integer : 0;
    if (reply)
        freeReplyObject(reply);
    return 0;
}

int redis_value_memory(struct store *store, struct figures *figures, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    int64_t keys = 0, bytes = 0, all;
    if (!redis->json)
        return 0;
    const char *words[] = {"SCAN", "0", "COUNT", JSON_KEYS};
    redisReply *size = redis_line(redis, "DBSIZE", error);
    redisReply *scan = size ? redis_command(redis, 4, words, NULL, error) : NULL;
    all = size ? size->integer : 0;
    if (size)
        freeReplyObject(size);
    if (!scan)
        return -1;
    /* Asked once of a key that isn't there: in the base, the first call leaves its traces. */
    int failed = add_json_memory(redis, slice_text(REDIS_DUMMY_KEY), &keys, &bytes, error);
    const redisReply *found = scan->elements == 2 ? scan->element[1] : NULL;
    for (size_t i = 0; !failed && found && i < found->elements; i++)
        failed = add_json_memory(redis, slice_of(found->element[i]->str, found->element[i]->len),
                                 &keys, &bytes, error);
    if (!failed && keys) {
        figures_integer(figures, "json.debug.keys", keys);
        figures_integer(figures, "json.debug.bytes", bytes);
        figures_integer(figures, "json.debug.memory",
                        llround((double)bytes / (double)found->elements * (double)all));
    }
    freeReplyObject(scan);
    return failed;
}

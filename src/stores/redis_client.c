/* A client of a workload on Redis: a connection of its own, commands written
 * ahead of their replies as far as the workload says. */
#include <stdlib.h>

#include "core/memory.h"
#include "stores/redis.h"

/* A reply takes no longer than this, or the server is taken for lost. */
#define PATIENCE_MS 60000

struct redis_client {
    struct store_client client;
    redisContext *context;
    struct buffer wire;
    struct element *changed; /* of an update */
    size_t changed_capacity;
    int commands[REDIS_IN_FLIGHT_MOST]; /* of each operation in flight, in turn */
    int64_t added, taken;               /* operations */
};

struct store_client *redis_client_open(struct store *store, struct tare_error *error)
{
    const struct redis *redis = (const struct redis *)store;
    redisContext *context = redis_connect(&redis->place, store->address, PATIENCE_MS, error);
    if (!context)
        return NULL;
    struct redis_client *client = memory_new(sizeof *client);
    client->client.store = store;
    client->context = context;
    return &client->client;
}

void redis_client_close(struct store_client *to)
{
    struct redis_client *client = (struct redis_client *)to;
    redisFree(client->context);
    buffer_free(&client->wire);
    free(client->changed);
    free(client);
}

static int wire_command(struct redis_client *client, size_t count, const char *const words[],
                        const size_t lengths[])
{
    redisAppendCommandArgv(client->context, (int)count, (const char **)words, lengths);
    return 1;
}

/* The record as it is read by its key: whole; of many in one hash its own field. */
static int add_read(struct redis_client *client, const struct object *object)
{
    const struct slice key = object->key;
    int commands = 0;
    if (object->type == OBJECT_STRING || !object->batch) {
        const char *words[] = {object->type == OBJECT_STRING ? "GET" : "HGETALL", key.bytes};
        return wire_command(client, 2, words, (size_t[]){strlen(words[0]), key.length});
    }
    for (size_t i = 0; i < object->element_count; i++) {
        const struct slice name = object->elements[i].name;
        const char *words[] = {"HGET", key.bytes, name.bytes};
        commands += wire_command(client, 3, words, (size_t[]){4, key.length, name.length});
    }
    return commands;
}

static int add_write(struct redis_client *client, const struct object *object)
{
    buffer_clear(&client->wire);
    int commands = redis_wire(&client->wire, object);
    redisAppendFormattedCommand(client->context, client->wire.data, client->wire.length);
    return commands;
}

/* A string is set anew; of a hash those fields are whose values differ. */
static int add_update(struct redis_client *client, const struct object *object,
                      const struct object *before)
{
    struct object update = *object;
    size_t count = 0;
    if (object->type != OBJECT_HASH)
        return add_write(client, object);
    for (size_t i = 0; i < object->element_count; i++) {
        if (i < before->element_count &&
            slice_equal(object->elements[i].value, before->elements[i].value))
            continue;
        MEMORY_GROW(client->changed, count, client->changed_capacity);
        client->changed[count++] = object->elements[i];
    }
    update.elements = client->changed;
    update.element_count = count;
    update.ttl_seconds = 0; /* it keeps the one that it has */
    return count ? add_write(client, &update) : 0;
}

int redis_client_add(struct store_client *to, enum operation operation,
                     const struct object *objects, const struct object *before, size_t count,
                     struct tare_error *error)
{
    struct redis_client *client = (struct redis_client *)to;
    struct redis *redis = (struct redis *)to->store;
    int commands = 0;
    for (size_t i = 0; i < count; i++) {
        if (operation == OPERATION_INSERT) {
            if (redis_remember(redis, &objects[i], error))
                return -1;
            commands += add_write(client, &objects[i]);
        } else if (objects[i].shared) {
            continue; /* the sorted set of all keys holds the record's key alone */
        } else if (operation == OPERATION_UPDATE) {
            commands += add_update(client, &objects[i], &before[i]);
        } else {
            commands += add_read(client, &objects[i]);
        }
    }
    if (commands == 0)
        return error_set(error, TARE_USAGE, "internal: an operation without a command");
    client->commands[client->added++ % REDIS_IN_FLIGHT_MOST] = commands;
    return 0;
}

static int lost(const struct redis_client *client, struct tare_error *error)
{
    return error_set(error, TARE_STORE, "%s: a client's connection was lost: %s",
                     client->client.store->address, client->context->errstr);
}

int redis_client_send(struct store_client *to, struct tare_error *error)
{
    struct redis_client *client = (struct redis_client *)to;
    int done = 0;
    while (!done)
        if (redisBufferWrite(client->context, &done) != REDIS_OK)
            return lost(client, error);
    return 0;
}

static bool holds_something(const redisReply *reply)
{
    return reply->type != REDIS_REPLY_NIL &&
           (reply->type != REDIS_REPLY_ARRAY || reply->elements > 0);
}

int redis_client_take(struct store_client *to, bool *found, struct tare_error *error)
{
    struct redis_client *client = (struct redis_client *)to;
    int commands = client->commands[client->taken++ % REDIS_IN_FLIGHT_MOST];
    *found = true;
    for (int i = 0; i < commands; i++) {
        void *answer = NULL;
        if (redisGetReply(client->context, &answer) != REDIS_OK)
            return lost(client, error);
        const redisReply *reply = answer;
        int failed = reply->type == REDIS_REPLY_ERROR
                         ? error_set(error, TARE_STORE, "%s: the server refused an operation: %s",
                                     to->store->address, reply->str)
                         : 0;
        *found = *found && holds_something(reply);
        freeReplyObject(answer);
        if (failed)
            return -1;
    }
    return 0;
}

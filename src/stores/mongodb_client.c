/* A client of a workload on MongoDB: a connection of its own, one operation at
 * a time, which its protocol's wait for each answer allows no more of. */
#include "stores/mongodb.h"

#include <string.h>

#include "core/memory.h"

struct mongodb_client {
    struct store_client client;
    mongoc_client_t *connection;
    mongoc_collection_t *collection;
    bson_t *by_key, *update_options, *insert_options;
    enum operation operation; /* that was added */
    bson_t *id;               /* {_id: ...} of its record */
    bson_t *write;            /* of an update or an insert */
};

struct store_client *mongodb_client_open(struct store *store, struct tare_error *error)
{
    struct mongodb *mongodb = (struct mongodb *)store;
    mongoc_client_t *connection = mongodb_client(mongodb, error);
    if (!connection)
        return NULL;
    struct mongodb_client *client = memory_new(sizeof *client);
    client->client.store = store;
    client->connection = connection;
    client->collection =
        mongoc_client_get_collection(connection, mongodb->database, mongodb->collection);
    client->by_key = BCON_NEW("limit", BCON_INT64(1), "singleBatch", BCON_BOOL(true));
    client->update_options =
        BCON_NEW("validate", BCON_BOOL(false), "writeConcern", "{", "w", BCON_INT32(1), "}");
    client->insert_options =
        BCON_NEW("validate", BCON_BOOL(false), "writeConcern", "{", "w", BCON_INT32(1), "}");
    client->id = bson_new();
    client->write = bson_new();
    mongodb->may_drop = true;
    mongodb->checkpointed = false; /* what it writes is settled by another one */
    return &client->client;
}

void mongodb_client_close(struct store_client *to)
{
    struct mongodb_client *client = (struct mongodb_client *)to;
    mongoc_collection_destroy(client->collection);
    mongoc_client_destroy(client->connection);
    bson_destroy(client->by_key);
    bson_destroy(client->update_options);
    bson_destroy(client->insert_options);
    bson_destroy(client->id);
    bson_destroy(client->write);
    free(client);
}

/* The bytes of the element that an iterator stands at. */
static struct slice element_of(const bson_iter_t *iter)
{
    return slice_of((const char *)iter->raw + iter->off, iter->next_off - iter->off);
}

/* {$set: {...}} of the fields that differ; false where none does. */
static bool make_update(bson_t *update, const bson_t *after, const bson_t *before)
{
    bson_iter_t field, old;
    bson_t set;
    bool differs = false;
    BSON_APPEND_DOCUMENT_BEGIN(update, "$set", &set);
    if (bson_iter_init(&field, after))
        while (bson_iter_next(&field)) {
            if (bson_iter_init_find(&old, before, bson_iter_key(&field)) &&
                slice_equal(element_of(&field), element_of(&old)))
                continue;
            bson_append_iter(&set, NULL, 0, &field);
            differs = true;
        }
    bson_append_document_end(update, &set);
    return differs;
}

int mongodb_client_add(struct store_client *to, enum operation operation,
                       const struct object *objects, const struct object *before, size_t count,
                       struct tare_error *error)
{
    struct mongodb_client *client = (struct mongodb_client *)to;
    bson_t document, old;
    bson_iter_t id;
    if (count != 1 || objects->type != OBJECT_DOCUMENT ||
        !bson_init_static(&document, (const uint8_t *)objects->body.bytes, objects->body.length) ||
        !bson_iter_init_find(&id, &document, "_id"))
        return error_set(error, TARE_USAGE, "internal: an operation on no document");
    client->operation = operation;
    bson_reinit(client->id);
    bson_append_iter(client->id, "_id", -1, &id);
    bson_reinit(client->write);
    if (operation == OPERATION_INSERT) {
        bson_concat(client->write, &document);
    } else if (operation == OPERATION_UPDATE) {
        if (!bson_init_static(&old, (const uint8_t *)before->body.bytes, before->body.length) ||
            !make_update(client->write, &document, &old))
            return error_set(error, TARE_USAGE, "internal: an update that changes nothing");
    }
    return 0;
}

int mongodb_client_send(struct store_client *to, struct tare_error *error)
{
    (void)to;
    (void)error;
    return 0;
}

static bool read_document(struct mongodb_client *client, bool *found, bson_error_t *reason)
{
    const bson_t *document;
    mongoc_cursor_t *cursor =
        mongoc_collection_find_with_opts(client->collection, client->id, client->by_key, NULL);
    *found = mongoc_cursor_next(cursor, &document);
    bool well = !mongoc_cursor_error(cursor, reason);
    mongoc_cursor_destroy(cursor);
    return well;
}

static bool update_document(struct mongodb_client *client, bool *found, bson_error_t *reason)
{
    bson_t reply;
    int64_t matched = 0;
    bool well = mongoc_collection_update_one(client->collection, client->id, client->write,
                                             client->update_options, &reply, reason);
    mongodb_number(&reply, "matchedCount", &matched);
    *found = matched == 1;
    bson_destroy(&reply);
    return well;
}

int mongodb_client_take(struct store_client *to, bool *found, struct tare_error *error)
{
    struct mongodb_client *client = (struct mongodb_client *)to;
    bson_error_t reason = {0};
    bool well = false;
    switch (client->operation) {
    case OPERATION_READ:
    case OPERATION_MISS:
        well = read_document(client, found, &reason);
        break;
    case OPERATION_UPDATE:
        well = update_document(client, found, &reason);
        break;
    case OPERATION_INSERT:
        *found = true;
        well = mongoc_collection_insert_one(client->collection, client->write,
                                            client->insert_options, NULL, &reason);
        break;
    }
    if (well)
        return 0;
    error_set(error, TARE_STORE, "server '%s': %s: %s", to->store->address,
              operation_names[client->operation], reason.message);
    mongodb_one_line(error);
    return -1;
}

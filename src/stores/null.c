/* The null store: holds nothing and counts what it would hold, so that every
 * command can be tested without a server. Its figures follow the rule of its
 * model (src/model/null.c): the content of each object and a slot of 16 bytes. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "stores/store.h"

#define SLOT                16
#define NULL_IN_FLIGHT_MOST 4096

struct null_store {
    struct store store;
    int64_t objects, content;
};

static struct store *null_open(const struct server_spec *spec, const struct figures *settings,
                               const struct store_limits *limits, struct tare_error *error)
{
    (void)error;
    struct null_store *null = memory_new(sizeof *null);
    null->store.kind = spec->kind;
    null->store.limits = *limits;
    null->store.started = true;
    strcpy(null->store.address, "null");
    (void)settings;
    return &null->store;
}

static int null_describe(struct store *store, struct build *build, struct tare_error *error)
{
    (void)store;
    (void)error;
    *build = (struct build){.store = "null",
                            .version = "1.0.0",
                            .number = 10000,
                            .allocator = "null",
                            .cache_oblivious = -1};
    return 0;
}

static int null_load_open(struct store *store, struct tare_error *error)
{
    (void)store;
    (void)error;
    return 0;
}

static int null_put(struct store *store, const struct object *object, struct tare_error *error)
{
    struct null_store *null = (struct null_store *)store;
    (void)error;
    null->content += counted_sum(&object->counted);
    null->objects++;
    store->written++;
    return 0;
}

static int null_flush(struct store *store, struct tare_error *error)
{
    (void)store;
    (void)error;
    return 0;
}

static void null_load_close(struct store *store)
{
    (void)store;
}

static int null_glance(struct store *store, struct figures *figures, struct tare_error *error)
{
    const struct null_store *null = (const struct null_store *)store;
    (void)error;
    int64_t held = null->content + null->objects * SLOT;
    figures_integer(figures, "allocated", held);
    figures_integer(figures, "resident", held);
    return 0;
}

/* "figures": what glance tells, for the probe. */
static int null_ask(struct store *store, const char *question, const char *prefix,
                    struct figures *figures, struct tare_error *error)
{
    (void)prefix;
    if (strcmp(question, "figures") != 0)
        return error_set(error, TARE_STORE, "null: unknown question '%s'", question);
    return null_glance(store, figures, error);
}

static int null_read_all(struct store *store, int64_t *count, struct tare_error *error)
{
    (void)error;
    *count = ((const struct null_store *)store)->objects;
    return 0;
}

/* A client that finds every record but those that are to be missed. */
struct null_client {
    struct store_client client;
    enum operation operations[NULL_IN_FLIGHT_MOST];
    int64_t added, taken;
};

static struct store_client *null_client_open(struct store *store, struct tare_error *error)
{
    struct null_client *client = memory_new(sizeof *client);
    (void)error;
    client->client.store = store;
    return &client->client;
}

static int null_client_add(struct store_client *to, enum operation operation,
                           const struct object *objects, const struct object *before, size_t count,
                           struct tare_error *error)
{
    struct null_client *client = (struct null_client *)to;
    int64_t changed = 0;
    for (size_t i = 0; i < count; i++) {
        if (operation == OPERATION_INSERT && null_put(to->store, &objects[i], error))
            return -1;
        if (operation == OPERATION_UPDATE)
            changed += counted_sum(&objects[i].counted) - counted_sum(&before[i].counted);
    }
    ((struct null_store *)to->store)->content += changed;
    client->operations[client->added++ % NULL_IN_FLIGHT_MOST] = operation;
    return 0;
}

static int null_client_send(struct store_client *client, struct tare_error *error)
{
    (void)client;
    (void)error;
    return 0;
}

static int null_client_take(struct store_client *to, bool *found, struct tare_error *error)
{
    struct null_client *client = (struct null_client *)to;
    (void)error;
    *found = client->operations[client->taken++ % NULL_IN_FLIGHT_MOST] != OPERATION_MISS;
    return 0;
}

static void null_client_close(struct store_client *client)
{
    free(client);
}

static void null_close(struct store *store)
{
    free(store);
}

const struct store_kind store_null = {
    .name = "null",
    .family = "null",
    .summary = "holds nothing and counts what it would hold; for tests",
    .pace = {.records_per_second = 1e6, .bytes_per_second = 2e9},
    .open = null_open,
    .describe = null_describe,
    .load_open = null_load_open,
    .put = null_put,
    .flush = null_flush,
    .load_close = null_load_close,
    .glance = null_glance,
    .read_all = null_read_all,
    .client_open = null_client_open,
    .client_add = null_client_add,
    .client_send = null_client_send,
    .client_take = null_client_take,
    .client_close = null_client_close,
    .in_flight_most = NULL_IN_FLIGHT_MOST,
    .ask = null_ask,
    .close = null_close,
};

/* Loading a MongoDB collection: unordered bulk inserts with w:1.
 *
 *   put() ---> batch being filled ---> full batches ---> writer thread ---> mongod
 *                     ^                                       |
 *                     +------------ free batches <------------+
 *
 * put() copies a document's bytes behind those of the batch; BSON tells its own
 * length, so a batch is nothing but bytes. A writer has a connection of its own.
 * While it waits for the server, the next batch is filled; a batch goes early where a writer has
 * nothing to send. Memory is bounded by
 * the number of batches and their size (or one document's, where that is larger).
 *
 * A batch whose answer was lost is sent again. What of it had been written then
 * fails as a duplicate; those duplicates are looked up and counted once. */
#include "stores/mongodb.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/memory.h"

#define WRITERS         MONGODB_WRITERS
#define BATCHES         MONGODB_BATCHES
#define BATCH_DOCUMENTS 2000
#define BATCH_BYTES     (4 * 1024 * 1024)
/* What a batch has at least before it goes to a writer that has nothing to send: as much as a
 * server's round trip is small beside. */
#define EARLY_DOCUMENTS 500
#define EARLY_BYTES     (512 * 1024)
#define EARLY_LOOK      32 /* documents between looks at the writers */
/* MongoDB's limit of a document (maxBsonObjectSize of every version), and BSON's smallest. */
#define DOCUMENT_BYTES_MAX (16 * 1024 * 1024)
#define DOCUMENT_BYTES_MIN 5

#define ATTEMPTS         4
#define ATTEMPT_PAUSE_MS 250 /* doubled with each attempt: 1.75 s in all */
#define ATTEMPTS_SECONDS 30  /* none after that: the server answers nothing */
#define WAIT_MS          200 /* between looks at an interrupt */
#define DUPLICATE_KEY    11000

enum batch_state { BATCH_FREE, BATCH_FULL, BATCH_SENDING };

struct batch {
    struct buffer bytes; /* BSON documents, one behind the other */
    size_t count;
    enum batch_state state;
    int64_t order; /* of being filled; the oldest is sent first */
};

struct writer {
    struct mongodb_loader *loader;
    pthread_t thread;
    bool running;
    mongoc_client_t *client;
    mongoc_collection_t *collection;
    bson_t *documents;              /* BATCH_DOCUMENTS, borrowing a batch's bytes */
    const bson_t **document_places; /* what the driver takes */
};

struct mongodb_loader {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* any batch's state, failed or stop */
    struct batch batches[BATCHES];
    struct batch *filling; /* the main thread's; NULL: none */
    int64_t filled;        /* batches so far */
    size_t idle;           /* writers that wait for a batch */
    bool first;            /* no batch was written yet: the first one makes the collection, and goes
                              alone. Writers that all found none would each make one, and drop it
                              again as another was first. */
    bool first_sending;
    int64_t acknowledged; /* documents, not yet added to store->written */
    bool failed, stop;
    bool lost_connection; /* by the failure: the program may have ended */
    bool retried;         /* some batch was sent again: flush() counts the collection */
    char failure[sizeof((bson_error_t *)0)->message];
    char *database, *collection; /* the store's, borrowed */
    bson_t *insert_options;
    struct writer writers[WRITERS];
};

/* One batch. */

static uint32_t bson_length(const char *bytes)
{
    uint32_t length;
    memcpy(&length, bytes, sizeof length);
    return BSON_UINT32_FROM_LE(length);
}

/* The server's own words that it can't write now but could soon (a change of primary, a
 * shutdown); src/mongo/base/error_codes.yml, category RetriableError, of 4.4 to 6.0. */
static bool is_transient(const bson_error_t *reason)
{
    static const uint32_t codes[] = {6,    7,     89,    91,    189,   262,
                                     9001, 10107, 11600, 11602, 13435, 13436};
    if (mongodb_is_lost_connection(reason))
        return true;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (reason->domain == MONGOC_ERROR_SERVER && reason->code == codes[i])
            return true;
    }
    return false;
}

/* What the driver's answer to an insert says of single documents. */
struct write_errors {
    int64_t duplicates;   /* their number, where they may have been written by an earlier attempt */
    bson_t duplicate_ids; /* an array of their _ids */
    bool other;           /* another error than that */
    char text[300];       /* of the first other one */
};

static void see_write_error(struct write_errors *errors, const struct writer *writer,
                            const bson_t *entry, bool retry)
{
    int64_t code = 0, index = -1;
    bson_iter_t id;
    const char *text = mongodb_text(entry, "errmsg");
    mongodb_number(entry, "code", &code);
    mongodb_number(entry, "index", &index);
    if (retry && code == DUPLICATE_KEY && index >= 0 && index < BATCH_DOCUMENTS &&
        bson_iter_init_find(&id, &writer->documents[index], "_id")) {
        char key[24];
        snprintf(key, sizeof key, "%" PRId64, errors->duplicates++);
        bson_append_iter(&errors->duplicate_ids, key, -1, &id);
    } else if (!errors->other) {
        errors->other = true;
        snprintf(errors->text, sizeof errors->text, "%s", text ? text : "a write failed");
    }
}

static void see_write_errors(struct write_errors *errors, const struct writer *writer,
                             const bson_t *reply, bool retry)
{
    bson_iter_t list, entry;
    if (!bson_iter_init_find(&list, reply, "writeErrors") || !BSON_ITER_HOLDS_ARRAY(&list) ||
        !bson_iter_recurse(&list, &entry))
        return;
    while (bson_iter_next(&entry)) {
        const uint8_t *bytes;
        uint32_t length;
        bson_t document;
        if (!BSON_ITER_HOLDS_DOCUMENT(&entry))
            continue;
        bson_iter_document(&entry, &length, &bytes);
        if (bson_init_static(&document, bytes, length))
            see_write_error(errors, writer, &document, retry);
    }
}

/* How many documents have one of these _ids; -1 where the server doesn't say. */
static int64_t count_ids(const struct writer *writer, const bson_t *ids, bson_error_t *reason)
{
    bson_t command = BSON_INITIALIZER, query, condition, reply;
    int64_t count = -1;
    BSON_APPEND_UTF8(&command, "count", writer->loader->collection);
    BSON_APPEND_DOCUMENT_BEGIN(&command, "query", &query);
    BSON_APPEND_DOCUMENT_BEGIN(&query, "_id", &condition);
    BSON_APPEND_ARRAY(&condition, "$in", ids);
    bson_append_document_end(&query, &condition);
    bson_append_document_end(&command, &query);
    if (mongoc_client_command_simple(writer->client, writer->loader->database, &command, NULL,
                                     &reply, reason))
        mongodb_number(&reply, "n", &count);
    bson_destroy(&reply);
    bson_destroy(&command);
    return count;
}

static void loader_fail(struct mongodb_loader *loader, const char *text, bool lost_connection)
{
    pthread_mutex_lock(&loader->mutex);
    if (!loader->failed) {
        loader->failed = true;
        loader->lost_connection = lost_connection;
        snprintf(loader->failure, sizeof loader->failure, "%s", text);
    }
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->mutex);
}

/* Waits before another attempt; false where the loader is being closed. */
static bool pause_before(struct mongodb_loader *loader, int attempt)
{
    int64_t milliseconds = (int64_t)ATTEMPT_PAUSE_MS << attempt;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += (milliseconds % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&loader->mutex);
    loader->retried = true;
    while (!loader->stop &&
           pthread_cond_timedwait(&loader->changed, &loader->mutex, &until) != ETIMEDOUT)
        ;
    bool go_on = !loader->stop;
    pthread_mutex_unlock(&loader->mutex);
    return go_on;
}

/* Sends a batch, again where its answer was lost. Returns the documents acknowledged; a failure is
 * in the loader. */
static int64_t send_batch(struct writer *writer, const struct batch *batch)
{
    struct mongodb_loader *loader = writer->loader;
    bson_error_t reason;
    struct timespec start, now;
    size_t at = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (size_t i = 0; i < batch->count; i++) {
        uint32_t length = bson_length(batch->bytes.data + at);
        bson_init_static(&writer->documents[i], (const uint8_t *)batch->bytes.data + at, length);
        writer->document_places[i] = &writer->documents[i];
        at += length;
    }
    for (int attempt = 0;; attempt++) {
        struct write_errors errors = {.duplicates = 0};
        int64_t acknowledged = 0;
        bson_t reply;
        bool sent =
            mongoc_collection_insert_many(writer->collection, writer->document_places, batch->count,
                                          loader->insert_options, &reply, &reason);
        clock_gettime(CLOCK_MONOTONIC, &now);
        bool again = !sent && attempt + 1 < ATTEMPTS && is_transient(&reason) &&
                     now.tv_sec - start.tv_sec < ATTEMPTS_SECONDS;
        bson_init(&errors.duplicate_ids);
        mongodb_number(&reply, "insertedCount", &acknowledged);
        see_write_errors(&errors, writer, &reply, attempt > 0);
        bson_destroy(&reply);
        if (!again && !errors.other && errors.duplicates) {
            int64_t there = count_ids(writer, &errors.duplicate_ids, &reason);
            acknowledged += there > 0 ? there : 0;
            /* Fewer than there are duplicates: the data itself holds an _id twice. */
            if (there != errors.duplicates) {
                errors.other = true;
                snprintf(errors.text, sizeof errors.text, "%.280s",
                         there < 0 ? reason.message : "two documents have the same _id");
            }
            sent = true;
        }
        bson_destroy(&errors.duplicate_ids);
        if (again && pause_before(loader, attempt))
            continue;
        if (errors.other)
            loader_fail(loader, errors.text, false);
        else if (!sent)
            loader_fail(loader, reason.message, mongodb_is_lost_connection(&reason));
        return acknowledged;
    }
}

/* Writers. */

static struct batch *oldest_full(struct mongodb_loader *loader)
{
    struct batch *oldest = NULL;
    for (size_t i = 0; i < BATCHES; i++) {
        struct batch *batch = &loader->batches[i];
        if (batch->state == BATCH_FULL && (!oldest || batch->order < oldest->order))
            oldest = batch;
    }
    return oldest;
}

static void *write_batches(void *context)
{
    struct writer *writer = context;
    struct mongodb_loader *loader = writer->loader;
    pthread_mutex_lock(&loader->mutex);
    while (!loader->stop) {
        struct batch *batch = loader->first_sending ? NULL : oldest_full(loader);
        if (!batch) {
            loader->idle++;
            pthread_cond_wait(&loader->changed, &loader->mutex);
            loader->idle--;
            continue;
        }
        batch->state = BATCH_SENDING;
        loader->first_sending = loader->first;
        bool skip = loader->failed; /* nothing is written after a failure */
        pthread_mutex_unlock(&loader->mutex);
        int64_t acknowledged = skip ? 0 : send_batch(writer, batch);
        pthread_mutex_lock(&loader->mutex);
        loader->acknowledged += acknowledged;
        loader->first = loader->first_sending = false;
        buffer_clear(&batch->bytes);
        batch->count = 0;
        batch->state = BATCH_FREE;
        pthread_cond_broadcast(&loader->changed);
    }
    pthread_mutex_unlock(&loader->mutex);
    return NULL;
}

static void writer_close(struct writer *writer)
{
    if (writer->running)
        pthread_join(writer->thread, NULL);
    if (writer->collection)
        mongoc_collection_destroy(writer->collection);
    if (writer->client)
        mongoc_client_destroy(writer->client); /* ends its session and closes its socket */
    free(writer->documents);
    free(writer->document_places);
}

static int writer_open(struct writer *writer, const struct mongodb *mongodb,
                       struct tare_error *error)
{
    struct mongodb_loader *loader = writer->loader;
    sigset_t all, before;
    writer->client = mongodb_client(mongodb, error);
    if (!writer->client)
        return -1;
    writer->collection =
        mongoc_client_get_collection(writer->client, loader->database, loader->collection);
    writer->documents = memory_new(BATCH_DOCUMENTS * sizeof *writer->documents);
    writer->document_places = memory_new(BATCH_DOCUMENTS * sizeof *writer->document_places);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int failed = pthread_create(&writer->thread, NULL, write_batches, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return error_set(error, TARE_STORE, "can't start a thread to load with: %s",
                         strerror(failed));
    writer->running = true;
    return 0;
}

/* The store's members. */

int mongodb_load_open(struct store *store, struct tare_error *error)
{
    struct mongodb *mongodb = (struct mongodb *)store;
    if (store->limits.read_only)
        return error_set(error, TARE_USAGE, "server '%s' is opened to be read only",
                         store->address);
    struct mongodb_loader *loader = memory_new(sizeof *loader);
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->changed, NULL);
    loader->database = mongodb->database;
    loader->collection = mongodb->collection;
    loader->insert_options = BCON_NEW("ordered", BCON_BOOL(false), "validate", BCON_BOOL(false),
                                      "writeConcern", "{", "w", BCON_INT32(1), "}");
    loader->first = !mongodb->may_drop;
    for (size_t i = 0; i < BATCHES; i++) {
        loader->batches[i].bytes = mongodb->batch_bytes[i];
        mongodb->batch_bytes[i] = (struct buffer){0};
    }
    mongodb->loader = loader;
    mongodb->may_drop = true;
    for (size_t i = 0; i < WRITERS; i++) {
        loader->writers[i].loader = loader;
        if (writer_open(&loader->writers[i], mongodb, error)) {
            mongodb_load_close(store);
            return -1;
        }
    }
    return 0;
}

/* Called with the mutex held: waits for a change, and returns at times for a look at interrupts. */
static int wait_for_change(struct mongodb_loader *loader, struct tare_error *error)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_MS * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_cond_timedwait(&loader->changed, &loader->mutex, &until);
    return process_check_interrupt(error);
}

/* Takes over what the writers counted; the failure of any of them becomes the caller's. */
static int take_results(struct mongodb *mongodb, bool failed, struct tare_error *error)
{
    struct mongodb_loader *loader = mongodb->loader;
    pthread_mutex_lock(&loader->mutex);
    mongodb->store.written += loader->acknowledged;
    loader->acknowledged = 0;
    pthread_mutex_unlock(&loader->mutex);
    if (!failed)
        return 0;
    if (mongodb_ended_soon(mongodb, loader->lost_connection, error))
        return -1;
    error_set(error, TARE_STORE, "server '%s': insert: %s", mongodb->store.address,
              loader->failure);
    mongodb_one_line(error);
    return -1;
}

/* Hands the batch that is being filled to the writers. */
static void hand_over(struct mongodb_loader *loader)
{
    pthread_mutex_lock(&loader->mutex);
    loader->filling->order = loader->filled++;
    loader->filling->state = BATCH_FULL;
    loader->filling = NULL;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->mutex);
}

/* Whether a writer waits for the batch that is being filled, and it is worth a round trip. */
static bool is_wanted(struct mongodb_loader *loader)
{
    const struct batch *batch = loader->filling;
    if (batch->count % EARLY_LOOK ||
        (batch->count < EARLY_DOCUMENTS && batch->bytes.length < EARLY_BYTES))
        return false;
    pthread_mutex_lock(&loader->mutex);
    bool wanted = loader->idle > 0 && !oldest_full(loader);
    pthread_mutex_unlock(&loader->mutex);
    return wanted;
}

/* Waits for a batch to fill. */
static int take_free(struct mongodb *mongodb, struct tare_error *error)
{
    struct mongodb_loader *loader = mongodb->loader;
    bool failed = false;
    int result = process_check_interrupt(error);
    pthread_mutex_lock(&loader->mutex);
    while (result == 0 && !(failed = loader->failed)) {
        for (size_t i = 0; i < BATCHES && !loader->filling; i++) {
            if (loader->batches[i].state == BATCH_FREE)
                loader->filling = &loader->batches[i];
        }
        if (loader->filling)
            break;
        result = wait_for_change(loader, error);
    }
    pthread_mutex_unlock(&loader->mutex);
    return result ? result : take_results(mongodb, failed, error);
}

/* {FIELD: 1} or {FIELD: "hashed"}. */
static void put_key(bson_t *to, const struct object_index *index)
{
    if (index->hashed)
        BSON_APPEND_UTF8(to, index->field, "hashed");
    else
        BSON_APPEND_INT32(to, index->field, 1);
}

/* The collection with its indexes, before the first document: built on documents that are there
 * already an index would be another one, of whole pages. */
static int create_indexes(struct mongodb *mongodb, const struct object *object,
                          struct tare_error *error)
{
    bson_t command = BSON_INITIALIZER, list, entry, key, reply;
    BSON_APPEND_UTF8(&command, "createIndexes", mongodb->collection);
    BSON_APPEND_ARRAY_BEGIN(&command, "indexes", &list);
    for (size_t i = 0; i < object->index_count; i++) {
        const struct object_index *index = &object->indexes[i];
        char place[24], name[32];
        snprintf(place, sizeof place, "%zu", i);
        snprintf(name, sizeof name, MONGODB_INDEX "%zu", i + 1);
        BSON_APPEND_DOCUMENT_BEGIN(&list, place, &entry);
        BSON_APPEND_DOCUMENT_BEGIN(&entry, "key", &key);
        put_key(&key, index);
        bson_append_document_end(&entry, &key);
        BSON_APPEND_UTF8(&entry, "name", name);
        bson_append_document_end(&list, &entry);
    }
    bson_append_array_end(&command, &list);
    BCON_APPEND(&command, "writeConcern", "{", "w", BCON_INT32(1), "}");
    int result = mongodb_command(mongodb, mongodb->database, &command, &reply, error);
    mongodb->index_count = result ? 0 : object->index_count;
    bson_destroy(&reply);
    bson_destroy(&command);
    return result;
}

int mongodb_put(struct store *store, const struct object *object, struct tare_error *error)
{
    struct mongodb *mongodb = (struct mongodb *)store;
    struct mongodb_loader *loader = mongodb->loader;
    size_t length = object->body.length;
    if (!loader)
        return error_set(error, TARE_STORE, "server '%s': no load is open", store->address);
    if (object->type != OBJECT_DOCUMENT || !object->body.bytes)
        return error_set(error, TARE_USAGE, "a MongoDB server takes documents only");
    if (length < DOCUMENT_BYTES_MIN || bson_length(object->body.bytes) != length)
        return error_set(error, TARE_USAGE, "document '%.*s' is no BSON",
                         (int)(object->key.length < 100 ? object->key.length : 100),
                         object->key.bytes ? object->key.bytes : "");
    if (length > DOCUMENT_BYTES_MAX)
        return error_set(error, TARE_USAGE,
                         "document '%.*s' has %zu bytes of BSON; MongoDB takes %d",
                         (int)(object->key.length < 100 ? object->key.length : 100),
                         object->key.bytes ? object->key.bytes : "", length, DOCUMENT_BYTES_MAX);
    if (object->index_count > mongodb->index_count && create_indexes(mongodb, object, error))
        return -1;
    if (loader->filling && loader->filling->bytes.length + length > BATCH_BYTES)
        hand_over(loader);
    if (!loader->filling && take_free(mongodb, error))
        return -1;
    buffer_append(&loader->filling->bytes, object->body.bytes, length);
    loader->filling->count++;
    if (loader->filling->count == BATCH_DOCUMENTS || is_wanted(loader))
        hand_over(loader);
    return 0;
}

/* After a lost connection: a server that came back may have lost what it had acknowledged. */
static int check_count(struct mongodb *mongodb, struct tare_error *error)
{
    bson_t command = BSON_INITIALIZER, reply;
    int64_t count = 0;
    BSON_APPEND_UTF8(&command, "count", mongodb->collection);
    int result = mongodb_command(mongodb, mongodb->database, &command, &reply, error);
    if (result == 0 && (!mongodb_number(&reply, "n", &count) || count != mongodb->store.written))
        result = error_set(error, TARE_STORE,
                           "server '%s': %" PRId64 " documents were acknowledged, but after a lost "
                           "connection it holds %" PRId64,
                           mongodb->store.address, mongodb->store.written, count);
    bson_destroy(&reply);
    bson_destroy(&command);
    return result;
}

int mongodb_flush(struct store *store, struct tare_error *error)
{
    struct mongodb *mongodb = (struct mongodb *)store;
    struct mongodb_loader *loader = mongodb->loader;
    bool failed = false, busy = true;
    int result = 0;
    if (!loader)
        return 0;
    if (loader->filling && loader->filling->count)
        hand_over(loader);
    pthread_mutex_lock(&loader->mutex);
    while (result == 0 && busy && !(failed = loader->failed)) {
        busy = false;
        for (size_t i = 0; i < BATCHES; i++)
            busy = busy || loader->batches[i].state != BATCH_FREE;
        if (busy)
            result = wait_for_change(loader, error);
    }
    bool retried = loader->retried;
    loader->retried = false;
    pthread_mutex_unlock(&loader->mutex);
    if (result || take_results(mongodb, failed, error))
        return -1;
    return retried ? check_count(mongodb, error) : 0;
}

/* What was put but never flushed is dropped. */
void mongodb_load_close(struct store *store)
{
    struct mongodb *mongodb = (struct mongodb *)store;
    struct mongodb_loader *loader = mongodb->loader;
    if (!loader)
        return;
    pthread_mutex_lock(&loader->mutex);
    loader->stop = true;
    pthread_cond_broadcast(&loader->changed);
    pthread_mutex_unlock(&loader->mutex);
    for (size_t i = 0; i < WRITERS; i++)
        writer_close(&loader->writers[i]);
    store->written += loader->acknowledged;
    for (size_t i = 0; i < BATCHES; i++) {
        buffer_clear(&loader->batches[i].bytes);
        mongodb->batch_bytes[i] = loader->batches[i].bytes;
    }
    bson_destroy(loader->insert_options);
    pthread_cond_destroy(&loader->changed);
    pthread_mutex_destroy(&loader->mutex);
    free(loader);
    mongodb->loader = NULL;
}

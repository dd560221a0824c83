/* The MongoDB store's own header: what mongodb.c, mongodb_start.c,
 * mongodb_load.c and mongodb_figures.c share. Nothing else includes it but
 * their tests. */
#ifndef TARE_STORES_MONGODB_H
#define TARE_STORES_MONGODB_H

#include <mongoc/mongoc.h>

#include "core/buffer.h"
#include "stores/process.h"
#include "stores/store.h"

/* Where tare writes unless the URL names a database. */
#define MONGODB_DATABASE   "tare"
#define MONGODB_COLLECTION "usertable" /* YCSB's name */
#define MONGODB_INDEX      "index"     /* and a number: the names of secondary indexes */

/* What ask() replaces by the database and the collection that are weighed. Neither name may begin
 * with a full stop in any MongoDB version, so a real name is never taken for it. */
#define MONGODB_WEIGHED "."

extern const struct store_kind store_mongodb;

/* Threads that load, each with a connection and thus a session of its own in the server. */
#define MONGODB_WRITERS 2
#define MONGODB_BATCHES (MONGODB_WRITERS + 2)

struct mongodb_loader;

struct mongodb {
    struct store store;
    struct process process; /* where tare started the program */
    char **arguments;       /* its argv, NULL-terminated; restart uses it again */
    size_t argument_count, argument_capacity;
    char *socket;            /* the program's unix socket */
    bool in_memory;          /* as asked for, where started; as told by the server, else */
    mongoc_uri_t *uri;       /* holds the password, if any: never print it */
    mongoc_client_t *client; /* the control connection */
    char *database, *collection;
    size_t index_count;     /* secondary indexes of the collection, created before the load */
    bool may_drop;          /* the database wasn't there before, and tare has begun to write */
    bool checkpointed;      /* settle() has asked for its checkpoint */
    struct figures changed; /* settings of a URL's server as they were before */
    struct mongodb_loader *loader;
    struct buffer batch_bytes[MONGODB_BATCHES]; /* the loader's, kept from load to load */
};

/* Starting (mongodb_start.c). */

/* Fills arguments for the program: the private folder's data and socket, the engine's flags, and
 * the settings. A setting with the name of a command-line option becomes --NAME VALUE, any other
 * one --setParameter NAME=VALUE; what mongod doesn't know it says itself. */
void mongodb_arguments(struct mongodb *mongodb, const char *program,
                       const struct figures *settings);
void mongodb_arguments_free(struct mongodb *mongodb);
/* The line of a mongod log that says why it ended, in one line; false where none does. log is the
 * log's text: JSON lines (4.4 and later) or plain ones. */
bool mongodb_log_reason(struct slice log, struct buffer *reason);
/* True where tare started the program and it has ended; *error then says why, by its log. Reaps the
 * process: main thread only. */
bool mongodb_ended(struct mongodb *mongodb, struct tare_error *error);
/* The same, with a look for some tenths of a second where a connection was lost: the kernel closes
 * a dying process's sockets before it can be waited for. */
bool mongodb_ended_soon(struct mongodb *mongodb, bool lost_connection, struct tare_error *error);
bool mongodb_is_lost_connection(const bson_error_t *reason);
/* Starts the process and waits until it answers; the control client is open then. */
int mongodb_start(struct mongodb *mongodb, struct tare_error *error);

/* Connecting (mongodb.c). */

/* Parses a URL: the URI with tare's time limits in it, "host:port,..." for messages and the
 * database that it names (NULL: none; the caller frees). No message shows the password. */
int mongodb_url(const char *url, mongoc_uri_t **uri, char *address, size_t size, char **database,
                struct tare_error *error);
/* Makes what others' words brought into a message one line. */
void mongodb_one_line(struct tare_error *error);
/* A client that lives on one connection (no monitoring threads), or NULL. */
mongoc_client_t *mongodb_client(const struct mongodb *mongodb, struct tare_error *error);
/* Fills *error with "server 'ADDRESS': WHAT: REASON", or with the program's own reason where tare
 * started it and it has ended. what may be NULL. Main thread only. Returns -1. */
int mongodb_error(struct mongodb *mongodb, const char *what, const bson_error_t *reason,
                  struct tare_error *error);
/* Runs a command on the control connection; *reply is to be destroyed in any case. */
int mongodb_command(struct mongodb *mongodb, const char *database, const bson_t *command,
                    bson_t *reply, struct tare_error *error);

/* Loading (mongodb_load.c): the store's members of these names. */
int mongodb_load_open(struct store *store, struct tare_error *error);
int mongodb_put(struct store *store, const struct object *object, struct tare_error *error);
int mongodb_flush(struct store *store, struct tare_error *error);
void mongodb_load_close(struct store *store);

/* A workload's client (mongodb_client.c): the store's members of these names. */
struct store_client *mongodb_client_open(struct store *store, struct tare_error *error);
int mongodb_client_add(struct store_client *client, enum operation operation,
                       const struct object *objects, const struct object *before, size_t count,
                       struct tare_error *error);
int mongodb_client_send(struct store_client *client, struct tare_error *error);
int mongodb_client_take(struct store_client *client, bool *found, struct tare_error *error);
void mongodb_client_close(struct store_client *client);

/* Replies (mongodb_figures.c). */

/* Puts every leaf of the document at prefix.NAME: names of nested documents joined by full stops,
 * an array's elements by their index. Whole numbers, booleans (0, 1) and dates (milliseconds since
 * 1970) are integers, doubles reals, binaries and ObjectIds texts in hexadecimal, a timestamp the
 * text "SECONDS:ORDINAL", null the text "null". */
void mongodb_flatten(const bson_t *document, const char *prefix, struct figures *figures);
/* A number at a path of names joined by full stops ("wiredTiger.cache.x"), whatever its BSON type;
 * false where it is missing. Names that hold a full stop themselves aren't found. */
bool mongodb_number(const bson_t *document, const char *path, int64_t *number);
/* A text at such a path, borrowed; NULL where missing. */
const char *mongodb_text(const bson_t *document, const char *path);

#endif

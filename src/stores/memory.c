/* The memory store: a process's own memory, the in-process side of a comparison. tare starts
 * itself once more (tare hold) in a private folder, and hands each object over a unix socket; the
 * process keeps it in one map of jansson (memory_hold.c). What it keeps is weighed as a server's
 * memory is: by its own count of its blocks, by glibc's mallinfo2, by its pages. */
#include <errno.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/buffer.h"
#include "core/memory.h"
#include "stores/memory_hold.h"
#include "stores/process.h"
#include "stores/store.h"

/* Requests gather up to here before they are sent. */
#define SEND_AT (64 * 1024)
/* The process listens within milliseconds. */
#define START_PATIENCE_MS 10000
#define STOP_PATIENCE_MS  2000

struct memory_store {
    struct store store;
    struct process process;
    int connection;
    struct buffer out;
};

static struct memory_store *of(struct store *store)
{
    return (struct memory_store *)store;
}

/* ---- the connection ------------------------------------------------------------------------ */

static int lost(struct memory_store *memory, struct tare_error *error)
{
    struct buffer words = {0};
    int reason = errno;
    if (process_check_interrupt(error))
        return -1;
    process_pause(20); /* it may be about to say why */
    process_alive(&memory->process);
    process_last_words(&memory->process, &words);
    error_set(error, TARE_STORE, "memory: the process that holds the records is gone: %s",
              words.length ? words.data : strerror(reason));
    buffer_free(&words);
    return -1;
}

/* Sends all of the buffer, and empties it. */
static int send_all(int connection, struct buffer *out)
{
    for (size_t sent = 0; sent < out->length;) {
        ssize_t count = send(connection, out->data + sent, out->length - sent, MSG_NOSIGNAL);
        if (count > 0)
            sent += (size_t)count;
        else if (errno != EINTR || process_interrupted)
            return -1;
    }
    buffer_clear(out);
    return 0;
}

static int receive_all(int connection, void *bytes, size_t length)
{
    for (size_t got = 0; got < length;) {
        ssize_t count = recv(connection, (char *)bytes + got, length - got, 0);
        if (count > 0)
            got += (size_t)count;
        else if (count == 0 || errno != EINTR || process_interrupted)
            return -1;
    }
    return 0;
}

static int append_request(struct buffer *out, enum hold_request what, struct slice key,
                          struct slice body, struct tare_error *error)
{
    if (key.length > UINT32_MAX || body.length > UINT32_MAX)
        return error_set(error, TARE_USAGE, "memory: a record of %zu bytes; it takes up to 4 GiB",
                         body.length);
    struct hold_head head = {(uint32_t)what, (uint32_t)key.length, (uint32_t)body.length};
    buffer_append(out, &head, sizeof head);
    buffer_append(out, key.bytes, key.length);
    buffer_append(out, body.bytes, body.length);
    return 0;
}

static int send_out(struct memory_store *memory, struct tare_error *error)
{
    return send_all(memory->connection, &memory->out) ? lost(memory, error) : 0;
}

static int receive(struct memory_store *memory, void *bytes, size_t length,
                   struct tare_error *error)
{
    return receive_all(memory->connection, bytes, length) ? lost(memory, error) : 0;
}

static int request(struct memory_store *memory, enum hold_request what, struct slice key,
                   struct slice body, struct tare_error *error)
{
    if (append_request(&memory->out, what, key, body, error))
        return -1;
    return memory->out.length >= SEND_AT ? send_out(memory, error) : 0;
}

/* A request without an operand, and the number that answers it. */
static int ask_number(struct memory_store *memory, enum hold_request what, uint64_t *number,
                      struct tare_error *error)
{
    const struct slice none = slice_of("", 0);
    return request(memory, what, none, none, error) || send_out(memory, error) ||
                   receive(memory, number, sizeof *number, error)
               ? -1
               : 0;
}

/* ---- starting ------------------------------------------------------------------------------ */

static int connect_to(const char *socket_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection >= 0 && connect(connection, (struct sockaddr *)&address, sizeof address) == 0)
        return connection;
    if (connection >= 0)
        close(connection);
    return -1;
}

static char *socket_path_of(const struct memory_store *memory)
{
    return memory_format("%s/memory.sock", memory->process.folder);
}

static int start(struct memory_store *memory, struct tare_error *error)
{
    char program[] = "/proc/self/exe", command[] = "hold";
    if (process_folder(&memory->process, error))
        return -1;
    char *socket_path = socket_path_of(memory);
    char *arguments[] = {program, command, socket_path, NULL};
    int failed = process_start(&memory->process, arguments, error);
    for (int waited = 0; !failed && memory->connection < 0; waited += 5) {
        memory->connection = connect_to(socket_path);
        if (memory->connection >= 0)
            break;
        if (process_check_interrupt(error))
            failed = -1;
        else if (!process_alive(&memory->process) || waited >= START_PATIENCE_MS)
            failed = lost(memory, error);
        else
            process_pause(5);
    }
    free(socket_path);
    return failed;
}

static void memory_close(struct store *store)
{
    struct memory_store *memory = of(store);
    if (memory->connection >= 0)
        close(memory->connection); /* it ends with its connection */
    process_stop(&memory->process, STOP_PATIENCE_MS);
    process_remove(&memory->process);
    buffer_free(&memory->out);
    free(memory);
}

static struct store *memory_open(const struct server_spec *spec, const struct figures *settings,
                                 const struct store_limits *limits, struct tare_error *error)
{
    if (settings->count > 0) {
        error_set(error, TARE_USAGE, "a process's own memory has no setting '%s'",
                  settings->items[0].name);
        return NULL;
    }
    struct memory_store *memory = memory_new(sizeof *memory);
    memory->store.kind = spec->kind;
    memory->store.limits = *limits;
    memory->store.started = true;
    memory->process.lock = -1;
    memory->connection = -1;
    strcpy(memory->store.address, "memory");
    if (start(memory, error)) {
        memory_close(&memory->store);
        return NULL;
    }
    memory->store.pid = memory->process.pid;
    return &memory->store;
}

static void own_build(struct build *build)
{
    snprintf(build->version, sizeof build->version, "%s", jansson_version_str());
    build->number = version_number(build->version);
    snprintf(build->allocator, sizeof build->allocator, "glibc-%s", gnu_get_libc_version());
}

static int memory_describe(struct store *store, struct build *build, struct tare_error *error)
{
    (void)error;
    *build = (struct build){.cache_oblivious = -1};
    snprintf(build->store, sizeof build->store, "%s", store->kind->name);
    own_build(build);
    return 0;
}

/* ---- loading and reading ------------------------------------------------------------------- */

static int memory_load_open(struct store *store, struct tare_error *error)
{
    (void)store;
    (void)error;
    return 0;
}

static int memory_put(struct store *store, const struct object *object, struct tare_error *error)
{
    enum hold_request what = object->type == OBJECT_TREE ? HOLD_TREE : HOLD_BYTES;
    if (request(of(store), what, object->key, object->body, error))
        return -1;
    store->written++;
    return 0;
}

static int memory_flush(struct store *store, struct tare_error *error)
{
    uint64_t kept;
    return ask_number(of(store), HOLD_FLUSH, &kept, error);
}

static void memory_load_close(struct store *store)
{
    (void)store;
}

/* The first values bring pages and lists of jansson and malloc into use that stay so. */
static int memory_warm_up(struct store *store, const struct object *objects, size_t count,
                          struct figures *figures, struct tare_error *error)
{
    (void)figures;
    for (size_t i = 0; i < count; i++)
        if (memory_put(store, &objects[i], error) ||
            request(of(store), HOLD_REMOVE, objects[i].key, slice_of("", 0), error))
            return -1;
    store->written = 0;
    return memory_flush(store, error);
}

static int memory_read_all(struct store *store, int64_t *count, struct tare_error *error)
{
    uint64_t number;
    if (ask_number(of(store), HOLD_READ, &number, error))
        return -1;
    *count = (int64_t)number;
    return 0;
}

/* ---- workloads ----------------------------------------------------------------------------- */

#define IN_FLIGHT_MOST 4096

struct memory_client {
    struct store_client client;
    int connection;
    struct buffer out;
    int requests[IN_FLIGHT_MOST]; /* of each operation in flight, in turn */
    int64_t added, taken;         /* operations */
};

static struct store_client *memory_client_open(struct store *store, struct tare_error *error)
{
    char *socket_path = socket_path_of(of(store));
    int connection = connect_to(socket_path);
    free(socket_path);
    if (connection < 0) {
        lost(of(store), error);
        return NULL;
    }
    struct memory_client *client = memory_new(sizeof *client);
    client->client.store = store;
    client->connection = connection;
    return &client->client;
}

static void memory_client_close(struct store_client *to)
{
    struct memory_client *client = (struct memory_client *)to;
    close(client->connection);
    buffer_free(&client->out);
    free(client);
}

static int memory_client_add(struct store_client *to, enum operation operation,
                             const struct object *objects, const struct object *before,
                             size_t count, struct tare_error *error)
{
    struct memory_client *client = (struct memory_client *)to;
    int requests = 0;
    (void)before; /* the process itself sees what differs */
    for (size_t i = 0; i < count; i++) {
        bool tree = objects[i].type == OBJECT_TREE;
        enum hold_request what =
            operation == OPERATION_UPDATE   ? (tree ? HOLD_CHANGE_TREE : HOLD_CHANGE_BYTES)
            : operation == OPERATION_INSERT ? (tree ? HOLD_ADD_TREE : HOLD_ADD_BYTES)
                                            : HOLD_GET;
        struct slice body = what == HOLD_GET ? slice_of("", 0) : objects[i].body;
        if (append_request(&client->out, what, objects[i].key, body, error))
            return -1;
        requests++;
    }
    client->requests[client->added++ % IN_FLIGHT_MOST] = requests;
    return 0;
}

static int lost_client(struct tare_error *error)
{
    return error_set(error, TARE_STORE, "memory: a client's connection was lost: %s",
                     strerror(errno));
}

static int memory_client_send(struct store_client *to, struct tare_error *error)
{
    struct memory_client *client = (struct memory_client *)to;
    return send_all(client->connection, &client->out) ? lost_client(error) : 0;
}

static int memory_client_take(struct store_client *to, bool *found, struct tare_error *error)
{
    struct memory_client *client = (struct memory_client *)to;
    int requests = client->requests[client->taken++ % IN_FLIGHT_MOST];
    *found = true;
    for (int i = 0; i < requests; i++) {
        char answer;
        errno = 0;
        if (receive_all(client->connection, &answer, 1))
            return lost_client(error);
        *found = *found && answer;
    }
    return 0;
}

/* ---- figures ------------------------------------------------------------------------------- */

static int memory_ask(struct store *store, const char *question, const char *prefix,
                      struct figures *figures, struct tare_error *error)
{
    uint64_t length;
    if (strcmp(question, "figures") != 0)
        return error_set(error, TARE_STORE, "memory: unknown question '%s'", question);
    if (ask_number(of(store), HOLD_FIGURES, &length, error))
        return -1;
    char *text = memory_new(length + 1), *rest = NULL;
    int failed = receive(of(store), text, length, error);
    for (char *line = strtok_r(text, "\n", &rest); !failed && line;
         line = strtok_r(NULL, "\n", &rest)) {
        char *blank = strchr(line, ' ');
        if (!blank)
            continue;
        *blank = '\0';
        char *name = memory_format("%s%s", prefix, line);
        figures_integer(figures, name, strtoll(blank + 1, NULL, 10));
        free(name);
    }
    free(text);
    return failed;
}

static int memory_glance(struct store *store, struct figures *figures, struct tare_error *error)
{
    struct figures all = {0};
    int64_t resident;
    int failed = memory_ask(store, "figures", "", &all, error);
    if (!failed) {
        figures_integer(figures, "allocated", figures_get(&all, "memory.usable"));
        if (process_resident(store->pid, &resident))
            figures_integer(figures, "resident", resident);
    }
    figures_free(&all);
    return failed;
}

const struct store_kind store_memory = {
    .name = "memory",
    .family = "memory",
    .summary = "a process's own memory: one map of jansson's values on glibc's malloc",
    .pace = {.empty_bytes = 12 << 20,
             .start_seconds = 0.1,
             .records_per_second = 400000,
             .bytes_per_second = 1e9},
    .open = memory_open,
    .own_build = own_build,
    .describe = memory_describe,
    .warm_up = memory_warm_up,
    .load_open = memory_load_open,
    .put = memory_put,
    .flush = memory_flush,
    .load_close = memory_load_close,
    .glance = memory_glance,
    .read_all = memory_read_all,
    .client_open = memory_client_open,
    .client_add = memory_client_add,
    .client_send = memory_client_send,
    .client_take = memory_client_take,
    .client_close = memory_client_close,
    .in_flight_most = IN_FLIGHT_MOST,
    .ask = memory_ask,
    .close = memory_close,
};

/* The holder. Its heap is to hold the records and nothing else that moves: what
 * it works with (the input, the counts) is mapped apart, once and whole, so
 * that it is in the base and never among the blocks. */
#include "stores/memory_hold.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "model/tree.h"
#include "stores/process.h"

/* glibc's own default (malloc.c, DEFAULT_MMAP_THRESHOLD). Set, it stays: otherwise each mapped
 * block that is freed raises it, and where a block lies would depend on what was freed before. */
#define MAPPED_FROM (128 * 1024)

/* Usable sizes are multiples of 8, and up to here counted each in its place. */
#define SIZES_MOST (128 * 1024)
/* So many larger ones are told apart. */
#define LARGE_MOST 256
/* Of the first connection, over which records are loaded, and of a workload's client. */
#define INPUT_SIZE        ((size_t)1 << 20)
#define CLIENT_INPUT_SIZE ((size_t)1 << 16)
/* A workload has 1,024 clients at most. */
#define CONNECTIONS_MOST 1032

struct connection {
    char *input; /* mapped; grows for a larger request, and shrinks again */
    size_t input_least, input_size, input_begin, input_end;
};

struct holder {
    struct connection connections[CONNECTIONS_MOST];
    struct pollfd polled[CONNECTIONS_MOST + 1]; /* of each of them, then the listener */
    size_t connection_count;
    uint64_t kept;
    int64_t blocks, usable;
    int64_t sizes[SIZES_MOST / 8];
    struct {
        int64_t size, count;
    } large[LARGE_MOST];
    char reply[64 * 1024];
    size_t reply_length;
};

static struct holder *holder; /* jansson's functions take no context */
static json_t *map;           /* not in what is mapped apart: there leak checkers don't look */

static void count_block(void *block, int64_t sign)
{
    int64_t usable = (int64_t)malloc_usable_size(block);
    holder->blocks += sign;
    holder->usable += sign * usable;
    if (usable < SIZES_MOST) {
        holder->sizes[usable / 8] += sign;
        return;
    }
    size_t place = 0;
    while (place < LARGE_MOST && holder->large[place].size != usable && holder->large[place].size)
        place++;
    if (place < LARGE_MOST) {
        holder->large[place].size = usable;
        holder->large[place].count += sign;
    }
}

static void *hold_malloc(size_t size)
{
    void *block = malloc(size);
    if (block)
        count_block(block, 1);
    return block;
}

static void hold_free(void *block)
{
    if (block)
        count_block(block, -1);
    free(block);
}

/* ---- values -------------------------------------------------------------------------------- */

static json_t *make_value(struct tree_reader *reader);

static json_t *make_object(struct tree_reader *reader, size_t count)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < count; i++) {
        struct tree_node name;
        json_t *value =
            tree_next(reader, &name) && name.type == TREE_TEXT ? make_value(reader) : NULL;
        if (json_object_setn_new_nocheck(object, name.text.bytes, name.text.length, value)) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

static json_t *make_array(struct tree_reader *reader, size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < count; i++)
        if (json_array_append_new(array, make_value(reader))) {
            json_decref(array);
            array = NULL;
        }
    return array;
}

static json_t *make_value(struct tree_reader *reader)
{
    struct tree_node node;
    if (!tree_next(reader, &node))
        return NULL;
    switch (node.type) {
    case TREE_NULL:
        return json_null();
    case TREE_FALSE:
        return json_false();
    case TREE_TRUE:
        return json_true();
    case TREE_INTEGER:
        return json_integer(node.integer);
    case TREE_REAL:
        return json_real(node.real);
    case TREE_TEXT:
        return json_stringn_nocheck(node.text.bytes, node.text.length);
    case TREE_ARRAY:
        return make_array(reader, node.count);
    case TREE_OBJECT:
        return make_object(reader, node.count);
    }
    return NULL;
}

/* Makes a value as the tree says by changing what differs, as a program does with its own objects.
 * False where it is another one in kind, or in what it has: what is read is then half used. */
static bool change_value(json_t *value, struct tree_reader *reader)
{
    struct tree_node node, name;
    bool same = tree_next(reader, &node);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        same = same && node.type == TREE_OBJECT && json_object_size(value) == node.count;
        for (size_t i = 0; same && i < node.count; i++) {
            json_t *inner = tree_next(reader, &name) && name.type == TREE_TEXT
                                ? json_object_getn(value, name.text.bytes, name.text.length)
                                : NULL;
            same = inner && change_value(inner, reader);
        }
        return same;
    case JSON_ARRAY:
        same = same && node.type == TREE_ARRAY && json_array_size(value) == node.count;
        for (size_t i = 0; same && i < node.count; i++)
            same = change_value(json_array_get(value, i), reader);
        return same;
    case JSON_STRING:
        if (!same || node.type != TREE_TEXT)
            return false;
        if (json_string_length(value) == node.text.length &&
            memcmp(json_string_value(value), node.text.bytes, node.text.length) == 0)
            return true;
        return json_string_setn_nocheck(value, node.text.bytes, node.text.length) == 0;
    case JSON_INTEGER:
        return same && node.type == TREE_INTEGER && json_integer_set(value, node.integer) == 0;
    case JSON_REAL:
        return same && node.type == TREE_REAL && json_real_set(value, node.real) == 0;
    case JSON_TRUE:
        return same && node.type == TREE_TRUE;
    case JSON_FALSE:
        return same && node.type == TREE_FALSE;
    case JSON_NULL:
        return same && node.type == TREE_NULL;
    }
    return false;
}

/* Eight bytes at a time. */
static uint64_t read_text(const char *text, size_t length)
{
    uint64_t sum = 0, word;
    for (; length >= sizeof word; text += sizeof word, length -= sizeof word) {
        memcpy(&word, text, sizeof word);
        sum += word;
    }
    while (length-- > 0)
        sum += (unsigned char)*text++;
    return sum;
}

/* Touches all of a value; the sum keeps the compiler from leaving it out. */
static uint64_t read_value(json_t *value)
{
    uint64_t sum = 0;
    const char *name;
    size_t index;
    json_t *inner;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        json_object_keylen_foreach(value, name, index, inner)
        {
            sum += read_text(name, index) + read_value(inner);
        }
        break;
    case JSON_ARRAY:
        json_array_foreach(value, index, inner) sum += read_value(inner);
        break;
    case JSON_STRING:
        sum = read_text(json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        sum = (uint64_t)json_integer_value(value);
        break;
    case JSON_REAL:
        sum = json_real_value(value) > 0;
        break;
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
        break;
    }
    return sum;
}

static uint64_t read_all(void)
{
    static volatile uint64_t sink;
    uint64_t count = 0;
    const char *key;
    size_t length;
    json_t *value;
    json_object_keylen_foreach(map, key, length, value)
    {
        sink += read_value(json_object_getn(map, key, length));
        count++;
    }
    return count;
}

/* ---- the connection ------------------------------------------------------------------------ */

static int send_all(int connection, const void *bytes, size_t length)
{
    for (const char *at = bytes; length > 0;) {
        ssize_t sent = send(connection, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR && !process_interrupted)
            continue;
        if (sent <= 0)
            return -1;
        at += sent;
        length -= (size_t)sent;
    }
    return 0;
}

static int send_number(int connection, uint64_t number)
{
    return send_all(connection, &number, sizeof number);
}

static int send_found(int connection, bool found)
{
    const char byte = found;
    return send_all(connection, &byte, 1);
}

static int resize_input(struct connection *from, size_t size)
{
    void *input = mremap(from->input, from->input_size, size, MREMAP_MAYMOVE);
    if (input == MAP_FAILED)
        return -1;
    from->input = input;
    from->input_size = size;
    return 0;
}

/* Reads what is there, with room for `wanted` bytes from input_begin on; 1: the connection ended.
 */
static int receive(struct connection *from, int descriptor, size_t wanted)
{
    if (from->input_begin + wanted > from->input_size) {
        memmove(from->input, from->input + from->input_begin, from->input_end - from->input_begin);
        from->input_end -= from->input_begin;
        from->input_begin = 0;
    }
    if (wanted > from->input_size && resize_input(from, wanted))
        return -1;
    ssize_t got =
        recv(descriptor, from->input + from->input_end, from->input_size - from->input_end, 0);
    if (got < 0 && errno == EINTR)
        return process_interrupted ? 1 : 0;
    if (got <= 0)
        return got == 0 ? 1 : -1;
    from->input_end += (size_t)got;
    return 0;
}

/* A larger input than at first goes back to that size once it is empty. */
static void shrink_input(struct connection *from)
{
    if (from->input_begin < from->input_end)
        return;
    from->input_begin = from->input_end = 0;
    if (from->input_size > from->input_least)
        resize_input(from, from->input_least);
}

static void put_figure(const char *name, int64_t suffix, int64_t number)
{
    char *at = holder->reply + holder->reply_length;
    size_t room = sizeof holder->reply - holder->reply_length;
    int length = suffix < 0
                     ? snprintf(at, room, "%s %" PRId64 "\n", name, number)
                     : snprintf(at, room, "%s.%" PRId64 " %" PRId64 "\n", name, suffix, number);
    if (length > 0 && (size_t)length < room)
        holder->reply_length += (size_t)length;
}

/* Sizes that don't fit into the reply are left out; the sums have them. */
static int send_figures(int connection)
{
    struct mallinfo2 info = mallinfo2();
    holder->reply_length = 0;
    put_figure("memory.blocks", -1, holder->blocks);
    put_figure("memory.usable", -1, holder->usable);
    put_figure("memory.keys", -1, (int64_t)json_object_size(map));
    put_figure("mallinfo.arena", -1, (int64_t)info.arena);
    put_figure("mallinfo.hblks", -1, (int64_t)info.hblks);
    put_figure("mallinfo.hblkhd", -1, (int64_t)info.hblkhd);
    put_figure("mallinfo.uordblks", -1, (int64_t)info.uordblks);
    put_figure("mallinfo.fordblks", -1, (int64_t)info.fordblks);
    put_figure("mallinfo.keepcost", -1, (int64_t)info.keepcost);
    for (int64_t i = 0; i < SIZES_MOST / 8; i++)
        if (holder->sizes[i])
            put_figure("memory.sizes", i * 8, holder->sizes[i]);
    for (size_t i = 0; i < LARGE_MOST && holder->large[i].size; i++)
        put_figure("memory.sizes", holder->large[i].size, holder->large[i].count);
    return send_number(connection, holder->reply_length) ||
           send_all(connection, holder->reply, holder->reply_length);
}

static int keep(struct slice key, struct slice body, bool tree)
{
    struct tree_reader reader = tree_read(body);
    holder->kept++;
    return json_object_setn_new_nocheck(map, key.bytes, key.length,
                                        tree ? make_value(&reader)
                                             : json_stringn_nocheck(body.bytes, body.length));
}

static int change(struct slice key, struct slice body, bool tree, bool *found)
{
    json_t *value = json_object_getn(map, key.bytes, key.length);
    struct tree_reader reader = tree_read(body);
    *found = value != NULL;
    if (!value)
        return 0;
    if (!tree)
        return json_string_setn_nocheck(value, body.bytes, body.length);
    return change_value(value, &reader) ? 0 : -1;
}

/* One request; found: what the reply of a workload's is. */
static int serve(int connection, const struct hold_head *head, struct slice key, struct slice body)
{
    static volatile uint64_t sink;
    enum hold_request request = (enum hold_request)head->request;
    bool tree = request == HOLD_TREE || request == HOLD_ADD_TREE || request == HOLD_CHANGE_TREE;
    json_t *value;
    bool found = true;
    int failed = 0;
    switch (request) {
    case HOLD_BYTES:
    case HOLD_TREE:
        return keep(key, body, tree);
    case HOLD_REMOVE:
        return json_object_deln(map, key.bytes, key.length);
    case HOLD_FLUSH:
        return send_number(connection, holder->kept);
    case HOLD_READ:
        return send_number(connection, read_all());
    case HOLD_FIGURES:
        return send_figures(connection);
    case HOLD_GET:
        value = json_object_getn(map, key.bytes, key.length);
        found = value != NULL;
        sink += found ? read_value(value) : 0;
        break;
    case HOLD_CHANGE_BYTES:
    case HOLD_CHANGE_TREE:
        failed = change(key, body, tree, &found);
        break;
    case HOLD_ADD_BYTES:
    case HOLD_ADD_TREE:
        failed = keep(key, body, tree);
        break;
    default:
        return -1;
    }
    return failed || send_found(connection, found) ? -1 : 0;
}

/* The request that the input begins with; false where it isn't whole. *wanted: its length, or that
 * of a head where not even that is there. */
static bool first_request(const struct connection *from, struct hold_head *head, size_t *wanted)
{
    size_t there = from->input_end - from->input_begin;
    *wanted = sizeof *head;
    if (there < sizeof *head)
        return false;
    memcpy(head, from->input + from->input_begin, sizeof *head);
    *wanted += head->key_length + (size_t)head->body_length;
    return there >= *wanted;
}

/* Reads what came, and serves the requests that are whole. 0; 1 where the connection ended. */
static int serve_input(struct connection *from, int descriptor, struct tare_error *error)
{
    struct hold_head head;
    size_t wanted;
    first_request(from, &head, &wanted);
    int ended = receive(from, descriptor, wanted);
    if (ended < 0 || (ended && from->input_begin < from->input_end))
        return error_set(error, TARE_STORE, "memory: a request was cut short");
    while (first_request(from, &head, &wanted)) {
        const char *key = from->input + from->input_begin + sizeof head;
        errno = 0;
        if (serve(descriptor, &head, slice_of(key, head.key_length),
                  slice_of(key + head.key_length, head.body_length)))
            return error_set(error, TARE_STORE, "memory: request %u failed: %s", head.request,
                             errno ? strerror(errno) : "malformed");
        from->input_begin += wanted;
    }
    shrink_input(from);
    return ended;
}

/* Mapped and touched whole. */
static void *map_apart(size_t size)
{
    void *block =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static int listen_at(const char *socket_path, struct tare_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(socket_path) >= sizeof address.sun_path)
        return error_set(error, TARE_USAGE, "the socket's path '%s' is too long", socket_path);
    strcpy(address.sun_path, socket_path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) ||
        listen(listener, CONNECTIONS_MOST))
        return error_set(error, TARE_STORE, "cannot listen at '%s': %s", socket_path,
                         strerror(errno));
    return listener;
}

static int add_connection(int listener, struct tare_error *error)
{
    size_t place = holder->connection_count;
    size_t size = place == 0 ? INPUT_SIZE : CLIENT_INPUT_SIZE;
    int descriptor = accept(listener, NULL, NULL);
    if (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED))
        return 0;
    char *input = descriptor >= 0 && place < CONNECTIONS_MOST ? map_apart(size) : NULL;
    if (!input)
        return error_set(error, TARE_STORE, "memory: cannot take a connection: %s",
                         strerror(errno));
    holder->connections[place] =
        (struct connection){.input = input, .input_least = size, .input_size = size};
    holder->polled[place + 1] = holder->polled[place]; /* the listener */
    holder->polled[place] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    holder->connection_count++;
    return 0;
}

static void end_connection(size_t place)
{
    size_t last = --holder->connection_count;
    close(holder->polled[place].fd);
    munmap(holder->connections[place].input, holder->connections[place].input_size);
    holder->connections[place] = holder->connections[last];
    holder->polled[place] = holder->polled[last];
    holder->polled[last] = holder->polled[last + 1];
}

/* 0; 1 where the first connection ended. */
static int serve_all(struct tare_error *error)
{
    size_t count = holder->connection_count;
    if (poll(holder->polled, count + 1, -1) < 0)
        return errno != EINTR        ? error_set(error, TARE_STORE, "memory: %s", strerror(errno))
               : process_interrupted ? 1
                                     : 0;
    if (holder->polled[count].revents && add_connection(holder->polled[count].fd, error))
        return -1;
    /* From the last: ending one moves the last into its place. */
    for (size_t i = count; i-- > 0;) {
        if (!holder->polled[i].revents)
            continue;
        int ended = serve_input(&holder->connections[i], holder->polled[i].fd, error);
        if (ended < 0 || (ended && i == 0))
            return ended;
        if (ended)
            end_connection(i);
    }
    return 0;
}

int memory_hold(const char *socket_path, struct tare_error *error)
{
    holder = map_apart(sizeof *holder);
    if (!holder)
        return error_set(error, TARE_STORE, "memory: %s", strerror(errno));
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
    json_set_alloc_funcs(hold_malloc, hold_free);
    map = json_object();
    if (!map)
        return error_set(error, TARE_STORE, "memory: %s", strerror(errno));
    int listener = listen_at(socket_path, error);
    if (listener < 0)
        return -1;
    holder->polled[0] = (struct pollfd){.fd = listener, .events = POLLIN};
    int ended = 0;
    while (!ended)
        ended = serve_all(error);
    return ended < 0 ? -1 : 0;
}

/* The holder. Its heap is to hold the records and nothing else that moves: what
 * it works with (the input, the counts) is mapped apart, once and whole, so
 * that it is in the base and never among the blocks. */
#include "stores/memory_hold.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <malloc.h>
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
#define INPUT_SIZE ((size_t)1 << 20)

struct holder {
    int connection;
    json_t *map;
    uint64_t kept;
    int64_t blocks, usable;
    int64_t sizes[SIZES_MOST / 8];
    struct {
        int64_t size, count;
    } large[LARGE_MOST];
    char reply[64 * 1024];
    size_t reply_length;
    char *input; /* mapped; grows for a larger request, and shrinks again */
    size_t input_size, input_begin, input_end;
};

static struct holder *holder; /* jansson's functions take no context */

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

/* Touches all of a value; the sum keeps the compiler from leaving it out. */
static uint64_t read_value(json_t *value)
{
    uint64_t sum = 0;
    const char *name;
    size_t index;
    json_t *inner;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        json_object_foreach(value, name, inner) sum += strlen(name) + read_value(inner);
        break;
    case JSON_ARRAY:
        json_array_foreach(value, index, inner) sum += read_value(inner);
        break;
    case JSON_STRING:
        for (index = 0; index < json_string_length(value); index++)
            sum += (unsigned char)json_string_value(value)[index];
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
    json_object_keylen_foreach(holder->map, key, length, value)
    {
        sink += read_value(json_object_getn(holder->map, key, length));
        count++;
    }
    return count;
}

/* ---- the connection ------------------------------------------------------------------------ */

static int send_all(const void *bytes, size_t length)
{
    for (const char *at = bytes; length > 0;) {
        ssize_t sent = send(holder->connection, at, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR && !process_interrupted)
            continue;
        if (sent <= 0)
            return -1;
        at += sent;
        length -= (size_t)sent;
    }
    return 0;
}

static int send_number(uint64_t number)
{
    return send_all(&number, sizeof number);
}

/* Reads until `wanted` bytes are there; 1: the connection ended. */
static int receive(size_t wanted)
{
    while (holder->input_end - holder->input_begin < wanted) {
        if (holder->input_begin + wanted > holder->input_size) {
            memmove(holder->input, holder->input + holder->input_begin,
                    holder->input_end - holder->input_begin);
            holder->input_end -= holder->input_begin;
            holder->input_begin = 0;
        }
        if (wanted > holder->input_size) {
            void *larger = mremap(holder->input, holder->input_size, wanted, MREMAP_MAYMOVE);
            if (larger == MAP_FAILED)
                return -1;
            holder->input = larger;
            holder->input_size = wanted;
        }
        ssize_t got = recv(holder->connection, holder->input + holder->input_end,
                           holder->input_size - holder->input_end, 0);
        if (got < 0 && errno == EINTR && !process_interrupted)
            continue;
        if (got <= 0)
            return got == 0 ? 1 : -1;
        holder->input_end += (size_t)got;
    }
    return 0;
}

/* A larger input than at first goes back to that size once it is empty. */
static void shrink_input(void)
{
    if (holder->input_begin < holder->input_end)
        return;
    holder->input_begin = holder->input_end = 0;
    if (holder->input_size > INPUT_SIZE) {
        void *smaller = mremap(holder->input, holder->input_size, INPUT_SIZE, MREMAP_MAYMOVE);
        if (smaller != MAP_FAILED) {
            holder->input = smaller;
            holder->input_size = INPUT_SIZE;
        }
    }
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
static int send_figures(void)
{
    struct mallinfo2 info = mallinfo2();
    holder->reply_length = 0;
    put_figure("memory.blocks", -1, holder->blocks);
    put_figure("memory.usable", -1, holder->usable);
    put_figure("memory.keys", -1, (int64_t)json_object_size(holder->map));
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
    return send_number(holder->reply_length) || send_all(holder->reply, holder->reply_length);
}

/* 0; 1 where the connection ended between two requests. */
static int serve_one(struct tare_error *error)
{
    struct hold_head head;
    int ended = receive(sizeof head);
    if (ended)
        return ended > 0 ? 1 : error_set(error, TARE_STORE, "memory: %s", strerror(errno));
    memcpy(&head, holder->input + holder->input_begin, sizeof head);
    size_t length = sizeof head + head.key_length + head.body_length;
    if (receive(length))
        return error_set(error, TARE_STORE, "memory: a request was cut short");
    const char *key = holder->input + holder->input_begin + sizeof head;
    struct slice body = slice_of(key + head.key_length, head.body_length);
    struct tree_reader reader = tree_read(body);
    int failed = 0;
    switch ((enum hold_request)head.request) {
    case HOLD_BYTES:
    case HOLD_TREE:
        failed = json_object_setn_new_nocheck(holder->map, key, head.key_length,
                                              head.request == HOLD_TREE
                                                  ? make_value(&reader)
                                                  : json_stringn_nocheck(body.bytes, body.length));
        holder->kept++;
        break;
    case HOLD_REMOVE:
        failed = json_object_deln(holder->map, key, head.key_length);
        break;
    case HOLD_FLUSH:
        failed = send_number(holder->kept);
        break;
    case HOLD_READ:
        failed = send_number(read_all());
        break;
    case HOLD_FIGURES:
        failed = send_figures();
        break;
    default:
        failed = -1;
    }
    holder->input_begin += length;
    shrink_input();
    return failed ? error_set(error, TARE_STORE, "memory: request %u failed: %s", head.request,
                              errno ? strerror(errno) : "malformed")
                  : 0;
}

/* Mapped and touched whole. */
static void *map_apart(size_t size)
{
    void *block =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    return block == MAP_FAILED ? NULL : block;
}

static int take_connection(const char *socket_path, struct tare_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(socket_path) >= sizeof address.sun_path)
        return error_set(error, TARE_USAGE, "the socket's path '%s' is too long", socket_path);
    strcpy(address.sun_path, socket_path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) ||
        listen(listener, 1))
        return error_set(error, TARE_STORE, "cannot listen at '%s': %s", socket_path,
                         strerror(errno));
    int connection;
    do
        connection = accept(listener, NULL, NULL);
    while (connection < 0 && errno == EINTR && !process_interrupted);
    close(listener);
    return connection < 0 ? error_set(error, TARE_STORE, "cannot take a connection at '%s': %s",
                                      socket_path, strerror(errno))
                          : connection;
}

int memory_hold(const char *socket_path, struct tare_error *error)
{
    holder = map_apart(sizeof *holder);
    char *input = map_apart(INPUT_SIZE);
    if (!holder || !input)
        return error_set(error, TARE_STORE, "memory: %s", strerror(errno));
    *holder = (struct holder){.input = input, .input_size = INPUT_SIZE};
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
    json_set_alloc_funcs(hold_malloc, hold_free);
    holder->map = json_object();
    if (!holder->map)
        return error_set(error, TARE_STORE, "memory: %s", strerror(errno));
    holder->connection = take_connection(socket_path, error);
    int ended = holder->connection < 0 ? -1 : 0;
    while (!ended) {
        errno = 0;
        ended = serve_one(error);
    }
    if (holder->connection >= 0)
        close(holder->connection);
    return ended < 0 ? -1 : 0;
}

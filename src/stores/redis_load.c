/* Loading Redis: objects become commands (RESP), written ahead of their
 * replies over one connection, both ways at once, with bounded memory. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/memory.h"
#include "data/record.h"
#include "stores/redis.h"

/* Commands gather up to here before they are written. */
#define WRITE_AT (64 * 1024)
/* And no more than this stands unwritten: then the server is waited for. */
#define WRITE_MOST (256 * 1024)
/* No more commands than this without their replies: the server's output buffer stays small. */
#define REPLIES_MOST 4096
/* A server that takes nothing and says nothing for so long is taken for lost. */
#define PATIENCE_MS 60000

/* Twice as many as can be outstanding: an object more than REPLIES_MOST commands. */
#define ENDS_SIZE (2 * REPLIES_MOST)
/* How long a server that isn't tare's own is given to take what was sent before it is wiped. */
#define DRAIN_MS 5000

struct redis_loader {
    redisContext *context;
    struct buffer out;
    size_t sent;          /* of out */
    int64_t outstanding;  /* commands without their reply */
    int64_t replies;      /* taken so far */
    bool ends[ENDS_SIZE]; /* by command, in turn: it is the last one of its object */
    char *refusal;        /* the first error reply */
};

/* ---- the wire form ------------------------------------------------------------------------- */

static void wire_number(struct buffer *out, char mark, size_t number)
{
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\n';
    digits[--at] = '\r';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    digits[--at] = mark;
    buffer_append(out, digits + at, sizeof digits - at);
}

static void wire_word(struct buffer *out, const char *bytes, size_t length)
{
    wire_number(out, '$', length);
    buffer_append(out, bytes, length);
    buffer_append(out, "\r\n", 2);
}

static void wire_text(struct buffer *out, const char *text)
{
    wire_word(out, text, strlen(text));
}

static void wire_integer(struct buffer *out, int64_t number)
{
    char digits[24];
    wire_word(out, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number));
}

static void wire_score(struct buffer *out, double score)
{
    char text[40];
    if (score == floor(score) && fabs(score) < 1e15)
        wire_integer(out, (int64_t)score);
    else
        wire_word(out, text, double_text(score, text));
}

static void wire_names(struct buffer *out, const char *command, const struct object *object)
{
    wire_number(out, '*', 2 + object->element_count);
    wire_text(out, command);
    wire_word(out, object->key.bytes, object->key.length);
    for (size_t i = 0; i < object->element_count; i++)
        wire_word(out, object->elements[i].name.bytes, object->elements[i].name.length);
}

static void wire_id(struct buffer *out, const struct stream_entry *entry)
{
    char id[48];
    wire_word(out, id,
              (size_t)snprintf(id, sizeof id, "%lld-%lld", (long long)entry->milliseconds,
                               (long long)entry->sequence));
}

static void wire_pairs(struct buffer *out, const char *command, const struct object *object)
{
    bool stream = object->type == OBJECT_STREAM;
    wire_number(out, '*', 2 + (stream ? 1U : 0U) + 2 * object->element_count);
    wire_text(out, command);
    wire_word(out, object->key.bytes, object->key.length);
    if (stream)
        wire_id(out, object->entries);
    for (size_t i = 0; i < object->element_count; i++) {
        const struct element *element = &object->elements[i];
        if (object->type == OBJECT_ZSET)
            wire_score(out, element->score);
        wire_word(out, element->name.bytes, element->name.length);
        if (object->type != OBJECT_ZSET)
            wire_word(out, element->value.bytes, element->value.length);
    }
}

int redis_wire(struct buffer *out, const struct object *object)
{
    /* An object that grows expires as a whole: it is told so once. */
    bool joins = (object->batch || object->shared) && !object->first;
    int64_t ttl = joins ? 0 : object->ttl_seconds;
    int commands = 1;
    switch (object->type) {
    case OBJECT_STRING:
        wire_number(out, '*', ttl ? 5 : 3);
        wire_text(out, "SET");
        wire_word(out, object->key.bytes, object->key.length);
        wire_word(out, object->body.bytes, object->body.length);
        if (ttl) {
            wire_text(out, "EX");
            wire_integer(out, ttl);
        }
        return commands;
    case OBJECT_HASH: /* HSET takes several fields only from 4.0 on; HMSET does everywhere */
        wire_pairs(out, "HMSET", object);
        break;
    case OBJECT_ZSET:
        wire_pairs(out, "ZADD", object);
        break;
    case OBJECT_STREAM:
        wire_pairs(out, "XADD", object);
        break;
    case OBJECT_LIST:
        wire_names(out, "RPUSH", object);
        break;
    case OBJECT_SET:
        wire_names(out, "SADD", object);
        break;
    case OBJECT_JSON:
        wire_number(out, '*', 4);
        wire_text(out, "JSON.SET");
        wire_word(out, object->key.bytes, object->key.length);
        wire_text(out, "$");
        wire_word(out, object->body.bytes, object->body.length);
        break;
    case OBJECT_DOCUMENT:
    case OBJECT_TREE:
        return 0;
    }
    if (ttl) {
        wire_number(out, '*', 3);
        wire_text(out, "EXPIRE");
        wire_word(out, object->key.bytes, object->key.length);
        wire_integer(out, ttl);
        commands++;
    }
    return commands;
}

/* ---- the connection ------------------------------------------------------------------------ */

int redis_load_open(struct store *store, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    redisContext *context = redis_connect(&redis->place, store->address, 5000, error);
    if (!context) {
        if (store->started && !process_alive(&redis->process))
            redis_lost(redis, "can't connect", error);
        return -1;
    }
    int flags = fcntl(context->fd, F_GETFL);
    fcntl(context->fd, F_SETFL, flags | O_NONBLOCK);
    redis->loader = memory_new(sizeof *redis->loader);
    redis->loader->context = context;
    return 0;
}

/* Half a connection closed, the rest read to its end: then the server has executed all that it was
 * sent, and nothing of it comes after what another connection says next. */
static void drain(struct redis_loader *loader)
{
    char bytes[16 * 1024];
    shutdown(loader->context->fd, SHUT_WR);
    for (int waited = 0; waited < DRAIN_MS;) {
        ssize_t got = read(loader->context->fd, bytes, sizeof bytes);
        if (got > 0 || (got < 0 && errno == EINTR))
            continue;
        if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
            return;
        struct pollfd wait = {.fd = loader->context->fd, .events = POLLIN};
        if (poll(&wait, 1, 100) <= 0)
            waited += 100;
    }
}

void redis_load_close(struct store *store)
{
    struct redis *redis = (struct redis *)store;
    if (!redis->loader)
        return;
    if (!store->started && redis->loader->outstanding > 0)
        drain(redis->loader);
    redisFree(redis->loader->context);
    buffer_free(&redis->loader->out);
    free(redis->loader->refusal);
    free(redis->loader);
    redis->loader = NULL;
}

/* Takes what replies there are. */
static int take_replies(struct redis *redis, struct tare_error *error)
{
    struct redis_loader *loader = redis->loader;
    char bytes[16 * 1024];
    while (1) {
        ssize_t got = read(loader->context->fd, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return 0;
        if (got <= 0)
            return redis_lost(redis, "the server closed the connection", error);
        if (redisReaderFeed(loader->context->reader, bytes, (size_t)got) != REDIS_OK)
            return redis_lost(redis, loader->context->reader->errstr, error);
        void *reply = NULL;
        while (1) {
            if (redisReaderGetReply(loader->context->reader, &reply) != REDIS_OK)
                return redis_lost(redis, loader->context->reader->errstr, error);
            if (!reply)
                break;
            const redisReply *said = reply;
            loader->outstanding--;
            bool last = loader->ends[loader->replies++ % ENDS_SIZE];
            if (said->type == REDIS_REPLY_ERROR) {
                if (!loader->refusal)
                    loader->refusal = memory_text(said->str);
            } else if (last && !loader->refusal) {
                redis->store.written++;
            }
            freeReplyObject(reply);
        }
        if ((size_t)got < sizeof bytes)
            return 0;
    }
}

static int refused(const struct redis *redis, struct tare_error *error)
{
    return error_set(error, TARE_STORE, "%s: the server refused a write after %lld objects: %s",
                     redis->store.address, (long long)redis->store.written, redis->loader->refusal);
}

/* What is sent makes room: a server that is always a little behind would else let it pile up. */
static void drop_sent(struct redis_loader *loader)
{
    size_t left = loader->out.length - loader->sent;
    if (loader->sent == 0)
        return;
    memmove(loader->out.data, loader->out.data + loader->sent, left);
    loader->out.length = left;
    loader->sent = 0;
}

/* Writes and reads until no more than `unsent` bytes and `replies` replies are outstanding. */
static int pump(struct redis *redis, size_t unsent, int64_t replies, struct tare_error *error)
{
    struct redis_loader *loader = redis->loader;
    while (1) {
        while (loader->sent < loader->out.length) {
            ssize_t put = send(loader->context->fd, loader->out.data + loader->sent,
                               loader->out.length - loader->sent, MSG_NOSIGNAL);
            if (put > 0) {
                loader->sent += (size_t)put;
                continue;
            }
            if (put < 0 && errno == EINTR)
                continue;
            if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
                break;
            return redis_lost(redis, "the server closed the connection", error);
        }
        drop_sent(loader);
        if (take_replies(redis, error))
            return -1;
        if (loader->refusal)
            return refused(redis, error);
        size_t left = loader->out.length - loader->sent;
        if (left <= unsent && loader->outstanding <= replies)
            return 0;
        struct pollfd wait = {.fd = loader->context->fd,
                              .events = (short)(POLLIN | (left ? POLLOUT : 0))};
        int ready = poll(&wait, 1, PATIENCE_MS);
        if (process_check_interrupt(error))
            return -1;
        if (ready == 0)
            return redis_lost(redis, "no answer", error);
    }
}

int redis_remember(struct redis *redis, const struct object *object, struct tare_error *error)
{
    if (!redis->keys || redis->store.limits.keep)
        return 0;
    redis->wrote = true;
    if (object->shared || object->batch) {
        if (redis->shared_key && slice_is(object->key, redis->shared_key))
            return 0;
        free(redis->shared_key);
        redis->shared_key = memory_text_n(object->key.bytes, object->key.length);
    }
    uint64_t length = object->key.length;
    if (fwrite(&length, sizeof length, 1, redis->keys) != 1 ||
        fwrite(object->key.bytes, 1, object->key.length, redis->keys) != object->key.length)
        return error_set(error, TARE_STORE, "cannot keep the list of written keys: %s",
                         strerror(errno));
    return 0;
}

int redis_put(struct store *store, const struct object *object, struct tare_error *error)
{
    struct redis *redis = (struct redis *)store;
    struct redis_loader *loader = redis->loader;
    if (redis_remember(redis, object, error))
        return -1;
    int commands = redis_wire(&loader->out, object);
    for (int i = 0; i < commands; i++)
        loader->ends[(loader->replies + loader->outstanding + i) % ENDS_SIZE] = i == commands - 1;
    loader->outstanding += commands;
    if (loader->out.length - loader->sent < WRITE_AT && loader->outstanding < REPLIES_MOST)
        return 0;
    return pump(redis, WRITE_MOST - WRITE_AT, REPLIES_MOST - 1, error);
}

int redis_flush(struct store *store, struct tare_error *error)
{
    return pump((struct redis *)store, 0, 0, error);
}

/* ---- removing ------------------------------------------------------------------------------ */

/* Waits for the replies of so many DELs; a server that is gone can't be wiped. */
static bool take_deletions(redisContext *context, int count)
{
    while (count-- > 0) {
        void *reply = NULL;
        if (redisGetReply(context, &reply) != REDIS_OK)
            return false;
        freeReplyObject(reply);
    }
    return true;
}

void redis_wipe(struct redis *redis)
{
    if (!redis->keys || !redis->control || fflush(redis->keys) != 0)
        return;
    rewind(redis->keys);
    struct buffer key = {0};
    uint64_t length;
    int pending = 0;
    bool alive = true;
    while (alive && fread(&length, sizeof length, 1, redis->keys) == 1) {
        buffer_clear(&key);
        buffer_reserve(&key, (size_t)length + 1);
        if (fread(key.data, 1, (size_t)length, redis->keys) != length)
            break;
        const char *words[] = {redis->version >= 40000 ? "UNLINK" : "DEL", key.data};
        size_t lengths[] = {strlen(words[0]), (size_t)length};
        redisAppendCommandArgv(redis->control, 2, words, lengths);
        if (++pending == 1000) {
            alive = take_deletions(redis->control, pending);
            pending = 0;
        }
    }
    if (alive)
        take_deletions(redis->control, pending);
    buffer_free(&key);
}

/* Connecting to a Redis or Valkey server: URLs, logging in, one command. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/memory.h"
#include "core/options.h"
#include "stores/redis.h"

/* An unreachable server is said within 5 s in all: connecting and the first reply. */
#define CONNECT_MS 2000
/* sun_path holds 108 bytes with its NUL (unix(7)); hiredis would cut a longer one. */
#define SOCKET_PATH_MOST 107

/* Percent escapes read; anything else stays as it is. The caller frees. */
static char *unescape(const char *text, size_t length)
{
    char *out = memory_new(length + 1), *end = out;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '%' && i + 2 < length && isxdigit((unsigned char)text[i + 1]) &&
            isxdigit((unsigned char)text[i + 2])) {
            char digits[] = {text[i + 1], text[i + 2], '\0'};
            *end++ = (char)strtol(digits, NULL, 16);
            i += 2;
        } else {
            *end++ = text[i];
        }
    }
    return out;
}

static void place_user(struct redis_place *place, const char *text, size_t length)
{
    const char *colon = memchr(text, ':', length);
    size_t user = colon ? (size_t)(colon - text) : length;
    if (user)
        place->user = unescape(text, user);
    if (colon)
        place->password = unescape(colon + 1, length - user - 1);
}

static int place_database(struct redis_place *place, const char *text, struct tare_error *error)
{
    int64_t number;
    if (!*text)
        return 0;
    if (parse_integer(text, 0, 100000, "the database in the URL", &number, error))
        return -1;
    place->database = (int)number;
    return 0;
}

static int place_unix(struct redis_place *place, const char *text, struct tare_error *error)
{
    /* "unix://[user]:password@/path": a user stands before the path, as redis-py has it. */
    const char *path = strchr(text, '/');
    const char *at = path && path > text && path[-1] == '@' ? path - 1 : NULL;
    if (at)
        place_user(place, text, (size_t)(at - text));
    else
        path = text;
    const char *query = strchr(path, '?');
    size_t length = query ? (size_t)(query - path) : strlen(path);
    if (!length)
        return error_set(error, TARE_USAGE,
                         "the URL names no socket: 'unix:///run/redis/redis.sock'");
    if (*path != '/')
        return error_set(error, TARE_USAGE,
                         "a socket's URL holds a whole path: 'unix:///run/redis/redis.sock'");
    if (length > SOCKET_PATH_MOST)
        return error_set(error, TARE_USAGE, "the socket's path in the URL is longer than %d bytes",
                         SOCKET_PATH_MOST);
    place->socket = memory_text_n(path, length);
    if (query && strncmp(query, "?db=", 4) != 0)
        return error_set(error, TARE_USAGE, "the URL of socket '%s' takes ?db=N alone",
                         place->socket);
    return query ? place_database(place, query + 4, error) : 0;
}

/* host[:port], host an IPv6 address in brackets perhaps. What stands there may be a password whose
 * "@host" was forgotten: no message shows it. */
static int place_host(struct redis_place *place, const char *text, size_t length,
                      struct tare_error *error)
{
    const char *end = text + length, *port = NULL;
    if (length && *text == '[') {
        const char *close = memchr(text, ']', length);
        if (!close || (close + 1 < end && close[1] != ':'))
            return error_set(error, TARE_USAGE,
                             "the URL's host begins with '[' but is no '[ADDRESS]' or "
                             "'[ADDRESS]:PORT'");
        place->host = memory_text_n(text + 1, (size_t)(close - text) - 1);
        if (close + 1 < end)
            port = close + 2;
    } else {
        const char *colon = memchr(text, ':', length);
        place->host = memory_text_n(text, colon ? (size_t)(colon - text) : length);
        port = colon ? colon + 1 : NULL;
    }
    place->port = 6379;
    if (!*place->host) {
        free(place->host);
        place->host = memory_text("127.0.0.1");
    }
    if (!port)
        return 0;
    char *digits = memory_text_n(port, (size_t)(end - port));
    int64_t number = 0;
    int failed = parse_integer(digits, 1, 65535, "", &number, NULL);
    free(digits);
    if (failed)
        return error_set(error, TARE_USAGE,
                         "the port in the URL is no number from 1 to 65535; a password goes before "
                         "an '@', an IPv6 address into brackets");
    place->port = (int)number;
    return 0;
}

int redis_place_parse(const char *url, struct redis_place *place, struct tare_error *error)
{
    *place = (struct redis_place){0};
    const char *authority = strstr(url, "://");
    size_t scheme = authority ? (size_t)(authority - url) : 0;
    if (authority)
        authority += 3;
    if (scheme == 4 && strncasecmp(url, "unix", 4) == 0)
        return place_unix(place, authority, error);
    bool tls = (scheme == 6 && strncasecmp(url, "rediss", 6) == 0) ||
               (scheme == 7 && strncasecmp(url, "valkeys", 7) == 0);
    if (!tls && !(scheme == 5 && strncasecmp(url, "redis", 5) == 0) &&
        !(scheme == 6 && strncasecmp(url, "valkey", 6) == 0))
        return error_set(error, TARE_USAGE,
                         "a URL of this kind begins with redis:// or unix://, not '%.*s://'",
                         (int)scheme, url);
    size_t length = strcspn(authority, "/?#");
    if (strchr(authority + length, '@'))
        return error_set(error, TARE_USAGE,
                         "the URL has an '@' behind a '/', '?' or '#': in a password write these "
                         "as %%2F, %%3F, %%23, and '@' as %%40");
    const char *at = memrchr(authority, '@', length);
    const char *host = at ? at + 1 : authority;
    size_t host_length = length - (size_t)(host - authority);
    if (place_host(place, host, host_length, error))
        return -1;
    if (tls)
        return error_set(error, TARE_STORE,
                         "%s:%d: TLS ('%.*s://') can't be spoken by the hiredis that tare was "
                         "built with; tunnel it, or use redis://",
                         place->host, place->port, (int)scheme, url);
    if (at)
        place_user(place, authority, (size_t)(at - authority));
    const char *path = authority + length;
    if (strpbrk(path, "?#"))
        return error_set(error, TARE_USAGE, "the URL of %s:%d takes no '%c'; redis://host:port/DB",
                         place->host, place->port, *strpbrk(path, "?#"));
    return *path == '/' ? place_database(place, path + 1, error) : 0;
}

void redis_place_free(struct redis_place *place)
{
    free(place->socket);
    free(place->host);
    free(place->user);
    if (place->password)
        explicit_bzero(place->password, strlen(place->password));
    free(place->password);
    *place = (struct redis_place){0};
}

void redis_place_name(const struct redis_place *place, char *out, size_t size)
{
    if (place->socket)
        snprintf(out, size, "%s", place->socket);
    else if (strchr(place->host, ':'))
        snprintf(out, size, "[%s]:%d", place->host, place->port);
    else
        snprintf(out, size, "%s:%d", place->host, place->port);
}

static struct timeval milliseconds(int count)
{
    return (struct timeval){.tv_sec = count / 1000, .tv_usec = count % 1000 * 1000};
}

/* hiredis's words for a reply that is none, and for silence. */
static int reply_fault(const redisContext *context, const char *name, struct tare_error *error)
{
    if (context->err == REDIS_ERR_PROTOCOL)
        return error_set(error, TARE_STORE,
                         "%s: what answers there is no Redis or Valkey server (%s)", name,
                         context->errstr);
    if (context->err == REDIS_ERR_EOF)
        return error_set(error, TARE_STORE,
                         "%s: the connection was closed without an answer; is it a Redis or Valkey "
                         "server, and not TLS?",
                         name);
    if (context->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK))
        return error_set(error, TARE_STORE, "%s: no answer", name);
    return error_set(error, TARE_STORE, "%s: %s", name,
                     context->errstr[0] ? context->errstr : "the connection was lost");
}

int redis_refusal(const char *name, const char *command, bool with_user, const char *said,
                  struct tare_error *error)
{
    /* maxclients: the server says so to whatever comes first, and closes. */
    if (strstr(said, "max number of clients"))
        return error_set(error, TARE_STORE,
                         "%s: the server has as many clients as it takes (its maxclients)", name);
    if (strncmp(said, "NOAUTH", 6) == 0)
        return error_set(error, TARE_STORE, "%s: a password is needed: redis://:PASSWORD@host:port",
                         name);
    if (strcmp(command, "AUTH") != 0)
        return error_set(error, TARE_STORE, "%s: %s: %s", name, command, said);
    if (with_user && strstr(said, "wrong number"))
        return error_set(error, TARE_STORE,
                         "%s: this server knows no users (ACL came with Redis 6); give the "
                         "password alone: redis://:PASSWORD@host",
                         name);
    /* These words would repeat the arguments. */
    if (strstr(said, "unknown command"))
        return error_set(error, TARE_STORE, "%s: the server knows no AUTH; leave the password out",
                         name);
    return error_set(error, TARE_STORE, "%s: the password was refused: %s", name, said);
}

/* Runs a command on a fresh connection; -1 with the server's own words. */
static int introduce(redisContext *context, const char *name, int count, const char **words,
                     struct tare_error *error)
{
    redisReply *reply = redisCommandArgv(context, count, words, NULL);
    if (!reply)
        return reply_fault(context, name, error);
    int failed = 0;
    if (reply->type == REDIS_REPLY_ERROR) {
        failed = redis_refusal(name, words[0], count == 3, reply->str, error);
    }
    freeReplyObject(reply);
    return failed;
}

redisContext *redis_connect(const struct redis_place *place, const char *name, int patience_ms,
                            struct tare_error *error)
{
    redisContext *context =
        place->socket ? redisConnectUnixWithTimeout(place->socket, milliseconds(CONNECT_MS))
                      : redisConnectWithTimeout(place->host, place->port, milliseconds(CONNECT_MS));
    if (!context) {
        error_set(error, TARE_STORE, "%s: out of memory", name);
        return NULL;
    }
    int failed = 0;
    if (context->err)
        failed = error_set(error, TARE_STORE, "%s: can't connect: %s", name, context->errstr);
    if (!failed)
        redisSetTimeout(context, milliseconds(CONNECT_MS));
    if (!failed && place->password) {
        const char *words[] = {"AUTH", place->user ? place->user : place->password,
                               place->password};
        failed = introduce(context, name, place->user ? 3 : 2, words, error);
    }
    if (!failed) {
        const char *words[] = {"PING"};
        failed = introduce(context, name, 1, words, error);
    }
    if (!failed && place->database) {
        char number[16];
        snprintf(number, sizeof number, "%d", place->database);
        const char *words[] = {"SELECT", number};
        failed = introduce(context, name, 2, words, error);
    }
    if (failed) {
        redisFree(context);
        return NULL;
    }
    redisSetTimeout(context, milliseconds(patience_ms));
    return context;
}

int redis_lost(struct redis *redis, const char *reason, struct tare_error *error)
{
    if (redis->store.started && redis->process.folder[0]) {
        /* The kernel closes a dying process's sockets before it can be waited for. */
        for (int i = 0; i < 20 && redis->process.pid; i++) {
            if (!process_alive(&redis->process))
                break;
            process_pause(10);
        }
        if (!redis->process.pid) {
            struct buffer words = {0};
            process_last_words(&redis->process, &words);
            error_set(error, TARE_STORE, "%s: the server ended after %lld objects%s%s",
                      redis->store.kind->name, (long long)redis->store.written,
                      words.length ? ": " : "", words.length ? words.data : "");
            buffer_free(&words);
            return -1;
        }
    }
    return error_set(error, TARE_STORE, "%s: %s after %lld objects", redis->store.address, reason,
                     (long long)redis->store.written);
}

redisReply *redis_command(struct redis *redis, size_t count, const char *const words[],
                          const size_t lengths[], struct tare_error *error)
{
    if (!redis->control) {
        redis_lost(redis, "the connection was lost", error);
        return NULL;
    }
    redisReply *reply = redisCommandArgv(redis->control, (int)count, (const char **)words, lengths);
    if (!reply) {
        bool silent =
            redis->control->err == REDIS_ERR_IO && (errno == EAGAIN || errno == EWOULDBLOCK);
        redis_lost(redis, silent ? "no answer" : "the connection was lost", error);
        redisFree(redis->control);
        redis->control = NULL;
        return NULL;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        error_set(error, TARE_STORE, "%s: %.*s: %s", redis->store.address,
                  (int)(lengths ? lengths[0] : strlen(words[0])), words[0], reply->str);
        freeReplyObject(reply);
        return NULL;
    }
    return reply;
}

redisReply *redis_line(struct redis *redis, const char *line, struct tare_error *error)
{
    const char *words[16];
    size_t lengths[16], count = 0;
    while (*line && count < 16) {
        words[count] = line;
        lengths[count] = strcspn(line, " ");
        line += lengths[count++];
        while (*line == ' ')
            line++;
    }
    return redis_command(redis, count, words, lengths, error);
}

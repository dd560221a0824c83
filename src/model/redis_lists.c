/* Lists: a quicklist of packed nodes, or from 7.2 one listpack as long as that
 * is small. Elements are appended, as RPUSH does. */
#include "model/redis.h"

static const char kind_list[] = "quicklist", kind_node[] = "quicklistNode", kind_plain[] = "plain";

/* quicklist.c: limits of a node by list-max-listpack-size -1 to -5; and of one that is bounded by
 * its number of elements (SIZE_SAFETY_LIMIT). */
#define SIZE_LIMIT_FIRST 4096
#define SIZE_SAFETY      8192

static int64_t size_limit(int64_t fill)
{
    return fill >= 0 ? SIZE_SAFETY : (int64_t)SIZE_LIMIT_FIRST << (fill < -5 ? 4 : -fill - 1);
}

/* Whether a node of so many bytes and elements stays within its limit. */
static bool within(int64_t fill, int64_t bytes, int64_t count)
{
    return bytes <= size_limit(fill) && (fill < 0 || count <= (fill ? fill : 1));
}

/* The bytes that the server reckons with before it adds an element to a node
 * (_quicklistNodeAllowInsert): of a ziplist those of its frame, as if the element before it were as
 * long as it is; of a listpack eight (SIZE_ESTIMATE_OVERHEAD). */
static int64_t estimate(enum redis_packed_form form, int64_t length)
{
    if (form == REDIS_LISTPACK)
        return length + 8;
    return length + (length < 254 ? 1 : 5) + (length < 64 ? 1 : length < 16384 ? 2 : 5);
}

void redis_list_open(struct redis_list *list, const struct redis_model *redis)
{
    *list = (struct redis_list){.bare = redis->layout->list_bare};
    redis_packed_open(&list->node, redis->layout->packed);
    blocks_open(&list->nodes, &redis->model.build);
}

void redis_list_close(struct redis_list *list)
{
    blocks_free(&list->nodes);
}

static void add_node(const struct redis_list *list, const struct redis_model *redis,
                     struct blocks *blocks)
{
    if (list->node.count == 0)
        return;
    if (!list->bare)
        blocks_add_plain(blocks, kind_node, 1, 0, &account_quicklist, redis->layout->list_node);
    redis_packed_blocks(&list->node, &account_listpack, 0, 1, blocks);
}

static void end_node(struct redis_list *list, const struct redis_model *redis)
{
    add_node(list, redis, &list->nodes);
    redis_packed_open(&list->node, redis->layout->packed);
}

void redis_list_announce(struct redis_list *list, const struct redis_model *redis, int64_t bytes,
                         int64_t count)
{
    /* listTypeTryConvertListpack: by the texts of the whole command. */
    if (list->bare && !within(redis->list_fill, list->node.bytes + bytes, list->node.count + count))
        list->bare = false;
}

void redis_list_add(struct redis_list *list, const struct redis_model *redis, struct slice text,
                    bool is_integer)
{
    int64_t length = (int64_t)text.length, limit = size_limit(redis->list_fill);
    if (!list->bare) {
        if (redis->layout->list_plain_above_limit && length > limit) {
            end_node(list, redis);
            blocks_add_plain(&list->nodes, kind_node, 1, 0, &account_quicklist,
                             redis->layout->list_node);
            blocks_add_plain(&list->nodes, kind_plain, 1, length, &account_quicklist, 0);
            return;
        }
        if (list->node.count > 0 &&
            !within(redis->list_fill, list->node.bytes + estimate(redis->layout->packed, length),
                    list->node.count + 1))
            end_node(list, redis);
    }
    redis_packed_add(&list->node, text, is_integer);
}

void redis_list_end(const struct redis_list *list, const struct redis_model *redis,
                    struct blocks *blocks)
{
    add_node(list, redis, blocks);
    if (!list->bare)
        blocks_add_plain(blocks, kind_list, 1, 0, &account_quicklist, redis->layout->list);
}

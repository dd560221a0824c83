/* Streams: a radix tree (rax.c) of listpacks (t_stream.c). A listpack begins
 * with a master entry that holds the field names; an entry with the same names
 * leaves them out. */
#include <string.h>

#include "core/memory.h"
#include "model/redis.h"

static const char kind_stream[] = "stream", kind_tree[] = "rax", kind_branch[] = "raxNode";

/* ---- the tree ------------------------------------------------------------------------------ */

/* rax.h: a header of 4 bytes, the characters, padded to 8; a pointer a child (a compressed node has
 * one), and one to the value where the node ends a key. */
static int64_t tree_node(int64_t characters, bool compressed, bool key)
{
    int64_t children = compressed ? 1 : characters;
    return (4 + characters + 7) / 8 * 8 + 8 * children + (key ? 8 : 0);
}

/* The nodes of the path below `depth` come to their end: a run of nodes with one child each is one
 * compressed node, where it is longer than one. */
static void end_path(const int *children, int depth, struct blocks *blocks)
{
    int run = 0;
    for (int at = depth; at < REDIS_STREAM_KEY; at++) {
        bool last = at + 1 == REDIS_STREAM_KEY;
        run += children[at] == 1;
        if (run && (children[at] > 1 || last))
            blocks_add_plain(blocks, kind_branch, 1, 0, &account_stream,
                             tree_node(run, run > 1, false));
        if (children[at] > 1) {
            blocks_add_plain(blocks, kind_branch, 1, 0, &account_stream,
                             tree_node(children[at], false, false));
            run = 0;
        }
    }
    blocks_add_plain(blocks, kind_branch, 1, 0, &account_stream, tree_node(0, false, true));
}

/* Keys ascend, so that what lies beside the path to the newest one won't change any more. */
static void tree_add(struct redis_stream *stream, const struct stream_entry *entry)
{
    unsigned char key[REDIS_STREAM_KEY];
    int common = 0;
    for (int i = 0; i < 8; i++) {
        key[i] = (unsigned char)((uint64_t)entry->milliseconds >> (56 - 8 * i));
        key[8 + i] = (unsigned char)((uint64_t)entry->sequence >> (56 - 8 * i));
    }
    if (stream->listpacks > 0) {
        while (common < REDIS_STREAM_KEY - 1 && key[common] == stream->key[common])
            common++;
        end_path(stream->children, common + 1, &stream->blocks);
        stream->children[common]++;
        common++;
    }
    for (int i = common; i < REDIS_STREAM_KEY; i++)
        stream->children[i] = 1;
    memcpy(stream->key, key, sizeof key);
}

/* ---- listpacks ----------------------------------------------------------------------------- */

#define FLAGS_SAME_FIELDS 2 /* STREAM_ITEM_FLAG_SAMEFIELDS */

void redis_stream_open(struct redis_stream *stream, const struct redis_model *redis)
{
    *stream = (struct redis_stream){0};
    blocks_open(&stream->blocks, &redis->model.build);
}

void redis_stream_close(struct redis_stream *stream)
{
    blocks_free(&stream->blocks);
}

/* A new listpack is made with room for this much, where the version does so, and shrunk when the
 * next one begins. */
static int64_t reserved(const struct redis_model *redis)
{
    int64_t most = redis->stream_bytes, room = redis->stream_layout->reserved;
    return most > 0 && most < room ? most : room;
}

static void begin_listpack(struct redis_stream *stream, const struct element *elements,
                           const struct stream_entry *entry)
{
    if (stream->listpacks > 0)
        redis_packed_blocks(&stream->listpack, &account_stream, 0, 1, &stream->blocks);
    tree_add(stream, entry);
    stream->listpacks++;
    stream->entries = 0;
    stream->master = *entry;
    redis_packed_open(&stream->listpack, REDIS_LISTPACK);
    /* Entries, deleted ones, the number of fields, the fields, and an end. */
    redis_packed_add_own(&stream->listpack, 1);
    redis_packed_add_own(&stream->listpack, 0);
    redis_packed_add_own(&stream->listpack, (int64_t)entry->elements);
    for (size_t i = 0; i < entry->elements; i++)
        redis_packed_add(&stream->listpack, elements[i].name, elements[i].name_is_integer);
    redis_packed_add_own(&stream->listpack, 0);
}

/* Whether the entry goes into the listpack that is there; text: bytes of its fields and values. */
static bool fits(const struct redis_stream *stream, const struct redis_model *redis, int64_t text)
{
    const struct redis_stream_layout *layout = redis->stream_layout;
    int64_t bytes = stream->listpack.bytes + (layout->counts_entry ? text : 0);
    if (layout->one_over)
        return (redis->stream_bytes == 0 || bytes <= redis->stream_bytes) &&
               (redis->stream_entries == 0 || stream->entries <= redis->stream_entries);
    return (redis->stream_bytes == 0 || bytes < redis->stream_bytes) &&
           (redis->stream_entries == 0 || stream->entries < redis->stream_entries);
}

void redis_stream_add(struct redis_stream *stream, const struct redis_model *redis,
                      const struct element *elements, const struct stream_entry *entry)
{
    struct object names = {.elements = (struct element *)(uintptr_t)elements,
                           .element_count = entry->elements};
    uint64_t signature = object_names_signature(&names);
    int64_t text = 0, names_text = 0;
    for (size_t i = 0; i < entry->elements; i++) {
        names_text += (int64_t)elements[i].name.length;
        text += (int64_t)(elements[i].name.length + elements[i].value.length);
    }
    bool begins = stream->listpacks == 0 || !fits(stream, redis, text);
    if (begins) {
        begin_listpack(stream, elements, entry);
        stream->signature = signature;
    }
    struct redis_packed *listpack = &stream->listpack;
    bool same = begins || signature == stream->signature;
    if (!begins) /* the master entry's count */
        redis_packed_replace_own(listpack, stream->entries, stream->entries + 1);
    stream->entries++;
    redis_packed_add_own(listpack, same ? FLAGS_SAME_FIELDS : 0);
    redis_packed_add_own(listpack, entry->milliseconds - stream->master.milliseconds);
    redis_packed_add_own(listpack, entry->sequence - stream->master.sequence);
    if (!same)
        redis_packed_add_own(listpack, (int64_t)entry->elements);
    for (size_t i = 0; i < entry->elements; i++) {
        if (!same)
            redis_packed_add(listpack, elements[i].name, elements[i].name_is_integer);
        redis_packed_add(listpack, elements[i].value, elements[i].value_is_integer);
    }
    /* Its number of parts, for the way back. */
    redis_packed_add_own(listpack, (int64_t)(same ? 3 + entry->elements : 4 + 2 * entry->elements));
    if (same && !begins)
        blocks_absent(&stream->blocks, 1, names_text, &account_names_left_out);
}

void redis_stream_end(const struct redis_stream *stream, const struct redis_model *redis, bool read,
                      struct blocks *blocks)
{
    blocks_add_plain(blocks, kind_stream, 1, 0, &account_stream, redis->stream_layout->stream);
    blocks_add_plain(blocks, kind_tree, 1, 0, &account_stream, redis->stream_layout->tree);
    if (stream->listpacks == 0)
        return;
    end_path(stream->children, 0, blocks);
    redis_packed_blocks(&stream->listpack, &account_stream, read ? 0 : reserved(redis), 1, blocks);
}

void redis_stream_reading(const struct redis_stream *stream, const struct redis_model *redis,
                          struct blocks *blocks)
{
    redis_packed_blocks(&stream->listpack, &account_stream, reserved(redis), -1, blocks);
    redis_packed_blocks(&stream->listpack, &account_stream, 0, 1, blocks);
}

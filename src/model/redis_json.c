/* Values of the module RedisJSON, as 2.8 keeps them: ijson's IValue of 8 bytes, which is the value
 * or points to a block, by commit e0119ac of github.com/RedisJSON/ijson, which RedisJSON 2.8.3 is
 * built with (Cargo.toml). The module allocates through the server (RedisModule_Alloc), so that its
 * blocks are part of used_memory and have the server's size classes; a request is rounded up to a
 * multiple of its alignment (redismodule-rs, alloc.rs), as are the sizes here.
 *
 *   object   header (length, capacity) | members (name, value) | hash table of places
 *   array    header (length, capacity) | values
 *   text     header (references, length) | bytes                one block for all that are alike
 *   number   header | 64 bits                                   or 24 bits in the header, or none
 *
 * Each different text, of names too, stands in a set of all (unsafe_string.rs, STRING_CACHE), which
 * grows by doubling and never shrinks. */
#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "model/redis.h"

static const char kind_module[] = "moduleValue", kind_box[] = "RedisJSON",
                  kind_object[] = "IObject", kind_array[] = "IArray", kind_number[] = "INumber",
                  kind_text[] = "IString", kind_table[] = "table";

#define MODULE_VALUE 16 /* moduleValue, server.h: type, value */
#define IVALUE       8  /* value.rs; the box is one of them (redisjson.rs, struct RedisJSON) */
#define HEADER       16 /* of object.rs, array.rs, unsafe_string.rs */
#define GROUP        16 /* Group::WIDTH, hashbrown's raw/sse2.rs */
#define CAPACITY     4  /* the first one: reserve() of array.rs and object.rs; then it doubles */

/* Numbers without a block (number.rs, STATIC_LOWER, STATIC_UPPER), and in a header alone. */
#define STATIC_LEAST  INT64_C(-128)
#define STATIC_MOST   INT64_C(383)
#define SHORT_LEAST   (-(INT64_C(1) << 23))
#define SHORT_MOST    ((INT64_C(1) << 23) - 1)
#define NUMBER_HEADER 4
#define NUMBER_LONG   8

/* ---- the set of texts ---------------------------------------------------------------------- */

/* An entry is a text's hash, 0 none. Two texts are taken for one where 64 bits are the same: among
 * 10^8 one time in 3,000. */

static uint64_t hash_text(struct slice text)
{
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ text.length;
    for (size_t place = 0; place < text.length; place += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t left = text.length - place;
        memcpy(&word, text.bytes + place, left < sizeof word ? left : sizeof word);
        /* splitmix64's finisher, by a word */
        hash ^= word;
        hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
        hash ^= hash >> 31;
    }
    return hash ? hash : 1;
}

static uint64_t *texts_find(const struct redis_texts *texts, uint64_t hash)
{
    size_t mask = texts->size - 1, at = (size_t)(hash >> 20) & mask;
    while (texts->entries[at] && texts->entries[at] != hash)
        at = (at + 1) & mask;
    return &texts->entries[at];
}

static void texts_grow(struct redis_texts *texts)
{
    struct redis_texts larger = {.size = texts->size ? texts->size * 2 : 1024};
    larger.entries = memory_new(larger.size * sizeof *larger.entries);
    for (size_t i = 0; i < texts->size; i++)
        if (texts->entries[i])
            *texts_find(&larger, texts->entries[i]) = texts->entries[i];
    free(texts->entries);
    texts->entries = larger.entries;
    texts->size = larger.size;
}

/* Whether the text is new. */
static bool texts_add(struct redis_texts *texts, struct slice text)
{
    if ((size_t)texts->count * 4 >= texts->size * 3)
        texts_grow(texts);
    uint64_t hash = hash_text(text), *entry = texts_find(texts, hash);
    bool new = *entry == 0;
    *entry = hash;
    texts->count += new;
    return new;
}

/* The block of hashbrown's table of so many entries (raw/mod.rs, capacity_to_buckets: an eighth of
 * the buckets stays free): a pointer and a control byte a bucket, and a group of those more, which
 * it is aligned to. */
static int64_t table_bytes(int64_t entries)
{
    int64_t buckets = 4;
    if (entries == 0)
        return 0;
    while ((buckets < 8 ? buckets - 1 : buckets / 8 * 7) < entries)
        buckets *= 2;
    int64_t bytes = buckets * IVALUE + buckets + GROUP;
    return (bytes + GROUP - 1) / GROUP * GROUP;
}

/* ---- values -------------------------------------------------------------------------------- */

static int64_t capacity_of(size_t length)
{
    int64_t capacity = CAPACITY;
    while (capacity < (int64_t)length)
        capacity *= 2;
    return capacity;
}

static void add_text_block(struct blocks *blocks, int64_t length)
{
    int64_t padding = -length & (IVALUE - 1);
    blocks_add_plain(blocks, kind_text, 1, length, &account_json_strings, HEADER + padding);
}

static void add_text(struct redis_model *redis, struct slice text)
{
    struct redis_texts *texts = &redis->texts;
    int64_t length = (int64_t)text.length;
    texts->bytes += (double)length;
    /* An empty one is part of the module. */
    if (length && texts_add(texts, text)) {
        add_text_block(&texts->different, length);
        add_text_block(&texts->fresh[0], length);
    }
}

/* A block of the value's own bytes and what stands around them. */
static void add_number(struct blocks *blocks, int64_t text_length, int64_t own, int64_t around)
{
    if (own)
        blocks_add_plain(blocks, kind_number, 1, own, &account_json_numbers, around);
    blocks_integer_form(blocks, 1, text_length - own);
}

static void add_node(struct redis_model *redis, const struct json_node *node)
{
    struct blocks *blocks = &redis->blocks;
    int64_t length = (int64_t)node->text.length, capacity = capacity_of(node->children);
    if (node->named)
        add_text(redis, node->name);
    switch (node->type) {
    case NODE_PLAIN:
        add_number(blocks, length, 0, 0);
        break;
    case NODE_INTEGER:
        if (node->integer >= STATIC_LEAST && node->integer <= STATIC_MOST)
            add_number(blocks, length, 0, 0);
        else if (node->integer >= SHORT_LEAST && node->integer <= SHORT_MOST)
            add_number(blocks, length, NUMBER_HEADER - 1, 1);
        else
            add_number(blocks, length, NUMBER_LONG, NUMBER_LONG);
        break;
    case NODE_DOUBLE:
        add_number(blocks, length, NUMBER_LONG, NUMBER_LONG);
        break;
    case NODE_TEXT:
        add_text(redis, node->text);
        break;
    case NODE_ARRAY:
        if (node->children)
            blocks_add_plain(blocks, kind_array, 1, 0, &account_json_arrays,
                             HEADER + capacity * IVALUE);
        break;
    case NODE_OBJECT: /* a name and a value a member; one place and a quarter a member */
        if (node->children)
            blocks_add_plain(blocks, kind_object, 1, 0, &account_json_objects,
                             HEADER + capacity * 2 * IVALUE + (capacity + capacity / 4) * IVALUE);
        break;
    }
}

void redis_texts_open(struct redis_texts *texts, const struct build *build)
{
    blocks_open(&texts->different, build);
    blocks_open(&texts->fresh[0], build);
    blocks_open(&texts->fresh[1], build);
}

void redis_texts_close(struct redis_texts *texts)
{
    free(texts->entries);
    blocks_free(&texts->different);
    blocks_free(&texts->fresh[0]);
    blocks_free(&texts->fresh[1]);
}

void redis_add_json(struct redis_model *redis, const struct object *object)
{
    struct redis_texts *texts = &redis->texts;
    const struct redis_key key = redis_key_of(object);
    redis_add_whole_object(redis, &redis->blocks, &key);
    blocks_add_plain(&redis->blocks, kind_module, 1, 0, &account_module_value, MODULE_VALUE);
    blocks_add_plain(&redis->blocks, kind_box, 1, 0, &account_module_value, IVALUE);
    for (size_t i = 0; i < object->node_count; i++)
        add_node(redis, &object->nodes[i]);
    texts->objects++;
    if (texts->objects == 1)
        texts->of_first = texts->count;
    if ((texts->objects & (texts->objects - 1)) == 0) {
        texts->marks[2] = texts->marks[1];
        texts->marks[1] = texts->marks[0];
        texts->marks[0] = (struct redis_texts_mark){texts->objects, texts->count};
        blocks_free(&texts->fresh[1]);
        texts->fresh[1] = texts->fresh[0];
        blocks_open(&texts->fresh[0], redis->blocks.build);
    }
}

/* New texts that come from the objects of a sample to `factor` times as many, where their number
 * goes on to grow as x^power does: Heaps' law of vocabularies. What is in every object is long
 * there; of what each has of its own, power is 1. */
static double further_texts(const struct redis_texts *texts, double factor, double power)
{
    const struct redis_texts_mark *to = &texts->marks[0], *from = &texts->marks[1];
    double grown = pow((double)to->objects, power) - pow((double)from->objects, power);
    double sample = (double)texts->objects;
    return (double)(to->count - from->count) / grown *
           (pow(sample * factor, power) - pow(sample, power));
}

/* The power by which the last doublings of the sample grew. */
static double growth_power(const struct redis_texts *texts)
{
    double last = (double)(texts->marks[0].count - texts->marks[1].count);
    double before = (double)(texts->marks[1].count - texts->marks[2].count);
    if (last <= 0 || before <= 0)
        return 1;
    double power = log2(last / before);
    return power > 1 ? 1 : power < 0.01 ? 0.01 : power;
}

static double usable_bytes(const struct blocks *blocks)
{
    double bytes = 0;
    for (size_t i = 0; i < blocks->class_size; i++)
        bytes += blocks->classes[i].count * (double)blocks->classes[i].usable;
    return bytes;
}

void redis_texts_blocks(const struct redis_texts *texts, double factor, struct blocks *blocks,
                        double *low, double *high)
{
    double content = blocks->content, count = (double)texts->count;
    if (texts->objects == 0)
        return;
    blocks_merge(blocks, &texts->different);
    double recent = (double)(texts->count - texts->marks[1].count);
    if (factor > 1 && texts->marks[1].objects > 0 && recent > 0) {
        double power = growth_power(texts), further = further_texts(texts, factor, power);
        struct blocks more; /* as long as the last ones are */
        blocks_open(&more, blocks->build);
        blocks_merge(&more, &texts->fresh[0]);
        blocks_merge(&more, &texts->fresh[1]);
        double each = usable_bytes(&more) / recent;
        blocks_scale(&more, further / recent);
        blocks_merge(blocks, &more);
        blocks_free(&more);
        count += further;
        /* From twice as far from even growth to even growth. */
        *low -= (further - further_texts(texts, factor, fmax(2 * power - 1, 0.01))) * each;
        *high += (further_texts(texts, factor, 1) - further) * each;
    }
    blocks_absent(blocks, 1, llround(texts->bytes * factor - (blocks->content - content)),
                  &account_json_texts_shared);
    /* The first record's table stands in the base: the warm-up wrote it, and removed its texts. */
    int64_t bytes = table_bytes(llround(count)), base = table_bytes(texts->of_first);
    if (bytes > base) {
        blocks_add_plain(blocks, kind_table, 1, 0, &account_json_string_table, bytes);
        if (base)
            blocks_add_plain(blocks, kind_table, -1, 0, &account_json_string_table, base);
    }
}

void redis_json_note(const struct figures *end, const struct blocks *blocks,
                     struct measurement *measurement)
{
    static const char *const kinds[] = {kind_module, kind_box,  kind_object, kind_array,
                                        kind_number, kind_text, kind_table};
    int64_t asked = figures_get(end, "json.debug.keys");
    double bytes = 0, values = 0;
    if (asked == 0)
        return;
    for (size_t i = 0; i < blocks->class_size; i++) {
        const struct block_class *class = &blocks->classes[i];
        for (size_t j = 0; j < sizeof kinds / sizeof kinds[0]; j++)
            if (class->kind == kinds[j])
                bytes += class->count * (double)class->usable;
        if (class->kind == kind_box)
            values += class->count;
    }
    measurement_note(measurement,
                     "JSON.DEBUG MEMORY says %.1f bytes a value, its blocks are %.1f by the model: "
                     "it counts a text for each value that has it, and no text's header, no table "
                     "of texts, no size class",
                     (double)figures_get(end, "json.debug.bytes") / (double)asked, bytes / values);
}

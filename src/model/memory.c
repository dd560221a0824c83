/* A process's own memory: records in a map of jansson 2.14 (hashtable.h,
 * jansson_private.h, value.c), on glibc's malloc. One object maps keys to
 * values, which are a string of encoded bytes each, or a tree of values.
 *
 *   object       json_t 16 | hashtable 56     and buckets of 16, 8 of them at first, which double
 *                                             when an insertion finds as many members as buckets
 *   member       list 16 | order 16 | hash 8 | value 8 | length 8 | name | NUL
 *   string       json_t 16 | pointer 8 | length 8      and   text | NUL
 *   number       json_t 16 | long long or double 8
 *   array        json_t 16 | size 8 | count 8 | pointer 8   and pointers of 8, 8 of them at first
 *   true, false, null      one static json_t each: nothing a value
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/model.h"
#include "model/tree.h"

#define JSON_HEAD     16 /* json_t: type and reference count */
#define STRING_STRUCT 32 /* json_string_t */
#define NUMBER_BYTES  8  /* behind the json_t of json_integer_t and json_real_t */
#define ARRAY_STRUCT  40 /* json_array_t */
#define ARRAY_PLACES  8  /* at first; value.c, json_array() */
#define POINTER       8
#define TABLE_STRUCT  56 /* hashtable_t in json_object_t */
#define BUCKET        16
#define BUCKETS       8  /* at first: INITIAL_HASHTABLE_ORDER 3 (hashtable.c) */
#define PAIR          56 /* of pair_t, before the name: offsetof(struct hashtable_pair, key) */
#define VERIFIED      "2.14"

struct memory_model {
    struct model model;
    struct blocks blocks, once; /* of all records; of what is kept once */
    int64_t keys_once;
};

static bool fits(const struct build *build)
{
    return strcmp(build->store, "memory") == 0;
}

static int takes(const struct build *build, enum object_type type, struct tare_error *error)
{
    (void)build;
    if (type == OBJECT_STRING || type == OBJECT_TREE)
        return 0;
    return error_set(error, TARE_USAGE, "a process's own memory holds bytes and trees alone");
}

static struct model *open(const struct build *build, const struct figures *settings,
                          struct tare_error *error)
{
    (void)settings;
    (void)error;
    struct memory_model *memory = memory_new(sizeof *memory);
    memory->model.build = *build;
    blocks_open(&memory->blocks, &memory->model.build);
    blocks_open(&memory->once, &memory->model.build);
    return &memory->model;
}

/* Buckets once so many members were added, one after another. */
static int64_t buckets_of(int64_t members)
{
    int64_t buckets = BUCKETS;
    while (buckets < members)
        buckets *= 2;
    return buckets;
}

static void add_pair(struct blocks *blocks, const struct account *account, size_t name)
{
    const struct part parts[] = {{account, PAIR}, {NULL, (int64_t)name}, {&account_memory_ends, 1}};
    blocks_add(blocks, "hashtable_pair", 1, parts, 3);
}

static void add_text(struct blocks *blocks, const struct account *head, size_t length)
{
    blocks_add_plain(blocks, "text", 1, (int64_t)length, &account_memory_ends, 1);
    blocks_add_plain(blocks, "json_string_t", 1, 0, head, STRING_STRUCT);
}

static int add_value(struct blocks *blocks, struct tree_reader *reader, const struct account *head,
                     struct tare_error *error);

static int add_object(struct blocks *blocks, struct tree_reader *reader, size_t count,
                      const struct account *head, struct tare_error *error)
{
    const struct part parts[] = {{head, JSON_HEAD}, {&account_field_dict, TABLE_STRUCT}};
    blocks_add(blocks, "json_object_t", 1, parts, 2);
    blocks_add_plain(blocks, "hashtable_bucket", 1, 0, &account_field_table,
                     buckets_of((int64_t)count) * BUCKET);
    for (size_t i = 0; i < count; i++) {
        struct tree_node name;
        if (!tree_next(reader, &name) || name.type != TREE_TEXT)
            return error_set(error, TARE_USAGE, "internal: a tree's member has no name");
        if (add_value(blocks, reader, &account_memory_heads, error))
            return -1;
        add_pair(blocks, &account_field_entries, name.text.length);
    }
    return 0;
}

static int add_array(struct blocks *blocks, struct tree_reader *reader, size_t count,
                     const struct account *head, struct tare_error *error)
{
    int64_t places = ARRAY_PLACES;
    while (places < (int64_t)count)
        places *= 2;
    blocks_add_plain(blocks, "json_array_t", 1, 0, head, ARRAY_STRUCT);
    blocks_add_plain(blocks, "array table", 1, 0, &account_memory_arrays, places * POINTER);
    for (size_t i = 0; i < count; i++)
        if (add_value(blocks, reader, &account_memory_heads, error))
            return -1;
    return 0;
}

static int add_value(struct blocks *blocks, struct tree_reader *reader, const struct account *head,
                     struct tare_error *error)
{
    struct tree_node node;
    if (!tree_next(reader, &node))
        return error_set(error, TARE_USAGE, "internal: a tree is cut short");
    switch (node.type) {
    case TREE_NULL:
    case TREE_FALSE:
    case TREE_TRUE:
        return 0;
    case TREE_INTEGER:
    case TREE_REAL:
        blocks_add_plain(blocks, node.type == TREE_REAL ? "json_real_t" : "json_integer_t", 1,
                         NUMBER_BYTES, head, JSON_HEAD);
        return 0;
    case TREE_TEXT:
        add_text(blocks, head, node.text.length);
        return 0;
    case TREE_ARRAY:
        return add_array(blocks, reader, node.count, head, error);
    case TREE_OBJECT:
        return add_object(blocks, reader, node.count, head, error);
    }
    return 0;
}

static int add(struct model *model, const struct object *object, struct tare_error *error)
{
    struct memory_model *memory = (struct memory_model *)model;
    struct blocks *blocks = object->once ? &memory->once : &memory->blocks;
    if (takes(&model->build, object->type, error))
        return -1;
    if (object->once)
        memory->keys_once++;
    add_pair(blocks, &account_entry, object->key.length);
    if (object->type == OBJECT_STRING) {
        add_text(blocks, &account_object, object->body.length);
        return 0;
    }
    struct tree_reader reader = tree_read(object->body);
    return add_value(blocks, &reader, &account_object, error);
}

/* The base has the empty map's table. */
static void add_key_table(struct blocks *blocks, int64_t keys)
{
    if (buckets_of(keys) == BUCKETS)
        return;
    blocks_add_plain(blocks, "key table", 1, 0, &account_key_table, buckets_of(keys) * BUCKET);
    blocks_add_plain(blocks, "key table", -1, 0, &account_key_table, BUCKETS * BUCKET);
}

static void add_steps(const struct memory_model *memory, int64_t keys,
                      struct prediction *prediction)
{
    const struct blocks *blocks = &prediction->blocks;
    int64_t buckets = buckets_of(keys);
    for (size_t i = 0; i < sizeof prediction->steps / sizeof *prediction->steps; i++) {
        int64_t old = blocks->allocator->usable(blocks->build, buckets * BUCKET);
        prediction->steps[prediction->step_count++] = (struct table_step){
            .records = buckets + 1 - memory->keys_once,
            .bytes = blocks->allocator->usable(blocks->build, buckets * 2 * BUCKET),
            .freed_after = old,
        };
        buckets *= 2;
    }
    /* The last doubling had both tables. */
    if (buckets_of(keys) > BUCKETS)
        prediction->peak_allocated =
            prediction->allocated +
            blocks->allocator->usable(blocks->build, buckets_of(keys) / 2 * BUCKET);
}

/* Resident memory is blocks and their headers; free chunks between them are holes of old tables
 * (below the size from which glibc maps them, 128 KiB in all) and what is left of the heap's top,
 * of which a base has as much. */
#define HOLES (256 * 1024)

static void add_resident(struct prediction *prediction)
{
    struct amounts *amounts = &prediction->resident_amounts;
    int64_t slack = prediction->allocated ? HOLES : 0;
    amounts_add(amounts, &account_block_headers, BASIS_MODELLED,
                llround(prediction->blocks.headers));
    prediction->resident = prediction->allocated + amounts_sum(amounts);
    prediction->resident_low = prediction->resident - slack;
    prediction->resident_high = prediction->resident + slack;
}

static int predict(struct model *model, int64_t sampled, int64_t records, int64_t counted,
                   const struct figures *inputs, struct prediction *prediction,
                   struct tare_error *error)
{
    const struct memory_model *memory = (const struct memory_model *)model;
    (void)inputs;
    (void)error;
    prediction_free(prediction);
    struct blocks *blocks = &prediction->blocks;
    int64_t keys = records + memory->keys_once;
    blocks_open(blocks, &model->build);
    blocks_merge(blocks, &memory->blocks);
    if (sampled > 0)
        blocks_scale(blocks, (double)records / (double)sampled);
    blocks_merge(blocks, &memory->once);
    add_key_table(blocks, keys);
    for (size_t i = 0; accounts[i]; i++)
        if (llround(blocks->sums[i]) != 0)
            amounts_add(&prediction->amounts, accounts[i], BASIS_MODELLED,
                        llround(blocks->sums[i]));
    amounts_add(&prediction->amounts, &account_rounding, BASIS_MODELLED, llround(blocks->rounding));
    prediction->allocated = counted + amounts_sum(&prediction->amounts);
    prediction->allocated_low = prediction->allocated_high = prediction->allocated;
    add_resident(prediction);
    add_steps(memory, keys, prediction);
    if (strcmp(model->build.version, VERIFIED) != 0)
        prediction_note(prediction,
                        "layout of jansson " VERIFIED "; that of %s is taken as the same",
                        model->build.version);
    return 0;
}

static void add_growth(struct measurement *measurement, const struct account *account,
                       const struct figures *base, const struct figures *end, const char *name)
{
    if (figures_has(end, name))
        amounts_add(&measurement->amounts, account, BASIS_MEASURED,
                    figures_growth(base, end, name));
}

/* What mallinfo2() calls in use besides the map's own blocks and their headers (8 bytes a block, 16
 * of a mapped one): chunks that wait in the thread's cache, and the process's own few. */
static int64_t in_use_besides(const struct figures *base, const struct figures *end)
{
    return figures_growth(base, end, "mallinfo.uordblks") +
           figures_growth(base, end, "mallinfo.hblkhd") -
           figures_growth(base, end, "memory.usable") -
           8 * (figures_growth(base, end, "memory.blocks") +
                figures_growth(base, end, "mallinfo.hblks"));
}

static int64_t not_resident(const struct figures *figures)
{
    return figures_get(figures, "smaps.heap.size") - figures_get(figures, "smaps.heap.rss");
}

static int measure(struct model *model, const struct figures *base, const struct figures *end,
                   const struct prediction *prediction, struct measurement *measurement,
                   struct tare_error *error)
{
    struct amounts *amounts = &measurement->amounts;
    (void)model;
    (void)error;
    measurement_free(measurement);
    measurement->has_allocated = figures_has(end, "memory.usable");
    measurement->allocated = figures_growth(base, end, "memory.usable");
    measurement->base_allocated = figures_get(base, "memory.usable");
    measurement->has_resident = figures_has(end, "smaps.total.rss");
    measurement->resident = figures_growth(base, end, "smaps.total.rss");
    measurement->base_resident = figures_get(base, "smaps.total.rss");
    if (!measurement->has_resident)
        return 0;
    amounts_add(amounts, &account_block_headers, BASIS_MODELLED,
                llround(prediction->blocks.headers));
    amounts_add(amounts, &account_thread_cache, BASIS_DERIVED, in_use_besides(base, end));
    add_growth(measurement, &account_free_chunks, base, end, "mallinfo.fordblks");
    amounts_add(amounts, &account_untouched_pages, BASIS_DERIVED,
                not_resident(base) - not_resident(end));
    add_growth(measurement, &account_mapped_files, base, end, "smaps.file.rss");
    add_growth(measurement, &account_stacks, base, end, "smaps.stack.rss");
    return 0;
}

/* Figures "memory.sizes.SIZE" count the blocks of each usable size. */
static int evidence(struct model *model, const struct figures *base, const struct figures *end,
                    const struct prediction *prediction, struct evidence *evidence)
{
    static const char group[] = "memory.sizes.";
    (void)model;
    evidence_free(evidence);
    evidence->source = "malloc_usable_size";
    for (int at_end = 0; at_end < 2; at_end++) {
        const struct figures *figures = at_end ? end : base;
        for (size_t i = 0; i < figures->count; i++) {
            const char *name = figures->items[i].name;
            int64_t count = figures->items[i].integer * (at_end ? 1 : -1);
            if (strncmp(name, group, sizeof group - 1) == 0)
                evidence_row(evidence, strtoll(name + sizeof group - 1, NULL, 10))->counted +=
                    count;
        }
    }
    for (size_t i = 0; i < prediction->blocks.class_size; i++) {
        const struct block_class *class = &prediction->blocks.classes[i];
        int64_t count = class->kind ? llround(class->count) : 0;
        if (count)
            evidence_row(evidence, class->usable)->predicted += count;
    }
    evidence_sort(evidence);
    return 0;
}

static void close(struct model *model)
{
    struct memory_model *memory = (struct memory_model *)model;
    blocks_free(&memory->blocks);
    blocks_free(&memory->once);
    free(memory);
}

static const struct published published[] = {
    {"mallinfo2's uordblks", {"mallinfo.uordblks"}, 1, &account_total_allocated, false},
    {"VmRSS", {"status.VmRSS"}, 1, &account_total_resident, false},
    {0},
};

const struct model_kind model_memory = {
    .name = "memory",
    .explanation = "a process's own memory: jansson 2.14's values and map on glibc's malloc",
    .fits = fits,
    .published = published,
    .takes = takes,
    .open = open,
    .add = add,
    .predict = predict,
    .measure = measure,
    .evidence = evidence,
    .close = close,
};

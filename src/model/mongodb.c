/* The model of MongoDB: WiredTiger's blocks for a collection and its indexes,
 * tcmalloc's classes, and from the allocator's figures to resident
 * pages.
 *
 * A document that was inserted is an update in memory:
 *
 *   insert head -> WT_INSERT (16 + 8 a level, record id) -> WT_UPDATE (47) + BSON
 *
 * until its page is reconciled into images; an update stays through a
 * checkpoint as long as its page does. Pages that outgrow 80 % of
 * memory_page_max (10 MiB for collections) are split in memory. Eviction of
 * updates sets in at 2.5 % of the cache (eviction_updates_target). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/keystring.h"
#include "model/mongodb.h"
#include "model/tcmalloc.h"

/* --- Layouts --- */

/* WT_DSRC_STATS: 231 counters of 8 bytes, WT_COUNTER_SLOTS 23 times (stat.h of the WiredTiger in
 * 6.0.5). The rows of 4.4 and 5.0 take the same where they weren't looked up. */
static const struct mongodb_layout layouts[] = {
    {0, 49999, "MongoDB 4.4.2", 39, 80, 272, 48, 160, 8, 72, 112, 112, 231 * 8 * 23, 0},
    {50000, 59999, "MongoDB 5.0.4", 39, 88, 272, 48, 160, 8, 72, 112, 112, 231 * 8 * 23, 10},
    {60000, 69999, "MongoDB 6.0.5", 47, 88, 272, 48, 160, 8, 72, 112, 112, 231 * 8 * 23, 10},
};

#define LAYOUT_COUNT (sizeof layouts / sizeof layouts[0])

static const struct mongodb_layout *layout_of(const struct build *build)
{
    for (size_t i = 0; i < LAYOUT_COUNT; i++)
        if (build->number >= layouts[i].first && build->number <= layouts[i].last)
            return &layouts[i];
    return &layouts[LAYOUT_COUNT - 1];
}

double mongodb_level_share(int level)
{
    double deeper = pow(0.25, level - 1);
    return level == MONGODB_LEVELS_MOST ? deeper : 0.75 * deeper;
}

int mongodb_packed_length(uint64_t number)
{
    if (number <= 63)
        return 1;
    if (number <= 8255)
        return 2;
    int length = 1;
    for (number -= 8256; number; number >>= 8)
        length++;
    return length == 1 ? 2 : length;
}

/* --- The model --- */

#define MEMORY_SPLIT (8 * 1024 * 1024) /* 80 % of memory_page_max 10 MiB (bt_handle.c) */
/* mongod inserts a bulk in groups: internalInsertMaxBatchSize documents, insertVectorMaxBytes
 * (write_ops_exec.cpp); each group is one transaction. */
#define GROUP_DOCUMENTS 500
#define GROUP_BYTES     (256 * 1024)
#define UPDATES_TARGET  0.025 /* eviction_updates_target: half of eviction_dirty_target, 5 % */

/* Secondary indexes of one collection; MongoDB takes 64. */
#define INDEXES_MOST 64

struct mongodb_model {
    struct model model;
    const struct mongodb_layout *layout;
    bool in_memory;
    int64_t documents, bson;
    int64_t once;  /* of the documents: kept once, however many records there are */
    int64_t pages; /* of the collection, in memory */
    double footprint, page_footprint; /* of all documents; of the page being filled */
    struct blocks updates;            /* WT_UPDATE and BSON of each document */
    struct blocks once_updates;       /* of those that are kept once */
    struct mongodb_index *id;
    struct mongodb_index *indexes[INDEXES_MOST];
    size_t index_count;
    bool index_used[INDEXES_MOST]; /* some document has the field */
    struct keystrings keys;        /* of the last document and index */
    struct buffer key;
    uint32_t group;
    int64_t group_documents, group_bytes;
    int64_t group_writes, largest_group; /* records and keys that its transaction writes */
    int64_t group_log, largest_log;      /* bytes of its log record */
    int64_t first_log;                   /* of the log record with the first document alone */
    bool logs;                           /* on disk, with a journal */
    double cache;                        /* bytes that it is configured for; 0: not known */
    bool decommits;                      /* tcmallocAggressiveMemoryDecommit */
    const char *log_compressor;          /* a constant, or the name of one that is not known */
};

static bool fits(const struct build *build)
{
    return strcmp(build->store, "mongodb") == 0;
}

/* What --wiredTigerJournalCompressor takes; the first is mongod's own. */
static const char *const log_compressors[] = {"snappy", "none", "zlib", "zstd"};

static const char *log_compressor(const char *name)
{
    for (size_t i = 0; i < sizeof log_compressors / sizeof log_compressors[0]; i++)
        if (strcmp(log_compressors[i], name) == 0)
            return log_compressors[i];
    return log_compressors[0];
}

/* A setting's number, whatever its type; 0 where it is missing. */
static double setting_number(const struct figures *settings, const char *name)
{
    const char *text = figures_get_text(settings, name);
    for (size_t i = 0; !text && i < settings->count; i++)
        if (strcmp(settings->items[i].name, name) == 0 && settings->items[i].type == FIGURE_REAL)
            return settings->items[i].real;
    return text ? strtod(text, NULL) : (double)figures_get(settings, name);
}

static bool is_on(const struct figures *settings, const char *name)
{
    const char *text = figures_get_text(settings, name);
    return (text && strcmp(text, "true") == 0) || setting_number(settings, name) > 0;
}

#define GIB (1024.0 * 1024 * 1024)

/* Half of the memory above a GiB, 256 MB at least (wiredtiger_util.cpp, getCacheSizeMB); 0 where
 * nothing tells the memory. */
static double cache_configured(const struct figures *settings)
{
    double cache = setting_number(settings, "wiredTigerCacheSizeGB") * GIB;
    double memory = setting_number(settings, MODEL_MACHINE_MEMORY);
    if (cache > 0 || memory <= 0)
        return cache;
    cache = (memory - GIB) / 2;
    return cache > GIB / 4 ? cache : GIB / 4;
}

static struct model *open(const struct build *build, const struct figures *settings,
                          struct tare_error *error)
{
    (void)error;
    struct mongodb_model *mongodb = memory_new(sizeof *mongodb);
    mongodb->model.build = *build;
    mongodb->layout = layout_of(build);
    mongodb->in_memory = strcmp(build->engine, "memory") == 0;
    mongodb->logs = !mongodb->in_memory && !figures_has(settings, "nojournal");
    mongodb->cache = cache_configured(settings);
    mongodb->decommits = is_on(settings, "tcmallocAggressiveMemoryDecommit");
    const char *compressor = figures_get_text(settings, "wiredTigerJournalCompressor");
    mongodb->log_compressor = compressor ? log_compressor(compressor) : log_compressors[0];
    mongodb->id = mongodb_index_open(mongodb->layout, mongodb->in_memory, &account_wt_id_index);
    blocks_open(&mongodb->updates, &mongodb->model.build);
    blocks_open(&mongodb->once_updates, &mongodb->model.build);
    return &mongodb->model;
}

static void close(struct model *model)
{
    struct mongodb_model *mongodb = (struct mongodb_model *)model;
    mongodb_index_close(mongodb->id);
    for (size_t i = 0; i < mongodb->index_count; i++)
        mongodb_index_close(mongodb->indexes[i]);
    keystrings_free(&mongodb->keys);
    buffer_free(&mongodb->key);
    blocks_free(&mongodb->updates);
    blocks_free(&mongodb->once_updates);
    free(mongodb);
}

static double update_footprint(const struct mongodb_layout *layout, int64_t bson)
{
    return (double)((layout->update + bson + 31) / 32 * 32);
}

/* A log record is a header, type and transaction (WT_LOG_RECORD, log.h, 16 bytes; log_auto.c), and
 * an operation each that puts a row: type, length, file, length of the key, key and value, the
 * numbers packed. The two record bytes of the type and of the file, and three of the transaction's
 * id. */
#define LOG_HEADER (16 + 1 + 3)

static int64_t log_operation(int64_t key, int64_t value)
{
    int64_t length = 1 + 1 + mongodb_packed_length((uint64_t)key) + key + value;
    return length + mongodb_packed_length((uint64_t)length + 2);
}

/* The keys that the indexes get. That of the _id index is unique, and its value is the record id; a
 * secondary index has the record id behind each key, and values that hold the type bits alone. */
static void add_keys(struct mongodb_model *mongodb, const struct object *object, uint64_t number)
{
    struct keystrings *keys = &mongodb->keys;
    keystrings_of_id(object, keys);
    mongodb_index_insert(mongodb->id, keystrings_get(keys, 0),
                         keystring_record_id_length(number) +
                             keystring_type_bytes(keys->items[0].type_bits),
                         mongodb->group);
    mongodb->group_writes += 2;
    mongodb->group_log +=
        log_operation((int64_t)keystrings_get(keys, 0).length, keystring_record_id_length(number));
    for (size_t i = 0; i < object->index_count && i < INDEXES_MOST; i++) {
        if (i == mongodb->index_count)
            mongodb->indexes[mongodb->index_count++] =
                mongodb_index_open(mongodb->layout, mongodb->in_memory, &account_wt_index);
        mongodb->index_used[i] |= keystrings_of_index(object, &object->indexes[i], keys);
        for (size_t k = 0; k < keys->count; k++) {
            unsigned char record_id[9];
            struct slice key = keystrings_get(keys, k);
            buffer_clear(&mongodb->key);
            buffer_append(&mongodb->key, key.bytes, key.length);
            buffer_append(&mongodb->key, record_id, (size_t)keystring_record_id(number, record_id));
            mongodb_index_insert(mongodb->indexes[i], buffer_slice(&mongodb->key),
                                 keystring_type_bytes(keys->items[k].type_bits), mongodb->group);
            mongodb->group_log += log_operation((int64_t)mongodb->key.length, 0);
        }
        mongodb->group_writes += (int64_t)keys->count;
    }
}

static int add(struct model *model, const struct object *object, struct tare_error *error)
{
    struct mongodb_model *mongodb = (struct mongodb_model *)model;
    const struct mongodb_layout *layout = mongodb->layout;
    if (object->type != OBJECT_DOCUMENT)
        return error_set(error, TARE_USAGE, "the model of mongodb knows documents alone");
    int64_t bson = (int64_t)object->body.length;
    int64_t number = ++mongodb->documents;
    mongodb->bson += bson;
    mongodb->once += object->once;
    blocks_add_plain(object->once ? &mongodb->once_updates : &mongodb->updates, "WT_UPDATE + BSON",
                     1, bson, &account_wt_update, layout->update);
    double cost = update_footprint(layout, bson) + MONGODB_INSERT +
                  MONGODB_LEVEL * MONGODB_LEVELS_MEAN + mongodb_packed_length((uint64_t)number);
    if (number == 1 || mongodb->page_footprint >= MEMORY_SPLIT) {
        mongodb->pages++;
        mongodb->page_footprint = layout->page + layout->insert_head + 8;
    }
    mongodb->page_footprint += cost;
    mongodb->footprint += cost;

    mongodb->group_log += log_operation(mongodb_packed_length((uint64_t)number), bson);
    if (number == 1)
        mongodb->first_log = LOG_HEADER + mongodb->group_log;
    add_keys(mongodb, object, (uint64_t)number);
    if (LOG_HEADER + mongodb->group_log > mongodb->largest_log)
        mongodb->largest_log = LOG_HEADER + mongodb->group_log;
    mongodb->group_documents++;
    mongodb->group_bytes += bson;
    if (mongodb->group_writes > mongodb->largest_group)
        mongodb->largest_group = mongodb->group_writes;
    if (mongodb->group_documents >= GROUP_DOCUMENTS || mongodb->group_bytes > GROUP_BYTES) {
        mongodb->group++;
        mongodb->group_documents = mongodb->group_bytes = 0;
        mongodb->group_writes = mongodb->group_log = 0;
    }
    return 0;
}

/* --- Predicting --- */

/* WT_INSERT of records 1 to n: the key is the record id, packed. */
static void add_inserts(struct blocks *blocks, int64_t records, double share)
{
    static const int64_t last[] = {
        63, 8255, 8256 + 255, 8256 + 65535, 8256 + 16777215, INT64_C(8256) + 4294967295, INT64_MAX};
    int64_t before = 0;
    for (size_t i = 0; before < records; i++) {
        int64_t to = last[i] < records ? last[i] : records;
        int length = mongodb_packed_length((uint64_t)to);
        for (int level = 1; level <= MONGODB_LEVELS_MOST; level++)
            blocks_add_plain(blocks, "WT_INSERT",
                             (double)(to - before) * share * mongodb_level_share(level), 0,
                             &account_wt_insert, MONGODB_INSERT + MONGODB_LEVEL * level + length);
        before = to;
    }
}

/* Lists grow from ten places, doubling (misc.h, __wt_realloc_def). */
static int64_t list_places(int64_t least)
{
    int64_t places = 10;
    while (places < least)
        places *= 2;
    return places;
}

static void add_pages(const struct mongodb_model *mongodb, struct blocks *blocks, double pages)
{
    const struct mongodb_layout *layout = mongodb->layout;
    const struct account *account = &account_wt_page;
    blocks_add_plain(blocks, "WT_PAGE", pages, 0, account, layout->page);
    blocks_add_plain(blocks, "WT_PAGE_MODIFY", pages, 0, account, layout->page_modify);
    blocks_add_plain(blocks, "insert array", pages, 0, account, 8);
    blocks_add_plain(blocks, "WT_INSERT_HEAD", pages, 0, account, layout->insert_head);
    blocks_add_plain(blocks, "WT_REF", pages, 0, account, layout->ref);
    blocks_add_plain(blocks, "ref key", pages, 0, account, layout->instantiated_key + 4);
}

/* How large an image of the collection gets: 90 % (split_pct) of the leaf page, to the nearest
 * allocation unit; in memory, and on disk before compression, up to 128 KiB: 118,784. The limit on
 * disk adapts to how well blocks compress (rec_write.c), and the server shows it. */
#define LEAF_MOST          131072
#define LEAF_LEAST         32768
#define ALLOCATION_UNIT    4096
#define INPUT_UNRECONCILED "collection.unreconciled"
#define INPUT_LEAF         "leaf.before_compression"
#define INPUT_INDEX        "_id.unreconciled"
#define INPUT_HEADS        "_id.insert_heads"
#define INPUT_INSTANTIATED "_id.instantiated_keys"
#define INPUT_MODIFIED     "_id.modified_pages"
#define INPUT_RESIDENT     "_id.resident_images"
#define INPUT_SESSIONS     "load.sessions"
#define INPUT_NOT_CACHED   "collection.not_in_cache"

static int64_t image_limit(int64_t leaf)
{
    return (leaf * 9 / 10 + ALLOCATION_UNIT / 2) / ALLOCATION_UNIT * ALLOCATION_UNIT;
}

/* Length of a reconciled document's cells, key and value, without the BSON itself. In memory the
 * value's cell keeps its transaction id: descriptor, flags, 2 bytes of id, run length. */
static int64_t cell_overhead(const struct mongodb_model *mongodb, int64_t bson, int64_t number)
{
    int64_t key = 1 + mongodb_packed_length((uint64_t)number);
    if (mongodb->in_memory)
        return key + 5 + mongodb_packed_length((uint64_t)bson);
    return key + 1 + mongodb_packed_length((uint64_t)(bson > 64 ? bson - 64 : 0));
}

/* What a checkpoint leaves with each page of the collection: a list of the blocks that it wrote,
 * with their addresses (a cookie of 9 bytes) and keys. */
static void add_block_lists(const struct mongodb_model *mongodb, struct blocks *blocks,
                            double documents, double pages, int64_t leaf)
{
    const struct mongodb_layout *layout = mongodb->layout;
    const struct account *account = &account_wt_blocks;
    if (documents < 1 || pages < 1)
        return;
    int64_t bson = mongodb->bson / mongodb->documents;
    int64_t cell = bson + cell_overhead(mongodb, bson, (int64_t)documents);
    int64_t fits_block = (image_limit(leaf) - MONGODB_IMAGE_HEADER) / (cell ? cell : 1);
    double of_page = ceil(documents / pages / (double)(fits_block ? fits_block : 1));
    blocks_add_plain(blocks, "WT_MULTI", pages, 0, account,
                     layout->multi * list_places((int64_t)of_page));
    blocks_add_plain(blocks, "block address", pages * of_page, 0, account, 9);
    blocks_add_plain(blocks, "block key", pages * of_page, 0, account,
                     layout->instantiated_key + 4);
}

/* The images that reconciled documents come to. */
struct images {
    double mean;      /* BSON of a document */
    int64_t overhead; /* of its cells */
    double of_image;  /* documents in one */
    double bytes;     /* of one */
};

static struct images images_of(const struct mongodb_model *mongodb, double documents, int64_t leaf)
{
    struct images images = {.mean = (double)mongodb->bson / (double)mongodb->documents};
    images.overhead =
        cell_overhead(mongodb, mongodb->bson / mongodb->documents, (int64_t)documents);
    int64_t limit = image_limit(mongodb->in_memory ? LEAF_MOST : leaf);
    images.of_image =
        floor((double)(limit - MONGODB_IMAGE_HEADER) / (images.mean + (double)images.overhead));
    if (images.of_image < 1)
        images.of_image = 1;
    images.bytes = MONGODB_IMAGE_HEADER + images.of_image * (images.mean + (double)images.overhead);
    return images;
}

/* Documents whose pages were reconciled: images that hold their cells, and a row each. Of those
 * that are not in the cache, what leads to them is. */
static void add_reconciled(const struct mongodb_model *mongodb, struct blocks *blocks,
                           double documents, double not_cached, int64_t leaf)
{
    const struct mongodb_layout *layout = mongodb->layout;
    /* None of it read yet since a restart: nor what leads to it. */
    if (documents - not_cached < 1)
        return;
    const struct images of = images_of(mongodb, documents, leaf);
    double images = documents / of.of_image;
    double cached = (documents - not_cached) / of.of_image;
    const struct part image[] = {
        {NULL, llround(of.of_image * of.mean)},
        {&account_wt_cell, MONGODB_IMAGE_HEADER + llround(of.of_image * (double)of.overhead)}};
    const struct part page[] = {{&account_wt_page, layout->page},
                                {&account_wt_row, llround(8 * of.of_image)}};
    blocks_add(blocks, "page image", cached, image, 2);
    blocks_add(blocks, "WT_PAGE", cached, page, 2);
    blocks_add_plain(blocks, "WT_REF", images, 0, &account_wt_page, layout->ref);
    blocks_add_plain(blocks, "ref key", images, 0, &account_wt_page, layout->instantiated_key + 4);
    if (!mongodb->in_memory) {
        blocks_add_plain(blocks, "WT_ADDR", images, 0, &account_wt_blocks, layout->address);
        blocks_add_plain(blocks, "block address", images, 0, &account_wt_blocks, 9);
    }
}

/* What each session that has written keeps for its next transaction. */
static void add_sessions(const struct mongodb_model *mongodb, struct blocks *blocks,
                         double sessions)
{
    /* An operation on the collection and one on each index for each document of the largest
     * transaction. */
    blocks_add_plain(blocks, "WT_TXN_OP", sessions, 0, &account_wt_transaction,
                     mongodb->layout->transaction_operation * list_places(mongodb->largest_group));
    if (!mongodb->logs)
        return;
    /* The log record, whose buffer doubles from the first document's on (__wt_buf_extend,
     * buf_inline.h; the session that made the collection goes by the record of that and may come to
     * up to twice as much), and the one that it was compressed into: what the compressor says that
     * it may need (ext/compressors), and WT_LOG_RECORD. */
    int64_t length = mongodb->largest_log, buffer = mongodb->first_log;
    while (buffer < length)
        buffer *= 2;
    blocks_add_plain(blocks, "log record", sessions, 0, &account_wt_log, buffer);
    int64_t most = length + 16;
    if (strcmp(mongodb->log_compressor, "none") == 0)
        return;
    if (strcmp(mongodb->log_compressor, "snappy") == 0)
        most += 8 + 32 + length / 6;
    else if (strcmp(mongodb->log_compressor, "zstd") == 0)
        most += 8 + length / 256;
    blocks_add_plain(blocks, "compressed log record", sessions, 0, &account_wt_log, most);
}

/* What a prediction takes of state inputs. */
struct state {
    double unreconciled; /* documents that are still updates */
    double not_cached;   /* documents whose pages were reconciled and left the cache */
    double sessions;     /* that have written */
    int64_t leaf;
    bool index_given;
    struct mongodb_index_state index;
};

/* The collection's blocks alone. */
static void make_collection(const struct mongodb_model *mongodb, int64_t records,
                            const struct state *state, struct blocks *blocks)
{
    double unreconciled = state->unreconciled;
    int64_t leaf = state->leaf;
    blocks_open(blocks, &mongodb->model.build);
    if (mongodb->documents == 0 || records == 0)
        return;
    double factor = (double)records / (double)mongodb->documents;
    double share = unreconciled / (double)records;
    double pages = (double)mongodb->pages * factor * share;
    if (share > 0 && pages < 1)
        pages = 1;

    struct blocks part;
    blocks_open(&part, &mongodb->model.build);
    blocks_merge(&part, &mongodb->updates);
    if (mongodb->documents > mongodb->once)
        blocks_scale(&part, (double)(records - mongodb->once) /
                                (double)(mongodb->documents - mongodb->once));
    blocks_merge(&part, &mongodb->once_updates);
    blocks_scale(&part, share);
    blocks_merge(blocks, &part);
    blocks_free(&part);
    add_inserts(blocks, records, share);
    add_pages(mongodb, blocks, pages);
    add_reconciled(mongodb, blocks, (double)records * (1 - share), state->not_cached, leaf);
    if (!mongodb->in_memory)
        add_block_lists(mongodb, blocks, (double)records * share, pages, leaf);
}

/* All blocks of `records` documents. */
static void make_blocks(const struct mongodb_model *mongodb, int64_t records,
                        const struct state *state, struct blocks *blocks)
{
    const struct mongodb_layout *layout = mongodb->layout;
    make_collection(mongodb, records, state, blocks);
    if (mongodb->documents == 0 || records == 0)
        return;
    double factor = (double)records / (double)mongodb->documents;
    struct blocks index;
    blocks_open(&index, &mongodb->model.build);
    if (!state->index_given)
        mongodb_index_blocks(mongodb->id, !mongodb->in_memory, &index);
    for (size_t i = 0; i < mongodb->index_count; i++)
        mongodb_index_blocks(mongodb->indexes[i], !mongodb->in_memory, &index);
    blocks_scale(&index, factor);
    if (state->index_given)
        mongodb_index_blocks_in(mongodb->id, &state->index, (double)records, &index);
    blocks_merge(blocks, &index);
    blocks_free(&index);

    /* The collection's table and each index's. */
    blocks_add_plain(blocks, "WT_DSRC_STATS", 2 + (double)mongodb->index_count, 0,
                     &account_wt_handles, layout->statistics);
    add_sessions(mongodb, blocks, state->sessions);
}

/* plan: what a load of this size leaves with tcmalloc and the process (measured here on 6.0.5, N =
 * 100,000 to 300,000, both engines): resident pages of the program that a load touches first, and
 * the free pages that tcmalloc keeps. */
#define FILES_TOUCHED   (1800 * 1024)
#define STACKS_TOUCHED  (100 * 1024)
#define PAGE_HEAP_USUAL (2 * 1024 * 1024)
#define PAGE_HEAP_SHARE                                                                            \
    0.15               /* seen at most; with tcmallocAggressiveMemoryDecommit next to none         \
                        */
#define SPAN_STRUCT 48 /* tcmalloc's Span (span.h) */

static void predict_resident(const struct mongodb_model *mongodb, struct prediction *prediction)
{
    const struct blocks *blocks = &prediction->blocks;
    struct amounts *amounts = &prediction->resident_amounts;
    double tails = 0, spans = 0;
    for (size_t i = 0; i < blocks->class_size; i++) {
        const struct block_class *class = &blocks->classes[i];
        if (!class->kind)
            continue;
        int64_t span = tcmalloc_span(class->usable);
        if (span) {
            double of_class = class->count / (double)(span / class->usable);
            spans += of_class;
            tails += of_class * (double)(span % class->usable);
        } else {
            spans += class->count;
        }
    }
    double page_heap_share = mongodb->decommits ? 0 : PAGE_HEAP_SHARE;
    int64_t page_heap_most =
        llround((double)prediction->allocated * page_heap_share) + PAGE_HEAP_USUAL;
    amounts_add_range(amounts, &account_page_heap, BASIS_MODELLED, PAGE_HEAP_USUAL, 0,
                      page_heap_most);
    amounts_add(amounts, &account_span_tails, BASIS_MODELLED, llround(tails));
    amounts_add(amounts, &account_allocator_metadata, BASIS_MODELLED, llround(spans * SPAN_STRUCT));
    amounts_add(amounts, &account_mapped_files, BASIS_MODELLED, FILES_TOUCHED);
    amounts_add(amounts, &account_stacks, BASIS_MODELLED, STACKS_TOUCHED);
    prediction->resident = prediction->allocated + amounts_sum(amounts);
    prediction->resident_low = prediction->allocated_low + amounts_sum(amounts) - PAGE_HEAP_USUAL;
    prediction->resident_high =
        prediction->allocated_high + amounts_sum(amounts) - PAGE_HEAP_USUAL + page_heap_most;
}

static const struct account *const structure[] = {
    &account_wt_update,      &account_wt_insert,   &account_wt_cell,   &account_wt_row,
    &account_wt_page,        &account_wt_id_index, &account_wt_index,  &account_wt_handles,
    &account_wt_transaction, &account_wt_log,      &account_wt_blocks,
};

static void take_inputs(const struct figures *inputs, struct state *state)
{
    if (figures_has(inputs, INPUT_UNRECONCILED))
        state->unreconciled = (double)figures_get(inputs, INPUT_UNRECONCILED);
    if (figures_has(inputs, INPUT_SESSIONS))
        state->sessions = (double)figures_get(inputs, INPUT_SESSIONS);
    if (figures_has(inputs, INPUT_NOT_CACHED))
        state->not_cached = (double)figures_get(inputs, INPUT_NOT_CACHED);
    if (figures_has(inputs, INPUT_LEAF))
        state->leaf = figures_get(inputs, INPUT_LEAF);
    state->index_given = figures_has(inputs, INPUT_INDEX);
    state->index = (struct mongodb_index_state){
        .unreconciled = (double)figures_get(inputs, INPUT_INDEX),
        .heads = (double)figures_get(inputs, INPUT_HEADS),
        .instantiated = (double)figures_get(inputs, INPUT_INSTANTIATED),
        .modified = (double)figures_get(inputs, INPUT_MODIFIED),
        .resident =
            figures_has(inputs, INPUT_RESIDENT) ? (double)figures_get(inputs, INPUT_RESIDENT) : -1,
    };
}

/* Where the updates of a load pass their target the server reconciles the oldest, down to no given
 * point: at the end of loads they were .02 to 1.0 of it, .65 on average (4.4 to 6.0, both engines).
 */
#define UPDATES_USUAL  0.65
#define CACHE_OVERHEAD 1.08 /* cache_overhead, 8 %, of wiredtiger_open */

/* Documents that are still updates where these come to the target; as many as there are at most. */
static double unreconciled_most(const struct mongodb_model *mongodb, int64_t records)
{
    if (mongodb->cache <= 0 || mongodb->documents == 0)
        return (double)records;
    double target = UPDATES_TARGET * mongodb->cache / CACHE_OVERHEAD;
    double most = target / update_footprint(mongodb->layout, mongodb->bson / mongodb->documents);
    return most < (double)records ? most : (double)records;
}

/* Bytes of the collection's blocks where so many documents are not reconciled. */
static double collection_bytes(const struct mongodb_model *mongodb, int64_t records,
                               const struct state *usual, double unreconciled)
{
    struct state state = *usual;
    struct blocks blocks;
    double bytes = 0;
    state.unreconciled = unreconciled;
    make_collection(mongodb, records, &state, &blocks);
    for (size_t i = 0; i < blocks.class_size; i++)
        if (blocks.classes[i].kind)
            bytes += blocks.classes[i].count * (double)blocks.classes[i].usable;
    blocks_free(&blocks);
    return bytes;
}

/* What no one can know beforehand: how the index's pages are reconciled, which is simulated; where
 * the log's buffers began to double; and how many documents the server reconciles. */
static void predict_range(const struct mongodb_model *mongodb, int64_t records,
                          const struct state *state, bool given, struct prediction *prediction)
{
    int64_t index = llround(prediction->blocks.sums[account_place(&account_wt_id_index)] +
                            prediction->blocks.sums[account_place(&account_wt_index)]);
    int64_t logs = llround(prediction->blocks.sums[account_place(&account_wt_log)]);
    double most = unreconciled_most(mongodb, records);
    prediction->allocated_low = prediction->allocated - index / 10;
    prediction->allocated_high = prediction->allocated + index / 10 + logs;
    if (given || most >= (double)records)
        return;
    double usual = collection_bytes(mongodb, records, state, state->unreconciled);
    prediction->allocated_low += llround(collection_bytes(mongodb, records, state, 0) - usual);
    prediction->allocated_high += llround(collection_bytes(mongodb, records, state, most) - usual);
    prediction_note(prediction,
                    "updates pass %.1f %% of a cache of %.0f bytes: which documents the server "
                    "reconciles from there on is its choice, and the range holds from none left "
                    "to %.0f; --set wiredTigerCacheSizeGB=N tells another cache",
                    100 * UPDATES_TARGET, mongodb->cache, most);
}

static int predict(struct model *model, int64_t sampled, int64_t records, int64_t counted,
                   const struct figures *inputs, struct prediction *prediction,
                   struct tare_error *error)
{
    const struct mongodb_model *mongodb = (const struct mongodb_model *)model;
    records += mongodb->once; /* documents, from here on */
    sampled += mongodb->once;
    struct state state = {
        .unreconciled = (double)records, .sessions = MONGODB_SESSIONS, .leaf = LEAF_LEAST};
    prediction_free(prediction);
    double most = unreconciled_most(mongodb, records);
    if (most < (double)records)
        state.unreconciled = UPDATES_USUAL * most;
    if (inputs)
        take_inputs(inputs, &state);
    double unreconciled = state.unreconciled;
    if (unreconciled < 0 || unreconciled > (double)records || state.leaf < 512 ||
        state.index.unreconciled < 0 || state.index.unreconciled > (double)records ||
        state.not_cached < 0 || state.not_cached > (double)records - unreconciled)
        return error_set(error, TARE_USAGE,
                         "state input '" INPUT_UNRECONCILED
                         "' lies between 0 and the records, '" INPUT_NOT_CACHED
                         "' between 0 and the others, '" INPUT_LEAF "' is at least 512");
    make_blocks(mongodb, records, &state, &prediction->blocks);
    if (sampled == records && unreconciled >= (double)records &&
        llround(prediction->blocks.content) != counted)
        return error_set(error, TARE_USAGE,
                         "internal: the model of mongodb holds %lld bytes of content where the "
                         "encoding counted %lld",
                         llround(prediction->blocks.content), (long long)counted);
    int64_t sum = 0;
    for (size_t i = 0; i < sizeof structure / sizeof structure[0]; i++) {
        int64_t bytes = llround(prediction->blocks.sums[account_place(structure[i])]);
        if (bytes)
            amounts_add(&prediction->amounts, structure[i], BASIS_MODELLED, bytes);
        sum += bytes;
    }
    /* They were counted with the others, and take no memory. */
    int64_t not_cached = 0;
    if (state.not_cached > 0) {
        not_cached = llround(state.not_cached * (double)mongodb->bson / (double)mongodb->documents);
        amounts_add(&prediction->amounts, &account_wt_not_cached, BASIS_MODELLED, -not_cached);
    }
    int64_t rounding = llround(prediction->blocks.rounding);
    amounts_add(&prediction->amounts, &account_rounding, BASIS_MODELLED, rounding);
    prediction->allocated = counted + sum - not_cached + rounding;
    predict_range(mongodb, records, &state, inputs && figures_has(inputs, INPUT_UNRECONCILED),
                  prediction);
    predict_resident(mongodb, prediction);
    for (size_t i = 0; i < mongodb->index_count; i++)
        if (!mongodb->index_used[i])
            prediction_note(prediction, "no document has the field of the secondary index: all of "
                                        "its keys are null");
    int series = mongodb->model.build.number / 100;
    if (series != 404 && series != 500 && series != 600)
        prediction_note(prediction,
                        "the layouts of WiredTiger were verified on MongoDB 4.4.2, 5.0.4 and "
                        "6.0.5: for %s the nearest (%s) is taken, expect a larger miss",
                        mongodb->model.build.version, mongodb->layout->verified);
    return 0;
}

/* --- Measuring --- */

/* One of the size classes that serverStatus({tcmalloc: 2}) lists. */
struct size_class {
    int64_t size, spans, span_bytes, in_use;
};

#define STATUS "serverStatus.tcmalloc.tcmalloc."

static int64_t class_figure(const struct figures *figures, int number, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, STATUS "size_classes.%d.%s", number, name);
    return figures_get(figures, path);
}

/* False past the last class. */
static bool class_read(const struct figures *figures, int number, struct size_class *class)
{
    char path[128];
    snprintf(path, sizeof path, STATUS "size_classes.%d.bytes_per_object", number);
    if (!figures_has(figures, path))
        return false;
    *class = (struct size_class){
        .size = figures_get(figures, path),
        .spans = class_figure(figures, number, "num_spans"),
        .span_bytes = class_figure(figures, number, "pages_per_span") * TCMALLOC_PAGE,
    };
    if (class->size)
        class->in_use = class->spans * (class->span_bytes / class->size) -
                        class_figure(figures, number, "num_thread_objs") -
                        class_figure(figures, number, "num_central_objs") -
                        class_figure(figures, number, "num_transfer_objs");
    return true;
}

static int64_t tails(const struct figures *figures)
{
    struct size_class class;
    int64_t sum = 0;
    for (int i = 0; class_read(figures, i, &class); i++)
        if (class.size)
            sum += class.spans * (class.span_bytes % class.size);
    return sum;
}

/* "MALLOC: +      2621440 (    2.5 MiB) Bytes in malloc metadata" of formattedString: no other
 * figure has it. */
static int64_t metadata(const struct figures *figures)
{
    const char *text = figures_get_text(figures, STATUS "formattedString");
    const char *line = text ? strstr(text, "Bytes in malloc metadata") : NULL;
    int64_t bytes = 0;
    while (line && line > text && line[-1] != '\n')
        line--;
    if (line)
        sscanf(line, "MALLOC: + %" SCNd64, &bytes);
    return bytes;
}

/* Pages of the heap without a frame, beyond those that were given back and those of metadata that
 * is not used yet. */
static int64_t untouched(const struct figures *figures)
{
    int64_t bytes = metadata(figures);
    int64_t chunks =
        (bytes + TCMALLOC_METADATA_CHUNK - 1) / TCMALLOC_METADATA_CHUNK * TCMALLOC_METADATA_CHUNK;
    return figures_get(figures, "smaps.heap.size") - figures_get(figures, "smaps.heap.rss") -
           figures_get(figures, STATUS "pageheap_unmapped_bytes") - (chunks - bytes);
}

static const char *cache_section(const struct figures *figures)
{
    return figures_has(figures, "serverStatus.inMemory.cache.bytes currently in the cache")
               ? "serverStatus.inMemory.cache."
               : "serverStatus.wiredTiger.cache.";
}

static int64_t cache_figure(const struct figures *figures, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "%s%s", cache_section(figures), name);
    return figures_get(figures, path);
}

/* What the cache's own figures are more than its bytes: the share that it adds for its overhead. */
static double cache_overhead(const struct figures *figures)
{
    return 1 + (double)cache_figure(figures, "percentage overhead") / 100;
}

static double cache_bytes(const struct figures *figures)
{
    return (double)cache_figure(figures, "bytes currently in the cache") / cache_overhead(figures);
}

static void measure_allocator(const struct figures *base, const struct figures *end,
                              struct measurement *measurement)
{
    static const struct {
        const char *figure;
        const struct account *account;
    } lists[] = {
        {STATUS "thread_cache_free_bytes", &account_thread_cache},
        {STATUS "transfer_cache_free_bytes", &account_transfer_cache},
        {STATUS "pageheap_free_bytes", &account_page_heap},
    };
    struct amounts *amounts = &measurement->amounts;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        amounts_add(amounts, lists[i].account, BASIS_MEASURED,
                    figures_growth(base, end, lists[i].figure));
    int64_t of_spans = tails(end) - tails(base);
    amounts_add(amounts, &account_span_tails, BASIS_MEASURED, of_spans);
    amounts_add(amounts, &account_central_cache, BASIS_MEASURED,
                figures_growth(base, end, STATUS "central_cache_free_bytes") - of_spans);
    amounts_add(amounts, &account_allocator_metadata, BASIS_MEASURED,
                metadata(end) - metadata(base));
    if (figures_get(end, "smaps.heap.size") > 0)
        amounts_add(amounts, &account_untouched_pages, BASIS_DERIVED,
                    untouched(base) - untouched(end));
}

static void note_residency(const struct figures *base, const struct figures *end,
                           const struct prediction *prediction, struct measurement *measurement)
{
    int64_t size = figures_get(end, "collStats.size"), not_cached = 0;
    double in_cache = cache_bytes(end) - cache_bytes(base);
    double limit = (double)cache_figure(end, "maximum bytes configured");
    for (size_t i = 0; i < prediction->amounts.count; i++)
        if (prediction->amounts.items[i].account == &account_wt_not_cached)
            not_cached = -prediction->amounts.items[i].bytes;
    if (not_cached > 0)
        measurement_note(measurement,
                         "%lld of %lld bytes of documents are on disk and not in the cache: these "
                         "figures are not the whole footprint, but that much less, and the "
                         "documents' cells, rows and pages besides",
                         (long long)not_cached, (long long)size);
    else if (size > 0 && in_cache < 0.98 * (double)size)
        measurement_note(measurement,
                         "the cache holds %.0f bytes, less than the documents' %lld: these figures "
                         "are not the whole footprint, by %.0f bytes at least",
                         in_cache, (long long)size, (double)size - in_cache);
    if (limit > 0 && in_cache * cache_overhead(end) > UPDATES_TARGET * limit)
        measurement_note(
            measurement,
            "updates passed %.1f %% of the cache, where the server begins to reconcile "
            "pages of its own accord: how far it got differs from run to run and is "
            "read as state inputs",
            100 * UPDATES_TARGET);
}

static int measure(struct model *model, const struct figures *base, const struct figures *end,
                   const struct prediction *prediction, struct measurement *measurement,
                   struct tare_error *error)
{
    static const char allocated[] = "serverStatus.tcmalloc.generic.current_allocated_bytes";
    (void)model;
    (void)error;
    measurement_free(measurement);
    measurement->has_allocated = figures_has(end, allocated);
    measurement->allocated = figures_growth(base, end, allocated);
    measurement->base_allocated = figures_get(base, allocated);
    measurement->has_resident = figures_has(end, "smaps.total.rss");
    measurement->resident = figures_growth(base, end, "smaps.total.rss");
    measurement->base_resident = figures_get(base, "smaps.total.rss");
    measurement->subtotal = llround(cache_bytes(end) - cache_bytes(base));
    measurement->subtotal_name = "WiredTiger's cache, without its 8 %";
    if (!measurement->has_allocated)
        measurement_note(measurement, "serverStatus shows no tcmalloc section: what is allocated "
                                      "can't be told");
    if (measurement->has_resident) {
        if (measurement->has_allocated)
            measure_allocator(base, end, measurement);
        amounts_add(&measurement->amounts, &account_mapped_files, BASIS_MEASURED,
                    figures_growth(base, end, "smaps.file.rss"));
        amounts_add(&measurement->amounts, &account_other_anonymous, BASIS_MEASURED,
                    figures_growth(base, end, "smaps.anonymous.rss") +
                        figures_growth(base, end, "smaps.kernel.rss") +
                        figures_growth(base, end, "smaps.shared.rss"));
        amounts_add(&measurement->amounts, &account_stacks, BASIS_MEASURED,
                    figures_growth(base, end, "smaps.stack.rss"));
    }
    note_residency(base, end, prediction, measurement);
    return 0;
}

/* --- Evidence and state inputs --- */

static double predicted_of_class(const struct blocks *blocks, int64_t size, const char *kind)
{
    double count = 0;
    for (size_t i = 0; i < blocks->class_size; i++)
        if (blocks->classes[i].kind && blocks->classes[i].usable == size &&
            (!kind || strcmp(blocks->classes[i].kind, kind) == 0))
            count += blocks->classes[i].count;
    return count;
}

static int evidence(struct model *model, const struct figures *base, const struct figures *end,
                    const struct prediction *prediction, struct evidence *evidence)
{
    struct size_class before, after;
    (void)model;
    evidence->source = "serverStatus({tcmalloc: 2}) size classes";
    for (int i = 0; class_read(end, i, &after); i++) {
        if (!after.size || !class_read(base, i, &before))
            continue;
        MEMORY_GROW(evidence->rows, evidence->count, evidence->capacity);
        evidence->rows[evidence->count++] = (struct evidence_row){
            .size = after.size,
            .predicted = llround(predicted_of_class(&prediction->blocks, after.size, NULL)),
            .counted = after.in_use - before.in_use,
        };
    }
    return 0;
}

/* Growth of the objects in use of one size class. */
static double class_growth(const struct figures *base, const struct figures *end, int64_t size)
{
    struct size_class before, after;
    for (int i = 0; class_read(end, i, &after); i++)
        if (after.size == size && class_read(base, i, &before))
            return (double)(after.in_use - before.in_use);
    return 0;
}

static void input(struct figures *inputs, const char *name, double value, const char *source)
{
    char path[96];
    figures_integer(inputs, name, value > 0 ? llround(value) : 0);
    snprintf(path, sizeof path, "%s.source", name);
    figures_text(inputs, path, source);
}

#define BLOCK_COUNTS "blocks by size class, serverStatus({tcmalloc: 2})"

/* On disk a clean page can leave the cache. Images of the index have 8,192 to 14,745 bytes (half of
 * leaf_page_max at least, but for a last one): the classes from 8,192 to 15,360. */
static double resident_images(const struct figures *base, const struct figures *end,
                              const struct blocks *collection)
{
    struct size_class class;
    double images = 0;
    for (int i = 0; class_read(end, i, &class); i++)
        if (class.size >= 8192 && class.size <= 15360)
            images += class_growth(base, end, class.size) -
                      predicted_of_class(collection, class.size, NULL);
    return images;
}

/* How far the index is reconciled, by the classes of its blocks less the collection's blocks there.
 * Only where the collection's updates are in other classes. */
static void index_inputs(const struct mongodb_model *mongodb, const struct figures *base,
                         const struct figures *end, const struct blocks *collection,
                         struct figures *inputs)
{
    const struct mongodb_layout *layout = mongodb->layout;
    const struct build *build = &mongodb->model.build;
    const struct allocator_kind *allocator = collection->allocator;
    int64_t records = mongodb->documents;
    int64_t length = llround(mongodb_index_key_length(mongodb->id));
    int64_t update =
        allocator->usable(build, layout->update + mongodb_index_value_length(mongodb->id));
    int64_t head = allocator->usable(build, layout->insert_head);
    int64_t key = allocator->usable(build, layout->instantiated_key + length);
    int64_t modify = allocator->usable(build, layout->page_modify);
    const int64_t used[] = {update, head, key, modify};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (predicted_of_class(collection, used[i], "WT_UPDATE + BSON") > 0)
            return;
    struct mongodb_index_state state = {0};
    double of_entry = mongodb_index_entry_blocks(mongodb->id, allocator, build, update);
    if (of_entry <= 0)
        return;
    state.unreconciled =
        (class_growth(base, end, update) - predicted_of_class(collection, update, NULL)) / of_entry;
    if (state.unreconciled < 0)
        state.unreconciled = 0;
    if (state.unreconciled > (double)records)
        state.unreconciled = (double)records;
    double images = mongodb_index_images(mongodb->id, (double)records - state.unreconciled);
    state.heads = class_growth(base, end, head) - predicted_of_class(collection, head, NULL);
    state.modified = class_growth(base, end, modify) - predicted_of_class(collection, modify, NULL);
    state.instantiated =
        class_growth(base, end, key) - predicted_of_class(collection, key, NULL) -
        state.unreconciled * mongodb_index_entry_blocks(mongodb->id, allocator, build, key);
    if (allocator->usable(build, layout->ref) == key)
        state.instantiated -= images;
    if (!mongodb->in_memory) {
        double resident = resident_images(base, end, collection);
        input(inputs, INPUT_RESIDENT, resident, BLOCK_COUNTS);
        /* A page without inserts is there as an image alone. Other blocks share the class. */
        if (state.unreconciled < 1 && state.modified > resident)
            state.modified = resident;
    }
    input(inputs, INPUT_INDEX, state.unreconciled, BLOCK_COUNTS);
    input(inputs, INPUT_HEADS, state.heads, BLOCK_COUNTS);
    input(inputs, INPUT_INSTANTIATED, state.instantiated, BLOCK_COUNTS);
    input(inputs, INPUT_MODIFIED, state.modified, BLOCK_COUNTS);
}

/* Each session that writes makes a cursor of its own on the _id index and keeps it. One that only
 * reads makes one too: after a restart nothing was written. */
static void session_input(const struct figures *end, struct figures *inputs, struct state *state)
{
    static const char cursors[] = "collStats.indexDetails._id_.cursor.create calls";
    static const char writes[] = "collStats.indexDetails._id_.cursor.insert calls";
    if (!figures_has(end, cursors) || !figures_has(end, writes))
        return;
    int64_t sessions = figures_get(end, writes) > 0 ? figures_get(end, cursors) : 0;
    state->sessions = (double)(sessions < MONGODB_SESSIONS ? sessions : MONGODB_SESSIONS);
    input(inputs, INPUT_SESSIONS, state->sessions, cursors);
}

/* Classes of which updates are this share of the blocks tell how many updates there are. */
#define DOMINATED 0.9
/* Counts of blocks move by some: what is so near to all is all. */
#define NEARLY_ALL 0.99
/* Below it, what images are shorter than the model's is the model's miss, and shown as that. */
#define MISSING_LEAST 0.02

/* The share of documents that are still updates, by the classes of their blocks; -1 where no class
 * tells it. */
static double share_by_classes(const struct mongodb_model *mongodb, const struct figures *base,
                               const struct figures *end, const struct state *state)
{
    struct blocks blocks;
    double predicted = 0, counted = 0;
    struct size_class before, after;
    make_blocks(mongodb, mongodb->documents, state, &blocks);
    for (int i = 0; class_read(end, i, &after); i++) {
        if (!after.size || !class_read(base, i, &before))
            continue;
        double all = predicted_of_class(&blocks, after.size, NULL);
        double updates = predicted_of_class(&blocks, after.size, "WT_UPDATE + BSON");
        if (updates > 0 && updates >= DOMINATED * all) {
            predicted += updates;
            counted += (double)(after.in_use - before.in_use) - (all - updates);
        }
    }
    blocks_free(&blocks);
    return predicted < 1000 ? -1 : counted / predicted;
}

#define UPDATES_FIGURE "bytes allocated for updates"
#define IMAGES_FIGURE  "bytes belonging to page images in the cache"

/* Documents above tcmalloc's classes: by WiredTiger's own count of what updates take, its own
 * length of each of which ends on 32. Of such documents the index's updates are nothing. */
static double share_by_updates(const struct mongodb_model *mongodb, const struct figures *base,
                               const struct figures *end)
{
    int64_t mean = mongodb->documents ? mongodb->bson / mongodb->documents : 0;
    double all = (double)mongodb->documents * update_footprint(mongodb->layout, mean);
    double growth =
        (double)(cache_figure(end, UPDATES_FIGURE) - cache_figure(base, UPDATES_FIGURE));
    if (mean <= TCMALLOC_SMALL_MOST || growth <= 0)
        return -1;
    return growth / cache_overhead(end) / all;
}

/* On disk a page leaves the cache when it is written to make room. How many of the reconciled
 * documents are still there is told by the length of all images, less the index's. */
static double not_cached(const struct mongodb_model *mongodb, const struct figures *base,
                         const struct figures *end, const struct state *state,
                         const struct figures *inputs)
{
    double reconciled = (double)mongodb->documents - state->unreconciled;
    double bytes = (double)(cache_figure(end, IMAGES_FIGURE) - cache_figure(base, IMAGES_FIGURE)) /
                   cache_overhead(end);
    if (mongodb->in_memory || reconciled < 1)
        return 0;
    struct blocks index;
    blocks_open(&index, &mongodb->model.build);
    struct mongodb_index_state none = {.resident = (double)figures_get(inputs, INPUT_RESIDENT)};
    if (figures_has(inputs, INPUT_RESIDENT))
        mongodb_index_blocks_in(mongodb->id, &none, (double)mongodb->documents, &index);
    else
        mongodb_index_blocks(mongodb->id, true, &index);
    for (size_t i = 0; i < mongodb->index_count; i++)
        mongodb_index_blocks(mongodb->indexes[i], true, &index);
    for (size_t i = 0; i < index.class_size; i++)
        if (index.classes[i].kind && strcmp(index.classes[i].kind, "page image") == 0)
            bytes -= index.classes[i].count * (double)index.classes[i].usable;
    blocks_free(&index);
    const struct images images = images_of(mongodb, reconciled, state->leaf);
    double missing = reconciled - bytes / images.bytes * images.of_image;
    if (missing > reconciled)
        missing = reconciled;
    return missing > MISSING_LEAST * reconciled ? missing : 0;
}

static int state_inputs(struct model *model, const struct figures *base, const struct figures *end,
                        struct figures *inputs, struct tare_error *error)
{
    const struct mongodb_model *mongodb = (const struct mongodb_model *)model;
    static const char leaf[] = "collStats.wiredTiger.compression.compressed page maximum leaf page "
                               "size prior to compression ";
    struct state state = {.unreconciled = (double)mongodb->documents,
                          .sessions = MONGODB_SESSIONS,
                          .leaf = LEAF_LEAST};
    (void)error;
    session_input(end, inputs, &state);
    if (!mongodb->in_memory && figures_get(end, leaf) > 0) {
        input(inputs, INPUT_LEAF, (double)figures_get(end, leaf), leaf);
        state.leaf = figures_get(end, leaf);
    }
    const char *source = BLOCK_COUNTS;
    double share = share_by_classes(mongodb, base, end, &state);
    if (share == -1) {
        source = "serverStatus cache, " UPDATES_FIGURE;
        share = share_by_updates(mongodb, base, end);
    }
    if (share == -1)
        return 0;
    share = share < 0 ? 0 : share >= NEARLY_ALL ? 1 : share;
    state.unreconciled = share * (double)mongodb->documents;
    input(inputs, INPUT_UNRECONCILED, state.unreconciled, source);
    if (share < 1) {
        /* The server reconciled on its own account: the index too. */
        struct blocks blocks;
        make_collection(mongodb, mongodb->documents, &state, &blocks);
        index_inputs(mongodb, base, end, &blocks, inputs);
        blocks_free(&blocks);
        double missing = not_cached(mongodb, base, end, &state, inputs);
        if (missing > 0)
            input(inputs, INPUT_NOT_CACHED, missing, "serverStatus cache, " IMAGES_FIGURE);
    }
    return 0;
}

static const struct published published[] = {
    {"collStats.size", {"collStats.size"}, 1, &account_total_allocated, true},
    {"bytes currently in the cache",
     {"serverStatus.wiredTiger.cache.bytes currently in the cache",
      "serverStatus.inMemory.cache.bytes currently in the cache"},
     1,
     &account_total_allocated,
     false},
    {"mem.resident", {"serverStatus.mem.resident"}, 1024 * 1024, &account_total_resident, false},
    {"VmRSS", {"status.VmRSS"}, 1, &account_total_resident, false},
    {"collStats.storageSize", {"collStats.storageSize"}, 1, NULL, false},
    {"collStats.totalIndexSize", {"collStats.totalIndexSize"}, 1, NULL, false},
    {0},
};

const struct model_kind model_mongodb = {
    .name = "mongodb",
    .explanation = "MongoDB 4.4 to 6.0: WiredTiger's blocks, the _id index simulated, tcmalloc",
    .fits = fits,
    .published = published,
    .open = open,
    .add = add,
    .predict = predict,
    .measure = measure,
    .state_inputs = state_inputs,
    .evidence = evidence,
    .close = close,
};

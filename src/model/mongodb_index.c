/* An index as WiredTiger builds it, simulated on the real keys in the
 * order of insertion: a row store with prefix-compressed page images. A page
 * gathers inserts in skip lists until it is too large for memory
 * (memory_page_max, 5 MiB for MongoDB's indexes), and is then reconciled into
 * images of 16 KiB at most, whose pages gather inserts in turn.
 *
 * What is simulated decides how many blocks of which size there are: pages,
 * images, insert heads on the slots between the rows of an image, and keys
 * that a search had to instantiate since prefix compression hides them.
 *
 * Memory is bounded: where more than KEYS_MOST keys are held, every second
 * page is no longer followed, and what the followed ones hold stands for all.
 * Sources: bt_split.c, bt_page.c, row_srch.c, rec_row.c, btmem.h, reconcile.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/mongodb.h"

#define MEMORY_PAGE_MOST (5 * 1024 * 1024)           /* MongoDB's default for indexes and its */
#define MEMORY_SPLIT     (MEMORY_PAGE_MOST / 10 * 8) /* 80 %: btree->splitmempage, bt_handle.c */
#define SPLIT_ENTRIES    5     /* least in the last list for an insert split (bt_split.c) */
#define IMAGE_MOST       14745 /* 90 % (split_pct) of leaf_page_max 16 KiB */
#define IMAGE_LEAST      8192  /* 50 %: the minimum that a last image may need (rec_write.c) */
#define PREFIX_LEAST     4     /* prefix_compression_min */
#define PREFIX_MOST      255
#define KEYS_MOST        200000
#define KEY_MOST         60000 /* what is longer is taken for as long: an entry's length has 16 bits */
#define LENGTHS          2048
#define VALUES           16

struct entry {
    uint32_t offset; /* of the key in its page's bytes */
    uint32_t batch;
    uint16_t length;
    uint8_t prefix; /* of a row: how much the image leaves out */
    uint8_t value;  /* length of its value */
};

struct page {
    unsigned char *low; /* the least key that belongs here */
    size_t low_length;
    bool followed, was_split;
    unsigned char *bytes;
    size_t bytes_length, bytes_capacity;
    struct entry *rows;
    size_t row_count;
    struct entry *inserts;
    size_t insert_count, insert_capacity;
    size_t last_inserts; /* behind the last row */
    double footprint;    /* as WiredTiger counts it */
    int64_t image;
    unsigned char *slots, *instantiated; /* a byte a row, slot 0 being before the first */
    int64_t heads;
    size_t group_start, group_stop; /* rows whose keys need no instantiation */
};

struct mongodb_index {
    const struct mongodb_layout *layout;
    const struct account *account;
    bool in_memory;
    struct page **pages;
    size_t page_count, page_capacity;
    int64_t keys, held, all; /* keys of followed pages; those held; all inserted */
    int64_t insert_lengths[LENGTHS], instantiated_lengths[LENGTHS], values[VALUES];
};

/* A table file's handle, and the value cell in memory: descriptor, flags, transaction id (2 bytes
 * up to 8,255), run length, length, then the record id: the start id stays in an in-memory image.
 */
#define MEMORY_VALUE_OVERHEAD 6
#define DISK_VALUE_OVERHEAD   1

static int compare(const unsigned char *a, size_t a_length, const unsigned char *b, size_t b_length)
{
    int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order ? order : (a_length > b_length) - (a_length < b_length);
}

static struct page *page_new(const struct mongodb_index *index, const unsigned char *low,
                             size_t low_length)
{
    struct page *page = memory_new(sizeof *page);
    page->low = memory_new(low_length + 1);
    if (low_length)
        memcpy(page->low, low, low_length);
    page->low_length = low_length;
    page->followed = true;
    page->footprint = index->layout->page + index->layout->insert_head + 8;
    return page;
}

static void page_drop_keys(struct page *page)
{
    free(page->bytes);
    free(page->rows);
    free(page->inserts);
    free(page->slots);
    free(page->instantiated);
    page->bytes = NULL;
    page->rows = page->inserts = NULL;
    page->slots = page->instantiated = NULL;
    page->bytes_length = page->bytes_capacity = 0;
    page->row_count = page->insert_count = page->insert_capacity = 0;
}

static void page_free(struct page *page)
{
    page_drop_keys(page);
    free(page->low);
    free(page);
}

struct mongodb_index *mongodb_index_open(const struct mongodb_layout *layout, bool in_memory,
                                         const struct account *account)
{
    struct mongodb_index *index = memory_new(sizeof *index);
    index->layout = layout;
    index->account = account;
    index->in_memory = in_memory;
    MEMORY_GROW(index->pages, index->page_count, index->page_capacity);
    index->pages[index->page_count++] = page_new(index, NULL, 0);
    return index;
}

void mongodb_index_close(struct mongodb_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->page_count; i++)
        page_free(index->pages[i]);
    free(index->pages);
    free(index);
}

static const unsigned char *key_of(const struct page *page, const struct entry *entry)
{
    return page->bytes + entry->offset;
}

static void page_keep_bytes(struct page *page, struct entry *entry, const unsigned char *key,
                            size_t length)
{
    while (page->bytes_length + length > page->bytes_capacity) {
        page->bytes_capacity = page->bytes_capacity ? page->bytes_capacity * 2 : 4096;
        page->bytes = memory_resize(page->bytes, page->bytes_capacity);
    }
    memcpy(page->bytes + page->bytes_length, key, length);
    entry->offset = (uint32_t)page->bytes_length;
    entry->length = (uint16_t)length;
    page->bytes_length += length;
}

static size_t length_place(size_t length)
{
    return length < LENGTHS ? length : LENGTHS - 1;
}

static size_t value_place(int length)
{
    return (size_t)(length < VALUES ? length : VALUES - 1);
}

static double insert_cost(const struct mongodb_index *index, size_t length, int value)
{
    int64_t update = (index->layout->update + value + 31) / 32 * 32;
    return MONGODB_INSERT + MONGODB_LEVEL * MONGODB_LEVELS_MEAN + (double)length + (double)update;
}

static void count_insert(struct mongodb_index *index, const struct entry *entry, int sign)
{
    index->insert_lengths[length_place(entry->length)] += sign;
    index->values[value_place(entry->value)] += sign;
}

static size_t find_page(const struct mongodb_index *index, const unsigned char *key, size_t length)
{
    size_t low = 0, high = index->page_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        const struct page *page = index->pages[middle];
        if (compare(page->low, page->low_length, key, length) <= 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void insert_page(struct mongodb_index *index, size_t at, struct page *page)
{
    MEMORY_GROW(index->pages, index->page_count, index->page_capacity);
    memmove(index->pages + at + 1, index->pages + at,
            (index->page_count - at) * sizeof *index->pages);
    index->pages[at] = page;
    index->page_count++;
}

/* --- Images --- */

static int key_cell(size_t length, size_t prefix)
{
    size_t left = length - prefix;
    int header = prefix ? 2 : 1;
    if (left > 63)
        header += mongodb_packed_length(left - 64);
    return header + (int)left;
}

static size_t common_prefix(const unsigned char *a, size_t a_length, const unsigned char *b,
                            size_t b_length)
{
    size_t most = a_length < b_length ? a_length : b_length, length = 0;
    most = most < PREFIX_MOST ? most : PREFIX_MOST;
    while (length < most && a[length] == b[length])
        length++;
    return length;
}

/* The longest run of rows whose prefixes don't grow after a row that is whole: a search builds
 * their keys without instantiating any (bt_page.c, __inmem_row_leaf). */
static void find_prefix_group(struct page *page)
{
    size_t best = 0, count = 0, start = 0, stop = 0, last = 0, smallest = 0;
    for (size_t row = 0; row < page->row_count; row++) {
        size_t prefix = page->rows[row].prefix;
        if (prefix == 0) {
            if (count > best) {
                page->group_start = start;
                page->group_stop = stop;
                best = count;
            }
            count = 0;
            start = row;
        } else if (count == 0 || (last == row - 1 && prefix <= smallest)) {
            smallest = prefix;
            last = stop = row;
            count++;
        }
    }
    if (count > best) {
        page->group_start = start;
        page->group_stop = stop;
    }
}

struct image_builder {
    struct mongodb_index *index;
    struct page *page; /* being filled */
    struct page **done;
    size_t count, capacity, row_capacity;
    bool past_least;
    const unsigned char *last;
    size_t last_length, last_prefix;
};

static void image_end(struct image_builder *builder)
{
    struct page *page = builder->page;
    page->slots = memory_new(page->row_count + 1);
    page->instantiated = memory_new(page->row_count + 1);
    page->footprint =
        builder->index->layout->page + 8.0 * (double)page->row_count + (double)page->image;
    find_prefix_group(page);
    MEMORY_GROW(builder->done, builder->count, builder->capacity);
    builder->done[builder->count++] = page;
}

/* The prefix that a key shares with the one before it and may leave out (rec_row.c,
 * __rec_cell_build_leaf_key): from 5.0 on, a prefix that grows a little is held down to the one
 * before, so that groups get longer. */
static size_t image_prefix(const struct image_builder *builder, const unsigned char *key,
                           size_t length)
{
    size_t run = (size_t)builder->index->layout->prefix_minimum_run;
    if (!builder->last)
        return 0;
    size_t prefix = common_prefix(key, length, builder->last, builder->last_length);
    if (prefix < PREFIX_LEAST)
        return 0;
    if (builder->last_prefix && prefix > builder->last_prefix &&
        prefix < builder->last_prefix + run)
        return builder->last_prefix;
    return prefix;
}

static void image_add(struct image_builder *builder, const unsigned char *key, size_t length,
                      int value_length)
{
    int value =
        value_length + (builder->index->in_memory ? MEMORY_VALUE_OVERHEAD : DISK_VALUE_OVERHEAD);
    size_t prefix = image_prefix(builder, key, length);
    int64_t size = builder->page->image;
    if (size + key_cell(length, prefix) + value > IMAGE_MOST ||
        (!builder->past_least && size + key_cell(length, prefix) + value > IMAGE_LEAST)) {
        /* At either border the key is written whole. */
        prefix = 0;
        if (size + key_cell(length, 0) + value > IMAGE_MOST) {
            size_t low = common_prefix(key, length, builder->last, builder->last_length) + 1;
            image_end(builder);
            builder->page = page_new(builder->index, key, low < length ? low : length);
            builder->page->image = MONGODB_IMAGE_HEADER;
            builder->row_capacity = 0;
            builder->past_least = false;
        } else {
            builder->past_least = true;
        }
    }
    struct page *page = builder->page;
    MEMORY_GROW(page->rows, page->row_count, builder->row_capacity);
    struct entry *row = &page->rows[page->row_count++];
    *row = (struct entry){.prefix = (uint8_t)prefix, .value = (uint8_t)value_length};
    page_keep_bytes(page, row, key, length);
    page->image += key_cell(length, prefix) + value;
    builder->last = key;
    builder->last_length = length;
    builder->last_prefix = prefix;
}

static const struct page *sorted_page; /* of the comparison below: qsort passes no context */

static int by_key(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    return compare(key_of(sorted_page, x), x->length, key_of(sorted_page, y), y->length);
}

static void forget_page(struct mongodb_index *index, const struct page *page)
{
    for (size_t i = 0; i < page->insert_count; i++)
        count_insert(index, &page->inserts[i], -1);
    for (size_t i = 0; page->instantiated && i < page->row_count; i++)
        if (page->instantiated[i])
            index->instantiated_lengths[length_place(page->rows[i].length)]--;
    index->keys -= (int64_t)(page->row_count + page->insert_count);
}

static void put_insert(struct mongodb_index *index, struct page *page, const unsigned char *key,
                       size_t length, int value, uint32_t batch);

/* Reconciles page `at`: its committed keys become images on pages of their own, those of the
 * running batch go back as inserts. */
static void reconcile(struct mongodb_index *index, size_t at, uint32_t batch)
{
    struct page *old = index->pages[at];
    forget_page(index, old);
    sorted_page = old;
    qsort(old->inserts, old->insert_count, sizeof *old->inserts, by_key);

    struct image_builder builder = {.index = index,
                                    .page = page_new(index, old->low, old->low_length)};
    builder.page->image = MONGODB_IMAGE_HEADER;
    size_t row = 0, insert = 0;
    while (row < old->row_count || insert < old->insert_count) {
        const struct entry *next;
        if (insert < old->insert_count && old->inserts[insert].batch == batch) {
            insert++;
            continue;
        }
        if (insert == old->insert_count)
            next = &old->rows[row++];
        else if (row == old->row_count)
            next = &old->inserts[insert++];
        else if (compare(key_of(old, &old->rows[row]), old->rows[row].length,
                         key_of(old, &old->inserts[insert]), old->inserts[insert].length) < 0)
            next = &old->rows[row++];
        else
            next = &old->inserts[insert++];
        image_add(&builder, key_of(old, next), next->length, next->value);
    }
    image_end(&builder);

    index->pages[at] = builder.done[0];
    for (size_t i = 1; i < builder.count; i++)
        insert_page(index, at + i, builder.done[i]);
    for (size_t i = 0; i < builder.count; i++)
        index->keys += (int64_t)builder.done[i]->row_count;
    free(builder.done);
    for (size_t i = 0; i < old->insert_count; i++) {
        const struct entry *entry = &old->inserts[i];
        if (entry->batch != batch)
            continue;
        const unsigned char *key = key_of(old, entry);
        put_insert(index, index->pages[find_page(index, key, entry->length)], key, entry->length,
                   entry->value, batch);
    }
    page_free(old);
}

/* The greatest entry moves to a page of its own at the right, once a page (bt_split.c,
 * __split_insert): so that ascending keys find a page to be appended to. */
static void insert_split(struct mongodb_index *index, size_t at)
{
    struct page *page = index->pages[at];
    size_t greatest = 0;
    for (size_t i = 1; i < page->insert_count; i++)
        if (compare(key_of(page, &page->inserts[i]), page->inserts[i].length,
                    key_of(page, &page->inserts[greatest]), page->inserts[greatest].length) > 0)
            greatest = i;
    struct entry moved = page->inserts[greatest];
    const unsigned char *key = key_of(page, &moved);
    struct page *right = page_new(index, key, moved.length);
    double cost = insert_cost(index, moved.length, moved.value);
    struct entry *kept;
    MEMORY_GROW(right->inserts, right->insert_count, right->insert_capacity);
    kept = &right->inserts[right->insert_count++];
    *kept = moved;
    page_keep_bytes(right, kept, key, moved.length);
    right->last_inserts = 1;
    right->footprint += cost;
    page->inserts[greatest] = page->inserts[--page->insert_count];
    page->last_inserts--;
    page->footprint -= cost;
    page->was_split = true;
    insert_page(index, at + 1, right);
}

/* --- Inserting --- */

/* The search of row_srch.c through a page's rows: it instantiates each key that it compares with
 * and can't build from the prefix group. Marks the slot where the key goes. */
static void search_rows(struct mongodb_index *index, struct page *page, const unsigned char *key,
                        size_t length)
{
    size_t base = 0;
    for (size_t limit = page->row_count; limit; limit >>= 1) {
        size_t at = base + (limit >> 1);
        const struct entry *row = &page->rows[at];
        bool in_group = at > page->group_start && at <= page->group_stop;
        if (row->prefix && !in_group && !page->instantiated[at]) {
            page->instantiated[at] = 1;
            index->instantiated_lengths[length_place(row->length)]++;
        }
        if (compare(key, length, key_of(page, row), row->length) > 0) {
            base = at + 1;
            limit--;
        }
    }
    if (!page->slots[base]) {
        page->slots[base] = 1;
        page->heads++;
        page->footprint += index->layout->insert_head;
    }
    if (base == page->row_count)
        page->last_inserts++;
}

static void put_insert(struct mongodb_index *index, struct page *page, const unsigned char *key,
                       size_t length, int value, uint32_t batch)
{
    if (page->row_count)
        search_rows(index, page, key, length);
    else
        page->last_inserts++;
    MEMORY_GROW(page->inserts, page->insert_count, page->insert_capacity);
    struct entry *entry = &page->inserts[page->insert_count++];
    *entry = (struct entry){.batch = batch, .value = (uint8_t)value};
    page_keep_bytes(page, entry, key, length);
    page->footprint += insert_cost(index, length, value);
    count_insert(index, entry, 1);
    index->keys++;
}

/* Every second followed page is followed no longer. */
static void follow_half(struct mongodb_index *index)
{
    bool keep = true;
    for (size_t i = 0; i < index->page_count; i++) {
        struct page *page = index->pages[i];
        if (!page->followed)
            continue;
        if (!keep) {
            forget_page(index, page);
            page_drop_keys(page);
            page->followed = false;
        }
        keep = !keep;
    }
}

void mongodb_index_insert(struct mongodb_index *index, struct slice text, int value_length,
                          uint32_t batch)
{
    const unsigned char *key = (const unsigned char *)text.bytes;
    size_t length = text.length < KEY_MOST ? text.length : KEY_MOST;
    index->all++;
    size_t at = find_page(index, key, length);
    struct page *page = index->pages[at];
    if (!page->followed)
        return;
    double inserted = page->footprint - (double)page->image;
    if (inserted >= MEMORY_SPLIT) {
        if (!page->was_split && page->last_inserts >= SPLIT_ENTRIES)
            insert_split(index, at);
        else if (inserted >= MEMORY_PAGE_MOST)
            reconcile(index, at, batch);
        page = index->pages[find_page(index, key, length)];
    }
    put_insert(index, page, key, length, value_length, batch);
    if (index->keys > KEYS_MOST && index->page_count > 8)
        follow_half(index);
}

/* --- Blocks --- */

void mongodb_index_blocks(const struct mongodb_index *index, bool checkpointed, struct blocks *out)
{
    const struct mongodb_layout *layout = index->layout;
    const struct account *account = index->account;
    struct blocks blocks;
    if (index->keys == 0)
        return;
    double factor = (double)index->all / (double)index->keys;
    blocks_open(&blocks, out->build);
    for (size_t i = 0; i < index->page_count; i++) {
        const struct page *page = index->pages[i];
        if (!page->followed)
            continue;
        int64_t rows = (int64_t)page->row_count, inserts = (int64_t)page->insert_count;
        int64_t heads = rows ? page->heads : inserts > 0;
        blocks_add_plain(&blocks, "WT_PAGE", 1, 0, account, layout->page + 8 * rows);
        blocks_add_plain(&blocks, "WT_REF", 1, 0, account, layout->ref);
        blocks_add_plain(&blocks, "ref key", 1, 0, account,
                         layout->instantiated_key + (int64_t)page->low_length);
        if (rows)
            blocks_add_plain(&blocks, "page image", 1, 0, account, page->image);
        if (inserts) {
            blocks_add_plain(&blocks, "WT_PAGE_MODIFY", 1, 0, account, layout->page_modify);
            blocks_add_plain(&blocks, "insert array", 1, 0, account, 8 * (rows + 1));
            blocks_add_plain(&blocks, "WT_INSERT_HEAD", (double)heads, 0, account,
                             layout->insert_head);
        }
        if (checkpointed) {
            /* A checkpoint lists a page's blocks (WT_MULTI) where it made more than one of it. */
            int64_t images =
                (MONGODB_IMAGE_HEADER + (rows + inserts) * 25 + IMAGE_MOST - 1) / IMAGE_MOST;
            if (images > 1) {
                int64_t places = 10;
                while (places < images)
                    places *= 2;
                blocks_add_plain(&blocks, "WT_MULTI", 1, 0, account, layout->multi * places);
            }
        }
    }
    for (int64_t length = 0; length < LENGTHS; length++) {
        double count = (double)index->instantiated_lengths[length];
        if (count > 0)
            blocks_add_plain(&blocks, "WT_IKEY", count, 0, account,
                             layout->instantiated_key + length);
        count = (double)index->insert_lengths[length];
        for (int level = 1; count > 0 && level <= MONGODB_LEVELS_MOST; level++)
            blocks_add_plain(&blocks, "WT_INSERT", count * mongodb_level_share(level), 0, account,
                             MONGODB_INSERT + MONGODB_LEVEL * level + length);
    }
    for (int value = 0; value < VALUES; value++) {
        double count = (double)index->values[value];
        if (count > 0)
            blocks_add_plain(&blocks, "WT_UPDATE", count, 0, account, layout->update + value);
    }
    blocks_scale(&blocks, factor);
    blocks_merge(out, &blocks);
    blocks_free(&blocks);
}

/* --- In a state that is given --- */

/* So many keys tell how well prefixes compress. */
#define ENTRY_KEYS 40000

/* Mean bytes of an entry in an image: the keys that are held, sorted and written as images. */
static double entry_mean(const struct mongodb_index *index)
{
    int64_t bytes = 0, keys = 0;
    for (size_t i = 0; i < index->page_count && keys < ENTRY_KEYS; i++) {
        const struct page *page = index->pages[i];
        size_t count = page->row_count + page->insert_count;
        if (!page->followed || count == 0)
            continue;
        struct entry *entries = memory_new(count * sizeof *entries);
        if (page->row_count)
            memcpy(entries, page->rows, page->row_count * sizeof *entries);
        if (page->insert_count)
            memcpy(entries + page->row_count, page->inserts, page->insert_count * sizeof *entries);
        sorted_page = page;
        qsort(entries, count, sizeof *entries, by_key);
        struct mongodb_index scratch = {.layout = index->layout, .in_memory = index->in_memory};
        struct image_builder builder = {.index = &scratch, .page = page_new(&scratch, NULL, 0)};
        builder.page->image = MONGODB_IMAGE_HEADER;
        for (size_t e = 0; e < count; e++)
            image_add(&builder, key_of(page, &entries[e]), entries[e].length, entries[e].value);
        image_end(&builder);
        for (size_t d = 0; d < builder.count; d++) {
            bytes += builder.done[d]->image - MONGODB_IMAGE_HEADER;
            page_free(builder.done[d]);
        }
        free(builder.done);
        free(entries);
        keys += (int64_t)count;
    }
    return keys ? (double)bytes / (double)keys : 0;
}

double mongodb_index_images(const struct mongodb_index *index, double keys)
{
    double entry = entry_mean(index);
    double of_image = entry > 0 ? (IMAGE_MOST - MONGODB_IMAGE_HEADER) / entry : 1;
    return keys / of_image;
}

double mongodb_index_key_length(const struct mongodb_index *index)
{
    double bytes = 0, keys = 0;
    for (int64_t length = 0; length < LENGTHS; length++) {
        bytes += (double)(index->insert_lengths[length] * length);
        keys += (double)index->insert_lengths[length];
    }
    return keys > 0 ? bytes / keys : 0;
}

int mongodb_index_value_length(const struct mongodb_index *index)
{
    int length = VALUES - 1;
    while (length > 0 && index->values[length] <= 0)
        length--;
    return length;
}

double mongodb_index_entry_blocks(const struct mongodb_index *index,
                                  const struct allocator_kind *allocator, const struct build *build,
                                  int64_t usable)
{
    double blocks = 0, keys = 0;
    for (int64_t length = 0; length < LENGTHS; length++) {
        double count = (double)index->insert_lengths[length];
        keys += count;
        for (int level = 1; count > 0 && level <= MONGODB_LEVELS_MOST; level++)
            if (allocator->usable(build, MONGODB_INSERT + MONGODB_LEVEL * level + length) == usable)
                blocks += count * mongodb_level_share(level);
    }
    int64_t update = index->layout->update + mongodb_index_value_length(index);
    return (keys > 0 ? blocks / keys : 0) + (allocator->usable(build, update) == usable);
}

void mongodb_index_blocks_in(const struct mongodb_index *index,
                             const struct mongodb_index_state *state, double records,
                             struct blocks *blocks)
{
    const struct mongodb_layout *layout = index->layout;
    const struct account *account = index->account;
    double reconciled = records - state->unreconciled;
    double images = mongodb_index_images(index, reconciled);
    int64_t rows = images > 0 ? llround(reconciled / images) : 0;
    int64_t length = llround(mongodb_index_key_length(index)), low = 0, lows = 0;
    for (size_t i = 0; i < index->page_count; i++) {
        low += (int64_t)index->pages[i]->low_length;
        lows++;
    }
    double resident = state->resident < 0 || state->resident > images ? images : state->resident;
    blocks_add_plain(blocks, "page image", resident, 0, account,
                     MONGODB_IMAGE_HEADER + llround((double)rows * entry_mean(index)));
    blocks_add_plain(blocks, "WT_PAGE", resident, 0, account, layout->page + 8 * rows);
    blocks_add_plain(blocks, "WT_REF", images, 0, account, layout->ref);
    blocks_add_plain(blocks, "ref key", images, 0, account,
                     layout->instantiated_key + (lows ? low / lows : 0));
    blocks_add_plain(blocks, "WT_PAGE_MODIFY", state->modified, 0, account, layout->page_modify);
    blocks_add_plain(blocks, "insert array", state->modified, 0, account, 8 * (rows + 1));
    blocks_add_plain(blocks, "WT_INSERT_HEAD", state->heads, 0, account, layout->insert_head);
    blocks_add_plain(blocks, "WT_IKEY", state->instantiated, 0, account,
                     layout->instantiated_key + length);
    blocks_add_plain(blocks, "WT_UPDATE", state->unreconciled, 0, account,
                     layout->update + mongodb_index_value_length(index));
    double inserts = 0;
    for (int64_t l = 0; l < LENGTHS; l++)
        inserts += (double)index->insert_lengths[l];
    for (int64_t l = 0; inserts > 0 && l < LENGTHS; l++)
        for (int level = 1; index->insert_lengths[l] && level <= MONGODB_LEVELS_MOST; level++)
            blocks_add_plain(blocks, "WT_INSERT",
                             state->unreconciled * (double)index->insert_lengths[l] / inserts *
                                 mongodb_level_share(level),
                             0, account, MONGODB_INSERT + MONGODB_LEVEL * level + l);
}

/* The model of Redis and Valkey: exact sums over objects, closed forms for the
 * tables. See redis.h for how it is divided. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/redis.h"

static const char kind_table[] = "table", kind_entry[] = "dictEntry";

static bool fits(const struct build *build)
{
    return strcmp(build->store, "redis") == 0 || strcmp(build->store, "valkey") == 0;
}

/* The first of the names that is set; they are the same setting's in different versions. `what` is
 * "hash-max-%s-entries". */
static int64_t setting(const struct figures *settings, const char *format, int64_t preset)
{
    static const char *const packed[] = {"listpack", "ziplist"};
    const char *gap = strstr(format, "%s");
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        char name[64];
        snprintf(name, sizeof name, "%.*s%s%s", (int)(gap - format), format, packed[i], gap + 2);
        if (figures_has(settings, name))
            return figures_get(settings, name);
    }
    return preset;
}

static int64_t plain_setting(const struct figures *settings, const char *name, int64_t preset)
{
    return figures_has(settings, name) ? figures_get(settings, name) : preset;
}

static struct model *open(const struct build *build, const struct figures *settings,
                          struct tare_error *error)
{
    (void)error;
    struct redis_model *redis = memory_new(sizeof *redis);
    redis->model.build = *build;
    redis->layout = redis_layout_of(build, &redis->layout_newer);
    redis->stream_layout = redis_stream_layout_of(build);
    redis->hash_entries = setting(settings, "hash-max-%s-entries", 512);
    redis->hash_value = setting(settings, "hash-max-%s-value", 64);
    redis->zset_entries = setting(settings, "zset-max-%s-entries", 128);
    redis->zset_value = setting(settings, "zset-max-%s-value", 64);
    redis->list_fill = setting(settings, "list-max-%s-size", -2);
    redis->list_compress = plain_setting(settings, "list-compress-depth", 0);
    redis->stream_entries = plain_setting(settings, "stream-node-max-entries", 100);
    redis->stream_bytes = plain_setting(settings, "stream-node-max-bytes", 4096);
    /* With maxmemory and a policy by LRU or LFU, every value keeps its own clock. */
    const char *policy = figures_get_text(settings, "maxmemory-policy");
    redis->shared_integers = figures_get(settings, "maxmemory") == 0 || !policy ||
                             !(strstr(policy, "lru") || strstr(policy, "lfu"));
    blocks_open(&redis->blocks, &redis->model.build);
    blocks_open(&redis->reading, &redis->model.build);
    blocks_open(&redis->once, &redis->model.build);
    redis_texts_open(&redis->texts, &redis->model.build);
    return &redis->model;
}

/* An object that is kept once, apart from those that a sample's numbers are scaled with. */
static int add_once(struct redis_model *redis, const struct object *object,
                    struct tare_error *error)
{
    if (object->type != OBJECT_STRING || object->ttl_seconds)
        return error_set(error, TARE_USAGE,
                         "internal: what is kept once is a string that never expires");
    struct blocks blocks = redis->blocks;
    int64_t keys = redis->keys;
    redis->blocks = redis->once;
    int failed = redis_add_object(redis, object, error);
    redis->once = redis->blocks;
    redis->once_keys += redis->keys - keys;
    redis->blocks = blocks;
    redis->keys = keys;
    return failed;
}

static int add(struct model *model, const struct object *object, struct tare_error *error)
{
    struct redis_model *redis = (struct redis_model *)model;
    if (object->once)
        return add_once(redis, object, error);
    int64_t keys = redis->keys;
    double before = blocks_total(&redis->blocks);
    int failed = redis_add_object(redis, object, error);
    if (redis->keys > keys && !object->batch) {
        double bytes = blocks_total(&redis->blocks) - before;
        redis->bytes += bytes;
        redis->bytes_squared += bytes * bytes;
    }
    return failed;
}

static void connected(struct model *model)
{
    ((struct redis_model *)model)->big_room = 0;
}

/* Three standard errors of the total of `records` objects, of which so many were a sample. */
static double sampling_error(const struct redis_model *redis, int64_t sampled, int64_t records)
{
    if (sampled >= records || redis->keys < 2)
        return 0;
    double n = (double)redis->keys, mean = redis->bytes / n;
    double variance = redis->bytes_squared / n - mean * mean;
    return 3 * (double)records * sqrt(fmax(variance, 0) / n);
}

static void close(struct model *model)
{
    struct redis_model *redis = (struct redis_model *)model;
    for (size_t i = 0; i < redis->shared_count; i++) {
        free(redis->shared[i].key);
        blocks_free(&redis->shared[i].members_blocks);
    }
    free(redis->shared);
    redis_growing_close(&redis->batch);
    for (size_t i = 0; i < redis->wholes_count; i++)
        redis_growing_close(&redis->wholes[i]);
    free(redis->wholes);
    free(redis->hashes);
    free(redis->hashes_index);
    blocks_free(&redis->blocks);
    blocks_free(&redis->once);
    blocks_free(&redis->reading);
    redis_texts_close(&redis->texts);
    free(redis);
}

/* --- Tables --- */

static int64_t usable(const struct redis_model *redis, int64_t bytes)
{
    return bytes ? redis->blocks.allocator->usable(&redis->model.build, bytes) : 0;
}

static int64_t outcome_usable(const struct redis_model *redis, const struct redis_outcome *outcome)
{
    return usable(redis, outcome->table) + usable(redis, outcome->old) +
           (outcome->table_extra + outcome->old_extra) * usable(redis, REDIS_BUCKET);
}

static int64_t outcome_bytes(const struct redis_outcome *outcome)
{
    return outcome->table + outcome->old +
           (outcome->table_extra + outcome->old_extra) * REDIS_BUCKET;
}

static void add_outcome(struct blocks *blocks, const struct redis_outcome *outcome, double count)
{
    blocks_add_plain(blocks, kind_table, count, 0, &account_field_table, outcome->table);
    if (outcome->table_extra)
        blocks_add_plain(blocks, kind_table, count * (double)outcome->table_extra, 0,
                         &account_field_table, REDIS_BUCKET);
    if (outcome->old)
        blocks_add_plain(blocks, kind_table, count, 0, &account_field_table_old, outcome->old);
    if (outcome->old_extra)
        blocks_add_plain(blocks, kind_table, count * (double)outcome->old_extra, 0,
                         &account_field_table_old, REDIS_BUCKET);
}

/* The name of the state input that tells which branch these hashes took: the bytes of the tables
 * of one of them. */
static void input_name(const struct redis_hashes *hashes, const char *what, char *name, size_t size)
{
    if (hashes->place == 1)
        snprintf(name, size, "%s.%lld", what, (long long)hashes->fields);
    else
        snprintf(name, size, "%s.%lld.%d", what, (long long)hashes->fields, hashes->place);
}

/* How many of them have had so many updates that their rehash is over. */
#define HASH_TABLE    "hash_table"
#define HASH_REHASHED "hash_rehashed"

/* State input: "rdb" where all objects were read from an RDB file since they were written. */
#define MADE_BY "made_by"

static bool made_by_reading(const struct figures *inputs)
{
    const char *text = inputs ? figures_get_text(inputs, MADE_BY) : NULL;
    return text && strcmp(text, "rdb") == 0;
}

/* A hash's tables, each branch by its probability. */
static void add_branches(const struct redis_model *redis, const struct redis_hash *hash,
                         double count, bool read, struct blocks *blocks)
{
    struct redis_outcomes outcomes;
    if (hash->packs)
        return;
    if (read)
        redis_read_outcomes(redis->layout, hash->fields, hash->first, &outcomes);
    else
        redis_hash_outcomes(redis->layout, hash->fields, hash->presized, &outcomes);
    for (size_t i = 0; i < outcomes.count; i++)
        add_outcome(blocks, &outcomes.items[i], count * outcomes.items[i].probability);
}

/* Each update of a hash moves a bucket or two of its old table (dict.c, dictFind and dictAddRaw),
 * until the last is moved and the old table goes; of the same names all do so after as many. */
static void add_touched(const struct redis_model *redis, const struct redis_hashes *hashes,
                        const struct redis_outcome *outcome, const struct figures *inputs,
                        double count, struct prediction *prediction)
{
    struct redis_outcome over = *outcome;
    char name[64];
    input_name(hashes, HASH_REHASHED, name, sizeof name);
    double rehashed = inputs ? fmin((double)figures_get(inputs, name), count) : 0;
    over.old = over.old_extra = 0;
    add_outcome(&prediction->blocks, outcome, count - rehashed);
    if (rehashed <= 0)
        return;
    add_outcome(&prediction->blocks, &over, rehashed);
    prediction->freed +=
        llround(rehashed * (double)(outcome_usable(redis, outcome) - outcome_usable(redis, &over)));
}

/* Adds the tables of all hashes; *low and *high become what other branches would add. */
static void add_hash_tables(const struct redis_model *redis, double factor,
                            const struct figures *inputs, struct prediction *prediction,
                            double *low, double *high)
{
    struct blocks *blocks = &prediction->blocks;
    *low = *high = 0;
    for (size_t i = 0; i < redis->hashes_count; i++) {
        const struct redis_hashes *hashes = &redis->hashes[i];
        double count = (double)hashes->count * factor;
        struct redis_outcomes outcomes;
        if (made_by_reading(inputs))
            redis_read_outcomes(redis->layout, hashes->fields, hashes->first, &outcomes);
        else
            redis_hash_outcomes(redis->layout, hashes->fields, hashes->presized, &outcomes);
        char name[64];
        input_name(hashes, HASH_TABLE, name, sizeof name);
        const struct redis_outcome *chosen = &outcomes.items[0];
        if (inputs && figures_has(inputs, name)) {
            int64_t given = figures_get(inputs, name);
            for (size_t j = 1; j < outcomes.count; j++)
                if (llabs(outcome_bytes(&outcomes.items[j]) - given) <
                    llabs(outcome_bytes(chosen) - given))
                    chosen = &outcomes.items[j];
            add_touched(redis, hashes, chosen, inputs, count, prediction);
            continue;
        }
        /* Hashes of various names (or with names that few share) take all branches. */
        if (hashes->signature == 0 || hashes->count * 64 < redis->keys) {
            for (size_t j = 0; j < outcomes.count; j++)
                add_outcome(blocks, &outcomes.items[j], count * outcomes.items[j].probability);
            continue;
        }
        for (size_t j = 1; j < outcomes.count; j++)
            if (outcomes.items[j].probability > chosen->probability)
                chosen = &outcomes.items[j];
        add_touched(redis, hashes, chosen, inputs, count, prediction);
        int64_t least = outcome_usable(redis, chosen), most = least;
        for (size_t j = 0; j < outcomes.count; j++) {
            if (outcomes.items[j].probability < 0.001)
                continue;
            int64_t bytes = outcome_usable(redis, &outcomes.items[j]);
            least = bytes < least ? bytes : least;
            most = bytes > most ? bytes : most;
        }
        *low -= count * (double)(outcome_usable(redis, chosen) - least);
        *high += count * (double)(most - outcome_usable(redis, chosen));
    }
}

/* Buckets of the key table, or the expires table, once it has settled at this many keys. */
static int64_t key_buckets(const struct redis_model *redis, int64_t keys)
{
    if (redis->layout->key_table == REDIS_TABLE_BUCKETS)
        return redis_bucket_count(keys);
    int64_t buckets = redis_dict_buckets(keys);
    return buckets == keys && redis->layout->full_table_grows ? buckets * 2 : buckets;
}

/* Bytes of the arrays of a table of `keys` keys, in its settled state; blocks may be NULL. */
static int64_t add_table(const struct redis_model *redis, int64_t keys, bool read,
                         const struct account *account, struct blocks *blocks)
{
    if (keys == 0)
        return 0;
    if (redis->layout->key_table == REDIS_TABLE_BUCKETS) {
        int64_t buckets = read ? redis_bucket_count_sized(keys) : key_buckets(redis, keys);
        double extra = redis_child_buckets(keys, buckets);
        if (blocks) {
            blocks_add_plain(blocks, kind_table, 1, 0, account, buckets * REDIS_BUCKET);
            blocks_add_plain(blocks, kind_table, -1, 0, account, REDIS_BUCKET);
            if (extra > 0)
                blocks_add_plain(blocks, kind_table, extra, 0, account, REDIS_BUCKET);
        }
        return usable(redis, buckets * REDIS_BUCKET) +
               llround(extra * (double)usable(redis, REDIS_BUCKET));
    }
    int64_t buckets = key_buckets(redis, keys);
    if (blocks) {
        blocks_add_plain(blocks, kind_table, 1, 0, account, buckets * 8);
        /* The base's warmed-up server holds a table of four buckets already. */
        blocks_add_plain(blocks, kind_table, -1, 0, account, 4 * 8);
        if (redis->layout->key_table == REDIS_TABLE_KEYS) {
            double n = (double)keys, m = (double)buckets;
            double further = n + m * expm1(n * log1p(-1 / m));
            if (further > 0)
                blocks_add_plain(blocks, kind_entry, further, 0, account,
                                 redis->layout->entry_key_only);
        } else if (account == &account_expires) {
            blocks_add_plain(blocks, kind_entry, (double)keys, 0, account, redis->layout->entry);
        }
    }
    return usable(redis, buckets * 8);
}

static int64_t bucket_bytes(const struct redis_model *redis)
{
    return redis->layout->key_table == REDIS_TABLE_BUCKETS ? REDIS_BUCKET : 8;
}

/* The most keys that a settled table of so many buckets holds. */
static int64_t capacity(const struct redis_model *redis, int64_t buckets)
{
    if (redis->layout->key_table == REDIS_TABLE_BUCKETS)
        return buckets * REDIS_BUCKET_PLACES;
    return redis->layout->full_table_grows ? buckets - 1 : buckets;
}

/* The next growths of the key table above `keys`, and of the expires table where every key is in
 * it too; and what was allocated while the last one below went on. */
static void predict_steps(const struct redis_model *redis, int64_t records, int64_t keys,
                          int64_t expiring, struct prediction *prediction)
{
    int64_t size = bucket_bytes(redis), buckets = key_buckets(redis, keys);
    /* Keys that stand there however many records there are, and don't expire. */
    int64_t once = redis->once_keys + (int64_t)redis->shared_count;
    int64_t tables = expiring > 0 && expiring == keys - once ? 2 : 1;
    double keys_per_record = (double)(keys - once) / (double)records;
    int64_t next = buckets;
    for (size_t i = 0; i < sizeof prediction->steps / sizeof *prediction->steps; i++) {
        if (next > INT64_MAX / (4 * REDIS_BUCKET * REDIS_BUCKET_PLACES))
            break;
        prediction->steps[prediction->step_count++] = (struct table_step){
            .records = (int64_t)floor((double)(capacity(redis, next) - once) / keys_per_record) + 1,
            .bytes = tables * usable(redis, next * 2 * size),
            .freed_after = tables * usable(redis, next * size)};
        next *= 2;
    }
    prediction->peak_allocated = prediction->allocated;
    int64_t old = buckets / 2;
    if (old < key_buckets(redis, 1) || capacity(redis, old) >= keys)
        return;
    /* The last growth happened at key capacity + 1. Each further key moves two occupied buckets of
     * the old table (it is looked up, then added), or one bucket of 64 bytes; of as many buckets as
     * keys 1 - 1 / e are occupied. serverCron only makes it faster. */
    double moves = redis->layout->key_table == REDIS_TABLE_BUCKETS
                       ? (double)old
                       : (double)old * (1 - exp(-1)) / 2;
    double until = (double)capacity(redis, old) + moves;
    double step_tables = (double)(tables * usable(redis, buckets * size));
    double without = (double)prediction->allocated - step_tables;
    double share = fmin(until, (double)keys) / (double)keys;
    double peak = without * share + step_tables + (double)(tables * usable(redis, old * size));
    if (peak > (double)prediction->peak_allocated)
        prediction->peak_allocated = llround(peak);
}

/* Buffers that big values came in are freed, and stay resident at least until an allocator gives
 * pages back: jemalloc 4 keeps as many as an eighth of what is active (lg_dirty_mult 3). */
#define BUFFERS 8

/* used_memory's own noise, which no model knows: client buffers come and go. */
#define NOISE (16 * 1024)

static void predict_notes(const struct redis_model *redis, struct prediction *prediction)
{
    const struct build *build = &redis->model.build;
    if (redis->layout_newer)
        prediction_note(prediction,
                        "%s %s is newer than the newest layout known (%s): that one is taken, "
                        "expect a larger miss",
                        build->store, build->version, redis->layout->range);
    else if (build->number < redis->layout->from)
        prediction_note(prediction,
                        "%s %s is older than the oldest layout known (%s): that one is taken, "
                        "expect a larger miss",
                        build->store, build->version, redis->layout->range);
    if (redis->list_compress != 0 && prediction->blocks.sums[account_quicklist.place] > 0)
        prediction_note(prediction,
                        "list-compress-depth is %lld: the server compresses nodes, which the model "
                        "does not",
                        (long long)redis->list_compress);
    if (!redis->layout->verified)
        prediction_note(prediction, "the layout of %s %s was verified on no server", build->store,
                        redis->layout->range);
    if (redis->texts.objects > 0)
        prediction_note(prediction, "RedisJSON's values are laid out as in its version 2.8");
    if (strcmp(redis->blocks.allocator->name, "generic") == 0)
        prediction_note(prediction,
                        "no model of allocator '%s': requests are taken as multiples of 16",
                        build->allocator);
}

static int predict(struct model *model, int64_t sampled, int64_t records, int64_t counted,
                   const struct figures *inputs, struct prediction *prediction,
                   struct tare_error *error)
{
    const struct redis_model *redis = (const struct redis_model *)model;
    prediction_free(prediction);
    struct blocks *blocks = &prediction->blocks;
    blocks_open(blocks, &redis->model.build);
    bool batch_open = redis->batch.key != NULL, read = made_by_reading(inputs);
    blocks_merge(blocks, &redis->blocks);
    if (read)
        blocks_merge(blocks, &redis->reading);
    if (batch_open)
        redis_growing_blocks(&redis->batch, redis, 1, read, blocks);
    double factor = sampled > 0 ? (double)records / (double)sampled : 0;
    if (sampled != records)
        blocks_scale(blocks, factor);
    blocks_merge(blocks, &redis->once);
    for (size_t i = 0; i < redis->wholes_count; i++)
        redis_growing_blocks(&redis->wholes[i], redis, factor, read, blocks);
    double texts_low = 0, texts_high = 0;
    redis_texts_blocks(&redis->texts, factor, blocks, &texts_low, &texts_high);
    if (sampled == records && llround(blocks->content) != counted)
        return error_set(error, TARE_USAGE,
                         "the model of %s holds %lld bytes of content where the encoding counted "
                         "%lld: a record may name a field twice",
                         redis->model.build.store, (long long)llround(blocks->content),
                         (long long)counted);
    int64_t keys = llround((double)(redis->keys + batch_open) * factor) + redis->once_keys;
    int64_t expiring =
        llround((double)(redis->expiring + (batch_open && redis->batch.expires)) * factor);
    /* Objects that all records share: one each, whatever the number of records. */
    int64_t shared = (int64_t)(redis->shared_count + redis->wholes_count);
    double low = 0, high = 0;
    add_hash_tables(redis, factor, inputs, prediction, &low, &high);
    if (batch_open && redis->batch.type == OBJECT_HASH)
        add_branches(redis, &redis->batch.as.hash, factor, read, blocks);
    for (size_t i = 0; i < redis->shared_count; i++)
        redis_add_shared(redis, &redis->shared[i], factor, read, blocks);
    for (size_t i = 0; i < redis->wholes_count; i++) {
        expiring += redis->wholes[i].expires;
        if (redis->wholes[i].type == OBJECT_HASH)
            add_branches(redis, &redis->wholes[i].as.hash, 1, read, blocks);
    }
    add_table(redis, keys + shared, read, &account_key_table, blocks);
    add_table(redis, expiring, read, &account_expires, blocks);

    const struct account *branching = redis->layout->field_table == REDIS_TABLE_BUCKETS
                                          ? &account_field_table
                                          : &account_field_table_old;
    for (size_t i = 0; accounts[i]; i++) {
        int64_t bytes = llround(blocks->sums[accounts[i]->place]);
        if (accounts[i] == branching && (low < 0 || high > 0))
            amounts_add_range(&prediction->amounts, accounts[i], BASIS_MODELLED, bytes,
                              bytes + llround(low), bytes + llround(high));
        else if (accounts[i] == &account_json_strings && (texts_low < 0 || texts_high > 0))
            amounts_add_range(&prediction->amounts, accounts[i], BASIS_MODELLED, bytes,
                              bytes + llround(texts_low), bytes + llround(texts_high));
        else if (bytes)
            amounts_add(&prediction->amounts, accounts[i], BASIS_MODELLED, bytes);
    }
    amounts_add(&prediction->amounts, &account_rounding, BASIS_MODELLED, llround(blocks->rounding));
    low += texts_low;
    high += texts_high;
    prediction->allocated = counted + amounts_sum(&prediction->amounts);
    if (records > 0) {
        int64_t noise = prediction->allocated / 1000 > NOISE ? prediction->allocated / 1000 : NOISE;
        noise += llround(sampling_error(redis, sampled, records));
        prediction->allocated_low = prediction->allocated + llround(low) - noise -
                                    llround(redis->big_room_bytes * factor / 2);
        prediction->allocated_high =
            prediction->allocated + llround(high) + noise + llround(redis->big_band * factor);
        if (redis->big_band * factor > (double)noise)
            prediction_note(prediction,
                            "values of 32 KiB and more may keep room of the buffers that they came "
                            "in: up to %lld bytes more than predicted can't be known beforehand",
                            (long long)llround(redis->big_band * factor));
        /* glibc hands a free chunk out whole where the rest would be under 32 bytes: a block then
         * is 16 larger. On Valkey 8.1 to 9.1 that was seen of a quarter of the blocks of hashes and
         * of every block of short strings; elsewhere of hardly any. */
        if (strcmp(blocks->allocator->name, "glibc") == 0 &&
            redis->layout->key_form == REDIS_KEY_IN_OBJECT) {
            double band = fmin(blocks->block_count, (double)keys + blocks->block_count / 4) * 16;
            prediction->allocated_high += llround(band);
            prediction_note(prediction,
                            "glibc hands chunks out whole where the rest would be too small: up to "
                            "%lld bytes more than predicted can't be known beforehand",
                            (long long)llround(band));
        }
        if (keys > 0)
            predict_steps(redis, records, keys + shared, expiring, prediction);
    } else {
        prediction->allocated_low = prediction->allocated_high = prediction->allocated;
    }
    redis_predict_resident(redis, llround(redis->big_bytes * factor / BUFFERS),
                           records > 0 ? llround(low) : 0, records > 0 ? llround(high) : 0,
                           prediction);
    predict_notes(redis, prediction);
    return 0;
}

/* --- State inputs --- */

static int64_t warmup_figure(const struct figures *base, int number, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "warmup.%d.%s", number, name);
    return figures_get(base, text);
}

/* How far `bytes` is from what was read, where a client's buffers may have come or gone in between:
 * they do so by KiB (seen on 3.2, which has no MEMORY USAGE to ask instead). */
static int64_t distance(int64_t read, int64_t bytes)
{
    int64_t nearest = INT64_MAX;
    for (int64_t buffers = -2; buffers <= 2; buffers++) {
        int64_t off = llabs(read - bytes - buffers * 1024) + llabs(buffers);
        nearest = off < nearest ? off : nearest;
    }
    return nearest;
}

/* Which branch the sample record took. Of a chained table the old array alone tells: it went when
 * the record was touched. A table of buckets is told by what the whole record takes. MEMORY USAGE
 * is asked where the server has it: used_memory is all clients' too. */
static const struct redis_outcome *outcome_seen(const struct redis_model *redis,
                                                const struct redis_hashes *hashes,
                                                const struct redis_outcomes *outcomes,
                                                const struct figures *base, int number,
                                                const char **source)
{
    const struct redis_outcome *best = NULL;
    int64_t nearest = INT64_MAX;
    bool chained = redis->layout->field_table == REDIS_TABLE_CHAINED;
    int64_t touched = warmup_figure(base, number, "memory_usage_touched");
    int64_t asked = warmup_figure(base, number, "memory_usage") - touched;
    int64_t after = warmup_figure(base, number, "used_after");
    int64_t freed = after - warmup_figure(base, number, "used_touched");
    int64_t grown = after - warmup_figure(base, number, "used_before");
    int64_t whole = touched > 0 ? warmup_figure(base, number, "memory_usage") : grown;
    *source = touched > 0 ? "memory_usage" : chained ? "used_touched" : "used_after";
    for (size_t i = 0; i < outcomes->count; i++) {
        const struct redis_outcome *outcome = &outcomes->items[i];
        int64_t off =
            chained && touched > 0 ? llabs(asked - outcome->old)
            : chained
                ? distance(freed, usable(redis, outcome->old))
                : llabs(whole - llround(hashes->first_total) - outcome_usable(redis, outcome));
        if (off < nearest) {
            nearest = off;
            best = outcome;
        }
    }
    return best;
}

/* Whether a hash read from a file has the tables that it had as it was written: without sizing, and
 * by the same steps (3.2); of buckets, into whose children the seed sends the fields again. */
static bool branch_outlives_reading(const struct redis_model *redis)
{
    const struct redis_layout *layout = redis->layout;
    return layout->field_table == REDIS_TABLE_BUCKETS ||
           (!layout->sized_on_read && layout->dict_step == 1);
}

static bool asks_branch(const struct model *model)
{
    const struct redis_model *redis = (const struct redis_model *)model;
    return redis->hashes_count > 0 && redis->layout->field_table == REDIS_TABLE_BUCKETS;
}

/* tare's workload knows how often it updated each record, and the warm-up how many updates end a
 * rehash. With hashes of other names beside them it isn't told which ones the updates were of. */
static void rehashed_input(const struct redis_model *redis, const struct redis_hashes *hashes,
                           const struct figures *base, const struct figures *end, int number,
                           struct figures *inputs)
{
    char told[40], name[96], source[160];
    int64_t updates = warmup_figure(base, number, "rehash_updates");
    snprintf(told, sizeof told, REDIS_UPDATED "%lld", (long long)updates);
    if (updates == 0 || updates > REDIS_UPDATES_TOLD || redis->hashes_count != 1 ||
        made_by_reading(inputs) || !figures_has(end, REDIS_UPDATED "1"))
        return;
    input_name(hashes, HASH_REHASHED, name, sizeof name);
    figures_integer(inputs, name, figures_get(end, told));
    snprintf(name + strlen(name), sizeof name - strlen(name), ".source");
    snprintf(source, sizeof source, "%s, %lld by warmup.%d.rehash_updates", told,
             (long long)updates, number);
    figures_text(inputs, name, source);
}

static int state_inputs(struct model *model, const struct figures *base, const struct figures *end,
                        struct figures *inputs, struct tare_error *error)
{
    const struct redis_model *redis = (const struct redis_model *)model;
    const char *made_by = figures_get_text(end, "store." MADE_BY);
    (void)error;
    if (made_by) {
        figures_text(inputs, MADE_BY, made_by);
        figures_text(inputs, MADE_BY ".source", "store." MADE_BY);
    }
    for (int number = 0;; number++) {
        char name[96], source[160];
        snprintf(name, sizeof name, "warmup.%d.signature", number);
        if (!figures_has(base, name))
            return 0;
        uint64_t signature = (uint64_t)figures_get(base, name);
        for (size_t i = 0; i < redis->hashes_count; i++) {
            const struct redis_hashes *hashes = &redis->hashes[i];
            if (hashes->signature != signature)
                continue;
            rehashed_input(redis, hashes, base, end, number, inputs);
            struct redis_outcomes outcomes;
            redis_hash_outcomes(redis->layout, hashes->fields, hashes->presized, &outcomes);
            if (outcomes.count < 2 || (made_by_reading(inputs) && !branch_outlives_reading(redis)))
                continue;
            const char *figure;
            const struct redis_outcome *outcome =
                outcome_seen(redis, hashes, &outcomes, base, number, &figure);
            input_name(hashes, HASH_TABLE, name, sizeof name);
            figures_integer(inputs, name, outcome_bytes(outcome));
            snprintf(source, sizeof source, "warmup.%d.%s", number, figure);
            snprintf(name + strlen(name), sizeof name - strlen(name), ".source");
            figures_text(inputs, name, source);
        }
    }
}

static const struct published published[] = {
    {"used_memory", {"info.memory.used_memory"}, 1, &account_total_allocated, false},
    {"used_memory_peak", {"info.memory.used_memory_peak"}, 1, &account_total_allocated, false},
    {"JSON.DEBUG MEMORY", {"json.debug.memory"}, 1, &account_total_allocated, false},
    {"MEMORY STATS dataset", {"memory.stats.dataset.bytes"}, 1, &account_total_allocated, false},
    {"used_memory_rss", {"info.memory.used_memory_rss"}, 1, &account_total_resident, false},
    {"VmRSS", {"status.VmRSS"}, 1, &account_total_resident, false},
    {"RDB file", {"file.rdb"}, 1, NULL, false},
    {0},
};

/* --- Limits --- */

static size_t limits(const struct model *model, const struct object *object,
                     struct model_limit limits[MODEL_LIMITS_MAX])
{
    const struct redis_model *redis = (const struct redis_model *)model;
    bool listpack = redis->layout->packed == REDIS_LISTPACK;
    const char *packed = listpack ? "listpack" : "ziplist";
    if (object->type != OBJECT_HASH || object->shared)
        return 0;
    for (size_t i = 0; i < 2; i++) {
        limits[i] = (struct model_limit){.what = listpack ? "listpack limit" : "ziplist limit",
                                         .value = i ? redis->hash_entries : redis->hash_value,
                                         .of_elements = i != 0};
        snprintf(limits[i].setting, sizeof limits[i].setting, "hash-max-%s-%s", packed,
                 i ? "entries" : "value");
    }
    return 2;
}

/* RedisJSON 2.8 is made for 7.2 (Cargo.toml); 7.0 has what it asks for, 6.2 not. */
#define JSON_FROM 70000

int redis_takes(const struct build *build, enum object_type type, struct tare_error *error)
{
    if (type == OBJECT_STREAM && !redis_stream_layout_of(build))
        return error_set(error, TARE_USAGE, "%s %s has no streams: they came with Redis 5.0",
                         build->store, build->version);
    if (type == OBJECT_JSON && build->number < JSON_FROM)
        return error_set(error, TARE_USAGE,
                         "%s %s does not load RedisJSON 2.8, which takes Redis 7.0 and later",
                         build->store, build->version);
    return 0;
}

const struct model_kind model_redis = {
    .name = "redis",
    .explanation = "Redis 3.2 to 8.2 and Valkey 7.2 to 9.1: objects, strings, tables, listpacks, "
                   "RedisJSON 2.8's values, by version and allocator",
    .fits = fits,
    .published = published,
    .takes = redis_takes,
    .open = open,
    .add = add,
    .connected = connected,
    .predict = predict,
    .measure = redis_measure,
    .state_inputs = state_inputs,
    .asks_branch = asks_branch,
    .evidence = redis_evidence,
    .limits = limits,
    .close = close,
};

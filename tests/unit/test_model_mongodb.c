/* The model of MongoDB, held to arithmetic and to what mongod 6.0.5 showed:
 * blocks by size class after a load of 100,000 YCSB records in memory
 * (serverStatus({tcmalloc: 2}), growth over the empty server). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "model/keystring.h"
#include "model/mongodb.h"
#include "model/tcmalloc.h"

static struct build build_of(const char *version, const char *engine)
{
    struct build build = {.store = "mongodb", .allocator = "tcmalloc", .cache_oblivious = -1};
    snprintf(build.version, sizeof build.version, "%s", version);
    snprintf(build.engine, sizeof build.engine, "%s", engine);
    build.number = version_number(version);
    return build;
}

/* YCSB's key of record i: FNV-1a over its eight octets. */
static size_t ycsb_key(int64_t i, char out[32])
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (int octet = 0; octet < 8; octet++, i >>= 8)
        hash = (hash ^ ((uint64_t)i & 0xff)) * UINT64_C(1099511628211);
    int64_t number = (int64_t)hash;
    return (size_t)snprintf(out, 32, "user%lld", (long long)(number < 0 ? -number : number));
}

/* A BSON document of YCSB's shape for a key of this length: 4 + 1 for the document, 1 + 4 + 4 + key
 * + 1 for _id, 1 + 7 + 4 + 1 + 100 a field. */
static int64_t ycsb_bson(size_t key)
{
    return 5 + 1 + 4 + 4 + (int64_t)key + 1 + 10 * (1 + 7 + 4 + 1 + 100);
}

static struct model *loaded_with(const struct build *build, const struct figures *settings,
                                 int64_t records, int64_t *content)
{
    struct tare_error error = {0};
    struct model *model = model_open(build, settings, &error);
    assert_non_null(model);
    *content = 0;
    for (int64_t i = 0; i < records; i++) {
        char key[32];
        size_t length = ycsb_key(i, key);
        int64_t bson = ycsb_bson(length);
        const struct object object = {.type = OBJECT_DOCUMENT,
                                      .key = slice_of(key, length),
                                      .body = slice_of(NULL, (size_t)bson)};
        *content += bson;
        assert_int_equal(0, model->kind->add(model, &object, &error));
    }
    return model;
}

static struct model *loaded(const struct build *build, int64_t records, int64_t *content)
{
    return loaded_with(build, &(struct figures){0}, records, content);
}

static double blocks_of_size(const struct prediction *prediction, int64_t usable)
{
    double count = 0;
    for (size_t i = 0; i < prediction->blocks.class_size; i++)
        if (prediction->blocks.classes[i].kind && prediction->blocks.classes[i].usable == usable)
            count += prediction->blocks.classes[i].count;
    return count;
}

static void test_lengths(void **state)
{
    (void)state;
    assert_int_equal(1, mongodb_packed_length(0));
    assert_int_equal(1, mongodb_packed_length(63));
    assert_int_equal(2, mongodb_packed_length(64));
    assert_int_equal(2, mongodb_packed_length(8255));
    assert_int_equal(2, mongodb_packed_length(8256 + 255));
    assert_int_equal(3, mongodb_packed_length(8256 + 256));
    assert_int_equal(3, mongodb_packed_length(8256 + 65535));
    assert_int_equal(4, mongodb_packed_length(8256 + 65536));
    assert_int_equal(2, keystring_record_id_length(1023));
    assert_int_equal(3, keystring_record_id_length(1024));
    assert_int_equal(3, keystring_record_id_length((1 << 18) - 1));
    assert_int_equal(4, keystring_record_id_length(1 << 18));
    double sum = 0;
    for (int level = 1; level <= MONGODB_LEVELS_MOST; level++)
        sum += mongodb_level_share(level);
    assert_true(sum > 1 - 1e-12 && sum < 1 + 1e-12);
}

static void test_tcmalloc(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    const struct allocator_kind *allocator = allocator_of(&build);
    assert_string_equal("tcmalloc", allocator->name);
    static const int64_t pairs[][2] = {
        {1, 8},       {8, 8},         {9, 16},        {17, 32},       {1215, 1280},
        {1281, 1408}, {16384, 16384}, {16385, 20480}, {42504, 45056}, {71680, 73728}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_int_equal(pairs[i][1], allocator->usable(&build, pairs[i][0]));
    assert_int_equal(8192, tcmalloc_span(1280));
    assert_int_equal(5 * 4096, tcmalloc_span(10240));
    assert_int_equal(0, tcmalloc_span(20480));
}

static void near(double expected, double got, double share)
{
    if (got < expected * (1 - share) || got > expected * (1 + share))
        fail_msg("%.0f is not within %.1f %% of %.0f", got, 100 * share, expected);
}

static void test_blocks_of_ycsb(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    struct prediction prediction = {0};
    struct tare_error error = {0};
    int64_t content;
    struct model *model = loaded(&build, 100000, &content);
    assert_int_equal(
        0, model->kind->predict(model, 100000, 100000, content, NULL, &prediction, &error));
    near(75553, blocks_of_size(&prediction, 32), 0.01);
    near(41390, blocks_of_size(&prediction, 48), 0.01);
    near(107718, blocks_of_size(&prediction, 64), 0.01);
    near(24438, blocks_of_size(&prediction, 160), 0.01); /* insert heads */
    near(100000, blocks_of_size(&prediction, 1280), 0);  /* updates */
    near(90, blocks_of_size(&prediction, 15360), 0.03);  /* images of the index */
    near(146024352, (double)prediction.allocated, 0.005);
    prediction_free(&prediction);
    model_close(model);
}

static double blocks_of_kind(const struct prediction *prediction, const char *kind, int64_t *usable)
{
    double count = 0;
    *usable = 0;
    for (size_t i = 0; i < prediction->blocks.class_size; i++)
        if (prediction->blocks.classes[i].kind &&
            strcmp(prediction->blocks.classes[i].kind, kind) == 0) {
            count += prediction->blocks.classes[i].count;
            *usable = prediction->blocks.classes[i].usable;
        }
    return count;
}

/* The log record of 225 YCSB documents, past 256 KiB the server's largest transaction: mongod 6.0.5
 * asked for 316,757 bytes to compress it into (seen as __wt_buf_grow_worker called realloc), and
 * for 2^8 times the first document's to gather it. */
static void test_sessions_keep_log_records(void **state)
{
    (void)state;
    static const struct {
        const char *engine, *setting, *value;
        double records, compressed;
    } cases[] = {{"disk", "none", "1", 2, 2},
                 {"disk", "wiredTigerJournalCompressor", "none", 2, 0},
                 {"disk", "nojournal", "1", 0, 0},
                 {"memory", "none", "1", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct build build = build_of("6.0.5", cases[i].engine);
        struct figures settings = {0}, inputs = {0}, end = {0}, base = {0};
        struct prediction prediction = {0};
        struct tare_error error = {0};
        int64_t content, usable;
        figures_text(&settings, cases[i].setting, cases[i].value);
        struct model *model = loaded_with(&build, &settings, 1000, &content);
        assert_int_equal(
            0, model->kind->predict(model, 1000, 1000, content, NULL, &prediction, &error));
        assert_true(cases[i].records == blocks_of_kind(&prediction, "log record", &usable));
        if (cases[i].records > 0)
            near(1204 * 256, (double)usable, 0.02);
        assert_true(cases[i].compressed ==
                    blocks_of_kind(&prediction, "compressed log record", &usable));
        if (cases[i].compressed > 0)
            near(316757, (double)usable, 0.01);
        assert_true(2 == blocks_of_kind(&prediction, "WT_TXN_OP", &usable));

        /* One session wrote; and after a restart none did. */
        for (int wrote = 1; wrote >= 0; wrote--) {
            figures_integer(&end, "collStats.indexDetails._id_.cursor.create calls", 1);
            figures_integer(&end, "collStats.indexDetails._id_.cursor.insert calls", wrote * 1000);
            assert_int_equal(0, model->kind->state_inputs(model, &base, &end, &inputs, &error));
            assert_int_equal(wrote, figures_get(&inputs, "load.sessions"));
            assert_int_equal(
                0, model->kind->predict(model, 1000, 1000, content, &inputs, &prediction, &error));
            assert_true(wrote == blocks_of_kind(&prediction, "WT_TXN_OP", &usable));
            figures_free(&inputs);
        }
        prediction_free(&prediction);
        figures_free(&settings);
        figures_free(&end);
        model_close(model);
    }
}

static int64_t amount_of(const struct prediction *prediction, const char *account)
{
    for (size_t i = 0; i < prediction->amounts.count; i++)
        if (strcmp(prediction->amounts.items[i].account->name, account) == 0)
            return prediction->amounts.items[i].bytes;
    return 0;
}

/* Documents that left the cache: counted, and taken off again with the blocks that held them. */
static void test_documents_that_left_the_cache(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "disk");
    struct figures inputs = {0};
    struct prediction all = {0}, part = {0};
    struct tare_error error = {0};
    int64_t content;
    struct model *model = loaded(&build, 10000, &content);
    figures_integer(&inputs, "collection.unreconciled", 2000);
    assert_int_equal(0, model->kind->predict(model, 10000, 10000, content, &inputs, &all, &error));
    assert_int_equal(0, amount_of(&all, "not in cache"));
    figures_integer(&inputs, "collection.not_in_cache", 4000);
    assert_int_equal(0, model->kind->predict(model, 10000, 10000, content, &inputs, &part, &error));
    near(0.4 * (double)content, -(double)amount_of(&part, "not in cache"), 0.0001);
    near(0.5 * (double)amount_of(&all, "row"), (double)amount_of(&part, "row"), 0.001);
    assert_true(all.allocated - part.allocated > content * 4 / 10);
    /* More than were reconciled. */
    figures_integer(&inputs, "collection.not_in_cache", 8001);
    assert_int_equal(-1,
                     model->kind->predict(model, 10000, 10000, content, &inputs, &part, &error));
    assert_non_null(strstr(error.message, "collection.not_in_cache"));
    figures_free(&inputs);
    prediction_free(&all);
    prediction_free(&part);
    model_close(model);
}

/* A server that holds the images of half of its reconciled documents; and documents too large for
 * tcmalloc's classes, whose updates are told by WiredTiger's figure of them. */
static void test_what_the_cache_holds_is_read(void **state)
{
    (void)state;
    static const char images[] =
        "serverStatus.wiredTiger.cache.bytes belonging to page images in the cache";
    struct build build = build_of("6.0.5", "disk");
    struct figures base = {0}, end = {0}, inputs = {0};
    struct tare_error error = {0};
    struct model *model = model_open(&build, &inputs, &error);
    for (int i = 0; i < 1000; i++) {
        char key[32];
        size_t length = ycsb_key(i, key);
        const struct object object = {
            .type = OBJECT_DOCUMENT, .key = slice_of(key, length), .body = slice_of(NULL, 20000)};
        assert_int_equal(0, model->kind->add(model, &object, &error));
    }
    figures_integer(&end, "serverStatus.wiredTiger.cache.bytes allocated for updates", 400 * 20064);
    figures_integer(&end, images, 300 * 20008);
    assert_int_equal(0, model->kind->state_inputs(model, &base, &end, &inputs, &error));
    near(400, (double)figures_get(&inputs, "collection.unreconciled"), 0.001);
    near(300, (double)figures_get(&inputs, "collection.not_in_cache"), 0.02);
    assert_non_null(strstr(figures_get_text(&inputs, "collection.not_in_cache.source"), "images"));
    figures_free(&inputs);
    figures_integer(&end, images, 600 * 20008);
    assert_int_equal(0, model->kind->state_inputs(model, &base, &end, &inputs, &error));
    assert_false(figures_has(&inputs, "collection.not_in_cache"));
    figures_free(&inputs);
    figures_free(&end);
    model_close(model);
}

/* A cache whose updates' target is passed: most documents are reconciled, how many is a range; and
 * pages that tcmalloc gives back at once are in none. */
static void test_ranges_of_a_plan(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    struct prediction whole = {0}, part = {0}, steady = {0};
    struct figures settings = {0};
    struct tare_error error = {0};
    int64_t content;
    struct model *model = loaded(&build, 50000, &content);
    assert_int_equal(0, model->kind->predict(model, 50000, 50000, content, NULL, &whole, &error));
    model_close(model);

    /* Half of (3 GiB - 1 GiB), 2.5 % of it is 25.6 MiB: of 58 MiB of documents. */
    figures_integer(&settings, MODEL_MACHINE_MEMORY, INT64_C(3) << 30);
    model = loaded_with(&build, &settings, 50000, &content);
    assert_int_equal(0, model->kind->predict(model, 50000, 50000, content, NULL, &part, &error));
    assert_true(part.allocated < whole.allocated);
    assert_true(part.allocated_low < part.allocated && part.allocated < part.allocated_high);
    assert_true(part.allocated_high < whole.allocated_high);
    assert_non_null(strstr(part.notes[0], "wiredTigerCacheSizeGB"));
    model_close(model);

    figures_text(&settings, "wiredTigerCacheSizeGB", "64");
    figures_text(&settings, "tcmallocAggressiveMemoryDecommit", "1");
    model = loaded_with(&build, &settings, 50000, &content);
    assert_int_equal(0, model->kind->predict(model, 50000, 50000, content, NULL, &steady, &error));
    assert_int_equal(whole.allocated, steady.allocated);
    assert_true(steady.resident_high - steady.resident_low <
                (whole.resident_high - whole.resident_low) / 2);
    model_close(model);
    figures_free(&settings);
    prediction_free(&whole);
    prediction_free(&part);
    prediction_free(&steady);
}

static void test_predicting_changes_nothing(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "disk");
    struct prediction first = {0}, second = {0};
    struct tare_error error = {0};
    int64_t content;
    struct model *model = loaded(&build, 60000, &content);
    for (int i = 0; i < 3; i++)
        assert_int_equal(0,
                         model->kind->predict(model, 60000, 60000, content, NULL, &first, &error));
    assert_int_equal(0, model->kind->predict(model, 60000, 60000, content, NULL, &second, &error));
    assert_int_equal(first.allocated, second.allocated);
    assert_int_equal(first.allocated, content + amounts_sum(&first.amounts));
    prediction_free(&first);
    prediction_free(&second);
    model_close(model);
}

static void test_nothing_and_wrong_inputs(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    struct prediction prediction = {0};
    struct figures inputs = {0};
    struct tare_error error = {0};
    int64_t content;
    struct model *model = loaded(&build, 0, &content);
    assert_int_equal(0, model->kind->predict(model, 0, 0, 0, NULL, &prediction, &error));
    assert_int_equal(0, prediction.allocated);
    figures_integer(&inputs, "collection.unreconciled", 7);
    assert_int_equal(-1, model->kind->predict(model, 0, 0, 0, &inputs, &prediction, &error));
    assert_int_equal(TARE_USAGE, error.status);
    figures_free(&inputs);
    prediction_free(&prediction);
    model_close(model);
}

/* More keys than are held: what is no longer followed must not change the cost of a key by much. */
static void test_many_keys_are_sampled(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    struct tare_error error = {0};
    struct prediction few = {0}, many = {0};
    int64_t content;
    struct model *model = loaded(&build, 190000, &content);
    assert_int_equal(0, model->kind->predict(model, 190000, 190000, content, NULL, &few, &error));
    model_close(model);
    model = loaded(&build, 210000, &content);
    assert_int_equal(0, model->kind->predict(model, 210000, 210000, content, NULL, &many, &error));
    model_close(model);
    near((double)few.allocated / 190000, (double)many.allocated / 210000, 0.005);
    prediction_free(&few);
    prediction_free(&many);
}

/* Ascending keys fill pages at the right edge, where each page is split once by its greatest key.
 */
static void test_ascending_keys(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    struct tare_error error = {0};
    struct prediction prediction = {0};
    struct figures none = {0};
    struct model *model = model_open(&build, &none, &error);
    int64_t content = 0;
    for (int i = 0; i < 100000; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, "player:%08d", i);
        const struct object object = {.type = OBJECT_DOCUMENT,
                                      .key = slice_of(key, (size_t)length),
                                      .body = slice_of(NULL, 100)};
        content += 100;
        assert_int_equal(0, model->kind->add(model, &object, &error));
    }
    assert_int_equal(
        0, model->kind->predict(model, 100000, 100000, content, NULL, &prediction, &error));
    /* An update and an insert each for the document and for its key, at least. */
    double sum = 0;
    for (size_t i = 0; i < prediction.blocks.class_size; i++)
        if (prediction.blocks.classes[i].kind &&
            strcmp(prediction.blocks.classes[i].kind, "WT_INSERT") == 0)
            sum += prediction.blocks.classes[i].count;
    near(200000, sum, 0.001);
    prediction_free(&prediction);
    model_close(model);
}

/* A document that is kept once is one, whatever the sample's records stand for. */
static void test_once(void **state)
{
    (void)state;
    struct build build = build_of("6.0.5", "memory");
    struct prediction one = {0}, none = {0};
    struct tare_error error = {0};
    int64_t content;
    struct model *model = loaded(&build, 1000, &content);
    struct object table = {.type = OBJECT_DOCUMENT,
                           .key = slice_text("tare:short"),
                           .body = slice_of(NULL, 9000),
                           .once = true};
    assert_int_equal(0,
                     model->kind->predict(model, 1000, 50000, content * 50, NULL, &none, &error));
    assert_int_equal(0, model->kind->add(model, &table, &error));
    assert_int_equal(
        0, model->kind->predict(model, 1000, 50000, content * 50 + 9000, NULL, &one, &error));
    double mine = blocks_of_size(&one, 10240) - blocks_of_size(&none, 10240);
    assert_true(mine > 0.999 && mine < 1.001);
    assert_int_equal(llround(one.blocks.content - none.blocks.content), 9000);
    prediction_free(&one);
    prediction_free(&none);
    model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_tcmalloc),
        cmocka_unit_test(test_blocks_of_ycsb),
        cmocka_unit_test(test_sessions_keep_log_records),
        cmocka_unit_test(test_documents_that_left_the_cache),
        cmocka_unit_test(test_ranges_of_a_plan),
        cmocka_unit_test(test_what_the_cache_holds_is_read),
        cmocka_unit_test(test_predicting_changes_nothing),
        cmocka_unit_test(test_nothing_and_wrong_inputs),
        cmocka_unit_test(test_many_keys_are_sampled),
        cmocka_unit_test(test_ascending_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

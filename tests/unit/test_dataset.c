/* Data sets other than ycsb, and the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>

#include <ctype.h>
#include <stdlib.h>

#include "data/dataset.h"
#include "encoders/encoding.h"

static struct dataset *open_dataset(const char *text)
{
    struct tare_error error = {0};
    struct dataset *dataset = dataset_open(text, 1, &error);
    if (!dataset)
        fail_msg("%s: %s", text, error.message);
    return dataset;
}

static void the_table_is_complete(void **state)
{
    (void)state;
    struct tare_error error = {0};
    if (dataset_kinds_check(&error))
        fail_msg("%s", error.message);
}

static void players_are_those_of_the_comparison(void **state)
{
    (void)state;
    struct dataset *dataset = open_dataset("player");
    struct arena arena = {0};
    struct record record;
    assert_int_equal(dataset_read(dataset, 123, &arena, &record, NULL), 0);
    assert_true(slice_is(record.key, "player:123"));
    assert_int_equal(record.field_count, 4);
    assert_true(slice_is(record.fields[0].name, "name"));
    assert_true(slice_is(record.fields[0].value.as.text, "Player 123"));
    assert_true(slice_is(record.fields[1].value.as.text, "Developer"));
    assert_int_equal(record.fields[2].value.as.integer, 34);
    assert_true(slice_is(record.fields[3].name, "level"));
    assert_int_equal(record.fields[3].value.as.integer, 0);
    dataset_close(dataset);
    arena_free(&arena);
}

static void varied_players_vary_within_their_ranges(void **state)
{
    (void)state;
    struct dataset *dataset = open_dataset("player:varied");
    struct arena arena = {0};
    struct record record;
    int64_t ages[100] = {0}, levels[100] = {0};
    for (int64_t i = 0; i < 20000; i++) {
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, NULL), 0);
        assert_int_equal(record.field_count, 5);
        assert_int_equal(record.fields[0].value.as.integer, i);
        assert_int_equal(record.fields[1].value.as.text.length, 12);
        assert_true(slice_is(record.fields[2].value.as.text, "warrior"));
        assert_in_range(record.fields[3].value.as.integer, 18, 77);
        assert_in_range(record.fields[4].value.as.integer, 0, 99);
        ages[record.fields[3].value.as.integer]++;
        levels[record.fields[4].value.as.integer]++;
    }
    for (int i = 0; i < 100; i++) {
        assert_true((ages[i] > 0) == (i >= 18 && i <= 77));
        assert_in_range(levels[i], 100, 300);
    }
    dataset_close(dataset);
    arena_free(&arena);
}

static void kv_has_guids_and_one_value(void **state)
{
    (void)state;
    struct dataset *dataset = open_dataset("kv");
    assert_true(dataset->kind->single_value);
    struct arena arena = {0};
    struct record record;
    double sum = 0;
    for (int64_t i = 0; i < 500; i++) {
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, NULL), 0);
        assert_int_equal(record.key.length, 32);
        for (size_t j = 0; j < 32; j++)
            assert_true(isxdigit((unsigned char)record.key.bytes[j]));
        assert_int_equal(record.key.bytes[12], '4'); /* the version: random */
        assert_int_equal(record.field_count, 1);
        assert_in_range(record.fields[0].value.as.text.length, 4096, 20480);
        sum += (double)record.fields[0].value.as.text.length;
    }
    assert_true(sum / 500 > 11500 && sum / 500 < 13100);
    dataset_close(dataset);

    dataset = open_dataset("kv:keyprefix=session:,minlength=20,maxlength=20");
    assert_int_equal(dataset_read(dataset, 42, &arena, &record, NULL), 0);
    assert_true(slice_is(record.key, "session:42"));
    assert_int_equal(record.fields[0].value.as.text.length, 20);
    dataset_close(dataset);
    arena_free(&arena);

    struct tare_error error = {0};
    assert_null(dataset_open("kv:minlength=21,maxlength=20", 1, &error));
    assert_string_equal(error.message, "data set 'kv': minlength 21 is more than maxlength 20");
}

/* The JSON of a record, borrowed until the next call. */
static struct slice json_of(struct dataset *dataset, int64_t index, struct encoding *encoding,
                            struct arena *arena)
{
    struct record record;
    struct slice bytes;
    struct counted counted;
    struct tare_error error = {0};
    arena_reset(arena);
    assert_int_equal(dataset_read(dataset, index, arena, &record, &error), 0);
    if (encoding_bytes(encoding, &record, arena, &bytes, &counted, &error))
        fail_msg("%s", error.message);
    return bytes;
}

static void articles_are_nested_prose_of_one_size(void **state)
{
    (void)state;
    struct tare_error error = {0};
    struct dataset *dataset = open_dataset("article");
    struct encoding *json = encoding_parse_steps("json", &error);
    struct encoding *packed = encoding_parse_steps("json+zstd=3", &error);
    struct arena arena = {0};
    struct buffer first = {0};
    double ratios = 0;
    for (int64_t i = 0; i < 50; i++) {
        struct slice text = json_of(dataset, i, json, &arena);
        assert_int_equal(text.length, 22615);
        if (i == 0)
            buffer_append(&first, text.bytes, text.length);
        else
            assert_false(slice_equal(text, buffer_slice(&first)));
        double ratio = (double)json_of(dataset, i, packed, &arena).length / 22615;
        assert_true(ratio > 0.15 && ratio < 0.35);
        ratios += ratio;
    }
    assert_true(ratios / 50 > 0.22 && ratios / 50 < 0.3);
    dataset_close(dataset);

    dataset = open_dataset("article:identical=1");
    assert_true(slice_equal(json_of(dataset, 0, json, &arena), buffer_slice(&first)));
    assert_true(slice_equal(json_of(dataset, 99, json, &arena), buffer_slice(&first)));
    dataset_close(dataset);

    static const struct {
        const char *text;
        size_t length;
    } sizes[] = {{"article:bytes=4096", 4096},
                 {"article:bytes=4097", 4097},
                 {"article:bytes=5000", 5000},
                 {"article:bytes=1M", 1000000}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        dataset = open_dataset(sizes[i].text);
        for (int64_t j = 0; j < (sizes[i].length > 10000 ? 3 : 300); j++)
            assert_int_equal(json_of(dataset, j, json, &arena).length, sizes[i].length);
        dataset_close(dataset);
    }
    buffer_free(&first);
    encoding_free(json);
    encoding_free(packed);
    arena_free(&arena);
}

static void entities_are_of_several_types(void **state)
{
    (void)state;
    struct dataset *dataset = open_dataset("entity");
    struct arena arena = {0};
    struct record record;
    int64_t records = DATASET_ALL, lines = 0, customers = 0;
    assert_int_equal(dataset_prepare(dataset, &records, DATASET_COUNT, NULL), 0);
    assert_int_equal(records, 5163);
    for (int64_t i = 0; i < records; i++) {
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, NULL), 0);
        assert_true(slice_is(record.fields[0].name, "type"));
        struct slice type = record.fields[0].value.as.text;
        assert_true(record.key.length > type.length + 1);
        assert_memory_equal(record.key.bytes, type.bytes, type.length);
        lines += slice_is(type, "line");
        customers += slice_is(type, "customer");
    }
    assert_in_range(lines, 2400, 2760);
    assert_in_range(customers, 500, 740);
    records = 7; /* a number that is given stands, and there is no last one */
    assert_int_equal(dataset_prepare(dataset, &records, DATASET_COUNT, NULL), 0);
    assert_int_equal(records, 7);
    assert_int_equal(dataset_read(dataset, 1000000, &arena, &record, NULL), 0);
    dataset_close(dataset);
    arena_free(&arena);
}

/* Same seed, same bytes, whatever was read before; another seed, others. */
static void records_depend_on_their_place_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {"article", "entity", "player:varied", "kv", "ycsb"};
    struct tare_error error = {0};
    struct encoding *encoding = encoding_parse_steps("msgpack", &error);
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct dataset *one = open_dataset(texts[i]), *two = dataset_open(texts[i], 2, &error);
        struct slice there = json_of(one, 41, encoding, &arena);
        char *copy = memory_text_n(there.bytes, there.length);
        struct slice kept = slice_of(copy, there.length);
        json_of(one, 1000, encoding, &arena);
        assert_true(slice_equal(json_of(one, 41, encoding, &arena), kept));
        assert_false(slice_equal(json_of(one, 42, encoding, &arena), kept));
        assert_false(slice_equal(json_of(two, 41, encoding, &arena), kept));
        free(copy);
        dataset_close(one);
        dataset_close(two);
    }
    encoding_free(encoding);
    arena_free(&arena);
}

/* What a workload reads by. */
static void keys_alone_are_those_of_records(void **state)
{
    static const char *const texts[] = {"ycsb",
                                        "ycsb:insertorder=ordered,zeropadding=12",
                                        "article",
                                        "player",
                                        "player:varied",
                                        "kv",
                                        "kv:keyprefix=session:"};
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tare_error error;
        struct dataset *dataset = dataset_open(texts[i], 7, &error);
        assert_non_null(dataset);
        assert_non_null(dataset->kind->key);
        for (int64_t index = 0; index < 2000000; index += 12345) {
            struct record record;
            arena_reset(&arena);
            assert_int_equal(dataset_read(dataset, index, &arena, &record, &error), 0);
            assert_true(slice_equal(record.key, dataset->kind->key(dataset, index, &arena)));
        }
        dataset_close(dataset);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(keys_alone_are_those_of_records),
        cmocka_unit_test(players_are_those_of_the_comparison),
        cmocka_unit_test(varied_players_vary_within_their_ranges),
        cmocka_unit_test(kv_has_guids_and_one_value),
        cmocka_unit_test(articles_are_nested_prose_of_one_size),
        cmocka_unit_test(entities_are_of_several_types),
        cmocka_unit_test(records_depend_on_their_place_alone),
    };
    return cmocka_run_group_tests_name("data: data sets", tests, NULL, NULL);
}

/* Data sets other than ycsb, and the table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>

#include "data/dataset.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_complete),
        cmocka_unit_test(players_are_those_of_the_comparison),
        cmocka_unit_test(varied_players_vary_within_their_ranges),
        cmocka_unit_test(kv_has_guids_and_one_value),
    };
    return cmocka_run_group_tests_name("data: data sets", tests, NULL, NULL);
}

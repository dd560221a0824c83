/* Samples: an even spread, bounded, and a data set of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/memory.h"
#include "data/sample.h"

/* Offers `count` of the data set's records, one after another. */
static struct sample *sample_first(struct dataset *dataset, int64_t count, int64_t expected)
{
    struct sample *sample = sample_open(dataset, expected);
    struct arena arena = {0};
    struct tare_error error;
    for (int64_t i = 0; i < count; i++) {
        struct record record;
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, &error), 0);
        sample_offer(sample, &record);
    }
    arena_free(&arena);
    return sample;
}

/* That the sample's record is this one of the data set, with all that it holds. */
static void check_record(const struct sample *sample, int64_t place, struct dataset *dataset,
                         int64_t index)
{
    const struct record *kept = sample_record(sample, place);
    struct arena arena = {0};
    struct tare_error error;
    struct record record;
    assert_int_equal(dataset_read(dataset, index, &arena, &record, &error), 0);
    assert_true(slice_equal(kept->key, record.key));
    assert_int_equal(kept->field_count, record.field_count);
    for (size_t i = 0; i < record.field_count; i++) {
        assert_true(slice_equal(kept->fields[i].name, record.fields[i].name));
        assert_true(slice_equal(value_text(&kept->fields[i].value, &arena),
                                value_text(&record.fields[i].value, &arena)));
    }
    arena_free(&arena);
}

static void few_records_are_all_kept(void **state)
{
    struct tare_error error;
    struct dataset *dataset = dataset_open("ycsb", 1, &error);
    struct sample *sample = sample_first(dataset, 1000, 1000);
    (void)state;
    assert_int_equal(sample_count(sample), 1000);
    for (int64_t i = 0; i < 1000; i++)
        check_record(sample, i, dataset, i);
    sample_free(sample);
    dataset_close(dataset);
}

static void many_are_spread_evenly(void **state)
{
    static const int64_t expected[] = {2500, 10}; /* more may come than was thought */
    struct tare_error error;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct dataset *dataset = dataset_open("player", 1, &error);
        struct sample *sample = sample_first(dataset, 2500, expected[i]);
        int64_t count = sample_count(sample), stride = i ? 4 : 3;
        assert_int_equal(count, (2500 + stride - 1) / stride);
        for (int64_t j = 0; j < count; j++)
            check_record(sample, j, dataset, j * stride);
        sample_free(sample);
        dataset_close(dataset);
    }
}

/* 4 to 20 KB each: some hundred are some MiB. */
static void bytes_are_bounded(void **state)
{
    struct tare_error error;
    struct dataset *dataset = dataset_open("kv", 1, &error);
    struct sample *sample = sample_first(dataset, 1000, 1000);
    int64_t bytes = 0, count = sample_count(sample);
    (void)state;
    for (int64_t i = 0; i < count; i++) {
        bytes += value_text_length(&sample_record(sample, i)->fields[0].value);
        check_record(sample, i, dataset, i * 4);
    }
    assert_int_equal(count, 250);
    assert_true(bytes < 4 * 1024 * 1024);
    sample_free(sample);
    dataset_close(dataset);
}

/* An even spread over what the sample stands for reads each of its records once. */
static void a_data_set_of_its_own(void **state)
{
    static const int64_t stands_for[] = {1000, 1001, 1999, 12345, 1000000000000};
    struct tare_error error;
    struct dataset *dataset = dataset_open("player", 1, &error);
    struct sample *sample = sample_first(dataset, 1000, 1000);
    struct arena arena = {0};
    (void)state;
    for (size_t i = 0; i < sizeof stands_for / sizeof stands_for[0]; i++) {
        int64_t n = stands_for[i];
        struct dataset *own = sample_dataset(sample, n);
        for (int64_t j = 0; j < 1000; j++) {
            struct record record;
            int64_t index = n / 1000 * j + n % 1000 * j / 1000;
            assert_int_equal(dataset_read(own, index, &arena, &record, &error), 0);
            assert_true(slice_equal(record.key, sample_record(sample, j)->key));
        }
    }
    arena_free(&arena);
    sample_free(sample);
    dataset_close(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_records_are_all_kept),
        cmocka_unit_test(many_are_spread_evenly),
        cmocka_unit_test(bytes_are_bounded),
        cmocka_unit_test(a_data_set_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Data set ycsb against what YCSB's own generator made (fixtures/make_ycsb.sh). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/dataset.h"

#define FIXTURES "tests/unit/fixtures/" /* tests run in the repository's root */

static struct dataset *open_ycsb(const char *text, uint64_t seed)
{
    struct tare_error error = {0};
    struct dataset *dataset = dataset_open(text, seed, &error);
    if (!dataset)
        fail_msg("%s: %s", text, error.message);
    return dataset;
}

static void keys_are_ycsbs(void **state)
{
    (void)state;
    FILE *file = fopen(FIXTURES "ycsb_keys.txt", "r");
    assert_non_null(file);
    struct dataset *dataset = NULL;
    struct arena arena = {0};
    int64_t index = 0;
    int keys = 0;
    char line[200];
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') { /* the options with which those that follow were made */
            char text[250];
            snprintf(text, sizeof text, "ycsb:%s,fieldcount=1,fieldlength=1", line + 2);
            dataset_close(dataset);
            dataset = open_ycsb(text, 1);
            index = 0;
            continue;
        }
        struct record record;
        assert_non_null(dataset);
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, index++, &arena, &record, NULL), 0);
        if (!slice_is(record.key, line))
            fail_msg("%s: key %d is '%.*s', YCSB's '%s'", dataset->text, (int)index - 1,
                     (int)record.key.length, record.key.bytes, line);
        keys++;
    }
    assert_int_equal(keys, 1000 + 4 * 50);
    dataset_close(dataset);
    arena_free(&arena);
    fclose(file);
}

/* Which characters occur at each place of a group of six. */
struct alphabet {
    int counts[6][256];
};

static void add_value(struct alphabet *alphabet, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        alphabet->counts[i % 6][(unsigned char)bytes[i]]++;
}

static void values_have_ycsbs_characters(void **state)
{
    (void)state;
    struct alphabet theirs = {0}, ours = {0};
    FILE *file = fopen(FIXTURES "ycsb_values.txt", "r");
    assert_non_null(file);
    char line[200];
    int values = 0;
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(strcspn(line, "\n"), 100);
        add_value(&theirs, line, 100);
        values++;
    }
    fclose(file);
    assert_int_equal(values, 200);

    struct dataset *dataset = open_ycsb("ycsb", 1);
    struct arena arena = {0};
    struct record record;
    for (int64_t i = 0; i < 1000; i++) {
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, NULL), 0);
        for (size_t j = 0; j < record.field_count; j++)
            add_value(&ours, record.fields[j].value.as.text.bytes, 100);
    }
    arena_free(&arena);
    dataset_close(dataset);

    for (int place = 0; place < 6; place++) {
        /* 10,000 values give each place 170,000 or 160,000 characters, each as likely. */
        int letters = place % 3 == 0 ? 32 : 64;
        double expected = (place < 4 ? 170000.0 : 160000.0) / letters;
        for (int c = 0; c < 256; c++) {
            if (!theirs.counts[place][c] != !ours.counts[place][c])
                fail_msg("character %d at place %d: %d of YCSB's, %d of ours", c, place,
                         theirs.counts[place][c], ours.counts[place][c]);
            if (ours.counts[place][c])
                assert_true(fabs(ours.counts[place][c] - expected) < 6 * sqrt(expected));
        }
    }
}

/* YCSB's characters 1 and 2, 2 and 3, 4 and 5 of a group share a bit of the draw. */
static void neighbours_share_bits_as_ycsbs(void **state)
{
    (void)state;
    FILE *file = fopen(FIXTURES "ycsb_values.txt", "r");
    assert_non_null(file);
    char line[200];
    struct dataset *dataset = open_ycsb("ycsb:fieldcount=1", 1);
    struct arena arena = {0};
    struct record record;
    for (int64_t i = 0; i < 400; i++) {
        const char *value = line;
        if (i < 200) {
            assert_non_null(fgets(line, sizeof line, file));
        } else {
            arena_reset(&arena);
            assert_int_equal(dataset_read(dataset, i, &arena, &record, NULL), 0);
            value = record.fields[0].value.as.text.bytes;
        }
        for (int j = 0; j + 6 <= 100; j += 6) {
            int group[6];
            for (int k = 0; k < 6; k++)
                group[k] = (unsigned char)value[j + k] - ' ';
            assert_int_equal(group[1] >> 5, group[2] & 1);
            assert_int_equal(group[2] >> 6, group[3] >> 1 & 1);
            assert_int_equal(group[4] >> 5, group[5] & 1);
        }
    }
    fclose(file);
    arena_free(&arena);
    dataset_close(dataset);
}

static void records_have_the_form_of_ycsb(void **state)
{
    (void)state;
    struct dataset *dataset = open_ycsb("ycsb", 1);
    assert_int_equal(dataset->count, -1);
    struct arena arena = {0};
    struct record record;
    assert_int_equal(dataset_read(dataset, 7, &arena, &record, NULL), 0);
    assert_int_equal(record.field_count, 10);
    assert_false(record.key_in_fields);
    for (size_t i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "field%zu", i);
        assert_true(slice_is(record.fields[i].name, name));
        assert_int_equal(record.fields[i].value.type, VALUE_BYTES);
        assert_int_equal(record.fields[i].value.as.text.length, 100);
    }
    arena_free(&arena);
    dataset_close(dataset);
}

static void a_record_is_a_function_of_seed_and_place(void **state)
{
    (void)state;
    struct dataset *one = open_ycsb("ycsb:fieldlengthdistribution=uniform", 1);
    struct dataset *two = open_ycsb("ycsb:fieldlengthdistribution=uniform", 1);
    struct dataset *other = open_ycsb("ycsb:fieldlengthdistribution=uniform", 2);
    struct arena arena = {0};
    struct record a, b, c, d;
    int same = 0;
    /* Read forwards and backwards. */
    for (int64_t i = 0; i < 50; i++) {
        arena_reset(&arena);
        dataset_read(one, i, &arena, &a, NULL);
        dataset_read(two, 49 - i, &arena, &b, NULL);
        dataset_read(two, i, &arena, &c, NULL);
        dataset_read(other, i, &arena, &d, NULL);
        assert_true(slice_equal(a.key, c.key) && slice_equal(a.key, d.key));
        for (size_t j = 0; j < 10; j++) {
            assert_true(slice_equal(a.fields[j].value.as.text, c.fields[j].value.as.text));
            same += slice_equal(a.fields[j].value.as.text, d.fields[j].value.as.text);
            same += slice_equal(a.fields[j].value.as.text, a.fields[(j + 1) % 10].value.as.text);
        }
    }
    assert_in_range(same, 0, 10); /* only short ones by chance */
    arena_free(&arena);
    dataset_close(one);
    dataset_close(two);
    dataset_close(other);
}

static void read_lengths(const char *text, int64_t *counts, size_t size, int records)
{
    struct dataset *dataset = open_ycsb(text, 1);
    struct arena arena = {0};
    struct record record;
    for (int64_t i = 0; i < records; i++) {
        arena_reset(&arena);
        assert_int_equal(dataset_read(dataset, i, &arena, &record, NULL), 0);
        for (size_t j = 0; j < record.field_count; j++) {
            size_t length = record.fields[j].value.as.text.length;
            assert_true(length < size);
            counts[length]++;
        }
    }
    arena_free(&arena);
    dataset_close(dataset);
}

static void lengths_are_drawn_as_ycsb_does(void **state)
{
    (void)state;
    int64_t uniform[101] = {0}, from[101] = {0}, zipfian[101] = {0};
    read_lengths("ycsb:fieldlengthdistribution=uniform", uniform, 101, 10000);
    assert_int_equal(uniform[0], 0);
    for (int i = 1; i <= 100; i++)
        assert_in_range(uniform[i], 1000 - 6 * 32, 1000 + 6 * 32);
    read_lengths("ycsb:fieldlengthdistribution=uniform,minfieldlength=99", from, 101, 100);
    assert_int_equal(from[99] + from[100], 1000);
    assert_in_range(from[99], 400, 600);

    /* Of Zipf's law with 0.99 over 100, the first length has 1 / zeta of all: .1936; the second
     * 2^-0.99 of that; the rest of Gray's approximation is within a few per cent of the law. */
    read_lengths("ycsb:fieldlengthdistribution=zipfian", zipfian, 101, 10000);
    double zeta = 0;
    for (int i = 1; i <= 100; i++)
        zeta += pow(i, -0.99);
    assert_int_equal(zipfian[0], 0);
    int64_t least = 100000;
    for (int i = 1; i <= 100; i++) {
        double expected = 100000 * pow(i, -0.99) / zeta;
        double tolerance = i <= 2 ? 6 * sqrt(expected) : 0.25 * expected + 6 * sqrt(expected);
        if (fabs((double)zipfian[i] - expected) > tolerance)
            fail_msg("length %d: %d times, expected %.0f", i, (int)zipfian[i], expected);
        least = zipfian[i] < least ? zipfian[i] : least;
    }
    assert_true(least > 0);
    int64_t one[3] = {0};
    read_lengths("ycsb:fieldlengthdistribution=zipfian,fieldlength=1", one, 3, 10);
    assert_int_equal(one[1], 100);
    int64_t two[3] = {0};
    read_lengths("ycsb:fieldlengthdistribution=zipfian,fieldlength=2", two, 3, 1000);
    assert_int_equal(two[1] + two[2], 10000);
    assert_true(two[2] > 2000 && two[1] > two[2]);
}

static void all_lengths_end_where_they_should(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (int length = 0; length < 40; length++) {
        char text[64];
        snprintf(text, sizeof text, "ycsb:fieldcount=3,fieldlength=%d", length);
        struct dataset *dataset = open_ycsb(text, 3);
        struct record record;
        assert_int_equal(dataset_read(dataset, 1, &arena, &record, NULL), 0);
        for (size_t i = 0; i < 3; i++) {
            struct slice value = record.fields[i].value.as.text;
            assert_int_equal(value.length, length);
            for (size_t j = 0; j < value.length; j++)
                assert_in_range((unsigned char)value.bytes[j], ' ', 127);
        }
        dataset_close(dataset);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

static void extremes_open_and_others_are_refused(void **state)
{
    (void)state;
    static const char *const good[] = {"ycsb:fieldcount=10000,fieldlength=0",
                                       "ycsb:fieldcount=1,fieldlength=1000000",
                                       "ycsb:fieldnameprefix=f", "ycsb:"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        dataset_close(open_ycsb(good[i], 1));
    static const struct {
        const char *text, *message;
    } bad[] = {
        {"ycbs", "unknown data set 'ycbs'; did you mean 'ycsb'?"},
        {"", "data set '' has no name; 'tare list datasets' lists them"},
        {"ycsb:fieldcount=0",
         "option 'fieldcount' of data set 'ycsb' must be a whole number from 1 to 10000, not '0'"},
        {"ycsb:feildcount=1",
         "unknown option 'feildcount' of data set 'ycsb'; did you mean 'fieldcount'?"},
        {"ycsb:fieldlength=5,minfieldlength=6,fieldlengthdistribution=uniform",
         "data set 'ycsb': minfieldlength 6 is more than fieldlength 5"},
        {"ycsb:fieldcount=10000,fieldlength=1000000",
         "data set 'ycsb': fieldcount 10000 x fieldlength 1000000 is more than 512 MiB a record"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct tare_error error = {0};
        assert_null(dataset_open(bad[i].text, 1, &error));
        assert_string_equal(error.message, bad[i].message);
        assert_int_equal(error.status, TARE_USAGE);
    }
    struct arena arena = {0};
    struct record record;
    struct dataset *dataset = open_ycsb("ycsb:fieldcount=10000,fieldlength=0,fieldnameprefix=f", 1);
    assert_int_equal(dataset_read(dataset, 0, &arena, &record, NULL), 0);
    assert_int_equal(record.field_count, 10000);
    assert_true(slice_is(record.fields[9999].name, "f9999"));
    assert_int_equal(record.fields[9999].value.as.text.length, 0);
    dataset_close(dataset);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_ycsbs),
        cmocka_unit_test(values_have_ycsbs_characters),
        cmocka_unit_test(neighbours_share_bits_as_ycsbs),
        cmocka_unit_test(records_have_the_form_of_ycsb),
        cmocka_unit_test(a_record_is_a_function_of_seed_and_place),
        cmocka_unit_test(lengths_are_drawn_as_ycsb_does),
        cmocka_unit_test(all_lengths_end_where_they_should),
        cmocka_unit_test(extremes_open_and_others_are_refused),
    };
    return cmocka_run_group_tests_name("data: ycsb", tests, NULL, NULL);
}

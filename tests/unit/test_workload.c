/* Workloads: which records are asked for, what an update changes, steps as they are written,
 * property files, and what held a workload up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cell/workload.h"
#include "core/memory.h"
#include "data/change.h"
#include "data/chooser.h"
#include "data/properties.h"
#include "ledger/workload.h"

#define RECORDS 1001
#define DRAWS   1000000

/* ---- which records ------------------------------------------------------------------------- */

/* How often YCSB's own generators drew each record, of 10,000,000 draws. */
static void read_reference(const char *name, double *shares)
{
    FILE *file = fopen("tests/unit/fixtures/ycsb_requests.txt", "r");
    char line[64], word[16];
    int record;
    double count, sum = 0;
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%15s %d %lf", word, &record, &count) == 3 && strcmp(word, name) == 0)
            sum += shares[record] = count;
    fclose(file);
    assert_int_equal((int64_t)sum, 10000000);
}

static void draws_as_ycsb(enum distribution distribution, const char *name, int64_t records)
{
    static double shares[RECORDS], counts[RECORDS];
    struct chooser chooser;
    struct random random = random_at(1, 2, 3);
    double whole = 0;
    memset(counts, 0, sizeof counts);
    read_reference(name, shares);
    chooser_open(&chooser, distribution, records, 0);
    for (int i = 0; i < DRAWS; i++) {
        int64_t place = chooser_draw(&chooser, records, &random);
        assert_in_range(place, 0, records - 1);
        counts[place]++;
    }
    for (int64_t i = 0; i < records; i++)
        whole += shares[i];
    for (int64_t i = 0; i < records; i++) {
        double expected = shares[i] / whole * DRAWS;
        /* Both were drawn: six deviations of their difference. */
        double margin = 6 * sqrt(expected * (1 + DRAWS / 1e7)) + 1;
        if (fabs(counts[i] - expected) > margin)
            fail_msg("%s: record %d was drawn %.0f times, YCSB drew it %.0f", name, (int)i,
                     counts[i], expected);
    }
}

static void zipfian_draws_are_ycsbs(void **state)
{
    (void)state;
    /* A generator over 1,000 records ranges over 1,001; what isn't there is drawn again. */
    draws_as_ycsb(DISTRIBUTION_ZIPFIAN, "zipfian", RECORDS - 1);
}

static void latest_draws_are_ycsbs(void **state)
{
    (void)state;
    draws_as_ycsb(DISTRIBUTION_LATEST, "latest", RECORDS);
}

static void sequential_and_uniform_draws_reach_all(void **state)
{
    (void)state;
    struct chooser chooser;
    struct random random = random_at(1, 2, 3);
    int counts[10] = {0};
    chooser_open(&chooser, DISTRIBUTION_SEQUENTIAL, 10, 0);
    for (int i = 0; i < 25; i++)
        assert_int_equal(chooser_draw(&chooser, 10, &random), i % 10);
    chooser_open(&chooser, DISTRIBUTION_UNIFORM, 10, 0);
    for (int i = 0; i < 10000; i++)
        counts[chooser_draw(&chooser, 10, &random)]++;
    for (int i = 0; i < 10; i++)
        assert_in_range(counts[i], 850, 1150);
}

static void latest_follows_inserts(void **state)
{
    (void)state;
    struct chooser chooser;
    struct random random = random_at(1, 2, 3);
    int newest = 0;
    chooser_open(&chooser, DISTRIBUTION_LATEST, 100, 50);
    for (int64_t records = 100; records < 1100; records++) {
        int64_t place = chooser_draw(&chooser, records, &random);
        assert_in_range(place, 0, records - 1);
        newest += place >= records - 10;
    }
    assert_in_range(newest, 300, 600);
    /* One record is all that there is. */
    chooser_open(&chooser, DISTRIBUTION_LATEST, 1, 0);
    assert_int_equal(chooser_draw(&chooser, 1, &random), 0);
    chooser_open(&chooser, DISTRIBUTION_ZIPFIAN, 1, 0);
    assert_int_equal(chooser_draw(&chooser, 1, &random), 0);
}

/* ---- what an update changes ---------------------------------------------------------------- */

static void texts_keep_their_length_and_kind(void **state)
{
    (void)state;
    static const char *const texts[] = {"hello",  "Hello, World 42", "a",   "x1",
                                        "é1",     "2023-01-02",      "1e5", "warrior",
                                        "\"q\\a", "7 items"};
    struct arena arena = {0};
    struct random random = random_at(1, 2, 3);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        int changed = 0;
        for (int round = 0; round < 50; round++) {
            struct value value = {.type = VALUE_TEXT, .as.text = slice_text(texts[i])};
            changed += value_change(&value, &random, &arena);
            assert_int_equal(value.as.text.length, strlen(texts[i]));
            for (size_t j = 0; j < value.as.text.length; j++) {
                char a = texts[i][j], b = value.as.text.bytes[j];
                bool lower = a >= 'a' && a <= 'z', upper = a >= 'A' && a <= 'Z';
                bool digit = a >= '0' && a <= '9';
                assert_true(lower   ? b >= 'a' && b <= 'z'
                            : upper ? b >= 'A' && b <= 'Z'
                            : digit ? b >= '0' && b <= '9'
                                    : b == a);
            }
        }
        assert_in_range(changed, 30, 50);
    }
    /* With other digits these might be numbers, which stores hold in another form; in these there
     * is nothing to change. */
    static const char *const kept[] = {"007", "-0", "99999999999999999999", "", "--", " ", "-5"};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct value value = {.type = VALUE_TEXT, .as.text = slice_text(kept[i])};
        assert_false(value_change(&value, &random, &arena));
        assert_true(slice_is(value.as.text, kept[i]));
    }
    arena_free(&arena);
}

static void numbers_keep_their_width(void **state)
{
    (void)state;
    /* The last before and the first at each width of some store or codec. */
    static const int64_t edges[] = {
        0,     9,     10,      12,      13,         19,         23,         24,        99,    100,
        127,   128,   255,     256,     4095,       4096,       9999,       10000,     32767, 32768,
        65535, 65536, 8388607, 8388608, 2147483647, 2147483648, 4294967295, 4294967296};
    static const int64_t limits[] = {13,    24,    128,     256,        4096,      10000,
                                     32768, 65536, 8388608, 2147483648, 4294967296};
    struct arena arena = {0};
    struct random random = random_at(1, 2, 3);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        char text[24];
        snprintf(text, sizeof text, "%lld", (long long)edges[i]);
        for (int round = 0; round < 40; round++) {
            struct value number = {.type = VALUE_INTEGER, .as.integer = edges[i]};
            struct value told = {.type = VALUE_TEXT, .as.text = slice_text(text)};
            int64_t read;
            assert_true(value_change(&number, &random, &arena));
            assert_true(number.as.integer != edges[i]);
            assert_true(value_change(&told, &random, &arena));
            assert_true(slice_integer(told.as.text, &read));
            assert_int_equal(told.as.text.length, strlen(text));
            for (size_t j = 0; j < sizeof limits / sizeof limits[0]; j++) {
                assert_int_equal(edges[i] < limits[j], number.as.integer < limits[j]);
                assert_int_equal(edges[i] < limits[j], read < limits[j]);
            }
        }
    }
    struct value negative = {.type = VALUE_INTEGER, .as.integer = -5};
    assert_false(value_change(&negative, &random, &arena));
    arena_free(&arena);
}

static void one_field_changes_or_all(void **state)
{
    (void)state;
    struct member fields[] = {
        {slice_text("id"), {.type = VALUE_TEXT, .as.text = slice_text("key1")}},
        {slice_text("name"), {.type = VALUE_TEXT, .as.text = slice_text("some name")}},
        {slice_text("flag"), {.type = VALUE_BOOLEAN, .as.boolean = true}},
        {slice_text("age"), {.type = VALUE_INTEGER, .as.integer = 34}}};
    struct record record = {.key = slice_text("key1"),
                            .fields = fields,
                            .field_count = 4,
                            .key_in_fields = true,
                            .key_field = &fields[0]};
    struct record changed;
    struct arena arena = {0};
    struct random random = random_at(1, 2, 3);
    bool name = false, age = false;
    for (int round = 0; round < 50; round++) {
        assert_int_equal(record_change(&record, false, &random, &arena, &changed), 1);
        /* The key is in a field, which stays. */
        assert_true(slice_is(changed.fields[0].value.as.text, "key1"));
        assert_ptr_equal(changed.key_field, &changed.fields[0]);
        name = name || !slice_is(changed.fields[1].value.as.text, "some name");
        age = age || changed.fields[3].value.as.integer != 34;
        assert_true(slice_is(fields[1].value.as.text, "some name"));
    }
    assert_true(name && age);
    assert_int_equal(record_change(&record, true, &random, &arena, &changed), 2);
    /* Nothing can be changed of this one. */
    record.fields = &fields[2];
    record.field_count = 1;
    record.key_field = NULL;
    assert_int_equal(record_change(&record, false, &random, &arena, &changed), 0);
    record.field_count = 0;
    assert_int_equal(record_change(&record, false, &random, &arena, &changed), 0);
    arena_free(&arena);
}

/* ---- steps as they are written ------------------------------------------------------------- */

static void steps_are(const char *text, const char *states)
{
    struct cell_steps steps = {0};
    struct tare_error error = {0};
    struct buffer out = {0};
    if (cell_steps_parse(&steps, text, &error))
        fail_msg("'%s': %s", text, error.message);
    for (size_t i = 0; i < steps.count; i++)
        buffer_format(&out, "%s%s", i ? " " : "", steps.items[i].state);
    assert_string_equal(out.data, states);
    buffer_free(&out);
    cell_steps_free(&steps);
}

static void refused(const char *text, const char *words)
{
    struct cell_steps steps = {0};
    struct tare_error error = {0};
    assert_int_equal(cell_steps_parse(&steps, text, &error), -1);
    assert_int_equal(error.status, TARE_USAGE);
    if (!strstr(error.message, words))
        fail_msg("'%s' is refused by: %s", text, error.message);
    assert_null(strchr(error.message, '\n'));
    cell_steps_free(&steps);
}

static void steps_are_parsed(void **state)
{
    (void)state;
    steps_are("load", "loaded");
    steps_are("load,settle,read,read,reload,restart",
              "loaded settled read read-2 reloaded restarted");
    steps_are("load,update,update,miss", "loaded updated updated-2 missed");
    steps_are("load,workload=a,workload=b:operations=10k", "loaded workload-a workload-b");
    steps_are("load,workload=a:threads=8/16:operations=5", "loaded workload-a@8 workload-a@16");
    steps_are("load,update:pipeline=4:threads=1/2:distribution=zipfian,update:threads=2",
              "loaded updated@1 updated@2 updated@2-2");
    steps_are("load,read:seconds=2:rate=100", "loaded read");
}

static void wrong_steps_are_refused(void **state)
{
    (void)state;
    refused("read", "begins with load");
    refused("load,load", "twice");
    refused("load,udpate", "did you mean 'update'");
    refused("load:threads=2", "step 'load' takes no options");
    refused("load,settle=3", "step 'settle' takes no value");
    refused("load,update=name", "step 'update' takes no value");
    refused("load,update:thread=2", "did you mean 'threads'");
    refused("load,update:threads=0", "threads");
    refused("load,update:threads=8//2", "threads");
    refused("load,update:threads=8/x", "threads");
    refused("load,update:threads=1:threads=2", "threads");
    refused("load,update:operations=many", "operations");
    refused("load,update:distribution=zipf", "did you mean 'zipfian'");
    refused("load,update:rate=10:pipeline=2", "leave pipeline or rate out");
    refused("load,workload", "needs a value");
    refused("load,workload:threads=2", "needs a value");
    refused("load,workload=", "needs a value");
    refused("load,workload=/nowhere/w", "'/nowhere/w': No such file");
    refused("load,", "unknown step ''");
}

/* A file of these lines as a step. */
static struct workload_settings settings_of(const char *lines, const char *options,
                                            const char *words)
{
    char path[] = "/tmp/tare-test-XXXXXX";
    struct workload_settings settings = {0};
    struct cell_steps steps = {0};
    struct tare_error error = {0};
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, lines, strlen(lines)), (int)strlen(lines));
    close(file);
    char *text = memory_format("load,workload=%s%s", path, options);
    if (words) {
        refused(text, words);
    } else {
        if (cell_steps_parse(&steps, text, &error))
            fail_msg("%s: %s", lines, error.message);
        assert_int_equal(strncmp(steps.items[1].state, "workload-tare-test-", 19), 0);
        settings = *(struct workload_settings *)steps.items[1].settings;
        cell_steps_free(&steps);
    }
    free(text);
    unlink(path);
    return settings;
}

static void property_files_are_read(void **state)
{
    (void)state;
    struct workload_settings settings =
        settings_of("# YCSB\n! also\n\nrecordcount=1000\n  operationcount : 2000\r\n"
                    "workload=site.ycsb.workloads.CoreWorkload\nreadproportion=0.\\\n   9\n"
                    "updateproportion 0.05\ninsertproportion=0.05\nrequestdistribution=latest\n"
                    "readallfields=true\nwriteallfields=true",
                    "", NULL);
    assert_true(settings.proportions[OPERATION_READ] == 0.9);
    assert_true(settings.proportions[OPERATION_UPDATE] == 0.05);
    assert_true(settings.proportions[OPERATION_INSERT] == 0.05);
    assert_int_equal(settings.distribution, DISTRIBUTION_LATEST);
    assert_int_equal(settings.operations, 2000);
    assert_true(settings.write_all);
    /* CoreWorkload's defaults; options are over the file. */
    settings = settings_of("operationcount=5\n", ":operations=7:distribution=zipfian", NULL);
    assert_true(settings.proportions[OPERATION_READ] == 0.95);
    assert_true(settings.proportions[OPERATION_UPDATE] == 0.05);
    assert_int_equal(settings.distribution, DISTRIBUTION_ZIPFIAN);
    assert_int_equal(settings.operations, 7);
    settings = settings_of("", "", NULL);
    assert_int_equal(settings.distribution, DISTRIBUTION_UNIFORM);
    settings_of("scanproportion=0.1\n", "", "scanproportion is above 0");
    settings_of("readmodifywriteproportion=0.5\n", "", "readmodifywriteproportion is above 0");
    settings_of("readproportion=2\n", "", "readproportion is a share of 0 to 1, not '2'");
    settings_of("readproportion=half\n", "", "not 'half'");
    settings_of("readproportion=0\nupdateproportion=0\n", "", "add up to nothing");
    settings_of("requestdistribution=hotspot\n", "", "unknown requestdistribution 'hotspot'");
    settings_of("readallfields=false\n", "", "whole records");
    settings_of("operationcount=lots\n", "", "operationcount");
}

/* ---- what held it up ----------------------------------------------------------------------- */

static void bounds_follow_processor_times(void **state)
{
    (void)state;
    static const struct {
        double client, server;
        enum workload_bound bound;
    } cases[] = {{4, 4, BOUND_NONE},  {9.5, 4, BOUND_CLIENT}, {9.5, 9.5, BOUND_PROCESSORS},
                 {3, 10, BOUND_NONE}, {15, 2, BOUND_CLIENT},  {8.9, 9.2, BOUND_PROCESSORS},
                 {0, 0, BOUND_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct workload workload = {.seconds = 10,
                                    .processors = 2,
                                    .client_cpu_seconds = cases[i].client,
                                    .server_cpu_seconds = cases[i].server};
        assert_int_equal(workload_bound_of(&workload), cases[i].bound);
    }
}

static void table_is_checked(void **state)
{
    (void)state;
    struct tare_error error;
    const struct cell_step_kind *twice[] = {&cell_step_load, &cell_step_settle, &cell_step_load,
                                            NULL};
    struct cell_step_kind broken = cell_step_settle;
    const struct cell_step_kind *incomplete[] = {&broken, NULL};
    assert_int_equal(cell_step_kinds_check(&error), 0);
    assert_int_equal(cell_step_table_check(twice, &error), -1);
    broken.run = NULL;
    assert_int_equal(cell_step_table_check(incomplete, &error), -1);
    broken = cell_step_settle;
    broken.options = workload_options;
    assert_int_equal(cell_step_table_check(incomplete, &error), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zipfian_draws_are_ycsbs),
        cmocka_unit_test(latest_draws_are_ycsbs),
        cmocka_unit_test(sequential_and_uniform_draws_reach_all),
        cmocka_unit_test(latest_follows_inserts),
        cmocka_unit_test(texts_keep_their_length_and_kind),
        cmocka_unit_test(numbers_keep_their_width),
        cmocka_unit_test(one_field_changes_or_all),
        cmocka_unit_test(steps_are_parsed),
        cmocka_unit_test(wrong_steps_are_refused),
        cmocka_unit_test(property_files_are_read),
        cmocka_unit_test(bounds_follow_processor_times),
        cmocka_unit_test(table_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

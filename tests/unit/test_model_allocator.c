/* Allocators against a naive oracle: lists of classes written out as the
 * allocators' own documentation has them, searched from the start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "model/block.h"

static struct build build_of(const char *store, const char *version, const char *allocator)
{
    struct build build = {.cache_oblivious = -1};
    snprintf(build.store, sizeof build.store, "%s", store);
    snprintf(build.version, sizeof build.version, "%s", version);
    snprintf(build.allocator, sizeof build.allocator, "%s", allocator);
    build_defaults(&build);
    return build;
}

/* The smallest class that holds the request, of classes made one after the other: the first ones
 * as the manual lists them (jemalloc(3), table 1), then four a doubling. */
static int64_t naive_jemalloc(int quantum, int64_t requested)
{
    static const int64_t by_8[] = {8, 16, 24, 32, 40, 48, 56, 64};
    static const int64_t by_16[] = {8, 16, 32, 48, 64, 80, 96, 112, 128};
    const int64_t *first = quantum == 8 ? by_8 : by_16;
    size_t count = quantum == 8 ? 8 : 9;
    for (size_t i = 0; i < count; i++)
        if (first[i] >= requested)
            return first[i];
    for (int64_t doubling = first[count - 1];; doubling *= 2)
        for (int64_t quarter = 1; quarter <= 4; quarter++)
            if (doubling + doubling / 4 * quarter >= requested)
                return doubling + doubling / 4 * quarter;
}

static void jemalloc_classes_equal_the_list(void **state)
{
    (void)state;
    struct build own = build_of("redis", "7.0.15", "jemalloc-5.2.1");
    struct build system = build_of("redis", "7.0.15", "jemalloc-5.3.0");
    assert_int_equal(own.quantum, 8);
    assert_int_equal(system.quantum, 16);
    const struct allocator_kind *kind = allocator_of(&own);
    assert_string_equal(kind->name, "jemalloc");
    for (int64_t n = 1; n < 70000; n++) {
        assert_int_equal(kind->usable(&own, n), naive_jemalloc(8, n));
        assert_int_equal(kind->usable(&system, n), naive_jemalloc(16, n));
    }
    for (int64_t n = 1 << 17; n < (int64_t)1 << 40; n += n / 5) {
        assert_int_equal(kind->usable(&own, n), naive_jemalloc(8, n));
        assert_int_equal(kind->usable(&own, n + 1), naive_jemalloc(8, n + 1));
    }
}

static void glibc_usable_sizes(void **state)
{
    (void)state;
    struct build build = build_of("redis", "6.2.14", "libc");
    const struct allocator_kind *kind = allocator_of(&build);
    assert_string_equal(kind->name, "glibc");
    /* Chunks grow by 16 from 32; 8 bytes of each are the header. */
    int64_t chunk = 32;
    for (int64_t n = 0; n < 100000; n++) {
        while (chunk - 8 < n)
            chunk += 16;
        assert_int_equal(kind->usable(&build, n), chunk - 8);
        assert_int_equal(kind->header(&build, n), 8);
    }
    /* 131,072 buckets of 8 bytes: mapped by themselves. */
    assert_int_equal(kind->usable(&build, 1048576), 1048576 + 4096 - 16);
    assert_int_equal(kind->header(&build, 1048576), 16);
}

static void redis_3_2_counts_requests_on_libc(void **state)
{
    (void)state;
    struct build build = build_of("redis", "3.2.6", "libc");
    const struct allocator_kind *kind = allocator_of(&build);
    assert_int_equal(kind->usable(&build, 24), 32);
    assert_int_equal(kind->usable(&build, 25), 40);
    assert_int_equal(kind->header(&build, 24), 48 - 32); /* chunk of 24 + 8 + 8, aligned */
}

static void unknown_allocators_fall_back(void **state)
{
    (void)state;
    struct build build = build_of("redis", "7.0.15", "mimalloc-2.1");
    const struct allocator_kind *kind = allocator_of(&build);
    assert_string_equal(kind->name, "generic");
    assert_int_equal(kind->usable(&build, 17), 32);
}

static void the_tables_are_complete(void **state)
{
    (void)state;
    struct tare_error error = {0};
    assert_int_equal(allocator_kinds_check(&error), 0);
    assert_int_equal(accounts_check(&error), 0);
    for (size_t i = 0; accounts[i]; i++) {
        assert_int_equal(account_place(accounts[i]), i);
        assert_ptr_equal(account_of_name(accounts[i]->name), accounts[i]);
    }
    assert_null(account_of_name("no such account"));
    assert_int_equal(stage_of_name("rounding"), STAGE_ROUNDING);
    assert_int_equal(stage_of_name("round"), -1);
    assert_int_equal(basis_of_name("residual"), BASIS_RESIDUAL);
}

static void versions_are_read(void **state)
{
    (void)state;
    assert_int_equal(version_number("7.0.15"), 70015);
    assert_int_equal(version_number("8.0.1-rc1"), 80001);
    assert_int_equal(version_number("6.2"), 60200);
    assert_int_equal(version_number("5.3.0-0-g54eaed1d8b56"), 50300);
    assert_int_equal(version_number("7"), -1);
    assert_int_equal(version_number("7.x"), -1);
    assert_int_equal(version_number("redis"), -1);
    assert_int_equal(version_number(""), -1);
}

static void builds_take_the_bundled_allocator(void **state)
{
    (void)state;
    static const struct {
        const char *store, *version, *allocator;
        int quantum, cache_oblivious;
    } rows[] = {
        {"redis", "3.2.6", "jemalloc-4.0.3", 8, 1},  {"redis", "6.2.5", "jemalloc-5.1.0", 8, 1},
        {"redis", "7.0.15", "jemalloc-5.2.1", 8, 1}, {"redis", "8.2.3", "jemalloc-5.3.0", 8, 0},
        {"valkey", "9.1.2", "jemalloc-5.3.0", 8, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct build build = build_of(rows[i].store, rows[i].version, "");
        assert_string_equal(build.allocator, rows[i].allocator);
        assert_int_equal(build.quantum, rows[i].quantum);
        assert_int_equal(build.cache_oblivious, rows[i].cache_oblivious);
        assert_int_equal(build.page_size, 4096);
    }
    /* A distribution's: the system's library, not the bundled one. */
    struct build debian = build_of("redis", "6.0.16", "jemalloc-5.2.1");
    assert_int_equal(debian.quantum, 16);
    assert_int_equal(debian.cache_oblivious, 1);
}

static void builds_are_refined_by_what_the_server_shows(void **state)
{
    (void)state;
    struct build build = build_of("redis", "8.0.2", "jemalloc-5.3.0");
    struct figures figures = {0};
    build_refine(&build, &figures);
    assert_int_equal(build.quantum, 8);
    assert_int_equal(build.page_size, 4096);
    figures_text(&figures, "malloc.version", "5.2.1-0-gea6b3e973b477b8061e0076bb257dbd7f3faa756");
    figures_integer(&figures, "malloc.bins.16.curregs", 10);
    figures_integer(&figures, "malloc.bins.48.curregs", 10);
    figures_integer(&figures, "malloc.page_size", 65536);
    figures_text(&figures, "malloc.config.cache_oblivious", "true");
    build_refine(&build, &figures);
    assert_string_equal(build.allocator, "jemalloc-5.2.1");
    assert_int_equal(build.quantum, 16);
    assert_int_equal(build.page_size, 65536);
    assert_int_equal(build.cache_oblivious, 1);
    figures_integer(&figures, "malloc.bins.24.curregs", 0);
    build_refine(&build, &figures);
    assert_int_equal(build.quantum, 8);
    figures_free(&figures);
}

static void blocks_sum_and_scale(void **state)
{
    (void)state;
    struct build build = build_of("redis", "6.2.14", "libc");
    struct blocks blocks, more;
    static const char kind[] = "sds";
    blocks_open(&blocks, &build);
    int64_t content = 0, rounding = 0;
    for (int64_t n = 0; n < 5000; n++) {
        blocks_add_plain(&blocks, kind, 2, n, &account_value_sds, 4);
        content += 2 * n;
        rounding += 2 * (allocator_of(&build)->usable(&build, n + 4) - n - 4);
    }
    assert_int_equal(blocks.class_count, 5000);
    assert_true(blocks.content == (double)content);
    assert_true(blocks.rounding == (double)rounding);
    assert_true(blocks.sums[account_place(&account_value_sds)] == 2 * 5000 * 4);
    assert_true(blocks.headers == 2 * 5000 * 8);
    blocks_open(&more, &build);
    blocks_merge(&more, &blocks);
    blocks_scale(&more, 3);
    assert_true(more.content == 3.0 * (double)content);
    assert_true(more.block_count == 30000);
    for (size_t i = 0; i < more.class_size; i++)
        if (more.classes[i].kind)
            assert_true(more.classes[i].count == 6);
    blocks_integer_form(&more, 10, 7);
    assert_true(more.content == 3.0 * (double)content + 70);
    assert_true(more.sums[account_place(&account_integer_form)] == -70);
    blocks_free(&more);
    blocks_free(&blocks);
}

/* The classes of the same blocks, whose kinds stand at other addresses, in the same order. */
static void the_order_of_classes_is_not_that_of_addresses(void **state)
{
    (void)state;
    struct build build = build_of("redis", "6.2.14", "libc");
    static const char places[2][3][4096] = {{"sds", "entry", "table"}, {"sds", "entry", "table"}};
    static const size_t other[] = {2, 0, 1}; /* where a kind of the second stands */
    struct blocks blocks[2];
    for (size_t i = 0; i < 2; i++) {
        blocks_open(&blocks[i], &build);
        for (int64_t n = 0; n < 3000; n++) {
            size_t kind = (size_t)n % 3;
            blocks_add_plain(&blocks[i], i ? places[1][other[kind]] : places[0][kind], 1. / 3,
                             n / 7, &account_value_sds, 4);
        }
    }
    assert_int_equal(blocks[0].class_size, blocks[1].class_size);
    for (size_t i = 0; i < blocks[0].class_size; i++) {
        const struct block_class *a = &blocks[0].classes[i], *b = &blocks[1].classes[i];
        assert_int_equal(a->kind != NULL, b->kind != NULL);
        assert_int_equal(a->requested, b->requested);
        assert_true(a->count == b->count);
        for (size_t kind = 0; a->kind && kind < 3; kind++)
            assert_int_equal(a->kind == places[0][kind], b->kind == places[1][other[kind]]);
    }
    blocks_free(&blocks[0]);
    blocks_free(&blocks[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jemalloc_classes_equal_the_list),
        cmocka_unit_test(glibc_usable_sizes),
        cmocka_unit_test(redis_3_2_counts_requests_on_libc),
        cmocka_unit_test(unknown_allocators_fall_back),
        cmocka_unit_test(the_tables_are_complete),
        cmocka_unit_test(versions_are_read),
        cmocka_unit_test(builds_take_the_bundled_allocator),
        cmocka_unit_test(builds_are_refined_by_what_the_server_shows),
        cmocka_unit_test(blocks_sum_and_scale),
        cmocka_unit_test(the_order_of_classes_is_not_that_of_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

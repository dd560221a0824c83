/* The probes' parsers: texts of real servers (fixtures/malloc_stats_*.txt) held to their own
 * totals, and small texts whose figures are plain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/memory.h"
#include "probes/process_text.h"
#include "probes/redis_text.h"

static char *read_fixture(const char *name)
{
    char path[256], bytes[4096];
    struct buffer text = {0};
    snprintf(path, sizeof path, "tests/unit/fixtures/%s", name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot read %s: unit tests run from the top of the checkout", path);
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        buffer_append(&text, bytes, got);
    fclose(file);
    return buffer_steal(&text);
}

/* Sum over a table of size x one column. */
static int64_t table_bytes(const struct figures *figures, const char *table, const char *column)
{
    int64_t sum = 0;
    size_t length = strlen(table);
    for (size_t i = 0; i < figures->count; i++) {
        const char *name = figures->items[i].name;
        const char *dot = strrchr(name, '.');
        if (strncmp(name, table, length) == 0 && strcmp(dot + 1, column) == 0)
            sum += strtoll(name + length, NULL, 10) * figures->items[i].integer;
    }
    return sum;
}

static void test_malloc_stats_add_up(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int quantum, page;
    } texts[] = {
        {"malloc_stats_redis_5.0.6.txt", 8, 4096},   {"malloc_stats_redis_6.0.16.txt", 16, 4096},
        {"malloc_stats_redis_7.0.15.txt", 16, 4096}, {"malloc_stats_redis_7.4.1.txt", 8, 65536},
        {"malloc_stats_valkey_8.0.1.txt", 16, 4096},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct figures figures = {0};
        char *text = read_fixture(texts[i].name);
        redis_malloc_stats_parse(text, &figures);
        /* jemalloc's own total is the sum over its bins and large blocks. */
        int64_t sum = table_bytes(&figures, "malloc.bins.", "curregs") +
                      table_bytes(&figures, "malloc.large.", "curlextents");
        if (sum != figures_get(&figures, "malloc.allocated"))
            fail_msg("%s: %lld in bins and large blocks, %lld allocated", texts[i].name,
                     (long long)sum, (long long)figures_get(&figures, "malloc.allocated"));
        assert_int_equal(texts[i].quantum, figures_get(&figures, "malloc.quantum"));
        assert_int_equal(texts[i].page, figures_get(&figures, "malloc.page_size"));
        assert_true(figures_get(&figures, "malloc.active") >=
                    figures_get(&figures, "malloc.allocated"));
        assert_non_null(figures_get_text(&figures, "malloc.version"));
        figures_free(&figures);
        free(text);
    }
}

static void test_malloc_stats_cut_short(void **state)
{
    (void)state;
    char *text = read_fixture("malloc_stats_redis_7.0.15.txt");
    size_t length = strlen(text);
    for (size_t cut = 0; cut < length; cut += 37) {
        struct figures figures = {0};
        char *part = memory_text_n(text, cut);
        redis_malloc_stats_parse(part, &figures);
        assert_true(table_bytes(&figures, "malloc.bins.", "curregs") >= 0);
        figures_free(&figures);
        free(part);
    }
    free(text);
}

static void test_info(void **state)
{
    (void)state;
    struct figures figures = {0};
    redis_info_parse("# Server\r\nredis_version:7.0.15\r\nhz:10\r\n\r\n# Memory\r\n"
                     "used_memory:1234567\r\nmem_fragmentation_ratio:1.25\r\n"
                     "mem_allocator:jemalloc-5.3.0\r\nbroken line\r\n# Keyspace\r\n"
                     "db0:keys=3,expires=0,avg_ttl=0\r\n",
                     &figures);
    assert_string_equal("7.0.15", figures_get_text(&figures, "info.server.redis_version"));
    assert_int_equal(1234567, figures_get(&figures, "info.memory.used_memory"));
    assert_int_equal(FIGURE_REAL,
                     figures_find(&figures, "info.memory.mem_fragmentation_ratio")->type);
    assert_string_equal("keys=3,expires=0,avg_ttl=0",
                        figures_get_text(&figures, "info.keyspace.db0"));
    assert_int_equal(6, figures.count);
    figures_free(&figures);
}

static void test_smaps(void **state)
{
    (void)state;
    static const char text[] =
        "55d0c0000000-55d0c0100000 r-xp 00000000 08:01 42  /usr/bin/redis-check-rdb\n"
        "Size:               1024 kB\nRss:                 800 kB\nPss:   800 kB\n"
        "55d0c1000000-55d0c1200000 rw-p 00000000 00:00 0  [heap]\n"
        "Size:               2048 kB\nRss:                1500 kB\nPrivate_Dirty: 1500 kB\n"
        "7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
        "Size:                  4 kB\nRss:                   0 kB\n"
        "7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
        "Size:               8192 kB\nRss:                  12 kB\n"
        "7f1000000000-7f1000400000 rw-p 00000000 00:00 0 \n"
        "Size:               4096 kB\nRss:                4000 kB\nAnonHugePages: 2048 kB\n"
        "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0  [stack]\n"
        "Size:                132 kB\nRss:                  20 kB\n"
        "7ffc00100000-7ffc00101000 r-xp 00000000 00:00 0  [vdso]\n"
        "Size:                  4 kB\nRss:                   4 kB\n";
    struct figures figures = {0};
    process_smaps_parse(text, &figures);
    assert_int_equal(800 * 1024, figures_get(&figures, "smaps.file.rss"));
    assert_int_equal(1500 * 1024, figures_get(&figures, "smaps.heap.rss"));
    assert_int_equal(2048 * 1024, figures_get(&figures, "smaps.heap.size"));
    assert_int_equal(32 * 1024, figures_get(&figures, "smaps.stack.rss")); /* a thread's too */
    assert_int_equal(4000 * 1024, figures_get(&figures, "smaps.anonymous.rss"));
    assert_int_equal(2048 * 1024, figures_get(&figures, "smaps.anonymous.anonymous_huge"));
    assert_int_equal(4 * 1024, figures_get(&figures, "smaps.kernel.rss"));
    assert_int_equal((800 + 1500 + 12 + 4000 + 20 + 4) * 1024,
                     figures_get(&figures, "smaps.total.rss"));
    assert_int_equal(7, figures_get(&figures, "smaps.mappings"));
    figures_free(&figures);
}

static void test_status(void **state)
{
    (void)state;
    struct figures figures = {0};
    assert_true(
        process_status_parse("Name:\tredis-server\nVmRSS:\t    1234 kB\nRssAnon:\t 1000 kB\n"
                             "VmSwap:\t       0 kB\nThreads:\t5\n",
                             &figures));
    assert_int_equal(1234 * 1024, figures_get(&figures, "status.VmRSS"));
    assert_int_equal(5, figures_get(&figures, "status.Threads"));
    figures_free(&figures);
    figures = (struct figures){0};
    assert_false(process_status_parse("Name:\tzombie\nState:\tZ (zombie)\n", &figures));
    figures_free(&figures);
}

static int read_nothing(struct store *store, struct figures *figures, struct tare_error *error)
{
    (void)store;
    (void)figures;
    (void)error;
    return 0;
}

static void test_incomplete_entry(void **state)
{
    (void)state;
    const struct probe_kind whole = {.name = "a", .summary = "b", .read = read_nothing};
    const struct probe_kind without = {.name = "a", .summary = "b"};
    const struct probe_kind *const good[] = {&whole, NULL}, *const bad[] = {&without, NULL},
                                   *const twice[] = {&whole, &whole, NULL};
    struct tare_error error = {0};
    assert_int_equal(0, probe_table_check(good, &error));
    assert_int_equal(-1, probe_table_check(bad, &error));
    assert_non_null(strstr(error.message, "incomplete"));
    assert_int_equal(-1, probe_table_check(twice, &error));
    assert_non_null(strstr(error.message, "twice"));
    assert_int_equal(0, probe_kinds_check(&error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malloc_stats_add_up),
        cmocka_unit_test(test_malloc_stats_cut_short),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_smaps),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_incomplete_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

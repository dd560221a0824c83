/* Encodings ranked, each against the plain one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/memory.h"
#include "ledger/ranking.h"

/* A cell of one state with totals; resident -1: it can't be seen. */
static void add(struct report *report, const char *name, const char *encoding, const char *dataset,
                int64_t records, int64_t allocated, int64_t resident)
{
    struct cell *cell = report_add_cell(report);
    *cell = (struct cell){.name = memory_text(name),
                          .encoding = memory_text(encoding),
                          .dataset = memory_text(dataset),
                          .records = records,
                          .complete = true,
                          .state_count = 1,
                          .state_capacity = 1};
    cell->states = memory_new(sizeof *cell->states);
    cell->states[0] = (struct ledger){.state = memory_text("settled")};
    ledger_put(&cell->states[0], &account_total_allocated, BASIS_MEASURED, allocated);
    if (resident >= 0)
        ledger_put(&cell->states[0], &account_total_resident, BASIS_MEASURED, resident);
}

static void check(const struct ranking *ranking, size_t place, const char *name, int64_t rank,
                  double ratio, double difference)
{
    const struct ranked *item = &ranking->items[place];
    assert_string_equal(item->cell->name, name);
    assert_int_equal(item->rank, rank);
    assert_true(item->ratio == ratio);
    assert_true(item->difference == difference);
}

static void against_the_plain_one(void **state)
{
    struct report report = {0};
    struct rankings rankings;
    (void)state;
    add(&report, "a", "redis:string+json+zstd", "ycsb", 100, 4000, 5000);
    add(&report, "b", "redis:hash@index", "ycsb", 100, 30000, 40000);
    add(&report, "c", "redis:string+json", "ycsb", 100, 9000, 10000);
    add(&report, "d", "redis:hash", "ycsb", 100, 19000, 20000);
    add(&report, "e", "redis:string+msgpack", "ycsb", 100, 9001, 10000);
    rankings_of(&report, &rankings);
    assert_int_equal(rankings.count, 1);
    const struct ranking *ranking = &rankings.items[0];
    assert_ptr_equal(ranking->account, &account_total_resident);
    assert_string_equal(ranking->plain->cell->name, "c");
    check(ranking, 0, "a", 1, 0.5, -50);
    check(ranking, 1, "c", 2, 1, 0);
    check(ranking, 2, "e", 2, 1, 0);
    check(ranking, 3, "d", 4, 2, 100);
    check(ranking, 4, "b", 5, 4, 300);
    rankings_free(&rankings);
    report_free(&report);
}

/* What can't be seen of one cell is compared of none. */
static void allocated_where_resident_is_unseen(void **state)
{
    struct report report = {0};
    struct rankings rankings;
    (void)state;
    add(&report, "a", "redis:hash@index", "ycsb", 10, 1000, 5000);
    add(&report, "b", "redis:string+cbor", "ycsb", 10, 500, -1);
    rankings_of(&report, &rankings);
    assert_int_equal(rankings.count, 1);
    assert_ptr_equal(rankings.items[0].account, &account_total_allocated);
    /* none is plain: the first one is taken */
    check(&rankings.items[0], 0, "b", 1, 0.5, -50);
    check(&rankings.items[0], 1, "a", 2, 1, 0);
    rankings_free(&rankings);
    report_free(&report);
}

static void only_like_with_like(void **state)
{
    struct report report = {0};
    struct rankings rankings;
    (void)state;
    add(&report, "a", "redis:hash", "ycsb", 10, 1000, 1000);
    add(&report, "b", "redis:string+json", "ycsb", 20, 1000, 1000);
    add(&report, "c", "redis:string+json", "player", 10, 1000, 1000);
    add(&report, "d", "redis:hash", "ycsb", 10, 2000, 2000); /* the same encoding: no comparison */
    add(&report, "e", "redis:hash", "ycsb", 0, 0, 0);
    add(&report, "f", "redis:string+json", "ycsb", 0, 0, 0);
    add(&report, "g", "redis:string+json", "ycsb", 10, 1000, 1000);
    report.cells[6].complete = false;
    rankings_of(&report, &rankings);
    assert_int_equal(rankings.count, 0);
    rankings_free(&rankings);
    report.cells[6].complete = true;
    rankings_of(&report, &rankings);
    assert_int_equal(rankings.count, 1);
    assert_int_equal(rankings.items[0].count, 3);
    rankings_free(&rankings);
    report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_the_plain_one),
        cmocka_unit_test(allocated_where_resident_is_unseen),
        cmocka_unit_test(only_like_with_like),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Marginal cost from checkpoints. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample_report.h"

static const struct ledger_row *row_of(const struct cell *cell, const struct account *account)
{
    return ledger_find(&cell->states[0], account);
}

/* Two accounts and both totals in one state; checkpoints are added by the test. */
static void begin(struct cell *cell, const char *state)
{
    cell->states = memory_new(sizeof *cell->states);
    cell->state_count = cell->state_capacity = 1;
    cell->states[0].state = memory_text(state);
    ledger_put(&cell->states[0], &account_key, BASIS_COUNTED, 1);
    ledger_put(&cell->states[0], &account_object, BASIS_MODELLED, 1);
    ledger_put(&cell->states[0], &account_key_table, BASIS_MODELLED, 1);
    ledger_put(&cell->states[0], &account_unattributed_allocated, BASIS_RESIDUAL, 1);
    ledger_put(&cell->states[0], &account_total_allocated, BASIS_MEASURED, 1);
    ledger_put(&cell->states[0], &account_total_resident, BASIS_MEASURED, 1);
}

static struct checkpoint *add(struct cell *cell, int64_t records, int64_t allocated,
                              int64_t resident)
{
    MEMORY_GROW(cell->checkpoints, cell->checkpoint_count, cell->checkpoint_capacity);
    struct checkpoint *point = &cell->checkpoints[cell->checkpoint_count++];
    *point = (struct checkpoint){.records = records, .allocated = allocated, .resident = resident};
    point->counted.key = records * 20;
    return point;
}

static void median_of_differences(void **state)
{
    struct cell cell = {0};
    (void)state;
    begin(&cell, "settled");
    add(&cell, 0, 0, 0);
    add(&cell, 10, 1000, 4096);   /* 100 and 409.6 a record */
    add(&cell, 30, 3400, 8192);   /* 120 and 204.8 */
    add(&cell, 40, 13400, 12288); /* 1,000: a step that no model speaks of; 409.6 */
    cell_marginals(&cell);
    assert_true(row_of(&cell, &account_total_allocated)->has_marginal);
    assert_true(row_of(&cell, &account_total_allocated)->marginal == 120);
    assert_true(fabs(row_of(&cell, &account_total_resident)->marginal - 409.6) < 1e-9);
    assert_true(row_of(&cell, &account_key)->marginal == 20);
    /* no checkpoint knows of it; a residual has none */
    assert_false(row_of(&cell, &account_object)->has_marginal);
    assert_false(row_of(&cell, &account_unattributed_allocated)->has_marginal);
    cell_free(&cell);
}

static void steps_of_tables_are_taken_apart(void **state)
{
    struct cell cell = {0};
    (void)state;
    begin(&cell, "loaded");
    /* The table doubles in both of the last intervals: their median would be a step's. */
    add(&cell, 100, 10000, -1)->modelled.bytes[account_place(&account_key_table)] = 1024;
    add(&cell, 120, 12000, -1)->modelled.bytes[account_place(&account_key_table)] = 1024;
    add(&cell, 140, 16048, -1)->modelled.bytes[account_place(&account_key_table)] = 3072;
    add(&cell, 160, 17024, -1)->modelled.bytes[account_place(&account_key_table)] = 2048;
    cell_marginals(&cell);
    assert_true(row_of(&cell, &account_total_allocated)->marginal == 100);
    assert_true(row_of(&cell, &account_key_table)->marginal == 0);
    assert_false(row_of(&cell, &account_total_resident)->has_marginal);
    cell_free(&cell);
}

static void steps_count_where_nothing_else_is_there(void **state)
{
    struct cell cell = {0};
    (void)state;
    begin(&cell, "settled");
    add(&cell, 10, 1000, 0)->modelled.bytes[account_place(&account_key_table)] = 128;
    add(&cell, 20, 2128, 0)->modelled.bytes[account_place(&account_key_table)] = 256;
    cell_marginals(&cell);
    assert_true(fabs(row_of(&cell, &account_total_allocated)->marginal - 112.8) < 1e-9);
    cell_free(&cell);
}

/* A table that gains a child bucket now and then has a marginal cost of its own. */
static void small_growth_is_no_step(void **state)
{
    struct cell cell = {0};
    (void)state;
    begin(&cell, "settled");
    for (int64_t i = 0; i < 4; i++)
        add(&cell, 1000 + 100 * i, 0, 0)->modelled.bytes[account_place(&account_key_table)] =
            64000 + 640 * i;
    cell_marginals(&cell);
    assert_true(fabs(row_of(&cell, &account_key_table)->marginal - 6.4) < 1e-9);
    cell_free(&cell);
}

static void one_checkpoint_tells_nothing(void **state)
{
    struct cell cell = {0};
    (void)state;
    begin(&cell, "settled");
    cell_marginals(&cell);
    assert_false(row_of(&cell, &account_total_allocated)->has_marginal);
    add(&cell, 10, 1000, 0);
    cell_marginals(&cell);
    assert_false(row_of(&cell, &account_total_allocated)->has_marginal);
    add(&cell, 10, 1400, 0);
    cell_marginals(&cell);
    assert_false(row_of(&cell, &account_total_allocated)->has_marginal);
    cell_free(&cell);
}

static void only_what_the_load_leads_to(void **state)
{
    struct cell cell = {0};
    (void)state;
    begin(&cell, "restarted");
    add(&cell, 10, 1000, 0);
    add(&cell, 20, 2000, 0);
    cell_marginals(&cell);
    assert_false(row_of(&cell, &account_total_allocated)->has_marginal);
    cell_free(&cell);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_differences),
        cmocka_unit_test(steps_of_tables_are_taken_apart),
        cmocka_unit_test(steps_count_where_nothing_else_is_there),
        cmocka_unit_test(small_growth_is_no_step),
        cmocka_unit_test(one_checkpoint_tells_nothing),
        cmocka_unit_test(only_what_the_load_leads_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

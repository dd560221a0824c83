/* Closing ledgers, their checks, shares, gaps, and finding cells. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sample_report.h"

static struct ledger *ledger_of(struct cell *cell)
{
    return &cell->states[0];
}

static void measured_ledger_sums(void **state)
{
    struct cell cell = {0};
    struct tare_error error = {0};
    (void)state;
    sample_redis(&cell);
    const struct ledger *ledger = ledger_of(&cell);
    assert_int_equal(ledger_check(ledger, &error), 0);
    /* 1,867,300 measured, 1,858,900 modelled, 8,000 the clients' */
    assert_int_equal(ledger_bytes(ledger, &account_unattributed_allocated), 400);
    assert_int_equal(ledger_bytes(ledger, &account_total_allocated), 1867300);
    /* 1,925,120 less allocated, 40,000 and 12,288 and 4,096 */
    assert_int_equal(ledger_bytes(ledger, &account_unattributed_resident), 1436);
    assert_int_equal(ledger_bytes(ledger, &account_total_resident), 1925120);
    assert_int_equal(ledger_bytes(ledger, &account_base_allocated), 900000);
    assert_int_equal(ledger_bytes(ledger, &account_base_resident), 9437184);
    assert_true(ledger_share_allocated(ledger) == 400.0 / 1867300);
    assert_true(ledger_share_resident(ledger) == (400.0 + 1436) / 1925120);
    struct headline headline = ledger_headline(ledger);
    assert_true(headline.has_predicted && headline.has_measured);
    assert_int_equal(headline.predicted, 1866900);
    assert_int_equal(headline.measured, 1867300);
    assert_true(headline.missed == 400.0 / 1867300);
    /* nothing is in it: no row; counted zero rows likewise, but for key and values */
    assert_null(ledger_find(ledger, &account_listpack));
    assert_null(ledger_find(ledger, &account_escapes));
    assert_non_null(ledger_find(ledger, &account_key));
    /* what saves more goes first, though it was told later */
    assert_int_equal(ledger->note_count, 3);
    assert_int_equal(ledger->advice_count, 2);
    assert_string_equal(ledger->advice[0].kind, "packed limit");
    assert_int_equal(ledger->advice[0].note, 2);
    assert_ptr_equal(ledger_advice_of(ledger, 2), &ledger->advice[0]);
    assert_ptr_equal(ledger_advice_of(ledger, 1), &ledger->advice[1]);
    assert_null(ledger_advice_of(ledger, 0));
    cell_free(&cell);
}

static void errors_cannot_cancel_in_the_share(void **state)
{
    struct cell cell = {0};
    (void)state;
    sample_mongodb(&cell);
    const struct ledger *ledger = ledger_of(&cell);
    /* 1,282,000 less 1,167,800 counted and 122,600 modelled; then resident's own miss */
    assert_int_equal(ledger_bytes(ledger, &account_unattributed_allocated), -8400);
    assert_int_equal(ledger_bytes(ledger, &account_unattributed_resident), 3528);
    assert_true(ledger_share_resident(ledger) == (8400.0 + 3528) / 1302528);
    assert_true(ledger_headline(ledger).missed == -8400.0 / 1282000);
    cell_free(&cell);
}

static void unseen_resident_ends_at_allocated(void **state)
{
    struct ledger ledger = {0};
    struct prediction prediction = {0};
    struct measurement measurement = {.has_allocated = true, .allocated = 100, .base_allocated = 7};
    struct tare_error error = {0};
    (void)state;
    amounts_add(&prediction.amounts, &account_object, BASIS_MODELLED, 60);
    amounts_add(&prediction.amounts, &account_client_buffers, BASIS_MODELLED, 1);
    amounts_add(&measurement.amounts, &account_client_buffers, BASIS_MEASURED, 2);
    amounts_add(&measurement.amounts, &account_stacks, BASIS_MEASURED, 50);
    ledger_close(&ledger, "settled", &(struct counted){.key = 10, .values = 20}, &prediction,
                 &measurement);
    assert_int_equal(ledger_check(&ledger, &error), 0);
    assert_null(ledger_find(&ledger, &account_stacks));
    assert_null(ledger_find(&ledger, &account_total_resident));
    assert_null(ledger_find(&ledger, &account_unattributed_resident));
    assert_null(ledger_find(&ledger, &account_base_resident));
    /* the server stage is the measurement's alone */
    assert_int_equal(ledger_bytes(&ledger, &account_client_buffers), 2);
    assert_int_equal(ledger_bytes(&ledger, &account_unattributed_allocated), 8);
    assert_true(ledger_share_resident(&ledger) == -1);
    prediction_free(&prediction);
    measurement_free(&measurement);
    ledger_free(&ledger);
}

static void prediction_is_modelled_with_ranges(void **state)
{
    struct cell cell = {0};
    struct tare_error error = {0};
    (void)state;
    sample_predicted(&cell);
    const struct ledger *ledger = ledger_of(&cell);
    assert_int_equal(ledger_check(ledger, &error), 0);
    assert_true(ledger_is_prediction(ledger));
    for (size_t i = 0; i < ledger->count; i++)
        assert_int_equal(ledger->rows[i].basis, ledger->rows[i].account->stage <= STAGE_ENCODING
                                                    ? BASIS_COUNTED
                                                    : BASIS_MODELLED);
    assert_null(ledger_find(ledger, &account_unattributed_allocated));
    assert_null(ledger_find(ledger, &account_base_allocated));
    const struct ledger_row *total = ledger_find(ledger, &account_total_resident);
    assert_true(total->has_range);
    assert_int_equal(total->low, 1471000);
    assert_int_equal(total->high, 1560000);
    assert_int_equal(ledger->peak_allocated, 1523092);
    assert_int_equal(ledger->step_count, 2);
    assert_int_equal(ledger->steps[0].records, 1025);
    struct headline headline = ledger_headline(ledger);
    assert_true(headline.has_predicted && !headline.has_measured);
    cell_free(&cell);
}

/* Two parts of a model may each have a kind of the same name. */
static void blocks_are_kept_by_kind_and_size(void **state)
{
    static const char one[] = "table", kind[] = "sds";
    const char other[] = "table";
    struct ledger ledger = {0};
    struct prediction prediction = {0};
    struct build build = {.store = "redis", .allocator = "jemalloc-5.3.0", .quantum = 8};
    (void)state;
    blocks_open(&prediction.blocks, &build);
    blocks_add_plain(&prediction.blocks, one, 3, 0, &account_key_table, 128);
    blocks_add_plain(&prediction.blocks, other, -0.5, 0, &account_key_table, 128);
    blocks_add_plain(&prediction.blocks, one, 1, 0, &account_key_table, 64);
    blocks_add_plain(&prediction.blocks, kind, 4, 10, &account_value_sds, 2);
    assert_int_equal(prediction.blocks.class_count, 4);
    prediction.allocated = 128; /* none of its amounts; ledger_check isn't asked */
    ledger_close(&ledger, "settled", &(struct counted){0}, &prediction, NULL);
    prediction_free(&prediction);
    assert_int_equal(ledger.block_count, 3);
    assert_string_equal(ledger.blocks[0].kind, "sds");
    assert_int_equal(ledger.blocks[0].requested, 12);
    assert_true(ledger.blocks[0].count == 4);
    assert_string_equal(ledger.blocks[1].kind, "table");
    assert_int_equal(ledger.blocks[1].requested, 64);
    assert_int_equal(ledger.blocks[2].requested, 128);
    assert_true(ledger.blocks[2].count == 2.5);
    ledger_free(&ledger);
}

/* A model whose total is not the sum of its accounts is found out. */
static void prediction_that_does_not_sum_is_a_fault(void **state)
{
    struct ledger ledger = {0};
    struct prediction prediction = {.allocated = 31, .resident = 31};
    struct tare_error error = {0};
    (void)state;
    ledger_close(&ledger, "settled", &(struct counted){.key = 10, .values = 20}, &prediction, NULL);
    assert_int_equal(ledger_check(&ledger, &error), -1);
    assert_string_equal(error.message, "internal: ledger 'settled': accounts sum to 30, "
                                       "total.allocated is 31");
    ledger_free(&ledger);
}

static void no_records_close_too(void **state)
{
    struct ledger ledger = {0};
    struct prediction prediction = {0};
    struct measurement measurement = {.has_allocated = true, .has_resident = true};
    struct tare_error error = {0};
    (void)state;
    ledger_close(&ledger, "settled", &(struct counted){0}, &prediction, &measurement);
    assert_int_equal(ledger_check(&ledger, &error), 0);
    assert_int_equal(ledger.count, 8);
    assert_true(ledger_share_allocated(&ledger) == 0);
    assert_true(ledger_share_resident(&ledger) == -1);
    ledger_free(&ledger);
}

static void amounts_of_one_account_are_one_row(void **state)
{
    struct ledger ledger = {0};
    struct prediction prediction = {.allocated = 70, .allocated_low = 60, .allocated_high = 90};
    struct tare_error error = {0};
    (void)state;
    amounts_add(&prediction.amounts, &account_object, BASIS_MODELLED, 10);
    amounts_add_range(&prediction.amounts, &account_object, BASIS_MODELLED, 30, 20, 50);
    amounts_add(&prediction.amounts, &account_object, BASIS_MODELLED, 30);
    ledger_close(&ledger, "settled", &(struct counted){0}, &prediction, NULL);
    const struct ledger_row *row = ledger_find(&ledger, &account_object);
    assert_int_equal(row->bytes, 70);
    assert_int_equal(row->low, 60);
    assert_int_equal(row->high, 90);
    assert_int_equal(ledger_check(&ledger, &error), 0);
    prediction_free(&prediction);
    ledger_free(&ledger);
}

/* One change each to a ledger that is right, and what the check says of it. */
static void basis_changed(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account == &account_object)
            ledger->rows[i].basis = BASIS_MEASURED;
}

static void byte_lost(struct ledger *ledger)
{
    ledger->rows[0].bytes--;
}

static void byte_lost_beyond(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account == &account_dirty_pages)
            ledger->rows[i].bytes--;
}

static void row_removed(struct ledger *ledger, const struct account *account)
{
    for (size_t i = 0; i < ledger->count; i++) {
        if (ledger->rows[i].account != account)
            continue;
        memmove(&ledger->rows[i], &ledger->rows[i + 1],
                (ledger->count - i - 1) * sizeof *ledger->rows);
        ledger->count--;
        return;
    }
}

static void residual_gone(struct ledger *ledger)
{
    row_removed(ledger, &account_unattributed_allocated);
}

static void resident_residual_gone(struct ledger *ledger)
{
    row_removed(ledger, &account_unattributed_resident);
}

static void base_gone(struct ledger *ledger)
{
    row_removed(ledger, &account_base_resident);
}

static void totals_gone(struct ledger *ledger)
{
    row_removed(ledger, &account_total_allocated);
    row_removed(ledger, &account_total_resident);
    row_removed(ledger, &account_unattributed_allocated);
    row_removed(ledger, &account_unattributed_resident);
}

static void resident_gone(struct ledger *ledger)
{
    row_removed(ledger, &account_total_resident);
    row_removed(ledger, &account_unattributed_resident);
    row_removed(ledger, &account_base_resident);
}

static void row_twice(struct ledger *ledger)
{
    ledger_put(ledger, &account_object, BASIS_DERIVED, 0);
}

static void rows_swapped(struct ledger *ledger)
{
    struct ledger_row row = ledger->rows[0];
    ledger->rows[0] = ledger->rows[1];
    ledger->rows[1] = row;
}

static void range_missed(struct ledger *ledger)
{
    ledger->rows[0].has_range = true;
    ledger->rows[0].low = ledger->rows[0].bytes + 1;
    ledger->rows[0].high = ledger->rows[0].bytes + 2;
}

static void overflowing(struct ledger *ledger)
{
    ledger->rows[0].bytes = INT64_MAX;
    ledger->rows[1].bytes = INT64_MAX;
}

static void total_predicted(struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account == &account_total_allocated)
            ledger->rows[i].basis = BASIS_MODELLED;
}

static void faults_are_found(void **state)
{
    static const struct {
        void (*change)(struct ledger *);
        const char *says;
    } faults[] = {
        {basis_changed, "account 'object': measured is no basis of stage structure"},
        {byte_lost, "accounts sum to 1867299, total.allocated is 1867300"},
        {byte_lost_beyond, "accounts sum to 1925119, total.resident is 1925120"},
        {residual_gone, "unattributed.allocated is missing"},
        {resident_residual_gone, "unattributed.resident is missing"},
        {base_gone, "base.resident is missing"},
        {totals_gone, "neither total.allocated nor total.resident is there"},
        {resident_gone, "accounts of stages allocator and process without total.resident"},
        {row_twice, "account 'object' is there twice"},
        {rows_swapped, "account 'key' stands after 'values'"},
        {range_missed, "account 'key': 22900 is outside its range 22901 to 22902"},
        {overflowing, "the accounts of 'total.allocated' sum to more than 64 bits hold"},
        {total_predicted, "account 'client buffers': measured is no basis of stage server in a "
                          "prediction"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        struct cell cell = {0};
        struct tare_error error = {0};
        sample_redis(&cell);
        faults[i].change(ledger_of(&cell));
        assert_int_equal(ledger_fault(ledger_of(&cell), &error), -1);
        assert_string_equal(error.message, faults[i].says);
        cell_free(&cell);
    }
}

static void gap_joins_both_sides(void **state)
{
    struct cell a = {0}, b = {0};
    struct gap gap;
    size_t alone_a = 0, alone_b = 0;
    (void)state;
    sample_redis(&a);
    sample_mongodb(&b);
    gap_of(&a, ledger_of(&a), &b, ledger_of(&b), &gap);
    for (size_t i = 0; i < gap.count; i++) {
        const struct gap_row *row = &gap.rows[i];
        assert_true(row->in_a || row->in_b);
        alone_a += row->in_a && !row->in_b;
        alone_b += row->in_b && !row->in_a;
        if (i)
            assert_true(account_place(gap.rows[i - 1].account) < account_place(row->account));
        if (row->account == &account_values)
            assert_true(row->a == 1000 && row->b == 1000);
        if (row->account == &account_framing)
            assert_true(!row->in_a && row->a == 0 && row->b == 85 && row->bytes_b == 85000);
    }
    assert_int_equal(alone_a, 8);
    assert_int_equal(alone_b, 6);
    /* Beside allocated, resident, the disk, in that order; in bytes, whatever the unit. */
    static const struct {
        const char *name;
        bool in_a;
        int64_t bytes;
    } figures[] = {{"used_memory", true, 2767300},
                   {"collStats.size", false, 1167800},
                   {"bytes currently in the cache", false, 1350000},
                   {"mem.resident", false, 118 << 20},
                   {"collStats.storageSize", false, 0}};
    assert_int_equal(gap.figure_count, sizeof figures / sizeof figures[0]);
    for (size_t i = 0; i < gap.figure_count; i++) {
        const struct gap_figure *figure = &gap.figures[i];
        assert_string_equal(figure->published->name, figures[i].name);
        assert_int_equal(figure->in_a, figures[i].in_a);
        assert_int_equal(figure->in_b, !figures[i].in_a);
        assert_int_equal(figures[i].in_a ? figure->a : figure->b, figures[i].bytes);
    }
    gap_free(&gap);
    cell_free(&a);
    cell_free(&b);
}

static void cells_are_found_by_name(void **state)
{
    struct report report;
    struct tare_error error = {0};
    (void)state;
    sample_report(&report);
    assert_ptr_equal(report_find(&report, "mongodb:document", &error), &report.cells[1]);
    assert_ptr_equal(report_find(&report, "index", &error), &report.cells[0]);
    assert_null(report_find(&report, "redis", &error));
    assert_string_equal(error.message, "'redis' is in the names of 2 cells: 'redis:hash@index', "
                                       "'redis:string+json'");
    assert_null(report_find(&report, "Redis", &error));
    assert_string_equal(error.message, "no cell 'Redis'; the report has 'redis:hash@index', "
                                       "'mongodb:document', 'redis:string+json'");
    assert_null(report_find(&report, NULL, &error));
    assert_string_equal(error.message,
                        "the report has 3 cells: add #CELL, one of 'redis:hash@index', "
                        "'mongodb:document', 'redis:string+json'");
    report_free(&report);
    sample_of(&report, sample_redis);
    assert_ptr_equal(report_find(&report, NULL, &error), &report.cells[0]);
    /* An exact name is found although others hold it. */
    sample_redis(report_add_cell(&report));
    free(report.cells[1].name);
    report.cells[1].name = memory_text("redis:hash@index (2)");
    assert_ptr_equal(report_find(&report, "redis:hash@index", &error), &report.cells[0]);
    report_free(&report);
    assert_null(report_find(&report, "x", &error));
    assert_string_equal(error.message, "the report has no cells");
}

static void many_candidates_fit_the_line(void **state)
{
    struct report report;
    struct tare_error error = {0};
    (void)state;
    sample_begin(&report);
    for (int i = 0; i < 200; i++)
        report_add_cell(&report)->name = memory_format("redis:string+json/redis-7.0.%d", i);
    assert_null(report_find(&report, "json", &error));
    assert_non_null(strstr(error.message, " and 189 more"));
    report_free(&report);
}

static void reports_are_checked(void **state)
{
    struct report report;
    struct tare_error error = {0};
    (void)state;
    sample_report(&report);
    assert_int_equal(report_check(&report, &error), 0);
    byte_lost(&report.cells[1].states[0]);
    assert_int_equal(report_check(&report, &error), -1);
    assert_string_equal(error.message, "cell 'mongodb:document', state 'settled': accounts sum to "
                                       "1281999, total.allocated is 1282000");
    report_free(&report);
    sample_report(&report);
    free(report.cells[1].name);
    report.cells[1].name = memory_text(report.cells[0].name);
    assert_int_equal(report_check(&report, &error), -1);
    assert_string_equal(error.message, "two cells have the name 'redis:hash@index'");
    report_free(&report);
}

static void notes_are_kept_once(void **state)
{
    struct ledger ledger = {0};
    (void)state;
    ledger_note(&ledger, "%d blocks", 3);
    ledger_note(&ledger, "%s", "3 blocks");
    ledger_note(&ledger, "4 blocks");
    assert_int_equal(ledger.note_count, 2);
    ledger_free(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_ledger_sums),
        cmocka_unit_test(errors_cannot_cancel_in_the_share),
        cmocka_unit_test(unseen_resident_ends_at_allocated),
        cmocka_unit_test(prediction_is_modelled_with_ranges),
        cmocka_unit_test(blocks_are_kept_by_kind_and_size),
        cmocka_unit_test(prediction_that_does_not_sum_is_a_fault),
        cmocka_unit_test(no_records_close_too),
        cmocka_unit_test(amounts_of_one_account_are_one_row),
        cmocka_unit_test(faults_are_found),
        cmocka_unit_test(gap_joins_both_sides),
        cmocka_unit_test(cells_are_found_by_name),
        cmocka_unit_test(many_candidates_fit_the_line),
        cmocka_unit_test(reports_are_checked),
        cmocka_unit_test(notes_are_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Encodings beside each other: ranked, and what would make each smaller. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "ledger/ranking.h"
#include "report/document.h"
#include "report/number.h"
#include "report/words.h"

/* Of several states the settled one stands for all, or the first. */
static bool stands_for_all(const struct rankings *rankings, size_t place)
{
    const struct ranking *ranking = &rankings->items[place];
    bool settled = strcmp(ranking->state, "settled") == 0;

    for (size_t i = 0; !settled && i < rankings->count; i++) {
        const struct ranking *other = &rankings->items[i];
        if (i != place && other->records == ranking->records &&
            strcmp(other->dataset, ranking->dataset) == 0 &&
            (i < place || strcmp(other->state, "settled") == 0))
            return false;
    }
    return true;
}

static void time_cell(struct table *table, double nanoseconds)
{
    char text[UNITS_SIZE];
    if (nanoseconds > 0 && nanoseconds < 1e15)
        table_cell(table, units_count(text, llround(nanoseconds)));
    else
        table_cell(table, TABLE_NONE);
}

static void add_ranking(struct document *document, const struct ranking *ranking, bool named)
{
    struct table table = {0};
    char ratio[UNITS_SIZE], records[UNITS_SIZE], signed_tenths[NUMBER_SIZE + 1];
    char *against = memory_format("of %s", words_cell(ranking->plain->cell));

    document_text(document, PART_HEADING,
                  "encodings by %s bytes a record%s%s%s%s; nanoseconds of processor time a record",
                  ranking->account == &account_total_resident ? "resident" : "allocated",
                  named ? ", " : "", named ? units_count(records, ranking->records) : "",
                  named ? " x " : "", named ? ranking->dataset : "");
    table_column(&table, "rank", true);
    table_column(&table, "encoding", false);
    table_column(&table, ranking->account == &account_total_resident ? "resident" : "allocated",
                 true);
    table_column(&table, against, true);
    table_column(&table, "difference", true);
    table_column(&table, "encode", true);
    table_column(&table, "decode", true);
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranked *item = &ranking->items[i];
        int64_t tenths = number_tenths(item->bytes, ranking->records) -
                         number_tenths(ranking->plain->bytes, ranking->records);
        table_row(&table, ROW_PLAIN);
        table_count(&table, item->rank);
        table_cell(&table, words_cell(item->cell));
        table_tenths(&table, number_tenths(item->bytes, ranking->records));
        table_cell(&table, item->ratio > 0 ? units_decimal(ratio, item->ratio, 3) : TABLE_NONE);
        signed_tenths[0] = '+';
        number_tenths_text(signed_tenths + 1, tenths);
        table_cell(&table, item == ranking->plain ? TABLE_NONE
                           : tenths > 0           ? signed_tenths
                                                  : signed_tenths + 1);
        time_cell(&table, item->cell->encode_ns);
        time_cell(&table, item->cell->decode_ns);
    }
    document_add(document, PART_TABLE)->table = table;
    free(against);
}

void document_rankings(struct document *document, const struct report *report, bool whole)
{
    struct rankings rankings;
    bool named = false;

    rankings_of(report, &rankings);
    for (size_t i = 1; i < rankings.count; i++)
        named = named || strcmp(rankings.items[i].dataset, rankings.items[0].dataset) != 0 ||
                rankings.items[i].records != rankings.items[0].records;
    for (size_t i = 0; i < rankings.count; i++)
        if (whole || stands_for_all(&rankings, i))
            add_ranking(document, &rankings.items[i], named);
    rankings_free(&rankings);
}

static void add_cell_advice(struct table *table, const struct cell *cell,
                            const struct ledger *ledger, const char *name)
{
    for (size_t i = 0; i < ledger->advice_count; i++) {
        const struct ledger_advice *advice = &ledger->advice[i];
        table_row(table, ROW_PLAIN);
        if (name)
            table_cell(table, i ? "" : name);
        if (advice->saved && cell->records > 0)
            table_tenths(table, number_tenths(advice->saved, cell_loaded_records(cell)));
        else
            table_cell(table, TABLE_NONE);
        table_cell(table, ledger->notes[advice->note]);
    }
}

void document_advice(struct document *document, const struct report *report)
{
    struct table table = {0};
    bool several = report->count > 1;

    if (several)
        table_column(&table, "bytes a record", false);
    table_column(&table, "saves", true);
    table_column(&table,
                 several ? "what would make it smaller"
                         : "what would make it smaller, bytes a record",
                 false);
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        for (size_t j = 0; j < cell->state_count; j++)
            add_cell_advice(&table, cell, &cell->states[j], several ? words_cell(cell) : NULL);
    }
    if (table.row_count)
        document_add(document, PART_TABLE)->table = table;
    else
        table_free(&table);
}

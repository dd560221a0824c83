/* A report: what was weighed, the cells beside each other, their ledgers. */
#include "report/document.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/number.h"
#include "report/words.h"

/* Width beyond which servers no longer share a line. */
#define LINE_WIDTH 100

static void add_servers(struct document *document, const struct texts *servers)
{
    struct buffer line = {0};

    for (size_t i = 0; i < servers->count; i++) {
        if (line.length && line.length + 3 + strlen(servers->items[i]) > LINE_WIDTH) {
            document_text(document, PART_LINE, "%s", line.data);
            buffer_clear(&line);
        }
        buffer_format(&line, "%s%s", line.length ? "   " : "", servers->items[i]);
    }
    if (line.length)
        document_text(document, PART_LINE, "%s", line.data);
    buffer_free(&line);
}

static size_t ledger_count(const struct report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        count += report->cells[i].state_count;
    return count;
}

/* The lines above everything: data, seed, servers; of cells that came to nothing only where there
 * are no others. */
static void add_lead(struct document *document, const struct report *report)
{
    struct texts data = {0}, servers = {0};
    bool any = ledger_count(report) > 0;

    for (size_t i = 0; i < report->count; i++) {
        if (any && report->cells[i].state_count == 0)
            continue;
        texts_add(&data, words_data(&report->cells[i]));
        texts_add(&servers, words_server(&report->cells[i].build));
    }
    for (size_t i = 0; i < data.count; i++) {
        char *seed = words_seed(report);
        document_text(document, PART_LINE, "%s%s", data.items[i], seed);
        free(seed);
    }
    add_servers(document, &servers);
    texts_free(&data);
    texts_free(&servers);
}

static int64_t payload_of(const struct ledger *ledger)
{
    return ledger_stage(ledger, STAGE_PAYLOAD);
}

struct comparison {
    bool states, data, records, measured; /* columns that are there */
};

static void cell_or_none(struct table *table, bool there, int64_t bytes, int64_t records)
{
    if (there && records > 0)
        table_tenths(table, number_tenths(bytes, records));
    else
        table_cell(table, TABLE_NONE);
}

static void range_cells(struct table *table, const struct ledger_row *row, int64_t records)
{
    cell_or_none(table, row && row->has_range, row ? row->low : 0, records);
    cell_or_none(table, row && row->has_range, row ? row->high : 0, records);
}

/* What memory the payload takes, over the payload: of resident where it is seen. */
static void factor_cell(struct table *table, const struct ledger *ledger)
{
    char text[UNITS_SIZE];
    const struct ledger_row *total = ledger_find(ledger, &account_total_resident);
    int64_t payload = payload_of(ledger);

    if (!total)
        total = ledger_find(ledger, &account_total_allocated);
    if (total && payload > 0)
        table_cell(table, units_decimal(text, (double)total->bytes / (double)payload, 1));
    else
        table_cell(table, TABLE_NONE);
}

static void add_comparison_row(struct table *table, const struct comparison *shown,
                               const struct cell *cell, const struct ledger *ledger, bool first)
{
    struct headline headline = ledger_headline(ledger);
    const struct ledger_row *allocated = ledger_find(ledger, &account_total_allocated);
    const struct ledger_row *resident = ledger_find(ledger, &account_total_resident);
    int64_t records = ledger_records(cell, ledger);
    char text[UNITS_SIZE];

    table_row(table, ROW_PLAIN);
    table_cell(table, words_cell(cell));
    if (shown->states)
        table_cell(table, ledger->state);
    if (shown->data)
        table_cell(table, cell->dataset ? cell->dataset : "");
    if (shown->records)
        table_count(table, records);
    cell_or_none(table, true, payload_of(ledger), records);
    cell_or_none(table, headline.has_predicted, headline.predicted, records);
    if (!shown->measured) {
        range_cells(table, allocated, records);
        cell_or_none(table, resident != NULL, resident ? resident->bytes : 0, records);
        range_cells(table, resident, records);
        factor_cell(table, ledger);
        return;
    }
    cell_or_none(table, headline.has_measured, headline.measured, records);
    table_cell(table, headline.has_measured && headline.has_predicted
                          ? units_signed_percent(text, headline.missed, 2)
                          : TABLE_NONE);
    cell_or_none(table, resident != NULL, resident ? resident->bytes : 0, records);
    factor_cell(table, ledger);
    int64_t rate;
    if (first && words_rate(cell, &rate))
        table_count(table, rate);
    else
        table_cell(table, TABLE_NONE);
    double share = ledger_share_resident(ledger);
    table_cell(table,
               share >= 0 && headline.has_measured ? units_percent(text, share, 2) : TABLE_NONE);
}

static struct comparison comparison_of(const struct report *report)
{
    struct comparison shown = {0};
    const char *state = NULL;
    struct texts data = {0};
    int64_t records = -1;

    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        if (cell->state_count)
            texts_add(&data, memory_text(cell->dataset ? cell->dataset : ""));
        for (size_t j = 0; j < cell->state_count; j++) {
            int64_t these = ledger_records(cell, &cell->states[j]);
            shown.records = shown.records || (records >= 0 && records != these);
            records = these;
            shown.states = shown.states || (state && strcmp(state, cell->states[j].state) != 0);
            state = cell->states[j].state;
            shown.measured = shown.measured || !ledger_is_prediction(&cell->states[j]);
        }
    }
    shown.data = data.count > 1;
    texts_free(&data);
    return shown;
}

static void add_comparison(struct document *document, const struct report *report)
{
    struct comparison shown = comparison_of(report);
    struct table table = {0};

    table_column(&table, "bytes a record", false);
    if (shown.states)
        table_column(&table, "state", false);
    if (shown.data)
        table_column(&table, "data", false);
    if (shown.records)
        table_column(&table, "records", true);
    table_column(&table, "payload", true);
    table_column(&table, "predicted", true);
    if (shown.measured) {
        table_column(&table, "measured", true);
        table_column(&table, "missed", true);
        table_column(&table, "resident", true);
        table_column(&table, "x payload", true);
        table_column(&table, "records/s", true);
        table_column(&table, "unattributed", true);
    } else {
        table_column(&table, "from", true);
        table_column(&table, "to", true);
        table_column(&table, "resident", true);
        table_column(&table, "from", true);
        table_column(&table, "to", true);
        table_column(&table, "x payload", true);
    }
    for (size_t i = 0; i < report->count; i++)
        for (size_t j = 0; j < report->cells[i].state_count; j++)
            add_comparison_row(&table, &shown, &report->cells[i], &report->cells[i].states[j],
                               j == 0);
    if (table.row_count)
        document_add(document, PART_TABLE)->table = table;
    else
        table_free(&table);
}

/* What a cell takes on disk, beside its memory. */
static void add_disks(struct document *document, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++)
        for (size_t j = 0; j < report->cells[i].state_count; j++) {
            const struct cell *cell = &report->cells[i];
            const struct ledger *ledger = &cell->states[j];
            char *disk = words_disk(cell, ledger);
            if (disk)
                document_text(document, PART_LINE, "%s%s%s, %s", words_cell(cell),
                              cell->state_count > 1 ? ", " : "",
                              cell->state_count > 1 ? ledger->state : "", disk);
            free(disk);
        }
}

static void add_broken(struct document *document, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        if (!cell->complete)
            document_text(document, PART_NOTE, "%s is incomplete: %s", words_cell(cell),
                          cell->error && cell->error[0] ? cell->error : "it was not finished");
    }
}

/* Every note once, after the names of the cells that have it. */
static void add_notes(struct document *document, const struct report *report)
{
    struct texts all = {0};
    struct texts *of_cells = memory_new((report->count + 1) * sizeof *of_cells);

    for (size_t i = 0; i < report->count; i++) {
        for (size_t j = 0; j < report->cells[i].state_count; j++)
            words_notes(&report->cells[i].states[j], &of_cells[i]);
        for (size_t k = 0; k < of_cells[i].count; k++)
            texts_add(&all, memory_text(of_cells[i].items[k]));
    }
    for (size_t n = 0; n < all.count; n++) {
        struct buffer names = {0};
        for (size_t i = 0; i < report->count; i++)
            if (texts_have(&of_cells[i], all.items[n]))
                buffer_format(&names, "%s%s", names.length ? ", " : "",
                              words_cell(&report->cells[i]));
        document_text(document, PART_NOTE, "%s: %s", names.data, all.items[n]);
        buffer_free(&names);
    }
    for (size_t i = 0; i < report->count; i++)
        texts_free(&of_cells[i]);
    free(of_cells);
    texts_free(&all);
}

static void add_bars(struct document *document, const struct report *report)
{
    struct document_part *part = document_add(document, PART_BARS);

    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        for (size_t j = 0; j < cell->state_count; j++) {
            const struct ledger *ledger = &cell->states[j];
            int64_t records = ledger_records(cell, ledger);
            const struct ledger_row *total = ledger_find(ledger, &account_total_resident);
            if (!total)
                total = ledger_find(ledger, &account_total_allocated);
            if (!total || records <= 0)
                continue;
            MEMORY_GROW(part->bars, part->bar_count, part->bar_capacity);
            struct bar *bar = &part->bars[part->bar_count++];
            *bar = (struct bar){.total = number_tenths(total->bytes, records)};
            bar->name = cell->state_count > 1
                            ? memory_format("%s, %s", words_cell(cell), ledger->state)
                            : memory_text(words_cell(cell));
            for (size_t s = 0; s < BAR_SEGMENTS; s++)
                bar->tenths[s] = number_tenths(
                    ledger_stage(ledger, s <= STAGE_PROCESS ? (enum stage)s : STAGE_RESIDUAL),
                    records);
        }
    }
}

static void add_environment(struct document *document, const struct report *report)
{
    struct buffer line = {0};

    if (report->command_line)
        document_text(document, PART_LINE, "command: %s", report->command_line);
    if (report->created || report->tare_version)
        document_text(document, PART_LINE, "tare %s%s%s",
                      report->tare_version ? report->tare_version : "", report->created ? ", " : "",
                      report->created ? report->created : "");
    for (size_t i = 0; i < report->environment.count; i++) {
        const struct figure *figure = &report->environment.items[i];
        char *value = words_figure(figure);
        buffer_format(&line, "%s%s %s", i ? "; " : "", figure->name, value);
        free(value);
    }
    if (line.length)
        document_text(document, PART_LINE, "environment: %s", line.data);
    buffer_free(&line);
}

void document_of_report(struct document *document, const struct report *report,
                        const struct report_style *style, bool whole)
{
    size_t ledgers = ledger_count(report);
    bool compared = ledgers > 1 || report->count > 1;

    *document = (struct document){0};
    document_text(document, PART_TITLE, "%s", "tare: every byte accounted for");
    if (report->count == 0)
        document_text(document, PART_LINE, "%s", "no cell was weighed");
    add_lead(document, report);
    if (compared) {
        add_comparison(document, report);
        document_workloads(document, report);
        add_disks(document, report);
        add_broken(document, report);
        add_notes(document, report);
        document_rankings(document, report, whole);
        document_advice(document, report);
    } else {
        add_broken(document, report);
    }
    if (ledgers)
        add_bars(document, report);
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        if (report->count == 1 || whole || style->verbose > 0)
            for (size_t j = 0; j < cell->state_count; j++)
                document_ledger(document, report, cell, &cell->states[j], j == 0, !compared,
                                style->verbose > 0);
    }
    if (!compared)
        document_advice(document, report);
    if (whole || style->verbose > 0)
        add_environment(document, report);
}

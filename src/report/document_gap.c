/* The gap of two cells, account by account. */
#include "report/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/number.h"
#include "report/view.h"
#include "report/words.h"

/* The heading of a side: the cell's name, and the first thing that tells it from the other one. */
static char *side_heading(const struct cell *cell, const struct ledger *ledger,
                          const struct cell *other, const struct ledger *other_ledger,
                          size_t number)
{
    if (strcmp(words_cell(cell), words_cell(other)) != 0)
        return memory_text(words_cell(cell));
    if (strcmp(ledger->state, other_ledger->state) != 0)
        return memory_format("%s, %s", words_cell(cell), ledger->state);
    if (strcmp(cell->build.version, other->build.version) != 0 && cell->build.version[0] &&
        other->build.version[0])
        return memory_format("%s, %s", words_cell(cell), cell->build.version);
    return memory_format("%s (%zu)", words_cell(cell), number);
}

static void side_line(struct document *document, const char *heading, const struct cell *cell,
                      const struct ledger *ledger)
{
    char *data = words_data(cell), *server = words_server(&cell->build);
    bool prediction = ledger_is_prediction(ledger);
    const char *settings = ledger_settings(cell, ledger);

    document_text(document, PART_LINE, "%s: %s, %s; %s%s%s", heading, data,
                  prediction ? "predicted" : ledger->state, server, settings[0] ? "; " : "",
                  settings);
    free(data);
    free(server);
}

/* Whether a side can say anything of this line: its ledger may end before. */
static bool side_reaches(const struct view *view, size_t side, const struct account *account)
{
    if (account == &account_total_allocated || account == &account_unattributed_allocated)
        return view->has_allocated[side];
    if (account->stage <= STAGE_SERVER)
        return true;
    return view->has_resident[side];
}

static void gap_cells(struct table *table, const struct view *view, size_t i,
                      const int64_t *records)
{
    const struct view_line *line = &view->lines[i];
    bool known = records[0] > 0 && records[1] > 0;

    view_name_cells(table, view, i);
    for (size_t s = 0; s < 2; s++) {
        if (line->in[s] && records[s] > 0)
            table_tenths(table, line->tenths[s]);
        else
            table_cell(table, TABLE_NONE);
        known = known && side_reaches(view, s, line->account);
    }
    if (known)
        table_tenths(table, line->tenths[0] - line->tenths[1]);
    else
        table_cell(table, TABLE_NONE);
    if (line->in[0] && line->in[1] && line->basis[0] != line->basis[1]) {
        char both[NUMBER_SIZE];
        snprintf(both, sizeof both, "%s, %s", basis_names[line->basis[0]],
                 basis_names[line->basis[1]]);
        table_cell(table, both);
    } else {
        table_cell(table, basis_names[line->basis[line->in[0] ? 0 : 1]]);
    }
}

static void share_row(struct table *table, const char *of, const struct ledger *const *ledgers,
                      double (*share)(const struct ledger *))
{
    char text[UNITS_SIZE];

    table_row(table, ROW_PLAIN);
    table_cell(table, "");
    table_cell(table, of);
    for (size_t s = 0; s < 2; s++) {
        double value = share(ledgers[s]);
        table_cell(table, ledger_is_prediction(ledgers[s]) || value < 0
                              ? TABLE_NONE
                              : units_percent(text, value, 2));
    }
    table_cell(table, "");
    table_cell(table, "");
}

static void add_largest(struct document *document, const struct view *view, const int64_t *records)
{
    const struct view_line *largest = NULL;
    char text[NUMBER_SIZE];

    if (records[0] <= 0 || records[1] <= 0)
        return;
    for (size_t i = 0; i < view->count; i++) {
        const struct view_line *line = &view->lines[i];
        if (line->total || !side_reaches(view, 0, line->account) ||
            !side_reaches(view, 1, line->account))
            continue;
        if (!largest || llabs(line->tenths[0] - line->tenths[1]) >
                            llabs(largest->tenths[0] - largest->tenths[1]))
            largest = line;
    }
    if (!largest)
        return;
    int64_t gap = largest->tenths[0] - largest->tenths[1];
    if (gap == 0)
        document_text(document, PART_LINE, "%s", "no account differs");
    else
        document_text(document, PART_LINE, "largest: %s, %s%s bytes a record",
                      largest->account->name, gap > 0 ? "+" : "", number_tenths_text(text, gap));
}

static void figure_cells(struct table *table, bool in, int64_t bytes, const struct ledger *ledger,
                         const struct published *published, int64_t records)
{
    const struct ledger_row *total =
        published->total ? ledger_find(ledger, published->total) : NULL;
    char text[UNITS_SIZE];

    if (in && records > 0)
        table_tenths(table, number_tenths(bytes, records));
    else
        table_cell(table, TABLE_NONE);
    table_cell(table, in && total && total->bytes > 0
                          ? units_percent(text, (double)bytes / (double)total->bytes, 1)
                          : TABLE_NONE);
}

/* What others would have published, beside each total: which figures a headline compared. */
static void add_figures(struct document *document, const struct gap *gap,
                        const struct cell *const *cells, const struct ledger *const *ledgers,
                        char *const *headings)
{
    struct table table = {0};

    table_column(&table, "beside", false);
    table_column(&table, "as the server shows it", false);
    for (size_t s = 0; s < 2; s++) {
        table_column(&table, headings[s], true);
        table_column(&table, "of total", true);
    }
    for (size_t i = 0; i < gap->figure_count; i++) {
        const struct gap_figure *figure = &gap->figures[i];
        const struct account *total = figure->published->total;
        bool repeated = i > 0 && gap->figures[i - 1].published->total == total;
        table_row(&table, ROW_PLAIN);
        table_cell(&table, repeated                            ? ""
                           : !total                            ? "on disk"
                           : total == &account_total_allocated ? "allocated"
                                                               : "resident");
        table_cell(&table, figure->published->name);
        figure_cells(&table, figure->in_a, figure->a, ledgers[0], figure->published,
                     ledger_records(cells[0], ledgers[0]));
        figure_cells(&table, figure->in_b, figure->b, ledgers[1], figure->published,
                     ledger_records(cells[1], ledgers[1]));
    }
    if (gap->figure_count) {
        document_text(document, PART_LINE, "%s",
                      "what is published as memory or size, bytes a record, the empty server "
                      "included:");
        document_add(document, PART_TABLE)->table = table;
    } else {
        table_free(&table);
    }
}

void document_of_gap(struct document *document, const struct cell *a, const struct ledger *state_a,
                     const struct cell *b, const struct ledger *state_b,
                     const struct report_style *style)
{
    const struct cell *const cells[2] = {a, b};
    const struct ledger *const ledgers[2] = {state_a, state_b};
    const int64_t records[2] = {ledger_records(a, state_a), ledger_records(b, state_b)};
    char *headings[2] = {side_heading(a, state_a, b, state_b, 1),
                         side_heading(b, state_b, a, state_a, 2)};
    struct table table = {0};
    struct view view;
    struct gap gap;

    *document = (struct document){0};
    document_text(document, PART_TITLE, "%s against %s", headings[0], headings[1]);
    for (size_t s = 0; s < 2; s++)
        side_line(document, headings[s], cells[s], ledgers[s]);
    table_column(&table, "stage", false);
    table_column(&table, "bytes a record", false);
    table_column(&table, headings[0], true);
    table_column(&table, headings[1], true);
    table_column(&table, "gap", true);
    table_column(&table, "basis", false);
    view_of(&view, cells, ledgers, 2);
    for (size_t i = 0; i < view.count; i++)
        gap_cells(&table, &view, i, records);
    if (!ledger_is_prediction(state_a) || !ledger_is_prediction(state_b)) {
        if (view.has_resident[0] || view.has_resident[1])
            share_row(&table, "unattributed, of resident", ledgers, ledger_share_resident);
        else
            share_row(&table, "unattributed, of allocated", ledgers, ledger_share_allocated);
    }
    document_add(document, PART_TABLE)->table = table;
    add_largest(document, &view, records);
    gap_of(a, state_a, b, state_b, &gap);
    add_figures(document, &gap, cells, ledgers, headings);
    if (style->explain)
        document_explanation(document, &view, &gap, ledgers, headings, records);
    gap_free(&gap);
    free(view.lines);
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < ledgers[s]->note_count; i++)
            if (!ledger_advice_of(ledgers[s], i))
                document_text(document, PART_NOTE, "%s: %s", headings[s], ledgers[s]->notes[i]);
        if (!cells[s]->complete)
            document_text(document, PART_NOTE, "%s is incomplete: %s", headings[s],
                          cells[s]->error ? cells[s]->error : "it was not finished");
        free(headings[s]);
    }
}

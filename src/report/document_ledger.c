/* One ledger, whole. */
#include "report/document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/number.h"
#include "report/view.h"
#include "report/words.h"

static void add_ledger_table(struct document *document, const struct cell *cell,
                             const struct ledger *ledger)
{
    struct table table = {0};
    struct view view;
    bool ranges = false, spreads = false, marginals = false;

    for (size_t i = 0; i < ledger->count; i++) {
        ranges = ranges || ledger->rows[i].has_range;
        spreads = spreads || ledger->rows[i].has_spread;
        marginals = marginals || ledger->rows[i].has_marginal;
    }
    table_column(&table, "stage", false);
    table_column(&table, "account", false);
    table_column(&table, "bytes", true);
    if (ranges) {
        table_column(&table, "from", true);
        table_column(&table, "to", true);
    }
    if (spreads) {
        table_column(&table, "lowest run", true);
        table_column(&table, "highest run", true);
    }
    table_column(&table, "a record", true);
    if (marginals)
        table_column(&table, "marginal", true);
    table_column(&table, "basis", false);
    view_of(&view, &cell, &ledger, 1);
    for (size_t i = 0; i < view.count; i++) {
        const struct view_line *line = &view.lines[i];
        const struct ledger_row *row = ledger_find(ledger, line->account);
        char text[NUMBER_SIZE];
        view_name_cells(&table, &view, i);
        table_count(&table, row->bytes);
        for (int high = 0; ranges && high < 2; high++) {
            if (row->has_range)
                table_count(&table, high ? row->high : row->low);
            else
                table_cell(&table, "");
        }
        for (int high = 0; spreads && high < 2; high++) {
            if (row->has_spread)
                table_count(&table, high ? row->spread_high : row->spread_low);
            else
                table_cell(&table, "");
        }
        if (ledger_records(cell, ledger) > 0)
            table_tenths(&table, line->tenths[0]);
        else
            table_cell(&table, TABLE_NONE);
        if (marginals)
            table_cell(&table, row->has_marginal ? units_decimal(text, row->marginal, 1) : "");
        table_cell(&table, basis_names[row->basis]);
    }
    free(view.lines);
    document_add(document, PART_TABLE)->table = table;
}

static void add_headline(struct document *document, const struct cell *cell,
                         const struct ledger *ledger)
{
    struct headline headline = ledger_headline(ledger);
    char a[NUMBER_SIZE], b[NUMBER_SIZE], c[UNITS_SIZE], d[UNITS_SIZE];

    if (!headline.has_measured && ledger_is_prediction(ledger))
        return;
    if (headline.has_predicted && headline.has_measured && ledger_records(cell, ledger) > 0)
        document_text(
            document, PART_LINE, "predicted %s, measured %s bytes a record, missed %s",
            number_tenths_text(a, number_tenths(headline.predicted, ledger_records(cell, ledger))),
            number_tenths_text(b, number_tenths(headline.measured, ledger_records(cell, ledger))),
            units_signed_percent(c, headline.missed, 2));
    double resident = ledger_share_resident(ledger);
    units_percent(c, ledger_share_allocated(ledger), 2);
    if (resident >= 0 && headline.has_measured)
        document_text(document, PART_LINE, "unattributed: %s of allocated, %s of resident", c,
                      units_percent(d, resident, 2));
    else if (resident >= 0)
        document_text(document, PART_LINE, "unattributed: %s of resident",
                      units_percent(d, resident, 2));
    else
        document_text(document, PART_LINE, "unattributed: %s of allocated", c);
    const struct ledger_row *allocated = ledger_find(ledger, &account_base_allocated);
    const struct ledger_row *base = ledger_find(ledger, &account_base_resident);
    if (allocated && base)
        document_text(document, PART_LINE, "base, the empty server: %s allocated, %s resident",
                      units_bytes(c, allocated->bytes), units_bytes(d, base->bytes));
    else if (allocated || base)
        document_text(document, PART_LINE, "base, the empty server: %s %s",
                      units_bytes(c, (allocated ? allocated : base)->bytes),
                      allocated ? "allocated" : "resident");
}

static void add_subtotal(struct document *document, const struct cell *cell,
                         const struct ledger *ledger)
{
    char count[UNITS_SIZE], tenths[NUMBER_SIZE];

    if (!ledger->subtotal_name || ledger->subtotal == 0)
        return;
    units_count(count, ledger->subtotal);
    if (ledger_records(cell, ledger) > 0)
        document_text(document, PART_LINE, "on the way, %s: %s bytes, %s a record",
                      ledger->subtotal_name, count,
                      number_tenths_text(
                          tenths, number_tenths(ledger->subtotal, ledger_records(cell, ledger))));
    else
        document_text(document, PART_LINE, "on the way, %s: %s bytes", ledger->subtotal_name,
                      count);
}

static void add_load(struct document *document, const struct cell *cell)
{
    char rate[UNITS_SIZE], a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE];

    int64_t records_a_second;
    if (!words_rate(cell, &records_a_second))
        return;
    document_text(document, PART_LINE,
                  "loaded in %s s, %s records/s; processor time: %s s in tare, %s s in the server",
                  units_decimal(a, cell->load_seconds, 2), units_count(rate, records_a_second),
                  units_decimal(b, cell->client_cpu_seconds, 2),
                  units_decimal(c, cell->server_cpu_seconds, 2));
}

static void add_disk(struct document *document, const struct cell *cell,
                     const struct ledger *ledger)
{
    char *disk = words_disk(cell, ledger);
    if (disk)
        document_text(document, PART_LINE, "%s", disk);
    free(disk);
}

/* What only a prediction tells. */
static void add_steps(struct document *document, const struct ledger *ledger)
{
    char a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE];

    if (ledger->peak_allocated > 0)
        document_text(
            document, PART_LINE, "peak while the key table rehashes: %s allocated, %s bytes",
            units_bytes(a, ledger->peak_allocated), units_count(b, ledger->peak_allocated));
    for (size_t i = 0; i < ledger->step_count; i++) {
        const struct table_step *step = &ledger->steps[i];
        units_count(a, step->records);
        units_bytes(b, step->bytes);
        if (step->freed_after)
            document_text(document, PART_LINE, "table step at %s records: +%s, later -%s", a, b,
                          units_bytes(c, step->freed_after));
        else
            document_text(document, PART_LINE, "table step at %s records: +%s", a, b);
    }
}

static void add_evidence(struct document *document, const struct ledger *ledger)
{
    const struct evidence *evidence = &ledger->evidence;
    struct table table = {0};

    if (evidence->count == 0)
        return;
    table_column(&table, "size class", true);
    table_column(&table, "blocks predicted", true);
    table_column(&table, "blocks counted", true);
    table_column(&table, "apart", true);
    for (size_t i = 0; i < evidence->count; i++) {
        const struct evidence_row *row = &evidence->rows[i];
        table_row(&table, ROW_PLAIN);
        table_count(&table, row->size);
        table_count(&table, row->predicted);
        table_count(&table, row->counted);
        table_count(&table, (int64_t)((uint64_t)row->counted - (uint64_t)row->predicted));
    }
    document_text(document, PART_LINE, "blocks by size class, by %s:",
                  evidence->source ? evidence->source : "the server");
    document_add(document, PART_TABLE)->table = table;
}

static void add_inputs(struct document *document, const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->inputs.count; i++) {
        const struct figure *figure = &ledger->inputs.items[i];
        size_t length = strlen(figure->name);
        if (length > 7 && strcmp(figure->name + length - 7, ".source") == 0)
            continue;
        char *name = memory_format("%s.source", figure->name);
        const char *source = figures_get_text(&ledger->inputs, name);
        char *value = words_figure(figure);
        document_text(document, PART_LINE, "state input %s = %s%s%s", figure->name, value,
                      source ? ", from " : "", source ? source : "");
        free(value);
        free(name);
    }
}

void document_ledger(struct document *document, const struct report *report,
                     const struct cell *cell, const struct ledger *ledger, bool first, bool alone,
                     bool verbose)
{
    document_text(document, PART_HEADING, "%s, %s%s", words_cell(cell),
                  ledger_is_prediction(ledger) ? "predicted" : ledger->state,
                  cell->complete ? "" : " (incomplete)");
    if (!alone) {
        char *data = words_data(cell), *server = words_server(&cell->build);
        char *seed = words_seed(report);
        document_text(document, PART_LINE, "%s%s; %s", data, seed, server);
        free(data);
        free(seed);
        free(server);
    }
    if (ledger_settings(cell, ledger)[0])
        document_text(document, PART_LINE, "settings: %s", ledger_settings(cell, ledger));
    add_ledger_table(document, cell, ledger);
    add_headline(document, cell, ledger);
    add_subtotal(document, cell, ledger);
    add_disk(document, cell, ledger);
    add_steps(document, ledger);
    if (first)
        add_load(document, cell);
    if (cell->repeats > 1)
        document_text(document, PART_LINE, "the run with the median total of %" PRId64,
                      cell->repeats);
    if (verbose)
        add_inputs(document, ledger);
    if (alone) {
        struct texts notes = {0};
        words_notes(ledger, &notes);
        for (size_t i = 0; i < notes.count; i++)
            document_text(document, PART_NOTE, "%s", notes.items[i]);
        texts_free(&notes);
    }
    if (verbose)
        add_evidence(document, ledger);
}

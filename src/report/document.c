#include "report/document.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/number.h"

const char *const bar_segment_names[BAR_SEGMENTS] = {"payload",  "encoding",    "structure",
                                                     "rounding", "server",      "allocator",
                                                     "process",  "unattributed"};

/* A figure that can't be told. */
#define NONE "-"

/* Where blocks predicted and counted of a size class differ by more than this share of all blocks,
 * the report names the class. */
#define EVIDENCE_SHARE 0.01

/* ---- parts and tables ---- */

static struct document_part *add_part(struct document *document, enum part_kind kind)
{
    MEMORY_GROW(document->parts, document->count, document->capacity);
    struct document_part *part = &document->parts[document->count++];
    *part = (struct document_part){.kind = kind};
    return part;
}

static void add_text(struct document *document, enum part_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_text(struct document *document, enum part_kind kind, const char *format, ...)
{
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t size = length > 0 ? (size_t)length + 1 : 1;
    char *text = memory_new(size);
    vsnprintf(text, size, format, again);
    va_end(again);
    add_part(document, kind)->text = text;
}

static void table_column(struct table *table, const char *heading, bool right)
{
    MEMORY_GROW(table->columns, table->column_count, table->column_capacity);
    table->columns[table->column_count++] =
        (struct table_column){.heading = memory_text(heading), .right = right};
}

static void table_row(struct table *table, enum row_kind kind)
{
    MEMORY_GROW(table->rows, table->row_count, table->row_capacity);
    table->rows[table->row_count++] = kind;
}

static void table_cell(struct table *table, const char *text)
{
    MEMORY_GROW(table->cells, table->cell_count, table->cell_capacity);
    table->cells[table->cell_count++] = memory_text(text);
}

static void table_count(struct table *table, int64_t number)
{
    char text[UNITS_SIZE];
    table_cell(table, units_count(text, number));
}

static void table_tenths(struct table *table, int64_t tenths)
{
    char text[NUMBER_SIZE];
    table_cell(table, number_tenths_text(text, tenths));
}

static void table_free(struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].heading);
    free(table->columns);
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->rows);
}

void document_free(struct document *document)
{
    for (size_t i = 0; i < document->count; i++) {
        struct document_part *part = &document->parts[i];
        free(part->text);
        table_free(&part->table);
        for (size_t j = 0; j < part->bar_count; j++)
            free(part->bars[j].name);
        free(part->bars);
    }
    free(document->parts);
    *document = (struct document){0};
}

/* ---- what was weighed, in words ---- */

static const char *cell_label(const struct cell *cell)
{
    return cell->name && cell->name[0] ? cell->name : cell->encoding ? cell->encoding : "cell";
}

/* "100,000 ycsb records, 10 fields x 100 bytes" */
static char *data_text(const struct cell *cell)
{
    char count[UNITS_SIZE];
    bool named = cell->dataset && cell->dataset[0];
    bool summary = cell->dataset_summary && cell->dataset_summary[0];

    return memory_format("%s %s%srecords%s%s", units_count(count, cell->records),
                         named ? cell->dataset : "", named ? " " : "", summary ? ", " : "",
                         summary ? cell->dataset_summary : "");
}

/* "redis 7.0.15 (jemalloc-5.3.0, quantum 16)", "mongodb 6.0.5 (in memory, tcmalloc)" */
static char *server_text(const struct build *build)
{
    struct buffer out = {0};
    const char *engine = strcmp(build->engine, "memory") == 0 ? "in memory"
                         : strcmp(build->engine, "disk") == 0 ? "on disk"
                                                              : build->engine;
    const char *between = " (";

    buffer_text(&out, build->store[0] ? build->store : "unknown server");
    if (build->version[0])
        buffer_format(&out, " %s", build->version);
    if (engine[0]) {
        buffer_format(&out, "%s%s", between, engine);
        between = ", ";
    }
    if (build->allocator[0]) {
        buffer_format(&out, "%s%s", between, build->allocator);
        between = ", ";
        if (build->quantum > 0 && strncmp(build->allocator, "jemalloc", 8) == 0)
            buffer_format(&out, "%squantum %d", between, build->quantum);
    }
    if (between[0] == ',')
        buffer_byte(&out, ')');
    return buffer_steal(&out);
}

/* A set of texts in the order in which they came. */
struct texts {
    char **items;
    size_t count, capacity;
};

static void texts_add(struct texts *texts, char *text)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i], text) == 0) {
            free(text);
            return;
        }
    }
    MEMORY_GROW(texts->items, texts->count, texts->capacity);
    texts->items[texts->count++] = text;
}

static void texts_free(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
}

/* Width beyond which servers no longer share a line. */
#define LINE_WIDTH 100

static void add_servers(struct document *document, const struct texts *servers)
{
    struct buffer line = {0};

    for (size_t i = 0; i < servers->count; i++) {
        if (line.length && line.length + 3 + strlen(servers->items[i]) > LINE_WIDTH) {
            add_text(document, PART_LINE, "%s", line.data);
            buffer_clear(&line);
        }
        buffer_format(&line, "%s%s", line.length ? "   " : "", servers->items[i]);
    }
    if (line.length)
        add_text(document, PART_LINE, "%s", line.data);
    buffer_free(&line);
}

/* ", seed 1"; nothing where it isn't known */
static char *seed_text(const struct report *report)
{
    return report->seed_unknown ? memory_text("") : memory_format(", seed %" PRId64, report->seed);
}

/* The lines above everything: data, seed, servers. */
static void add_lead(struct document *document, const struct report *report)
{
    struct texts data = {0}, servers = {0};

    for (size_t i = 0; i < report->count; i++) {
        texts_add(&data, data_text(&report->cells[i]));
        texts_add(&servers, server_text(&report->cells[i].build));
    }
    for (size_t i = 0; i < data.count; i++) {
        char *seed = seed_text(report);
        add_text(document, PART_LINE, "%s%s", data.items[i], seed);
        free(seed);
    }
    add_servers(document, &servers);
    texts_free(&data);
    texts_free(&servers);
}

/* ---- the comparison of cells ---- */

static int64_t payload_of(const struct ledger *ledger)
{
    return ledger_stage(ledger, STAGE_PAYLOAD);
}

struct comparison {
    bool states, data, measured; /* columns that are there */
};

static void cell_or_none(struct table *table, bool there, int64_t bytes, int64_t records)
{
    if (there && records > 0)
        table_tenths(table, number_tenths(bytes, records));
    else
        table_cell(table, NONE);
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
        table_cell(table, NONE);
}

static void add_comparison_row(struct table *table, const struct comparison *shown,
                               const struct cell *cell, const struct ledger *ledger, bool first)
{
    struct headline headline = ledger_headline(ledger);
    const struct ledger_row *allocated = ledger_find(ledger, &account_total_allocated);
    const struct ledger_row *resident = ledger_find(ledger, &account_total_resident);
    int64_t records = cell->records;
    char text[UNITS_SIZE];

    table_row(table, ROW_PLAIN);
    table_cell(table, cell_label(cell));
    if (shown->states)
        table_cell(table, ledger->state);
    if (shown->data) {
        char *data = data_text(cell);
        table_cell(table, data);
        free(data);
    }
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
                          : NONE);
    cell_or_none(table, resident != NULL, resident ? resident->bytes : 0, records);
    factor_cell(table, ledger);
    if (first && cell->load_seconds > 0)
        table_count(table, llround((double)records / cell->load_seconds));
    else
        table_cell(table, NONE);
    double share = ledger_share_resident(ledger);
    table_cell(table, share >= 0 && headline.has_measured ? units_percent(text, share, 2) : NONE);
}

static struct comparison comparison_of(const struct report *report)
{
    struct comparison shown = {0};
    const char *state = NULL;
    struct texts data = {0};

    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        texts_add(&data, data_text(cell));
        for (size_t j = 0; j < cell->state_count; j++) {
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
        add_part(document, PART_TABLE)->table = table;
    else
        table_free(&table);
}

static void add_broken(struct document *document, const struct report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        if (!cell->complete)
            add_text(document, PART_NOTE, "%s is incomplete: %s", cell_label(cell),
                     cell->error && cell->error[0] ? cell->error : "it was not finished");
    }
}

/* A ledger's notes, and a note for each size class whose blocks model and server count
 * differently. */
static void ledger_notes(const struct ledger *ledger, struct texts *notes)
{
    const struct evidence *evidence = &ledger->evidence;
    double blocks = 0;

    for (size_t i = 0; i < ledger->note_count; i++)
        texts_add(notes, memory_text(ledger->notes[i]));
    for (size_t i = 0; i < evidence->count; i++)
        blocks += fabs((double)evidence->rows[i].counted);
    for (size_t i = 0; i < evidence->count; i++) {
        const struct evidence_row *row = &evidence->rows[i];
        char size[UNITS_SIZE], predicted[UNITS_SIZE], counted[UNITS_SIZE];
        if (fabs((double)row->counted - (double)row->predicted) > EVIDENCE_SHARE * blocks)
            texts_add(notes,
                      memory_format("size class %s: the model has %s blocks, the server %s (%s)",
                                    units_count(size, row->size),
                                    units_count(predicted, row->predicted),
                                    units_count(counted, row->counted),
                                    evidence->source ? evidence->source : "evidence"));
    }
}

static bool texts_have(const struct texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], text) == 0)
            return true;
    return false;
}

/* Every note once, after the names of the cells that have it. */
static void add_notes(struct document *document, const struct report *report)
{
    struct texts all = {0};
    struct texts *of_cells = memory_new((report->count + 1) * sizeof *of_cells);

    for (size_t i = 0; i < report->count; i++) {
        for (size_t j = 0; j < report->cells[i].state_count; j++)
            ledger_notes(&report->cells[i].states[j], &of_cells[i]);
        for (size_t k = 0; k < of_cells[i].count; k++)
            texts_add(&all, memory_text(of_cells[i].items[k]));
    }
    for (size_t n = 0; n < all.count; n++) {
        struct buffer names = {0};
        for (size_t i = 0; i < report->count; i++)
            if (texts_have(&of_cells[i], all.items[n]))
                buffer_format(&names, "%s%s", names.length ? ", " : "",
                              cell_label(&report->cells[i]));
        add_text(document, PART_NOTE, "%s: %s", names.data, all.items[n]);
        buffer_free(&names);
    }
    for (size_t i = 0; i < report->count; i++)
        texts_free(&of_cells[i]);
    free(of_cells);
    texts_free(&all);
}

static void add_bars(struct document *document, const struct report *report)
{
    struct document_part *part = add_part(document, PART_BARS);

    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        for (size_t j = 0; j < cell->state_count && cell->records > 0; j++) {
            const struct ledger *ledger = &cell->states[j];
            const struct ledger_row *total = ledger_find(ledger, &account_total_resident);
            if (!total)
                total = ledger_find(ledger, &account_total_allocated);
            if (!total)
                continue;
            MEMORY_GROW(part->bars, part->bar_count, part->bar_capacity);
            struct bar *bar = &part->bars[part->bar_count++];
            *bar = (struct bar){.total = number_tenths(total->bytes, cell->records)};
            bar->name = cell->state_count > 1
                            ? memory_format("%s, %s", cell_label(cell), ledger->state)
                            : memory_text(cell_label(cell));
            for (size_t s = 0; s < BAR_SEGMENTS; s++)
                bar->tenths[s] = number_tenths(
                    ledger_stage(ledger, s <= STAGE_PROCESS ? (enum stage)s : STAGE_RESIDUAL),
                    cell->records);
        }
    }
}

/* ---- ledgers, one or two beside each other ---- */

/* A line of a ledger as it is shown: an account of one side or of both, or a total. */
struct view_line {
    const struct account *account;
    bool total;
    bool in[2];
    enum basis basis[2];
    int64_t bytes[2], tenths[2];
};

struct view {
    struct view_line *lines;
    size_t count, capacity;
    bool has_allocated[2], has_resident[2];
};

static void view_add(struct view *view, const struct account *account,
                     const struct ledger *const *ledgers, size_t sides)
{
    struct view_line line = {.account = account, .total = account->stage == STAGE_TOTAL};

    for (size_t s = 0; s < sides; s++) {
        const struct ledger_row *row = ledger_find(ledgers[s], account);
        if (!row)
            continue;
        line.in[s] = true;
        line.basis[s] = row->basis;
        line.bytes[s] = row->bytes;
    }
    if (!line.in[0] && !line.in[1])
        return;
    MEMORY_GROW(view->lines, view->count, view->capacity);
    view->lines[view->count++] = line;
}

/* The order in which a ledger adds up: all that allocated counts and what it misses, that total,
 * then what lies between it and resident, that total. */
static void view_order(struct view *view, const struct ledger *const *ledgers, size_t sides)
{
    for (size_t i = 0; accounts[i]; i++)
        if (accounts[i]->stage <= STAGE_SERVER)
            view_add(view, accounts[i], ledgers, sides);
    view_add(view, &account_unattributed_allocated, ledgers, sides);
    view_add(view, &account_total_allocated, ledgers, sides);
    for (size_t i = 0; accounts[i]; i++)
        if (accounts[i]->stage == STAGE_ALLOCATOR || accounts[i]->stage == STAGE_PROCESS)
            view_add(view, accounts[i], ledgers, sides);
    view_add(view, &account_unattributed_resident, ledgers, sides);
    view_add(view, &account_total_resident, ledgers, sides);
}

/* Rounds one side's lines so that what is printed sums to each total as it is printed. */
static void view_round(struct view *view, size_t side, int64_t records)
{
    int64_t *bytes = memory_new((view->count + 1) * sizeof *bytes);
    int64_t *tenths = memory_new((view->count + 1) * sizeof *tenths);
    int64_t before = 0; /* tenths of the total before, which the next one includes */
    size_t begin = 0;

    for (size_t i = 0; i < view->count; i++) {
        if (!view->lines[i].total || !view->lines[i].in[side])
            continue;
        size_t count = 0;
        for (size_t j = begin; j < i; j++)
            if (!view->lines[j].total)
                bytes[count++] = view->lines[j].bytes[side];
        view->lines[i].tenths[side] = number_tenths(view->lines[i].bytes[side], records);
        number_tenths_of_all(bytes, count, records, view->lines[i].tenths[side] - before, tenths);
        before = view->lines[i].tenths[side];
        count = 0;
        for (size_t j = begin; j < i; j++)
            if (!view->lines[j].total)
                view->lines[j].tenths[side] = tenths[count++];
        begin = i + 1;
    }
    free(bytes);
    free(tenths);
}

static void view_of(struct view *view, const struct cell *const *cells,
                    const struct ledger *const *ledgers, size_t sides)
{
    *view = (struct view){0};
    view_order(view, ledgers, sides);
    for (size_t s = 0; s < sides; s++) {
        view_round(view, s, cells[s]->records);
        view->has_allocated[s] = ledger_find(ledgers[s], &account_total_allocated) != NULL;
        view->has_resident[s] = ledger_find(ledgers[s], &account_total_resident) != NULL;
    }
}

/* The first two cells of a line: its stage (once for all of its lines) and its account. */
static void name_cells(struct table *table, const struct view *view, size_t i)
{
    const struct view_line *line = &view->lines[i];
    table_row(table, line->total ? ROW_TOTAL : ROW_PLAIN);
    if (line->total) {
        table_cell(table, line->account == &account_total_allocated ? "= allocated" : "= resident");
        table_cell(table, "");
        return;
    }
    bool repeated = i > 0 && !view->lines[i - 1].total &&
                    view->lines[i - 1].account->stage == line->account->stage;
    table_cell(table, repeated ? "" : stage_names[line->account->stage]);
    table_cell(table, line->account->name);
}

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
        name_cells(&table, &view, i);
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
        if (cell->records > 0)
            table_tenths(&table, line->tenths[0]);
        else
            table_cell(&table, NONE);
        if (marginals)
            table_cell(&table, row->has_marginal ? units_decimal(text, row->marginal, 1) : "");
        table_cell(&table, basis_names[row->basis]);
    }
    free(view.lines);
    add_part(document, PART_TABLE)->table = table;
}

static void add_headline(struct document *document, const struct cell *cell,
                         const struct ledger *ledger)
{
    struct headline headline = ledger_headline(ledger);
    char a[NUMBER_SIZE], b[NUMBER_SIZE], c[UNITS_SIZE], d[UNITS_SIZE];

    if (!headline.has_measured && ledger_is_prediction(ledger))
        return;
    if (headline.has_predicted && headline.has_measured && cell->records > 0)
        add_text(document, PART_LINE, "predicted %s, measured %s bytes a record, missed %s",
                 number_tenths_text(a, number_tenths(headline.predicted, cell->records)),
                 number_tenths_text(b, number_tenths(headline.measured, cell->records)),
                 units_signed_percent(c, headline.missed, 2));
    double resident = ledger_share_resident(ledger);
    units_percent(c, ledger_share_allocated(ledger), 2);
    if (resident >= 0 && headline.has_measured)
        add_text(document, PART_LINE, "unattributed: %s of allocated, %s of resident", c,
                 units_percent(d, resident, 2));
    else if (resident >= 0)
        add_text(document, PART_LINE, "unattributed: %s of resident",
                 units_percent(d, resident, 2));
    else
        add_text(document, PART_LINE, "unattributed: %s of allocated", c);
    const struct ledger_row *allocated = ledger_find(ledger, &account_base_allocated);
    const struct ledger_row *base = ledger_find(ledger, &account_base_resident);
    if (allocated && base)
        add_text(document, PART_LINE, "base, the empty server: %s allocated, %s resident",
                 units_bytes(c, allocated->bytes), units_bytes(d, base->bytes));
    else if (allocated || base)
        add_text(document, PART_LINE, "base, the empty server: %s %s",
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
    if (cell->records > 0)
        add_text(document, PART_LINE, "on the way, %s: %s bytes, %s a record",
                 ledger->subtotal_name, count,
                 number_tenths_text(tenths, number_tenths(ledger->subtotal, cell->records)));
    else
        add_text(document, PART_LINE, "on the way, %s: %s bytes", ledger->subtotal_name, count);
}

static void add_load(struct document *document, const struct cell *cell)
{
    char rate[UNITS_SIZE], a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE];

    if (cell->load_seconds <= 0)
        return;
    add_text(document, PART_LINE,
             "loaded in %s s, %s records/s; processor time: %s s in tare, %s s in the server",
             units_decimal(a, cell->load_seconds, 2),
             units_count(rate, llround((double)cell->records / cell->load_seconds)),
             units_decimal(b, cell->client_cpu_seconds, 2),
             units_decimal(c, cell->server_cpu_seconds, 2));
}

/* What only a prediction tells. */
static void add_steps(struct document *document, const struct ledger *ledger)
{
    char a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE];

    if (ledger->peak_allocated > 0)
        add_text(document, PART_LINE, "peak while the key table rehashes: %s allocated, %s bytes",
                 units_bytes(a, ledger->peak_allocated), units_count(b, ledger->peak_allocated));
    for (size_t i = 0; i < ledger->step_count; i++) {
        const struct table_step *step = &ledger->steps[i];
        units_count(a, step->records);
        units_bytes(b, step->bytes);
        if (step->freed_after)
            add_text(document, PART_LINE, "table step at %s records: +%s, later -%s", a, b,
                     units_bytes(c, step->freed_after));
        else
            add_text(document, PART_LINE, "table step at %s records: +%s", a, b);
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
    add_text(document, PART_LINE,
             "blocks by size class, by %s:", evidence->source ? evidence->source : "the server");
    add_part(document, PART_TABLE)->table = table;
}

static char *figure_text(const struct figure *figure)
{
    char text[UNITS_SIZE], fixed[NUMBER_SIZE];

    switch (figure->type) {
    case FIGURE_INTEGER:
        return memory_text(units_count(text, figure->integer));
    case FIGURE_REAL:
        /* A source may well say "nan". */
        return isfinite(figure->real) ? memory_text(number_fixed(fixed, figure->real))
                                      : memory_format("%f", figure->real);
    case FIGURE_TEXT:
        break;
    }
    return memory_text(figure->text ? figure->text : "");
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
        char *value = figure_text(figure);
        add_text(document, PART_LINE, "state input %s = %s%s%s", figure->name, value,
                 source ? ", from " : "", source ? source : "");
        free(value);
        free(name);
    }
}

static void add_ledger(struct document *document, const struct report *report,
                       const struct cell *cell, const struct ledger *ledger, bool first, bool alone,
                       bool verbose)
{
    add_text(document, PART_HEADING, "%s, %s%s", cell_label(cell),
             ledger_is_prediction(ledger) ? "predicted" : ledger->state,
             cell->complete ? "" : " (incomplete)");
    if (!alone) {
        char *data = data_text(cell), *server = server_text(&cell->build);
        char *seed = seed_text(report);
        add_text(document, PART_LINE, "%s%s; %s", data, seed, server);
        free(data);
        free(seed);
        free(server);
    }
    if (cell->settings && cell->settings[0])
        add_text(document, PART_LINE, "settings: %s", cell->settings);
    add_ledger_table(document, cell, ledger);
    add_headline(document, cell, ledger);
    add_subtotal(document, cell, ledger);
    add_steps(document, ledger);
    if (first)
        add_load(document, cell);
    if (cell->repeats > 1)
        add_text(document, PART_LINE, "the run with the median total of %" PRId64, cell->repeats);
    if (verbose)
        add_inputs(document, ledger);
    if (alone) {
        struct texts notes = {0};
        ledger_notes(ledger, &notes);
        for (size_t i = 0; i < notes.count; i++)
            add_text(document, PART_NOTE, "%s", notes.items[i]);
        texts_free(&notes);
    }
    if (verbose)
        add_evidence(document, ledger);
}

static void add_environment(struct document *document, const struct report *report)
{
    struct buffer line = {0};

    if (report->command_line)
        add_text(document, PART_LINE, "command: %s", report->command_line);
    if (report->created || report->tare_version)
        add_text(document, PART_LINE, "tare %s%s%s",
                 report->tare_version ? report->tare_version : "", report->created ? ", " : "",
                 report->created ? report->created : "");
    for (size_t i = 0; i < report->environment.count; i++) {
        const struct figure *figure = &report->environment.items[i];
        char *value = figure_text(figure);
        buffer_format(&line, "%s%s %s", i ? "; " : "", figure->name, value);
        free(value);
    }
    if (line.length)
        add_text(document, PART_LINE, "environment: %s", line.data);
    buffer_free(&line);
}

static size_t ledger_count(const struct report *report)
{
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        count += report->cells[i].state_count;
    return count;
}

void document_of_report(struct document *document, const struct report *report,
                        const struct report_style *style, bool whole)
{
    size_t ledgers = ledger_count(report);
    bool compared = ledgers > 1 || report->count > 1;

    *document = (struct document){0};
    add_text(document, PART_TITLE, "%s", "tare: every byte accounted for");
    if (report->count == 0)
        add_text(document, PART_LINE, "%s", "no cell was weighed");
    add_lead(document, report);
    if (compared) {
        add_comparison(document, report);
        add_broken(document, report);
        add_notes(document, report);
    } else {
        add_broken(document, report);
    }
    if (ledgers)
        add_bars(document, report);
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        if (report->count == 1 || whole || style->verbose > 0)
            for (size_t j = 0; j < cell->state_count; j++)
                add_ledger(document, report, cell, &cell->states[j], j == 0, !compared,
                           style->verbose > 0);
    }
    if (whole || style->verbose > 0)
        add_environment(document, report);
}

/* ---- the gap of two cells ---- */

/* The heading of a side: the cell's name, and the first thing that tells it from the other one. */
static char *side_heading(const struct cell *cell, const struct ledger *ledger,
                          const struct cell *other, const struct ledger *other_ledger,
                          size_t number)
{
    if (strcmp(cell_label(cell), cell_label(other)) != 0)
        return memory_text(cell_label(cell));
    if (strcmp(ledger->state, other_ledger->state) != 0)
        return memory_format("%s, %s", cell_label(cell), ledger->state);
    if (strcmp(cell->build.version, other->build.version) != 0 && cell->build.version[0] &&
        other->build.version[0])
        return memory_format("%s, %s", cell_label(cell), cell->build.version);
    return memory_format("%s (%zu)", cell_label(cell), number);
}

static void side_line(struct document *document, const char *heading, const struct cell *cell,
                      const struct ledger *ledger)
{
    char *data = data_text(cell), *server = server_text(&cell->build);
    bool prediction = ledger_is_prediction(ledger);

    add_text(document, PART_LINE, "%s: %s, %s; %s%s%s", heading, data,
             prediction ? "predicted" : ledger->state, server,
             cell->settings && cell->settings[0] ? "; " : "", cell->settings ? cell->settings : "");
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

    name_cells(table, view, i);
    for (size_t s = 0; s < 2; s++) {
        if (line->in[s] && records[s] > 0)
            table_tenths(table, line->tenths[s]);
        else
            table_cell(table, NONE);
        known = known && side_reaches(view, s, line->account);
    }
    if (known)
        table_tenths(table, line->tenths[0] - line->tenths[1]);
    else
        table_cell(table, NONE);
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
                              ? NONE
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
        add_text(document, PART_LINE, "%s", "no account differs");
    else
        add_text(document, PART_LINE, "largest: %s, %s%s bytes a record", largest->account->name,
                 gap > 0 ? "+" : "", number_tenths_text(text, gap));
}

void document_of_gap(struct document *document, const struct cell *a, const struct ledger *state_a,
                     const struct cell *b, const struct ledger *state_b)
{
    const struct cell *const cells[2] = {a, b};
    const struct ledger *const ledgers[2] = {state_a, state_b};
    const int64_t records[2] = {a->records, b->records};
    char *headings[2] = {side_heading(a, state_a, b, state_b, 1),
                         side_heading(b, state_b, a, state_a, 2)};
    struct table table = {0};
    struct view view;

    *document = (struct document){0};
    add_text(document, PART_TITLE, "%s against %s", headings[0], headings[1]);
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
    add_part(document, PART_TABLE)->table = table;
    add_largest(document, &view, records);
    free(view.lines);
    for (size_t s = 0; s < 2; s++) {
        for (size_t i = 0; i < ledgers[s]->note_count; i++)
            add_text(document, PART_NOTE, "%s: %s", headings[s], ledgers[s]->notes[i]);
        if (!cells[s]->complete)
            add_text(document, PART_NOTE, "%s is incomplete: %s", headings[s],
                     cells[s]->error ? cells[s]->error : "it was not finished");
        free(headings[s]);
    }
}

/* The gap of two cells in words: where it lies, largest first, and which figures a headline about
 * the two would mix. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/document.h"
#include "report/number.h"
#include "report/view.h"
#include "report/words.h"

#define CAUSE_ACCOUNTS 12

/* Accounts that one thing causes. An account that stands in none is a cause by itself. */
struct cause_kind {
    const char *name, *words;
    int stage; /* all of it; STAGE_COUNT: the accounts alone */
    const struct account *accounts[CAUSE_ACCOUNTS];
};

static const struct cause_kind cause_kinds[] = {
    {"keys", "each record's key, once", STAGE_COUNT, {&account_key}},
    {"values", "the data itself, as text", STAGE_COUNT, {&account_values}},
    {"field names",
     "each record repeats the names of its fields",
     STAGE_COUNT,
     {&account_field_names, &account_names_left_out}},
    {"framing",
     "what an encoding puts around values: types, lengths and the name _id in BSON, punctuation in "
     "JSON, binary numbers for text",
     STAGE_COUNT,
     {&account_framing, &account_number_form, &account_escapes}},
    {"compression",
     "compressed less plain, and what reading it back takes",
     STAGE_COUNT,
     {&account_compression, &account_dictionary}},
    {"objects",
     "a header for each value that is held: type, encoding, references, pointer",
     STAGE_COUNT,
     {&account_object}},
    {"entries",
     "an entry links each key and each field into its hash table",
     STAGE_COUNT,
     {&account_entry, &account_field_entries}},
    {"sds",
     "a header and a terminator around each string: key, field, value",
     STAGE_COUNT,
     {&account_key_sds, &account_field_sds, &account_value_sds}},
    {"field tables",
     "each hash or object has a table of its own: header, buckets, and the smaller table before it "
     "until a "
     "rehash ends",
     STAGE_COUNT,
     {&account_field_dict, &account_field_table, &account_field_table_old}},
    {"packed forms",
     "listpacks, lists and streams: headers and lengths of packed elements, less what integers "
     "save",
     STAGE_COUNT,
     {&account_listpack, &account_integer_form, &account_quicklist, &account_stream,
      &account_batch_keys}},
    {"_indices",
     "a sorted set of all keys beside the records: skip-list nodes, entries, table, a copy of each "
     "key",
     STAGE_COUNT,
     {&account_skip_list, &account_index_members, &account_index_entries, &account_index_table}},
    {"key table",
     "buckets of the table of all keys, and of that of expiries",
     STAGE_COUNT,
     {&account_key_table, &account_expires}},
    {"WiredTiger: documents",
     "updates and insert lists of documents not yet reconciled; cells, rows and pages of those "
     "that are",
     STAGE_COUNT,
     {&account_wt_update, &account_wt_insert, &account_wt_cell, &account_wt_row, &account_wt_page,
      &account_wt_handles, &account_wt_transaction, &account_wt_log, &account_wt_blocks,
      &account_wt_not_cached}},
    {"WiredTiger: indexes",
     "the _id index, which every collection has, and secondary ones: keys, record ids, and their "
     "structures",
     STAGE_COUNT,
     {&account_wt_id_index, &account_wt_index}},
    {"size classes",
     "an allocator hands out fixed sizes: what a block is larger than its request",
     STAGE_ROUNDING,
     {0}},
    {"server", "buffers of clients, sessions and logs", STAGE_SERVER, {0}},
    {"allocators",
     "headers, metadata, caches and free pages, tails of spans: what an allocator holds beyond "
     "its blocks",
     STAGE_ALLOCATOR,
     {0}},
    {"processes", "files that are mapped, and stacks", STAGE_PROCESS, {0}},
    {"unattributed", "what nothing explains", STAGE_RESIDUAL, {0}},
};

struct cause {
    const char *name, *words;
    int64_t tenths[2]; /* bytes a record */
    /* Where it is a whole stage: of several accounts that differ the one that does so most, and by
     * how much. */
    bool stage;
    const struct account *most;
    int64_t most_gap;
    size_t differing;
};

struct causes {
    struct cause *items;
    size_t count, capacity;
};

static bool kind_holds(const struct cause_kind *kind, const struct account *account)
{
    if (kind->stage != STAGE_COUNT)
        return account->stage == (enum stage)kind->stage;
    for (size_t i = 0; i < CAUSE_ACCOUNTS && kind->accounts[i]; i++)
        if (kind->accounts[i] == account)
            return true;
    return false;
}

static void cause_add(struct causes *causes, const struct view_line *line)
{
    const char *name = line->account->name, *words = line->account->explanation;
    struct cause *cause = NULL;
    bool stage = false;

    for (size_t i = 0; i < sizeof cause_kinds / sizeof *cause_kinds; i++) {
        if (!kind_holds(&cause_kinds[i], line->account))
            continue;
        name = cause_kinds[i].name;
        words = cause_kinds[i].words;
        stage = cause_kinds[i].stage != STAGE_COUNT;
        break;
    }
    for (size_t i = 0; !cause && i < causes->count; i++)
        if (causes->items[i].name == name)
            cause = &causes->items[i];
    if (!cause) {
        MEMORY_GROW(causes->items, causes->count, causes->capacity);
        cause = &causes->items[causes->count++];
        *cause = (struct cause){.name = name, .words = words, .stage = stage};
    }
    int64_t tenths[2] = {line->in[0] ? line->tenths[0] : 0, line->in[1] ? line->tenths[1] : 0};
    int64_t gap = tenths[0] - tenths[1];
    for (size_t s = 0; s < 2; s++)
        cause->tenths[s] += tenths[s];
    cause->differing += gap != 0;
    if (llabs(gap) > llabs(cause->most_gap)) {
        cause->most = line->account;
        cause->most_gap = gap;
    }
}

static int64_t cause_gap(const struct cause *cause)
{
    return cause->tenths[0] - cause->tenths[1];
}

static int compare_causes(const void *a, const void *b)
{
    int64_t x = llabs(cause_gap(a)), y = llabs(cause_gap(b));
    if (x != y)
        return x < y ? 1 : -1;
    return strcmp(((const struct cause *)a)->name, ((const struct cause *)b)->name);
}

/* What a cause is, and which of its accounts is most of it. */
static void cause_words(struct table *table, const struct cause *cause)
{
    char number[NUMBER_SIZE];
    if (!cause->stage || cause->differing < 2) {
        table_cell(table, cause->words);
        return;
    }
    char *words = memory_format("%s; above all %s, %s", cause->words, cause->most->name,
                                number_tenths_text(number, cause->most_gap));
    table_cell(table, words);
    free(words);
}

/* A gap below this share of the larger total is no gap to take shares of. */
#define GAP_LEAST 0.01

/* Where the gap lies: all that one total holds, which both sides have. */
static void add_causes(struct document *document, const struct view *view, bool resident,
                       char *const *headings, const int64_t *records)
{
    struct causes causes = {0};
    struct table table = {0};
    struct buffer same = {0};
    const struct account *last = resident ? &account_total_resident : &account_total_allocated;
    const struct view_line *total = NULL;
    char a[NUMBER_SIZE], b[NUMBER_SIZE], c[UNITS_SIZE], d[UNITS_SIZE];

    for (size_t i = 0; !total && i < view->count; i++) {
        if (view->lines[i].account == last)
            total = &view->lines[i];
        else if (!view->lines[i].total)
            cause_add(&causes, &view->lines[i]);
    }
    if (causes.count)
        qsort(causes.items, causes.count, sizeof *causes.items, compare_causes);
    int64_t gap = total->tenths[0] - total->tenths[1];
    int64_t larger = gap > 0 ? total->tenths[0] : total->tenths[1];
    bool shares = (double)llabs(gap) >= GAP_LEAST * (double)larger && gap != 0;
    document_text(document, PART_HEADING, "where the difference lies, largest first");
    if (gap == 0) {
        document_text(document, PART_LINE, "both take %s bytes a record of %s memory",
                      number_tenths_text(a, total->tenths[0]), resident ? "resident" : "allocated");
    } else {
        size_t more = gap > 0 ? 0 : 1, less = 1 - more;
        struct buffer line = {0};
        buffer_format(&line, "%s takes %s bytes a record more of %s memory than %s", headings[more],
                      number_tenths_text(a, llabs(gap)), resident ? "resident" : "allocated",
                      headings[less]);
        if (total->tenths[less] > 0)
            buffer_format(
                &line, ", %s times as much",
                units_decimal(c, (double)total->tenths[more] / (double)total->tenths[less], 2));
        if (records[0] == records[1])
            buffer_format(&line, "; over %s records %s", units_count(c, records[0]),
                          units_bytes(d, llabs(total->bytes[0] - total->bytes[1])));
        document_text(document, PART_LINE, "%s", line.data);
        buffer_free(&line);
    }
    table_column(&table, "", true);
    table_column(&table, "bytes a record", false);
    table_column(&table, headings[0], true);
    table_column(&table, headings[1], true);
    table_column(&table, "gap", true);
    table_column(&table, "of the gap", true);
    table_column(&table, "what it is", false);
    for (size_t i = 0; i < causes.count; i++) {
        const struct cause *cause = &causes.items[i];
        int64_t difference = cause_gap(cause);
        if (difference == 0) {
            buffer_format(&same, "%s%s %s", same.length ? ", " : "", cause->name,
                          number_tenths_text(b, cause->tenths[0]));
            continue;
        }
        table_row(&table, ROW_PLAIN);
        table_count(&table, (int64_t)i + 1);
        table_cell(&table, cause->name);
        table_tenths(&table, cause->tenths[0]);
        table_tenths(&table, cause->tenths[1]);
        table_tenths(&table, difference);
        table_cell(&table,
                   shares ? units_percent(c, (double)difference / (double)gap, 1) : TABLE_NONE);
        cause_words(&table, cause);
    }
    table_row(&table, ROW_TOTAL);
    table_cell(&table, "");
    table_cell(&table, resident ? "= resident" : "= allocated");
    table_tenths(&table, total->tenths[0]);
    table_tenths(&table, total->tenths[1]);
    table_tenths(&table, gap);
    table_cell(&table, shares ? units_percent(c, 1, 1) : TABLE_NONE);
    table_cell(&table, "");
    document_add(document, PART_TABLE)->table = table;
    if (same.length)
        document_text(document, PART_LINE, "the same in both, bytes a record: %s", same.data);
    buffer_free(&same);
    free(causes.items);
}

/* ---- headlines ------------------------------------------------------------------------------ */

/* What a published figure measures; only two of one kind can be compared. */
enum measure { MEASURE_RESIDENT, MEASURE_ALLOCATED, MEASURE_LOGICAL, MEASURE_DISK };

static const char *const measure_names[] = {"resident memory", "allocated memory", "logical size",
                                            "size on disk"};

static enum measure measure_of(const struct published *published)
{
    if (!published->total)
        return MEASURE_DISK;
    if (published->logical)
        return MEASURE_LOGICAL;
    return published->total == &account_total_resident ? MEASURE_RESIDENT : MEASURE_ALLOCATED;
}

struct headline_figure {
    const char *name; /* NULL: there is none */
    int64_t bytes;
};

/* A side's figure of this measure, as it is published: one that both sides have; else of resident
 * memory the kernel's own, which is the last one that is exact to the byte, of others the first. */
static struct headline_figure figure_of(const struct gap *gap, size_t side, enum measure measure)
{
    struct headline_figure found = {0};
    bool shared = false;
    for (size_t i = 0; i < gap->figure_count; i++) {
        const struct gap_figure *figure = &gap->figures[i];
        int64_t bytes = side == 0 ? figure->a : figure->b;
        if (!(side == 0 ? figure->in_a : figure->in_b) || bytes <= 0 ||
            measure_of(figure->published) != measure)
            continue;
        bool both = figure->in_a && figure->in_b;
        bool exact = measure == MEASURE_RESIDENT && figure->published->unit == 1;
        if (!found.name || (both && !shared) || (both == shared && exact))
            found = (struct headline_figure){figure->published->name, bytes};
        shared = shared || both;
    }
    return found;
}

/* One headline: two figures that are published of the sides. */
static void headline_row(struct table *table, const struct headline_figure *figures, bool like,
                         const char *compares)
{
    char text[UNITS_SIZE];
    table_row(table, ROW_PLAIN);
    for (size_t s = 0; s < 2; s++) {
        table_cell(table, figures[s].name);
        table_cell(table, units_bytes(text, figures[s].bytes));
    }
    char *gap = memory_format("%s%s", figures[0].bytes < figures[1].bytes ? "-" : "",
                              units_bytes(text, llabs(figures[0].bytes - figures[1].bytes)));
    table_cell(table, gap);
    free(gap);
    table_cell(table, like ? "like with like" : "mixed");
    table_cell(table, compares);
}

/* Side s is published by a figure that is no memory, the other one by its memory. */
static void add_mixed(struct document *document, struct table *table, const struct gap *gap,
                      size_t s, enum measure measure, char *const *headings)
{
    struct headline_figure memory[2] = {figure_of(gap, 0, MEASURE_RESIDENT),
                                        figure_of(gap, 1, MEASURE_RESIDENT)};
    struct headline_figure mixed[2] = {memory[0], memory[1]};
    struct headline_figure own = figure_of(gap, s, measure);
    char a[UNITS_SIZE], b[UNITS_SIZE], c[UNITS_SIZE], d[UNITS_SIZE], e[UNITS_SIZE], f[UNITS_SIZE];

    if (!own.name || !memory[0].name || !memory[1].name)
        return;
    mixed[s] = own;
    char *compares = memory_format("%s with %s", measure_names[s == 0 ? measure : MEASURE_RESIDENT],
                                   measure_names[s == 0 ? MEASURE_RESIDENT : measure]);
    headline_row(table, mixed, false, compares);
    free(compares);
    int64_t shown = mixed[0].bytes - mixed[1].bytes, real = memory[0].bytes - memory[1].bytes;
    int64_t amount = llabs(shown - real);
    struct buffer line = {0};
    buffer_format(&line,
                  "%s of %s is no memory but %s, %s; its memory (%s) is %s. Against %s %s of %s "
                  "it shows a gap of %s, where memory against memory is %s: %s",
                  own.name, headings[s], measure_names[measure], units_bytes(a, own.bytes),
                  memory[s].name, units_bytes(b, memory[s].bytes), memory[1 - s].name,
                  units_bytes(c, memory[1 - s].bytes), headings[1 - s],
                  units_bytes(d, llabs(shown)), units_bytes(e, llabs(real)),
                  units_bytes(f, amount));
    if (shown != 0 && amount <= llabs(shown))
        buffer_format(&line, ", %s of that gap,",
                      units_percent(a, (double)amount / (double)llabs(shown), 0));
    buffer_format(&line, " compares %s with memory", measure_names[measure]);
    document_text(document, PART_LINE, "%s", line.data);
    buffer_free(&line);
}

/* What a side's allocator had handed out in all. */
static struct headline_figure allocated_of(const struct ledger *ledger)
{
    const struct ledger_row *total = ledger_find(ledger, &account_total_allocated);
    int64_t base = ledger_bytes(ledger, &account_base_allocated);
    if (!total || base <= 0 || ledger_is_prediction(ledger))
        return (struct headline_figure){0};
    return (struct headline_figure){"allocated", total->bytes + base};
}

static void add_headlines(struct document *document, const struct gap *gap,
                          const struct ledger *const *ledgers, char *const *headings)
{
    struct document lines = {0};
    struct table table = {0};

    for (size_t s = 0; s < 2; s++) {
        table_column(&table, headings[s], false);
        table_column(&table, "", true);
    }
    table_column(&table, "gap", true);
    table_column(&table, "", false);
    table_column(&table, "compares", false);
    for (enum measure m = MEASURE_RESIDENT; m <= MEASURE_DISK; m++) {
        struct headline_figure figures[2];
        for (size_t s = 0; s < 2; s++)
            figures[s] = m == MEASURE_ALLOCATED ? allocated_of(ledgers[s]) : figure_of(gap, s, m);
        if (figures[0].name && figures[1].name)
            headline_row(&table, figures, true, measure_names[m]);
    }
    for (size_t s = 0; s < 2; s++) {
        add_mixed(&lines, &table, gap, s, MEASURE_LOGICAL, headings);
        add_mixed(&lines, &table, gap, s, MEASURE_DISK, headings);
    }
    if (table.row_count) {
        document_text(document, PART_HEADING,
                      "which figures a headline mixes; in all, the empty server included");
        document_add(document, PART_TABLE)->table = table;
        for (size_t i = 0; i < lines.count; i++)
            document_text(document, PART_LINE, "%s", lines.parts[i].text);
    } else {
        table_free(&table);
    }
    document_free(&lines);
}

void document_explanation(struct document *document, const struct view *view, const struct gap *gap,
                          const struct ledger *const *ledgers, char *const *headings,
                          const int64_t *records)
{
    bool resident = view->has_resident[0] && view->has_resident[1];
    if (records[0] <= 0 || records[1] <= 0)
        document_text(document, PART_NOTE, "there is nothing to explain: a cell has no records");
    else if (!resident && !(view->has_allocated[0] && view->has_allocated[1]))
        document_text(document, PART_NOTE,
                      "there is nothing to explain: the cells have no total in common");
    else
        add_causes(document, view, resident, headings, records);
    add_headlines(document, gap, ledgers, headings);
}

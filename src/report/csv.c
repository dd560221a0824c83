/* A report's complete ledgers as CSV (RFC 4180, but lines end as UNIX's do):
 * one row an account. The contract's columns come first; ranges and spreads
 * follow. What no account holds (raw figures, checkpoints, broken cells) is in
 * JSON alone. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ledger/ranking.h"
#include "report/number.h"
#include "report/report.h"

enum column {
    COLUMN_CELL,
    COLUMN_STORE,
    COLUMN_VERSION,
    COLUMN_ALLOCATOR,
    COLUMN_ENGINE,
    COLUMN_ENCODING,
    COLUMN_DATASET,
    COLUMN_RECORDS,
    COLUMN_STATE,
    COLUMN_ACCOUNT,
    COLUMN_STAGE,
    COLUMN_BASIS,
    COLUMN_BYTES,
    COLUMN_PER_RECORD,
    COLUMN_MARGINAL,
    COLUMN_SETTINGS,
    COLUMN_LOW,
    COLUMN_HIGH,
    COLUMN_SPREAD_LOW,
    COLUMN_SPREAD_HIGH,
    COLUMN_RANK,
    COLUMN_PLAIN,
    COLUMN_RATIO,
    COLUMN_DIFFERENCE,
    COLUMN_ENCODE,
    COLUMN_DECODE,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT + 1] = {
    "cell",
    "store",
    "version",
    "allocator",
    "engine",
    "encoding",
    "dataset",
    "records",
    "state",
    "account",
    "stage",
    "basis",
    "bytes",
    "bytes_per_record",
    "marginal_bytes_per_record",
    "settings",
    "bytes_low",
    "bytes_high",
    "spread_low",
    "spread_high",
    "rank",
    "plain",
    "ratio",
    "difference_per_record",
    "encode_ns",
    "decode_ns",
    NULL,
};

/* ---- writing ---- */

static void write_field(struct buffer *out, const char *text, bool last)
{
    if (text && text[strcspn(text, ",\"\r\n")]) {
        buffer_byte(out, '"');
        for (; *text; text++) {
            if (*text == '"')
                buffer_byte(out, '"');
            buffer_byte(out, *text);
        }
        buffer_byte(out, '"');
    } else if (text) {
        buffer_text(out, text);
    }
    buffer_byte(out, last ? '\n' : ',');
}

static void write_integer(struct buffer *out, bool there, int64_t number, bool last)
{
    if (there)
        buffer_format(out, "%" PRId64, number);
    buffer_byte(out, last ? '\n' : ',');
}

static void write_time(struct buffer *out, const struct cell *cell, double nanoseconds, bool last)
{
    char number[NUMBER_SIZE] = "";

    /* A prediction's CSV is the same each time; processor time is not. */
    write_field(out,
                nanoseconds > 0 && !cell->predicted ? number_fixed(number, nanoseconds) : number,
                last);
}

/* Where the cell stands among others, in the row that is compared. */
static void write_rank(struct buffer *out, const struct rankings *rankings,
                       const struct ledger *ledger, const struct ledger_row *row)
{
    for (size_t i = 0; i < rankings->count; i++) {
        const struct ranking *ranking = &rankings->items[i];
        for (size_t j = 0; ranking->account == row->account && j < ranking->count; j++) {
            const struct ranked *item = &ranking->items[j];
            char number[NUMBER_SIZE] = "";
            if (item->ledger != ledger)
                continue;
            write_integer(out, true, item->rank, false);
            write_field(out, ranking->plain->cell->name, false);
            write_field(out, item->ratio > 0 ? number_fixed(number, item->ratio) : number, false);
            write_field(
                out,
                number_per_record(number, item->bytes - ranking->plain->bytes, ranking->records),
                false);
            write_time(out, item->cell, item->cell->encode_ns, false);
            write_time(out, item->cell, item->cell->decode_ns, true);
            return;
        }
    }
    buffer_text(out, ",,,,,\n");
}

static void write_row(struct buffer *out, const struct rankings *rankings, const struct cell *cell,
                      const struct ledger *ledger, const struct ledger_row *row)
{
    char number[NUMBER_SIZE];

    write_field(out, cell->name, false);
    write_field(out, cell->build.store, false);
    write_field(out, cell->build.version, false);
    write_field(out, cell->build.allocator, false);
    write_field(out, cell->build.engine, false);
    write_field(out, cell->encoding, false);
    write_field(out, cell->dataset, false);
    write_integer(out, true, ledger_records(cell, ledger), false);
    write_field(out, ledger->state, false);
    write_field(out, row->account->name, false);
    write_field(out, stage_names[row->account->stage], false);
    write_field(out, basis_names[row->basis], false);
    write_integer(out, true, row->bytes, false);
    write_field(out, number_per_record(number, row->bytes, ledger_records(cell, ledger)), false);
    number[0] = '\0';
    write_field(out, row->has_marginal ? number_fixed(number, row->marginal) : number, false);
    write_field(out, ledger_settings(cell, ledger), false);
    write_integer(out, row->has_range, row->low, false);
    write_integer(out, row->has_range, row->high, false);
    write_integer(out, row->has_spread, row->spread_low, false);
    write_integer(out, row->has_spread, row->spread_high, false);
    write_rank(out, rankings, ledger, row);
}

static void csv_render(const struct report *report, const struct report_style *style,
                       struct buffer *out)
{
    struct rankings rankings;
    (void)style;
    rankings_of(report, &rankings);
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        write_field(out, column_names[i], i + 1 == COLUMN_COUNT);
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        for (size_t j = 0; cell->complete && j < cell->state_count; j++)
            for (size_t k = 0; k < cell->states[j].count; k++)
                write_row(out, &rankings, cell, &cell->states[j], &cell->states[j].rows[k]);
    }
    rankings_free(&rankings);
}

/* A figure that is published is no account: it stands in stage "published". */
static void write_figure(struct buffer *out, const struct gap_figure *figure, const struct cell *a,
                         const struct cell *b, int64_t records_a, int64_t records_b)
{
    char number[NUMBER_SIZE];
    write_field(out, figure->published->name, false);
    write_field(out, "published", false);
    write_field(out, a->name, false);
    write_field(out, b->name, false);
    write_field(out, figure->in_a ? basis_names[BASIS_MEASURED] : "", false);
    write_field(out, figure->in_b ? basis_names[BASIS_MEASURED] : "", false);
    write_integer(out, figure->in_a, figure->a, false);
    write_integer(out, figure->in_b, figure->b, false);
    write_field(out, figure->in_a ? number_per_record(number, figure->a, records_a) : "", false);
    write_field(out, figure->in_b ? number_per_record(number, figure->b, records_b) : "", false);
    write_field(out, "", true);
}

static void csv_render_gap(const struct cell *a, const struct ledger *state_a, const struct cell *b,
                           const struct ledger *state_b, const struct report_style *style,
                           struct buffer *out)
{
    struct gap gap;
    (void)style;
    int64_t records_a = ledger_records(a, state_a), records_b = ledger_records(b, state_b);
    gap_of(a, state_a, b, state_b, &gap);
    buffer_text(out, "account,stage,cell_a,cell_b,basis_a,basis_b,bytes_a,bytes_b,"
                     "bytes_per_record_a,bytes_per_record_b,gap_per_record\n");
    for (size_t i = 0; i < gap.count; i++) {
        const struct gap_row *row = &gap.rows[i];
        char number[NUMBER_SIZE];
        bool both = records_a > 0 && records_b > 0;
        write_field(out, row->account->name, false);
        write_field(out, stage_names[row->account->stage], false);
        write_field(out, a->name, false);
        write_field(out, b->name, false);
        write_field(out, row->in_a ? basis_names[row->basis_a] : "", false);
        write_field(out, row->in_b ? basis_names[row->basis_b] : "", false);
        write_integer(out, row->in_a, row->bytes_a, false);
        write_integer(out, row->in_b, row->bytes_b, false);
        write_field(out, row->in_a ? number_per_record(number, row->bytes_a, records_a) : "",
                    false);
        write_field(out, row->in_b ? number_per_record(number, row->bytes_b, records_b) : "",
                    false);
        write_field(out, both ? number_fixed(number, row->a - row->b) : "", true);
    }
    for (size_t i = 0; i < gap.figure_count; i++)
        write_figure(out, &gap.figures[i], a, b, records_a, records_b);
    gap_free(&gap);
}

/* ---- reading ---- */

struct reader {
    const char *path;
    const char *place, *end;
    size_t line;   /* of the place */
    size_t begin;  /* line where the record began */
    char **fields; /* of the record */
    size_t count, capacity;
    size_t at[COLUMN_COUNT]; /* which field a column is; SIZE_MAX: none */
    struct tare_error *error;
};

static int fail(struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(struct reader *reader, const char *format, ...)
{
    char text[400];
    struct buffer message = {0};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* It may hold the file's own text, which must stay one line of a terminal. */
    text_safe(&message, text, true);
    error_set(reader->error, TARE_USAGE, "%s", message.data ? message.data : "");
    buffer_free(&message);
    return error_prefix(reader->error, "'%s', line %zu", reader->path, reader->begin);
}

static void fields_clear(struct reader *reader)
{
    for (size_t i = 0; i < reader->count; i++)
        free(reader->fields[i]);
    reader->count = 0;
}

static void field_add(struct reader *reader, struct buffer *field)
{
    MEMORY_GROW(reader->fields, reader->count, reader->capacity);
    reader->fields[reader->count++] = field->data ? buffer_steal(field) : memory_text("");
}

/* Reads one field up to its comma or line end, which stays. */
static int read_field(struct reader *reader, struct buffer *field)
{
    bool quoted = reader->place < reader->end && *reader->place == '"';

    if (!quoted) {
        const char *begin = reader->place;
        while (reader->place < reader->end && *reader->place != ',' && *reader->place != '\n' &&
               *reader->place != '\r') {
            if (*reader->place == '"' || *reader->place == '\0')
                return fail(reader, "a stray quote or a zero byte");
            reader->place++;
        }
        buffer_append(field, begin, (size_t)(reader->place - begin));
        return 0;
    }
    for (reader->place++; reader->place < reader->end; reader->place++) {
        char byte = *reader->place;
        if (byte == '"') {
            if (reader->place + 1 == reader->end || reader->place[1] != '"') {
                reader->place++;
                return 0;
            }
            reader->place++;
        } else if (byte == '\n') {
            reader->line++;
        } else if (byte == '\0') {
            return fail(reader, "a zero byte");
        }
        buffer_byte(field, byte);
    }
    return fail(reader, "a quote is never closed: the file may be truncated");
}

/* Reads a record into the fields; 1 at the end of the file. */
static int read_record(struct reader *reader)
{
    fields_clear(reader);
    reader->begin = reader->line;
    if (reader->place == reader->end)
        return 1;
    while (1) {
        struct buffer field = {0};
        if (read_field(reader, &field)) {
            buffer_free(&field);
            return -1;
        }
        field_add(reader, &field);
        if (reader->place == reader->end)
            return 0;
        char byte = *reader->place++;
        if (byte == ',')
            continue;
        if (byte == '\r' && reader->place < reader->end && *reader->place == '\n')
            byte = *reader->place++;
        if (byte != '\n')
            return fail(reader, "text after a closing quote, or a stray carriage return");
        reader->line++;
        return 0;
    }
}

static const char *field_of(const struct reader *reader, enum column column)
{
    return reader->at[column] == SIZE_MAX ? "" : reader->fields[reader->at[column]];
}

/* Columns are found by their names: other orders and further columns do no harm. */
static int read_heading(struct reader *reader)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        reader->at[i] = SIZE_MAX;
        for (size_t j = 0; j < reader->count; j++) {
            if (strcmp(reader->fields[j], column_names[i]) != 0)
                continue;
            if (reader->at[i] != SIZE_MAX)
                return fail(reader, "column '%s' is there twice", column_names[i]);
            reader->at[i] = j;
        }
        if (reader->at[i] == SIZE_MAX && i <= COLUMN_SETTINGS)
            return fail(reader, "no column '%s': not a tare report", column_names[i]);
    }
    return 0;
}

static int read_integer(struct reader *reader, enum column column, int64_t *number)
{
    if (number_parse_integer(field_of(reader, column), number))
        return 0;
    return fail(reader, "%s is '%.60s', not a whole number of 64 bits", column_names[column],
                field_of(reader, column));
}

/* Two columns that are both there or both blank. */
static int read_pair(struct reader *reader, enum column low, enum column high, bool *there,
                     int64_t *low_number, int64_t *high_number)
{
    *there = field_of(reader, low)[0] || field_of(reader, high)[0];
    if (!*there)
        return 0;
    return read_integer(reader, low, low_number) || read_integer(reader, high, high_number) ? -1
                                                                                            : 0;
}

static int copy_name(struct reader *reader, enum column column, char *to, size_t size)
{
    const char *from = field_of(reader, column);
    if (strlen(from) >= size)
        return fail(reader, "'%.80s' is too long a name", from);
    memcpy(to, from, strlen(from) + 1);
    return 0;
}

static int begin_cell(struct reader *reader, struct cell *cell)
{
    cell->name = memory_text(field_of(reader, COLUMN_CELL));
    cell->encoding = memory_text(field_of(reader, COLUMN_ENCODING));
    cell->dataset = memory_text(field_of(reader, COLUMN_DATASET));
    cell->settings = memory_text(field_of(reader, COLUMN_SETTINGS));
    cell->complete = true;
    cell->repeats = 1;
    cell->build.cache_oblivious = -1;
    if (copy_name(reader, COLUMN_STORE, cell->build.store, sizeof cell->build.store) ||
        copy_name(reader, COLUMN_VERSION, cell->build.version, sizeof cell->build.version) ||
        copy_name(reader, COLUMN_ALLOCATOR, cell->build.allocator, sizeof cell->build.allocator) ||
        copy_name(reader, COLUMN_ENGINE, cell->build.engine, sizeof cell->build.engine) ||
        read_integer(reader, COLUMN_RECORDS, &cell->records))
        return -1;
    cell->build.number = version_number(cell->build.version);
    if (!cell->name[0])
        return fail(reader, "the cell has no name");
    if (cell->records < 0)
        return fail(reader, "'%.80s' records", field_of(reader, COLUMN_RECORDS));
    return 0;
}

/* A cell says the same of itself in each of its rows. */
static int same_cell(struct reader *reader, const struct cell *cell)
{
    const struct {
        enum column column;
        const char *text;
    } known[] = {
        {COLUMN_STORE, cell->build.store},         {COLUMN_VERSION, cell->build.version},
        {COLUMN_ALLOCATOR, cell->build.allocator}, {COLUMN_ENGINE, cell->build.engine},
        {COLUMN_ENCODING, cell->encoding},         {COLUMN_DATASET, cell->dataset},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(field_of(reader, known[i].column), known[i].text) != 0)
            return fail(reader, "another %s than in the cell's rows above",
                        column_names[known[i].column]);
    return 0;
}

static int take_cell(struct reader *reader, struct report *report, struct cell **taken)
{
    const char *name = field_of(reader, COLUMN_CELL);

    /* Rows of a cell stand together, as a rule: the last one is looked at first. */
    for (size_t i = report->count; i-- > 0;) {
        if (strcmp(report->cells[i].name, name) == 0) {
            *taken = &report->cells[i];
            return same_cell(reader, *taken);
        }
    }
    *taken = report_add_cell(report);
    return begin_cell(reader, *taken);
}

/* So does a ledger; the cell is as its last ledger says. */
static int same_ledger(struct reader *reader, struct cell *cell, struct ledger *ledger, bool first)
{
    const char *settings = field_of(reader, COLUMN_SETTINGS);
    int64_t records;

    if (read_integer(reader, COLUMN_RECORDS, &records))
        return -1;
    if (records < 0)
        return fail(reader, "'%.80s' records", field_of(reader, COLUMN_RECORDS));
    if (!first && records != ledger->records)
        return fail(reader, "another number of records than in the ledger's rows above");
    if (!first && strcmp(settings, ledger->settings) != 0)
        return fail(reader, "another settings than in the ledger's rows above");
    if (first) {
        ledger->records = cell->records = records;
        ledger->settings = memory_text(settings);
        free(cell->settings);
        cell->settings = memory_text(settings);
    }
    return 0;
}

static int take_ledger(struct reader *reader, struct cell *cell, struct ledger **taken)
{
    const char *state = field_of(reader, COLUMN_STATE);
    for (size_t i = 0; i < cell->state_count; i++) {
        *taken = &cell->states[i];
        if (strcmp(cell->states[i].state, state) == 0)
            return same_ledger(reader, cell, *taken, false);
    }
    MEMORY_GROW(cell->states, cell->state_count, cell->state_capacity);
    *taken = &cell->states[cell->state_count++];
    **taken = (struct ledger){.state = memory_text(state)};
    return same_ledger(reader, cell, *taken, true);
}

static int read_time(struct reader *reader, enum column column, double *nanoseconds)
{
    const char *text = field_of(reader, column);
    if (text[0] && !number_parse_fixed(text, nanoseconds))
        return fail(reader, "%s is '%.60s', not a number", column_names[column], text);
    return 0;
}

static int take_row(struct reader *reader, struct report *report)
{
    struct cell *cell;
    const char *name = field_of(reader, COLUMN_ACCOUNT);
    const struct account *account = account_of_name(name);
    int basis = basis_of_name(field_of(reader, COLUMN_BASIS));
    struct ledger_row row = {0};
    double encode_ns = 0, decode_ns = 0;

    if (!account)
        return fail(reader, "no account is named '%.80s'; a newer tare may have written this",
                    name);
    if (strcmp(stage_names[account->stage], field_of(reader, COLUMN_STAGE)) != 0)
        return fail(reader, "account '%.80s' is of another stage", name);
    if (basis < 0)
        return fail(reader, "no basis is named '%.80s'", field_of(reader, COLUMN_BASIS));
    if (!field_of(reader, COLUMN_STATE)[0])
        return fail(reader, "account '%.80s' is in no state", name);
    if (read_integer(reader, COLUMN_BYTES, &row.bytes) ||
        read_pair(reader, COLUMN_LOW, COLUMN_HIGH, &row.has_range, &row.low, &row.high) ||
        read_pair(reader, COLUMN_SPREAD_LOW, COLUMN_SPREAD_HIGH, &row.has_spread, &row.spread_low,
                  &row.spread_high))
        return -1;
    if (read_time(reader, COLUMN_ENCODE, &encode_ns) ||
        read_time(reader, COLUMN_DECODE, &decode_ns))
        return -1;
    const char *marginal = field_of(reader, COLUMN_MARGINAL);
    row.has_marginal = marginal[0] != '\0';
    if (row.has_marginal && !number_parse_fixed(marginal, &row.marginal))
        return fail(reader, "'%.80s' is no marginal cost", marginal);
    if (take_cell(reader, report, &cell))
        return -1;
    struct ledger *ledger;
    if (take_ledger(reader, cell, &ledger))
        return -1;
    if (ledger_find(ledger, account))
        return fail(reader, "account '%.80s' is there twice", name);
    struct ledger_row *put = ledger_put(ledger, account, (enum basis)basis, row.bytes);
    row.account = account;
    row.basis = (enum basis)basis;
    *put = row;
    cell->predicted = ledger_is_prediction(ledger);
    cell->encode_ns = encode_ns > 0 ? encode_ns : cell->encode_ns;
    cell->decode_ns = decode_ns > 0 ? decode_ns : cell->decode_ns;
    return 0;
}

static int csv_parse(struct slice text, const char *path, struct report *report,
                     struct tare_error *error)
{
    struct reader reader = {.path = path,
                            .place = text.bytes,
                            .end = text.bytes + text.length,
                            .line = 1,
                            .error = error};
    int more = read_record(&reader);

    report->seed_unknown = true;
    if (more == 1)
        more = error_set(error, TARE_USAGE, "'%s' is empty: not a tare report", path);
    else if (more == 0)
        more = read_heading(&reader);
    size_t columns = reader.count;
    while (more == 0) {
        more = read_record(&reader);
        if (more == 0 && reader.count != columns)
            more = fail(&reader, "%zu fields instead of %zu: the file may be truncated",
                        reader.count, columns);
        if (more == 0)
            more = take_row(&reader, report);
    }
    fields_clear(&reader);
    free(reader.fields);
    return more < 0 ? -1 : 0;
}

const struct format_kind format_csv = {
    .name = "csv",
    .summary = "one row an account, for other programs",
    .render = csv_render,
    .render_gap = csv_render_gap,
    .parse = csv_parse,
};

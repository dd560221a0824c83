/* A report as JSON, schema 1: all that is in it, raw figures and checkpoints
 * too, and back without loss. Numbers that follow from others (bytes a record,
 * headline, shares) are written for other programs, and not read back. */
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ledger/ranking.h"
#include "report/number.h"
#include "report/report.h"

#define SCHEMA 1

/* Digits of real numbers: as many as a double surely keeps (DBL_DIG), so that 0.1 is written 0.1,
 * and what is read is written the same again. */
#define REAL_DIGITS 15

/* jansson's memory is tare's: exhaustion ends the process, so no call below fails for want of it.
 */
static void use_own_memory(void)
{
    json_set_alloc_funcs(memory_new, free);
}

/* ---- writing ---- */

static json_t *text_value(const char *text)
{
    struct buffer safe = {0};

    if (!text)
        return json_null();
    text_safe(&safe, text, false);
    json_t *value = json_stringn(safe.data ? safe.data : "", safe.length);
    buffer_free(&safe);
    return value;
}

static json_t *real_value(double number)
{
    char text[32];

    if (isfinite(number))
        return json_real(number);
    /* JSON has no such number. */
    snprintf(text, sizeof text, "%f", number);
    return json_string(text);
}

static json_t *figure_value(const struct figure *figure)
{
    switch (figure->type) {
    case FIGURE_INTEGER:
        return json_integer(figure->integer);
    case FIGURE_REAL:
        return real_value(figure->real);
    case FIGURE_TEXT:
        break;
    }
    return text_value(figure->text ? figure->text : "");
}

const char *const samples_names[] = {"all", "published", "none", NULL};

static json_t *figures_value(const struct figures *figures)
{
    json_t *object = json_object();

    for (size_t i = 0; i < figures->count; i++) {
        struct buffer name = {0};
        text_safe(&name, figures->items[i].name, false);
        json_object_set_new(object, name.data ? name.data : "", figure_value(&figures->items[i]));
        buffer_free(&name);
    }
    return object;
}

static bool is_published(const struct published *published, const char *name)
{
    for (; published && published->name; published++)
        for (size_t i = 0; i < 2; i++)
            if (published->figures[i] && strcmp(published->figures[i], name) == 0)
                return true;
    return false;
}

/* The raw figures of a cell of this build, or as many of them as are asked for. */
static json_t *samples_value(const struct figures *figures, const struct build *build,
                             enum samples samples)
{
    const struct model_kind *model = model_kind_of(build);
    const struct published *published = model ? model->published : NULL;
    struct figures kept = {0};
    for (size_t i = 0; samples == SAMPLES_PUBLISHED && i < figures->count; i++)
        if (is_published(published, figures->items[i].name))
            figures_put(&kept, figures->items[i].name, &figures->items[i]);
    json_t *value = figures_value(samples == SAMPLES_ALL ? figures : &kept);
    figures_free(&kept);
    return value;
}

/* bytes / records with four decimals, as the CSV has it. */
static json_t *per_record_value(int64_t bytes, int64_t records)
{
    char text[NUMBER_SIZE];
    double number;

    if (!number_parse_fixed(number_per_record(text, bytes, records), &number))
        return records > 0 ? json_real((double)bytes / (double)records) : json_null();
    return json_real(number);
}

static json_t *row_value(const struct ledger_row *row, int64_t records)
{
    json_t *object = json_object();

    json_object_set_new(object, "account", json_string(row->account->name));
    json_object_set_new(object, "stage", json_string(stage_names[row->account->stage]));
    json_object_set_new(object, "basis", json_string(basis_names[row->basis]));
    json_object_set_new(object, "bytes", json_integer(row->bytes));
    json_object_set_new(object, "bytes_per_record", per_record_value(row->bytes, records));
    json_object_set_new(object, "marginal_bytes_per_record",
                        row->has_marginal ? real_value(row->marginal) : json_null());
    if (row->has_range) {
        json_object_set_new(object, "bytes_low", json_integer(row->low));
        json_object_set_new(object, "bytes_high", json_integer(row->high));
    }
    if (row->has_spread) {
        json_object_set_new(object, "spread_low", json_integer(row->spread_low));
        json_object_set_new(object, "spread_high", json_integer(row->spread_high));
    }
    return object;
}

static json_t *evidence_value(const struct evidence *evidence)
{
    json_t *object = json_object(), *rows = json_array();

    json_object_set_new(object, "source", text_value(evidence->source));
    for (size_t i = 0; i < evidence->count; i++) {
        const struct evidence_row *row = &evidence->rows[i];
        json_t *one = json_object();
        json_object_set_new(one, "size", json_integer(row->size));
        json_object_set_new(one, "predicted", json_integer(row->predicted));
        json_object_set_new(one, "counted", json_integer(row->counted));
        json_array_append_new(rows, one);
    }
    json_object_set_new(object, "rows", rows);
    return object;
}

/* A count is a whole number but where the model expects a part of one. */
static json_t *blocks_value(const struct ledger *ledger)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < ledger->block_count; i++) {
        const struct ledger_block *block = &ledger->blocks[i];
        bool whole = block->count == floor(block->count) && fabs(block->count) < 1e15;
        json_t *one = json_object();
        json_object_set_new(one, "kind", text_value(block->kind));
        json_object_set_new(one, "requested", json_integer(block->requested));
        json_object_set_new(one, "count",
                            whole ? json_integer((int64_t)block->count) : real_value(block->count));
        json_array_append_new(rows, one);
    }
    return rows;
}

static json_t *headline_value(const struct ledger *ledger)
{
    struct headline headline = ledger_headline(ledger);
    json_t *object = json_object();

    json_object_set_new(object, "predicted",
                        headline.has_predicted ? json_integer(headline.predicted) : json_null());
    json_object_set_new(object, "measured",
                        headline.has_measured ? json_integer(headline.measured) : json_null());
    json_object_set_new(object, "missed",
                        headline.has_predicted && headline.has_measured ? json_real(headline.missed)
                                                                        : json_null());
    return object;
}

static json_t *unattributed_value(const struct ledger *ledger)
{
    json_t *object = json_object();
    double resident = ledger_share_resident(ledger);

    json_object_set_new(object, "allocated_share",
                        ledger_find(ledger, &account_total_allocated)
                            ? json_real(ledger_share_allocated(ledger))
                            : json_null());
    json_object_set_new(object, "resident_share",
                        resident >= 0 ? json_real(resident) : json_null());
    return object;
}

static json_t *advice_value(const struct ledger *ledger, int64_t records)
{
    json_t *list = json_array();

    for (size_t i = 0; i < ledger->advice_count; i++) {
        const struct ledger_advice *advice = &ledger->advice[i];
        json_t *one = json_object();
        json_object_set_new(one, "kind", text_value(advice->kind));
        json_object_set_new(one, "note", json_integer((json_int_t)advice->note));
        json_object_set_new(one, "text", text_value(ledger->notes[advice->note]));
        json_object_set_new(one, "change", text_value(advice->change));
        json_object_set_new(one, "saves", json_integer(advice->saved));
        json_object_set_new(one, "saves_per_record", per_record_value(advice->saved, records));
        json_object_set_new(one, "saves_resident", json_integer(advice->saved_resident));
        json_array_append_new(list, one);
    }
    return list;
}

/* Whole numbers of a workload's latencies; one list for both directions. */
static const struct {
    const char *name;
    size_t offset;
} latency_members[] = {
    {"operations", offsetof(struct workload_latency, operations)},
    {"mean_ns", offsetof(struct workload_latency, mean)},
    {"p50_ns", offsetof(struct workload_latency, p50)},
    {"p95_ns", offsetof(struct workload_latency, p95)},
    {"p99_ns", offsetof(struct workload_latency, p99)},
    {"p99.9_ns", offsetof(struct workload_latency, p999)},
    {"max_ns", offsetof(struct workload_latency, max)},
};

#define LATENCY_MEMBERS (sizeof latency_members / sizeof latency_members[0])

static int64_t *latency_member(struct workload_latency *latency, size_t i)
{
    return (int64_t *)(void *)((char *)latency + latency_members[i].offset);
}

static json_t *latencies_value(const struct workload *workload)
{
    json_t *list = json_array();

    for (size_t i = 0; i < workload->latency_count; i++) {
        struct workload_latency copy = workload->latencies[i];
        json_t *one = json_object();
        json_object_set_new(one, "operation", text_value(copy.operation));
        for (size_t j = 0; j < LATENCY_MEMBERS; j++)
            json_object_set_new(one, latency_members[j].name,
                                json_integer(*latency_member(&copy, j)));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *curve_value(const struct workload *workload)
{
    json_t *list = json_array();

    for (size_t i = 0; i < workload->sample_count; i++) {
        const struct workload_sample *sample = &workload->samples[i];
        json_t *one = json_object();
        json_object_set_new(one, "seconds", real_value(sample->seconds));
        json_object_set_new(one, "operations", json_integer(sample->operations));
        json_object_set_new(one, "allocated", json_integer(sample->allocated));
        json_object_set_new(one, "resident",
                            sample->resident == -1 ? json_null() : json_integer(sample->resident));
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *workload_value(const struct workload *workload)
{
    json_t *object = json_object();

    json_object_set_new(object, "operations", json_integer(workload->operations));
    json_object_set_new(object, "not_found", json_integer(workload->not_found));
    json_object_set_new(object, "seconds", real_value(workload->seconds));
    json_object_set_new(object, "operations_per_second", real_value(workload_per_second(workload)));
    json_object_set_new(object, "threads", json_integer(workload->threads));
    json_object_set_new(object, "pipeline", json_integer(workload->pipeline));
    json_object_set_new(object, "rate",
                        workload->rate ? json_integer(workload->rate) : json_null());
    json_object_set_new(object, "distribution", text_value(workload->distribution));
    json_object_set_new(object, "client_cpu_seconds", real_value(workload->client_cpu_seconds));
    json_object_set_new(object, "server_cpu_seconds", real_value(workload->server_cpu_seconds));
    json_object_set_new(object, "processors", json_integer(workload->processors));
    json_object_set_new(object, "bound_by", json_string(workload_bound_names[workload->bound]));
    json_object_set_new(object, "client_bound", json_boolean(workload->bound == BOUND_CLIENT));
    json_object_set_new(object, "latencies", latencies_value(workload));
    json_object_set_new(object, "curve", curve_value(workload));
    return object;
}

static json_t *ledger_value(const struct cell *cell, const struct ledger *ledger,
                            enum samples samples)
{
    json_t *object = json_object(), *rows = json_array(), *notes = json_array();
    int64_t records = ledger_records(cell, ledger);

    json_object_set_new(object, "state", text_value(ledger->state));
    json_object_set_new(object, "records", json_integer(records));
    json_object_set_new(object, "settings_text", text_value(ledger_settings(cell, ledger)));
    for (size_t i = 0; i < ledger->count; i++)
        json_array_append_new(rows, row_value(&ledger->rows[i], records));
    json_object_set_new(object, "accounts", rows);
    json_object_set_new(object, "headline", headline_value(ledger));
    if (!ledger_is_prediction(ledger))
        json_object_set_new(object, "unattributed", unattributed_value(ledger));
    if (ledger->subtotal_name) {
        json_t *subtotal = json_object();
        json_object_set_new(subtotal, "name", text_value(ledger->subtotal_name));
        json_object_set_new(subtotal, "bytes", json_integer(ledger->subtotal));
        json_object_set_new(object, "subtotal", subtotal);
    }
    if (ledger->workload)
        json_object_set_new(object, "workload", workload_value(ledger->workload));
    if (ledger->peak_allocated)
        json_object_set_new(object, "peak_allocated", json_integer(ledger->peak_allocated));
    if (ledger->step_count) {
        json_t *steps = json_array();
        for (size_t i = 0; i < ledger->step_count; i++) {
            json_t *step = json_object();
            json_object_set_new(step, "records", json_integer(ledger->steps[i].records));
            json_object_set_new(step, "bytes", json_integer(ledger->steps[i].bytes));
            json_object_set_new(step, "freed_after", json_integer(ledger->steps[i].freed_after));
            json_array_append_new(steps, step);
        }
        json_object_set_new(object, "table_steps", steps);
    }
    json_object_set_new(object, "inputs", figures_value(&ledger->inputs));
    if (ledger->evidence.source || ledger->evidence.count)
        json_object_set_new(object, "evidence", evidence_value(&ledger->evidence));
    if (ledger->block_count && samples == SAMPLES_ALL)
        json_object_set_new(object, "blocks", blocks_value(ledger));
    for (size_t i = 0; i < ledger->note_count; i++)
        json_array_append_new(notes, text_value(ledger->notes[i]));
    json_object_set_new(object, "notes", notes);
    if (ledger->advice_count)
        json_object_set_new(object, "advice", advice_value(ledger, records));
    json_object_set_new(object, "samples", samples_value(&ledger->samples, &cell->build, samples));
    if (ledger->base.count)
        json_object_set_new(object, "base", samples_value(&ledger->base, &cell->build, samples));
    return object;
}

/* The members of struct counted by the names of their accounts; one list for both directions. */
static const struct {
    const struct account *account;
    size_t offset;
} counted_members[] = {
    {&account_key, offsetof(struct counted, key)},
    {&account_values, offsetof(struct counted, values)},
    {&account_field_names, offsetof(struct counted, field_names)},
    {&account_framing, offsetof(struct counted, framing)},
    {&account_number_form, offsetof(struct counted, number_form)},
    {&account_escapes, offsetof(struct counted, escapes)},
    {&account_compression, offsetof(struct counted, compression)},
    {&account_dictionary, offsetof(struct counted, dictionary)},
};

#define COUNTED_MEMBERS (sizeof counted_members / sizeof counted_members[0])

static int64_t *counted_member(struct counted *counted, size_t i)
{
    return (int64_t *)(void *)((char *)counted + counted_members[i].offset);
}

static json_t *checkpoint_value(const struct checkpoint *checkpoint)
{
    json_t *object = json_object(), *counted = json_object(), *modelled = json_object();
    struct counted copy = checkpoint->counted;

    json_object_set_new(object, "records", json_integer(checkpoint->records));
    json_object_set_new(object, "seconds", real_value(checkpoint->seconds));
    json_object_set_new(object, "allocated", json_integer(checkpoint->allocated));
    json_object_set_new(object, "resident",
                        checkpoint->resident == -1 ? json_null()
                                                   : json_integer(checkpoint->resident));
    for (size_t i = 0; i < COUNTED_MEMBERS; i++)
        json_object_set_new(counted, counted_members[i].account->name,
                            json_integer(*counted_member(&copy, i)));
    for (size_t i = 0; accounts[i]; i++) {
        int64_t bytes = checkpoint->modelled.bytes[account_place(accounts[i])];
        if (bytes)
            json_object_set_new(modelled, accounts[i]->name, json_integer(bytes));
    }
    json_object_set_new(object, "counted", counted);
    json_object_set_new(object, "modelled", modelled);
    return object;
}

/* "a=1 b=two words" as an object; a word without "=" belongs to the value before it. */
static json_t *settings_value(const char *text)
{
    struct figures settings = {0};
    struct buffer name = {0}, value = {0};

    for (const char *place = text ? text : ""; *place;) {
        size_t length = strcspn(place, " ");
        const char *equals = memchr(place, '=', length);
        if (equals && equals > place) {
            if (name.length)
                figures_parse(&settings, name.data, value.data ? value.data : "");
            buffer_clear(&name);
            buffer_clear(&value);
            buffer_append(&name, place, (size_t)(equals - place));
            buffer_append(&value, equals + 1, length - (size_t)(equals - place) - 1);
        } else if (name.length && length) {
            buffer_byte(&value, ' ');
            buffer_append(&value, place, length);
        }
        place += length + strspn(place + length, " ");
    }
    if (name.length)
        figures_parse(&settings, name.data, value.data ? value.data : "");
    json_t *object = figures_value(&settings);
    figures_free(&settings);
    buffer_free(&name);
    buffer_free(&value);
    return object;
}

static json_t *build_value(const struct build *build)
{
    json_t *object = json_object();

    json_object_set_new(object, "quantum", json_integer(build->quantum));
    json_object_set_new(object, "page_size", json_integer(build->page_size));
    json_object_set_new(object, "cache_oblivious", json_integer(build->cache_oblivious));
    return object;
}

static json_t *load_value(const struct cell *cell)
{
    json_t *object = json_object();

    json_object_set_new(object, "seconds", real_value(cell->load_seconds));
    json_object_set_new(object, "records_per_second",
                        cell->load_seconds > 0
                            ? real_value((double)cell_loaded_records(cell) / cell->load_seconds)
                            : json_null());
    json_object_set_new(object, "client_cpu_seconds", real_value(cell->client_cpu_seconds));
    json_object_set_new(object, "server_cpu_seconds", real_value(cell->server_cpu_seconds));
    return object;
}

static json_t *time_value(double nanoseconds)
{
    return nanoseconds > 0 ? real_value(nanoseconds) : json_null();
}

static json_t *cell_value(const struct cell *cell, enum samples samples)
{
    json_t *object = json_object(), *states = json_array(), *checkpoints = json_array();

    json_object_set_new(object, "name", text_value(cell->name ? cell->name : ""));
    json_object_set_new(object, "store", text_value(cell->build.store));
    json_object_set_new(object, "version", text_value(cell->build.version));
    json_object_set_new(object, "allocator", text_value(cell->build.allocator));
    json_object_set_new(object, "engine", text_value(cell->build.engine));
    json_object_set_new(object, "build", build_value(&cell->build));
    json_object_set_new(object, "encoding", text_value(cell->encoding));
    json_object_set_new(object, "dataset", text_value(cell->dataset));
    if (cell->dataset_summary)
        json_object_set_new(object, "dataset_summary", text_value(cell->dataset_summary));
    json_object_set_new(object, "records", json_integer(cell->records));
    json_object_set_new(object, "complete", json_boolean(cell->complete));
    json_object_set_new(object, "predicted", json_boolean(cell->predicted));
    json_object_set_new(object, "error", text_value(cell->error));
    json_object_set_new(object, "repeats", json_integer(cell->repeats));
    json_object_set_new(object, "settings", settings_value(cell->settings));
    json_object_set_new(object, "settings_text", text_value(cell->settings));
    json_object_set_new(object, "load", load_value(cell));
    json_object_set_new(object, "encode_ns", time_value(cell->encode_ns));
    json_object_set_new(object, "decode_ns", time_value(cell->decode_ns));
    for (size_t i = 0; i < cell->state_count; i++)
        json_array_append_new(states, ledger_value(cell, &cell->states[i], samples));
    json_object_set_new(object, "states", states);
    json_object_set_new(object, "base", samples_value(&cell->base, &cell->build, samples));
    for (size_t i = 0; i < cell->checkpoint_count; i++)
        json_array_append_new(checkpoints, checkpoint_value(&cell->checkpoints[i]));
    json_object_set_new(object, "checkpoints", checkpoints);
    return object;
}

static json_t *ranking_value(const struct ranking *ranking)
{
    json_t *object = json_object(), *cells = json_array();

    json_object_set_new(object, "dataset", text_value(ranking->dataset));
    json_object_set_new(object, "records", json_integer(ranking->records));
    json_object_set_new(object, "state", text_value(ranking->state));
    json_object_set_new(object, "account", json_string(ranking->account->name));
    json_object_set_new(object, "plain", text_value(ranking->plain->cell->name));
    for (size_t i = 0; i < ranking->count; i++) {
        const struct ranked *item = &ranking->items[i];
        json_t *one = json_object();
        json_object_set_new(one, "cell", text_value(item->cell->name));
        json_object_set_new(one, "rank", json_integer(item->rank));
        json_object_set_new(one, "bytes_per_record",
                            per_record_value(item->bytes, ranking->records));
        json_object_set_new(one, "ratio", item->ratio > 0 ? real_value(item->ratio) : json_null());
        json_object_set_new(
            one, "difference_per_record",
            per_record_value(item->bytes - ranking->plain->bytes, ranking->records));
        json_object_set_new(one, "encode_ns", time_value(item->cell->encode_ns));
        json_object_set_new(one, "decode_ns", time_value(item->cell->decode_ns));
        json_array_append_new(cells, one);
    }
    json_object_set_new(object, "ranked", cells);
    return object;
}

static json_t *rankings_value(const struct report *report)
{
    struct rankings rankings;
    json_t *list = json_array();

    rankings_of(report, &rankings);
    for (size_t i = 0; i < rankings.count; i++)
        json_array_append_new(list, ranking_value(&rankings.items[i]));
    rankings_free(&rankings);
    return list;
}

static int append_text(const char *text, size_t length, void *context)
{
    buffer_append(context, text, length);
    return 0;
}

static void json_render(const struct report *report, const struct report_style *style,
                        struct buffer *out)
{
    use_own_memory();
    json_t *object = json_object(), *cells = json_array();
    json_object_set_new(object, "schema", json_integer(SCHEMA));
    json_object_set_new(object, "tare", text_value(report->tare_version));
    json_object_set_new(object, "created", text_value(report->created));
    json_object_set_new(object, "command", text_value(report->command_line));
    json_object_set_new(object, "seed",
                        report->seed_unknown ? json_null() : json_integer(report->seed));
    json_object_set_new(object, "environment", figures_value(&report->environment));
    if (style->samples != SAMPLES_ALL)
        json_object_set_new(object, "samples", json_string(samples_names[style->samples]));
    for (size_t i = 0; i < report->count; i++)
        json_array_append_new(cells, cell_value(&report->cells[i], style->samples));
    json_object_set_new(object, "cells", cells);
    json_object_set_new(object, "rankings", rankings_value(report));
    json_dump_callback(object, append_text, out, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
    buffer_byte(out, '\n');
    json_decref(object);
}

static json_t *gap_side(const struct cell *cell, const struct ledger *ledger)
{
    json_t *object = json_object();
    json_object_set_new(object, "cell", text_value(cell->name ? cell->name : ""));
    json_object_set_new(object, "state", text_value(ledger->state));
    json_object_set_new(object, "records", json_integer(ledger_records(cell, ledger)));
    json_object_set_new(object, "dataset", text_value(cell->dataset));
    json_object_set_new(object, "unattributed", unattributed_value(ledger));
    return object;
}

static json_t *gap_figures(const struct gap *gap, int64_t records_a, int64_t records_b)
{
    json_t *array = json_array();
    for (size_t i = 0; i < gap->figure_count; i++) {
        const struct gap_figure *figure = &gap->figures[i];
        const struct account *total = figure->published->total;
        json_t *one = json_object();
        json_object_set_new(one, "figure", json_string(figure->published->name));
        json_object_set_new(one, "beside", total ? json_string(total->name) : json_null());
        json_object_set_new(one, "bytes_a", figure->in_a ? json_integer(figure->a) : json_null());
        json_object_set_new(one, "bytes_b", figure->in_b ? json_integer(figure->b) : json_null());
        json_object_set_new(one, "bytes_per_record_a",
                            figure->in_a ? per_record_value(figure->a, records_a) : json_null());
        json_object_set_new(one, "bytes_per_record_b",
                            figure->in_b ? per_record_value(figure->b, records_b) : json_null());
        json_array_append_new(array, one);
    }
    return array;
}

static void json_render_gap(const struct cell *a, const struct ledger *state_a,
                            const struct cell *b, const struct ledger *state_b,
                            const struct report_style *style, struct buffer *out)
{
    struct gap gap;

    (void)style;
    use_own_memory();
    json_t *object = json_object(), *rows = json_array();
    int64_t records_a = ledger_records(a, state_a), records_b = ledger_records(b, state_b);
    gap_of(a, state_a, b, state_b, &gap);
    json_object_set_new(object, "schema", json_integer(SCHEMA));
    json_object_set_new(object, "a", gap_side(a, state_a));
    json_object_set_new(object, "b", gap_side(b, state_b));
    for (size_t i = 0; i < gap.count; i++) {
        const struct gap_row *row = &gap.rows[i];
        bool both = records_a > 0 && records_b > 0;
        char text[NUMBER_SIZE];
        double difference = 0;
        json_t *one = json_object();
        json_object_set_new(one, "account", json_string(row->account->name));
        json_object_set_new(one, "stage", json_string(stage_names[row->account->stage]));
        json_object_set_new(one, "bytes_a", row->in_a ? json_integer(row->bytes_a) : json_null());
        json_object_set_new(one, "bytes_b", row->in_b ? json_integer(row->bytes_b) : json_null());
        json_object_set_new(one, "bytes_per_record_a",
                            row->in_a ? per_record_value(row->bytes_a, records_a) : json_null());
        json_object_set_new(one, "bytes_per_record_b",
                            row->in_b ? per_record_value(row->bytes_b, records_b) : json_null());
        both = both && number_parse_fixed(number_fixed(text, row->a - row->b), &difference);
        json_object_set_new(one, "gap_per_record", both ? json_real(difference) : json_null());
        json_array_append_new(rows, one);
    }
    json_object_set_new(object, "gap", rows);
    json_object_set_new(object, "published", gap_figures(&gap, records_a, records_b));
    json_dump_callback(object, append_text, out, JSON_INDENT(2) | JSON_REAL_PRECISION(REAL_DIGITS));
    buffer_byte(out, '\n');
    json_decref(object);
    gap_free(&gap);
}

/* ---- reading ---- */

struct reader {
    const char *path;
    struct tare_error *error;
    char where[200]; /* "cells[3].states[0]" */
};

static int fail(const struct reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int fail(const struct reader *reader, const char *format, ...)
{
    char text[400];
    struct buffer message = {0};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    text_safe(&message, text, true);
    error_set(reader->error, TARE_USAGE, "'%s'%s%s: %s", reader->path, reader->where[0] ? ", " : "",
              reader->where, message.data ? message.data : "");
    buffer_free(&message);
    return -1;
}

/* A reader whose errors speak of a place within this one's. */
static struct reader within(const struct reader *reader, const char *list, size_t index)
{
    struct reader inner = *reader;
    snprintf(inner.where, sizeof inner.where, "%.150s%s%s[%zu]", reader->where,
             reader->where[0] ? "." : "", list, index);
    return inner;
}

static int read_text(const struct reader *reader, const json_t *object, const char *key,
                     bool needed, char **out)
{
    const json_t *value = json_object_get(object, key);

    if (!needed && (!value || json_is_null(value)))
        return 0;
    if (!json_is_string(value))
        return fail(reader, value ? "'%s' is no text" : "'%s' is missing", key);
    /* Strings hold no NUL: the decoder refuses it. */
    free(*out);
    *out = memory_text(json_string_value(value));
    return 0;
}

static int read_name(const struct reader *reader, const json_t *object, const char *key, char *to,
                     size_t size)
{
    char *text = NULL;

    if (read_text(reader, object, key, false, &text))
        return -1;
    if (text && strlen(text) >= size) {
        free(text);
        return fail(reader, "'%s' is too long a name", key);
    }
    if (text)
        memcpy(to, text, strlen(text) + 1);
    free(text);
    return 0;
}

static int read_integer(const struct reader *reader, const json_t *object, const char *key,
                        bool needed, int64_t *out)
{
    const json_t *value = json_object_get(object, key);

    if (!needed && (!value || json_is_null(value)))
        return 0;
    if (!json_is_integer(value))
        return fail(reader, value ? "'%s' is no whole number" : "'%s' is missing", key);
    *out = json_integer_value(value);
    return 0;
}

static int read_int(const struct reader *reader, const json_t *object, const char *key, int *out)
{
    int64_t number = *out;

    if (read_integer(reader, object, key, false, &number))
        return -1;
    if (number < INT_MIN || number > INT_MAX)
        return fail(reader, "'%s' is out of range", key);
    *out = (int)number;
    return 0;
}

static int read_real(const struct reader *reader, const json_t *object, const char *key,
                     double *out)
{
    const json_t *value = json_object_get(object, key);

    if (!value || json_is_null(value))
        return 0;
    if (!json_is_number(value))
        return fail(reader, "'%s' is no number", key);
    *out = json_number_value(value);
    return 0;
}

static int read_boolean(const struct reader *reader, const json_t *object, const char *key,
                        bool needed, bool *out)
{
    const json_t *value = json_object_get(object, key);

    if (!needed && !value)
        return 0;
    if (!json_is_boolean(value))
        return fail(reader, value ? "'%s' is neither true nor false" : "'%s' is missing", key);
    *out = json_boolean_value(value);
    return 0;
}

/* A list or an object that may be missing; *out is NULL then. */
static int read_list(const struct reader *reader, const json_t *object, const char *key,
                     bool needed, json_t **out)
{
    *out = json_object_get(object, key);
    if (!needed && (!*out || json_is_null(*out))) {
        *out = NULL;
        return 0;
    }
    if (!json_is_array(*out))
        return fail(reader, *out ? "'%s' is no list" : "'%s' is missing", key);
    return 0;
}

static int read_figures(const struct reader *reader, json_t *object, const char *key,
                        struct figures *figures)
{
    json_t *values = json_object_get(object, key), *value;
    const char *name;

    if (!values || json_is_null(values))
        return 0;
    if (!json_is_object(values))
        return fail(reader, "'%s' is no object", key);
    json_object_foreach(values, name, value)
    {
        if (json_is_integer(value))
            figures_integer(figures, name, json_integer_value(value));
        else if (json_is_real(value))
            figures_real(figures, name, json_real_value(value));
        else if (json_is_string(value))
            figures_text(figures, name, json_string_value(value));
        else
            return fail(reader, "'%s' in '%s' is neither a number nor a text", name, key);
    }
    return 0;
}

static int read_pair(const struct reader *reader, const json_t *object, const char *low,
                     const char *high, bool *there, int64_t *low_number, int64_t *high_number)
{
    *there = json_object_get(object, low) || json_object_get(object, high);
    if (!*there)
        return 0;
    return read_integer(reader, object, low, true, low_number) ||
                   read_integer(reader, object, high, true, high_number)
               ? -1
               : 0;
}

static int read_account(const struct reader *reader, const json_t *value, struct ledger *ledger)
{
    struct ledger_row row = {0};

    if (!json_is_object(value))
        return fail(reader, "this is no object");
    const char *name = json_string_value(json_object_get(value, "account"));
    const char *stage = json_string_value(json_object_get(value, "stage"));
    const char *basis = json_string_value(json_object_get(value, "basis"));
    if (!name || !basis)
        return fail(reader, "'%s' is missing", name ? "basis" : "account");
    row.account = account_of_name(name);
    if (!row.account)
        return fail(reader, "no account is named '%.80s'; a newer tare may have written this",
                    name);
    if (stage && strcmp(stage, stage_names[row.account->stage]) != 0)
        return fail(reader, "account '%s' is of another stage than '%.80s'", name, stage);
    int known_basis = basis_of_name(basis);
    if (known_basis < 0)
        return fail(reader, "no basis is named '%.80s'", basis);
    row.basis = (enum basis)known_basis;
    const json_t *marginal = json_object_get(value, "marginal_bytes_per_record");
    row.has_marginal = marginal && !json_is_null(marginal);
    if (read_integer(reader, value, "bytes", true, &row.bytes) ||
        read_real(reader, value, "marginal_bytes_per_record", &row.marginal) ||
        read_pair(reader, value, "bytes_low", "bytes_high", &row.has_range, &row.low, &row.high) ||
        read_pair(reader, value, "spread_low", "spread_high", &row.has_spread, &row.spread_low,
                  &row.spread_high))
        return -1;
    if (ledger_find(ledger, row.account))
        return fail(reader, "account '%s' is there twice", name);
    *ledger_put(ledger, row.account, row.basis, 0) = row;
    return 0;
}

static int read_evidence(const struct reader *reader, const json_t *object, struct ledger *ledger)
{
    json_t *rows, *value;
    size_t i;

    if (!object || json_is_null(object))
        return 0;
    if (!json_is_object(object))
        return fail(reader, "'evidence' is no object");
    if (read_text(reader, object, "source", false, &ledger->evidence_source) ||
        read_list(reader, object, "rows", false, &rows))
        return -1;
    ledger->evidence.source = ledger->evidence_source;
    json_array_foreach(rows, i, value)
    {
        struct evidence *evidence = &ledger->evidence;
        struct evidence_row row = {0};
        struct reader inner = within(reader, "evidence.rows", i);
        if (read_integer(&inner, value, "size", true, &row.size) ||
            read_integer(&inner, value, "predicted", true, &row.predicted) ||
            read_integer(&inner, value, "counted", true, &row.counted))
            return -1;
        MEMORY_GROW(evidence->rows, evidence->count, evidence->capacity);
        evidence->rows[evidence->count++] = row;
    }
    return 0;
}

static int read_blocks(const struct reader *reader, const json_t *object, struct ledger *ledger)
{
    json_t *rows, *value;
    size_t i;

    if (read_list(reader, object, "blocks", false, &rows))
        return -1;
    json_array_foreach(rows, i, value)
    {
        struct reader inner = within(reader, "blocks", i);
        char *kind = NULL;
        int64_t requested = 0;
        double count = 0;
        int failed = read_text(&inner, value, "kind", true, &kind) ||
                     read_integer(&inner, value, "requested", true, &requested) ||
                     read_real(&inner, value, "count", &count);
        if (!failed && !json_object_get(value, "count"))
            failed = fail(&inner, "'count' is missing");
        if (!failed)
            ledger_add_block(ledger, kind, requested, count);
        free(kind);
        if (failed)
            return -1;
    }
    return 0;
}

static int read_steps(const struct reader *reader, const json_t *object, struct ledger *ledger)
{
    const size_t room = sizeof ledger->steps / sizeof ledger->steps[0];
    json_t *steps, *value;
    size_t i;

    if (read_list(reader, object, "table_steps", false, &steps))
        return -1;
    if (json_array_size(steps) > room)
        return fail(reader, "more than %zu table steps", room);
    json_array_foreach(steps, i, value)
    {
        struct table_step *step = &ledger->steps[ledger->step_count];
        struct reader inner = within(reader, "table_steps", i);
        if (read_integer(&inner, value, "records", true, &step->records) ||
            read_integer(&inner, value, "bytes", true, &step->bytes) ||
            read_integer(&inner, value, "freed_after", true, &step->freed_after))
            return -1;
        ledger->step_count++;
    }
    return 0;
}

/* Behind the notes, of which each speaks of one. */
static int read_advice(const struct reader *reader, const json_t *object, struct ledger *ledger)
{
    json_t *list, *value;
    size_t i;

    if (read_list(reader, object, "advice", false, &list))
        return -1;
    json_array_foreach(list, i, value)
    {
        struct reader inner = within(reader, "advice", i);
        struct ledger_advice *advice;
        int64_t note;
        MEMORY_GROW(ledger->advice, ledger->advice_count, ledger->advice_capacity);
        advice = &ledger->advice[ledger->advice_count++];
        *advice = (struct ledger_advice){0};
        if (read_text(&inner, value, "kind", true, &advice->kind) ||
            read_text(&inner, value, "change", false, &advice->change) ||
            read_integer(&inner, value, "note", true, &note) ||
            read_integer(&inner, value, "saves", true, &advice->saved) ||
            read_integer(&inner, value, "saves_resident", false, &advice->saved_resident))
            return -1;
        if (note < 0 || note >= (int64_t)ledger->note_count)
            return fail(&inner, "there is no note %" PRId64, note);
        advice->note = (size_t)note;
    }
    return 0;
}

static int read_latency(const struct reader *reader, const json_t *object,
                        struct workload_latency *latency)
{
    if (read_text(reader, object, "operation", true, &latency->operation))
        return -1;
    for (size_t i = 0; i < LATENCY_MEMBERS; i++)
        if (read_integer(reader, object, latency_members[i].name, true, latency_member(latency, i)))
            return -1;
    return 0;
}

static int read_workload_lists(const struct reader *reader, const json_t *object,
                               struct workload *workload)
{
    json_t *latencies, *curve, *value;
    size_t i;

    if (read_list(reader, object, "latencies", true, &latencies) ||
        read_list(reader, object, "curve", true, &curve))
        return -1;
    json_array_foreach(latencies, i, value)
    {
        struct reader inner = within(reader, "workload.latencies", i);
        MEMORY_GROW(workload->latencies, workload->latency_count, workload->latency_capacity);
        workload->latencies[workload->latency_count] = (struct workload_latency){0};
        if (read_latency(&inner, value, &workload->latencies[workload->latency_count++]))
            return -1;
    }
    json_array_foreach(curve, i, value)
    {
        struct reader inner = within(reader, "workload.curve", i);
        struct workload_sample sample = {.resident = -1};
        if (read_real(&inner, value, "seconds", &sample.seconds) ||
            read_integer(&inner, value, "operations", true, &sample.operations) ||
            read_integer(&inner, value, "allocated", true, &sample.allocated) ||
            read_integer(&inner, value, "resident", false, &sample.resident))
            return -1;
        MEMORY_GROW(workload->samples, workload->sample_count, workload->sample_capacity);
        workload->samples[workload->sample_count++] = sample;
    }
    return 0;
}

static int read_bound(const struct reader *reader, const json_t *object, enum workload_bound *bound)
{
    const char *name = json_string_value(json_object_get(object, "bound_by"));

    for (int i = 0; name && workload_bound_names[i]; i++) {
        if (strcmp(workload_bound_names[i], name) == 0) {
            *bound = (enum workload_bound)i;
            return 0;
        }
    }
    return fail(reader, "'bound_by' is none of the bounds");
}

static int read_workload(const struct reader *reader, const json_t *object, struct ledger *ledger)
{
    if (!object || json_is_null(object))
        return 0;
    if (!json_is_object(object))
        return fail(reader, "'workload' is no object");
    struct workload *workload = ledger->workload = workload_new();
    if (read_integer(reader, object, "operations", true, &workload->operations) ||
        read_integer(reader, object, "not_found", false, &workload->not_found) ||
        read_real(reader, object, "seconds", &workload->seconds) ||
        read_integer(reader, object, "threads", true, &workload->threads) ||
        read_integer(reader, object, "pipeline", true, &workload->pipeline) ||
        read_integer(reader, object, "rate", false, &workload->rate) ||
        read_text(reader, object, "distribution", false, &workload->distribution) ||
        read_real(reader, object, "client_cpu_seconds", &workload->client_cpu_seconds) ||
        read_real(reader, object, "server_cpu_seconds", &workload->server_cpu_seconds) ||
        read_integer(reader, object, "processors", false, &workload->processors) ||
        read_bound(reader, object, &workload->bound))
        return -1;
    return read_workload_lists(reader, object, workload);
}

static int read_ledger(const struct reader *reader, json_t *object, struct ledger *ledger)
{
    json_t *rows, *notes, *value;
    size_t i;

    if (!json_is_object(object))
        return fail(reader, "this is no object");
    if (read_text(reader, object, "state", true, &ledger->state) ||
        read_integer(reader, object, "records", false, &ledger->records) ||
        read_text(reader, object, "settings_text", false, &ledger->settings) ||
        read_list(reader, object, "accounts", true, &rows) ||
        read_integer(reader, object, "peak_allocated", false, &ledger->peak_allocated) ||
        read_steps(reader, object, ledger) ||
        read_workload(reader, json_object_get(object, "workload"), ledger) ||
        read_figures(reader, object, "inputs", &ledger->inputs) ||
        read_evidence(reader, json_object_get(object, "evidence"), ledger) ||
        read_blocks(reader, object, ledger) || read_list(reader, object, "notes", false, &notes) ||
        read_figures(reader, object, "samples", &ledger->samples) ||
        read_figures(reader, object, "base", &ledger->base))
        return -1;
    json_array_foreach(rows, i, value)
    {
        struct reader inner = within(reader, "accounts", i);
        if (read_account(&inner, value, ledger))
            return -1;
    }
    json_array_foreach(notes, i, value)
    {
        if (!json_is_string(value))
            return fail(reader, "a note is no text");
        MEMORY_GROW(ledger->notes, ledger->note_count, ledger->note_capacity);
        ledger->notes[ledger->note_count++] = memory_text(json_string_value(value));
    }
    if (read_advice(reader, object, ledger))
        return -1;
    const json_t *subtotal = json_object_get(object, "subtotal");
    if (!subtotal || json_is_null(subtotal))
        return 0;
    if (read_text(reader, subtotal, "name", true, &ledger->subtotal_name) ||
        read_integer(reader, subtotal, "bytes", true, &ledger->subtotal))
        return -1;
    return 0;
}

static int read_checkpoint(const struct reader *reader, const json_t *object,
                           struct checkpoint *checkpoint)
{
    const json_t *counted = json_object_get(object, "counted");
    json_t *modelled = json_object_get(object, "modelled"), *value;
    const char *name;

    checkpoint->resident = -1;
    if (read_integer(reader, object, "records", true, &checkpoint->records) ||
        read_integer(reader, object, "allocated", true, &checkpoint->allocated) ||
        read_integer(reader, object, "resident", false, &checkpoint->resident) ||
        read_real(reader, object, "seconds", &checkpoint->seconds))
        return -1;
    for (size_t i = 0; i < COUNTED_MEMBERS; i++)
        if (read_integer(reader, counted, counted_members[i].account->name, false,
                         counted_member(&checkpoint->counted, i)))
            return -1;
    json_object_foreach(modelled, name, value)
    {
        const struct account *account = account_of_name(name);
        if (!account || !json_is_integer(value))
            return fail(reader, "'%.80s' is no modelled account with its bytes", name);
        *sums_of(&checkpoint->modelled, account) = json_integer_value(value);
    }
    return 0;
}

static int read_cell_lists(const struct reader *reader, const json_t *object, struct cell *cell)
{
    json_t *states, *checkpoints, *value;
    size_t i;

    if (read_list(reader, object, "states", true, &states) ||
        read_list(reader, object, "checkpoints", false, &checkpoints))
        return -1;
    json_array_foreach(states, i, value)
    {
        struct reader inner = within(reader, "states", i);
        MEMORY_GROW(cell->states, cell->state_count, cell->state_capacity);
        cell->states[cell->state_count] = (struct ledger){0};
        if (read_ledger(&inner, value, &cell->states[cell->state_count++]))
            return -1;
    }
    json_array_foreach(checkpoints, i, value)
    {
        struct reader inner = within(reader, "checkpoints", i);
        MEMORY_GROW(cell->checkpoints, cell->checkpoint_count, cell->checkpoint_capacity);
        cell->checkpoints[cell->checkpoint_count] = (struct checkpoint){0};
        if (read_checkpoint(&inner, value, &cell->checkpoints[cell->checkpoint_count++]))
            return -1;
    }
    return 0;
}

static int read_cell(const struct reader *reader, json_t *object, struct cell *cell)
{
    struct build *build = &cell->build;
    const json_t *details = json_object_get(object, "build");
    const json_t *load = json_object_get(object, "load");

    if (!json_is_object(object))
        return fail(reader, "this is no object");
    build->cache_oblivious = -1;
    cell->repeats = 1;
    if (read_text(reader, object, "name", true, &cell->name) ||
        read_name(reader, object, "store", build->store, sizeof build->store) ||
        read_name(reader, object, "version", build->version, sizeof build->version) ||
        read_name(reader, object, "allocator", build->allocator, sizeof build->allocator) ||
        read_name(reader, object, "engine", build->engine, sizeof build->engine) ||
        read_int(reader, details, "quantum", &build->quantum) ||
        read_int(reader, details, "page_size", &build->page_size) ||
        read_int(reader, details, "cache_oblivious", &build->cache_oblivious) ||
        read_text(reader, object, "encoding", false, &cell->encoding) ||
        read_text(reader, object, "dataset", false, &cell->dataset) ||
        read_text(reader, object, "dataset_summary", false, &cell->dataset_summary) ||
        read_integer(reader, object, "records", true, &cell->records) ||
        read_boolean(reader, object, "complete", true, &cell->complete) ||
        read_boolean(reader, object, "predicted", false, &cell->predicted) ||
        read_text(reader, object, "error", false, &cell->error) ||
        read_integer(reader, object, "repeats", false, &cell->repeats) ||
        read_text(reader, object, "settings_text", false, &cell->settings) ||
        read_real(reader, load, "seconds", &cell->load_seconds) ||
        read_real(reader, load, "client_cpu_seconds", &cell->client_cpu_seconds) ||
        read_real(reader, load, "server_cpu_seconds", &cell->server_cpu_seconds) ||
        read_real(reader, object, "encode_ns", &cell->encode_ns) ||
        read_real(reader, object, "decode_ns", &cell->decode_ns) ||
        read_figures(reader, object, "base", &cell->base))
        return -1;
    build->number = version_number(build->version);
    if (cell->records < 0)
        return fail(reader, "%" PRId64 " records", cell->records);
    return read_cell_lists(reader, object, cell);
}

static int read_report(struct reader *reader, json_t *root, struct report *report)
{
    json_t *cells, *value;
    size_t i;
    int64_t schema = 0;

    if (!json_is_object(root) || !json_is_integer(json_object_get(root, "schema")) ||
        !json_object_get(root, "cells"))
        return fail(reader, "not a tare report: it has no 'schema' and 'cells'");
    if (read_integer(reader, root, "schema", true, &schema))
        return -1;
    if (schema != SCHEMA)
        return fail(reader, "schema %" PRId64 ", but this tare reads schema %d%s", schema, SCHEMA,
                    schema > SCHEMA ? ": take a newer tare" : "");
    if (read_text(reader, root, "tare", false, &report->tare_version) ||
        read_text(reader, root, "created", false, &report->created) ||
        read_text(reader, root, "command", false, &report->command_line) ||
        read_integer(reader, root, "seed", false, &report->seed) ||
        read_figures(reader, root, "environment", &report->environment) ||
        read_list(reader, root, "cells", true, &cells))
        return -1;
    report->seed_unknown = !json_is_integer(json_object_get(root, "seed"));
    json_array_foreach(cells, i, value)
    {
        struct reader inner = within(reader, "cells", i);
        if (read_cell(&inner, value, report_add_cell(report)))
            return -1;
    }
    return 0;
}

static int json_parse(struct slice text, const char *path, struct report *report,
                      struct tare_error *error)
{
    struct reader reader = {.path = path, .error = error};
    json_error_t fault;

    use_own_memory();
    json_t *root = json_loadb(text.bytes, text.length, JSON_REJECT_DUPLICATES, &fault);
    if (!root) {
        if (json_error_code(&fault) == json_error_premature_end_of_input)
            return fail(&reader, "the file ends on line %d within the report: it is truncated",
                        fault.line);
        return fail(&reader, "line %d: %s", fault.line, fault.text);
    }
    int failed = read_report(&reader, root, report);
    json_decref(root);
    return failed;
}

const struct format_kind format_json = {
    .name = "json",
    .summary = "all there is, raw figures too; can be read back without loss",
    .render = json_render,
    .render_gap = json_render_gap,
    .parse = json_parse,
};

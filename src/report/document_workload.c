/* Workloads: how fast, how late, at whose expense, and memory along them. */
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/document.h"
#include "report/number.h"
#include "report/words.h"

/* 850 ns, 12.3 us, 4.56 ms, 1.23 s: three digits, as many as are kept. */
static char *latency_text(char *out, int64_t nanoseconds)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof units / sizeof units[0] && (double)nanoseconds < units[i].unit * 0.9995)
        i++;
    double number = (double)nanoseconds / units[i].unit;
    int digits = units[i].unit == 1 || number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
    char text[UNITS_SIZE];
    snprintf(out, UNITS_SIZE, "%.36s %s", units_decimal(text, number, digits), units[i].name);
    return out;
}

static void add_row(struct table *table, const struct cell *cell, const struct ledger *ledger,
                    const struct workload_latency *latency, bool all)
{
    const struct workload *workload = ledger->workload;
    const int64_t latencies[] = {latency->p50, latency->p95, latency->p99, latency->p999,
                                 latency->max};
    char text[UNITS_SIZE];

    table_row(table, ROW_PLAIN);
    table_cell(table, all ? words_cell(cell) : "");
    table_cell(table, all ? ledger->state : "");
    table_cell(table, latency->operation);
    table_count(table, latency->operations);
    if (all && workload->seconds > 0)
        table_count(table, (int64_t)(workload_per_second(workload) + 0.5));
    else
        table_cell(table, all ? TABLE_NONE : "");
    for (size_t i = 0; i < sizeof latencies / sizeof latencies[0]; i++)
        table_cell(table, latency_text(text, latencies[i]));
    table_cell(table, all ? units_decimal(text, workload->client_cpu_seconds, 2) : "");
    table_cell(table, !all ? ""
                      : workload->server_cpu_seconds > 0
                          ? units_decimal(text, workload->server_cpu_seconds, 2)
                          : TABLE_NONE);
    table_cell(table,
               all && workload->bound != BOUND_NONE ? workload_bound_names[workload->bound] : "");
}

static void add_ledger_rows(struct table *table, const struct cell *cell,
                            const struct ledger *ledger)
{
    for (size_t i = 0; ledger->workload && i < ledger->workload->latency_count; i++)
        add_row(table, cell, ledger, &ledger->workload->latencies[i], i == 0);
}

static void begin_table(struct table *table)
{
    table_column(table, "workload", false);
    table_column(table, "state", false);
    table_column(table, "operation", false);
    table_column(table, "operations", true);
    table_column(table, "a second", true);
    table_column(table, "p50", true);
    table_column(table, "p95", true);
    table_column(table, "p99", true);
    table_column(table, "p99.9", true);
    table_column(table, "max", true);
    table_column(table, "CPU s, tare", true);
    table_column(table, "server", true);
    table_column(table, "bound by", false);
}

void document_workloads(struct document *document, const struct report *report)
{
    struct table table = {0};

    begin_table(&table);
    for (size_t i = 0; i < report->count; i++)
        for (size_t j = 0; j < report->cells[i].state_count; j++)
            add_ledger_rows(&table, &report->cells[i], &report->cells[i].states[j]);
    if (table.row_count)
        document_add(document, PART_TABLE)->table = table;
    else
        table_free(&table);
    for (size_t i = 0; i < report->count; i++)
        for (size_t j = 0; j < report->cells[i].state_count; j++)
            document_curve(document, &report->cells[i], &report->cells[i].states[j]);
}

/* Places of a curve that fit a line. */
#define CURVE_PLACES 8

#define MIB (1024.0 * 1024.0)

/* "..., resident over 17.1 s: 151.2, 153.4, ..., 169.3 MiB": evenly spread places, the first and
 * the last among them. */
void document_curve(struct document *document, const struct cell *cell, const struct ledger *ledger)
{
    const struct workload *workload = ledger->workload;
    size_t count = workload ? workload->sample_count : 0;
    size_t places = count < CURVE_PLACES ? count : CURVE_PLACES;
    struct buffer line = {0};
    char text[UNITS_SIZE], over[UNITS_SIZE];
    int64_t most = INT64_MIN;

    /* One that took less than a second has a beginning and an end alone. */
    if (count < 3)
        return;
    bool resident = workload->samples[count - 1].resident >= 0;
    for (size_t i = 0; i < count; i++) {
        const struct workload_sample *sample = &workload->samples[i];
        int64_t bytes = resident ? sample->resident : sample->allocated;
        most = bytes > most ? bytes : most;
    }
    for (size_t i = 0; i < places; i++) {
        const struct workload_sample *sample = &workload->samples[i * (count - 1) / (places - 1)];
        double bytes = (double)(resident ? sample->resident : sample->allocated);
        buffer_format(&line, "%s%s", i ? ", " : "", units_decimal(text, bytes / MIB, 1));
    }
    document_text(document, PART_LINE, "%s, %s, %s over %s s: %s MiB; %s MiB at most",
                  words_cell(cell), ledger->state, resident ? "resident" : "allocated",
                  units_decimal(over, workload->samples[count - 1].seconds, 1), line.data,
                  units_decimal(text, (double)most / MIB, 1));
    buffer_free(&line);
}

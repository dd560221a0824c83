/* tare run: measures cells on real servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "cell/job.h"
#include "cell/outlook.h"
#include "command.h"
#include "core/memory.h"
#include "core/units.h"
#include "report/document.h"
#include "stores/process.h"

extern const struct command command_run;

/* Progress on stderr, where that is a terminal: one line that is written over. */
struct progress_line {
    bool shown;
    size_t cell, cells;
    const char *encoding;
    int run, runs;
};

static void progress_clear(struct progress_line *line)
{
    if (line->shown)
        fputs("\r\033[K", stderr);
    line->shown = false;
}

static void progress_show(void *context, const char *stage, int64_t done, int64_t of,
                          double per_second)
{
    struct progress_line *line = context;
    char a[UNITS_SIZE], b[UNITS_SIZE], rate[UNITS_SIZE], run[32] = "";
    if (line->runs > 1)
        snprintf(run, sizeof run, " run %d/%d", line->run, line->runs);
    fprintf(stderr, "\r\033[K[%zu/%zu] %s%s: %s", line->cell, line->cells, line->encoding, run,
            stage);
    if (of > 0)
        fprintf(stderr, " %s / %s", units_count(a, done), units_count(b, of));
    if (per_second > 0)
        fprintf(stderr, ", %s/s", units_count(rate, (int64_t)per_second));
    fflush(stderr);
    line->shown = true;
}

static int64_t cell_total(const struct cell *cell)
{
    if (cell->state_count == 0)
        return 0;
    const struct ledger *last = &cell->states[cell->state_count - 1];
    const struct ledger_row *row = ledger_find(last, &account_total_resident);
    if (!row)
        row = ledger_find(last, &account_total_allocated);
    return row ? row->bytes : 0;
}

static int compare_totals(const void *a, const void *b)
{
    int64_t x = cell_total(a), y = cell_total(b);
    return (x > y) - (x < y);
}

/* The run with the median total stands for all; lowest and highest of each account are its spread.
 */
static void keep_median(struct cell *runs, size_t count, struct cell *out)
{
    qsort(runs, count, sizeof *runs, compare_totals);
    size_t median = (count - 1) / 2;
    for (size_t s = 0; s < runs[median].state_count; s++) {
        struct ledger *ledger = &runs[median].states[s];
        for (size_t r = 0; r < ledger->count; r++) {
            struct ledger_row *row = &ledger->rows[r];
            row->spread_low = row->spread_high = row->bytes;
            row->has_spread = true;
            for (size_t i = 0; i < count; i++) {
                if (s >= runs[i].state_count)
                    continue;
                int64_t bytes = ledger_bytes(&runs[i].states[s], row->account);
                if (bytes < row->spread_low)
                    row->spread_low = bytes;
                if (bytes > row->spread_high)
                    row->spread_high = bytes;
            }
        }
    }
    runs[median].repeats = (int64_t)count;
    *out = runs[median];
    for (size_t i = 0; i < count; i++)
        if (i != median)
            cell_free(&runs[i]);
}

static int measure_repeatedly(const struct cell_request *request, int repeat, struct report *report,
                              struct progress_line *line, const struct cell_progress *progress,
                              struct tare_error *error)
{
    struct cell *runs = memory_new((size_t)repeat * sizeof *runs);
    int failed = 0;
    size_t done = 0;
    while (!failed && done < (size_t)repeat) {
        line->run = (int)done + 1;
        failed = cell_measure(request, report, &runs[done], progress, error);
        done++;
    }
    struct cell *cell = report_add_cell(report);
    if (failed) {
        *cell = runs[done - 1];
        for (size_t i = 0; i + 1 < done; i++)
            cell_free(&runs[i]);
    } else if (repeat == 1) {
        *cell = runs[0];
    } else {
        keep_median(runs, done, cell);
    }
    free(runs);
    return failed;
}

static int check_strict(const struct report *report, double percent, struct tare_error *error)
{
    for (size_t i = 0; i < report->count; i++) {
        for (size_t s = 0; s < report->cells[i].state_count; s++) {
            const struct ledger *ledger = &report->cells[i].states[s];
            double share = ledger_share_resident(ledger);
            if (share < 0)
                share = ledger_share_allocated(ledger);
            if (share * 100 > percent)
                return error_set(error, TARE_STRICT,
                                 "cell '%s': %.2f %% unattributed in state %s, over the limit of "
                                 "%g %% (--strict)",
                                 report->cells[i].name, share * 100, ledger->state, percent);
        }
    }
    return 0;
}

static void report_begin(struct report *report, int argc, char **argv, int64_t seed)
{
    time_t now = time(NULL);
    struct tm utc;
    char created[32];
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    report->created = memory_text(created);
    report->tare_version = memory_text(TARE_VERSION);
    report->command_line = arguments_command_line(argc, argv);
    report->seed = seed;
    cell_environment(&report->environment);
}

static int run_cells(struct arguments *arguments, struct cell_requests *requests,
                     struct report *report, struct tare_error *error)
{
    struct tare_error first = {0};
    struct progress_line line = {.cells = requests->count, .runs = arguments->repeat};
    struct cell_progress progress = {progress_show, &line};
    const struct cell_progress *shown =
        isatty(STDERR_FILENO) && !arguments->quiet ? &progress : NULL;
    for (size_t i = 0; i < requests->count; i++) {
        struct tare_error one = {0};
        line.cell = i + 1;
        line.encoding = cell_request_encoding(&requests->items[i]);
        int failed =
            measure_repeatedly(&requests->items[i], arguments->repeat, report, &line, shown, &one);
        progress_clear(&line);
        if (!failed)
            continue;
        /* One broken cell costs that cell alone; a signal or wrong usage ends the run. */
        if (one.status != TARE_STORE || first.status == TARE_OK)
            first = one;
        if (one.status != TARE_STORE)
            break;
        if (i + 1 < requests->count)
            fprintf(stderr, "tare: %s: %s; going on with the next cell\n", line.encoding,
                    one.message);
    }
    if (first.status == TARE_OK)
        return 0;
    *error = first;
    return -1;
}

/* ---- what a job would do ------------------------------------------------------------------- */

/* How far two steps are alike before their numbers of threads, and behind them; false where more
 * than those differ. *number: where it begins in the first. */
static bool differ_in_threads(const char *one, const char *other, const char **number)
{
    static const char option[] = ":threads=";
    const char *a = strstr(one, option), *b = strstr(other, option);
    if (!a || !b || a - one != b - other || strncmp(one, other, (size_t)(a - one)) != 0)
        return false;
    *number = a + strlen(option);
    b += strlen(option);
    return strcmp(*number + strcspn(*number, ":"), b + strcspn(b, ":")) == 0;
}

/* Steps that differ in threads alone are shown as they are given: threads=8/16/32. */
static char *steps_text(const struct cell_steps *steps)
{
    struct buffer text = {0};
    for (size_t i = 0; i < steps->count; i++) {
        const char *step = steps->items[i].text, *number;
        buffer_text(&text, i ? "," : "");
        if (i + 1 >= steps->count || !differ_in_threads(step, steps->items[i + 1].text, &number)) {
            buffer_text(&text, step);
            continue;
        }
        buffer_append(&text, step, (size_t)(number - step));
        for (const char *last = number;; buffer_byte(&text, '/')) {
            size_t length = strcspn(last, ":");
            buffer_append(&text, last, length);
            if (i + 1 >= steps->count ||
                !differ_in_threads(steps->items[i + 1].text, steps->items[i].text, &last))
                break;
            i++;
        }
        buffer_text(&text, number + strcspn(number, ":"));
    }
    return steps->count ? buffer_steal(&text) : memory_text("load,settle");
}

static void outlook_row(struct table *table, const struct cell_request *request,
                        const struct cell_outlook *cell)
{
    char text[UNITS_SIZE];
    char *steps = steps_text(&request->selection->steps);
    table_row(table, ROW_PLAIN);
    table_cell(table, cell->name);
    table_cell(table, request->selection->dataset);
    table_count(table, request->selection->records);
    table_cell(table, steps);
    table_cell(table, cell->memory < 0 ? TABLE_NONE : units_bytes(text, cell->memory));
    table_cell(table, cell->seconds < 0 ? TABLE_NONE : units_duration(text, cell->seconds));
    free(steps);
}

/* Each reason for which cells will fail, once. */
static void outlook_notes(struct document *document, const struct cell_requests *requests,
                          const struct outlook *outlook)
{
    for (size_t i = 0; i < requests->count; i++) {
        const struct cell_request *request = &requests->items[i];
        size_t earlier = 0, more = 0;
        for (size_t j = 0; request->broken_encoding && j < requests->count; j++) {
            bool same = requests->items[j].broken_encoding &&
                        strcmp(requests->items[j].broken.message, request->broken.message) == 0;
            if (same && j != i)
                *(j < i ? &earlier : &more) += 1;
        }
        if (!request->broken_encoding || earlier)
            continue;
        if (more)
            document_text(document, PART_NOTE, "%s and %zu more will fail: %s",
                          outlook->cells[i].name, more, request->broken.message);
        else
            document_text(document, PART_NOTE, "%s will fail: %s", outlook->cells[i].name,
                          request->broken.message);
    }
}

static void print_outlook(const struct arguments *arguments, const struct job *job,
                          const struct cell_requests *requests, const struct outlook *outlook)
{
    struct document document = {0};
    struct table table = {0};
    struct report_style style = arguments_style(arguments);
    struct buffer out = {0};
    char a[UNITS_SIZE], b[UNITS_SIZE], reason[32];
    if (arguments->job)
        document_text(&document, PART_LINE, "%s%s%s", arguments->job, job->about ? ": " : "",
                      job->about ? job->about : "");
    table_column(&table, "cell", false);
    table_column(&table, "data", false);
    table_column(&table, "records", true);
    table_column(&table, "steps", false);
    table_column(&table, "memory", true);
    table_column(&table, "time", true);
    for (size_t i = 0; i < requests->count; i++)
        outlook_row(&table, &requests->items[i], &outlook->cells[i]);
    document_add(&document, PART_TABLE)->table = table;
    document_text(&document, PART_LINE, "%zu %s, one after the other: about %s%s", requests->count,
                  requests->count == 1 ? "cell" : "cells", units_duration(a, outlook->seconds),
                  outlook->whole ? "" : ", and what can't be told");
    int64_t most = outlook->count ? outlook->cells[outlook->largest].memory : -1;
    int64_t available = memory_available(reason);
    if (most >= 0)
        document_text(&document, PART_LINE, "memory: %s at once at most; %s are left here (%s)",
                      units_bytes(a, most), available < 0 ? "-" : units_bytes(b, available),
                      reason);
    document_text(&document, PART_LINE,
                  "memory is the upper end of what 'tare plan' predicts, or the load's peak, with "
                  "the empty server");
    document_text(&document, PART_LINE,
                  "time is reckoned from rates of loads on two processors and 2.5 s until a server "
                  "is still");
    outlook_notes(&document, requests, outlook);
    document_as_text(&document, &style, &out);
    fwrite(out.data, 1, out.length, stdout);
    buffer_free(&out);
    document_free(&document);
}

/* What a job takes, before it begins; printed where that is all that is asked for. */
static int look_ahead(const struct arguments *arguments, const struct job *job,
                      const struct cell_requests *requests, struct tare_error *error)
{
    struct outlook outlook;
    char *what = arguments->job ? memory_format("job '%s'", arguments->job) : memory_text("run");
    int failed = outlook_make(requests, arguments->repeat, &outlook, error);
    if (!failed && arguments->parse_only)
        print_outlook(arguments, job, requests, &outlook);
    if (!failed)
        failed = outlook_refuse(&outlook, what, error);
    outlook_free(&outlook);
    free(what);
    return failed;
}

static int read_job(const struct arguments *arguments, struct job *job, struct tare_error *error)
{
    const struct job_options options = {
        .scale = arguments->scale,
        .seed_given = arguments->seed_given,
        .seed = arguments->selection.seed,
        .limits = arguments->selection.limits,
    };
    return job_read(arguments->job, &options, job, error);
}

static int run_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct cell_requests made = {0};
    struct job job = {0};
    struct report report = {0};
    int failed =
        arguments_parse(&arguments, "run", ARGUMENTS_CELLS | ARGUMENTS_MEASURE | ARGUMENTS_OUTPUT,
                        argc, argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_run);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count)
        failed = error_set(error, TARE_USAGE, "run takes no operand '%s'; encodings go behind -e",
                           arguments.operands[0]);
    failed =
        failed || (arguments.job ? read_job(&arguments, &job, error)
                                 : cell_requests_make(&arguments.selection, false, &made, error));
    struct cell_requests *requests = arguments.job ? &job.requests : &made;
    for (size_t i = 0; !failed && i < requests->count; i++)
        if (i == 0 || requests->items[i].selection != requests->items[i - 1].selection)
            arguments_print_notes(requests->items[i].selection->opened);
    if (!failed && (arguments.job || arguments.parse_only))
        failed = look_ahead(&arguments, &job, requests, error);
    if (!failed && !arguments.parse_only)
        failed = arguments_open_exports(&arguments, error);
    if (!failed && !arguments.parse_only) {
        report_begin(&report, argc, argv, arguments.job ? job.seed : arguments.selection.seed);
        failed = run_cells(&arguments, requests, &report, error);
        struct tare_error writing = {0};
        if (arguments_write(&arguments, &report, &writing) && !failed) {
            *error = writing;
            failed = -1;
        }
        if (!failed && arguments.strict_percent >= 0)
            failed = check_strict(&report, arguments.strict_percent, error);
    }
    report_free(&report);
    cell_requests_free(&made);
    job_free(&job);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_run = {
    .name = "run",
    .summary = "weigh records in real servers",
    .usage =
        "usage: tare run -e ENCODING[,ENCODING...] [OPTION...]\n\n"
        "what is weighed\n"
        "  -e, --encoding E[,E...]   STORE:SHAPE[+STEP...][@OPTION[=VALUE]...]; 'tare list "
        "encodings'\n"
        "  -n, --records N           how many records (100,000; of a file all); k, M, G\n"
        "  -d, --dataset D           NAME[:k=v,...] (ycsb), file:PATH[,key=FIELD], or '-', "
        "standard\n"
        "                            input; 'tare list datasets'\n"
        "      --skip-bad            leave bad records of a file out, and count them\n"
        "      --server KIND=TARGET[,k=v...]  repeatable; TARGET is a program or a URL\n"
        "                            (the program on PATH, else in build/servers)\n"
        "      --set NAME=VALUE      a server setting for the cells; repeatable\n"
        "      --seed S              same seed, same bytes (1)\n"
        "      --job F               a job file says it all: blocks of such lists (samples/jobs)\n"
        "      --scale S             a job's counts times S, as 0.01\n"
        "how\n"
        "      --parse-only          check, show what would be done, how long and in how much "
        "memory\n"
        "      --steps S[,S...]      NAME[=VALUE][:k=v...]: load,settle,read,update,miss,\n"
        "                            workload=a:threads=8/16,reload,restart; each closes a ledger "
        "of\n"
        "                            its own; 'tare list steps'\n"
        "      --repeat R            runs a cell; the one with the median total is shown, with the "
        "spread\n"
        "      --strict[=PERCENT]    exit 3 where more than that is unattributed (2)\n"
        "      --keep                leave what was written on a server that tare did not start\n"
        "      --allow-config        may change settings of such a server; they are put back\n"
        "output\n"
        "      --format F            text, csv, json, markdown or html, on standard output\n"
        "      --export-csv F        also -json, -markdown, -html: into a file\n"
        "      --samples all|published|none  raw figures in JSON: all that were read, and the\n"
        "                            model's blocks; those alone that reports show again; none\n"
        "  -q, --quiet               no report on standard output, no progress\n"
        "  -v, --verbose             whole ledgers, evidence and inputs\n\n"
        "Each cell is measured in a fresh server that tare starts and removes. A server given by\n"
        "its URL is written to only in an empty database, and what was written is removed.\n",
    .examples = "  tare run -e redis:hash\n"
                "  tare run -n 1M -e redis:hash@index,mongodb:document --export-json weigh.json\n"
                "  tare run -e redis:hash --server redis=redis://localhost:6379/3\n"
                "  tare run --job samples/jobs/scalegrid.json --scale 0.01 --export-json s.json\n"
                "  tare run -e mongodb:document --server mongodb=mongod,engine=disk --steps "
                "load,settle,read\n"
                "  tare run -e redis:hash --steps load,update,workload=a:threads=8/16:seconds=30\n",
    .run = run_run,
};

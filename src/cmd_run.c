/* tare run: measures cells on real servers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "core/memory.h"
#include "core/units.h"
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
        line.encoding = requests->items[i].encoding->text;
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
            fprintf(stderr, "tare: %s: %s; going on with the next cell\n",
                    requests->items[i].encoding->text, one.message);
    }
    if (first.status == TARE_OK)
        return 0;
    *error = first;
    return -1;
}

static int run_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct cell_requests requests = {0};
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
    failed = failed || cell_requests_make(&arguments.selection, false, &requests, error) ||
             arguments_open_exports(&arguments, error);
    if (!failed) {
        report_begin(&report, argc, argv, arguments.selection.seed);
        failed = run_cells(&arguments, &requests, &report, error);
        struct tare_error writing = {0};
        if (arguments_write(&arguments, &report, &writing) && !failed) {
            *error = writing;
            failed = -1;
        }
        if (!failed && arguments.strict_percent >= 0)
            failed = check_strict(&report, arguments.strict_percent, error);
    }
    report_free(&report);
    cell_requests_free(&requests);
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
        "  -n, --records N           how many records (100,000); k, M and G are understood\n"
        "  -d, --dataset D           NAME[:k=v,...] (ycsb); 'tare list datasets'\n"
        "      --server KIND=TARGET[,k=v...]  repeatable; TARGET is a program or a URL\n"
        "                            (the program on PATH, else in build/servers)\n"
        "      --set NAME=VALUE      a server setting for the cells; repeatable\n"
        "      --seed S              same seed, same bytes (1)\n"
        "how\n"
        "      --steps S[,S...]      load,settle,read,restart: each closes a ledger of its own\n"
        "      --repeat R            runs a cell; the one with the median total is shown, with the "
        "spread\n"
        "      --strict[=PERCENT]    exit 3 where more than that is unattributed (2)\n"
        "      --keep                leave what was written on a server that tare did not start\n"
        "      --allow-config        may change settings of such a server; they are put back\n"
        "output\n"
        "      --format F            text, csv, json, markdown or html, on standard output\n"
        "      --export-csv F        also -json, -markdown, -html: into a file\n"
        "  -q, --quiet               no report on standard output, no progress\n"
        "  -v, --verbose             whole ledgers, evidence and inputs\n\n"
        "Each cell is measured in a fresh server that tare starts and removes. A server given by\n"
        "its URL is written to only in an empty database, and what was written is removed.\n",
    .examples = "  tare run -e redis:hash\n"
                "  tare run -n 1M -e redis:hash@index,mongodb:document --export-json weigh.json\n"
                "  tare run -e redis:hash --server redis=redis://localhost:6379/3\n"
                "  tare run -e mongodb:document --server mongodb=mongod,engine=disk --steps "
                "load,settle,read\n",
    .run = run_run,
};

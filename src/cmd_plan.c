/* tare plan: predicts cells without a server. */
#include <stdlib.h>

#include "arguments.h"
#include "command.h"
#include "core/memory.h"

extern const struct command command_plan;

static int plan_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct cell_requests requests = {0};
    struct report report = {0};
    int failed = arguments_parse(
        &arguments, "plan", ARGUMENTS_CELLS | ARGUMENTS_OUTPUT | ARGUMENTS_PLAN, argc, argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_plan);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count)
        failed = error_set(error, TARE_USAGE, "plan takes no operand '%s'; encodings go behind -e",
                           arguments.operands[0]);
    failed = failed || cell_requests_make(&arguments.selection, true, &requests, error) ||
             arguments_open_exports(&arguments, error);
    if (!failed) {
        arguments_print_notes(arguments.selection.opened);
        /* No date: the same question gives the same answer to the byte. */
        report.tare_version = memory_text(TARE_VERSION);
        report.command_line = arguments_command_line(argc, argv);
        report.seed = arguments.selection.seed;
        for (size_t i = 0; !failed && i < requests.count; i++) {
            struct cell cell = {0};
            failed = cell_predict(&requests.items[i], &report, &cell, true, error);
            if (failed)
                cell_free(&cell);
            else
                *report_add_cell(&report) = cell;
        }
        if (!failed)
            failed = arguments_write(&arguments, &report, error);
    }
    report_free(&report);
    cell_requests_free(&requests);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_plan = {
    .name = "plan",
    .summary = "predict the ledger without a server",
    .usage =
        "usage: tare plan -e ENCODING[,ENCODING...] [OPTION...]\n\n"
        "  -e, --encoding E[,E...]   as for run; 'tare list encodings'\n"
        "  -n, --records N           how many records (100,000; of a file all); k, M, G\n"
        "  -d, --dataset D           NAME[:k=v,...] (ycsb), file:PATH[,key=FIELD], '-'\n"
        "      --skip-bad            leave bad records of a file out, and count them\n"
        "      --server KIND=TARGET[,k=v...]  a version, as redis=7.0.15 (upstream's allocator) "
        "or\n"
        "                            redis=7.0.15,allocator=jemalloc-5.3.0,quantum=16 (Debian's);\n"
        "                            or a program, whose version is asked for\n"
        "      --set NAME=VALUE      a server setting that the model knows\n"
        "      --given NAME=VALUE    a state input, as a run shows it in its settings\n"
        "      --seed S              same seed, same bytes (1)\n"
        "      --format F, --export-csv F, ..., -v   as for run\n\n"
        "Up to 100,000 records, and of a file, every one is evaluated, beyond that an even sample: "
        "memory\n"
        "doesn't grow with N. Ranges cover what no one can know beforehand.\n",
    .examples = "  tare plan -n 2500000 -e redis:hash@index\n"
                "  tare plan -n 1G -e redis:string+json --server redis=7.0.15\n"
                "  tare plan -n 10M -e mongodb:document --server mongodb=6.0.5,engine=disk\n",
    .run = plan_run,
};

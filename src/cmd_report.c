/* tare report FILE...: renders reports again, in any format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "core/memory.h"

extern const struct command command_report;

/* Moves the cells of one report to the end of another; a name that is there already gets the
 * file's number, so that (cell, state, account) stays unique. */
static void report_join(struct report *to, struct report *from, size_t number)
{
    for (size_t i = 0; i < from->count; i++) {
        struct cell *cell = report_add_cell(to);
        *cell = from->cells[i];
        for (size_t j = 0; j + 1 < to->count; j++) {
            if (strcmp(to->cells[j].name, cell->name) == 0) {
                char *name = memory_format("%s (%zu)", cell->name, number);
                free(cell->name);
                cell->name = name;
                break;
            }
        }
    }
    /* Cells of two seeds stand together: the report has no one seed then. */
    if (from->seed_unknown || from->seed != to->seed)
        to->seed_unknown = true;
    from->count = 0;
    report_free(from);
}

static int report_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct report report = {0};
    int failed = arguments_parse(&arguments, "report", ARGUMENTS_OUTPUT, argc, argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_report);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count == 0)
        failed = error_set(error, TARE_USAGE, "report takes files: 'tare report weigh.json'");
    for (size_t i = 0; !failed && i < arguments.operand_count; i++) {
        struct report one = {0};
        failed = report_load(arguments.operands[i], &one, error);
        if (failed)
            report_free(&one);
        else if (i == 0)
            report = one;
        else
            report_join(&report, &one, i + 1);
    }
    failed = failed || arguments_open_exports(&arguments, error) ||
             arguments_write(&arguments, &report, error);
    report_free(&report);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_report = {
    .name = "report",
    .summary = "render reports again, in another format",
    .usage = "usage: tare report FILE... [--format text|csv|json|markdown|html] [--export-csv F]\n"
             "       [--export-json F] [--export-markdown F] [--export-html F] [-v]\n"
             "       [--samples all|published|none]\n\n"
             "FILE is a JSON or CSV file that tare wrote; cells of several files stand together.\n",
    .examples = "  tare report weigh.json\n"
                "  tare report weigh.json -v\n"
                "  tare report monday.json tuesday.json --export-html both.html\n",
    .run = report_run,
};

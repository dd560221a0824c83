/* tare diff FILE[#CELL] FILE[#CELL]: the gap between two cells, account by account. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "command.h"
#include "core/memory.h"

extern const struct command command_diff;

struct side {
    struct report report;
    const struct cell *cell;
    const struct ledger *ledger;
};

/* FILE[#CELL[:STATE]]: a cell has one state unless steps were named; the last one is taken then. */
static int side_load(struct side *side, const char *operand, struct tare_error *error)
{
    const char *hash = strchr(operand, '#');
    char *path = hash ? memory_text_n(operand, (size_t)(hash - operand)) : memory_text(operand);
    int failed = report_load(path, &side->report, error);
    free(path);
    if (failed)
        return -1;
    side->cell = report_find(&side->report, hash ? hash + 1 : NULL, error);
    if (!side->cell)
        return -1;
    if (side->cell->state_count == 0)
        return error_set(error, TARE_USAGE, "cell '%s' in '%s' has no ledger: %s", side->cell->name,
                         operand, side->cell->error ? side->cell->error : "it is incomplete");
    side->ledger = &side->cell->states[side->cell->state_count - 1];
    return 0;
}

/* Formats that are read back hold figures alone, and what is explained is made of them. */
static int check_explain(const struct arguments *arguments, struct tare_error *error)
{
    if (!arguments->explain || !arguments->format->parse)
        return 0;
    return error_set(error, TARE_USAGE,
                     "--explain is words: --format text, markdown or html, not '%s'",
                     arguments->format->name);
}

static int diff_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct side a = {0}, b = {0};
    int failed = arguments_parse(&arguments, "diff", ARGUMENTS_OUTPUT | ARGUMENTS_EXPLAIN, argc,
                                 argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_diff);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count != 2)
        failed =
            error_set(error, TARE_USAGE, "diff takes two cells: 'tare diff FILE#CELL FILE#CELL'");
    failed =
        failed || check_explain(&arguments, error) || side_load(&a, arguments.operands[0], error) ||
        side_load(&b, arguments.operands[1], error) || arguments_open_exports(&arguments, error);
    if (!failed) {
        struct report_style style = arguments_style(&arguments);
        struct buffer out = {0};
        arguments.format->render_gap(a.cell, a.ledger, b.cell, b.ledger, &style, &out);
        fwrite(out.data, 1, out.length, stdout);
        buffer_free(&out);
        for (size_t i = 0; i < arguments.export_count; i++) {
            arguments.exports[i].format->render_gap(a.cell, a.ledger, b.cell, b.ledger, &style,
                                                    &out);
            if (export_write_text(&arguments.exports[i], buffer_slice(&out), error))
                failed = -1;
            buffer_free(&out);
        }
    }
    report_free(&a.report);
    report_free(&b.report);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_diff = {
    .name = "diff",
    .summary = "the gap between two cells, account by account",
    .usage =
        "usage: tare diff FILE[#CELL] FILE[#CELL] [--explain] [--format text|markdown|...]\n\n"
        "FILE is a JSON or CSV file that tare wrote. CELL is a cell's name or a part of it\n"
        "that only one has; a file with a single cell needs none.\n\n"
        "      --explain             say in words where the difference lies, largest first, and\n"
        "                            which of the published figures a headline would mix\n",
    .examples = "  tare diff weigh.json#redis:hash@index weigh.json#mongodb:document\n"
                "  tare diff before.json after.json\n"
                "  tare diff weigh.json#redis:hash@index weigh.json#mongodb:document --explain\n",
    .run = diff_run,
};

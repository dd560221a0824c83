/* Cells, and the report that holds them. */
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"
#include "core/memory.h"
#include "ledger/ledger.h"

void cell_free(struct cell *cell)
{
    free(cell->name);
    free(cell->encoding);
    free(cell->dataset);
    free(cell->dataset_summary);
    free(cell->settings);
    free(cell->error);
    for (size_t i = 0; i < cell->state_count; i++)
        ledger_free(&cell->states[i]);
    free(cell->states);
    free(cell->checkpoints);
    figures_free(&cell->base);
    *cell = (struct cell){0};
}

int64_t ledger_records(const struct cell *cell, const struct ledger *ledger)
{
    return ledger->records > 0 ? ledger->records : cell->records;
}

int64_t cell_loaded_records(const struct cell *cell)
{
    return cell->state_count ? ledger_records(cell, &cell->states[0]) : cell->records;
}

const char *ledger_settings(const struct cell *cell, const struct ledger *ledger)
{
    const char *settings = ledger->settings ? ledger->settings : cell->settings;
    return settings ? settings : "";
}

struct cell *report_add_cell(struct report *report)
{
    MEMORY_GROW(report->cells, report->count, report->capacity);
    struct cell *cell = &report->cells[report->count++];
    *cell = (struct cell){0};
    return cell;
}

void report_free(struct report *report)
{
    free(report->command_line);
    free(report->created);
    free(report->tare_version);
    figures_free(&report->environment);
    for (size_t i = 0; i < report->count; i++)
        cell_free(&report->cells[i]);
    free(report->cells);
    *report = (struct report){0};
}

/* A cell that broke early may have no name yet. */
static const char *name_of(const struct cell *cell)
{
    return cell->name ? cell->name : "";
}

/* The names of cells that hold `part` (NULL: of all), quoted, cut to what an error line bears. */
static void names_of(const struct report *report, const char *part, struct buffer *out)
{
    size_t left_out = 0;

    for (size_t i = 0; i < report->count; i++) {
        const char *name = name_of(&report->cells[i]);
        if (part && !strstr(name, part))
            continue;
        if (out->length + strlen(name) > 360) {
            left_out++;
            continue;
        }
        buffer_format(out, "%s'%s'", out->length ? ", " : "", name);
    }
    if (left_out)
        buffer_format(out, " and %zu more", left_out);
}

const struct cell *report_find(const struct report *report, const char *name,
                               struct tare_error *error)
{
    const struct cell *found = NULL;
    size_t matches = 0;
    struct buffer names = {0};

    if (report->count == 0) {
        error_set(error, TARE_USAGE, "the report has no cells");
        return NULL;
    }
    for (size_t i = 0; name && i < report->count; i++)
        if (strcmp(name_of(&report->cells[i]), name) == 0)
            return &report->cells[i];
    for (size_t i = 0; i < report->count; i++) {
        if (!name || strstr(name_of(&report->cells[i]), name)) {
            found = &report->cells[i];
            matches++;
        }
    }
    if (matches == 1)
        return found;
    names_of(report, matches ? name : NULL, &names);
    if (!name)
        error_set(error, TARE_USAGE, "the report has %zu cells: add #CELL, one of %s",
                  report->count, names.data);
    else if (matches)
        error_set(error, TARE_USAGE, "'%s' is in the names of %zu cells: %s", name, matches,
                  names.data);
    else
        error_set(error, TARE_USAGE, "no cell '%s'; the report has %s", name, names.data);
    buffer_free(&names);
    return NULL;
}

int report_check(const struct report *report, struct tare_error *error)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        if (!name_of(cell)[0])
            return error_set(error, TARE_USAGE, "cell %zu has no name", i + 1);
        for (size_t j = 0; j < i; j++)
            if (strcmp(report->cells[j].name, cell->name) == 0)
                return error_set(error, TARE_USAGE, "two cells have the name '%s'", cell->name);
        if (cell->complete && cell->state_count == 0)
            return error_set(error, TARE_USAGE, "cell '%s' is complete but has no ledger",
                             cell->name);
        for (size_t j = 0; j < cell->state_count; j++) {
            const struct ledger *ledger = &cell->states[j];
            if (ledger_fault(ledger, error))
                return error_prefix(error, "cell '%s', state '%s'", cell->name,
                                    ledger->state ? ledger->state : "");
            for (size_t k = 0; k < j; k++)
                if (strcmp(cell->states[k].state, ledger->state) == 0)
                    return error_set(error, TARE_USAGE, "cell '%s' has two ledgers '%s'",
                                     cell->name, ledger->state);
        }
    }
    return 0;
}

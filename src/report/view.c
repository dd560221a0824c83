#include "report/view.h"

#include <stdlib.h>

#include "core/memory.h"
#include "report/number.h"

static void view_add(struct view *view, const struct account *account,
                     const struct ledger *const *ledgers, size_t sides)
{
    struct view_line line = {.account = account, .total = account->stage == STAGE_TOTAL};

    for (size_t s = 0; s < sides; s++) {
        const struct ledger_row *row = ledger_find(ledgers[s], account);
        if (!row)
            continue;
        line.in[s] = true;
        line.basis[s] = row->basis;
        line.bytes[s] = row->bytes;
    }
    if (!line.in[0] && !line.in[1])
        return;
    MEMORY_GROW(view->lines, view->count, view->capacity);
    view->lines[view->count++] = line;
}

/* The order in which a ledger adds up: all that allocated counts and what it misses, that total,
 * then what lies between it and resident, that total. */
static void view_order(struct view *view, const struct ledger *const *ledgers, size_t sides)
{
    for (size_t i = 0; accounts[i]; i++)
        if (accounts[i]->stage <= STAGE_SERVER)
            view_add(view, accounts[i], ledgers, sides);
    view_add(view, &account_unattributed_allocated, ledgers, sides);
    view_add(view, &account_total_allocated, ledgers, sides);
    for (size_t i = 0; accounts[i]; i++)
        if (accounts[i]->stage == STAGE_ALLOCATOR || accounts[i]->stage == STAGE_PROCESS)
            view_add(view, accounts[i], ledgers, sides);
    view_add(view, &account_unattributed_resident, ledgers, sides);
    view_add(view, &account_total_resident, ledgers, sides);
}

/* Rounds one side's lines so that what is printed sums to each total as it is printed. */
static void view_round(struct view *view, size_t side, int64_t records)
{
    int64_t *bytes = memory_new((view->count + 1) * sizeof *bytes);
    int64_t *tenths = memory_new((view->count + 1) * sizeof *tenths);
    int64_t before = 0; /* tenths of the total before, which the next one includes */
    size_t begin = 0;

    for (size_t i = 0; i < view->count; i++) {
        if (!view->lines[i].total || !view->lines[i].in[side])
            continue;
        size_t count = 0;
        for (size_t j = begin; j < i; j++)
            if (!view->lines[j].total)
                bytes[count++] = view->lines[j].bytes[side];
        view->lines[i].tenths[side] = number_tenths(view->lines[i].bytes[side], records);
        number_tenths_of_all(bytes, count, records, view->lines[i].tenths[side] - before, tenths);
        before = view->lines[i].tenths[side];
        count = 0;
        for (size_t j = begin; j < i; j++)
            if (!view->lines[j].total)
                view->lines[j].tenths[side] = tenths[count++];
        begin = i + 1;
    }
    free(bytes);
    free(tenths);
}

void view_of(struct view *view, const struct cell *const *cells,
             const struct ledger *const *ledgers, size_t sides)
{
    *view = (struct view){0};
    view_order(view, ledgers, sides);
    for (size_t s = 0; s < sides; s++) {
        view_round(view, s, ledger_records(cells[s], ledgers[s]));
        view->has_allocated[s] = ledger_find(ledgers[s], &account_total_allocated) != NULL;
        view->has_resident[s] = ledger_find(ledgers[s], &account_total_resident) != NULL;
    }
}

void view_name_cells(struct table *table, const struct view *view, size_t i)
{
    const struct view_line *line = &view->lines[i];
    table_row(table, line->total ? ROW_TOTAL : ROW_PLAIN);
    if (line->total) {
        table_cell(table, line->account == &account_total_allocated ? "= allocated" : "= resident");
        table_cell(table, "");
        return;
    }
    bool repeated = i > 0 && !view->lines[i - 1].total &&
                    view->lines[i - 1].account->stage == line->account->stage;
    table_cell(table, repeated ? "" : stage_names[line->account->stage]);
    table_cell(table, line->account->name);
}

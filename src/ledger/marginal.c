/* Marginal cost: what one more record takes, from the checkpoints of a load. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ledger/ledger.h"

/* Tables that grow by doubling, for all records at once. */
static const struct account *const stepping[] = {&account_key_table, &account_index_table};

static int64_t modelled_of(const struct checkpoint *checkpoint, const struct account *account)
{
    return checkpoint->modelled.bytes[account_place(account)];
}

/* True where a table was replaced by another one between two checkpoints, or an old one was freed.
 * Both change its bytes by a third at least: one table of n buckets, then that and a new one of
 * 2 n, then 2 n alone. What grows by a bucket now and then (a hash table with child buckets)
 * changes by less from one of many checkpoints to the next, and is a cost of the records
 * themselves. */
static bool table_stepped(const struct checkpoint *from, const struct checkpoint *to)
{
    for (size_t i = 0; i < sizeof stepping / sizeof stepping[0]; i++) {
        double before = (double)modelled_of(from, stepping[i]);
        double after = (double)modelled_of(to, stepping[i]);
        double smaller = before < after ? before : after, larger = before + after - smaller;
        if (larger > 0 && larger - smaller >= larger / 4)
            return true;
    }
    return false;
}

/* Value of an account at a checkpoint; false where it has none there. */
static bool value_at(const struct checkpoint *checkpoint, const struct account *account,
                     int64_t *value)
{
    const struct counted *counted = &checkpoint->counted;
    const struct {
        const struct account *account;
        int64_t bytes;
    } known[] = {
        {&account_key, counted->key},
        {&account_values, counted->values},
        {&account_field_names, counted->field_names},
        {&account_framing, counted->framing},
        {&account_number_form, counted->number_form},
        {&account_escapes, counted->escapes},
        {&account_compression, counted->compression},
        {&account_dictionary, counted->dictionary},
        {&account_total_allocated, checkpoint->allocated},
        {&account_total_resident, checkpoint->resident},
    };

    if (account == &account_total_resident && checkpoint->resident == -1)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].account == account) {
            *value = known[i].bytes;
            return true;
        }
    }
    if (account->stage != STAGE_STRUCTURE && account->stage != STAGE_ROUNDING)
        return false;
    *value = modelled_of(checkpoint, account);
    return true;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Differences of one account, with or without those in which a table stepped; how many. */
static size_t differences(const struct cell *cell, const struct account *account, bool steps_too,
                          double *out, bool *any_value)
{
    size_t count = 0;

    for (size_t i = 1; i < cell->checkpoint_count; i++) {
        const struct checkpoint *from = &cell->checkpoints[i - 1], *to = &cell->checkpoints[i];
        int64_t before, after;
        if (to->records <= from->records || (!steps_too && table_stepped(from, to)))
            continue;
        if (!value_at(from, account, &before) || !value_at(to, account, &after))
            continue;
        *any_value = *any_value || before != 0 || after != 0;
        out[count++] = ((double)after - (double)before) / (double)(to->records - from->records);
    }
    return count;
}

static bool marginal_of(const struct cell *cell, const struct ledger_row *row, double *scratch,
                        double *marginal)
{
    bool any_value = false;
    size_t count = differences(cell, row->account, false, scratch, &any_value);

    if (count == 0)
        count = differences(cell, row->account, true, scratch, &any_value);
    /* An account that no checkpoint knows of but the ledger has: nothing can be said. */
    if (count == 0 || (!any_value && row->bytes != 0))
        return false;
    qsort(scratch, count, sizeof *scratch, compare_doubles);
    *marginal =
        count % 2 ? scratch[count / 2] : scratch[count / 2 - 1] / 2 + scratch[count / 2] / 2;
    return true;
}

void cell_marginals(struct cell *cell)
{
    if (cell->checkpoint_count < 2)
        return;
    double *scratch = memory_new(cell->checkpoint_count * sizeof *scratch);
    for (size_t i = 0; i < cell->state_count; i++) {
        struct ledger *ledger = &cell->states[i];
        /* Checkpoints are taken while loading; what reading or a restart changes is not theirs. */
        if (strcmp(ledger->state, "loaded") != 0 && strcmp(ledger->state, "settled") != 0)
            continue;
        for (size_t j = 0; j < ledger->count; j++) {
            struct ledger_row *row = &ledger->rows[j];
            row->has_marginal = marginal_of(cell, row, scratch, &row->marginal);
        }
    }
    free(scratch);
}

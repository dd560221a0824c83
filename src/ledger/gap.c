/* The gap between two ledgers, account by account. */
#include <stdlib.h>

#include "core/memory.h"
#include "ledger/ledger.h"

static double per_record(int64_t bytes, int64_t records)
{
    return records > 0 ? (double)bytes / (double)records : 0;
}

static struct gap_row *gap_row_of(struct gap *gap, const struct account *account)
{
    for (size_t i = 0; i < gap->count; i++)
        if (gap->rows[i].account == account)
            return &gap->rows[i];
    MEMORY_GROW(gap->rows, gap->count, gap->capacity);
    gap->rows[gap->count] = (struct gap_row){.account = account};
    return &gap->rows[gap->count++];
}

static int compare_places(const void *a, const void *b)
{
    size_t x = account_place(((const struct gap_row *)a)->account);
    size_t y = account_place(((const struct gap_row *)b)->account);
    return (x > y) - (x < y);
}

void gap_of(const struct cell *a, const struct ledger *state_a, const struct cell *b,
            const struct ledger *state_b, struct gap *gap)
{
    *gap = (struct gap){0};
    for (size_t i = 0; i < state_a->count; i++) {
        const struct ledger_row *from = &state_a->rows[i];
        struct gap_row *row = gap_row_of(gap, from->account);
        row->in_a = true;
        row->basis_a = from->basis;
        row->bytes_a = from->bytes;
        row->a = per_record(from->bytes, a->records);
    }
    for (size_t i = 0; i < state_b->count; i++) {
        const struct ledger_row *from = &state_b->rows[i];
        struct gap_row *row = gap_row_of(gap, from->account);
        row->in_b = true;
        row->basis_b = from->basis;
        row->bytes_b = from->bytes;
        row->b = per_record(from->bytes, b->records);
    }
    if (gap->count)
        qsort(gap->rows, gap->count, sizeof *gap->rows, compare_places);
}

void gap_free(struct gap *gap)
{
    free(gap->rows);
    *gap = (struct gap){0};
}

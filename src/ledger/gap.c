/* The gap between two ledgers, account by account. */
#include <stdlib.h>
#include <string.h>

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

static struct gap_figure *gap_figure_of(struct gap *gap, const struct published *published)
{
    for (size_t i = 0; i < gap->figure_count; i++)
        if (strcmp(gap->figures[i].published->name, published->name) == 0)
            return &gap->figures[i];
    MEMORY_GROW(gap->figures, gap->figure_count, gap->figure_capacity);
    gap->figures[gap->figure_count] = (struct gap_figure){.published = published};
    return &gap->figures[gap->figure_count++];
}

/* What is published beside this total, on one side. */
static void add_figures(struct gap *gap, const struct account *total, const struct cell *cell,
                        const struct ledger *ledger, bool is_a)
{
    const struct model_kind *kind = model_kind_of(&cell->build);
    const struct published *published = kind ? kind->published : NULL;
    int64_t bytes;
    for (; published && published->name; published++) {
        if (published->total != total || !published_bytes(published, &ledger->samples, &bytes))
            continue;
        struct gap_figure *figure = gap_figure_of(gap, published);
        *(is_a ? &figure->in_a : &figure->in_b) = true;
        *(is_a ? &figure->a : &figure->b) = bytes;
    }
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
        row->a = per_record(from->bytes, ledger_records(a, state_a));
    }
    for (size_t i = 0; i < state_b->count; i++) {
        const struct ledger_row *from = &state_b->rows[i];
        struct gap_row *row = gap_row_of(gap, from->account);
        row->in_b = true;
        row->basis_b = from->basis;
        row->bytes_b = from->bytes;
        row->b = per_record(from->bytes, ledger_records(b, state_b));
    }
    if (gap->count)
        qsort(gap->rows, gap->count, sizeof *gap->rows, compare_places);
    const struct account *const totals[] = {&account_total_allocated, &account_total_resident,
                                            NULL};
    for (size_t i = 0; i < sizeof totals / sizeof totals[0]; i++) {
        add_figures(gap, totals[i], a, state_a, true);
        add_figures(gap, totals[i], b, state_b, false);
    }
}

void gap_free(struct gap *gap)
{
    free(gap->rows);
    free(gap->figures);
    *gap = (struct gap){0};
}

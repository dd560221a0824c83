#include "ledger/ranking.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* A file may lack it. */
static const char *text_of(const char *text)
{
    return text ? text : "";
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(text_of(a), text_of(b)) == 0;
}

static struct ranking *ranking_for(struct rankings *rankings, const struct cell *cell,
                                   const struct ledger *ledger)
{
    for (size_t i = 0; i < rankings->count; i++) {
        struct ranking *ranking = &rankings->items[i];
        if (ranking->records == ledger_records(cell, ledger) &&
            same_text(ranking->dataset, cell->dataset) && same_text(ranking->state, ledger->state))
            return ranking;
    }
    MEMORY_GROW(rankings->items, rankings->count, rankings->capacity);
    struct ranking *ranking = &rankings->items[rankings->count++];
    *ranking = (struct ranking){.dataset = text_of(cell->dataset),
                                .state = ledger->state,
                                .records = ledger_records(cell, ledger)};
    return ranking;
}

/* Whether cells of two encodings at least are in it. */
static bool compares(const struct ranking *ranking)
{
    for (size_t i = 1; i < ranking->count; i++)
        if (!same_text(ranking->items[i].cell->encoding, ranking->items[0].cell->encoding))
            return true;
    return false;
}

static bool is_plain(const struct cell *cell)
{
    const char *steps = cell->encoding ? strpbrk(cell->encoding, "+@") : NULL;
    return !steps || strcmp(steps, "+json") == 0 || strcmp(steps, "+value") == 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return x->cell < y->cell ? -1 : 1; /* in the report's order */
}

static void rank(struct ranking *ranking)
{
    const struct cell *plain = ranking->items[0].cell;
    ranking->account = &account_total_resident;
    for (size_t i = 0; i < ranking->count; i++)
        if (!ledger_find(ranking->items[i].ledger, &account_total_resident))
            ranking->account = &account_total_allocated;
    for (size_t i = ranking->count; i-- > 0;)
        if (is_plain(ranking->items[i].cell))
            plain = ranking->items[i].cell;
    for (size_t i = 0; i < ranking->count; i++) {
        struct ranked *item = &ranking->items[i];
        item->bytes = ledger_bytes(item->ledger, ranking->account);
        item->per_record = (double)item->bytes / (double)ranking->records;
    }
    qsort(ranking->items, ranking->count, sizeof *ranking->items, by_bytes);
    for (size_t i = 0; i < ranking->count; i++)
        if (ranking->items[i].cell == plain)
            ranking->plain = &ranking->items[i];
    for (size_t i = 0; i < ranking->count; i++) {
        struct ranked *item = &ranking->items[i];
        item->rank = i > 0 && item->bytes == item[-1].bytes ? item[-1].rank : (int64_t)i + 1;
        item->difference = item->per_record - ranking->plain->per_record;
        if (ranking->plain->bytes > 0)
            item->ratio = (double)item->bytes / (double)ranking->plain->bytes;
    }
}

void rankings_of(const struct report *report, struct rankings *rankings)
{
    *rankings = (struct rankings){0};
    for (size_t i = 0; i < report->count; i++) {
        const struct cell *cell = &report->cells[i];
        for (size_t j = 0; cell->complete && cell->records > 0 && j < cell->state_count; j++) {
            const struct ledger *ledger = &cell->states[j];
            if (!ledger_find(ledger, &account_total_resident) &&
                !ledger_find(ledger, &account_total_allocated))
                continue;
            struct ranking *ranking = ranking_for(rankings, cell, ledger);
            MEMORY_GROW(ranking->items, ranking->count, ranking->capacity);
            ranking->items[ranking->count++] = (struct ranked){.cell = cell, .ledger = ledger};
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < rankings->count; i++) {
        struct ranking *ranking = &rankings->items[i];
        if (compares(ranking)) {
            rank(ranking);
            rankings->items[kept++] = *ranking;
        } else {
            free(ranking->items);
        }
    }
    rankings->count = kept;
}

void rankings_free(struct rankings *rankings)
{
    for (size_t i = 0; i < rankings->count; i++)
        free(rankings->items[i].items);
    free(rankings->items);
    *rankings = (struct rankings){0};
}

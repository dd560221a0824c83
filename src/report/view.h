/* Ledgers as they are shown, one or two beside each other: in the order in which
 * they add up, and rounded so that what is printed adds up too. */
#ifndef TARE_REPORT_VIEW_H
#define TARE_REPORT_VIEW_H

#include "report/document.h"

/* An account of one side or of both, or a total. */
struct view_line {
    const struct account *account;
    bool total;
    bool in[2];
    enum basis basis[2];
    int64_t bytes[2], tenths[2];
};

struct view {
    struct view_line *lines;
    size_t count, capacity;
    bool has_allocated[2], has_resident[2];
};

/* sides: 1 or 2. The caller frees view->lines. */
void view_of(struct view *view, const struct cell *const *cells,
             const struct ledger *const *ledgers, size_t sides);
/* Begins line i's row with its first two cells: its stage (once for all of its lines), its account.
 */
void view_name_cells(struct table *table, const struct view *view, size_t i);

#endif

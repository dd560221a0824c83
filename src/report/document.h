/* A document: what a report says to people, before any format. One builder
 * decides what stands in it; text, Markdown and HTML each write the same
 * document in their own way, so that no format says more than another. */
#ifndef TARE_REPORT_DOCUMENT_H
#define TARE_REPORT_DOCUMENT_H

#include "report/report.h"

enum part_kind {
    PART_TITLE,   /* of the whole; a terminal needs none */
    PART_HEADING, /* above what follows */
    PART_LINE,    /* a line of its own */
    PART_NOTE,    /* a warning, or a cell that broke */
    PART_TABLE,
    PART_BARS /* a bar a cell by stage; formats without pictures leave it out */
};

enum row_kind { ROW_PLAIN, ROW_TOTAL };

struct table_column {
    char *heading;
    bool right; /* a number: aligned at its end */
};

struct table {
    struct table_column *columns;
    size_t column_count, column_capacity;
    char **cells; /* row by row; every row has column_count of them */
    size_t cell_count, cell_capacity;
    enum row_kind *rows;
    size_t row_count, row_capacity;
};

/* Stages of a bar: those up to process, then both residuals as one. */
#define BAR_SEGMENTS (STAGE_PROCESS + 2)
extern const char *const bar_segment_names[BAR_SEGMENTS];

struct bar {
    char *name;
    int64_t tenths[BAR_SEGMENTS]; /* bytes a record, may be negative */
    int64_t total;                /* tenths */
};

struct document_part {
    enum part_kind kind;
    char *text;
    struct table table;
    struct bar *bars;
    size_t bar_count, bar_capacity;
};

struct document {
    struct document_part *parts;
    size_t count, capacity;
};

/* Building one. Texts are copied. A table is built apart and given to a part, whose it is then. */
#define TABLE_NONE "-" /* a figure that can't be told */
struct document_part *document_add(struct document *document, enum part_kind kind);
void document_text(struct document *document, enum part_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void table_column(struct table *table, const char *heading, bool right);
void table_row(struct table *table, enum row_kind kind); /* begins one; its cells follow */
void table_cell(struct table *table, const char *text);
void table_count(struct table *table, int64_t number);
void table_tenths(struct table *table, int64_t tenths);
void table_free(struct table *table);
/* Adds one ledger, whole. first: the cell's first, which tells of the load too; alone: nothing
 * above tells of data, server and notes already; verbose: state inputs and blocks by size class
 * too. */
void document_ledger(struct document *document, const struct report *report,
                     const struct cell *cell, const struct ledger *ledger, bool first, bool alone,
                     bool verbose);

/* Adds for each data set its encodings ranked. whole: of every state, not of
 * the settled one alone. */
void document_rankings(struct document *document, const struct report *report, bool whole);
/* Adds what would make cells smaller, where there is anything. */
void document_advice(struct document *document, const struct report *report);
/* Adds what workloads came to, and memory along them. */
void document_workloads(struct document *document, const struct report *report);
void document_curve(struct document *document, const struct cell *cell,
                    const struct ledger *ledger);
/* whole: every cell's ledger too, whatever the number of cells. Free with document_free(). */
void document_of_report(struct document *document, const struct report *report,
                        const struct report_style *style, bool whole);
/* style->explain: the explanation too. */
void document_of_gap(struct document *document, const struct cell *a, const struct ledger *state_a,
                     const struct cell *b, const struct ledger *state_b,
                     const struct report_style *style);
struct view;
/* Adds where a gap of two ledgers lies, in words, largest first, and which of the figures that are
 * published of both a headline would mix. view: of both; headings and records: of each side. */
void document_explanation(struct document *document, const struct view *view, const struct gap *gap,
                          const struct ledger *const *ledgers, char *const *headings,
                          const int64_t *records);
/* A document as the text format writes it. */
void document_as_text(const struct document *document, const struct report_style *style,
                      struct buffer *out);
void document_free(struct document *document);

#endif

/* A report as plain text, for a terminal. */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "report/document.h"
#include "report/number.h"

static void pad(struct buffer *out, size_t count)
{
    while (count--)
        buffer_byte(out, ' ');
}

static void bold(struct buffer *out, const struct report_style *style, bool on)
{
    if (style->color)
        buffer_text(out, on ? "\033[1m" : "\033[0m");
}

static void trim_blanks(struct buffer *out)
{
    while (out->length && out->data[out->length - 1] == ' ')
        out->data[--out->length] = '\0';
}

static void write_row(struct buffer *out, const struct table *table, char *const *cells,
                      const size_t *widths)
{
    for (size_t i = 0; i < table->column_count; i++) {
        struct buffer cell = {0};
        text_safe(&cell, cells[i], true);
        size_t width = cell.length ? text_width(cell.data) : 0;
        if (i)
            pad(out, 2);
        if (table->columns[i].right)
            pad(out, widths[i] - width);
        buffer_append(out, cell.data ? cell.data : "", cell.length);
        if (!table->columns[i].right)
            pad(out, widths[i] - width);
        buffer_free(&cell);
    }
    trim_blanks(out);
}

static void widen(size_t *width, const char *text)
{
    struct buffer safe = {0};
    text_safe(&safe, text, true);
    size_t needed = safe.length ? text_width(safe.data) : 0;
    if (needed > *width)
        *width = needed;
    buffer_free(&safe);
}

static void write_table(struct buffer *out, const struct table *table,
                        const struct report_style *style)
{
    size_t columns = table->column_count;
    size_t *widths = memory_new((columns + 1) * sizeof *widths);
    char **headings = memory_new((columns + 1) * sizeof *headings);

    for (size_t i = 0; i < columns; i++) {
        headings[i] = table->columns[i].heading;
        widen(&widths[i], headings[i]);
        for (size_t row = 0; row < table->row_count; row++)
            widen(&widths[i], table->cells[row * columns + i]);
    }
    bold(out, style, true);
    write_row(out, table, headings, widths);
    bold(out, style, false);
    buffer_byte(out, '\n');
    for (size_t row = 0; row < table->row_count; row++) {
        write_row(out, table, table->cells + row * columns, widths);
        buffer_byte(out, '\n');
    }
    free(headings);
    free(widths);
}

void document_as_text(const struct document *document, const struct report_style *style,
                      struct buffer *out)
{
    enum part_kind before = PART_TITLE;

    for (size_t i = 0; i < document->count; i++) {
        const struct document_part *part = &document->parts[i];
        /* A terminal needs no title, and draws no bars. */
        if (part->kind == PART_TITLE || part->kind == PART_BARS)
            continue;
        /* What belongs together stands together: a heading with what follows, line by line. */
        bool apart = before != PART_TITLE && before != PART_HEADING && before != part->kind;
        if (apart || (before == PART_TABLE && part->kind == PART_TABLE))
            buffer_byte(out, '\n');
        if (part->kind == PART_TABLE) {
            write_table(out, &part->table, style);
        } else {
            bool heading = part->kind == PART_HEADING;
            if (heading)
                bold(out, style, true);
            if (part->kind == PART_NOTE)
                buffer_text(out, "note: ");
            text_safe(out, part->text, true);
            if (heading)
                bold(out, style, false);
            buffer_byte(out, '\n');
        }
        before = part->kind;
    }
}

static void text_render(const struct report *report, const struct report_style *style,
                        struct buffer *out)
{
    struct document document;
    document_of_report(&document, report, style, false);
    document_as_text(&document, style, out);
    document_free(&document);
}

static void text_render_gap(const struct cell *a, const struct ledger *state_a,
                            const struct cell *b, const struct ledger *state_b,
                            const struct report_style *style, struct buffer *out)
{
    struct document document;
    document_of_gap(&document, a, state_a, b, state_b, style);
    document_as_text(&document, style, out);
    document_free(&document);
}

const struct format_kind format_text = {
    .name = "text",
    .summary = "aligned tables for a terminal",
    .render = text_render,
    .render_gap = text_render_gap,
};

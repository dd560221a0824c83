/* A report as GitHub's Markdown. */
#include <string.h>

#include "report/document.h"
#include "report/number.h"

/* Text as text: nothing in it is markup. */
static void escape(struct buffer *out, const char *text)
{
    struct buffer safe = {0};

    text_safe(&safe, text, true);
    for (size_t i = 0; i < safe.length; i++) {
        char byte = safe.data[i];
        if (byte == '&')
            buffer_text(out, "&amp;");
        else if (byte == '<')
            buffer_text(out, "&lt;");
        else if (byte == '>')
            buffer_text(out, "&gt;");
        else if (strchr("\\`*_[]|~#", byte))
            buffer_format(out, "\\%c", byte);
        else
            buffer_byte(out, byte);
    }
    buffer_free(&safe);
}

static void write_table(struct buffer *out, const struct table *table)
{
    size_t columns = table->column_count;

    for (size_t i = 0; i < columns; i++) {
        buffer_text(out, "| ");
        escape(out, table->columns[i].heading);
        buffer_byte(out, ' ');
    }
    buffer_text(out, "|\n");
    for (size_t i = 0; i < columns; i++)
        buffer_text(out, table->columns[i].right ? "| ---: " : "| --- ");
    buffer_text(out, "|\n");
    for (size_t row = 0; row < table->row_count; row++) {
        bool total = table->rows[row] == ROW_TOTAL;
        for (size_t i = 0; i < columns; i++) {
            const char *cell = table->cells[row * columns + i];
            bool strong = total && cell[0];
            buffer_text(out, strong ? "| **" : "| ");
            escape(out, cell);
            buffer_text(out, strong ? "** " : cell[0] ? " " : "");
        }
        buffer_text(out, "|\n");
    }
}

static void write_document(const struct document *document, struct buffer *out)
{
    for (size_t i = 0; i < document->count; i++) {
        const struct document_part *part = &document->parts[i];
        if (part->kind == PART_BARS)
            continue;
        if (out->length)
            buffer_byte(out, '\n');
        switch (part->kind) {
        case PART_TITLE:
        case PART_HEADING:
            buffer_text(out, part->kind == PART_TITLE ? "# " : "## ");
            escape(out, part->text);
            break;
        case PART_LINE:
        case PART_NOTE:
            if (part->kind == PART_NOTE)
                buffer_text(out, "> ");
            escape(out, part->text);
            break;
        case PART_TABLE:
            write_table(out, &part->table);
            continue;
        case PART_BARS:
            break;
        }
        buffer_byte(out, '\n');
    }
}

static void markdown_render(const struct report *report, const struct report_style *style,
                            struct buffer *out)
{
    struct document document;
    document_of_report(&document, report, style, true);
    write_document(&document, out);
    document_free(&document);
}

static void markdown_render_gap(const struct cell *a, const struct ledger *state_a,
                                const struct cell *b, const struct ledger *state_b,
                                const struct report_style *style, struct buffer *out)
{
    struct document document;
    document_of_gap(&document, a, state_a, b, state_b, style);
    write_document(&document, out);
    document_free(&document);
}

const struct format_kind format_markdown = {
    .name = "markdown",
    .summary = "tables as GitHub shows them; every ledger whole",
    .render = markdown_render,
    .render_gap = markdown_render_gap,
};

/* A report as one HTML file that needs nothing else: no script, no font, no
 * request. */
#include <math.h>

#include "report/document.h"
#include "report/number.h"

static const char *const head =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";

/* Colours of the segments tell neighbours apart also in grey. */
static const char *const style_sheet =
    "<style>\n"
    "body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 72em;\n"
    "       padding: 0 1em; color: #222; background: #fff; }\n"
    "h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em; }\n"
    "p { margin: .2em 0; }\n"
    "p.note { border-left: 4px solid #c60; padding-left: .6em; }\n"
    "div.scroll { overflow-x: auto; }\n"
    "table { border-collapse: collapse; margin: 1em 0; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: .15em .8em; text-align: left; white-space: nowrap; }\n"
    "th { border-bottom: 2px solid #888; }\n"
    "td:last-child:not(.number) { white-space: normal; }\n"
    "th.number, td.number { text-align: right; }\n"
    "tr.total td { border-top: 1px solid #888; font-weight: 600; }\n"
    "div.bars { display: grid; grid-template-columns: max-content 1fr max-content;\n"
    "           gap: .3em .8em; align-items: center; margin: 1em 0; }\n"
    "div.bar { display: flex; height: 1.4em; }\n"
    "div.bar span, p.key span { display: inline-block; height: 100%; min-width: 1px; }\n"
    "p.key span { width: .9em; height: .9em; margin: 0 .3em 0 1em; vertical-align: -.1em; }\n"
    ".s0 { background: #1b6e3c; } .s1 { background: #7fbf7b; } .s2 { background: #2166ac; }\n"
    ".s3 { background: #92c5de; } .s4 { background: #8c6bb1; } .s5 { background: #d9a441; }\n"
    ".s6 { background: #bbb; } .s7 { background: #c0392b; }\n"
    "@media (prefers-color-scheme: dark) { body { color: #ddd; background: #191919; } }\n"
    "</style>\n";

static void escape(struct buffer *out, const char *text)
{
    struct buffer safe = {0};

    text_safe(&safe, text, true);
    for (size_t i = 0; i < safe.length; i++) {
        switch (safe.data[i]) {
        case '&':
            buffer_text(out, "&amp;");
            break;
        case '<':
            buffer_text(out, "&lt;");
            break;
        case '>':
            buffer_text(out, "&gt;");
            break;
        case '"':
            buffer_text(out, "&quot;");
            break;
        case '\'':
            buffer_text(out, "&#39;");
            break;
        default:
            buffer_byte(out, safe.data[i]);
        }
    }
    buffer_free(&safe);
}

static void element(struct buffer *out, const char *open, const char *text, const char *close)
{
    buffer_text(out, open);
    escape(out, text);
    buffer_text(out, close);
}

static void write_table(struct buffer *out, const struct table *table)
{
    size_t columns = table->column_count;

    buffer_text(out, "<div class=\"scroll\"><table>\n<thead><tr>");
    for (size_t i = 0; i < columns; i++)
        element(out, table->columns[i].right ? "<th class=\"number\">" : "<th>",
                table->columns[i].heading, "</th>");
    buffer_text(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < table->row_count; row++) {
        buffer_text(out, table->rows[row] == ROW_TOTAL ? "<tr class=\"total\">" : "<tr>");
        for (size_t i = 0; i < columns; i++)
            element(out, table->columns[i].right ? "<td class=\"number\">" : "<td>",
                    table->cells[row * columns + i], "</td>");
        buffer_text(out, "</tr>\n");
    }
    buffer_text(out, "</tbody>\n</table></div>\n");
}

/* Width of a bar's positive segments, in tenths of a byte a record. */
static double bar_width(const struct bar *bar)
{
    double width = 0;
    for (size_t i = 0; i < BAR_SEGMENTS; i++)
        width += bar->tenths[i] > 0 ? (double)bar->tenths[i] : 0;
    return width;
}

/* A bar a cell, all on one scale. What is negative (compression, a miss) can't be drawn: it stands
 * in the figure behind the bar, and the bar is longer than its total by that much. */
static void write_bars(struct buffer *out, const struct document_part *part)
{
    double longest = 0;
    bool used[BAR_SEGMENTS] = {false};

    for (size_t i = 0; i < part->bar_count; i++) {
        longest = fmax(longest, bar_width(&part->bars[i]));
        for (size_t s = 0; s < BAR_SEGMENTS; s++)
            used[s] = used[s] || part->bars[i].tenths[s] != 0;
    }
    if (longest <= 0)
        return;
    buffer_text(out, "<div class=\"bars\">\n");
    for (size_t i = 0; i < part->bar_count; i++) {
        const struct bar *bar = &part->bars[i];
        char number[NUMBER_SIZE];
        element(out, "<div>", bar->name, "</div><div class=\"bar\">");
        for (size_t s = 0; s < BAR_SEGMENTS; s++) {
            if (bar->tenths[s] <= 0)
                continue;
            buffer_format(out, "<span class=\"s%zu\" style=\"width: ", s);
            buffer_format(out, "%s%%\" title=\"%s: %s bytes a record\"></span>",
                          number_fixed(number, 100 * (double)bar->tenths[s] / longest),
                          bar_segment_names[s],
                          number_tenths_text((char[NUMBER_SIZE]){0}, bar->tenths[s]));
        }
        buffer_format(out, "</div><div>%s", number_tenths_text(number, bar->total));
        for (size_t s = 0; s < BAR_SEGMENTS; s++)
            if (bar->tenths[s] < 0)
                buffer_format(out, ", with %s %s", bar_segment_names[s],
                              number_tenths_text(number, bar->tenths[s]));
        buffer_text(out, "</div>\n");
    }
    buffer_text(out, "</div>\n<p class=\"key\">bytes a record:");
    for (size_t s = 0; s < BAR_SEGMENTS; s++)
        if (used[s])
            buffer_format(out, " <span class=\"s%zu\"></span>%s", s, bar_segment_names[s]);
    buffer_text(out, "</p>\n");
}

static void write_document(const struct document *document, struct buffer *out)
{
    buffer_text(out, head);
    for (size_t i = 0; i < document->count; i++) {
        const struct document_part *part = &document->parts[i];
        switch (part->kind) {
        case PART_TITLE:
            element(out, "<title>", part->text, "</title>\n");
            buffer_text(out, style_sheet);
            buffer_text(out, "</head>\n<body>\n");
            element(out, "<h1>", part->text, "</h1>\n");
            break;
        case PART_HEADING:
            element(out, "<h2>", part->text, "</h2>\n");
            break;
        case PART_LINE:
            element(out, "<p>", part->text, "</p>\n");
            break;
        case PART_NOTE:
            element(out, "<p class=\"note\">", part->text, "</p>\n");
            break;
        case PART_TABLE:
            write_table(out, &part->table);
            break;
        case PART_BARS:
            write_bars(out, part);
            break;
        }
    }
    buffer_text(out, "</body>\n</html>\n");
}

static void html_render(const struct report *report, const struct report_style *style,
                        struct buffer *out)
{
    struct document document;
    document_of_report(&document, report, style, true);
    write_document(&document, out);
    document_free(&document);
}

static void html_render_gap(const struct cell *a, const struct ledger *state_a,
                            const struct cell *b, const struct ledger *state_b,
                            const struct report_style *style, struct buffer *out)
{
    struct document document;
    document_of_gap(&document, a, state_a, b, state_b, style);
    write_document(&document, out);
    document_free(&document);
}

const struct format_kind format_html = {
    .name = "html",
    .summary = "one file with tables and bars; every ledger whole",
    .render = html_render,
    .render_gap = html_render_gap,
};

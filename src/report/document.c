#include "report/document.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/number.h"

const char *const bar_segment_names[BAR_SEGMENTS] = {"payload",  "encoding",    "structure",
                                                     "rounding", "server",      "allocator",
                                                     "process",  "unattributed"};

struct document_part *document_add(struct document *document, enum part_kind kind)
{
    MEMORY_GROW(document->parts, document->count, document->capacity);
    struct document_part *part = &document->parts[document->count++];
    *part = (struct document_part){.kind = kind};
    return part;
}

void document_text(struct document *document, enum part_kind kind, const char *format, ...)
{
    va_list arguments, again;

    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    size_t size = length > 0 ? (size_t)length + 1 : 1;
    char *text = memory_new(size);
    vsnprintf(text, size, format, again);
    va_end(again);
    document_add(document, kind)->text = text;
}

void table_column(struct table *table, const char *heading, bool right)
{
    MEMORY_GROW(table->columns, table->column_count, table->column_capacity);
    table->columns[table->column_count++] =
        (struct table_column){.heading = memory_text(heading), .right = right};
}

void table_row(struct table *table, enum row_kind kind)
{
    MEMORY_GROW(table->rows, table->row_count, table->row_capacity);
    table->rows[table->row_count++] = kind;
}

void table_cell(struct table *table, const char *text)
{
    MEMORY_GROW(table->cells, table->cell_count, table->cell_capacity);
    table->cells[table->cell_count++] = memory_text(text);
}

void table_count(struct table *table, int64_t number)
{
    char text[UNITS_SIZE];
    table_cell(table, units_count(text, number));
}

void table_tenths(struct table *table, int64_t tenths)
{
    char text[NUMBER_SIZE];
    table_cell(table, number_tenths_text(text, tenths));
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->column_count; i++)
        free(table->columns[i].heading);
    free(table->columns);
    for (size_t i = 0; i < table->cell_count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->rows);
}

void document_free(struct document *document)
{
    for (size_t i = 0; i < document->count; i++) {
        struct document_part *part = &document->parts[i];
        free(part->text);
        table_free(&part->table);
        for (size_t j = 0; j < part->bar_count; j++)
            free(part->bars[j].name);
        free(part->bars);
    }
    free(document->parts);
    *document = (struct document){0};
}

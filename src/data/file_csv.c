/* CSV with a header (RFC 4180): the first row names the fields. A field in quotes may hold
 * separators, line ends and doubled quotes; "\n" ends a row as "\r\n" does; empty rows are passed.
 * All fields are text, unless numbers are asked for. */
#include <stdlib.h>

#include "data/file.h"

static const char separators[] = {',', '\t', ';', '|'}; /* as file.c names them */

struct csv {
    char separator;
    struct arena arena; /* of the names */
    struct member *names;
    size_t count;
};

/* Finds the end of a row, with what ends it; looked: how far it is known to go on. */
struct row {
    size_t length;
    bool quoted, at_begin, ended;
};

static void look_on(struct row *row, struct slice bytes, char separator)
{
    for (; row->length < bytes.length; row->length++) {
        char c = bytes.bytes[row->length];
        if (row->quoted) {
            /* A doubled quote closes and opens again. */
            row->quoted = c != '"';
            row->at_begin = !row->quoted;
        } else if (c == '\n') {
            row->ended = true;
            return;
        } else if (c == '"' && row->at_begin) {
            row->quoted = true;
        } else {
            row->at_begin = c == separator;
        }
    }
}

static int csv_frame(struct file *file, struct file_frame *frame, bool *found,
                     struct tare_error *error)
{
    struct input *input = &file->input;
    const struct csv *csv = file->format_state;
    *found = false;
    while (1) {
        struct row row = {.at_begin = true};
        while (1) {
            look_on(&row, input_rest(input), csv->separator);
            if (row.ended || input->ended)
                break;
            if (file_check_length(file, row.length, error) || input_more(input, error))
                return -1;
        }
        struct slice rest = input_rest(input);
        if (!row.ended && rest.length == 0)
            return 0;
        if (row.quoted) {
            error_set(error, TARE_USAGE,
                      "a row with a quote that is not closed before the end of the file");
            return file_fault_here(file, error);
        }
        size_t length = row.length;
        if (length && rest.bytes[length - 1] == '\r')
            length--;
        *frame = (struct file_frame){.begin = input->place, .length = length, .place = file->next};
        frame->place.offset = input_offset(input);
        file_pass(file, row.length + row.ended);
        if (length) {
            *found = true;
            return 0;
        }
    }
}

/* A field that begins at `at`, up to the separator or the end; unescaped where it stands. */
static int read_field(char *text, size_t length, size_t *at, char separator, struct slice *field,
                      size_t *fault, struct tare_error *error)
{
    size_t begin = *at, end = begin;
    if (begin < length && text[begin] == '"') {
        size_t to = begin;
        for (end = begin + 1; end < length; end++) {
            if (text[end] == '"') {
                if (end + 1 >= length || text[end + 1] != '"')
                    break;
                end++;
            }
            text[to++] = text[end];
        }
        *field = slice_of(text + begin, to - begin);
        end++; /* the closing quote, which is there: the row was found by it */
        if (end < length && text[end] != separator) {
            *fault = end;
            return error_set(error, TARE_USAGE, "text behind a closing quote");
        }
    } else {
        while (end < length && text[end] != separator) {
            if (text[end] == '"') {
                *fault = end;
                return error_set(error, TARE_USAGE,
                                 "a quote inside a field that does not begin with one");
            }
            end++;
        }
        *field = slice_of(text + begin, end - begin);
    }
    if (!slice_utf8(*field)) {
        *fault = begin;
        return error_set(error, TARE_USAGE, "a field that is no UTF-8");
    }
    *at = end;
    return 0;
}

/* The text as a number, where it is the number's own shortest text. */
static void take_number(struct value *value)
{
    char text[32];
    struct slice given = value->as.text;
    int64_t integer;
    if (slice_integer(given, &integer)) {
        *value = (struct value){.type = VALUE_INTEGER, .as.integer = integer};
    } else if (given.length && given.length < sizeof text &&
               strspn(given.bytes, "0123456789.-e") >= given.length) {
        memcpy(text, given.bytes, given.length);
        text[given.length] = '\0';
        char *end, shortest[32];
        double real = strtod(text, &end);
        if (*end == '\0' && slice_equal(slice_of(shortest, double_text(real, shortest)), given))
            *value = (struct value){.type = VALUE_DOUBLE, .as.real = real};
    }
}

static int csv_parse(struct file *file, const struct file_frame *frame, struct arena *arena,
                     struct record *record, size_t *fault, struct tare_error *error)
{
    const struct csv *csv = file->format_state;
    char *text = file_copy(file, frame, arena);
    size_t at = 0, count = 0;
    record->fields = arena_take(arena, csv->count * sizeof *record->fields);
    while (1) {
        struct slice field;
        size_t begin = at;
        if (read_field(text, frame->length, &at, csv->separator, &field, fault, error))
            return -1;
        if (count == csv->count) {
            *fault = begin;
            return error_set(error, TARE_USAGE, "more fields than the %zu of the header",
                             csv->count);
        }
        struct member *member = &record->fields[count++];
        *member =
            (struct member){csv->names[count - 1].name, {.type = VALUE_TEXT, .as.text = field}};
        if (file->numbers)
            take_number(&member->value);
        if (at == frame->length)
            break;
        at++; /* the separator */
    }
    record->field_count = count;
    if (count < csv->count) {
        *fault = frame->length;
        return error_set(error, TARE_USAGE, "%zu field%s, and the header names %zu", count,
                         count == 1 ? "" : "s", csv->count);
    }
    return 0;
}

static void csv_end(struct file *file)
{
    struct csv *csv = file->format_state;
    if (csv)
        arena_free(&csv->arena);
    free(csv);
    file->format_state = NULL;
}

static int read_header(struct file *file, const struct file_frame *frame, size_t *fault,
                       struct tare_error *error)
{
    struct csv *csv = file->format_state;
    char *text = file_copy(file, frame, &csv->arena), shown[SLICE_SHOW_SIZE];
    size_t at = 0, most = 1;
    for (size_t i = 0; i < frame->length; i++)
        most += text[i] == csv->separator;
    csv->names = arena_take(&csv->arena, most * sizeof *csv->names);
    while (1) {
        struct member *member = &csv->names[csv->count++];
        *member = (struct member){.name = slice_of("", 0)};
        if (read_field(text, frame->length, &at, csv->separator, &member->name, fault, error))
            return -1;
        if (at == frame->length)
            break;
        at++;
    }
    const struct slice *twice = members_twice(csv->names, csv->count, &csv->arena);
    return twice ? error_set(error, TARE_USAGE, "the header names the field '%s' twice",
                             slice_show(*twice, shown))
                 : 0;
}

static bool named_tab(const struct file *file)
{
    size_t length = strlen(file->input.name);
    return length > 4 && strcasecmp(file->input.name + length - 4, ".tsv") == 0;
}

static int csv_begin(struct file *file, struct tare_error *error)
{
    struct csv *csv = memory_new(sizeof *csv);
    struct file_frame frame;
    size_t fault = 0;
    bool found, has_key = !file->key;
    file->format_state = csv;
    csv->separator = separators[file->separator >= 0 ? file->separator : named_tab(file)];
    if (csv_frame(file, &frame, &found, error))
        return -1;
    if (!found)
        return error_set(error, TARE_USAGE, "'%s' has no header", file->input.name);
    if (read_header(file, &frame, &fault, error))
        return file_fault(file, &frame, fault, error);
    for (size_t i = 0; i < csv->count; i++)
        has_key = has_key || slice_is(csv->names[i].name, file->key);
    if (!has_key) {
        error_set(error, TARE_USAGE, "the header names no field '%s', which the key is to be",
                  file->key);
        return file_fault(file, &frame, 0, error);
    }
    return 0;
}

static const char *const csv_extensions[] = {".csv", ".tsv", NULL};

const struct file_format file_format_csv = {
    .name = "csv",
    .title = "CSV",
    .extensions = csv_extensions,
    .begin = csv_begin,
    .frame = csv_frame,
    .parse = csv_parse,
    .end = csv_end,
};

/* A JSON array of objects, however large: its elements are found by their brackets, and read one by
 * one. */
#include "data/file.h"

static int json_begin(struct file *file, struct tare_error *error)
{
    int next;
    if (file_pass_blanks(file, &next, error))
        return -1;
    if (next != '[') {
        error_set(error, TARE_USAGE,
                  "no JSON array: it begins with '['; take format=ndjson for "
                  "an object a line");
        return file_fault_here(file, error);
    }
    file_pass(file, 1);
    return 0;
}

static int unexpected(const struct file *file, int next, const char *wanted,
                      struct tare_error *error)
{
    char shown[SLICE_SHOW_SIZE], character = (char)next;
    if (next < 0)
        error_set(error, TARE_USAGE, "the file ends where %s should be", wanted);
    else
        error_set(error, TARE_USAGE, "'%s' where %s should be",
                  slice_show(slice_of(&character, 1), shown), wanted);
    return file_fault_here(file, error);
}

/* Where an element ends, so far as it was looked at. */
struct extent {
    size_t length; /* looked at */
    size_t depth;
    bool in_string, escaped, ended;
};

/* Looks on, up to the end of the bytes or that of the element. */
static void look_on(struct extent *extent, struct slice bytes)
{
    for (; extent->length < bytes.length && !extent->ended; extent->length++) {
        char c = bytes.bytes[extent->length];
        if (extent->in_string) {
            if (extent->escaped)
                extent->escaped = false;
            else if (c == '\\')
                extent->escaped = true;
            else if (c == '"')
                extent->in_string = false;
        } else if (c == '"') {
            extent->in_string = true;
        } else if (c == '{' || c == '[') {
            extent->depth++;
        } else if (c == '}' || c == ']' || c == ',') {
            if (extent->depth == 0) { /* the array's own, behind a number or a word */
                extent->ended = true;
                break;
            }
            extent->depth -= c != ',';
            extent->ended = extent->depth == 0;
        }
    }
}

/* The element that has no end is no JSON: the reader knows where not. */
static int no_end(struct file *file, const struct file_frame *frame, struct tare_error *error)
{
    struct arena arena = {0};
    struct record record;
    size_t fault = 0;
    if (file_read_json(file, frame, &arena, &record, &fault, error) == 0)
        error_set(error, TARE_USAGE, "a record without an end");
    arena_free(&arena);
    return file_fault(file, frame, fault, error);
}

static int json_frame(struct file *file, struct file_frame *frame, bool *found,
                      struct tare_error *error)
{
    struct input *input = &file->input;
    struct extent extent = {0};
    int next;
    *found = false;
    if (file_pass_blanks(file, &next, error))
        return -1;
    if (next == ']') {
        file_pass(file, 1);
        if (file_pass_blanks(file, &next, error))
            return -1;
        return next < 0 ? 0 : unexpected(file, next, "the end of the file", error);
    }
    if (file->next.frames) {
        if (next != ',')
            return unexpected(file, next, "',' or ']'", error);
        file_pass(file, 1);
        if (file_pass_blanks(file, &next, error))
            return -1;
    }
    if (next < 0 || next == ',' || next == ']')
        return unexpected(file, next, "a record", error);
    while (1) {
        look_on(&extent, input_rest(input));
        *frame = (struct file_frame){
            .begin = input->place, .length = extent.length, .place = file->next};
        frame->place.offset = input_offset(input);
        if (extent.ended)
            break;
        if (input->ended)
            return no_end(file, frame, error);
        if (file_check_length(file, extent.length, error) ||
            (!input->ended && input_more(input, error)))
            return -1;
    }
    file_pass(file, extent.length);
    *found = true;
    return 0;
}

static const char *const json_extensions[] = {".json", NULL};

const struct file_format file_format_json = {
    .name = "json",
    .title = "JSON array",
    .extensions = json_extensions,
    .json = true,
    .begin = json_begin,
    .frame = json_frame,
    .parse = file_read_json,
};

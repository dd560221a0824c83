/* NDJSON: a JSON object a line. Lines of white space alone are passed, "\r\n" ends a line too. */
#include "data/file.h"

static int ndjson_frame(struct file *file, struct file_frame *frame, bool *found,
                        struct tare_error *error)
{
    struct input *input = &file->input;
    size_t looked = 0;
    *found = false;
    while (1) {
        struct slice rest = input_rest(input);
        const char *end =
            rest.length > looked ? memchr(rest.bytes + looked, '\n', rest.length - looked) : NULL;
        if (!end && !input->ended) {
            looked = rest.length;
            if (file_check_length(file, looked, error) || input_more(input, error))
                return -1;
            continue;
        }
        if (!end && rest.length == 0)
            return 0;
        size_t length = end ? (size_t)(end - rest.bytes) : rest.length, text = length;
        while (text && memchr(" \t\r", rest.bytes[text - 1], 3))
            text--;
        *frame = (struct file_frame){.begin = input->place, .length = text, .place = file->next};
        frame->place.offset = input_offset(input);
        input->place += length + (end != NULL);
        file->next.line++;
        file->next.line_start = input_offset(input);
        looked = 0;
        if (text) {
            *found = true;
            return 0;
        }
    }
}

static int ndjson_parse(struct file *file, const struct file_frame *frame, struct arena *arena,
                        struct record *record, size_t *fault, struct tare_error *error)
{
    *fault = 0;
    if (file_read_json(file, frame, arena, record, fault, error) == 0)
        return 0;
    return *fault < frame->length
               ? -1
               : error_set(error, TARE_USAGE, "%s; a record stands in one line of NDJSON",
                           error ? error->message : "");
}

static const char *const ndjson_extensions[] = {".ndjson", ".jsonl", NULL};

const struct file_format file_format_ndjson = {
    .name = "ndjson",
    .title = "NDJSON",
    .extensions = ndjson_extensions,
    .json = true,
    .frame = ndjson_frame,
    .parse = ndjson_parse,
};

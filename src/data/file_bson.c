/* BSON documents one after another, as mongodump writes them. */
#include <endian.h>

#include "data/bson_record.h"
#include "data/file.h"

#define LENGTH_SIZE ((size_t)4)
#define LEAST       5 /* a length and the end */

static int refuse(struct file *file, const char *what, uint32_t told, size_t there,
                  struct tare_error *error)
{
    error_set(error, TARE_USAGE, "%s: %lu bytes are told of, %zu are there", what,
              (unsigned long)told, there);
    return file_fault_here(file, error);
}

static int bson_frame(struct file *file, struct file_frame *frame, bool *found,
                      struct tare_error *error)
{
    struct input *input = &file->input;
    uint32_t told = LENGTH_SIZE;
    *found = false;
    while (1) {
        struct slice rest = input_rest(input);
        if (rest.length >= LENGTH_SIZE) {
            memcpy(&told, rest.bytes, LENGTH_SIZE);
            told = le32toh(told); /* of the whole document, these four bytes too */
            if (told < LEAST || told > FILE_RECORD_MAX) {
                error_set(error, TARE_USAGE, "no BSON document: it would have %lu bytes",
                          (unsigned long)told);
                return file_fault_here(file, error);
            }
        }
        if (rest.length >= told && rest.length >= LENGTH_SIZE)
            break;
        if (input->ended && rest.length == 0)
            return 0;
        if (input->ended)
            return refuse(file, "cut short", told, rest.length, error);
        if (input_more(input, error))
            return -1;
    }
    *frame = (struct file_frame){.begin = input->place, .length = told, .place = file->next};
    frame->place.offset = input_offset(input);
    input->place += told;
    *found = true;
    return 0;
}

static int bson_parse(struct file *file, const struct file_frame *frame, struct arena *arena,
                      struct record *record, size_t *fault, struct tare_error *error)
{
    (void)fault;
    struct slice bytes = slice_of(file->input.window.data + frame->begin, frame->length);
    return bson_record_read(bytes, arena, record, error);
}

static const char *const bson_extensions[] = {".bson", NULL};

const struct file_format file_format_bson = {
    .name = "bson",
    .title = "BSON",
    .extensions = bson_extensions,
    .binary = true,
    .usual_key = "_id",
    .frame = bson_frame,
    .parse = bson_parse,
};

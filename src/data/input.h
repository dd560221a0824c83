/* The bytes of a file or of standard input, through a window that moves along: memory doesn't grow
 * with the file. */
#ifndef TARE_DATA_INPUT_H
#define TARE_DATA_INPUT_H

#include "core/buffer.h"
#include "core/error.h"

struct input {
    char *name; /* for messages: the path, or "standard input" */
    int descriptor;
    bool seekable; /* a regular file: any of its bytes can be had again */
    /* Of what can't be sought in: a temporary file without a name that takes all that was read, so
     * that it can be had again; -1: none. */
    int spool;
    int64_t spooled;
    bool ended;     /* the window reaches the end */
    int64_t offset; /* of the window's first byte */
    struct buffer window;
    size_t place; /* of the next byte in the window; what is before it may go */
    int (*interrupted)(struct tare_error *error); /* asked when a signal came; may be NULL */
};

/* Opens the path, "-" being standard input, which can be opened once; nothing is read. A folder, or
 * what may not be read, is an error here. */
int input_open(struct input *input, const char *path, struct tare_error *error);
/* From now on what is read is kept in a temporary file, where the input can't be sought in itself.
 * Call it before anything is read. */
int input_keep(struct input *input, struct tare_error *error);
/* Reads on, so that at least one more byte stands behind those from `place` on, unless the file
 * ends. Moves the window: places in it become others, by as much as input->place does. */
int input_more(struct input *input, struct tare_error *error);
/* Goes to a byte that was read before, of what is seekable or kept. */
void input_seek(struct input *input, int64_t offset);
void input_close(struct input *input);

/* What stands from `place` on. */
static inline struct slice input_rest(const struct input *input)
{
    return slice_of(input->window.data + input->place, input->window.length - input->place);
}

/* The offset of the next byte. */
static inline int64_t input_offset(const struct input *input)
{
    return input->offset + (int64_t)input->place;
}

#endif

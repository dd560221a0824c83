/* A file that is written whole or not at all: a temporary file beside it, PATH.tare-XXXXXX.tmp with
 * the mode that the file has or would get, is flushed to the disk and renamed into place at the
 * end. A symbolic link stays, what it points to is replaced. "-" is standard output; that, a device
 * and a pipe are written to as they are, since a rename would put a file in their place.
 * Errors have status TARE_USAGE and name the path. */
#ifndef TARE_CORE_OUTPUT_H
#define TARE_CORE_OUTPUT_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/slice.h"

struct output {
    char *path;            /* as it was given; NULL: not open */
    char *temporary;       /* NULL: written to as it is, or renamed already */
    int descriptor;        /* -1: closed, the next write begins a new temporary file */
    struct buffer waiting; /* written, not yet with the kernel */
};

/* Opens, so that whether it can be written is known before the work begins. The path is copied. On
 * failure too, output_abandon frees. */
int output_open(struct output *output, const char *path, struct tare_error *error);
int output_write(struct output *output, struct slice bytes, struct tare_error *error);
/* Puts what was written in place. On failure the old file is as it was. What is written later makes
 * the file anew. */
int output_commit(struct output *output, struct tare_error *error);
/* Removes what was not committed, closes and frees; safe on one that is all zero or committed. */
void output_abandon(struct output *output);

#endif

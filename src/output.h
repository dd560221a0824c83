/* A file that a command writes records to: whole, or not there. */
#ifndef TARE_OUTPUT_H
#define TARE_OUTPUT_H

#include <stdio.h>

#include "core/error.h"
#include "core/slice.h"

struct output {
    const char *path; /* "-" or NULL: standard output */
    char *temporary;  /* beside the path, renamed at the end; NULL: standard output */
    FILE *file;
};

int output_open(struct output *output, const char *path, struct tare_error *error);
int output_write(struct output *output, struct slice bytes, struct tare_error *error);
/* failed: what was written is removed. Returns -1 where it was, or where the end can't be written.
 */
int output_close(struct output *output, int failed, struct tare_error *error);

#endif

/* Commands: one file each, that ends in one const struct, and one line in
 * main.c's table. */
#ifndef TARE_COMMAND_H
#define TARE_COMMAND_H

#include "core/error.h"

struct command {
    const char *name;     /* "run" */
    const char *summary;  /* one line for `tare help` */
    const char *usage;    /* "tare run -e ENCODING[,...] [-n N] ..." and what the options mean */
    const char *examples; /* lines that one can copy, for the command's help */
    /* Returns the process's exit code; the error holds the line to print where it isn't 0 (an
     * empty message: all was said already). argv[0] is the command's name. */
    int (*run)(int argc, char **argv, struct tare_error *error);
};

extern const struct command *const commands[]; /* NULL-terminated */

/* Prints a command's help on stdout. */
void command_print_help(const struct command *command);

#endif

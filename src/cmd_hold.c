/* tare hold SOCKET: the process of the memory store. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "stores/memory_hold.h"

extern const struct command command_hold;

static int hold_run(int argc, char **argv, struct tare_error *error)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        command_print_help(&command_hold);
        return TARE_OK;
    }
    if (argc != 2)
        return (int)(error_set(error, TARE_USAGE, "hold takes one operand, its socket's path"),
                     TARE_USAGE);
    return memory_hold(argv[1], error) ? (int)error->status : TARE_OK;
}

const struct command command_hold = {
    .name = "hold",
    .summary = "hold records in this process's own memory; run starts it for 'memory:'",
    .usage = "usage: tare hold SOCKET\n\n"
             "  SOCKET                    where to listen; made, and there must be none yet\n\n"
             "Takes one connection, holds what comes over it, and ends with it.\n",
    .examples = "  tare run -e memory:json,memory:objects,redis:string+json\n",
    .run = hold_run,
};

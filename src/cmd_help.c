/* tare help [COMMAND] */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "core/options.h"

void command_print_help(const struct command *command)
{
    printf("tare %s: %s\n\n%s\nexamples:\n%s", command->name, command->summary, command->usage,
           command->examples);
}

static int help_run(int argc, char **argv, struct tare_error *error)
{
    if (argc > 2)
        return (int)(error_set(error, TARE_USAGE, "help takes one command: 'tare help run'"),
                     TARE_USAGE);
    if (argc == 2) {
        const char *names[16];
        size_t count = 0;
        for (size_t i = 0; commands[i]; i++) {
            if (strcmp(commands[i]->name, argv[1]) == 0) {
                command_print_help(commands[i]);
                return TARE_OK;
            }
            names[count++] = commands[i]->name;
        }
        names[count] = NULL;
        error_unknown(error, "command", argv[1], names, NULL);
        return TARE_USAGE;
    }
    printf("tare weighs data inside datastores and accounts for every byte.\n\n"
           "usage: tare COMMAND [OPTION...]\n\n");
    for (size_t i = 0; commands[i]; i++)
        printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
    printf("\nexamples:\n"
           "  tare run -n 100000 -e redis:hash,redis:string+json\n"
           "  tare run -n 100000 -e redis:hash@index,mongodb:document --export-json weigh.json\n"
           "  tare diff weigh.json#redis:hash@index weigh.json#mongodb:document\n"
           "  tare plan -n 2500000 -e redis:hash --server redis=7.0.15\n"
           "  tare list encodings\n\n"
           "'tare help COMMAND' explains a command and its options.\n"
           "exit codes: 0; 1 usage or input; 2 a store failed, results so far are written;\n"
           "3 with --strict, the share unattributed is over the limit; 128 + signal\n");
    return TARE_OK;
}

const struct command command_help = {
    .name = "help",
    .summary = "explain a command",
    .usage = "usage: tare help [COMMAND]\n",
    .examples = "  tare help run\n",
    .run = help_run,
};

/* tare: weighs data inside datastores and accounts for every byte. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cell/advice.h"
#include "cell/step.h"
#include "command.h"
#include "core/memory.h"
#include "core/options.h"
#include "data/dataset.h"
#include "encoders/encoding.h"
#include "model/model.h"
#include "probes/probe.h"
#include "report/report.h"
#include "stores/process.h"
#include "stores/store.h"

extern const struct command command_run, command_plan, command_report, command_diff, command_encode,
    command_decode, command_probe, command_list, command_hold, command_help;

const struct command *const commands[] = {
    &command_run,
    &command_plan,
    &command_report,
    &command_diff,
    &command_encode,
    &command_decode,
    &command_probe,
    &command_list,
    &command_hold,
    &command_help,
    NULL,
};

/* The first signal asks everything to wind up: finished cells are written, servers stopped. A
 * second one doesn't wait: servers are killed and the process ends at once. */
static void on_signal(int number)
{
    if (process_interrupted) {
        process_kill_all();
        _exit(128 + number);
    }
    process_interrupted = number;
}

static void install_signal_handlers(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static int commands_check(struct tare_error *error)
{
    for (size_t i = 0; commands[i]; i++) {
        const struct command *command = commands[i];
        if (!command->name || !command->summary || !command->usage || !command->examples ||
            !command->run)
            return error_set(error, TARE_USAGE, "internal: command %zu is incomplete", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(commands[j]->name, command->name) == 0)
                return error_set(error, TARE_USAGE, "internal: command '%s' is there twice",
                                 command->name);
    }
    return 0;
}

/* Every plug-in table is checked at each start: an incomplete entry never runs. */
static int tables_check(struct tare_error *error)
{
    if (commands_check(error) || accounts_check(error) || allocator_kinds_check(error) ||
        model_kinds_check(error) || advice_kinds_check(error) || dataset_kinds_check(error) ||
        encoders_check(error) || cell_step_kinds_check(error) || store_kinds_check(error) ||
        probe_kinds_check(error) || format_kinds_check(error))
        return -1;
    return 0;
}

static const struct command *command_find(const char *name, struct tare_error *error)
{
    const char *names[16];
    size_t count = 0;
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
        names[count++] = commands[i]->name;
    }
    names[count] = NULL;
    error_unknown(error, "command", name, names, NULL);
    return NULL;
}

int main(int argc, char **argv)
{
    struct tare_error error = {0};
    int status = TARE_OK;

    install_signal_handlers();
    if (tables_check(&error)) {
        fprintf(stderr, "tare: %s\n", error.message);
        return (int)error.status;
    }
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("tare %s\n", TARE_VERSION);
        return TARE_OK;
    }
    const struct command *command = command_find(name, &error);
    if (command)
        status = command->run(argc > 1 ? argc - 1 : 0, argv + 1, &error);
    else
        status = (int)error.status;
    if (status != TARE_OK && error.message[0])
        fprintf(stderr, "tare: %s\n", error.message);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (status == TARE_OK) {
            fprintf(stderr, "tare: cannot write to standard output\n");
            status = TARE_USAGE;
        }
    }
    return status;
}

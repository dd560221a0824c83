/* The flags that commands share, parsed once, the same way everywhere. */
#ifndef TARE_ARGUMENTS_H
#define TARE_ARGUMENTS_H

#include "cell/cell_request.h"
#include "report/report.h"

#define ARGUMENTS_EXPORTS_MAX 8

/* What a command takes; an option that it doesn't take is an error that says so. */
enum argument_set {
    ARGUMENTS_CELLS = 1,    /* -n -d -e --server --set --seed */
    ARGUMENTS_MEASURE = 2,  /* --steps --job --scale --parse-only --repeat --strict --keep
                               --allow-config */
    ARGUMENTS_OUTPUT = 4,   /* --format --export-* -q -v */
    ARGUMENTS_PLAN = 8,     /* --given */
    ARGUMENTS_ENCODE = 16,  /* -o */
    ARGUMENTS_SAMPLE = 32,  /* --sample */
    ARGUMENTS_DECODE = 64,  /* -e -o --to */
    ARGUMENTS_EXPLAIN = 128 /* --explain */
};

struct arguments {
    struct cell_selection selection;
    bool records_given, encodings_given, seed_given;
    /* The first option that says what is weighed, as it is written; NULL: none. A job says it all.
     */
    const char *what_given;
    char *job;    /* NULL: none */
    double scale; /* of a job's counts */
    bool scale_given, parse_only;
    int repeat;
    double strict_percent; /* < 0: not asked for */
    const struct format_kind *format;
    bool format_given;
    struct export exports[ARGUMENTS_EXPORTS_MAX];
    size_t export_count;
    bool skip_bad; /* in selection.dataset too */
    bool quiet;
    bool explain;
    enum samples samples;
    int verbose;
    char *output;    /* -o */
    char *to;        /* --to */
    int64_t sample;  /* 0: none */
    char **operands; /* what is no option; borrowed from argv */
    size_t operand_count;
    bool help; /* -h or --help was given: print help, exit 0 */
};

/* Parses argv of `command`; sets defaults first. Free with arguments_free() in any case. */
int arguments_parse(struct arguments *arguments, const char *command, unsigned takes, int argc,
                    char **argv, struct tare_error *error);
void arguments_free(struct arguments *arguments);

/* Opens every export before long work begins. */
int arguments_open_exports(struct arguments *arguments, struct tare_error *error);
/* Writes the report to stdout in the chosen format and to every export. Keeps going after a
 * failure, so that as much as can be is written; the first failure is in the error. */
int arguments_write(struct arguments *arguments, const struct report *report,
                    struct tare_error *error);
/* What there is to say of the data, a line each, on stderr. */
void arguments_print_notes(const struct dataset *dataset);
struct report_style arguments_style(const struct arguments *arguments);

/* The command line with passwords in URLs replaced by ***; the caller frees. */
char *arguments_command_line(int argc, char **argv);

#endif

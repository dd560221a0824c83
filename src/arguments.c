#include "arguments.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/options.h"

enum flag {
    FLAG_RECORDS,
    FLAG_DATASET,
    FLAG_SKIP_BAD,
    FLAG_ENCODING,
    FLAG_SERVER,
    FLAG_SET,
    FLAG_SEED,
    FLAG_STEPS,
    FLAG_JOB,
    FLAG_SCALE,
    FLAG_PARSE_ONLY,
    FLAG_REPEAT,
    FLAG_STRICT,
    FLAG_KEEP,
    FLAG_ALLOW_CONFIG,
    FLAG_FORMAT,
    FLAG_EXPORT,
    FLAG_QUIET,
    FLAG_VERBOSE,
    FLAG_GIVEN,
    FLAG_OUTPUT,
    FLAG_TO,
    FLAG_SAMPLE,
    FLAG_SAMPLES,
    FLAG_EXPLAIN,
    FLAG_HELP
};

enum wants { NO_VALUE, VALUE, OPTIONAL_VALUE /* only after "=" */ };

static const struct flag_spec {
    const char *name; /* long, without the dashes */
    char letter;      /* 0: none */
    enum flag flag;
    enum wants wants;
    unsigned set; /* of enum argument_set; 0: every command */
} flag_specs[] = {
    {"records", 'n', FLAG_RECORDS, VALUE, ARGUMENTS_CELLS | ARGUMENTS_ENCODE},
    {"dataset", 'd', FLAG_DATASET, VALUE, ARGUMENTS_CELLS | ARGUMENTS_ENCODE},
    {"skip-bad", 0, FLAG_SKIP_BAD, NO_VALUE, ARGUMENTS_CELLS | ARGUMENTS_ENCODE},
    {"encoding", 'e', FLAG_ENCODING, VALUE, ARGUMENTS_CELLS | ARGUMENTS_ENCODE | ARGUMENTS_DECODE},
    {"server", 0, FLAG_SERVER, VALUE, ARGUMENTS_CELLS},
    {"set", 0, FLAG_SET, VALUE, ARGUMENTS_CELLS},
    {"seed", 0, FLAG_SEED, VALUE, ARGUMENTS_CELLS | ARGUMENTS_ENCODE},
    {"steps", 0, FLAG_STEPS, VALUE, ARGUMENTS_MEASURE},
    {"job", 0, FLAG_JOB, VALUE, ARGUMENTS_MEASURE},
    {"scale", 0, FLAG_SCALE, VALUE, ARGUMENTS_MEASURE},
    {"parse-only", 0, FLAG_PARSE_ONLY, NO_VALUE, ARGUMENTS_MEASURE},
    {"repeat", 0, FLAG_REPEAT, VALUE, ARGUMENTS_MEASURE},
    {"strict", 0, FLAG_STRICT, OPTIONAL_VALUE, ARGUMENTS_MEASURE},
    {"keep", 0, FLAG_KEEP, NO_VALUE, ARGUMENTS_MEASURE},
    {"allow-config", 0, FLAG_ALLOW_CONFIG, NO_VALUE, ARGUMENTS_MEASURE},
    {"given", 0, FLAG_GIVEN, VALUE, ARGUMENTS_PLAN},
    {"output", 'o', FLAG_OUTPUT, VALUE, ARGUMENTS_ENCODE | ARGUMENTS_DECODE},
    {"to", 0, FLAG_TO, VALUE, ARGUMENTS_DECODE},
    {"sample", 0, FLAG_SAMPLE, VALUE, ARGUMENTS_SAMPLE},
    {"explain", 0, FLAG_EXPLAIN, NO_VALUE, ARGUMENTS_EXPLAIN},
    {"format", 0, FLAG_FORMAT, VALUE, ARGUMENTS_OUTPUT},
    {"samples", 0, FLAG_SAMPLES, VALUE, ARGUMENTS_OUTPUT},
    {"export-csv", 0, FLAG_EXPORT, VALUE, ARGUMENTS_OUTPUT},
    {"export-json", 0, FLAG_EXPORT, VALUE, ARGUMENTS_OUTPUT},
    {"export-markdown", 0, FLAG_EXPORT, VALUE, ARGUMENTS_OUTPUT},
    {"export-html", 0, FLAG_EXPORT, VALUE, ARGUMENTS_OUTPUT},
    {"quiet", 'q', FLAG_QUIET, NO_VALUE, 0},
    {"verbose", 'v', FLAG_VERBOSE, NO_VALUE, 0},
    {"help", 'h', FLAG_HELP, NO_VALUE, 0},
};

#define FLAG_SPEC_COUNT (sizeof flag_specs / sizeof flag_specs[0])

/* Largest -n: 10^12 records; beyond it a byte count could leave int64_t. */
#define RECORDS_MAX INT64_C(1000000000000)

static const struct flag_spec *find_letter(char letter)
{
    for (size_t i = 0; i < FLAG_SPEC_COUNT; i++)
        if (flag_specs[i].letter == letter)
            return &flag_specs[i];
    return NULL;
}

static const struct flag_spec *find_name(const char *name, size_t length, const char *command,
                                         unsigned takes, struct tare_error *error)
{
    const char *names[FLAG_SPEC_COUNT + 1];
    size_t count = 0;
    for (size_t i = 0; i < FLAG_SPEC_COUNT; i++) {
        if (strlen(flag_specs[i].name) == length && memcmp(flag_specs[i].name, name, length) == 0)
            return &flag_specs[i];
        if (flag_specs[i].set == 0 || (flag_specs[i].set & takes))
            names[count++] = flag_specs[i].name;
    }
    names[count] = NULL;
    char *given = memory_text_n(name, length);
    const char *near = nearest_name(given, names);
    if (near)
        error_set(error, TARE_USAGE, "unknown option '--%s'; did you mean '--%s'?", given, near);
    else
        error_set(error, TARE_USAGE, "unknown option '--%s'; 'tare help %s' lists them", given,
                  command);
    free(given);
    return NULL;
}

/* "NAME=VALUE" into figures; a whole number becomes an integer figure. */
static int parse_setting(const char *text, const char *what, struct figures *figures,
                         struct tare_error *error)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return error_set(error, TARE_USAGE, "%s takes NAME=VALUE, not '%s'", what, text);
    char *name = memory_text_n(text, (size_t)(equals - text));
    figures_parse(figures, name, equals + 1);
    free(name);
    return 0;
}

static int parse_encodings(struct cell_selection *selection, const char *text,
                           struct tare_error *error)
{
    while (1) {
        size_t length = strcspn(text, ",");
        if (length == 0)
            return error_set(error, TARE_USAGE,
                             "-e has an empty encoding; 'tare list encodings' lists them");
        MEMORY_GROW(selection->encodings, selection->encoding_count, selection->encoding_capacity);
        selection->encodings[selection->encoding_count++] = memory_text_n(text, length);
        if (text[length] == '\0')
            return 0;
        text += length + 1;
    }
}

static int parse_percent(const char *text, double *percent, struct tare_error *error)
{
    char *end;
    errno = 0;
    *percent = strtod(text, &end);
    if (end == text || *end != '\0' || errno || !(*percent >= 0 && *percent <= 100))
        return error_set(error, TARE_USAGE, "--strict takes a percentage from 0 to 100, not '%s'",
                         text);
    return 0;
}

static int parse_samples(const char *text, enum samples *samples, struct tare_error *error)
{
    for (int i = 0; samples_names[i]; i++)
        if (strcmp(samples_names[i], text) == 0) {
            *samples = (enum samples)i;
            return 0;
        }
    return error_unknown(error, "kind of samples", text, samples_names, "--samples");
}

static int parse_scale(const char *text, double *scale, struct tare_error *error)
{
    char *end;
    errno = 0;
    *scale = strtod(text, &end);
    if (end == text || *end != '\0' || errno || !(*scale > 0 && *scale <= 1000))
        return error_set(error, TARE_USAGE,
                         "--scale takes a factor over 0, 1000 at most, as 0.01, not '%s'", text);
    return 0;
}

/* What --job says already, and can't be said beside it. */
static bool says_what(enum flag flag)
{
    return flag == FLAG_RECORDS || flag == FLAG_DATASET || flag == FLAG_ENCODING ||
           flag == FLAG_SERVER || flag == FLAG_SET || flag == FLAG_STEPS || flag == FLAG_SKIP_BAD;
}

static int take_flag(struct arguments *arguments, const struct flag_spec *spec, const char *value,
                     struct tare_error *error)
{
    struct cell_selection *selection = &arguments->selection;
    int64_t number;
    switch (spec->flag) {
    case FLAG_RECORDS:
        arguments->records_given = true;
        return parse_integer(value, 0, RECORDS_MAX, "-n", &selection->records, error);
    case FLAG_DATASET:
        free(selection->dataset);
        selection->dataset = memory_text(value);
        return 0;
    case FLAG_SKIP_BAD:
        arguments->skip_bad = true;
        return 0;
    case FLAG_ENCODING:
        arguments->encodings_given = true;
        return parse_encodings(selection, value, error);
    case FLAG_SERVER:
        MEMORY_GROW(selection->servers, selection->server_count, selection->server_capacity);
        selection->servers[selection->server_count++] = memory_text(value);
        return 0;
    case FLAG_SET:
        return parse_setting(value, "--set", &selection->settings, error);
    case FLAG_SEED:
        arguments->seed_given = true;
        return parse_integer(value, 0, INT64_MAX, "--seed", &selection->seed, error);
    case FLAG_STEPS:
        cell_steps_free(&selection->steps);
        return cell_steps_parse(&selection->steps, value, error);
    case FLAG_JOB:
        free(arguments->job);
        arguments->job = memory_text(value);
        return 0;
    case FLAG_SCALE:
        arguments->scale_given = true;
        return parse_scale(value, &arguments->scale, error);
    case FLAG_PARSE_ONLY:
        arguments->parse_only = true;
        return 0;
    case FLAG_REPEAT:
        if (parse_integer(value, 1, 1000, "--repeat", &number, error))
            return -1;
        arguments->repeat = (int)number;
        return 0;
    case FLAG_STRICT:
        arguments->strict_percent = 2.0;
        return value ? parse_percent(value, &arguments->strict_percent, error) : 0;
    case FLAG_KEEP:
        selection->limits.keep = true;
        return 0;
    case FLAG_ALLOW_CONFIG:
        selection->limits.allow_config = true;
        return 0;
    case FLAG_GIVEN:
        return parse_setting(value, "--given", &selection->given, error);
    case FLAG_OUTPUT:
        free(arguments->output);
        arguments->output = memory_text(value);
        return 0;
    case FLAG_TO:
        free(arguments->to);
        arguments->to = memory_text(value);
        return 0;
    case FLAG_SAMPLE:
        return parse_integer(value, 1, INT64_C(1000000000), "--sample", &arguments->sample, error);
    case FLAG_SAMPLES:
        return parse_samples(value, &arguments->samples, error);
    case FLAG_EXPLAIN:
        arguments->explain = true;
        return 0;
    case FLAG_FORMAT:
        arguments->format_given = true;
        arguments->format = format_of_name(value, error);
        return arguments->format ? 0 : -1;
    case FLAG_EXPORT: {
        if (arguments->export_count == ARGUMENTS_EXPORTS_MAX)
            return error_set(error, TARE_USAGE, "at most %d exports", ARGUMENTS_EXPORTS_MAX);
        const struct format_kind *format = format_of_name(spec->name + strlen("export-"), error);
        if (!format)
            return -1;
        struct export *export = &arguments->exports[arguments->export_count++];
        *export = (struct export){.output = {.path = memory_text(value), .descriptor = -1},
                                  .format = format};
        return 0;
    }
    case FLAG_QUIET:
        arguments->quiet = true;
        return 0;
    case FLAG_VERBOSE:
        arguments->verbose++;
        return 0;
    case FLAG_HELP:
        arguments->help = true;
        return 0;
    }
    return 0;
}

static void print_spelling(const struct flag_spec *spec, bool letter, char out[32])
{
    if (letter)
        snprintf(out, 32, "-%c", spec->letter);
    else
        snprintf(out, 32, "--%s", spec->name);
}

/* --skip-bad is an option of the data set, which a report then shows. */
static int add_skip_bad(struct cell_selection *selection, struct tare_error *error)
{
    static const char option[] = ",skip-bad";
    char *text = selection->dataset;
    if (strncmp(text, "file:", 5) != 0 && text[0] != '-')
        return error_set(error, TARE_USAGE,
                         "--skip-bad is for files, and '%s' makes its records itself", text);
    if (!strstr(text, option)) {
        selection->dataset = memory_format("%s%s", text, option);
        free(text);
    }
    return 0;
}

int arguments_parse(struct arguments *arguments, const char *command, unsigned takes, int argc,
                    char **argv, struct tare_error *error)
{
    *arguments = (struct arguments){
        .repeat = 1, .strict_percent = -1, .scale = 1, .format = format_kinds[0]};
    arguments->selection.records = DATASET_ALL;
    arguments->selection.seed = 1;
    arguments->selection.dataset = memory_text("ycsb");
    arguments->operands = memory_new((size_t)(argc + 1) * sizeof *arguments->operands);

    bool options_over = false;
    for (int i = 1; i < argc; i++) {
        char *word = argv[i];
        if (options_over || word[0] != '-' || word[1] == '\0') {
            arguments->operands[arguments->operand_count++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_over = true;
            continue;
        }
        const struct flag_spec *spec;
        const char *value = NULL;
        bool letter = word[1] != '-';
        if (!letter) {
            char *equals = strchr(word, '=');
            size_t length = equals ? (size_t)(equals - word) - 2 : strlen(word) - 2;
            spec = find_name(word + 2, length, command, takes, error);
            if (!spec)
                return -1;
            value = equals ? equals + 1 : NULL;
        } else {
            spec = find_letter(word[1]);
            if (!spec)
                return error_set(error, TARE_USAGE,
                                 "unknown option '-%c'; 'tare help %s' lists them", word[1],
                                 command);
            value = word[2] ? word + 2 : NULL;
            if (value && spec->wants == NO_VALUE) {
                /* -vv, -qv: letters without values may stand together */
                for (const char *c = word + 1; *c; c++) {
                    const struct flag_spec *one = find_letter(*c);
                    if (!one || one->wants != NO_VALUE)
                        return error_set(error, TARE_USAGE, "unknown option '-%c' in '%s'", *c,
                                         word);
                    if (take_flag(arguments, one, NULL, error))
                        return -1;
                }
                continue;
            }
        }
        char spelling[32];
        print_spelling(spec, letter, spelling);
        if (spec->set && !(spec->set & takes))
            return error_set(error, TARE_USAGE, "'tare %s' takes no option '%s'; 'tare help %s'",
                             command, spelling, command);
        if (spec->wants == NO_VALUE && value)
            return error_set(error, TARE_USAGE, "option '%s' takes no value", spelling);
        if (spec->wants == VALUE && !value) {
            if (i + 1 >= argc)
                return error_set(error, TARE_USAGE, "option '%s' needs a value", spelling);
            value = argv[++i];
        }
        if (says_what(spec->flag) && !arguments->what_given)
            arguments->what_given = spec->name;
        if (take_flag(arguments, spec, value, error))
            return -1;
    }
    if (arguments->job && arguments->what_given)
        return error_set(error, TARE_USAGE,
                         "--job says what is weighed: '--%s' has no place beside it",
                         arguments->what_given);
    if (!arguments->job && arguments->scale_given)
        return error_set(error, TARE_USAGE, "--scale belongs to --job; -n says how many records");
    return arguments->skip_bad ? add_skip_bad(&arguments->selection, error) : 0;
}

void arguments_free(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->export_count; i++)
        export_abandon(&arguments->exports[i]);
    cell_selection_free(&arguments->selection);
    free(arguments->output);
    free(arguments->job);
    free(arguments->to);
    free(arguments->operands);
    *arguments = (struct arguments){0};
}

int arguments_open_exports(struct arguments *arguments, struct tare_error *error)
{
    for (size_t i = 0; i < arguments->export_count; i++) {
        struct export *export = &arguments->exports[i];
        for (size_t j = 0; j < i; j++)
            if (strcmp(export->output.path, arguments->exports[j].output.path) == 0)
                return error_set(error, TARE_USAGE, "two exports go to the same file '%s'",
                                 export->output.path);
        char *path = export->output.path;
        int failed = export_open(export, path, export->format, error);
        export->samples = arguments->samples;
        free(path);
        if (failed)
            return -1;
    }
    return 0;
}

void arguments_print_notes(const struct dataset *dataset)
{
    struct buffer lines = {0};
    dataset_notes(dataset, &lines);
    const char *note = lines.length ? lines.data : "";
    for (size_t length; (length = strcspn(note, "\n")); note += length + (note[length] != '\0'))
        fprintf(stderr, "tare: %.*s\n", (int)length, note);
    buffer_free(&lines);
}

struct report_style arguments_style(const struct arguments *arguments)
{
    const char *no_color = getenv("NO_COLOR");
    return (struct report_style){
        .color = isatty(STDOUT_FILENO) && !(no_color && *no_color),
        .verbose = arguments->verbose,
        .explain = arguments->explain,
        .samples = arguments->samples,
    };
}

int arguments_write(struct arguments *arguments, const struct report *report,
                    struct tare_error *error)
{
    int failed = 0;
    struct report_style style = arguments_style(arguments);
    if (report_check(report, error))
        return error_prefix(error, "internal");
    /* Exports first: a closed pipe on stdout must not cost a file. */
    for (size_t i = 0; i < arguments->export_count; i++) {
        struct tare_error one = {0};
        if (export_write(&arguments->exports[i], report, &one) && !failed) {
            failed = -1;
            *error = one;
        }
    }
    if (!arguments->quiet || arguments->format_given) {
        struct buffer out = {0};
        arguments->format->render(report, &style, &out);
        if (out.length && fwrite(out.data, 1, out.length, stdout) != out.length && !failed)
            failed = error_set(error, TARE_USAGE, "cannot write to standard output: %s",
                               strerror(errno));
        buffer_free(&out);
    }
    return failed;
}

char *arguments_command_line(int argc, char **argv)
{
    struct buffer out = {0};
    buffer_text(&out, "tare");
    for (int i = 0; i < argc; i++) {
        buffer_byte(&out, ' ');
        char *word = server_text_masked(argv[i]);
        buffer_text(&out, word);
        free(word);
    }
    return buffer_steal(&out);
}

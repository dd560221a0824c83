/* The table of formats, export files, and reading reports back. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/options.h"

extern const struct format_kind format_text, format_csv, format_json, format_markdown, format_html;

const struct format_kind *const format_kinds[] = {
    &format_text, &format_csv, &format_json, &format_markdown, &format_html, NULL,
};

int format_table_check(const struct format_kind *const kinds[], struct tare_error *error)
{
    for (size_t i = 0; kinds[i]; i++) {
        const struct format_kind *kind = kinds[i];
        if (!kind->name || !kind->name[0] || !kind->summary || !kind->render || !kind->render_gap)
            return error_set(error, TARE_USAGE, "internal: format %zu is incomplete", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(kinds[j]->name, kind->name) == 0)
                return error_set(error, TARE_USAGE, "internal: format '%s' is there twice",
                                 kind->name);
    }
    return 0;
}

int format_kinds_check(struct tare_error *error)
{
    return format_table_check(format_kinds, error);
}

const struct format_kind *format_of_name(const char *name, struct tare_error *error)
{
    const char *names[sizeof format_kinds / sizeof format_kinds[0]] = {NULL};
    struct buffer list = {0};

    for (size_t i = 0; format_kinds[i]; i++) {
        if (strcmp(format_kinds[i]->name, name) == 0)
            return format_kinds[i];
        names[i] = format_kinds[i]->name;
    }
    for (size_t i = 0; names[i]; i++)
        buffer_format(&list, "%s%s", i ? ", " : "", names[i]);
    const char *near = nearest_name(name, names);
    if (near)
        error_set(error, TARE_USAGE, "unknown format '%s'; did you mean '%s'?", name, near);
    else
        error_set(error, TARE_USAGE, "unknown format '%s'; it is one of %s", name, list.data);
    buffer_free(&list);
    return NULL;
}

/* ---- exports ---- */

int export_open(struct export *export, const char *path, const struct format_kind *format,
                struct tare_error *error)
{
    export->format = format;
    export->samples = SAMPLES_ALL;
    return output_open(&export->output, path, error);
}

int export_write_text(struct export *export, struct slice text, struct tare_error *error)
{
    return output_write(&export->output, text, error) || output_commit(&export->output, error) ? -1
                                                                                               : 0;
}

int export_write(struct export *export, const struct report *report, struct tare_error *error)
{
    struct report_style style = {.verbose = 1, .samples = export->samples};
    struct buffer out = {0};

    if (report_check(report, error))
        return error_prefix(error, "internal: nothing is written to '%s'", export->output.path);
    export->format->render(report, &style, &out);
    int failed = export_write_text(export, buffer_slice(&out), error);
    buffer_free(&out);
    return failed;
}

void export_abandon(struct export *export)
{
    output_abandon(&export->output);
}

/* ---- reading ---- */

static int read_file(const char *path, struct buffer *out, struct tare_error *error)
{
    bool standard = strcmp(path, "-") == 0;
    int descriptor = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = -1;

    while (descriptor >= 0) {
        buffer_reserve(out, 1 << 16);
        got = read(descriptor, out->data + out->length, 1 << 16);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        out->length += (size_t)got;
        out->data[out->length] = '\0';
    }
    int number = errno;
    if (descriptor >= 0 && !standard)
        close(descriptor);
    if (got < 0)
        return error_set(error, TARE_USAGE, "cannot read '%s': %s", path, strerror(number));
    return 0;
}

int report_load(const char *path, struct report *report, struct tare_error *error)
{
    struct buffer text = {0};

    *report = (struct report){0};
    if (read_file(path, &text, error)) {
        buffer_free(&text);
        return -1;
    }
    struct slice rest = buffer_slice(&text);
    if (rest.length >= 3 && memcmp(rest.bytes, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        rest = slice_of(rest.bytes + 3, rest.length - 3);
    size_t blanks = 0;
    while (blanks < rest.length && strchr(" \t\r\n", rest.bytes[blanks]) && rest.bytes[blanks])
        blanks++;
    int failed;
    if (blanks == rest.length)
        failed = error_set(error, TARE_USAGE, "'%s' is empty: not a tare report", path);
    else if (rest.bytes[blanks] == '{' || rest.bytes[blanks] == '[')
        failed = format_json.parse(rest, path, report, error);
    else if (rest.length > 5 &&
             (memcmp(rest.bytes, "cell,", 5) == 0 || memcmp(rest.bytes, "\"cell\"", 6) == 0))
        failed = format_csv.parse(rest, path, report, error);
    else
        failed = error_set(error, TARE_USAGE,
                           "'%s' is no tare report: neither its JSON nor its CSV", path);
    if (!failed && report_check(report, error))
        failed = error_prefix(error, "'%s'", path);
    buffer_free(&text);
    if (failed)
        report_free(report);
    return failed ? -1 : 0;
}

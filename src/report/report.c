/* The table of formats, export files, and reading reports back. */
#include "report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static int cannot_write(const char *path, int number, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "cannot write '%s': %s", path, strerror(number));
}

/* The file that is really written: where the path is a symbolic link, what it points to, so that
 * renaming replaces the file and not the link. The caller frees. */
static char *real_target(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : memory_text(path);
}

/* The mode that a new file would get, or that the file has. */
static mode_t mode_of(const char *target)
{
    struct stat status;
    if (stat(target, &status) == 0)
        return status.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int make_temporary(struct export *export, struct tare_error *error)
{
    static const char suffix[] = ".tmp";
    char *target = real_target(export->path);
    char *temporary = memory_format("%s.tare-XXXXXX%s", target, suffix);
    mode_t mode = mode_of(target);
    int descriptor = mkostemps(temporary, (int)sizeof suffix - 1, O_CLOEXEC);

    free(target);
    if (descriptor < 0) {
        int number = errno;
        free(temporary);
        return cannot_write(export->path, number, error);
    }
    if (fchmod(descriptor, mode) != 0) {
        int number = errno;
        unlink(temporary);
        close(descriptor);
        free(temporary);
        return cannot_write(export->path, number, error);
    }
    export->temporary = temporary;
    export->descriptor = descriptor;
    return 0;
}

int export_open(struct export *export, const char *path, const struct format_kind *format,
                struct tare_error *error)
{
    struct stat status;

    *export = (struct export){.path = memory_text(path), .descriptor = -1, .format = format};
    if (!path[0])
        return error_set(error, TARE_USAGE, "an export needs a file name");
    if (strcmp(path, "-") == 0) {
        export->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        return export->descriptor < 0 ? cannot_write(path, errno, error) : 0;
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        /* A device or a pipe is written to as it is: a rename would put a file in its place. */
        export->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        return export->descriptor < 0 ? cannot_write(path, errno, error) : 0;
    }
    /* Renaming needs the folder's permission alone; a file that is write-protected stays so. */
    if (access(path, F_OK) == 0 && access(path, W_OK) != 0)
        return cannot_write(path, errno, error);
    return make_temporary(export, error);
}

static int write_all(int descriptor, struct slice text)
{
    while (text.length) {
        ssize_t written = write(descriptor, text.bytes, text.length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        text.bytes += written;
        text.length -= (size_t)written;
    }
    return 0;
}

static void drop_temporary(struct export *export)
{
    if (export->temporary)
        unlink(export->temporary);
    free(export->temporary);
    export->temporary = NULL;
    if (export->descriptor >= 0)
        close(export->descriptor);
    export->descriptor = -1;
}

int export_write_text(struct export *export, struct slice text, struct tare_error *error)
{
    /* Written before, it is written anew, whole. */
    if (export->descriptor < 0 && make_temporary(export, error))
        return -1;
    if (!export->temporary) {
        if (write_all(export->descriptor, text) == 0)
            return 0;
        return cannot_write(export->path, errno, error);
    }
    char *target = real_target(export->path);
    int failed = write_all(export->descriptor, text) || fsync(export->descriptor) ||
                 rename(export->temporary, target);
    int number = errno;
    free(target);
    if (!failed) {
        free(export->temporary);
        export->temporary = NULL;
    }
    drop_temporary(export);
    return failed ? cannot_write(export->path, number, error) : 0;
}

int export_write(struct export *export, const struct report *report, struct tare_error *error)
{
    struct report_style style = {.verbose = 1};
    struct buffer out = {0};

    if (report_check(report, error))
        return error_prefix(error, "internal: nothing is written to '%s'", export->path);
    export->format->render(report, &style, &out);
    int failed = export_write_text(export, buffer_slice(&out), error);
    buffer_free(&out);
    return failed;
}

void export_abandon(struct export *export)
{
    /* One that was never opened is all zero, and descriptor 0 is not its own. */
    if (!export->path)
        return;
    drop_temporary(export);
    free(export->path);
    *export = (struct export){.descriptor = -1};
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

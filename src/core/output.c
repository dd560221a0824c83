#include "core/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

#define WAITING_MOST (64 * 1024)

static int cannot_write(const struct output *output, int number, struct tare_error *error)
{
    if (strcmp(output->path, "-") == 0)
        return error_set(error, TARE_USAGE, "cannot write to standard output: %s",
                         strerror(number));
    return error_set(error, TARE_USAGE, "cannot write '%s': %s", output->path, strerror(number));
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

static int make_temporary(struct output *output, struct tare_error *error)
{
    static const char suffix[] = ".tmp";
    char *target = real_target(output->path);
    char *temporary = memory_format("%s.tare-XXXXXX%s", target, suffix);
    mode_t mode = mode_of(target);
    int descriptor = mkostemps(temporary, (int)sizeof suffix - 1, O_CLOEXEC);

    free(target);
    if (descriptor < 0) {
        int number = errno;
        free(temporary);
        return cannot_write(output, number, error);
    }
    if (fchmod(descriptor, mode) != 0) {
        int number = errno;
        unlink(temporary);
        close(descriptor);
        free(temporary);
        return cannot_write(output, number, error);
    }
    output->temporary = temporary;
    output->descriptor = descriptor;
    return 0;
}

int output_open(struct output *output, const char *path, struct tare_error *error)
{
    struct stat status;

    *output = (struct output){.path = memory_text(path), .descriptor = -1};
    if (!path[0])
        return error_set(error, TARE_USAGE, "an output needs a file name");
    if (strcmp(path, "-") == 0)
        output->descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    /* Renaming needs the folder's permission alone; a file that is write-protected stays so. */
    else if (access(path, F_OK) != 0 || access(path, W_OK) == 0)
        return make_temporary(output, error);
    return output->descriptor < 0 ? cannot_write(output, errno, error) : 0;
}

static int flush(struct output *output, struct tare_error *error)
{
    const char *bytes = output->waiting.data;
    size_t left = output->waiting.length;
    while (left) {
        ssize_t written = write(output->descriptor, bytes, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cannot_write(output, errno, error);
        bytes += written;
        left -= (size_t)written;
    }
    buffer_clear(&output->waiting);
    return 0;
}

int output_write(struct output *output, struct slice bytes, struct tare_error *error)
{
    if (output->descriptor < 0 && make_temporary(output, error))
        return -1;
    buffer_append(&output->waiting, bytes.bytes, bytes.length);
    return output->waiting.length < WAITING_MOST ? 0 : flush(output, error);
}

static void drop_temporary(struct output *output)
{
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    if (output->descriptor >= 0)
        close(output->descriptor);
    output->descriptor = -1;
}

int output_commit(struct output *output, struct tare_error *error)
{
    int failed = flush(output, error);
    buffer_clear(&output->waiting);
    if (!output->temporary)
        return failed;
    if (!failed) {
        char *target = real_target(output->path);
        if (fsync(output->descriptor) || rename(output->temporary, target)) {
            failed = cannot_write(output, errno, error);
        } else {
            free(output->temporary);
            output->temporary = NULL;
        }
        free(target);
    }
    drop_temporary(output);
    return failed;
}

void output_abandon(struct output *output)
{
    /* One that was never opened is all zero, and descriptor 0 is not its own. */
    if (!output->path)
        return;
    /* Whoever reads a pipe has had the beginning: it gets the rest of what there was. */
    if (!output->temporary && output->descriptor >= 0)
        flush(output, &(struct tare_error){0});
    drop_temporary(output);
    free(output->path);
    buffer_free(&output->waiting);
    *output = (struct output){.descriptor = -1};
}

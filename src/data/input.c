#include "data/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temporary.h"

/* Read at a time, at least; as much again as is kept, so that a long record isn't moved over and
 * over. */
#define PIECE ((size_t)256 * 1024)

static int cannot_read(const struct input *input, int reason, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "cannot read '%s': %s", input->name, strerror(reason));
}

/* Standard input is the process's, and what was read of it is gone. */
static bool standard_input_taken;

int input_open(struct input *input, const char *path, struct tare_error *error)
{
    struct stat status;
    bool standard = strcmp(path, "-") == 0;
    *input = (struct input){.name = memory_text(standard ? "standard input" : path), .spool = -1};
    input->descriptor =
        standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : open(path, O_RDONLY | O_CLOEXEC);
    if (input->descriptor < 0 || fstat(input->descriptor, &status) != 0)
        return cannot_read(input, errno, error);
    if (S_ISDIR(status.st_mode))
        return cannot_read(input, EISDIR, error);
    /* What the shell opened may stand anywhere in its file: then it is read on from there. */
    input->seekable = S_ISREG(status.st_mode) && lseek(input->descriptor, 0, SEEK_CUR) == 0;
    if (standard && !input->seekable) {
        if (standard_input_taken)
            return error_set(error, TARE_USAGE,
                             "standard input can be read once, and is asked for again; put it into "
                             "a file");
        standard_input_taken = true;
    }
    return 0;
}

int input_keep(struct input *input, struct tare_error *error)
{
    if (input->seekable || input->spool >= 0)
        return 0;
    input->spool = temporary_open();
    return input->spool < 0 ? temporary_error(input->name, error) : 0;
}

static int write_all(int descriptor, const char *bytes, size_t length, int64_t offset)
{
    while (length) {
        ssize_t put = pwrite(descriptor, bytes, length, offset);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        offset += put;
        length -= (size_t)put;
    }
    return 0;
}

/* Bytes from `offset` of the file on: anew where they can be had again. */
static ssize_t read_some(struct input *input, char *bytes, size_t length, int64_t offset)
{
    if (input->seekable)
        return pread(input->descriptor, bytes, length, offset);
    if (offset < input->spooled) {
        int64_t kept = input->spooled - offset;
        return pread(input->spool, bytes, (int64_t)length < kept ? length : (size_t)kept, offset);
    }
    return read(input->descriptor, bytes, length);
}

int input_more(struct input *input, struct tare_error *error)
{
    struct buffer *window = &input->window;
    if (input->ended)
        return 0;
    size_t kept = window->length - input->place, wanted = kept > PIECE ? kept : PIECE;
    if (input->place && kept)
        memmove(window->data, window->data + input->place, kept);
    input->offset += (int64_t)input->place;
    input->place = 0;
    window->length = kept;
    buffer_reserve(window, wanted);

    int64_t offset = input->offset + (int64_t)kept;
    ssize_t got;
    while ((got = read_some(input, window->data + kept, wanted, offset)) < 0 && errno == EINTR)
        if (input->interrupted && input->interrupted(error))
            return -1;
    if (got < 0)
        return cannot_read(input, errno, error);
    if (input->spool >= 0 && offset == input->spooled) {
        if (write_all(input->spool, window->data + kept, (size_t)got, offset))
            return temporary_error(input->name, error);
        input->spooled += got;
    }
    window->length += (size_t)got;
    window->data[window->length] = '\0';
    input->ended = got == 0;
    return 0;
}

void input_seek(struct input *input, int64_t offset)
{
    if (offset >= input->offset && offset <= input->offset + (int64_t)input->window.length) {
        input->place = (size_t)(offset - input->offset);
        return;
    }
    buffer_clear(&input->window);
    input->offset = offset;
    input->place = 0;
    input->ended = false;
}

void input_close(struct input *input)
{
    if (!input->name)
        return;
    if (input->descriptor >= 0)
        close(input->descriptor);
    if (input->spool >= 0)
        close(input->spool);
    free(input->name);
    buffer_free(&input->window);
    *input = (struct input){0};
}

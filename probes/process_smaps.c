/* /proc/PID/smaps, one read of it, summed by kind of mapping, in bytes:
 * smaps.KIND.rss, .size, .pss, .private_dirty, .anonymous, .anonymous_huge,
 * .swap with KIND total, heap ([heap]), stack ([stack] of the main thread),
 * file (a file's pages), anonymous (no name, or a name that the program gave
 * it: thread stacks and large allocations among them), shared (/dev/shm,
 * memfd, System V), kernel ([vdso] and its like). proc(5). */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buffer.h"
#include "probes/probe.h"

enum kind { TOTAL, HEAP, STACK, FILES, ANONYMOUS, SHARED, KERNEL, KINDS };
enum part { RSS, SIZE, PSS, PRIVATE_DIRTY, ANON, ANON_HUGE, SWAP, PARTS };

static const char *const kind_names[] = {"total",     "heap",   "stack", "file",
                                         "anonymous", "shared", "kernel"};
static const char *const part_names[] = {"rss",       "size",           "pss", "private_dirty",
                                         "anonymous", "anonymous_huge", "swap"};
static const char *const part_lines[] = {
    "Rss:", "Size:", "Pss:", "Private_Dirty:", "Anonymous:", "AnonHugePages:", "Swap:"};

/* The kind by the name behind the six columns of a mapping's head line. */
static enum kind kind_of(const char *name)
{
    if (!*name || strncmp(name, "[anon", 5) == 0)
        return ANONYMOUS;
    if (strcmp(name, "[heap]") == 0)
        return HEAP;
    if (strncmp(name, "[stack", 6) == 0)
        return STACK;
    if (*name == '[')
        return KERNEL;
    if (strncmp(name, "/dev/shm/", 9) == 0 || strncmp(name, "/SYSV", 5) == 0 ||
        strncmp(name, "/memfd:", 7) == 0 || strncmp(name, "/dev/zero", 9) == 0)
        return SHARED;
    return FILES;
}

static void take_line(const char *line, enum kind *kind, int64_t sums[KINDS][PARTS],
                      int64_t *mappings)
{
    if (isdigit((unsigned char)*line) || (*line >= 'a' && *line <= 'f')) {
        int name = 0;
        if (sscanf(line, "%*x-%*x %*s %*x %*x:%*x %*u %n", &name) != EOF && name > 0) {
            *kind = kind_of(line + name);
            (*mappings)++;
        }
        return;
    }
    for (int part = 0; part < PARTS; part++) {
        size_t length = strlen(part_lines[part]);
        if (strncmp(line, part_lines[part], length) != 0)
            continue;
        int64_t bytes = strtoll(line + length, NULL, 10) * 1024;
        sums[*kind][part] += bytes;
        sums[TOTAL][part] += bytes;
        return;
    }
}

/* All of the file at once: between two reads the pages go on changing. */
static int read_whole(const char *path, struct buffer *text)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t got;
    do {
        buffer_reserve(text, 1 << 16);
        got = read(file, text->data + text->length, 1 << 16);
        if (got > 0)
            text->length += (size_t)got;
    } while (got > 0);
    int failed = got < 0 ? errno : 0;
    close(file);
    errno = failed;
    return failed ? -1 : 0;
}

static int smaps_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    char path[64];
    struct buffer text = {0};
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)store->pid);
    if (read_whole(path, &text)) {
        error_set(error, TARE_STORE, "%s: cannot read '%s': %s", store->address, path,
                  strerror(errno));
        buffer_free(&text);
        return -1;
    }
    int64_t sums[KINDS][PARTS] = {{0}}, mappings = 0;
    enum kind kind = ANONYMOUS;
    buffer_byte(&text, '\n');
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        take_line(line, &kind, sums, &mappings);
    }
    buffer_free(&text);
    for (int k = 0; k < KINDS; k++)
        for (int part = 0; part < PARTS; part++) {
            char name[64];
            snprintf(name, sizeof name, "smaps.%s.%s", kind_names[k], part_names[part]);
            figures_integer(figures, name, sums[k][part]);
        }
    figures_integer(figures, "smaps.mappings", mappings);
    return 0;
}

const struct probe_kind probe_process_smaps = {
    .name = "smaps",
    .family = NULL,
    .summary = "/proc/PID/smaps, one read, summed by kind of mapping",
    .pages = true,
    .read = smaps_read,
};

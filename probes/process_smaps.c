/* /proc/PID/smaps, one read of it, summed by kind of mapping, in bytes:
 * smaps.KIND.rss, .size, .pss, .private_dirty, .anonymous, .anonymous_huge,
 * .swap with KIND total, heap ([heap]), stack ([stack] of the main thread, and
 * those of other threads), file (a file's pages), anonymous (no name, or one
 * that the program gave it: large allocations), shared (/dev/shm, memfd, System
 * V), kernel ([vdso] and its like). proc(5).
 *
 * A thread's stack has no name. glibc maps it writable right behind a guard
 * that nothing may touch (allocatestack.c; a page by default): so it is told.
 * The rest of one of malloc's own arenas looks the same, but is mapped without
 * a reserve (arena.c, MAP_NORESERVE: "nr" of VmFlags). */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buffer.h"
#include "probes/process_text.h"

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

/* A guard is no larger than this; larger reservations are an allocator's. */
#define GUARD_MOST (64 * 1024)

struct reader {
    enum kind kind;          /* of the mapping whose lines are read */
    unsigned long guard_end; /* where the last mapping ends, if it is a guard; else 0 */
    int64_t sums[KINDS][PARTS];
    int64_t mappings;
};

static void take_head(const char *line, struct reader *reader)
{
    unsigned long begin, end;
    char rights[8];
    int name = 0;
    if (sscanf(line, "%lx-%lx %7s %*x %*x:%*x %*u %n", &begin, &end, rights, &name) != 3 ||
        name == 0)
        return;
    reader->kind = kind_of(line + name);
    if (reader->kind == ANONYMOUS && begin == reader->guard_end && strncmp(rights, "rw", 2) == 0)
        reader->kind = STACK;
    bool guard = strncmp(rights, "---", 3) == 0 && !line[name] && end - begin <= GUARD_MOST;
    reader->guard_end = guard ? end : 0;
    reader->mappings++;
}

static void take_line(const char *line, struct reader *reader)
{
    if (isdigit((unsigned char)*line) || (*line >= 'a' && *line <= 'f')) {
        take_head(line, reader);
        return;
    }
    if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " nr"))
        reader->guard_end = 0;
    for (int part = 0; part < PARTS; part++) {
        size_t length = strlen(part_lines[part]);
        if (strncmp(line, part_lines[part], length) != 0)
            continue;
        int64_t bytes = strtoll(line + length, NULL, 10) * 1024;
        reader->sums[reader->kind][part] += bytes;
        reader->sums[TOTAL][part] += bytes;
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
    } while (got > 0 || (got < 0 && errno == EINTR));
    text->data[text->length] = '\0';
    int failed = got < 0 ? errno : 0;
    close(file);
    errno = failed;
    return failed ? -1 : 0;
}

void process_smaps_parse(const char *text, struct figures *figures)
{
    struct reader reader = {.kind = ANONYMOUS};
    char line[1024];
    while (*text) {
        size_t length = strcspn(text, "\n");
        size_t kept = length < sizeof line ? length : sizeof line - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        take_line(line, &reader);
        text += length + (text[length] == '\n');
    }
    for (int k = 0; k < KINDS; k++)
        for (int part = 0; part < PARTS; part++) {
            char name[64];
            snprintf(name, sizeof name, "smaps.%s.%s", kind_names[k], part_names[part]);
            figures_integer(figures, name, reader.sums[k][part]);
        }
    figures_integer(figures, "smaps.mappings", reader.mappings);
}

static int smaps_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    char path[64];
    struct buffer text = {0};
    int failed = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)store->pid);
    if (read_whole(path, &text))
        failed = error_set(error, TARE_STORE, "%s: cannot read '%s': %s", store->address, path,
                           strerror(errno));
    else if (text.length == 0) /* the kernel shows nothing of a process that is ending */
        failed = error_set(error, TARE_STORE, "%s: process %d has ended", store->address,
                           (int)store->pid);
    else
        process_smaps_parse(text.data, figures);
    buffer_free(&text);
    return failed;
}

const struct probe_kind probe_process_smaps = {
    .name = "smaps",
    .family = NULL,
    .summary = "/proc/PID/smaps, one read, summed by kind of mapping",
    .read = smaps_read,
};

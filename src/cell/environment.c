/* What a reader of the figures needs to know of the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cell/cell_request.h"
#include "core/memory.h"

/* The first line of a small file, without its newline; false where it can't be read. */
static bool read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool got = fgets(out, (int)size, file) != NULL;
    fclose(file);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got;
}

static void meminfo(struct figures *environment)
{
    FILE *file = fopen("/proc/meminfo", "re");
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        long long kib;
        if (sscanf(line, "MemTotal: %lld kB", &kib) == 1)
            figures_integer(environment, "memory_bytes", kib * 1024);
        else if (sscanf(line, "SwapTotal: %lld kB", &kib) == 1)
            figures_integer(environment, "swap_bytes", kib * 1024);
    }
    fclose(file);
}

void cell_environment(struct figures *environment)
{
    struct utsname name;
    if (uname(&name) == 0) {
        figures_text(environment, "kernel", name.release);
        figures_text(environment, "machine", name.machine);
    }
    figures_integer(environment, "page_size", sysconf(_SC_PAGESIZE));
    figures_integer(environment, "processors", sysconf(_SC_NPROCESSORS_ONLN));
    meminfo(environment);
    char line[256];
    if (read_line("/sys/kernel/mm/transparent_hugepage/enabled", line, sizeof line))
        figures_text(environment, "transparent_huge_pages", line);
    if (read_line("/sys/fs/cgroup/memory.max", line, sizeof line) ||
        read_line("/sys/fs/cgroup/memory/memory.limit_in_bytes", line, sizeof line))
        figures_text(environment, "cgroup_limit", line);
}

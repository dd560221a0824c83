/* /proc/PID/status: the process's memory as the kernel counts it, in bytes:
 * status.VmRSS, RssAnon, RssFile, RssShmem, VmSwap, VmHWM, VmSize, ...; and
 * status.Threads. proc(5). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/probe.h"

static int status_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)store->pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, TARE_STORE, "%s: cannot read '%s': %s", store->address, path,
                         strerror(errno));
    while (fgets(line, sizeof line, file)) {
        char name[64], figure[80];
        long long value;
        if (sscanf(line, "%63[A-Za-z]: %lld", name, &value) != 2)
            continue;
        bool kib = strstr(line, " kB") != NULL;
        if (!kib && strcmp(name, "Threads") != 0)
            continue;
        snprintf(figure, sizeof figure, "status.%s", name);
        figures_integer(figures, figure, kib ? value * 1024 : value);
    }
    fclose(file);
    return 0;
}

const struct probe_kind probe_process_status = {
    .name = "status",
    .family = NULL,
    .summary = "/proc/PID/status: resident, swapped and peak memory, threads",
    .read = status_read,
};

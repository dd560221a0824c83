/* /proc/PID/status: the process's memory as the kernel counts it, in bytes:
 * status.VmRSS, RssAnon, RssFile, RssShmem, VmSwap, VmHWM, VmSize, ...; and
 * status.Threads. proc(5). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probes/process_text.h"

bool process_status_parse(const char *text, struct figures *figures)
{
    bool memory = false;
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        char line[256], name[64], figure[80];
        long long value;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        if (sscanf(line, "%63[A-Za-z]: %lld", name, &value) != 2)
            continue;
        bool kib = strstr(line, " kB") != NULL;
        if (!kib && strcmp(name, "Threads") != 0)
            continue;
        snprintf(figure, sizeof figure, "status.%s", name);
        figures_integer(figures, figure, kib ? value * 1024 : value);
        memory = memory || strcmp(name, "VmRSS") == 0;
    }
    return memory;
}

static int status_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    char path[64], text[16 * 1024];
    snprintf(path, sizeof path, "/proc/%d/status", (int)store->pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, TARE_STORE, "%s: cannot read '%s': %s", store->address, path,
                         strerror(errno));
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (!process_status_parse(text, figures))
        return error_set(error, TARE_STORE, "%s: process %d has ended", store->address,
                         (int)store->pid);
    return 0;
}

const struct probe_kind probe_process_status = {
    .name = "status",
    .family = NULL,
    .summary = "/proc/PID/status: resident, swapped and peak memory, threads",
    .read = status_read,
};

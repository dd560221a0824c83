#include "cell/outlook.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell/corridor.h"
#include "core/memory.h"
#include "core/units.h"

/* tare's own: buffers, the record that is being made, a report. */
#define OWN_BYTES (INT64_C(48) << 20)

/* A ledger is closed once figures stood still for 2 s (measure.c); they mostly do so at once. */
#define SETTLING_SECONDS 2.5
/* The probes, and the model's sums. */
#define CLOSING_SECONDS 0.3

/* ---- what is available --------------------------------------------------------------------- */

/* The number behind `name` in a file of "name number" lines; false where it isn't there. name NULL:
 * the file is the number alone ("max" is none). */
static bool number_in(const char *path, const char *name, int64_t *number)
{
    char line[256];
    size_t length = name ? strlen(name) : 0;
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = (!name || strncmp(line, name, length) == 0) &&
                sscanf(line + length, " %" SCNd64, number) == 1;
    if (file)
        fclose(file);
    return found;
}

/* What one group leaves of its limit. Pages of files that nothing uses can be taken back. */
static bool group_leaves(const char *folder, const char *limit_name, const char *usage_name,
                         int64_t *left)
{
    char *limit_path = memory_format("%s/%s", folder, limit_name);
    char *usage_path = memory_format("%s/%s", folder, usage_name);
    char *stat_path = memory_format("%s/memory.stat", folder);
    int64_t limit, usage, inactive;
    bool known = number_in(limit_path, NULL, &limit) && number_in(usage_path, NULL, &usage);
    if (known) {
        if (!number_in(stat_path, "inactive_file", &inactive))
            inactive = 0;
        *left = limit - usage + inactive;
    }
    free(limit_path);
    free(usage_path);
    free(stat_path);
    return known;
}

/* Version 2: this process's group and all above it, up to the root of what is mounted. */
static int64_t groups_leave(const char *proc, const char *cgroup)
{
    int64_t least = INT64_MAX, left;
    char line[512], own[512] = "";
    char *path = memory_format("%s/self/cgroup", proc);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::/", 4) == 0)
            strcpy(own, line + 4);
    }
    if (file)
        fclose(file);
    free(path);
    while (1) {
        char *folder = memory_format("%s/%s", cgroup, own);
        if (group_leaves(folder, "memory.max", "memory.current", &left) && left < least)
            least = left;
        free(folder);
        if (!*own)
            break;
        char *slash = strrchr(own, '/');
        *(slash ? slash : own) = '\0';
    }
    /* Version 1. */
    char *folder = memory_format("%s/memory", cgroup);
    if (group_leaves(folder, "memory.limit_in_bytes", "memory.usage_in_bytes", &left) &&
        left < least)
        least = left;
    free(folder);
    return least;
}

int64_t memory_available_at(const char *proc, const char *cgroup, char *reason)
{
    int64_t kib, available = -1, left = groups_leave(proc, cgroup);
    char *path = memory_format("%s/meminfo", proc);
    if (number_in(path, "MemAvailable:", &kib))
        available = kib * 1024;
    free(path);
    strcpy(reason, "MemAvailable");
    if (left != INT64_MAX && (available < 0 || left < available)) {
        available = left > 0 ? left : 0;
        strcpy(reason, "control group's limit");
    }
    return available;
}

int64_t memory_available(char *reason)
{
    return memory_available_at("/proc", "/sys/fs/cgroup", reason);
}

/* ---- cells --------------------------------------------------------------------------------- */

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* At most: the upper end of the settled prediction, or the peak of the load, whose overhead over
 * allocated memory is taken as the settled one's. */
static int64_t most_bytes(const struct ledger *ledger)
{
    const struct ledger_row *allocated = ledger_find(ledger, &account_total_allocated);
    const struct ledger_row *resident = ledger_find(ledger, &account_total_resident);
    const struct ledger_row *total = resident ? resident : allocated;
    if (!total)
        return 0;
    int64_t most = total->has_range ? larger(total->high, total->bytes) : total->bytes;
    if (allocated && ledger->peak_allocated > allocated->bytes)
        most = larger(most, total->bytes + ledger->peak_allocated - allocated->bytes);
    return most;
}

/* A reply that is waited for: with `--set batch=1` a record of 1 KiB took 38 to 51 us longer than
 * piped, over a unix socket of Redis 7.0. With `--set aof=always` it took .1 ms longer still on a
 * solid-state disk; what is reckoned here is no measurement, but an allowance for slower disks. */
#define ROUND_TRIP_SECONDS 40e-6
#define DISK_SECONDS       2e-3

static bool waits_for_disk(const struct cell_request *request)
{
    struct tare_error ignored;
    struct figures settings = {0};
    cell_server_settings(request->selection, request->server.kind, &settings, &ignored);
    const char *fsync = figures_get_text(&settings, "appendfsync");
    bool waits = fsync && strcmp(fsync, "always") == 0;
    figures_free(&settings);
    return waits;
}

static double load_seconds(const struct cell_request *request, const struct cell *cell)
{
    const struct store_pace *pace = &request->server.kind->pace;
    int64_t batch = cell_batch(request->selection);
    double bytes = (double)(ledger_stage(&cell->states[0], STAGE_PAYLOAD) +
                            ledger_stage(&cell->states[0], STAGE_ENCODING));
    double seconds =
        (double)cell->records / pace->records_per_second + bytes / pace->bytes_per_second;
    if (batch > 0)
        seconds += (double)cell->records / (double)batch *
                   (ROUND_TRIP_SECONDS + (waits_for_disk(request) ? DISK_SECONDS : 0));
    return seconds;
}

static double cell_seconds(const struct cell_request *request, const struct cell *cell)
{
    const struct store_pace *pace = &request->server.kind->pace;
    const struct cell_steps *steps = &request->selection->steps;
    if (pace->records_per_second <= 0 || pace->bytes_per_second <= 0)
        return -1;
    const struct cell_forecast known = {
        .load = load_seconds(request, cell),
        .settling = request->server.kind->settle ? SETTLING_SECONDS : 0,
        .start = pace->start_seconds,
        .round_trip = ROUND_TRIP_SECONDS + (waits_for_disk(request) ? DISK_SECONDS : 0),
        .records = cell->records};
    double seconds = known.start + known.settling;
    if (steps->count == 0)
        return seconds + known.load + known.settling + CLOSING_SECONDS;
    for (size_t i = 0; i < steps->count; i++)
        seconds += steps->items[i].kind->forecast(&steps->items[i], &known) + CLOSING_SECONDS;
    return seconds;
}

static int look(const struct cell_request *request, struct report *plans,
                struct cell_outlook *outlook, struct tare_error *error)
{
    struct cell one = {0};
    int failed = 0;
    *outlook = (struct cell_outlook){.memory = -1, .seconds = -1};
    if (request->broken_encoding)
        cell_name_broken(request, plans, &one);
    else
        failed = cell_predict(request, plans, &one, false, error);
    struct cell *cell = report_add_cell(plans);
    *cell = one;
    outlook->name = memory_text(cell->name);
    if (failed)
        return error_prefix(error, "cell '%s'", cell->name);
    if (request->broken_encoding)
        return 0;
    outlook->seconds = cell_seconds(request, cell);
    if (request->server.target_type != TARGET_URL)
        outlook->memory =
            OWN_BYTES + request->server.kind->pace.empty_bytes + most_bytes(&cell->states[0]);
    return 0;
}

int outlook_make(const struct cell_requests *requests, int repeat, struct outlook *outlook,
                 struct tare_error *error)
{
    struct report plans = {0};
    int failed = 0;
    *outlook = (struct outlook){.whole = true};
    outlook->cells = memory_new((requests->count + 1) * sizeof *outlook->cells);
    for (size_t i = 0; !failed && i < requests->count; i++) {
        struct cell_outlook *cell = &outlook->cells[outlook->count++];
        failed = look(&requests->items[i], &plans, cell, error);
        if (cell->memory > outlook->cells[outlook->largest].memory)
            outlook->largest = i;
        if (cell->seconds >= 0) {
            cell->seconds *= repeat;
            outlook->seconds += cell->seconds;
        } else if (!requests->items[i].broken_encoding) {
            outlook->whole = false;
        }
    }
    report_free(&plans);
    return failed;
}

void outlook_free(struct outlook *outlook)
{
    for (size_t i = 0; i < outlook->count; i++)
        free(outlook->cells[i].name);
    free(outlook->cells);
    *outlook = (struct outlook){0};
}

int outlook_refuse(const struct outlook *outlook, const char *what, struct tare_error *error)
{
    char reason[32], needs[UNITS_SIZE], has[UNITS_SIZE];
    int64_t available = memory_available(reason);
    if (outlook->count == 0 || available < 0)
        return 0;
    const struct cell_outlook *largest = &outlook->cells[outlook->largest];
    if (largest->memory <= available)
        return 0;
    /* A scale that fits with a tenth to spare, of one digit: 0.2, 0.03. */
    double scale = 0.9 * (double)available / (double)largest->memory;
    double digit = pow(10, floor(log10(scale > 0 ? scale : 1e-6)));
    return error_set(error, TARE_USAGE,
                     "%s: cell '%s' takes %s of memory at once, but %s are left here (%s): a "
                     "smaller --scale, as %g, or a larger machine",
                     what, largest->name, units_bytes(needs, largest->memory),
                     units_bytes(has, available), reason, floor(scale / digit) * digit);
}

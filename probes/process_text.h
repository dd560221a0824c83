/* Parsers of what /proc shows of a process, apart from the reading, for tests. */
#ifndef TARE_PROBES_PROCESS_TEXT_H
#define TARE_PROBES_PROCESS_TEXT_H

#include "probes/probe.h"

/* The text of /proc/PID/smaps into smaps.KIND.PART, all kinds and parts, and smaps.mappings: see
 * process_smaps.c. */
void process_smaps_parse(const char *text, struct figures *figures);

/* The text of /proc/PID/status into status.NAME; false where it shows no memory: the process has
 * ended. */
bool process_status_parse(const char *text, struct figures *figures);

#endif

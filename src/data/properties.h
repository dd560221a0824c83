/* Java's property files, as YCSB's workloads are: a name and a value a line. */
#ifndef TARE_DATA_PROPERTIES_H
#define TARE_DATA_PROPERTIES_H

#include "core/error.h"
#include "core/figures.h"

/* Reads the file into texts by name: "name=value", "name: value" or "name value"; comments begin
 * with # or !; a backslash at a line's end goes on with the next. The last of a name holds. */
int properties_read(const char *path, struct figures *properties, struct tare_error *error);

#endif

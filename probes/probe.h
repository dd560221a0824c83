/* Probes: each reads one source of figures into samples. A probe never writes.
 * One probe is one file that ends in one const struct, and one line in
 * probe.c's table. Figures are named by the probe's prefix and the source's
 * own terms; units are the source's own, sizes always bytes. */
#ifndef TARE_PROBES_PROBE_H
#define TARE_PROBES_PROBE_H

#include "core/figures.h"
#include "stores/store.h"

struct probe_kind {
    const char *name;   /* "info" */
    const char *family; /* "redis", "mongodb"; NULL: any store with a process to be seen */
    const char *summary;
    int (*read)(struct store *store, struct figures *figures, struct tare_error *error);
};

extern const struct probe_kind *const probe_kinds[]; /* NULL-terminated, in the order of reading */
int probe_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests: an incomplete kind, or one name twice. */
int probe_table_check(const struct probe_kind *const kinds[], struct tare_error *error);

/* Reads all probes that fit the store, in table order. A probe that this server does not know
 * (an older version's missing command) leaves a text figure "NAME.missing" and is no error. */
int probes_read(struct store *store, struct figures *figures, struct tare_error *error);

#endif

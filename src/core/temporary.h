/* Temporary files without a name: they are gone with the process, however that ends. */
#ifndef TARE_CORE_TEMPORARY_H
#define TARE_CORE_TEMPORARY_H

#include "core/error.h"

/* TMPDIR, or /tmp. */
const char *temporary_folder(void);
/* A new empty file in that folder, open for reading and writing; -1 and errno where there is none
 * to be had. */
int temporary_open(void);
/* The error of what could not be put there; what: "keys", "standard input". Takes errno. */
int temporary_error(const char *what, struct tare_error *error);

#endif

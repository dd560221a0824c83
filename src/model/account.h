/* Accounts: every byte by which resident memory grew belongs to exactly one.
 * The table in account.c names each, its stage, the basis that it has when a
 * server was measured, and what it holds in one line. */
#ifndef TARE_MODEL_ACCOUNT_H
#define TARE_MODEL_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "core/error.h"

/* In the order in which a report shows them. */
enum stage {
    STAGE_PAYLOAD,
    STAGE_ENCODING,
    STAGE_STRUCTURE,
    STAGE_ROUNDING,
    STAGE_SERVER,
    STAGE_ALLOCATOR,
    STAGE_PROCESS,
    STAGE_RESIDUAL,
    STAGE_TOTAL,
    STAGE_BASE,
    STAGE_COUNT
};

enum basis { BASIS_COUNTED, BASIS_MEASURED, BASIS_DERIVED, BASIS_MODELLED, BASIS_RESIDUAL };

extern const char *const stage_names[]; /* "payload", ... */
extern const char *const basis_names[]; /* "counted", ... */
int stage_of_name(const char *name);    /* -1 where unknown */
int basis_of_name(const char *name);

/* An account is a constant; compare by address. Which ones exist is the table
 * `accounts` alone; models and probes refer to them as &account_NAME. */
struct account {
    const char *name; /* "key sds" */
    enum stage stage;
    enum basis basis;        /* when a server was measured; plan shows modelled but for counted */
    const char *explanation; /* one line, for `tare list accounts` */
    size_t place;            /* in `accounts`, and in struct sums */
};

/* X(identifier, name, stage, basis, explanation) of all accounts stands in
 * accounts.def; this declares `extern const struct account account_IDENTIFIER`. */
#define X(identifier, name, stage, basis, explanation)                                             \
    extern const struct account account_##identifier;
#include "model/accounts.def"
#undef X

extern const struct account *const accounts[]; /* NULL-terminated, in report order */
const struct account *account_of_name(const char *name);
int accounts_check(struct tare_error *error); /* start-up check: complete, unique, stages ascend */

/* Bytes by account. */
struct sums {
    int64_t bytes[128]; /* by the account's place in `accounts` */
};
int64_t *sums_of(struct sums *sums, const struct account *account);
size_t account_place(const struct account *account);

#endif

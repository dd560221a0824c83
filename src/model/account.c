/* The table of accounts, made from accounts.def, and its start-up check. */
#include "model/account.h"

#include <string.h>

const char *const stage_names[] = {"payload", "encoding",  "structure", "rounding",
                                   "server",  "allocator", "process",   "residual",
                                   "total",   "base",      NULL};
const char *const basis_names[] = {"counted", "measured", "derived", "modelled", "residual", NULL};

static int place_of_name(const char *const *names, const char *name)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

int stage_of_name(const char *name)
{
    return place_of_name(stage_names, name);
}

int basis_of_name(const char *name)
{
    return place_of_name(basis_names, name);
}

/* Each account's place in the table, so that its sum is found without a search. */
enum {
#define X(identifier, name, stage, basis, explanation) PLACE_##identifier,
#include "model/accounts.def"
#undef X
    ACCOUNT_COUNT
};

_Static_assert(ACCOUNT_COUNT <= sizeof((struct sums *)0)->bytes / sizeof(int64_t),
               "struct sums has no room for so many accounts");

#define X(identifier, name, stage, basis, explanation)                                             \
    const struct account account_##identifier = {name, stage, basis, explanation,                  \
                                                 PLACE_##identifier};
#include "model/accounts.def"
#undef X

const struct account *const accounts[] = {
#define X(identifier, name, stage, basis, explanation) &account_##identifier,
#include "model/accounts.def"
#undef X
    NULL};

const struct account *account_of_name(const char *name)
{
    for (size_t i = 0; accounts[i]; i++)
        if (strcmp(accounts[i]->name, name) == 0)
            return accounts[i];
    return NULL;
}

size_t account_place(const struct account *account)
{
    return account->place;
}

int64_t *sums_of(struct sums *sums, const struct account *account)
{
    return &sums->bytes[account->place];
}

int accounts_check(struct tare_error *error)
{
    for (size_t i = 0; accounts[i]; i++) {
        const struct account *account = accounts[i];
        if (!account->name || !account->name[0])
            return error_set(error, TARE_USAGE, "account %zu of the table has no name", i);
        if (!account->explanation || !account->explanation[0])
            return error_set(error, TARE_USAGE, "account '%s' has no explanation", account->name);
        if (account->stage < 0 || account->stage >= STAGE_COUNT)
            return error_set(error, TARE_USAGE, "account '%s' has no stage", account->name);
        if (i > 0 && account->stage < accounts[i - 1]->stage)
            return error_set(
                error, TARE_USAGE, "account '%s' of stage '%s' stands behind one of stage '%s'",
                account->name, stage_names[account->stage], stage_names[accounts[i - 1]->stage]);
        if (account_of_name(account->name) != account)
            return error_set(error, TARE_USAGE, "account '%s' stands twice in the table",
                             account->name);
    }
    return 0;
}

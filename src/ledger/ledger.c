/* Closing a ledger, and the checks that hold it to its contract. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ledger/ledger.h"

/* Sums of int64_t rows are checked in 128 bits, where they can't overflow. */
typedef __int128 wide;

/* Which bases a stage may have where a server was measured. */
static const unsigned stage_bases[STAGE_COUNT] = {
    [STAGE_PAYLOAD] = 1u << BASIS_COUNTED,
    [STAGE_ENCODING] = 1u << BASIS_COUNTED,
    [STAGE_STRUCTURE] = 1u << BASIS_MODELLED,
    [STAGE_ROUNDING] = 1u << BASIS_MODELLED,
    [STAGE_SERVER] = 1u << BASIS_MEASURED | 1u << BASIS_DERIVED,
    [STAGE_ALLOCATOR] = 1u << BASIS_MEASURED | 1u << BASIS_DERIVED | 1u << BASIS_MODELLED,
    [STAGE_PROCESS] = 1u << BASIS_MEASURED | 1u << BASIS_DERIVED,
    [STAGE_RESIDUAL] = 1u << BASIS_RESIDUAL,
    [STAGE_TOTAL] = 1u << BASIS_MEASURED | 1u << BASIS_MODELLED,
    [STAGE_BASE] = 1u << BASIS_MEASURED,
};

static bool stage_is_allocated(enum stage stage)
{
    return stage <= STAGE_SERVER;
}

/* Wraps where it overflows; ledger_fault finds that, since it sums in 128 bits. */
static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t subtract(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

struct ledger_row *ledger_put(struct ledger *ledger, const struct account *account,
                              enum basis basis, int64_t bytes)
{
    size_t place = account_place(account), at = ledger->count;

    while (at > 0 && account_place(ledger->rows[at - 1].account) > place)
        at--;
    if (at > 0 && ledger->rows[at - 1].account == account && ledger->rows[at - 1].basis == basis) {
        struct ledger_row *row = &ledger->rows[at - 1];
        row->bytes = add(row->bytes, bytes);
        return row;
    }
    MEMORY_GROW(ledger->rows, ledger->count, ledger->capacity);
    memmove(ledger->rows + at + 1, ledger->rows + at, (ledger->count - at) * sizeof *ledger->rows);
    ledger->count++;
    ledger->rows[at] = (struct ledger_row){.account = account, .basis = basis, .bytes = bytes};
    return &ledger->rows[at];
}

static void put_counted(struct ledger *ledger, const struct account *account, int64_t bytes,
                        bool always)
{
    if (bytes != 0 || always)
        ledger_put(ledger, account, BASIS_COUNTED, bytes);
}

static void put_amount(struct ledger *ledger, const struct amount *amount)
{
    bool ranges = amount->has_range && (amount->low != 0 || amount->high != 0);

    if (amount->bytes == 0 && !ranges)
        return;
    size_t before = ledger->count;
    struct ledger_row *row = ledger_put(ledger, amount->account, amount->basis, amount->bytes);
    bool first = ledger->count > before;
    /* An amount without a range is as good as one of no width. */
    if (amount->has_range || row->has_range) {
        int64_t before_bytes = subtract(row->bytes, amount->bytes);
        int64_t low = first ? 0 : row->has_range ? row->low : before_bytes;
        int64_t high = first ? 0 : row->has_range ? row->high : before_bytes;
        row->low = add(low, amount->has_range ? amount->low : amount->bytes);
        row->high = add(high, amount->has_range ? amount->high : amount->bytes);
        row->has_range = true;
    }
}

static void put_predicted_total(struct ledger *ledger, const struct account *account, int64_t bytes,
                                int64_t low, int64_t high)
{
    struct ledger_row *row = ledger_put(ledger, account, BASIS_MODELLED, bytes);
    /* A model that gives no range leaves both at 0. */
    if (low != 0 || high != 0) {
        row->has_range = true;
        row->low = low;
        row->high = high;
    }
}

static bool note_is_there(const struct ledger *ledger, const char *note)
{
    for (size_t i = 0; i < ledger->note_count; i++)
        if (strcmp(ledger->notes[i], note) == 0)
            return true;
    return false;
}

void ledger_note(struct ledger *ledger, const char *format, ...)
{
    va_list arguments;
    char note[1024];

    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    if (note_is_there(ledger, note))
        return;
    MEMORY_GROW(ledger->notes, ledger->note_count, ledger->note_capacity);
    ledger->notes[ledger->note_count++] = memory_text(note);
}

void ledger_advise(struct ledger *ledger, const char *kind, const char *text, const char *change,
                   int64_t saved, int64_t saved_resident)
{
    size_t note = ledger->note_count, place = ledger->advice_count;
    ledger_note(ledger, "%s", text);
    if (note == ledger->note_count) /* it is there */
        return;
    MEMORY_GROW(ledger->advice, ledger->advice_count, ledger->advice_capacity);
    for (; place > 0 && ledger->advice[place - 1].saved < saved; place--)
        ledger->advice[place] = ledger->advice[place - 1];
    ledger->advice[place] = (struct ledger_advice){.kind = memory_text(kind),
                                                   .note = note,
                                                   .change = memory_text(change),
                                                   .saved = saved,
                                                   .saved_resident = saved_resident};
    ledger->advice_count++;
}

const struct ledger_advice *ledger_advice_of(const struct ledger *ledger, size_t note)
{
    for (size_t i = 0; i < ledger->advice_count; i++)
        if (ledger->advice[i].note == note)
            return &ledger->advice[i];
    return NULL;
}

void ledger_add_block(struct ledger *ledger, const char *kind, int64_t requested, double count)
{
    MEMORY_GROW(ledger->blocks, ledger->block_count, ledger->block_capacity);
    ledger->blocks[ledger->block_count++] =
        (struct ledger_block){memory_text(kind), requested, count};
}

static int compare_blocks(const void *a, const void *b)
{
    const struct ledger_block *one = a, *other = b;
    int kinds = strcmp(one->kind, other->kind);

    if (kinds != 0)
        return kinds;
    return (one->requested > other->requested) - (one->requested < other->requested);
}

/* A model tells kinds by address, so the same name and size may be there more than once. */
static void put_blocks(struct ledger *ledger, const struct blocks *blocks)
{
    size_t kept = 0;

    for (size_t i = 0; i < blocks->class_size; i++)
        if (blocks->classes[i].kind)
            ledger_add_block(ledger, blocks->classes[i].kind, blocks->classes[i].requested,
                             blocks->classes[i].count);
    if (ledger->block_count == 0)
        return;
    qsort(ledger->blocks, ledger->block_count, sizeof *ledger->blocks, compare_blocks);
    for (size_t i = 1; i < ledger->block_count; i++) {
        struct ledger_block *block = &ledger->blocks[i];
        if (compare_blocks(&ledger->blocks[kept], block) == 0) {
            ledger->blocks[kept].count += block->count;
            free(block->kind);
        } else {
            ledger->blocks[++kept] = *block;
        }
    }
    ledger->block_count = kept + 1;
}

/* All rows that stand so far, in the totals' terms: without totals and base. */
static int64_t sum_so_far(const struct ledger *ledger)
{
    int64_t sum = 0;

    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account->stage < STAGE_TOTAL)
            sum = add(sum, ledger->rows[i].bytes);
    return sum;
}

static void close_predicted(struct ledger *ledger, const struct prediction *prediction)
{
    put_predicted_total(ledger, &account_total_allocated, prediction->allocated,
                        prediction->allocated_low, prediction->allocated_high);
    for (size_t i = 0; i < prediction->resident_amounts.count; i++)
        put_amount(ledger, &prediction->resident_amounts.items[i]);
    /* A store whose resident memory no one models (null) says nothing at all. */
    if (prediction->resident_amounts.count > 0 || prediction->resident != 0 ||
        prediction->allocated == 0)
        put_predicted_total(ledger, &account_total_resident, prediction->resident,
                            prediction->resident_low, prediction->resident_high);
    ledger->peak_allocated = prediction->peak_allocated;
    ledger->step_count = prediction->step_count;
    memcpy(ledger->steps, prediction->steps, sizeof ledger->steps);
}

static void close_measured(struct ledger *ledger, const struct measurement *measurement)
{
    const struct amounts *amounts = &measurement->amounts;

    for (size_t i = 0; i < amounts->count; i++)
        if (stage_is_allocated(amounts->items[i].account->stage))
            put_amount(ledger, &amounts->items[i]);
    if (measurement->has_allocated) {
        ledger_put(ledger, &account_unattributed_allocated, BASIS_RESIDUAL,
                   subtract(measurement->allocated, sum_so_far(ledger)));
        ledger_put(ledger, &account_total_allocated, BASIS_MEASURED, measurement->allocated);
        ledger_put(ledger, &account_base_allocated, BASIS_MEASURED, measurement->base_allocated);
    }
    if (measurement->has_resident) {
        for (size_t i = 0; i < amounts->count; i++)
            if (!stage_is_allocated(amounts->items[i].account->stage))
                put_amount(ledger, &amounts->items[i]);
        ledger_put(ledger, &account_unattributed_resident, BASIS_RESIDUAL,
                   subtract(measurement->resident, sum_so_far(ledger)));
        ledger_put(ledger, &account_total_resident, BASIS_MEASURED, measurement->resident);
        ledger_put(ledger, &account_base_resident, BASIS_MEASURED, measurement->base_resident);
    }
    ledger->subtotal = measurement->subtotal;
    if (measurement->subtotal_name)
        ledger->subtotal_name = memory_text(measurement->subtotal_name);
}

void ledger_close(struct ledger *ledger, const char *state, const struct counted *counted,
                  const struct prediction *prediction, const struct measurement *measurement)
{
    ledger->state = memory_text(state);
    put_counted(ledger, &account_key, counted->key, true);
    put_counted(ledger, &account_values, counted->values, true);
    put_counted(ledger, &account_field_names, counted->field_names, false);
    put_counted(ledger, &account_framing, counted->framing, false);
    put_counted(ledger, &account_number_form, counted->number_form, false);
    put_counted(ledger, &account_escapes, counted->escapes, false);
    put_counted(ledger, &account_compression, counted->compression, false);
    put_counted(ledger, &account_dictionary, counted->dictionary, false);
    for (size_t i = 0; i < prediction->amounts.count; i++) {
        const struct amount *amount = &prediction->amounts.items[i];
        if (!measurement || amount->account->stage != STAGE_SERVER)
            put_amount(ledger, amount);
    }
    if (measurement)
        close_measured(ledger, measurement);
    else
        close_predicted(ledger, prediction);
    put_blocks(ledger, &prediction->blocks);
    for (size_t i = 0; i < prediction->note_count; i++)
        ledger_note(ledger, "%s", prediction->notes[i]);
    for (size_t i = 0; measurement && i < measurement->note_count; i++)
        ledger_note(ledger, "%s", measurement->notes[i]);
}

const struct ledger_row *ledger_find(const struct ledger *ledger, const struct account *account)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account == account)
            return &ledger->rows[i];
    return NULL;
}

int64_t ledger_bytes(const struct ledger *ledger, const struct account *account)
{
    const struct ledger_row *row = ledger_find(ledger, account);
    return row ? row->bytes : 0;
}

int64_t ledger_stage(const struct ledger *ledger, enum stage stage)
{
    int64_t sum = 0;

    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account->stage == stage)
            sum = add(sum, ledger->rows[i].bytes);
    return sum;
}

bool ledger_is_prediction(const struct ledger *ledger)
{
    for (size_t i = 0; i < ledger->count; i++)
        if (ledger->rows[i].account->stage == STAGE_TOTAL &&
            ledger->rows[i].basis == BASIS_MODELLED)
            return true;
    return false;
}

static int fault_of_row(const struct ledger_row *row, bool prediction, struct tare_error *error)
{
    const char *name = row->account->name;
    unsigned allowed = stage_bases[row->account->stage];

    if (prediction && row->account->stage > STAGE_ENCODING)
        allowed = row->account->stage <= STAGE_PROCESS || row->account->stage == STAGE_TOTAL
                      ? 1u << BASIS_MODELLED
                      : 0;
    if ((unsigned)row->basis > BASIS_RESIDUAL || !(allowed >> row->basis & 1u))
        return error_set(error, TARE_USAGE, "account '%s': %s is no basis of stage %s%s", name,
                         (unsigned)row->basis > BASIS_RESIDUAL ? "?" : basis_names[row->basis],
                         stage_names[row->account->stage], prediction ? " in a prediction" : "");
    if (row->has_range && (row->low > row->bytes || row->bytes > row->high))
        return error_set(error, TARE_USAGE,
                         "account '%s': %" PRId64 " is outside its range %" PRId64 " to %" PRId64,
                         name, row->bytes, row->low, row->high);
    if (row->has_spread && row->spread_low > row->spread_high)
        return error_set(error, TARE_USAGE,
                         "account '%s': spread from %" PRId64 " down to %" PRId64, name,
                         row->spread_low, row->spread_high);
    if (row->has_marginal && !isfinite(row->marginal))
        return error_set(error, TARE_USAGE, "account '%s': the marginal cost is no number", name);
    return 0;
}

static int fault_of_order(const struct ledger *ledger, struct tare_error *error)
{
    for (size_t i = 1; i < ledger->count; i++) {
        const struct account *before = ledger->rows[i - 1].account;
        const struct account *account = ledger->rows[i].account;
        if (before == account)
            return error_set(error, TARE_USAGE, "account '%s' is there twice", account->name);
        if (account_place(before) > account_place(account))
            return error_set(error, TARE_USAGE, "account '%s' stands after '%s'", account->name,
                             before->name);
    }
    return 0;
}

static int fault_of_sum(wide sum, const struct ledger_row *total, struct tare_error *error)
{
    if (sum == total->bytes)
        return 0;
    if (sum < INT64_MIN || sum > INT64_MAX)
        return error_set(error, TARE_USAGE, "the accounts of '%s' sum to more than 64 bits hold",
                         total->account->name);
    return error_set(error, TARE_USAGE, "accounts sum to %" PRId64 ", %s is %" PRId64, (int64_t)sum,
                     total->account->name, total->bytes);
}

int ledger_fault(const struct ledger *ledger, struct tare_error *error)
{
    const struct ledger_row *allocated = ledger_find(ledger, &account_total_allocated);
    const struct ledger_row *resident = ledger_find(ledger, &account_total_resident);
    bool prediction = ledger_is_prediction(ledger), beyond = false, modelled = false;
    wide sum_allocated = 0, sum_resident = 0;

    if (!ledger->state || !ledger->state[0])
        return error_set(error, TARE_USAGE, "the ledger has no state");
    if (fault_of_order(ledger, error))
        return -1;
    for (size_t i = 0; i < ledger->count; i++) {
        const struct ledger_row *row = &ledger->rows[i];
        enum stage stage = row->account->stage;
        if (fault_of_row(row, prediction, error))
            return -1;
        if (stage_is_allocated(stage) || row->account == &account_unattributed_allocated)
            sum_allocated += row->bytes;
        if (stage < STAGE_TOTAL)
            sum_resident += row->bytes;
        beyond = beyond || stage == STAGE_ALLOCATOR || stage == STAGE_PROCESS;
        modelled = modelled || stage == STAGE_STRUCTURE || stage == STAGE_ROUNDING;
    }
    if (!allocated && !resident)
        return error_set(error, TARE_USAGE, "neither total.allocated nor total.resident is there");
    if (beyond && !resident)
        return error_set(error, TARE_USAGE,
                         "accounts of stages allocator and process without total.resident");
    /* A residual row stands exactly where its total was measured; what was measured has a base. */
    static const struct {
        const struct account *total, *residual, *base;
    } pairs[] = {
        {&account_total_allocated, &account_unattributed_allocated, &account_base_allocated},
        {&account_total_resident, &account_unattributed_resident, &account_base_resident},
    };
    for (size_t i = 0; i < 2; i++) {
        bool total = ledger_find(ledger, pairs[i].total) != NULL;
        bool residual = ledger_find(ledger, pairs[i].residual) != NULL;
        bool base = ledger_find(ledger, pairs[i].base) != NULL;
        bool optional = pairs[i].total == &account_total_allocated && !modelled;
        if (residual && !total)
            return error_set(error, TARE_USAGE, "%s without %s", pairs[i].residual->name,
                             pairs[i].total->name);
        if (total && !prediction && !residual && !optional)
            return error_set(error, TARE_USAGE, "%s is missing", pairs[i].residual->name);
        if (base != (total && !prediction))
            return error_set(error, TARE_USAGE, base ? "%s without a measured %s" : "%s is missing",
                             pairs[i].base->name, pairs[i].total->name);
    }
    if (allocated && fault_of_sum(sum_allocated, allocated, error))
        return -1;
    if (resident && fault_of_sum(sum_resident, resident, error))
        return -1;
    return 0;
}

int ledger_check(const struct ledger *ledger, struct tare_error *error)
{
    if (!ledger_fault(ledger, error))
        return 0;
    return error_prefix(error, "internal: ledger '%s'", ledger->state ? ledger->state : "");
}

/* A magnitude that INT64_MIN has too. */
static double magnitude(int64_t bytes)
{
    return fabs((double)bytes);
}

double ledger_share_allocated(const struct ledger *ledger)
{
    int64_t total = ledger_bytes(ledger, &account_total_allocated);

    if (total == 0)
        return 0;
    return magnitude(ledger_bytes(ledger, &account_unattributed_allocated)) / magnitude(total);
}

double ledger_share_resident(const struct ledger *ledger)
{
    int64_t total = ledger_bytes(ledger, &account_total_resident);

    if (total == 0)
        return -1;
    return (magnitude(ledger_bytes(ledger, &account_unattributed_allocated)) +
            magnitude(ledger_bytes(ledger, &account_unattributed_resident))) /
           magnitude(total);
}

struct headline ledger_headline(const struct ledger *ledger)
{
    struct headline headline = {0};
    const struct ledger_row *total = ledger_find(ledger, &account_total_allocated);

    if (!total)
        return headline;
    bool modelled = false;
    for (size_t i = 0; i < ledger->count; i++)
        modelled = modelled || ledger->rows[i].account->stage == STAGE_STRUCTURE ||
                   ledger->rows[i].account->stage == STAGE_ROUNDING;
    bool prediction = ledger_is_prediction(ledger);
    int64_t missed = ledger_bytes(ledger, &account_unattributed_allocated);
    headline.has_predicted = prediction || modelled;
    headline.has_measured = !prediction;
    headline.predicted = subtract(total->bytes, missed);
    if (headline.has_measured)
        headline.measured = total->bytes;
    if (headline.has_predicted && headline.measured != 0)
        headline.missed = (double)missed / magnitude(headline.measured);
    return headline;
}

void ledger_free(struct ledger *ledger)
{
    free(ledger->state);
    free(ledger->rows);
    figures_free(&ledger->inputs);
    free(ledger->settings);
    figures_free(&ledger->samples);
    figures_free(&ledger->base);
    evidence_free(&ledger->evidence);
    free(ledger->evidence_source);
    for (size_t i = 0; i < ledger->block_count; i++)
        free(ledger->blocks[i].kind);
    free(ledger->blocks);
    free(ledger->subtotal_name);
    for (size_t i = 0; i < ledger->note_count; i++)
        free(ledger->notes[i]);
    free(ledger->notes);
    for (size_t i = 0; i < ledger->advice_count; i++) {
        free(ledger->advice[i].kind);
        free(ledger->advice[i].change);
    }
    free(ledger->advice);
    workload_free(ledger->workload);
    *ledger = (struct ledger){0};
}

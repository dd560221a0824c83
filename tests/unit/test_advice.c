/* Notes that act, held against plans of what they advise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cell/advice.h"
#include "core/memory.h"

/* Up to so many records the sample is all of them: what is saved is exact. */
#define RECORDS 1000

struct planned {
    struct cell_selection selection;
    struct cell_requests requests;
    struct report report;
    struct cell cell;
};

/* Plans one cell; setting: "NAME=VALUE" or NULL. */
static void plan(struct planned *planned, const char *encoding, const char *dataset, int64_t n,
                 const char *server, const char *setting, bool advise)
{
    struct tare_error error = {0};
    struct cell_selection *selection = &planned->selection;
    *planned =
        (struct planned){.selection = {.dataset = memory_text(dataset), .records = n, .seed = 1}};
    MEMORY_GROW(selection->encodings, selection->encoding_count, selection->encoding_capacity);
    selection->encodings[selection->encoding_count++] = memory_text(encoding);
    MEMORY_GROW(selection->servers, selection->server_count, selection->server_capacity);
    selection->servers[selection->server_count++] = memory_text(server);
    if (setting) {
        const char *equals = strchr(setting, '=');
        char *name = memory_text_n(setting, (size_t)(equals - setting));
        figures_parse(&selection->settings, name, equals + 1);
        free(name);
    }
    if (cell_requests_make(selection, true, &planned->requests, &error) ||
        cell_predict(&planned->requests.items[0], &planned->report, &planned->cell, advise, &error))
        fail_msg("%s: %s", encoding, error.message);
}

static void drop(struct planned *planned)
{
    cell_free(&planned->cell);
    report_free(&planned->report);
    cell_requests_free(&planned->requests);
    cell_selection_free(&planned->selection);
}

static const struct ledger_advice *advice(const struct planned *planned, const char *kind)
{
    const struct ledger *ledger = &planned->cell.states[0];
    for (size_t i = 0; i < ledger->advice_count; i++)
        if (strcmp(ledger->advice[i].kind, kind) == 0)
            return &ledger->advice[i];
    return NULL;
}

static const char *text(const struct planned *planned, const struct ledger_advice *note)
{
    return planned->cell.states[0].notes[note->note];
}

static int64_t allocated(const struct planned *planned)
{
    return ledger_bytes(&planned->cell.states[0], &account_total_allocated);
}

static int64_t resident(const struct planned *planned)
{
    return ledger_bytes(&planned->cell.states[0], &account_total_resident);
}

#define DEBIAN   "redis=7.0.15,allocator=jemalloc-5.3.0,quantum=16"
#define UPSTREAM "redis=7.2.4"

/* The note of this kind, and that its saving is what planning its change saves. */
static void check_change(const char *encoding, const char *dataset, const char *server,
                         const char *kind, const char *change, const char *words)
{
    struct planned own, other;
    plan(&own, encoding, dataset, RECORDS, server, NULL, true);
    const struct ledger_advice *note = advice(&own, kind);
    if (!note)
        fail_msg("%s of %s: no note '%s'", encoding, dataset, kind);
    assert_string_equal(note->change, change);
    if (strncmp(text(&own, note), words, strlen(words)) != 0)
        fail_msg("'%s', not '%s'", text(&own, note), words);
    bool setting = !strchr(change, ':');
    plan(&other, setting ? encoding : change, dataset, RECORDS, server, setting ? change : NULL,
         false);
    assert_int_equal(note->saved, allocated(&own) - allocated(&other));
    assert_int_equal(note->saved_resident, resident(&own) - resident(&other));
    drop(&own);
    drop(&other);
}

static void savings_are_those_of_the_plan(void **state)
{
    (void)state;
    check_change("redis:hash", "ycsb", DEBIAN, "packed limit", "hash-max-listpack-value=128",
                 "every value passes the listpack limit 64, hash-max-listpack-value: 128 would "
                 "pack all");
    check_change("redis:hash", "ycsb", "redis=6.2.14", "packed limit", "hash-max-ziplist-value=128",
                 "every value passes the ziplist limit 64, hash-max-ziplist-value: 128 would "
                 "pack all");
    check_change("redis:hash", "ycsb:fieldcount=600,fieldlength=4", DEBIAN, "packed limit",
                 "hash-max-listpack-entries=1024",
                 "every record passes the listpack limit 512, hash-max-listpack-entries: 1,024 "
                 "would pack all");
    check_change("redis:string+json", "player", DEBIAN, "field names", "redis:string+msgpack-array",
                 "field names are 12 % of it, 16.0 bytes a record: redis:string+msgpack-array");
    check_change("redis:hash", "player", UPSTREAM, "field names", "redis:hash+short",
                 "field names are ");
    check_change("redis:string+json", "player", DEBIAN, "codec", "redis:string+msgpack",
                 "MessagePack instead of JSON, redis:string+msgpack, would save ");
    check_change("redis:string+json", "ycsb", DEBIAN, "compressor", "redis:string+json+zstd",
                 "it compresses: redis:string+json+zstd would save 1");
    check_change("redis:string+json+lz4", "ycsb", DEBIAN, "compressor", "redis:string+json",
                 "the compressor's gain stays inside one size class: lz4 takes 1");
    check_change("redis:string+json+gzip", "player", DEBIAN, "compressor", "redis:string+json",
                 "gzip makes a record ");
    check_change("redis:bucket=1000+msgpack", "player", UPSTREAM, "bucket",
                 "redis:bucket=50+msgpack", "buckets of 50 records instead of 1,000, ");
    check_change("redis:string+msgpack", "player", DEBIAN, "bucket", "redis:bucket=50+msgpack",
                 "50 records a hash, redis:bucket=50+msgpack, would save ");
    check_change("redis:bucket=20+msgpack", "ycsb:fieldcount=1,fieldlength=80", UPSTREAM,
                 "packed limit", "hash-max-listpack-value=128",
                 "every value passes the listpack limit 64, hash-max-listpack-value: 128 would "
                 "pack all");
    check_change("redis:hash@index@ttl=86400", "ycsb", DEBIAN, "expiry", "redis:hash@index",
                 "the time to live costs ");
    check_change("mongodb:blob+json", "ycsb", "mongodb=6.0.5,engine=memory", "compressor",
                 "mongodb:blob+json+zstd", "it compresses: mongodb:blob+json+zstd would save ");
}

/* MessagePack of n fields of the length is the same for every record: what a shorter one takes is
 * known. sds and NUL: 6 bytes more. */
static void bytes_over_a_size_class(void **state)
{
    struct planned own, shorter;
    (void)state;
    /* 1 + 7 + 3 + 1014 = 1,025 bytes and 6 are 7 over class 1,024: the next one is 1,280. */
    plan(&own, "redis:string+msgpack", "ycsb:fieldcount=1,fieldlength=1014", RECORDS, UPSTREAM,
         NULL, true);
    const struct ledger_advice *note = advice(&own, "size class");
    assert_non_null(note);
    assert_string_equal(text(&own, note),
                        "7 bytes over size class 1,024: 256.0 bytes a record wasted");
    assert_null(note->change);
    plan(&shorter, "redis:string+msgpack", "ycsb:fieldcount=1,fieldlength=1007", RECORDS, UPSTREAM,
         NULL, true);
    assert_int_equal(note->saved, allocated(&own) - allocated(&shorter));
    assert_int_equal(note->saved, 256 * RECORDS);
    /* The shorter one fills its class: nothing is wasted. */
    assert_null(advice(&shorter, "size class"));
    drop(&shorter);
    drop(&own);
    /* Values of 109 bytes are an sds of 113, one over class 112: each of ten wastes 15. */
    plan(&own, "redis:hash", "ycsb:fieldlength=109", RECORDS, DEBIAN, NULL, true);
    note = advice(&own, "size class");
    assert_non_null(note);
    assert_string_equal(text(&own, note),
                        "each value is 1 byte over size class 112: 160.0 bytes a record wasted");
    drop(&own);
    /* A string of 45 bytes is no embstr any more: 16 and 56 instead of 64. */
    plan(&own, "redis:string+msgpack", "ycsb:fieldcount=1,fieldlength=35", RECORDS, UPSTREAM, NULL,
         true);
    note = advice(&own, "size class");
    assert_non_null(note);
    assert_string_equal(text(&own, note),
                        "1 byte too long for a form of fewer blocks: 8.0 bytes a record wasted");
    plan(&shorter, "redis:string+msgpack", "ycsb:fieldcount=1,fieldlength=34", RECORDS, UPSTREAM,
         NULL, false);
    assert_int_equal(note->saved, allocated(&own) - allocated(&shorter));
    drop(&shorter);
    drop(&own);
    /* Lengths of all sizes: no class is just passed. */
    plan(&own, "redis:string+msgpack", "ycsb:fieldlengthdistribution=uniform", RECORDS, UPSTREAM,
         NULL, true);
    assert_null(advice(&own, "size class"));
    drop(&own);
}

static void what_is_saved_is_told_first(void **state)
{
    struct planned own;
    (void)state;
    plan(&own, "redis:string+json", "player", 130000, DEBIAN, NULL, true);
    const struct ledger *ledger = &own.cell.states[0];
    assert_true(ledger->advice_count >= 4);
    for (size_t i = 1; i < ledger->advice_count; i++)
        assert_true(ledger->advice[i - 1].saved >= ledger->advice[i].saved);
    assert_non_null(advice(&own, "key prefix"));
    assert_non_null(strstr(text(&own, advice(&own, "key prefix")), "'player:'"));
    const struct ledger_advice *step = advice(&own, "table step");
    assert_non_null(step);
    assert_int_equal(step->saved, 0);
    assert_string_equal(text(&own, step),
                        "the key table doubles at record 131,073, 1,073 more than now: 2.00 MiB at "
                        "once, less 1.00 MiB when it is rehashed");
    drop(&own);
}

/* A sample tells what all records would, and a plan stays the same with notes. */
static void a_sample_stands_for_all(void **state)
{
    struct planned own, other;
    (void)state;
    plan(&own, "redis:hash", "ycsb:fieldlengthdistribution=uniform,fieldcount=3", 50000, DEBIAN,
         NULL, true);
    const struct ledger_advice *note = advice(&own, "packed limit");
    assert_non_null(note);
    plan(&other, "redis:hash", "ycsb:fieldlengthdistribution=uniform,fieldcount=3", 50000, DEBIAN,
         "hash-max-listpack-value=128", false);
    double saved = (double)(allocated(&own) - allocated(&other));
    assert_true((double)note->saved > 0.97 * saved && (double)note->saved < 1.03 * saved);
    drop(&other);
    plan(&other, "redis:hash", "ycsb:fieldlengthdistribution=uniform,fieldcount=3", 50000, DEBIAN,
         NULL, false);
    assert_int_equal(allocated(&own), allocated(&other));
    assert_int_equal(other.cell.states[0].advice_count, 0);
    drop(&other);
    drop(&own);
}

/* What expires on its own, or is too large to be packed, stays a string of its own. */
static void buckets_are_for_small_values_alone(void **state)
{
    struct planned own;
    (void)state;
    plan(&own, "redis:string+msgpack@ttl=86400", "player", RECORDS, DEBIAN, NULL, true);
    assert_null(advice(&own, "bucket"));
    drop(&own);
    plan(&own, "redis:string+json", "ycsb", RECORDS, DEBIAN, NULL, true);
    assert_null(advice(&own, "bucket"));
    drop(&own);
    plan(&own, "redis:hash", "player", RECORDS, DEBIAN, NULL, true);
    assert_null(advice(&own, "bucket"));
    drop(&own);
}

static void no_records_no_notes(void **state)
{
    struct planned own;
    (void)state;
    for (int64_t n = 0; n <= 2; n++) {
        plan(&own, "redis:hash", "ycsb", n, DEBIAN, NULL, true);
        assert_true(n > 0 || own.cell.states[0].advice_count == 0);
        drop(&own);
    }
}

static void nothing(const struct advising *advising)
{
    (void)advising;
}

static void incomplete_kinds_are_refused(void **state)
{
    const struct advice_kind whole = {.name = "a", .summary = "b", .consider = nothing},
                             nameless = {.summary = "b", .consider = nothing};
    const struct advice_kind *const once[] = {&whole, NULL},
                                    *const twice[] = {&whole, &whole, NULL},
                                    *const broken[] = {&nameless, NULL};
    struct tare_error error;
    (void)state;
    assert_int_equal(advice_table_check(once, &error), 0);
    assert_int_equal(advice_table_check(twice, &error), -1);
    assert_non_null(strstr(error.message, "'a' is there twice"));
    assert_int_equal(advice_table_check(broken, &error), -1);
    assert_int_equal(advice_kinds_check(&error), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(savings_are_those_of_the_plan),
        cmocka_unit_test(bytes_over_a_size_class),
        cmocka_unit_test(what_is_saved_is_told_first),
        cmocka_unit_test(a_sample_stands_for_all),
        cmocka_unit_test(buckets_are_for_small_values_alone),
        cmocka_unit_test(no_records_no_notes),
        cmocka_unit_test(incomplete_kinds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

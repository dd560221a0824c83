/* A report with known figures, for the tests of ledgers and formats. */
#ifndef TARE_TESTS_SAMPLE_REPORT_H
#define TARE_TESTS_SAMPLE_REPORT_H

#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "ledger/ledger.h"

static inline void sample_build(struct build *build, const char *store, const char *version,
                                const char *allocator, const char *engine)
{
    snprintf(build->store, sizeof build->store, "%s", store);
    snprintf(build->version, sizeof build->version, "%s", version);
    snprintf(build->allocator, sizeof build->allocator, "%s", allocator);
    snprintf(build->engine, sizeof build->engine, "%s", engine);
    build->number = version_number(version);
    build->cache_oblivious = -1;
}

static inline void sample_evidence(struct ledger *ledger, int64_t size, int64_t predicted,
                                   int64_t counted)
{
    struct evidence *evidence = &ledger->evidence;
    evidence->source = "MEMORY MALLOC-STATS bins";
    MEMORY_GROW(evidence->rows, evidence->count, evidence->capacity);
    evidence->rows[evidence->count++] = (struct evidence_row){size, predicted, counted};
}

/* redis:hash@index, 1,000 records: closed from 1,866,900 predicted and 1,867,300 measured. */
static inline void sample_redis(struct cell *cell)
{
    const struct counted counted = {.key = 22900, .values = 1000000, .field_names = 60000};
    struct prediction prediction = {0};
    struct measurement measurement = {0};

    sample_build(&cell->build, "redis", "7.0.15", "jemalloc-5.3.0", "");
    cell->build.quantum = 16;
    cell->build.page_size = 4096;
    cell->name = memory_text("redis:hash@index");
    cell->encoding = memory_text("redis:hash@index");
    cell->dataset = memory_text("ycsb");
    cell->dataset_summary = memory_text("10 fields x 100 bytes");
    cell->records = 1000;
    cell->settings = memory_text("hash-max-listpack-value=64 save=3600 1");
    cell->complete = true;
    cell->load_seconds = 0.0125;
    cell->client_cpu_seconds = 0.004;
    cell->server_cpu_seconds = 0.0075;
    cell->repeats = 1;
    figures_integer(&cell->base, "info.memory.used_memory", 900000);
    figures_text(&cell->base, "info.server.redis_version", "7.0.15");

    amounts_add(&prediction.amounts, &account_object, BASIS_MODELLED, 16000);
    amounts_add(&prediction.amounts, &account_field_entries, BASIS_MODELLED, 240000);
    amounts_add(&prediction.amounts, &account_field_table, BASIS_MODELLED, 192048);
    amounts_add(&prediction.amounts, &account_listpack, BASIS_MODELLED, 0);
    amounts_add(&prediction.amounts, &account_key_table, BASIS_MODELLED, 16384);
    amounts_add(&prediction.amounts, &account_rounding, BASIS_MODELLED, 311568);
    prediction.allocated = 22900 + 1000000 + 60000 + 16000 + 240000 + 192048 + 16384 + 311568;
    amounts_add(&measurement.amounts, &account_client_buffers, BASIS_MEASURED, 8000);
    amounts_add(&measurement.amounts, &account_fragmentation, BASIS_DERIVED, 40000);
    amounts_add(&measurement.amounts, &account_dirty_pages, BASIS_DERIVED, 12288);
    amounts_add(&measurement.amounts, &account_mapped_files, BASIS_MEASURED, 4096);
    measurement.has_allocated = measurement.has_resident = true;
    measurement.allocated = 1867300;
    measurement.resident = 1925120;
    measurement.base_allocated = 900000;
    measurement.base_resident = 9437184;
    measurement_note(&measurement, "the server's allocator is the system's");

    cell->states = memory_new(sizeof *cell->states);
    cell->state_count = cell->state_capacity = 1;
    ledger_close(&cell->states[0], "settled", &counted, &prediction, &measurement);
    ledger_advise(&cell->states[0], "expiry", "the time to live costs 42.5", NULL, 42500, 43000);
    ledger_advise(&cell->states[0], "packed limit", "every value passes the limit",
                  "hash-max-listpack-value=128", 496000, 514500);
    cell->encode_ns = 80.5;
    sample_evidence(&cell->states[0], 32, 10000, 10000);
    sample_evidence(&cell->states[0], 128, 2000, 1000);
    figures_integer(&cell->states[0].inputs, "hash-seed-branch", 1);
    figures_text(&cell->states[0].inputs, "hash-seed-branch.source", "a warm-up record's size");
    figures_integer(&cell->states[0].samples, "info.memory.used_memory", 2767300);
    figures_real(&cell->states[0].samples, "info.memory.mem_fragmentation_ratio", 1.03);
    figures_text(&cell->states[0].samples, "info.odd", "caf\xc3\xa9 \xff\"<b>|");
    for (int64_t n = 100; n <= 1000; n += 100) {
        struct checkpoint point = {.records = n, .allocated = n * 1850, .resident = n * 1900};
        point.seconds = (double)n / 80000;
        point.counted = (struct counted){.key = n * 22, .values = n * 1000, .field_names = n * 60};
        *sums_of(&point.modelled, &account_object) = n * 16;
        *sums_of(&point.modelled, &account_field_entries) = n * 240;
        *sums_of(&point.modelled, &account_key_table) = n <= 500 ? 8192 : 16384;
        point.allocated += *sums_of(&point.modelled, &account_key_table);
        MEMORY_GROW(cell->checkpoints, cell->checkpoint_count, cell->checkpoint_capacity);
        cell->checkpoints[cell->checkpoint_count++] = point;
    }
    cell_marginals(cell);
    prediction_free(&prediction);
    measurement_free(&measurement);
}

/* mongodb:document in memory: negative amounts, a subtotal, no marginal, no block evidence. */
static inline void sample_mongodb(struct cell *cell)
{
    const struct counted counted = {.key = 22900,
                                    .values = 1000000,
                                    .field_names = 60000,
                                    .framing = 85000,
                                    .number_form = -100};
    struct prediction prediction = {0};
    struct measurement measurement = {0};

    sample_build(&cell->build, "mongodb", "6.0.5", "tcmalloc", "memory");
    cell->name = memory_text("mongodb:document");
    cell->encoding = memory_text("mongodb:document");
    cell->dataset = memory_text("ycsb");
    cell->dataset_summary = memory_text("10 fields x 100 bytes");
    cell->records = 1000;
    cell->settings = memory_text("");
    cell->complete = true;
    cell->load_seconds = 0.02;
    cell->encode_ns = 1741;
    cell->decode_ns = 2040.4;
    cell->repeats = 1;
    amounts_add(&prediction.amounts, &account_wt_row, BASIS_MODELLED, 8000);
    amounts_add(&prediction.amounts, &account_wt_id_index, BASIS_MODELLED, 119600);
    amounts_add(&prediction.amounts, &account_rounding, BASIS_MODELLED, -5000);
    amounts_add(&measurement.amounts, &account_thread_cache, BASIS_MEASURED, 20000);
    amounts_add(&measurement.amounts, &account_untouched_pages, BASIS_DERIVED, -3000);
    measurement.has_allocated = measurement.has_resident = true;
    measurement.allocated = 1282000;
    measurement.resident = 1302528;
    measurement.base_allocated = 50000000;
    measurement.base_resident = 123000000;
    measurement.subtotal = 1250000;
    measurement.subtotal_name = "WiredTiger's cache without its 8 %";
    cell->states = memory_new(sizeof *cell->states);
    cell->state_count = cell->state_capacity = 1;
    ledger_close(&cell->states[0], "settled", &counted, &prediction, &measurement);
    struct figures *samples = &cell->states[0].samples;
    figures_integer(samples, "collStats.size", 1167800);
    figures_integer(samples, "collStats.storageSize", 0);
    figures_integer(samples, "serverStatus.inMemory.cache.bytes currently in the cache", 1350000);
    figures_integer(samples, "serverStatus.mem.resident", 118);
    prediction_free(&prediction);
    measurement_free(&measurement);
}

static inline void sample_broken(struct cell *cell)
{
    sample_build(&cell->build, "redis", "7.0.15", "jemalloc-5.3.0", "");
    cell->build.quantum = 16;
    cell->name = memory_text("redis:string+json");
    cell->encoding = memory_text("redis:string+json");
    cell->dataset = memory_text("ycsb");
    cell->dataset_summary = memory_text("10 fields x 100 bytes");
    cell->records = 1000;
    cell->settings = memory_text("");
    cell->error = memory_text("the server ended: maxmemory <reached> | \"stop\"");
    cell->repeats = 1;
}

/* As `plan` closes one: ranges, a peak, a table step. */
static inline void sample_predicted(struct cell *cell)
{
    const struct counted counted = {.key = 22900, .values = 1000000, .field_names = 60000};
    struct prediction prediction = {0};

    sample_build(&cell->build, "redis", "7.4.1", "jemalloc-5.3.0", "");
    cell->build.quantum = 8;
    cell->name = memory_text("redis:hash");
    cell->encoding = memory_text("redis:hash");
    cell->dataset = memory_text("ycsb:fieldcount=10");
    cell->records = 1000;
    cell->settings = memory_text("");
    cell->complete = cell->predicted = true;
    cell->repeats = 1;
    amounts_add(&prediction.amounts, &account_field_entries, BASIS_MODELLED, 240000);
    amounts_add_range(&prediction.amounts, &account_field_table, BASIS_MODELLED, 192000, 128000,
                      192000);
    prediction.allocated = 1514900;
    prediction.allocated_low = 1450900;
    prediction.allocated_high = 1514900;
    amounts_add(&prediction.resident_amounts, &account_fragmentation, BASIS_MODELLED, 20000);
    amounts_add(&prediction.resident_amounts, &account_stacks, BASIS_MODELLED, 100);
    prediction.resident = 1535000;
    prediction.resident_low = 1471000;
    prediction.resident_high = 1560000;
    prediction.peak_allocated = 1523092;
    prediction.steps[0] = (struct table_step){1025, 16384, 8192};
    prediction.steps[1] = (struct table_step){2049, 32768, 0};
    prediction.step_count = 2;
    prediction_note(&prediction, "layout of 7.4 verified on 7.4.1");
    blocks_open(&prediction.blocks, &cell->build);
    blocks_add_plain(&prediction.blocks, "table", 1, 0, &account_key_table, 8192);
    blocks_add_plain(&prediction.blocks, "table", -1, 0, &account_key_table, 32);
    blocks_add_plain(&prediction.blocks, "dictEntry", 10000, 0, &account_field_entries, 24);
    blocks_add_plain(&prediction.blocks, "node", 750.25, 0, &account_skip_list, 40);
    cell->states = memory_new(sizeof *cell->states);
    cell->state_count = cell->state_capacity = 1;
    ledger_close(&cell->states[0], "settled", &counted, &prediction, NULL);
    prediction_free(&prediction);
}

static inline void sample_begin(struct report *report)
{
    *report = (struct report){0};
    report->command_line = memory_text("tare run -n 1000 --seed 7");
    report->created = memory_text("2026-11-30T12:00:00Z");
    report->tare_version = memory_text("0.1.0");
    report->seed = 7;
    figures_text(&report->environment, "kernel", "6.1.0");
    figures_integer(&report->environment, "page_size", 4096);
}

/* Three cells, of which the last one broke. */
static inline void sample_report(struct report *report)
{
    sample_begin(report);
    sample_redis(report_add_cell(report));
    sample_mongodb(report_add_cell(report));
    sample_broken(report_add_cell(report));
}

/* One cell alone. */
static inline void sample_of(struct report *report, void (*fill)(struct cell *))
{
    sample_begin(report);
    fill(report_add_cell(report));
}

#endif

/* Reading reports back: without loss, and never a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "report/report.h"
#include "sample_report.h"

static char path[] = "/tmp/tare-test-report-XXXXXX";

static int make_file(void **state)
{
    int descriptor = mkstemp(path);
    (void)state;
    return descriptor < 0 ? -1 : close(descriptor);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static int load(const void *bytes, size_t length, struct report *report, struct tare_error *error)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return report_load(path, report, error);
}

static void render(const struct report *report, const char *format, struct buffer *out)
{
    const struct report_style style = {.verbose = 1};
    format_of_name(format, NULL)->render(report, &style, out);
}

static void round_trip(const struct report *report, const char *format, const char *as)
{
    struct buffer first = {0}, again = {0}, shown = {0}, shown_again = {0};
    struct report loaded;
    struct tare_error error = {0};

    render(report, format, &first);
    if (load(first.data, first.length, &loaded, &error))
        fail_msg("%s", error.message);
    render(&loaded, format, &again);
    assert_string_equal(first.data, again.data);
    render(report, as, &shown);
    render(&loaded, as, &shown_again);
    assert_string_equal(shown.data, shown_again.data);
    report_free(&loaded);
    buffer_free(&first);
    buffer_free(&again);
    buffer_free(&shown);
    buffer_free(&shown_again);
}

static void json_comes_back_whole(void **state)
{
    struct report report;
    (void)state;
    sample_report(&report);
    struct ledger_row *row = &report.cells[0].states[0].rows[0];
    row->has_spread = true;
    row->spread_low = row->bytes - 3;
    row->spread_high = row->bytes + 4;
    report.cells[0].repeats = 3;
    figures_integer(&report.environment, "largest", INT64_MAX);
    figures_integer(&report.environment, "smallest", INT64_MIN);
    figures_real(&report.environment, "third", 1.0 / 3);
    figures_real(&report.environment, "endless", 1e300 * 1e300);
    /* Formats that say more than a figure is rounded to: JSON itself, then text. */
    round_trip(&report, "json", "csv");
    round_trip(&report, "json", "html");
    report_free(&report);
    sample_of(&report, sample_predicted);
    round_trip(&report, "json", "text");
    report_free(&report);
    sample_begin(&report);
    round_trip(&report, "json", "text");
    report_free(&report);
}

static void checkpoints_and_samples_come_back(void **state)
{
    struct report report, loaded;
    struct buffer text = {0};
    struct tare_error error = {0};
    (void)state;
    sample_of(&report, sample_redis);
    render(&report, "json", &text);
    assert_int_equal(load(text.data, text.length, &loaded, &error), 0);
    const struct cell *cell = &loaded.cells[0];
    assert_int_equal(cell->checkpoint_count, 10);
    assert_memory_equal(&cell->checkpoints[9].modelled, &report.cells[0].checkpoints[9].modelled,
                        sizeof(struct sums));
    assert_memory_equal(&cell->checkpoints[9].counted, &report.cells[0].checkpoints[9].counted,
                        sizeof(struct counted));
    assert_int_equal(cell->build.number, 70015);
    assert_int_equal(cell->build.quantum, 16);
    const struct figures *samples = &cell->states[0].samples;
    assert_int_equal(figures_get(samples, "info.memory.used_memory"), 2767300);
    assert_true(figures_find(samples, "info.memory.mem_fragmentation_ratio")->real == 1.03);
    /* what is no UTF-8 is written as a reader can see it */
    assert_string_equal(figures_get_text(samples, "info.odd"), "caf\xc3\xa9 \\xff\"<b>|");
    assert_string_equal(cell->states[0].evidence.source, "MEMORY MALLOC-STATS bins");
    assert_int_equal(cell->states[0].evidence.rows[1].counted, 1000);
    report_free(&report);
    report_free(&loaded);
    buffer_free(&text);
}

static void workloads_come_back(void **state)
{
    struct report report, loaded;
    struct buffer text = {0};
    struct tare_error error = {0};
    (void)state;
    sample_of(&report, sample_redis);
    struct workload *workload = report.cells[0].states[0].workload = workload_new();
    *workload = (struct workload){.operations = 1000,
                                  .not_found = 3,
                                  .seconds = 0.25,
                                  .threads = 8,
                                  .pipeline = 2,
                                  .rate = 5000,
                                  .distribution = memory_text("zipfian"),
                                  .client_cpu_seconds = 0.2,
                                  .server_cpu_seconds = 0.1,
                                  .processors = 2,
                                  .bound = BOUND_PROCESSORS};
    workload->latencies = memory_new(sizeof *workload->latencies);
    workload->latencies[workload->latency_count++] = (struct workload_latency){
        memory_text("all"), 1000, 20000, 18000, 30000, 45000, 61000, 1234567};
    workload->samples = memory_new(3 * sizeof *workload->samples);
    for (int i = 0; i < 3; i++)
        workload->samples[workload->sample_count++] = (struct workload_sample){
            .seconds = i, .operations = 500 * i, .allocated = 1000000 + i, .resident = 2 * i - 1};
    render(&report, "json", &text);
    assert_int_equal(load(text.data, text.length, &loaded, &error), 0);
    const struct workload *back = loaded.cells[0].states[0].workload;
    assert_int_equal(back->not_found, 3);
    assert_int_equal(back->bound, BOUND_PROCESSORS);
    assert_string_equal(back->distribution, "zipfian");
    assert_int_equal(back->latencies[0].p999, 61000);
    assert_int_equal(back->samples[0].resident, -1);
    assert_int_equal(back->samples[2].resident, 3);
    report_free(&loaded);
    round_trip(&report, "json", "json");
    round_trip(&report, "json", "text");
    report_free(&report);
    buffer_free(&text);
}

static void blocks_come_back(void **state)
{
    struct report report, loaded;
    struct buffer text = {0};
    struct tare_error error = {0};
    (void)state;
    sample_of(&report, sample_predicted);
    render(&report, "json", &text);
    assert_int_equal(load(text.data, text.length, &loaded, &error), 0);
    const struct ledger *ledger = &loaded.cells[0].states[0];
    assert_int_equal(ledger->block_count, 4);
    assert_string_equal(ledger->blocks[0].kind, "dictEntry");
    assert_int_equal(ledger->blocks[0].requested, 24);
    assert_true(ledger->blocks[0].count == 10000);
    assert_true(ledger->blocks[1].count == 750.25);
    assert_int_equal(ledger->blocks[2].requested, 32);
    assert_true(ledger->blocks[2].count == -1);
    report_free(&loaded);
    char *place = strstr(text.data, "\"count\": 750.25");
    assert_non_null(place);
    memcpy(place, "\"coins\"", strlen("\"coins\""));
    assert_int_equal(load(text.data, text.length, &loaded, &error), -1);
    assert_non_null(strstr(error.message, "blocks[1]: 'count' is missing"));
    report_free(&report);
    buffer_free(&text);
}

static void csv_comes_back(void **state)
{
    struct report report;
    (void)state;
    sample_report(&report);
    round_trip(&report, "csv", "csv");
    free(report.cells[0].settings);
    report.cells[0].settings = memory_text("a=\"1,2\"\r\nb=3");
    free(report.cells[1].dataset);
    report.cells[1].dataset = memory_text("file:a, \"b\".json");
    round_trip(&report, "csv", "csv");
    report_free(&report);
    sample_of(&report, sample_predicted);
    round_trip(&report, "csv", "csv");
    report_free(&report);
    sample_begin(&report);
    round_trip(&report, "csv", "csv");
    report_free(&report);
}

static void csv_in_any_order(void **state)
{
    struct report report, loaded;
    struct buffer text = {0}, turned = {0};
    struct tare_error error = {0};
    (void)state;
    sample_of(&report, sample_redis);
    render(&report, "csv", &text);
    /* The heading, then all rows from the last to the first, with CRLF. */
    char *line = strchr(text.data, '\n');
    buffer_append(&turned, text.data, (size_t)(line - text.data));
    buffer_text(&turned, "\r\n");
    for (char *end = text.data + text.length - 1; end > line;) {
        char *begin = end;
        while (begin[-1] != '\n')
            begin--;
        buffer_append(&turned, begin, (size_t)(end - begin));
        buffer_text(&turned, "\r\n");
        end = begin - 1;
    }
    assert_int_equal(load(turned.data, turned.length, &loaded, &error), 0);
    struct buffer again = {0};
    render(&loaded, "csv", &again);
    assert_string_equal(text.data, again.data);
    report_free(&loaded);
    report_free(&report);
    buffer_free(&text);
    buffer_free(&turned);
    buffer_free(&again);
}

/* The error of a file with this text, without the file's name in front. */
static const char *error_of(const void *text, size_t length)
{
    static struct tare_error error;
    struct report report;
    assert_int_equal(load(text, length, &report, &error), -1);
    assert_int_equal(error.status, TARE_USAGE);
    assert_int_equal(report.count, 0);
    const char *name = strstr(error.message, path);
    assert_non_null(name);
    return name + strlen(path) + 1;
}

static void what_is_no_report_says_so(void **state)
{
    struct tare_error error;
    struct report report;
    (void)state;
    assert_string_equal(error_of("", 0), " is empty: not a tare report");
    assert_string_equal(error_of(" \n\n", 3), " is empty: not a tare report");
    assert_string_equal(error_of("\0\0\0\0", 4),
                        " is no tare report: neither its JSON nor its CSV");
    assert_string_equal(error_of("a,b\n1,2\n", 8),
                        " is no tare report: neither its JSON nor its CSV");
    assert_string_equal(error_of("{}", 2), ": not a tare report: it has no 'schema' and 'cells'");
    assert_string_equal(error_of("[1]", 3), ": not a tare report: it has no 'schema' and 'cells'");
    assert_string_equal(error_of("{\"schema\": 2, \"cells\": []}", 26),
                        ": schema 2, but this tare reads schema 1: take a newer tare");
    assert_string_equal(error_of("{\"schema\": 1,\n \"cells\": [", 25),
                        ": the file ends on line 2 within the report: it is truncated");
    assert_string_equal(error_of("{\"schema\": 1, \"cells\": [{}]}", 28),
                        ", cells[0]: 'name' is missing");
    assert_string_equal(error_of("{\"schema\": 1, \"schema\": 1}", 26),
                        ": line 1: duplicate object key near '\"schema\"'");
    assert_int_equal(report_load("/nonexistent/x.json", &report, &error), -1);
    assert_string_equal(error.message,
                        "cannot read '/nonexistent/x.json': No such file or directory");
    assert_int_equal(report_load("/tmp", &report, &error), -1);
    assert_string_equal(error.message, "cannot read '/tmp': Is a directory");
}

/* Replaces the first `from` by `to`; the caller frees. */
static char *changed(const char *text, const char *from, const char *to)
{
    const char *place = strstr(text, from);
    assert_non_null(place);
    return memory_format("%.*s%s%s", (int)(place - text), text, to, place + strlen(from));
}

static void broken_figures_are_named(void **state)
{
    static const struct {
        const char *format, *from, *to, *says;
    } changes[] = {
        {"csv", "counted,22900,", "counted,22901,",
         ": cell 'redis:hash@index', state 'settled': accounts sum to 1867301, total.allocated is "
         "1867300"},
        {"csv", "counted,22900,", "counted,22900.0,",
         ", line 2: bytes is '22900.0', not a whole number of 64 bits"},
        {"csv", "counted,1000000,", "counted,9223372036854775808,",
         ", line 3: bytes is '9223372036854775808', not a whole number of 64 bits"},
        {"csv", "field names", "keys",
         ", line 4: no account is named 'keys'; a newer tare may have written this"},
        {"csv", "encoding,counted", "structure,counted",
         ", line 4: account 'field names' is of another stage"},
        {"csv", "encoding,counted", "encoding,guessed", ", line 4: no basis is named 'guessed'"},
        {"csv", "values", "key", ", line 3: account 'key' is there twice"},
        {"csv", ",1000,settled,values", ",1001,settled,values",
         ", line 3: another number of records than in the ledger's rows above"},
        {"csv", "7.0.15,jemalloc-5.3.0,,redis:hash@index,ycsb,1000,settled,values",
         "7.0.16,jemalloc-5.3.0,,redis:hash@index,ycsb,1000,settled,values",
         ", line 3: another version than in the cell's rows above"},
        {"csv", "redis:hash@index,redis,", "\"redis:hash@index,redis,",
         ", line 2: a quote is never closed: the file may be truncated"},
        {"csv", "bytes,bytes_per_record", "bytes,x",
         ", line 1: no column 'bytes_per_record': not "
         "a tare report"},
        {"json", "\"bytes\": 22900", "\"bytes\": 22901",
         ": cell 'redis:hash@index', state 'settled': accounts sum to 1867301, total.allocated is "
         "1867300"},
        {"json", "\"bytes\": 22900", "\"bytes\": \"22900\"",
         ", cells[0].states[0].accounts[0]: 'bytes' is no whole number"},
        {"json", "\"account\": \"key\"", "\"account\": \"k\\n\"",
         ", cells[0].states[0].accounts[0]: no account is named 'k\\x0a'; a newer tare may have "
         "written this"},
        {"json", "\"basis\": \"counted\"", "\"basis\": \"measured\"",
         ": cell 'redis:hash@index', state 'settled': account 'key': measured is no basis of "
         "stage payload"},
        {"json", "\"records\": 1000,", "\"records\": -1,", ", cells[0]: -1 records"},
        {"json", "\"version\": \"7.0.15\"",
         "\"version\": \"7.0.15aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
         ", cells[0]: 'version' is too long a name"},
        {"json", "\"states\": [", "\"states\": 1, \"other\": [", ", cells[0]: 'states' is no list"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        struct report report;
        struct buffer text = {0};
        sample_of(&report, sample_redis);
        render(&report, changes[i].format, &text);
        char *broken = changed(text.data, changes[i].from, changes[i].to);
        assert_string_equal(error_of(broken, strlen(broken)), changes[i].says);
        free(broken);
        buffer_free(&text);
        report_free(&report);
    }
}

/* A file that was cut anywhere is refused, but where it lost nothing that counts. */
static void truncated_files_are_refused(void **state)
{
    static const char *const formats[] = {"csv", "json"};
    struct report report;
    struct tare_error error;
    (void)state;
    sample_of(&report, sample_redis);
    for (size_t f = 0; f < 2; f++) {
        struct buffer text = {0};
        size_t accepted = 0;
        render(&report, formats[f], &text);
        size_t heading = f ? 0 : (size_t)(strchr(text.data, '\n') - text.data);
        for (size_t length = 0; length + 1 < text.length; length++) {
            struct report loaded;
            if (load(text.data, length, &loaded, &error) == 0) {
                /* Only the last row's blank fields may be missing, or every row. */
                assert_true(f == 0 && (length >= text.length - 10 || length <= heading + 1));
                accepted++;
                report_free(&loaded);
            }
        }
        assert_true(accepted <= 130);
        buffer_free(&text);
    }
    report_free(&report);
}

/* Random damage: an error or a report, no crash (run with sanitizers too). */
static void damaged_files_never_crash(void **state)
{
    static const char *const formats[] = {"csv", "json"};
    static const char bytes[] = "\0\n\r\",{}[]:\\-0e9.\xff tn";
    struct report report;
    uint64_t random = 88172645463325252u; /* xorshift64 (Marsaglia 2003), a fixed start */
    size_t refused = 0;
    (void)state;
    sample_report(&report);
    for (size_t f = 0; f < 2; f++) {
        struct buffer text = {0};
        render(&report, formats[f], &text);
        for (int round = 0; round < 1500; round++) {
            struct report loaded;
            struct tare_error error;
            char *copy = memory_text_n(text.data, text.length);
            size_t length = text.length;
            for (int changes = 0; changes < 1 + round % 4; changes++) {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                size_t at = (size_t)(random >> 16) % length;
                switch (random % 3) {
                case 0:
                    copy[at] = bytes[(random >> 8) % (sizeof bytes - 1)];
                    break;
                case 1:
                    memmove(copy + at, copy + at + 1, length - at - 1);
                    length--;
                    break;
                default:
                    copy[at] ^= (char)(1 << (random >> 8) % 8);
                }
            }
            if (load(copy, length, &loaded, &error)) {
                refused++;
                assert_null(strchr(error.message, '\n'));
            } else {
                struct buffer shown = {0};
                render(&loaded, "html", &shown);
                buffer_free(&shown);
                report_free(&loaded);
            }
            free(copy);
        }
        buffer_free(&text);
    }
    /* Damage to a note is no damage to a sum; damage to a figure is. */
    assert_true(refused > 1000);
    report_free(&report);
}

/* Sums that hold only because extremes cancel: shown by every format without an overflow. */
static void extreme_figures_are_shown(void **state)
{
    static const char text[] =
        "cell,store,version,allocator,engine,encoding,dataset,records,state,account,stage,basis,"
        "bytes,bytes_per_record,marginal_bytes_per_record,settings\n"
        "a,null,1,,,e,d,1,s,key,payload,counted,9223372036854775807,,,\n"
        "a,null,1,,,e,d,1,s,values,payload,counted,-9223372036854775808,,,\n"
        "a,null,1,,,e,d,1,s,total.allocated,total,modelled,-1,,,\n"
        "b,null,1,,,e,d,1,s,key,payload,counted,-9223372036854775808,,,\n"
        "b,null,1,,,e,d,1,s,values,payload,counted,9223372036854775807,,,\n"
        "b,null,1,,,e,d,1,s,total.allocated,total,modelled,-1,,,\n";
    const struct report_style style = {.verbose = 1};
    struct report report;
    struct tare_error error = {0};
    (void)state;
    assert_int_equal(load(text, sizeof text - 1, &report, &error), 0);
    const struct cell *a = &report.cells[0], *b = &report.cells[1];
    for (size_t i = 0; format_kinds[i]; i++) {
        struct buffer out = {0};
        format_kinds[i]->render(&report, &style, &out);
        assert_true(out.length > 0);
        buffer_clear(&out);
        format_kinds[i]->render_gap(a, a->states, b, b->states, &style, &out);
        assert_true(out.length > 0);
        buffer_free(&out);
    }
    report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_comes_back_whole),
        cmocka_unit_test(checkpoints_and_samples_come_back),
        cmocka_unit_test(workloads_come_back),
        cmocka_unit_test(blocks_come_back),
        cmocka_unit_test(csv_comes_back),
        cmocka_unit_test(csv_in_any_order),
        cmocka_unit_test(what_is_no_report_says_so),
        cmocka_unit_test(broken_figures_are_named),
        cmocka_unit_test(truncated_files_are_refused),
        cmocka_unit_test(damaged_files_never_crash),
        cmocka_unit_test(extreme_figures_are_shown),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}

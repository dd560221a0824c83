/* Files as data sets: formats, keys, rounds, and what is bad input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/random.h"
#include "data/census.h"
#include "data/dataset.h"
#include "data/file.h"
#include "encoders/encoding.h"

static char folder[] = "/tmp/tare-test-file-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void write_file(const char *name, const void *bytes, size_t length)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

/* Records `from` to before `to` as JSON, a line each, the key and a blank in front. */
static int read_records(struct dataset *dataset, int64_t from, int64_t to, struct buffer *out,
                        struct tare_error *error)
{
    struct encoding *json = encoding_parse_steps("json", error);
    struct arena arena = {0};
    int failed = 0;
    for (int64_t i = from; !failed && i < to; i++) {
        struct record record;
        struct slice bytes;
        struct counted counted;
        arena_reset(&arena);
        failed = dataset_read(dataset, i, &arena, &record, error);
        if (!failed)
            failed = encoding_bytes(json, &record, &arena, &bytes, &counted, error);
        if (failed)
            break;
        buffer_append(out, record.key.bytes, record.key.length);
        buffer_byte(out, ' ');
        buffer_append(out, bytes.bytes, bytes.length);
        buffer_byte(out, '\n');
    }
    arena_free(&arena);
    encoding_free(json);
    return failed;
}

/* All records, or `records` of them, after a survey: their text, or the error's. The caller frees.
 */
static char *read_all(const char *dataset_text, int64_t records)
{
    struct tare_error error = {0};
    struct buffer out = {0};
    struct dataset *dataset = dataset_open(dataset_text, 1, &error);
    int failed = dataset ? 0 : -1;
    if (!failed)
        failed = dataset_prepare(dataset, &records, DATASET_CHECK, &error) ||
                 read_records(dataset, 0, records, &out, &error);
    if (failed) {
        assert_int_equal(error.status, TARE_USAGE);
        buffer_clear(&out);
        buffer_text(&out, error.message);
    }
    dataset_close(dataset);
    return buffer_steal(&out);
}

static void expect(const char *name, const void *bytes, size_t length, const char *options,
                   int64_t records, const char *expected)
{
    write_file(name, bytes, length);
    char *text = memory_format("file:%s%s", name, options);
    char *got = read_all(text, records);
    if (strcmp(got, expected) != 0)
        fail_msg("%s\ngot:\n%s\nexpected:\n%s", text, got, expected);
    free(got);
    free(text);
    remove(name);
}

#define TEXT(text) text, sizeof text - 1

static void formats_are_read(void **state)
{
    (void)state;
    const char *const lines = "record:0 {\"a\":1}\nrecord:1 {\"b\":[true,null]}\n";
    /* Line ends, blank lines, a byte-order mark, no end of the last line. */
    expect("x.ndjson", TEXT("{\"a\":1}\n{\"b\":[true,null]}\n"), "", DATASET_ALL, lines);
    expect("x.jsonl", TEXT("\xef\xbb\xbf{\"a\":1} \r\n\r\n \t\n{\"b\":[true, null]}"), "",
           DATASET_ALL, lines);
    /* By the contents, or as told. */
    expect("x", TEXT("\n {\"a\":1}\n{\"b\":[true,null]}"), "", DATASET_ALL, lines);
    expect("x.json", TEXT("{\"a\":1}\n{\"b\":[true,null]}"), "", DATASET_ALL, lines);
    expect("x.txt", TEXT("[{\"a\":1},{\"b\":[true,null]}]"), "", DATASET_ALL, lines);
    expect("x.json", TEXT("\xef\xbb\xbf [ {\"a\":1}\r\n,\n{\"b\" :[true,null]}\n]\n"), "",
           DATASET_ALL, lines);
    expect("x.csv", TEXT("{\"a\":1}\n{\"b\":[true,null]}"), ",format=ndjson", DATASET_ALL, lines);
    /* A bracket in a string is none of the array's. */
    expect("x.json", TEXT("[{\"a\":\"]},{\\\"[\"},{\"b\\\\\":{}}]"), ",keyprefix=k", DATASET_ALL,
           "k0 {\"a\":\"]},{\\\"[\"}\nk1 {\"b\\\\\":{}}\n");

    expect("x.csv", TEXT("a,b\r\n1,x\r\n\r\n\"1,5\",\"say \"\"so\"\"\nand go\"\r\n,"), "",
           DATASET_ALL,
           "record:0 {\"a\":\"1\",\"b\":\"x\"}\n"
           "record:1 {\"a\":\"1,5\",\"b\":\"say \\\"so\\\"\\nand go\"}\n"
           "record:2 {\"a\":\"\",\"b\":\"\"}\n");
    expect("x.tsv",
           TEXT("\xef\xbb\xbf"
                "a\tb\n1\t,\n"),
           "", DATASET_ALL, "record:0 {\"a\":\"1\",\"b\":\",\"}\n");
    expect("x.csv", TEXT("a;b\n1;2\n"), ",separator=semicolon", DATASET_ALL,
           "record:0 {\"a\":\"1\",\"b\":\"2\"}\n");
    expect("x.csv", TEXT("a|b\n1|2\n"), ",separator=bar", DATASET_ALL,
           "record:0 {\"a\":\"1\",\"b\":\"2\"}\n");
    expect("x.csv", TEXT("a,b,c,d,e,f\n7,-2.5,007,1.50,1e5,nan\n"), ",numbers", DATASET_ALL,
           "record:0 "
           "{\"a\":7,\"b\":-2.5,\"c\":\"007\",\"d\":\"1.50\",\"e\":\"1e5\",\"f\":\"nan\"}\n");
    expect("x.csv", TEXT("one\nx\n\n\"\"\n"), "", DATASET_ALL,
           "record:0 {\"one\":\"x\"}\nrecord:1 {\"one\":\"\"}\n");

    static const char bson[] = "\x0c\0\0\0\x10"
                               "a\0\1\0\0\0\0"
                               "\x16\0\0\0\x07_id\0"
                               "0123456789ab"
                               "\0";
    expect("x.bson", TEXT(bson), ",numbered", 1, "record:0 {\"a\":1}\n");
    expect("x.bson", bson + 12, 22, "", DATASET_ALL,
           "303132333435363738396162 {\"_id\":{\"$oid\":\"303132333435363738396162\"}}\n");
    expect("x", bson + 12, 22, "", 1, /* by the contents */
           "303132333435363738396162 {\"_id\":{\"$oid\":\"303132333435363738396162\"}}\n");
}

static void keys_are_fields_or_numbers(void **state)
{
    (void)state;
    expect("x.ndjson", TEXT("{\"id\":\"p\",\"n\":1}\n{\"n\":2,\"id\":\"q\"}\n{\"id\":5}"),
           ",key=id", DATASET_ALL,
           "p {\"id\":\"p\",\"n\":1}\nq {\"n\":2,\"id\":\"q\"}\n5 {\"id\":5}\n");
    expect("x.csv", TEXT("id,n\nx,1\n"), ",key=id", DATASET_ALL, "x {\"id\":\"x\",\"n\":\"1\"}\n");
    expect("x.ndjson", TEXT("{\"id\":5.0}\n{\"id\":-7e2}"), ",key=id", DATASET_ALL,
           "5 {\"id\":5.0}\n-700 {\"id\":-700.0}\n");

    static const struct {
        const char *record, *error;
    } bad[] = {
        {"{\"n\":2}", "x.ndjson:1:1: no field 'id', which the key is to be"},
        {"{\"id\":null}", "x.ndjson:1:1: the key, field 'id', is null; it can be a text, a whole "
                          "number or an ObjectId"},
        {"{\"id\":[1]}", "x.ndjson:1:1: the key, field 'id', is an array; it can be a text, a "
                         "whole number or an ObjectId"},
        {"{\"id\":true}", "x.ndjson:1:1: the key, field 'id', is true; it can be a text, a whole "
                          "number or an ObjectId"},
        {"{\"id\":0.5}", "x.ndjson:1:1: the key, field 'id', is a number that is not whole"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect("x.ndjson", bad[i].record, strlen(bad[i].record), ",key=id", DATASET_ALL,
               bad[i].error);

    struct buffer text = {0};
    buffer_text(&text, "{\"id\":\"");
    for (size_t i = 0; i < FILE_KEY_MAX; i++)
        buffer_byte(&text, 'k');
    buffer_text(&text, "\"}\n");
    write_file("x.ndjson", text.data, text.length);
    char *got = read_all("file:x.ndjson,key=id", DATASET_ALL);
    assert_int_equal(strlen(got), 2 * FILE_KEY_MAX + strlen(" {\"id\":\"\"}\n"));
    free(got);
    text.length -= 3;
    buffer_text(&text, "k\"}\n");
    expect("x.ndjson", text.data, text.length, ",key=id", DATASET_ALL,
           "x.ndjson:1:1: the key, field 'id', is 65537 bytes long, and a key has 65536 at most");
    buffer_free(&text);
}

static void values_go_round_under_fresh_keys(void **state)
{
    (void)state;
    expect("x.ndjson", TEXT("{\"a\":1}\n{\"a\":2}"), "", 5,
           "record:0 {\"a\":1}\nrecord:1 {\"a\":2}\nrecord:2 {\"a\":1}\nrecord:3 {\"a\":2}\n"
           "record:4 {\"a\":1}\n");
    /* The field goes with the key. Numbers go on behind the largest, texts get the round's. */
    expect("x.ndjson", TEXT("{\"a\":7}\n{\"a\":-2}\n{\"a\":\"x\"}"), ",key=a", 7,
           "7 {\"a\":7}\n-2 {\"a\":-2}\nx {\"a\":\"x\"}\n"
           "17 {\"a\":17}\n8 {\"a\":8}\nx#2 {\"a\":\"x#2\"}\n27 {\"a\":27}\n");
    expect("x.ndjson", TEXT("{\"a\":1.0}"), ",key=a", 3,
           "1 {\"a\":1.0}\n2 {\"a\":2.0}\n3 {\"a\":3.0}\n");
    expect("x.ndjson", TEXT("{\"a\":9223372036854775807}\n{\"a\":0}"), ",key=a", 3,
           "no fresh key: field 'a' holds numbers from 0 to 9223372036854775807, and round 2 of "
           "them is past what it can hold; give 'numbered'");
    static const char oid[] = "\x16\0\0\0\x07_id\0"
                              "0123\0\0\0\0\xff"
                              "9ab"
                              "\0";
    expect("x.bson", TEXT(oid), "", 3,
           "3031323300000000ff396162 {\"_id\":{\"$oid\":\"3031323300000000ff396162\"}}\n"
           "303132330000000100396162 {\"_id\":{\"$oid\":\"303132330000000100396162\"}}\n"
           "303132330000000101396162 {\"_id\":{\"$oid\":\"303132330000000101396162\"}}\n");
}

static void bad_input_is_told_by_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        struct slice bytes;
        const char *options, *error;
    } cases[] = {
        {"x.ndjson",
         {TEXT("{\"a\":1}\n{\"a\":tru}\n{\"a\":3}\n")},
         "",
         "x.ndjson:2:6: 't' where a value should be"},
        {"x.ndjson",
         {TEXT("{\"a\":1}\n{\"a\":\"\xc3\xa9\xc3\xa9\",}\n")},
         "",
         "x.ndjson:2:11: '}' where a name in quotes should be"},
        {"x.ndjson",
         {TEXT("{\"a\":1}\r\n\r\n{\"a\":1\r\n")},
         "",
         "x.ndjson:3:7: the text ends where ',' or '}' should be; a record stands in one line of "
         "NDJSON"},
        {"x.ndjson",
         {TEXT("{\"a\":1}\n[1]\n")},
         "",
         "x.ndjson:2:1: an array, and a record is an object"},
        {"x.ndjson", {TEXT("5\n")}, "", "x.ndjson:1:1: a number, and a record is an object"},
        {"x.ndjson",
         {TEXT("\xef\xbb\xbf{\"a\":1}}\n")},
         "",
         "x.ndjson:1:8: '}' where the end should be"},
        {"x.ndjson", {TEXT("{\"a\":\"x\xff\"}\n")}, "", "x.ndjson:1:8: a byte that is no UTF-8"},
        {"x.ndjson",
         {TEXT("{\"a\":[9223372036854775808]}\n")},
         "",
         "x.ndjson:1:7: an integer past 64 bits"},
        {"x.ndjson",
         {TEXT("{\"a\":1e999}\n")},
         "",
         "x.ndjson:1:6: a real number past the largest, 1.8e308"},
        {"x.ndjson",
         {TEXT("{\"a\":1,\"b\":2,\"a\":3}\n")},
         "",
         "x.ndjson:1:1: the name 'a' stands twice in one object"},
        {"x.ndjson",
         {TEXT("{\"a\":\"\0\"}\n")},
         "",
         "x.ndjson:1:7: a control character in a string; JSON escapes it"},
        {"x.ndjson", {TEXT("")}, "", "'x.ndjson' is empty"},
        {"x.ndjson", {TEXT("\n \n")}, "", "'x.ndjson' holds no records"},
        {"x.ndjson",
         {TEXT("{\"k\":1}\n{\"k\":2}\n\n{\"k\":1}\n")},
         ",key=k",
         "x.ndjson:4:1: the key '1' stands in line 1 already"},
        {"x.ndjson",
         {TEXT("{\"k\":1}\n{\"k\":\"1\"}\n")},
         ",key=k",
         "x.ndjson:2:1: the key '1' stands in line 1 already"},

        {"x.json", {TEXT("[]")}, "", "'x.json' holds no records"},
        {"x.json",
         {TEXT("[\n {\"a\":1},\n {\"a\":\n nul}\n]")},
         "",
         "x.json:4:2: 'n' where a value should be"},
        {"x.json", {TEXT("[{\"a\":1},5]")}, "", "x.json:1:10: a number, and a record is an object"},
        {"x.json",
         {TEXT("[{\"a\":1}\n{\"a\":2}]")},
         "",
         "x.json:2:1: '{' where ',' or ']' should be"},
        {"x.json", {TEXT("[{\"a\":1},]")}, "", "x.json:1:10: ']' where a record should be"},
        {"x.json", {TEXT("[,{\"a\":1}]")}, "", "x.json:1:2: ',' where a record should be"},
        {"x.json",
         {TEXT("[{\"a\":1}")},
         "",
         "x.json:1:9: the file ends where ',' or ']' should be"},
        {"x.json",
         {TEXT("[{\"a\":1}] 5")},
         "",
         "x.json:1:11: '5' where the end of the file should be"},
        {"x.json",
         {TEXT("[{\"a\":1},\n{\"a\":[1,\"x}]")},
         "",
         "x.json:2:9: a string that is not closed"},
        {"x.json",
         {TEXT("[{\"a\":1},\n{\"a\":[1]")},
         "",
         "x.json:2:9: the text ends where ',' or '}' should be"},
        {"x.json",
         {TEXT("5")},
         ",format=json",
         "x.json:1:1: no JSON array: it begins with '['; take format=ndjson for an object a line"},

        {"x.csv", {TEXT("a,b\n1,2\n1\n")}, "", "x.csv:3:2: 1 field, and the header names 2"},
        {"x.csv", {TEXT("a,b\n1,2,3\n")}, "", "x.csv:2:5: more fields than the 2 of the header"},
        {"x.csv", {TEXT("a,b\n\"1\n1\",\"2\"x\n")}, "", "x.csv:3:7: text behind a closing quote"},
        {"x.csv",
         {TEXT("a,b\n1,x\"y\n")},
         "",
         "x.csv:2:4: a quote inside a field that does not begin with one"},
        {"x.csv",
         {TEXT("a,b\n1,\"x\n2,y\n")},
         "",
         "x.csv:2:1: a row with a quote that is not closed before the end of the file"},
        {"x.csv", {TEXT("a,a\n1,2\n")}, "", "x.csv:1:1: the header names the field 'a' twice"},
        {"x.csv", {TEXT("a,b\n1,\xff\n")}, "", "x.csv:2:3: a field that is no UTF-8"},
        {"x.csv", {TEXT("a,b\n")}, "", "'x.csv' holds no records"},
        {"x.csv", {TEXT("\n\r\n")}, "", "'x.csv' has no header"},
        {"x.csv",
         {TEXT("a,b\n1,2\n")},
         ",key=id",
         "x.csv:1:1: the header names no field 'id', which the key is to be"},
        {"x.csv",
         {TEXT("a,b\n1,2\n1,3")},
         ",key=a",
         "x.csv:3:1: the key '1' stands in line 2 already"},

        {"x.bson",
         {TEXT("\x0c\0\0\0\x10"
               "a\0\1\0\0\0\0"
               "\x0c\0\0\0\x10"
               "a\0")},
         ",numbered",
         "x.bson, record 2 at byte 12: cut short: 12 bytes are told of, 7 are there"},
        {"x.bson",
         {TEXT("\x0c\0")},
         ",numbered",
         "x.bson, record 1 at byte 0: cut short: 4 bytes are told of, 2 are there"},
        {"x.bson",
         {TEXT("\x04\0\0\0\0")},
         ",numbered",
         "x.bson, record 1 at byte 0: no BSON document: it would have 4 bytes"},
        {"x.bson",
         {TEXT("\x0c\0\0\0\x10"
               "a\0\1\0\0\0\0")},
         "",
         "x.bson, record 1 at byte 0: no field '_id', which the key is to be"},
        {"x.bson",
         {TEXT("\x0c\0\0\0\x20"
               "a\0\1\0\0\0\0")},
         ",numbered",
         "x.bson, record 1 at byte 0: malformed at byte 7 of 12"},
        {"x.bson",
         {TEXT("\x0c\0\0\0\x10"
               "a\0\1\0\0\0\0"
               "\x0c\0\0\0\x10"
               "a\0\1\0\0\0\0")},
         ",key=a",
         "x.bson, record 2 at byte 12: the key '1' stands in record 1 already"},

        {"x.ndjson",
         {TEXT("\x1f\x8b\x08\0")},
         "",
         "'x.ndjson' is compressed by gzip: gunzip -c FILE | tare ... -d -"},
        {"x.csv",
         {TEXT("\xff\xfe{\0")},
         "",
         "'x.csv' is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | tare ... -d -"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(cases[i].name, cases[i].bytes.bytes, cases[i].bytes.length, cases[i].options,
               DATASET_ALL, cases[i].error);

    struct buffer deep = {0};
    buffer_text(&deep, "{\"a\":1}\n{\"a\":");
    for (int i = 0; i < RECORD_DEPTH_MAX; i++)
        buffer_byte(&deep, '[');
    for (int i = 0; i < RECORD_DEPTH_MAX; i++)
        buffer_byte(&deep, ']');
    buffer_text(&deep, "}\n");
    expect("x.ndjson", deep.data, deep.length, "", DATASET_ALL,
           "x.ndjson:2:1005: nested deeper than 1000 levels");
    buffer_free(&deep);
}

static void paths_that_hold_no_file_are_told(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0755), 0);
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"file:none.ndjson", "cannot read 'none.ndjson': No such file or directory"},
        {"file:sub", "cannot read 'sub': Is a directory"},
        {"file:", "data set 'file:' needs a path: 'file:samples/data/people.ndjson,key=id'"},
        {"file", "data set 'file' needs a path: 'file:samples/data/people.ndjson,key=id'"},
        {"file:/proc/self/mem", "cannot read '/proc/self/mem': Input/output error"},
        {"file:sub,key=a,numbered",
         "data set 'file': 'key' and 'numbered' are both given; keys are a field or numbers"},
        {"file:sub,format=xml",
         "option 'format' of data set 'file' must be one of ndjson, json, csv, bson, not 'xml'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = read_all(cases[i].text, DATASET_ALL);
        assert_string_equal(got, cases[i].error);
        free(got);
    }
    assert_int_equal(rmdir("sub"), 0);
    if (geteuid() != 0) { /* root may read any file */
        write_file("x.ndjson", "{}", 2);
        assert_int_equal(chmod("x.ndjson", 0), 0);
        char *got = read_all("file:x.ndjson", DATASET_ALL);
        assert_string_equal(got, "cannot read 'x.ndjson': Permission denied");
        free(got);
        remove("x.ndjson");
    }
}

static char *notes_of(const struct dataset *dataset)
{
    struct buffer lines = {0};
    dataset_notes(dataset, &lines);
    return buffer_steal(&lines);
}

static void bad_records_are_left_out_and_counted(void **state)
{
    (void)state;
    static const char text[] =
        "{\"k\":1}\nnone\n{\"k\":2}\n{\"k\":1}\n[]\n{}\n{\"k\":3}\n{\"k\":2}\n";
    write_file("x.ndjson", TEXT(text));
    struct tare_error error = {0};
    struct dataset *dataset = dataset_open("file:x.ndjson,key=k,skip-bad", 1, &error);
    int64_t records = DATASET_ALL;
    assert_int_equal(dataset_prepare(dataset, &records, DATASET_CHECK, &error), 0);
    assert_int_equal(records, 3);
    struct buffer out = {0};
    assert_int_equal(read_records(dataset, 0, 5, &out, &error), 0);
    assert_int_equal(read_records(dataset, 1, 2, &out, &error), 0);
    assert_string_equal(out.data,
                        "1 {\"k\":1}\n2 {\"k\":2}\n3 {\"k\":3}\n4 {\"k\":4}\n5 {\"k\":5}\n"
                        "2 {\"k\":2}\n");
    char *notes = notes_of(dataset);
    assert_string_equal(
        notes, "3 bad records were left out; the first: x.ndjson:2:1: 'n' where a value should be\n"
               "2 records were left out, whose key stands before it\n");
    free(notes);
    dataset_close(dataset);

    /* A number of records is one of good ones. */
    dataset = dataset_open("file:x.ndjson,key=k,skip-bad", 1, &error);
    records = 2;
    assert_int_equal(dataset_prepare(dataset, &records, DATASET_KEYS, &error), 0);
    buffer_clear(&out);
    assert_int_equal(read_records(dataset, 0, 2, &out, &error), 0);
    assert_string_equal(out.data, "1 {\"k\":1}\n2 {\"k\":2}\n");
    dataset_close(dataset);
    buffer_free(&out);

    expect("x.csv", TEXT("a,b\n1\n1,2\n1,2,3\n"), ",skip-bad", DATASET_ALL,
           "record:0 {\"a\":\"1\",\"b\":\"2\"}\n");
    expect("x.json", TEXT("[1,{\"a\":1},{\"a\":tru},{\"b\":1}]"), ",skip-bad", DATASET_ALL,
           "record:0 {\"a\":1}\nrecord:1 {\"b\":1}\n");
    expect("x.ndjson", TEXT("nothing\nat all\n"), ",skip-bad", DATASET_ALL,
           "'x.ndjson' holds no records but bad ones");
    /* Where the next record begins can't be told. */
    expect("x.json", TEXT("[{\"a\":1},{\"a\":\"x}]"), ",skip-bad", DATASET_ALL,
           "x.json:1:15: a string that is not closed");
}

/* Any order gives what the order of the file gives; in a file so long that its places are thinned
 * out, whose records are longer than what is read at a time here and there. */
static void records_are_read_in_any_order(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    static const char *const ends[] = {"ndjson", "json", "csv"};
    char *pad = memory_new(700000);
    memset(pad, 'x', 700000 - 1);
    for (size_t f = 0; f < 3; f++) {
        char name[32], text[64];
        snprintf(name, sizeof name, "x.%s", ends[f]);
        snprintf(text, sizeof text, "file:%s%s", name, f == 2 ? ",numbers" : "");
        FILE *file = fopen(name, "w");
        fputs(f == 1 ? "[" : f == 2 ? "n,text\n" : "", file);
        for (int i = 0; i < COUNT; i++) {
            int length = i % 10000 == 5000 ? 699999 : i % 7;
            if (f == 2)
                fprintf(file, "%d,\"%.*s\n\"\n", i, length, pad);
            else
                fprintf(file, "%s{\"n\":%d,\"text\":\"%.*s\"}\n", f == 1 && i ? "," : "", i, length,
                        pad);
        }
        fputs(f == 1 ? "]" : "", file);
        assert_int_equal(fclose(file), 0);

        struct tare_error error = {0};
        struct dataset *dataset = dataset_open(text, 1, &error);
        struct arena arena = {0};
        struct record record;
        int64_t records = DATASET_ALL;
        assert_int_equal(dataset_prepare(dataset, &records, DATASET_COUNT, &error), 0);
        assert_int_equal(records, COUNT);
        struct random random = random_at(3, 0, 0);
        for (int i = 0; i < 2000; i++) {
            int64_t index = (int64_t)random_below(&random, 3 * COUNT);
            arena_reset(&arena);
            if (dataset_read(dataset, index, &arena, &record, &error))
                fail_msg("%s", error.message);
            assert_int_equal(record.fields[0].value.as.integer, index % COUNT);
        }
        const struct file *state_of_file = dataset->state;
        assert_true(state_of_file->index.stride > 1);
        assert_in_range(state_of_file->input.window.capacity, 0, 4 * 1024 * 1024);
        arena_free(&arena);
        dataset_close(dataset);
        remove(name);
    }
    free(pad);
}

static void long_records_have_a_limit(void **state)
{
    (void)state;
    static const char *const begins[] = {"{\"a\":\"", "[{\"a\":\"", "a\n\""};
    static const char *const names[] = {"x.ndjson", "x.json", "x.csv"};
    static const char *const places[] = {"x.ndjson:1:1", "x.json:1:2", "x.csv:2:1"};
    for (size_t i = 0; i < 3; i++) {
        write_file(names[i], begins[i], strlen(begins[i]));
        assert_int_equal(truncate(names[i], (off_t)(3 * FILE_RECORD_MAX)), 0);
        char *text = memory_format("file:%s", names[i]);
        char *got = read_all(text, DATASET_ALL);
        char *expected = memory_format("%s: a record of more than 64.0 MiB; is a quote, a bracket "
                                       "or a line's end missing?",
                                       places[i]);
        assert_string_equal(got, expected);
        free(got);
        free(expected);
        free(text);
        remove(names[i]);
    }
}

/* A pipe gives its bytes once: they are kept where they are needed again. */
static void pipes_are_read(void **state)
{
    (void)state;
    for (int streamed = 0; streamed < 2; streamed++) {
        int ends[2];
        char text[64];
        struct tare_error error = {0};
        struct buffer out = {0};
        assert_int_equal(pipe(ends), 0);
        snprintf(text, sizeof text, "file:/dev/fd/%d", ends[0]);
        assert_int_equal(write(ends[1], "{\"a\":1}\n{\"a\":2}\n", 16), 16);
        close(ends[1]);
        struct dataset *dataset = dataset_open(text, 1, &error);
        close(ends[0]);
        if (streamed) {
            struct arena arena = {0};
            struct record record;
            dataset->streamed = true;
            for (int64_t i = 0; i < 2; i++)
                assert_int_equal(dataset_read(dataset, i, &arena, &record, &error), 0);
            assert_int_equal(dataset_read(dataset, 2, &arena, &record, &error), DATASET_END);
            arena_free(&arena);
        } else {
            int64_t records = 3;
            assert_int_equal(dataset_prepare(dataset, &records, DATASET_CHECK, &error), 0);
            assert_int_equal(read_records(dataset, 0, records, &out, &error), 0);
            assert_string_equal(out.data, "record:0 {\"a\":1}\nrecord:1 {\"a\":2}\n"
                                          "record:2 {\"a\":1}\n");
        }
        char *notes = notes_of(dataset);
        assert_int_equal(strstr(notes, "is kept in a temporary file") != NULL, !streamed);
        free(notes);
        dataset_close(dataset);
        buffer_free(&out);
    }
}

struct found {
    int64_t count;
    int64_t numbers, firsts; /* sums */
};

static int count_twice(void *context, int64_t number, int64_t first, struct tare_error *error)
{
    struct found *found = context;
    (void)error;
    found->count++;
    found->numbers += number;
    found->firsts += first;
    return 0;
}

static void a_census_finds_all_that_stand_twice(void **state)
{
    (void)state;
    /* In memory, in one run and a half, in runs that are full. */
    static const int64_t counts[] = {1000, 400000, 524288, 600001};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        struct census census = {0};
        struct found found = {0}, expected = {0};
        struct tare_error error = {0};
        for (int64_t i = 0; i < counts[c]; i++) {
            /* Every 1,000th has the key of the one at a third of its place. */
            int64_t same = i && i % 1000 == 0 ? i / 3 : i;
            while (same && same % 1000 == 0 && same != i)
                same++;
            char key[32];
            int length = snprintf(key, sizeof key, "key number %lld", (long long)same);
            if (same != i) {
                expected.count++;
                expected.numbers += i;
                expected.firsts += same;
            }
            assert_int_equal(census_add(&census, slice_of(key, (size_t)length), i, &error), 0);
        }
        assert_int_equal(census_end(&census, count_twice, &found, &error), 0);
        assert_int_equal(found.count, expected.count);
        assert_int_equal(found.numbers, expected.numbers);
        assert_int_equal(found.firsts, expected.firsts);
        assert_int_equal(census.runs != NULL, counts[c] > 262144);
        census_free(&census);
    }
    /* What differs in its length or its last byte alone. */
    struct census census = {0};
    struct found found = {0};
    static const struct slice keys[] = {{"", 0},         {"\0", 1},         {"\0\0", 2},
                                        {"12345678", 8}, {"12345678\0", 9}, {"12345679", 8}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_int_equal(census_add(&census, keys[i], (int64_t)i, NULL), 0);
    assert_int_equal(census_end(&census, count_twice, &found, NULL), 0);
    assert_int_equal(found.count, 0);
    census_free(&census);
}

/* Where the _id is the key, it is the document's, as the value that it is. */
static int take_body(void *context, const struct object *object, struct tare_error *error)
{
    struct buffer *body = context;
    (void)error;
    buffer_clear(body);
    buffer_append(body, object->body.bytes, object->body.length);
    assert_int_equal(counted_sum(&object->counted), object->body.length);
    assert_int_equal(object->counted.key, object->key.length);
    return 0;
}

static void an_own_id_is_the_documents(void **state)
{
    (void)state;
    static const char *const jsons[] = {
        "{\"_id\":{\"$oid\":\"0123456789abcdef01234567\"},\"n\":5}", "{\"_id\":7,\"n\":\"x\"}",
        "{\"_id\":{\"$numberLong\":\"7\"},\"n\":null}", "{\"_id\":2.0,\"n\":{\"m\":1}}",
        "{\"_id\":\"text\",\"n\":true}"};
    static const char *const names[] = {"mongodb:document", "mongodb:document+short",
                                        "mongodb:blob+json", "mongodb:blob+bson+zstd"};
    for (size_t i = 0; i < sizeof jsons / sizeof jsons[0]; i++) {
        bson_error_t reason;
        bson_t *document = bson_new_from_json((const uint8_t *)jsons[i], -1, &reason);
        assert_non_null(document);
        write_file("x.bson", bson_get_data(document), document->len);
        for (size_t e = 0; e < sizeof names / sizeof names[0]; e++) {
            struct tare_error error = {0};
            struct dataset *dataset = dataset_open("file:x.bson", 1, &error);
            struct encoding *encoding = encoding_parse(names[e], &error);
            struct arena arena = {0};
            struct record record;
            struct buffer body = {0};
            bson_t made;
            bson_iter_t id, given;
            assert_int_equal(encoding_learn(encoding, dataset, 1, &error), 0);
            assert_int_equal(dataset_read(dataset, 0, &arena, &record, &error), 0);
            assert_int_equal(encoding_apply(encoding, &record, &arena, take_body, &body, &error),
                             0);
            assert_true(bson_init_static(&made, (uint8_t *)body.data, body.length));
            assert_true(bson_iter_init(&id, &made) && bson_iter_next(&id));
            assert_string_equal(bson_iter_key(&id), "_id");
            assert_true(bson_iter_init(&given, document) && bson_iter_next(&given));
            assert_int_equal(bson_iter_type(&id), bson_iter_type(&given));
            if (e == 0)
                assert_true(bson_equal(&made, document));
            buffer_free(&body);
            arena_free(&arena);
            encoding_free(encoding);
            dataset_close(dataset);
        }
        bson_destroy(document);
        remove("x.bson");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_read),
        cmocka_unit_test(keys_are_fields_or_numbers),
        cmocka_unit_test(values_go_round_under_fresh_keys),
        cmocka_unit_test(bad_input_is_told_by_its_place),
        cmocka_unit_test(paths_that_hold_no_file_are_told),
        cmocka_unit_test(bad_records_are_left_out_and_counted),
        cmocka_unit_test(records_are_read_in_any_order),
        cmocka_unit_test(long_records_have_a_limit),
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(a_census_finds_all_that_stand_twice),
        cmocka_unit_test(an_own_id_is_the_documents),
    };
    return cmocka_run_group_tests_name("data: files", tests, make_folder, remove_folder);
}

/* tare encode -d DATASET -e STEPS -o F: writes encoded records, one after another. */
#include <stdio.h>

#include "arguments.h"
#include "command.h"
#include "core/memory.h"
#include "core/output.h"
#include "data/dataset.h"
#include "encoders/encoding.h"
#include "stores/process.h"

extern const struct command command_encode;

static int encode_records(const struct arguments *arguments, struct encoding *encoding,
                          struct dataset *dataset, struct output *out, struct tare_error *error)
{
    struct arena arena = {0};
    int64_t count = arguments->selection.records;
    bool twice = dataset->key_named || encoding_table_count(encoding) != 0;
    if (count == DATASET_ALL && dataset->kind->survey && !twice)
        dataset->streamed = true; /* once through, standard input too */
    else if (dataset_prepare(dataset, &count, dataset->key_named ? DATASET_KEYS : DATASET_COUNT,
                             error))
        return -1;
    struct buffer framed = {0};
    int failed = 0;
    if (count != 0) {
        failed = encoding_learn(encoding, dataset, count, error) ||
                 encoding_frame_tables(encoding, &arena, &framed, error) ||
                 output_write(out, buffer_slice(&framed), error);
    }
    for (int64_t i = 0; !failed && (count == DATASET_ALL || i < count); i++) {
        struct record record = {0};
        struct slice bytes;
        struct counted counted;
        arena_reset(&arena);
        int read = dataset_read(dataset, i, &arena, &record, error);
        if (read == DATASET_END)
            break;
        failed = read || encoding_bytes(encoding, &record, &arena, &bytes, &counted, error) ||
                 process_check_interrupt(error);
        if (failed)
            break;
        buffer_clear(&framed);
        encoding_frame(encoding, bytes, &framed);
        failed = output_write(out, buffer_slice(&framed), error);
    }
    buffer_free(&framed);
    arena_free(&arena);
    return failed;
}

static int encode_to_file(const struct arguments *arguments, struct encoding *encoding,
                          struct dataset *dataset, struct tare_error *error)
{
    struct output out;
    int failed = output_open(&out, arguments->output ? arguments->output : "-", error) ||
                 encode_records(arguments, encoding, dataset, &out, error) ||
                 output_commit(&out, error);
    output_abandon(&out);
    return failed ? -1 : 0;
}

static int encode_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct encoding *encoding = NULL;
    struct dataset *dataset = NULL;
    int failed = arguments_parse(&arguments, "encode", ARGUMENTS_ENCODE, argc, argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_encode);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count)
        failed =
            error_set(error, TARE_USAGE, "encode takes no operand '%s'", arguments.operands[0]);
    if (!failed && arguments.selection.encoding_count != 1)
        failed = error_set(error, TARE_USAGE,
                           "encode takes one chain of steps: 'tare encode -d ycsb -e json'");
    if (!failed) {
        encoding = encoding_parse_steps(arguments.selection.encodings[0], error);
        failed = encoding ? 0 : -1;
    }
    if (!failed) {
        dataset =
            dataset_open(arguments.selection.dataset, (uint64_t)arguments.selection.seed, error);
        failed = dataset ? 0 : -1;
        if (dataset)
            dataset->interrupted = process_check_interrupt;
    }
    if (!failed)
        failed = encode_to_file(&arguments, encoding, dataset, error);
    if (!failed)
        arguments_print_notes(dataset);
    if (dataset)
        dataset_close(dataset);
    if (encoding)
        encoding_free(encoding);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_encode = {
    .name = "encode",
    .summary = "write encoded records to a file",
    .usage =
        "usage: tare encode -d DATASET -e STEPS [-n N] [-o FILE] [--seed S] [--skip-bad]\n\n"
        "  -d, --dataset D           NAME[:k=v,...], file:PATH or '-' (standard input)\n"
        "  -n, --records N           how many (100,000; of a file all)\n"
        "  -e, --encoding STEPS      json, msgpack, ...: 'tare list encodings' lists the steps\n"
        "  -o, --output FILE         (standard output); json: a record a line; else one after\n"
        "                            another; snappy and value: after their lengths, in 4 bytes,\n"
        "                            highest first: snappy's plain one and that of the block\n",
    .examples = "  tare encode -d file:people.csv -e json -o people.ndjson\n"
                "  tare encode -d ycsb -n 1000 -e json -o records.ndjson\n"
                "  tare encode -d ycsb -n 1000 -e msgpack -o records.msgpack\n",
    .run = encode_run,
};

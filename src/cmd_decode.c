/* tare decode -e STEPS [FILE] [-o F]: the inverse of encode. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "command.h"
#include "core/memory.h"
#include "core/output.h"
#include "encoders/encoding.h"
#include "stores/process.h"

extern const struct command command_decode;

/* What is read at a time, at least: as much again as is there already, so that finding the end of a
 * long record doesn't take time that grows with its square. */
#define PIECE ((size_t)256 * 1024)

struct input {
    const char *name; /* for messages */
    int descriptor;
    struct buffer bytes; /* read and not yet consumed, from `place` on */
    size_t place;
    int64_t consumed; /* bytes before them */
    bool last;        /* the file has no more */
};

static int read_more(struct input *input, struct tare_error *error)
{
    size_t kept = input->bytes.length - input->place;
    if (kept)
        memmove(input->bytes.data, input->bytes.data + input->place, kept);
    input->bytes.length = kept;
    input->place = 0;
    size_t wanted = kept > PIECE ? kept : PIECE;
    buffer_reserve(&input->bytes, wanted);
    /* What a pipe has is taken as it comes; a signal ends the wait for more. */
    ssize_t got;
    while ((got = read(input->descriptor, input->bytes.data + kept, wanted)) < 0 && errno == EINTR)
        if (process_check_interrupt(error))
            return -1;
    if (got < 0)
        return error_set(error, TARE_USAGE, "%s: %s", input->name, strerror(errno));
    input->bytes.length += (size_t)got;
    input->last = got == 0;
    return 0;
}

/* The next item of the stream, borrowed until the next call; without bytes where there is none
 * left. */
static int next_item(struct input *input, const struct encoding *encoding, struct slice *item,
                     struct tare_error *error)
{
    while (1) {
        struct slice rest =
            slice_of(input->bytes.data + input->place, input->bytes.length - input->place);
        size_t length = 0;
        *item = slice_of(NULL, 0);
        if (rest.length == 0 && input->last)
            return 0;
        if (rest.length && encoding_unframe(encoding, rest, input->last, item, &length, error))
            return error_prefix(error, "%s, byte %lld", input->name, (long long)input->consumed);
        input->place += length;
        input->consumed += (int64_t)length;
        if (length && item->bytes)
            return 0;
        if (!length && read_more(input, error))
            return -1;
    }
}

/* What the steps learned when the records were encoded stands before them. */
static int load_tables(struct input *input, struct encoding *encoding, struct arena *arena,
                       struct tare_error *error)
{
    for (size_t i = 0; i < encoding_table_count(encoding); i++) {
        struct slice item;
        if (next_item(input, encoding, &item, error))
            return -1;
        if (!item.bytes)
            return 0; /* no records at all */
        if (encoding_load_table(encoding, i, item, arena, error))
            return error_prefix(error, "%s", input->name);
    }
    return 0;
}

static int decode_records(struct input *input, struct encoding *from, struct encoding *to,
                          struct output *out, struct tare_error *error)
{
    struct arena arena = {0};
    struct buffer framed = {0};
    int failed = load_tables(input, from, &arena, error);
    for (int64_t number = 1; !failed; number++) {
        struct record record;
        struct slice item, bytes;
        struct counted counted;
        arena_reset(&arena);
        int64_t begin = input->consumed;
        failed = next_item(input, from, &item, error);
        if (failed || !item.bytes)
            break;
        failed = encoding_undo(from, item, &arena, &record, error) ||
                 encoding_bytes(to, &record, &arena, &bytes, &counted, error);
        if (failed) {
            error_prefix(error, "%s, record %lld at byte %lld", input->name, (long long)number,
                         (long long)begin);
            break;
        }
        buffer_clear(&framed);
        encoding_frame(to, bytes, &framed);
        failed = output_write(out, buffer_slice(&framed), error) || process_check_interrupt(error);
        if (failed)
            break;
    }
    buffer_free(&framed);
    arena_free(&arena);
    return failed;
}

static int decode_file(const struct arguments *arguments, struct encoding *from,
                       struct encoding *to, struct tare_error *error)
{
    const char *path = arguments->operand_count ? arguments->operands[0] : "-";
    bool named = strcmp(path, "-") != 0;
    struct input input = {.name = named ? path : "standard input",
                          .descriptor = named ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO};
    struct output out;
    if (input.descriptor < 0)
        return error_set(error, TARE_USAGE, "cannot read '%s': %s", path, strerror(errno));
    int failed = output_open(&out, arguments->output ? arguments->output : "-", error) ||
                 decode_records(&input, from, to, &out, error) || output_commit(&out, error);
    output_abandon(&out);
    buffer_free(&input.bytes);
    if (named)
        close(input.descriptor);
    return failed ? -1 : 0;
}

static int decode_run(int argc, char **argv, struct tare_error *error)
{
    struct arguments arguments;
    struct encoding *from = NULL, *to = NULL;
    int failed = arguments_parse(&arguments, "decode", ARGUMENTS_DECODE, argc, argv, error);
    if (!failed && arguments.help) {
        command_print_help(&command_decode);
        arguments_free(&arguments);
        return TARE_OK;
    }
    if (!failed && arguments.operand_count > 1)
        failed = error_set(error, TARE_USAGE, "decode takes one file, not '%s' too",
                           arguments.operands[1]);
    if (!failed && arguments.selection.encoding_count != 1)
        failed = error_set(error, TARE_USAGE,
                           "decode takes one chain of steps: 'tare decode -e json+zstd FILE'");
    if (!failed) {
        from = encoding_parse_steps(arguments.selection.encodings[0], error);
        to = from ? encoding_parse_steps(arguments.to ? arguments.to : "json", error) : NULL;
        if (to && encoding_table_count(to))
            failed = error_set(error, TARE_USAGE,
                               "--to '%s' learns from the records beforehand, which decode sees "
                               "one at a time",
                               to->text);
        else
            failed = to ? decode_file(&arguments, from, to, error) : -1;
    }
    encoding_free(from);
    encoding_free(to);
    arguments_free(&arguments);
    return failed ? (int)error->status : TARE_OK;
}

const struct command command_decode = {
    .name = "decode",
    .summary = "read encoded records back, the inverse of encode",
    .usage = "usage: tare decode -e STEPS [FILE] [-o FILE] [--to STEPS]\n\n"
             "  FILE                      what encode wrote with the same steps (standard input)\n"
             "  -e, --encoding STEPS      json, msgpack+zstd, ...: 'tare list encodings' lists the "
             "steps\n"
             "  -o, --output FILE         (standard output)\n"
             "      --to STEPS            how the records are written (json: a record a line)\n",
    .examples = "  tare decode -e msgpack+zstd records.zst -o records.ndjson\n"
                "  tare encode -d player -e cbor | tare decode -e cbor --to bson -o players.bson\n",
    .run = decode_run,
};

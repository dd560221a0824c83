/* The records of the Yahoo! Cloud Serving Benchmark, in the format of its
 * CoreWorkload, version 0.17.0 (site.ycsb:core): keys byte for byte; field
 * names, number and order of the fields; lengths and characters of the values
 * drawn as there, from a stream of tare's own (there they differ on each run). */
#include <endian.h>
#include <stdlib.h>

#include "core/random.h"
#include "data/dataset.h"
#include "data/zipfian.h"

enum ycsb_order { YCSB_HASHED, YCSB_ORDERED };
enum ycsb_lengths { YCSB_CONSTANT, YCSB_UNIFORM, YCSB_ZIPFIAN };

static const char *const order_names[] = {"hashed", "ordered", NULL};
static const char *const lengths_names[] = {"constant", "uniform", "zipfian", NULL};

#define YCSB_FIELDS_MAX  10000
#define YCSB_LENGTH_MAX  (64 * 1024 * 1024)
#define YCSB_RECORD_MAX  (512 * 1024 * 1024) /* what Redis takes as one string by default */
#define YCSB_PADDING_MAX 1000

struct ycsb {
    int64_t field_count, field_length, field_length_least;
    int lengths; /* enum ycsb_lengths */
    char *field_prefix;
    int order; /* enum ycsb_order */
    int64_t zero_padding, insert_start;

    struct slice *field_names; /* in one block with their bytes */
    struct zipfian zipfian;
};

static const struct option_spec ycsb_options[] = {
    {"fieldcount", OPTION_INTEGER, offsetof(struct ycsb, field_count), 1, YCSB_FIELDS_MAX, NULL,
     "fields of a record (10)"},
    {"fieldlength", OPTION_INTEGER, offsetof(struct ycsb, field_length), 0, YCSB_LENGTH_MAX, NULL,
     "bytes of a value, or the most of them (100)"},
    {"fieldlengthdistribution", OPTION_CHOICE, offsetof(struct ycsb, lengths), 0, 0, lengths_names,
     "how lengths are drawn (constant)"},
    {"minfieldlength", OPTION_INTEGER, offsetof(struct ycsb, field_length_least), 0,
     YCSB_LENGTH_MAX, NULL, "least bytes of a value, where lengths are drawn (1)"},
    {"fieldnameprefix", OPTION_TEXT, offsetof(struct ycsb, field_prefix), 0, 0, NULL,
     "what stands before a field's number (field)"},
    {"insertorder", OPTION_CHOICE, offsetof(struct ycsb, order), 0, 0, order_names,
     "whether keys are hashes of the record's number or the number (hashed)"},
    {"zeropadding", OPTION_INTEGER, offsetof(struct ycsb, zero_padding), 1, YCSB_PADDING_MAX, NULL,
     "least digits of a key (1)"},
    {"insertstart", OPTION_INTEGER, offsetof(struct ycsb, insert_start), 0, INT32_MAX, NULL,
     "number of the first record (0)"},
    {0}};

static void ycsb_defaults(void *state)
{
    struct ycsb *ycsb = state;
    ycsb->field_count = 10;
    ycsb->field_length = 100;
    ycsb->field_length_least = 1;
    ycsb->field_prefix = memory_text("field");
    ycsb->zero_padding = 1;
}

static int ycsb_open(struct dataset *dataset, struct tare_error *error)
{
    struct ycsb *ycsb = dataset->state;
    if (ycsb->lengths != YCSB_CONSTANT && ycsb->field_length_least > ycsb->field_length)
        return error_set(error, TARE_USAGE,
                         "data set 'ycsb': minfieldlength %lld is more than fieldlength %lld",
                         (long long)ycsb->field_length_least, (long long)ycsb->field_length);
    if (ycsb->field_count * ycsb->field_length > YCSB_RECORD_MAX)
        return error_set(error, TARE_USAGE,
                         "data set 'ycsb': fieldcount %lld x fieldlength %lld is more than 512 MiB "
                         "a record",
                         (long long)ycsb->field_count, (long long)ycsb->field_length);
    if (ycsb->lengths == YCSB_ZIPFIAN)
        ycsb->zipfian = zipfian_over(ycsb->field_length - ycsb->field_length_least + 1);

    size_t count = (size_t)ycsb->field_count;
    size_t name_size = strlen(ycsb->field_prefix) + sizeof "9999";
    ycsb->field_names = memory_new(count * (sizeof(struct slice) + name_size));
    char *names = (char *)(ycsb->field_names + count);
    for (size_t i = 0; i < count; i++, names += name_size) {
        char *name = memory_format("%s%zu", ycsb->field_prefix, i);
        size_t length = strlen(name);
        memcpy(names, name, length + 1);
        ycsb->field_names[i] = slice_of(names, length);
        free(name);
    }
    return 0;
}

static struct slice ycsb_key(const struct dataset *dataset, int64_t index, struct arena *arena)
{
    const struct ycsb *ycsb = dataset->state;
    int64_t number = ycsb->insert_start + index;
    if (ycsb->order == YCSB_HASHED)
        number = ycsb_hash(number);
    struct value value = {.type = VALUE_INTEGER, .as.integer = number};
    struct slice digits = value_text(&value, arena);
    size_t padding =
        digits.length < (size_t)ycsb->zero_padding ? (size_t)ycsb->zero_padding - digits.length : 0;
    char *key = arena_take(arena, 4 + padding + digits.length);
    memcpy(key, "user", 4);
    memset(key + 4, '0', padding);
    memcpy(key + 4 + padding, digits.bytes, digits.length);
    return slice_of(key, 4 + padding + digits.length);
}

/* Six characters from 32 random bits, as YCSB's RandomByteIterator makes them:
 *
 *   character     0    1    2    3    4    5
 *   from bit      0    5   10   15   20   25
 *   mask         31   63   95   31   63   95     and a space is added
 *
 * so that neighbours share a bit, and 127 occurs. Here all six are made at once: character k lies
 * 5 k bits up in the draw and 8 k up in the word, whose first byte is the lowest. */
#define YCSB_GROUP 6
static uint64_t six_characters(uint64_t bits)
{
    return ((bits & 31) | (bits << 3 & UINT64_C(63) << 8) | (bits << 6 & UINT64_C(95) << 16) |
            (bits << 9 & UINT64_C(31) << 24) | (bits << 12 & UINT64_C(63) << 32) |
            (bits << 15 & UINT64_C(95) << 40)) +
           UINT64_C(0x202020202020);
}

/* A draw makes two groups; each is stored as eight bytes, the last two of which
 * the next overwrites: up to this many bytes after the value are written. */
#define YCSB_OVERRUN 16
static void fill_value(struct random *random, char *out, size_t length)
{
    for (size_t place = 0; place < length; place += 2 * YCSB_GROUP) {
        uint64_t draw = random_next(random);
        uint64_t first = htole64(six_characters(draw & UINT32_MAX));
        uint64_t second = htole64(six_characters(draw >> 32));
        memcpy(out + place, &first, sizeof first);
        memcpy(out + place + YCSB_GROUP, &second, sizeof second);
    }
}

static size_t draw_length(const struct ycsb *ycsb, struct random *random)
{
    switch (ycsb->lengths) {
    case YCSB_UNIFORM:
        return (size_t)(ycsb->field_length_least +
                        (int64_t)random_below(
                            random, (uint64_t)(ycsb->field_length - ycsb->field_length_least + 1)));
    case YCSB_ZIPFIAN:
        return (size_t)(ycsb->field_length_least + zipfian_draw(&ycsb->zipfian, random));
    default:
        return (size_t)ycsb->field_length;
    }
}

static int ycsb_read(struct dataset *dataset, int64_t index, struct arena *arena,
                     struct record *record, struct tare_error *error)
{
    (void)error;
    const struct ycsb *ycsb = dataset->state;
    size_t count = (size_t)ycsb->field_count;
    *record = (struct record){
        .key = ycsb_key(dataset, index, arena),
        .fields = arena_take(arena, count * sizeof *record->fields),
        .field_count = count,
    };
    for (size_t i = 0; i < count; i++) {
        struct random random = random_at(dataset->seed, index, i);
        size_t length = draw_length(ycsb, &random);
        char *bytes = arena_take(arena, length + YCSB_OVERRUN);
        fill_value(&random, bytes, length);
        record->fields[i] = (struct member){
            ycsb->field_names[i], {.type = VALUE_BYTES, .as.text = slice_of(bytes, length)}};
    }
    return 0;
}

static char *ycsb_describe(const struct dataset *dataset)
{
    const struct ycsb *ycsb = dataset->state;
    const char *fields = ycsb->field_count == 1 ? "field" : "fields";
    if (ycsb->lengths == YCSB_CONSTANT)
        return memory_format("%lld %s x %lld bytes", (long long)ycsb->field_count, fields,
                             (long long)ycsb->field_length);
    return memory_format("%lld %s x %lld to %lld bytes (%s)", (long long)ycsb->field_count, fields,
                         (long long)ycsb->field_length_least, (long long)ycsb->field_length,
                         lengths_names[ycsb->lengths]);
}

static void ycsb_close(struct dataset *dataset)
{
    struct ycsb *ycsb = dataset->state;
    free(ycsb->field_names);
}

const struct dataset_kind dataset_ycsb = {
    .name = "ycsb",
    .summary = "records of the Yahoo! Cloud Serving Benchmark: fields of random characters",
    .example = "ycsb:fieldcount=10,fieldlength=100",
    .options = ycsb_options,
    .state_size = sizeof(struct ycsb),
    .defaults = ycsb_defaults,
    .open = ycsb_open,
    .read = ycsb_read,
    .key = ycsb_key,
    .close = ycsb_close,
    .describe = ycsb_describe,
};

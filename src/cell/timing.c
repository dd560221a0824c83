#include "cell/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* A round takes so many of the sample's records, or as many as make up so many bytes of values; a
 * sample of fewer is gone through more often in a round. */
#define ROUND_RECORDS 200
#define ROUND_BYTES   (128 * 1024)
#define ROUNDS        7
/* Processor time after which no further round is begun. */
#define ENOUGH_NANOSECONDS 100e6

static double thread_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct timed {
    struct encoding *encoding;
    const struct sample *sample;
    int64_t records;        /* the first so many of the sample */
    struct arena arena;     /* of one record */
    struct object *objects; /* a record each, to be decoded */
    struct arena encoded;   /* that holds them */
};

static int take_nothing(void *context, const struct object *object, struct tare_error *error)
{
    (void)context;
    (void)object;
    (void)error;
    return 0;
}

static int encode(struct timed *timed, int64_t place)
{
    struct tare_error ignored;
    return encoding_apply(timed->encoding, sample_record(timed->sample, place), &timed->arena,
                          take_nothing, NULL, &ignored);
}

static int decode(struct timed *timed, int64_t place)
{
    struct tare_error ignored;
    struct record record;
    return encoding_read(timed->encoding, &timed->objects[place],
                         sample_record(timed->sample, place), &timed->arena, &record, &ignored);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds a record of what `work` does with one. */
static double median(struct timed *timed, int (*work)(struct timed *, int64_t))
{
    double rounds[ROUNDS], begin = thread_nanoseconds();
    int64_t times = (ROUND_RECORDS + timed->records - 1) / timed->records;
    size_t count = 0;
    for (int64_t i = 0; i < timed->records; i++) {
        arena_reset(&timed->arena);
        if (work(timed, i))
            return 0;
    }
    /* One that took long already is not gone through so often. */
    if ((thread_nanoseconds() - begin) * (double)times * ROUNDS > ENOUGH_NANOSECONDS)
        times = 1;
    do {
        double before = thread_nanoseconds();
        for (int64_t i = 0; i < times * timed->records; i++) {
            arena_reset(&timed->arena);
            work(timed, i % timed->records);
        }
        rounds[count++] =
            (thread_nanoseconds() - before) / ((double)times * (double)timed->records);
    } while (count < ROUNDS && thread_nanoseconds() - begin < ENOUGH_NANOSECONDS);
    qsort(rounds, count, sizeof *rounds, compare);
    return round(rounds[count / 2] * 10) / 10; /* finer ones mean nothing */
}

/* Takes the first object of a record, which holds it: of others only the key is in an index. */
static int take_object(void *context, const struct object *object, struct tare_error *error)
{
    struct object *taken = context;
    (void)error;
    if (!taken->key.bytes)
        *taken = *object;
    return 0;
}

/* Encodes what is decoded then; false where that can't be. */
static bool prepare_decoding(struct timed *timed)
{
    struct tare_error ignored;
    timed->objects = memory_new((size_t)timed->records * sizeof *timed->objects);
    for (int64_t i = 0; i < timed->records; i++)
        if (encoding_apply(timed->encoding, sample_record(timed->sample, i), &timed->encoded,
                           take_object, &timed->objects[i], &ignored))
            return false;
    return true;
}

void timing_measure(struct encoding *encoding, const struct sample *sample, double *encode_time,
                    double *decode_time)
{
    struct timed timed = {.encoding = encoding, .sample = sample};
    int64_t bytes = 0;
    *encode_time = *decode_time = 0;
    while (timed.records < sample_count(sample) && timed.records < ROUND_RECORDS &&
           bytes < ROUND_BYTES) {
        const struct record *record = sample_record(sample, timed.records++);
        for (size_t i = 0; i < record->field_count; i++)
            bytes += value_text_length(&record->fields[i].value);
    }
    if (timed.records) {
        *encode_time = median(&timed, encode);
        if (!encoding->shape->read_in_place && prepare_decoding(&timed))
            *decode_time = median(&timed, decode);
    }
    free(timed.objects);
    arena_free(&timed.arena);
    arena_free(&timed.encoded);
}

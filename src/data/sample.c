#include "data/sample.h"

#include <stdlib.h>

/* Enough for a median, and for a share to a per cent or so. */
#define RECORDS_MOST 1000
#define BYTES_MOST   (4 * 1024 * 1024)

struct sample {
    struct dataset dataset; /* what sample_dataset() gives */
    struct dataset_kind kind;
    int64_t records; /* that it stands for */
    struct arena arena;
    struct record *items; /* RECORDS_MOST places */
    int64_t count, offered;
    int64_t stride; /* every so many-th record is taken */
    int64_t bytes;
};

static int sample_read(struct dataset *dataset, int64_t index, struct arena *arena,
                       struct record *record, struct tare_error *error)
{
    const struct sample *sample = dataset->state;
    (void)arena;
    (void)error;
    /* Index floor(i x records / count) is the sample's record i, up to there from i - 1. */
    __int128 scaled = (__int128)index * sample->count + sample->records - 1;
    int64_t place = (int64_t)(scaled / sample->records);
    *record = sample->items[place < sample->count ? place : sample->count - 1];
    return 0;
}

struct sample *sample_open(const struct dataset *of, int64_t expected)
{
    struct sample *sample = memory_new(sizeof *sample);
    sample->kind = *of->kind;
    sample->kind.read = sample_read;
    sample->kind.survey = NULL;
    sample->kind.notes = NULL;
    sample->dataset = *of;
    sample->dataset.kind = &sample->kind;
    sample->dataset.state = sample;
    sample->items = memory_new(RECORDS_MOST * sizeof *sample->items);
    sample->stride = expected > RECORDS_MOST ? (expected + RECORDS_MOST - 1) / RECORDS_MOST : 1;
    return sample;
}

/* Memory that a copy takes, about. */
static int64_t members_bytes(const struct member *members, size_t count)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const struct value *value = &members[i].value;
        bytes += (int64_t)(sizeof *members + members[i].name.length);
        if (value->type == VALUE_TEXT || value->type == VALUE_BYTES)
            bytes += (int64_t)value->as.text.length;
        else if (value->type == VALUE_ARRAY || value->type == VALUE_OBJECT)
            bytes += members_bytes(value->as.children.items, value->as.children.count);
    }
    return bytes;
}

static int64_t record_bytes(const struct record *record)
{
    return (int64_t)record->key.length + members_bytes(record->fields, record->field_count);
}

/* Leaves every second record out. */
static void thin(struct sample *sample)
{
    struct arena arena = {0};
    int64_t kept = 0;
    sample->bytes = 0;
    for (int64_t i = 0; i < sample->count; i += 2) {
        sample->items[kept] = record_copy(&sample->items[i], &arena);
        sample->bytes += record_bytes(&sample->items[kept++]);
    }
    arena_free(&sample->arena);
    sample->arena = arena;
    sample->count = kept;
    sample->stride *= 2;
}

void sample_offer(struct sample *sample, const struct record *record)
{
    if (sample->offered++ % sample->stride)
        return;
    int64_t bytes = record_bytes(record);
    while (sample->count > 1 &&
           (sample->count == RECORDS_MOST || sample->bytes + bytes > BYTES_MOST)) {
        thin(sample);
        if ((sample->offered - 1) % sample->stride)
            return;
    }
    sample->items[sample->count++] = record_copy(record, &sample->arena);
    sample->bytes += bytes;
}

int64_t sample_count(const struct sample *sample)
{
    return sample->count;
}

const struct record *sample_record(const struct sample *sample, int64_t place)
{
    return &sample->items[place];
}

struct dataset *sample_dataset(struct sample *sample, int64_t records)
{
    sample->records = records;
    return &sample->dataset;
}

void sample_free(struct sample *sample)
{
    if (!sample)
        return;
    arena_free(&sample->arena);
    free(sample->items);
    free(sample);
}

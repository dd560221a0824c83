/* Blocks a few bytes over a size class: how many bytes less would put them into
 * the class below, and what that would save. Tried out on the model, so that
 * whatever else a length decides (a header's size, an embedded string) counts
 * too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell/advice.h"
#include "core/memory.h"
#include "core/units.h"

/* Records that are tried, with each length: more tell nothing new. */
#define RECORDS_TRIED 128
#define CUTS_TRIED    64
/* So many bytes are tried as are a sixteenth of a value, or a hundredth of a long one. */
#define CUT_SHARE      16
#define CUT_SHARE_LONG 100
#define CUT_LEAST      2
/* What is saved must be so many times what is cut off. */
#define WORTH 4

enum cut { CUT_ALL, CUT_EACH }; /* from the body, or the longest value; from each value */

struct tried {
    struct object *objects;
    size_t count, capacity;
    struct arena arena;
    int64_t records;
};

static int keep(void *context, const struct object *object, struct tare_error *error)
{
    struct tried *tried = context;
    (void)error;
    MEMORY_GROW(tried->objects, tried->count, tried->capacity);
    struct object *kept = &tried->objects[tried->count++];
    *kept = *object;
    kept->key = slice_of(arena_copy(&tried->arena, object->key.bytes, object->key.length),
                         object->key.length);
    size_t size = object->element_count * sizeof *object->elements;
    if (size)
        kept->elements = memcpy(arena_take(&tried->arena, size), object->elements, size);
    return 0;
}

static bool is_cut(const struct object *object)
{
    return !object->shared && !object->batch && !object->once;
}

static struct element *longest_value(struct element *elements, size_t count)
{
    struct element *longest = elements;
    for (size_t i = 1; i < count; i++)
        if (elements[i].value.length > longest->value.length)
            longest = &elements[i];
    return longest;
}

static int64_t shorten(struct slice *slice, int64_t bytes)
{
    int64_t length = (int64_t)slice->length, less = bytes < length ? bytes : length;
    slice->length -= (size_t)less;
    return less;
}

/* The object with so many bytes less; elements is room for its elements. Returns how many went. */
static int64_t cut_object(struct object *object, struct element *elements, enum cut cut,
                          int64_t bytes)
{
    int64_t gone = 0;
    if (object->element_count == 0) {
        gone = shorten(&object->body, bytes);
    } else {
        memcpy(elements, object->elements, object->element_count * sizeof *elements);
        object->elements = elements;
        if (cut == CUT_ALL)
            gone = shorten(&longest_value(elements, object->element_count)->value, bytes);
        for (size_t i = 0; cut == CUT_EACH && i < object->element_count; i++)
            gone += shorten(&elements[i].value, bytes);
    }
    object->counted.values -= gone;
    return gone;
}

/* Predicts all records with objects that are `bytes` shorter; *gone: bytes a record. */
static bool predict(const struct advising *advising, const struct tried *tried, enum cut cut,
                    int64_t bytes, struct prediction *prediction, double *gone)
{
    const struct advice_question *question = advising->question;
    int64_t records = question->request->selection->records, cut_off = 0;
    struct tare_error ignored;
    struct counted counted = {0};
    size_t most = 1;
    struct model *model = model_open(question->build, question->settings, &ignored);
    if (!model)
        return false;
    for (size_t i = 0; i < tried->count; i++)
        if (tried->objects[i].element_count > most)
            most = tried->objects[i].element_count;
    struct element *elements = memory_new(most * sizeof *elements);
    bool good = true;
    for (size_t i = 0; good && i < tried->count; i++) {
        struct object object = tried->objects[i];
        if (bytes && is_cut(&object))
            cut_off += cut_object(&object, elements, cut, bytes);
        counted_add(&counted, &object.counted);
        good = model->kind->add(model, &object, &ignored) == 0;
    }
    corridor_scale_counted(&counted, tried->records, records);
    good = good && model->kind->predict(model, tried->records, records, counted_sum(&counted),
                                        question->inputs, prediction, &ignored) == 0;
    *gone = (double)cut_off / (double)tried->records;
    free(elements);
    model_close(model);
    return good;
}

/* Mean length of what is cut. */
static double mean_length(const struct tried *tried, enum cut cut)
{
    double bytes = 0, count = 0;
    for (size_t i = 0; i < tried->count; i++) {
        const struct object *object = &tried->objects[i];
        if (!is_cut(object))
            continue;
        if (object->element_count == 0)
            bytes += (double)object->body.length;
        else if (cut == CUT_ALL)
            bytes += (double)longest_value(object->elements, object->element_count)->value.length;
        for (size_t j = 0; cut == CUT_EACH && j < object->element_count; j++)
            bytes += (double)object->elements[j].value.length;
        count += cut == CUT_EACH && object->element_count ? (double)object->element_count : 1;
    }
    return count > 0 ? bytes / count : 0;
}

struct cliff {
    enum cut cut;
    int64_t bytes;
    double saved, saved_resident, worth; /* a record */
    int64_t class;                       /* where blocks come into */
    double moved;                        /* blocks a record that do */
    double gone;                         /* blocks a record that are not there any more */
};

/* Counts of blocks by what they occupy: which class gained most. */
static void find_class(const struct prediction *before, const struct prediction *after,
                       double records, struct cliff *cliff)
{
    cliff->moved = 0;
    for (size_t i = 0; i < after->blocks.class_size; i++) {
        const struct block_class *class = &after->blocks.classes[i];
        double gained = 0;
        if (!class->kind)
            continue;
        for (size_t j = 0; j < after->blocks.class_size; j++)
            if (after->blocks.classes[j].kind && after->blocks.classes[j].usable == class->usable)
                gained += after->blocks.classes[j].count;
        for (size_t j = 0; j < before->blocks.class_size; j++)
            if (before->blocks.classes[j].kind && before->blocks.classes[j].usable == class->usable)
                gained -= before->blocks.classes[j].count;
        if (gained / records > cliff->moved) {
            cliff->moved = gained / records;
            cliff->class = class->usable;
        }
    }
}

static void search(const struct advising *advising, const struct tried *tried, enum cut cut,
                   struct cliff *best)
{
    double records = (double)advising->question->request->selection->records, gone;
    double mean = mean_length(tried, cut);
    double most = mean / CUT_SHARE < CUTS_TRIED ? mean / CUT_SHARE : CUTS_TRIED;
    struct prediction before = {0};
    if (most < CUT_LEAST)
        most = CUT_LEAST;
    if (most < mean / CUT_SHARE_LONG)
        most = mean / CUT_SHARE_LONG;
    int64_t step = most > CUTS_TRIED ? (int64_t)(most / CUTS_TRIED) : 1;
    bool good = predict(advising, tried, cut, 0, &before, &gone);
    for (int64_t bytes = 1; good && (double)bytes <= most; bytes += step) {
        struct prediction after = {0};
        good = predict(advising, tried, cut, bytes, &after, &gone);
        double saved = (double)(before.allocated - after.allocated) / records;
        double worth = saved - WORTH * gone;
        if (good && worth > best->worth) {
            *best = (struct cliff){.cut = cut,
                                   .bytes = bytes,
                                   .saved = saved,
                                   .saved_resident =
                                       (double)(before.resident - after.resident) / records,
                                   .worth = worth};
            find_class(&before, &after, records, best);
            best->gone = (before.blocks.block_count - after.blocks.block_count) / records;
        }
        prediction_free(&after);
    }
    prediction_free(&before);
}

static void advise(const struct advising *advising, const struct tried *tried,
                   const struct cliff *cliff)
{
    struct advice_weight other = {
        .allocated = advising->weight.allocated - cliff->saved,
        .resident = advising->weight.resident - cliff->saved_resident,
    };
    const char *bytes = cliff->bytes == 1 ? "byte" : "bytes";
    char class[UNITS_SIZE], saved[UNITS_SIZE], percent[UNITS_SIZE];
    double parts = 0;
    if (cliff->saved <= 0 || advice_share(advising, &other) < ADVICE_SHARE_LEAST)
        return;
    for (size_t i = 0; i < tried->count; i++)
        if (is_cut(&tried->objects[i]))
            parts += cliff->cut == CUT_EACH && tried->objects[i].element_count
                         ? (double)tried->objects[i].element_count
                         : 1;
    /* An embedded string, a packed hash: another form, of fewer blocks. */
    bool fewer = cliff->gone >= cliff->moved / 2;
    double share = cliff->moved * (double)tried->records / parts;
    const char *whose = cliff->cut == CUT_EACH ? "each value is " : "";
    char over[64] = "too long for a form of fewer blocks";
    units_decimal(saved, cliff->saved, 1);
    if (!fewer)
        snprintf(over, sizeof over, "over size class %s", units_count(class, cliff->class));
    if (fewer || share >= 0.995)
        advice_add(advising, "size class", NULL, &other, "%s%lld %s %s: %s bytes a record wasted",
                   whose, (long long)cliff->bytes, bytes, over, saved);
    else
        advice_add(advising, "size class", NULL, &other,
                   "%s of the %s are up to %lld %s %s: %s bytes a record wasted",
                   units_percent(percent, share, 0), cliff->cut == CUT_EACH ? "values" : "records",
                   (long long)cliff->bytes, bytes, over, saved);
}

static void consider(const struct advising *advising)
{
    struct tried tried = {0};
    struct cliff best = {0};
    bool elements = false;
    tried.records = advice_objects(advising, &tried.arena, RECORDS_TRIED, keep, &tried);
    for (size_t i = 0; i < tried.count; i++)
        elements = elements || (is_cut(&tried.objects[i]) && tried.objects[i].element_count > 1);
    if (tried.records) {
        search(advising, &tried, CUT_ALL, &best);
        if (elements)
            search(advising, &tried, CUT_EACH, &best);
        advise(advising, &tried, &best);
    }
    free(tried.objects);
    arena_free(&tried.arena);
}

const struct advice_kind advice_size_class = {
    .name = "size class",
    .summary = "blocks a few bytes over a size class, and what those bytes cost",
    .consider = consider,
};

/* Records that pass the limits of a server's packed form, and what higher
 * limits would save. */
#include <string.h>

#include "cell/advice.h"
#include "core/memory.h"
#include "core/units.h"

/* What is packed is searched from its beginning: larger ones are no good advice. It is what Redis
 * takes for the packed nodes of its lists (list-max-listpack-size -2 in redis.conf). */
#define PACKED_MOST 8192

struct limit_seen {
    struct model_limit limit;
    int64_t parts, passing; /* values, or objects for a limit of their number */
    int64_t largest;        /* in an object that is not too large */
};

struct seeing {
    const struct model *model;
    struct limit_seen limits[MODEL_LIMITS_MAX];
    size_t count;
    int64_t batch;            /* records an object; 0: it is one's own */
    int64_t objects, passing; /* any limit */
    int64_t too_large;        /* of those */
};

static int64_t longer(const struct element *element)
{
    return (int64_t)(element->name.length > element->value.length ? element->name.length
                                                                  : element->value.length);
}

static int64_t object_bytes(const struct object *object)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < object->element_count; i++)
        bytes += (int64_t)(object->elements[i].name.length + object->elements[i].value.length);
    return bytes;
}

/* Counts what of the object passes the limit; *largest: what the limit had to be. batch: so many
 * like it are one. */
static int64_t passing(const struct object *object, int64_t batch, struct limit_seen *seen,
                       int64_t *largest)
{
    int64_t count = 0, value = seen->limit.value;
    *largest = 0;
    if (seen->limit.of_elements) {
        *largest = (int64_t)object->element_count * batch;
        seen->parts++;
        return *largest > value;
    }
    for (size_t i = 0; i < object->element_count; i++) {
        int64_t length = longer(&object->elements[i]);
        count += length > value;
        *largest = length > *largest ? length : *largest;
    }
    seen->parts += (int64_t)object->element_count;
    return count;
}

static int see(void *context, const struct object *object, struct tare_error *error)
{
    struct seeing *seeing = context;
    struct model_limit limits[MODEL_LIMITS_MAX];
    size_t count = seeing->model->kind->limits(seeing->model, object, limits);
    int64_t batch = seeing->batch ? seeing->batch : 1;
    bool passes = false, too_large = object_bytes(object) * batch > PACKED_MOST;
    (void)error;
    if (count == 0)
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct limit_seen *seen = &seeing->limits[i];
        int64_t largest;
        seen->limit = limits[i];
        int64_t pass = passing(object, batch, seen, &largest);
        seen->passing += pass;
        passes = passes || pass;
        if (!too_large && largest > seen->largest)
            seen->largest = largest;
    }
    seeing->count = count;
    seeing->objects++;
    seeing->passing += passes;
    seeing->too_large += passes && too_large;
    return 0;
}

/* The next power of two: records that the sample has not may be a little larger. */
static int64_t raised(int64_t limit, int64_t largest)
{
    while (limit < largest)
        limit *= 2;
    return limit;
}

/* "one value in 9", "every value", "68 % of values". */
static void append_share(struct buffer *text, const struct limit_seen *seen, bool batch)
{
    const char *one = !seen->limit.of_elements ? "value" : batch ? "bucket" : "record";
    double share = (double)seen->passing / (double)seen->parts;
    char percent[UNITS_SIZE];
    if (seen->passing == seen->parts)
        buffer_format(text, "every %s passes", one);
    else if (share <= 0.4)
        buffer_format(text, "one %s in %.0f passes", one, 1 / share);
    else
        buffer_format(text, "%s of %ss pass", units_percent(percent, share, 0), one);
}

static void advise(const struct advising *advising, const struct seeing *seeing)
{
    struct figures settings = {0};
    struct buffer text = {0}, change = {0};
    struct advice_weight other;
    char share[UNITS_SIZE], saved[UNITS_SIZE], limit[UNITS_SIZE], higher[UNITS_SIZE];
    for (size_t i = 0; i < seeing->count; i++) {
        const struct limit_seen *seen = &seeing->limits[i];
        int64_t value = raised(seen->limit.value > 0 ? seen->limit.value : 1, seen->largest);
        if (seen->passing == 0 || value == seen->limit.value)
            continue;
        figures_integer(&settings, seen->limit.setting, value);
        buffer_format(&change, "%s%s=%lld", change.length ? " " : "", seen->limit.setting,
                      (long long)value);
        buffer_text(&text, text.length ? ", " : "");
        append_share(&text, seen, seeing->batch != 0);
        buffer_format(&text, " the %s %s, %s: %s", seen->limit.what,
                      units_count(limit, seen->limit.value), seen->limit.setting,
                      units_count(higher, value));
    }
    if (change.length &&
        advice_weigh(advising, &(struct advice_variant){.settings = &settings}, &other) &&
        advice_share(advising, &other) >= ADVICE_SHARE_LEAST) {
        char all[UNITS_SIZE] = "all";
        if (seeing->too_large)
            units_percent(all, 1 - (double)seeing->too_large / (double)seeing->objects, 0);
        advice_add(advising, "packed limit", change.data, &other,
                   "%s would pack %s, and save %s of it, %s bytes a record", text.data, all,
                   units_percent(share, advice_share(advising, &other), 1),
                   units_decimal(saved, advising->weight.allocated - other.allocated, 1));
    }
    figures_free(&settings);
    buffer_free(&text);
    buffer_free(&change);
}

static void consider(const struct advising *advising)
{
    const struct advice_question *question = advising->question;
    struct tare_error ignored;
    struct model *model = model_open(question->build, question->settings, &ignored);
    struct seeing seeing = {.model = model, .batch = question->request->encoding->batch};
    if (model && model->kind->limits &&
        advice_objects(advising, NULL, INT64_MAX, see, &seeing) > 0 &&
        seeing.passing > seeing.too_large)
        advise(advising, &seeing);
    model_close(model);
}

const struct advice_kind advice_packed_limit = {
    .name = "packed limit",
    .summary = "records over the limit of a packed form, and what a higher one would save",
    .consider = consider,
};

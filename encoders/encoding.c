#include "encoders/encoding.h"

#include <stdlib.h>

#include "encoders/shape.h"

extern const struct step_kind step_short;
extern const struct step_kind step_json;
extern const struct step_kind step_msgpack;
extern const struct step_kind step_msgpack_array;
extern const struct step_kind step_cbor;
extern const struct step_kind step_bson;
extern const struct step_kind step_value;
extern const struct step_kind step_zstd;
extern const struct step_kind step_zstd_dict;
extern const struct step_kind step_lz4;
extern const struct step_kind step_snappy;
extern const struct step_kind step_gzip;

const struct step_kind *const step_kinds[] = {
    &step_short,  &step_json,  &step_msgpack, &step_msgpack_array, &step_cbor,
    &step_bson,   &step_value, &step_zstd,    &step_zstd_dict,     &step_lz4,
    &step_snappy, &step_gzip,  NULL,
};

extern const struct shape_kind shape_redis_hash;
extern const struct shape_kind shape_redis_string;
extern const struct shape_kind shape_redis_bucket;
extern const struct shape_kind shape_redis_list;
extern const struct shape_kind shape_redis_stream;
extern const struct shape_kind shape_redis_json;
extern const struct shape_kind shape_mongodb_document;
extern const struct shape_kind shape_mongodb_blob;
extern const struct shape_kind shape_memory_bytes;
extern const struct shape_kind shape_memory_json;
extern const struct shape_kind shape_memory_objects;
extern const struct shape_kind shape_null_hash;
extern const struct shape_kind shape_null_string;

const struct shape_kind *const shape_kinds[] = {
    &shape_redis_hash,       &shape_redis_string,
    &shape_redis_bucket,     &shape_redis_list,
    &shape_redis_stream,     &shape_redis_json,
    &shape_mongodb_document, &shape_mongodb_blob,
    &shape_memory_bytes,     &shape_memory_json,
    &shape_memory_objects,   &shape_null_hash,
    &shape_null_string,      NULL,
};

#define STEP_KINDS_COUNT  (sizeof step_kinds / sizeof step_kinds[0])
#define SHAPE_KINDS_COUNT (sizeof shape_kinds / sizeof shape_kinds[0])

static const struct step_kind *step_kind_of_name(const char *name)
{
    for (size_t i = 0; step_kinds[i]; i++)
        if (strcmp(step_kinds[i]->name, name) == 0)
            return step_kinds[i];
    return NULL;
}

/* Parsing. The text is cut up in a copy:
 *
 *   redis : string + short + msgpack + zstd = 9 @ ttl = 864000
 *   store   shape    steps ...                  options
 */

/* Cuts text at the first of this character and returns what follows, or NULL. */
static char *cut(char *text, char at)
{
    char *place = strchr(text, at);
    if (place)
        *place++ = '\0';
    return place;
}

static int parse_shape(struct encoding *encoding, const char *text, const char *store,
                       const char *name, struct tare_error *error)
{
    const char *names[SHAPE_KINDS_COUNT];
    size_t stores = 0, shapes = 0;
    for (size_t i = 0; shape_kinds[i]; i++) {
        bool same = strcmp(shape_kinds[i]->store, store) == 0;
        if (same && strcmp(shape_kinds[i]->name, name) == 0) {
            encoding->shape = shape_kinds[i];
            return 0;
        }
        if (same)
            names[shapes++] = shape_kinds[i]->name;
    }
    if (shapes && !*name)
        return error_set(error, TARE_USAGE,
                         "encoding '%s' names no shape; it is STORE:SHAPE, as '%s'", text,
                         shape_kinds[0]->example);
    if (shapes) {
        names[shapes] = NULL;
        char *subject = memory_format("store '%s'", store);
        error_unknown(error, "shape", name, names, subject);
        free(subject);
        return -1;
    }
    for (size_t i = 0; shape_kinds[i]; i++)
        if (i == 0 || strcmp(shape_kinds[i]->store, names[stores - 1]) != 0)
            names[stores++] = shape_kinds[i]->store;
    names[stores] = NULL;
    char *subject = memory_format("encoding '%s'", text);
    error_unknown(error, "store", store, names, subject);
    free(subject);
    return -1;
}

/* Text without a colon: is it a shape, or a step, whose store was left out? */
static int no_store(const char *text, const char *name, struct tare_error *error)
{
    const char *names[SHAPE_KINDS_COUNT];
    size_t count = 0;
    for (; shape_kinds[count]; count++)
        names[count] = shape_kinds[count]->name;
    names[count] = NULL;
    for (size_t i = 0; step_kind_of_name(name) && shape_kinds[i]; i++)
        if (shape_kinds[i]->takes == FORM_BYTES)
            return error_set(error, TARE_USAGE,
                             "encoding '%s' names no store; did you mean '%s:%s+%s'?", text,
                             shape_kinds[i]->store, shape_kinds[i]->name, text);
    const char *nearest = nearest_name(name, names);
    for (size_t i = 0; nearest && shape_kinds[i]; i++)
        if (strcmp(shape_kinds[i]->name, nearest) == 0)
            return error_set(error, TARE_USAGE,
                             "encoding '%s' names no store; did you mean '%s:%s'?", text,
                             shape_kinds[i]->store, nearest);
    return error_set(error, TARE_USAGE, "encoding '%s' names no store; it is STORE:SHAPE, as '%s'",
                     text, shape_kinds[0]->example);
}

static void close_step(struct step *step)
{
    if (step->kind->close)
        step->kind->close(step);
    free(step->state);
}

static const char *form_name(enum form form)
{
    return form == FORM_RECORD ? "a record" : "bytes";
}

/* What comes out of the chain so far. */
static enum form chain_form(const struct encoding *encoding)
{
    return encoding->step_count ? encoding->steps[encoding->step_count - 1].kind->gives
                                : FORM_RECORD;
}

static int add_step(struct encoding *encoding, const char *text, const struct step_kind *kind,
                    int64_t parameter, struct tare_error *error)
{
    if (encoding->step_count == ENCODING_STEPS_MAX)
        return error_set(error, TARE_USAGE, "encoding '%s' has more than %d steps", text,
                         ENCODING_STEPS_MAX);
    for (size_t i = 0; i < encoding->step_count && kind->learn; i++)
        if (encoding->steps[i].kind == kind)
            return error_set(error, TARE_USAGE,
                             "step '%s' stands twice in '%s', and keeps one table", kind->name,
                             text);
    if (kind == &step_value && encoding->step_count)
        return error_set(error, TARE_USAGE,
                         "step 'value' in '%s' leaves names out, so '%s' before it gains nothing",
                         text, encoding->steps[encoding->step_count - 1].kind->name);
    enum form form = chain_form(encoding);
    if (kind->takes != form && encoding->step_count)
        return error_set(error, TARE_USAGE,
                         "step '%s' in '%s' takes %s, but '%s' before it gives %s", kind->name,
                         text, form_name(kind->takes),
                         encoding->steps[encoding->step_count - 1].kind->name, form_name(form));
    if (kind->takes != form)
        return error_set(error, TARE_USAGE,
                         "step '%s' in '%s' takes %s, but gets a record; put a codec before it, as "
                         "'json+%s'",
                         kind->name, text, form_name(kind->takes), kind->name);
    encoding->steps[encoding->step_count++] =
        (struct step){kind, parameter, kind->state_size ? memory_new(kind->state_size) : NULL};
    return 0;
}

/* The shape's default codec, where bytes are wanted of a record. */
static int add_default_step(struct encoding *encoding, const char *text, struct tare_error *error)
{
    if (!encoding->shape || !encoding->shape->default_step || chain_form(encoding) != FORM_RECORD)
        return 0;
    const struct step_kind *kind = step_kind_of_name(encoding->shape->default_step);
    encoding->step_defaulted = encoding->step_count == 0;
    return kind ? add_step(encoding, text, kind, kind->parameter_default, error) : 0;
}

static int parse_step(struct encoding *encoding, const char *text, char *name,
                      struct tare_error *error)
{
    const char *parameter = cut(name, '=');
    if (!*name)
        return error_set(error, TARE_USAGE, "empty step in '%s'", text);
    const struct step_kind *kind = step_kind_of_name(name);
    if (!kind) {
        const char *names[STEP_KINDS_COUNT];
        for (size_t i = 0; i < STEP_KINDS_COUNT; i++)
            names[i] = step_kinds[i] ? step_kinds[i]->name : NULL;
        char *subject = memory_format("encoding '%s'", text);
        error_unknown(error, "step", name, names, subject);
        free(subject);
        return -1;
    }
    int64_t number = kind->parameter_default;
    if (parameter && kind->parameter_low > kind->parameter_high)
        return error_set(error, TARE_USAGE, "step '%s' in '%s' takes no number", name, text);
    if (parameter) {
        char *what = memory_format("step '%s' in '%s'", name, text);
        int failed = parse_integer(parameter, kind->parameter_low, kind->parameter_high, what,
                                   &number, error);
        free(what);
        if (failed)
            return -1;
    }
    if (kind->takes == FORM_BYTES && add_default_step(encoding, text, error))
        return -1;
    return add_step(encoding, text, kind, number, error);
}

static int parse_steps(struct encoding *encoding, const char *text, char *steps,
                       struct tare_error *error)
{
    for (char *next; steps; steps = next) {
        next = cut(steps, '+');
        if (parse_step(encoding, text, steps, error))
            return -1;
    }
    return 0;
}

/* The chain's end against what the shape takes. */
static int check_end(struct encoding *encoding, const char *text, struct tare_error *error)
{
    const struct shape_kind *shape = encoding->shape;
    if (shape->takes == FORM_BYTES && add_default_step(encoding, text, error))
        return -1;
    if (chain_form(encoding) == shape->takes)
        return 0;
    const char *last =
        encoding->step_count ? encoding->steps[encoding->step_count - 1].kind->name : "";
    /* A sibling that would take it is the likelier wish. */
    for (size_t i = 0; shape_kinds[i]; i++)
        if (strcmp(shape_kinds[i]->store, shape->store) == 0 &&
            shape_kinds[i]->takes != shape->takes)
            return error_set(error, TARE_USAGE,
                             "shape '%s:%s' takes %s, but step '%s' in '%s' gives %s; take '%s:%s'",
                             shape->store, shape->name, form_name(shape->takes), last, text,
                             form_name(chain_form(encoding)), shape->store, shape_kinds[i]->name);
    return error_set(error, TARE_USAGE, "shape '%s:%s' takes %s, but step '%s' in '%s' gives %s",
                     shape->store, shape->name, form_name(shape->takes), last, text,
                     form_name(chain_form(encoding)));
}

static int parse_options(struct encoding *encoding, const char *text, char *options,
                         struct tare_error *error)
{
    char *subject =
        memory_format("encoding '%s:%s'", encoding->shape->store, encoding->shape->name);
    const char *given[16];
    size_t count = 0;
    int failed = 0;
    for (char *next; options && !failed; options = next) {
        next = cut(options, '@');
        char *value = cut(options, '=');
        if (!*options)
            failed = error_set(error, TARE_USAGE, "empty option in '%s'", text);
        else if (strchr(options, '+') || (value && strchr(value, '+')))
            failed = error_set(error, TARE_USAGE,
                               "in '%s' a step follows '@'; steps stand before all options", text);
        else
            failed = option_set(encoding->shape->options, options, value, &encoding->options,
                                subject, error);
        for (size_t i = 0; i < count && !failed; i++)
            if (strcmp(given[i], options) == 0)
                failed = error_set(error, TARE_USAGE, "option '%s' of %s is given twice", options,
                                   subject);
        /* Each is a different name of the shape's table, or was refused: there is room. */
        if (!failed && count < sizeof given / sizeof given[0])
            given[count++] = options;
    }
    free(subject);
    if (!failed && encoding->options.ttl && encoding->options.ttl < SHAPE_TTL_LEAST)
        failed = error_set(error, TARE_USAGE,
                           "an expiry of %lld s in '%s' could pass while the cell is weighed; give "
                           "'ttl=%d' or more",
                           (long long)encoding->options.ttl, text, SHAPE_TTL_LEAST);
    return failed;
}

/* The text as normalised: default steps shown, numbers of steps where they are not the default. */
static void write_text(struct encoding *encoding)
{
    struct buffer text = {0};
    if (encoding->shape)
        buffer_format(&text, "%s:%s", encoding->shape->store, encoding->shape->name);
    if (encoding->batch)
        buffer_format(&text, "=%lld", (long long)encoding->batch);
    for (size_t i = 0; i < encoding->step_count; i++) {
        const struct step *step = &encoding->steps[i];
        buffer_format(&text, "%s%s", text.length ? "+" : "", step->kind->name);
        if (step->parameter != step->kind->parameter_default)
            buffer_format(&text, "=%lld", (long long)step->parameter);
    }
    buffer_text(&text, encoding->options_text);
    free(encoding->text);
    encoding->text = buffer_steal(&text);
}

static int parse_batch(struct encoding *encoding, const char *text, const char *number,
                       struct tare_error *error)
{
    const struct shape_kind *shape = encoding->shape;
    encoding->batch = shape->batch_default;
    if (!number)
        return 0;
    if (shape->batch_most == 0)
        return error_set(error, TARE_USAGE, "shape '%s:%s' in '%s' takes no number", shape->store,
                         shape->name, text);
    char *what = memory_format("shape '%s:%s' in '%s'", shape->store, shape->name, text);
    int failed = parse_integer(number, 1, shape->batch_most, what, &encoding->batch, error);
    free(what);
    return failed;
}

static int parse_whole(struct encoding *encoding, const char *text, char *copy,
                       struct tare_error *error)
{
    char *options = cut(copy, '@');
    encoding->options_text = options ? memory_format("@%s", options) : memory_text("");
    char *steps = cut(copy, '+');
    char *shape = cut(copy, ':');
    if (!shape)
        return no_store(text, copy, error);
    char *number = cut(shape, '=');
    if (parse_shape(encoding, text, copy, shape, error))
        return -1;
    if (parse_batch(encoding, text, number, error) || parse_steps(encoding, text, steps, error) ||
        check_end(encoding, text, error) || parse_options(encoding, text, options, error) ||
        (encoding->shape->check && encoding->shape->check(encoding, error)))
        return -1;
    write_text(encoding);
    return 0;
}

struct encoding *encoding_parse(const char *text, struct tare_error *error)
{
    struct encoding *encoding = memory_new(sizeof *encoding);
    char *copy = memory_text(text);
    if (parse_whole(encoding, text, copy, error)) {
        encoding_free(encoding);
        encoding = NULL;
    }
    free(copy);
    return encoding;
}

static int parse_steps_alone(struct encoding *encoding, const char *text, char *copy,
                             struct tare_error *error)
{
    const char *colon = strchr(text, ':'), *option = strchr(text, '@');
    if (colon || option)
        return error_set(error, TARE_USAGE,
                         "steps are wanted, without a store and options: 'json', not '%s'", text);
    encoding->options_text = memory_text("");
    if (parse_steps(encoding, text, copy, error))
        return -1;
    if (chain_form(encoding) != FORM_BYTES)
        return error_set(error, TARE_USAGE,
                         "'%s' gives a record, no bytes; end it with a codec, as "
                         "'%s+json'",
                         text, text);
    write_text(encoding);
    return 0;
}

struct encoding *encoding_parse_steps(const char *text, struct tare_error *error)
{
    struct encoding *encoding = memory_new(sizeof *encoding);
    char *copy = memory_text(text);
    if (parse_steps_alone(encoding, text, copy, error)) {
        encoding_free(encoding);
        encoding = NULL;
    }
    free(copy);
    return encoding;
}

void encoding_fit(struct encoding *encoding, const struct dataset *dataset)
{
    if (!encoding->step_defaulted || !dataset->kind->single_value)
        return;
    close_step(&encoding->steps[0]);
    encoding->steps[0] = (struct step){.kind = &step_value};
    write_text(encoding);
}

void encoding_free(struct encoding *encoding)
{
    if (!encoding)
        return;
    if (encoding->shape)
        options_free(encoding->shape->options, &encoding->options);
    for (size_t i = 0; i < encoding->step_count; i++)
        close_step(&encoding->steps[i]);
    for (size_t i = 0; i < sizeof encoding->scratch / sizeof encoding->scratch[0]; i++)
        buffer_free(&encoding->scratch[i]);
    free(encoding->index_field);
    free(encoding->options_text);
    free(encoding->text);
    free(encoding);
}

/* Applying. */

static int record_error(const struct record *record, struct tare_error *error)
{
    char key[SLICE_SHOW_SIZE];
    /* A store's own failure, from the sink, is not the record's; a record that was read back has
     * no key. */
    return error->status == TARE_USAGE && record->key.length
               ? error_prefix(error, "record '%s'", slice_show(record->key, key))
               : -1;
}

/* Takes the item through the steps from `first` to before `end`. */
static int apply_steps(struct encoding *encoding, size_t first, size_t end, struct arena *arena,
                       struct item *item, struct tare_error *error)
{
    for (size_t i = first; i < end; i++) {
        const struct step *step = &encoding->steps[i];
        /* In turn, so that a step reads the one while it writes the other. */
        struct buffer *scratch = &encoding->scratch[i % 2];
        buffer_clear(scratch);
        struct item next = {.form = step->kind->gives, .record = item->record, .bytes = *scratch};
        int failed = step->kind->apply(step, arena, item, &next, error);
        *scratch = next.bytes; /* may have moved as it grew */
        if (failed)
            return -1;
        *item = next;
    }
    return 0;
}

static int apply_record(struct encoding *encoding, const struct record *record, size_t end,
                        struct arena *arena, struct item *item, struct tare_error *error)
{
    *item = (struct item){.form = FORM_RECORD, .record = record};
    return apply_steps(encoding, 0, end, arena, item, error);
}

int encoding_apply(struct encoding *encoding, const struct record *record, struct arena *arena,
                   object_sink *sink, void *context, struct tare_error *error)
{
    struct item item;
    if (apply_record(encoding, record, encoding->step_count, arena, &item, error) ||
        encoding->shape->encode(encoding, arena, &item, record, sink, context, error))
        return record_error(record, error);
    return 0;
}

int encoding_bytes(struct encoding *encoding, const struct record *record, struct arena *arena,
                   struct slice *bytes, struct counted *counted, struct tare_error *error)
{
    struct item item;
    if (apply_record(encoding, record, encoding->step_count, arena, &item, error))
        return record_error(record, error);
    *bytes = buffer_slice(&item.bytes);
    *counted = item.counted;
    return 0;
}

static const struct step *last_step(const struct encoding *encoding)
{
    return &encoding->steps[encoding->step_count - 1];
}

void encoding_frame(const struct encoding *encoding, struct slice bytes, struct buffer *stream)
{
    const struct step *step = last_step(encoding);
    if (step->kind->frame)
        step->kind->frame(step, bytes, stream);
    else
        buffer_append(stream, bytes.bytes, bytes.length);
}

int encoding_unframe(const struct encoding *encoding, struct slice stream, bool last,
                     struct slice *item, size_t *length, struct tare_error *error)
{
    const struct step *step = last_step(encoding);
    return step->kind->unframe(step, stream, last, item, length, error);
}

/* Undoes the steps from the last to `first`. */
static int undo_steps(struct encoding *encoding, size_t first, struct arena *arena,
                      struct item *item, struct tare_error *error)
{
    for (size_t i = encoding->step_count; i-- > first;) {
        const struct step *step = &encoding->steps[i];
        struct buffer *scratch = &encoding->scratch[i % 2];
        buffer_clear(scratch);
        struct item before = {.form = step->kind->takes, .bytes = *scratch};
        int failed = step->kind->undo(step, arena, item, &before, error);
        *scratch = before.bytes;
        if (failed)
            return -1;
        *item = before;
    }
    return 0;
}

/* Bytes as an item. A view: steps only read what they undo. */
static struct item item_of(struct slice bytes)
{
    return (struct item){.form = FORM_BYTES,
                         .bytes = {.data = (char *)(uintptr_t)bytes.bytes, .length = bytes.length}};
}

int encoding_undo(struct encoding *encoding, struct slice bytes, struct arena *arena,
                  struct record *record, struct tare_error *error)
{
    struct item item = item_of(bytes);
    if (undo_steps(encoding, 0, arena, &item, error))
        return -1;
    *record = *item.record;
    return 0;
}

int encoding_read(struct encoding *encoding, const struct object *object, const struct record *like,
                  struct arena *arena, struct record *record, struct tare_error *error)
{
    struct item item = {.form = encoding->shape->takes};
    if (encoding->shape->decode(encoding, arena, object, like, &item, error) ||
        undo_steps(encoding, 0, arena, &item, error))
        return -1;
    *record = *item.record;
    return 0;
}

/* Tables. */

/* Records of a sample, at most: one in a thousand of ten million. */
#define SAMPLE_MOST 10000
/* Records by which it is told how long the others are. */
#define PILOTS 32

/* Gives learn, if any, the items of the sample; adds up the bytes of those that are bytes. */
static int learn_from(struct encoding *encoding, size_t place, struct dataset *dataset,
                      int64_t looks, int64_t records, struct arena *arena,
                      int (*learn)(const struct step *, const struct item *, struct tare_error *),
                      int64_t *bytes, struct tare_error *error)
{
    for (int64_t i = 0; i < looks; i++) {
        struct record record = {0};
        struct item item;
        arena_reset(arena);
        if (dataset_read(dataset, dataset_spread(records, looks, i), arena, &record, error) ||
            (i % 256 == 0 && dataset->interrupted && dataset->interrupted(error)))
            return -1;
        if (apply_record(encoding, &record, place, arena, &item, error) ||
            (learn && learn(&encoding->steps[place], &item, error)))
            return record_error(&record, error);
        if (bytes)
            *bytes += (int64_t)item.bytes.length;
    }
    return 0;
}

static int learn_step(struct encoding *encoding, size_t place, struct dataset *dataset,
                      int64_t looks, int64_t records, struct arena *arena, struct tare_error *error)
{
    const struct step *step = &encoding->steps[place];
    int64_t most = step->kind->learn_bytes;
    if (most && looks > PILOTS) {
        int64_t bytes = 0;
        if (learn_from(encoding, place, dataset, PILOTS, records, arena, NULL, &bytes, error))
            return -1;
        int64_t enough = most * PILOTS / (bytes + 1) + PILOTS;
        looks = looks < enough ? looks : enough;
    }
    if (learn_from(encoding, place, dataset, looks, records, arena, step->kind->learn, NULL, error))
        return -1;
    return step->kind->learned(step, (double)records / (double)looks, error);
}

/* The field of a secondary index by the name that it has in the store: a step may have given the
 * records' fields other names. A path "a.b" is a field of an object. */
static int rename_index(struct encoding *encoding, struct arena *arena, struct tare_error *error)
{
    struct buffer name = {0};
    struct member outer = {slice_of("", 0), {.type = VALUE_NULL}};
    struct member *innermost = &outer;
    for (const char *part = encoding->index.field; part;) {
        size_t length = strcspn(part, ".");
        struct member *member = arena_take(arena, sizeof *member);
        *member = (struct member){slice_of(part, length), {.type = VALUE_NULL}};
        innermost->value = (struct value){.type = VALUE_OBJECT, .as.children = {member, 1}};
        innermost = member;
        part = part[length] ? part + length + 1 : NULL;
    }
    struct record record = {
        .key = slice_of("", 0), .fields = outer.value.as.children.items, .field_count = 1};
    struct item item = {.form = FORM_RECORD, .record = &record};
    for (size_t i = 0; i < encoding->step_count; i++) {
        const struct step *step = &encoding->steps[i];
        struct item next = item;
        if (step->kind->gives != FORM_RECORD)
            break;
        if (step->kind->apply(step, arena, &item, &next, error))
            return -1;
        item = next;
    }
    const struct member *member = item.record->fields;
    while (1) {
        buffer_append(&name, member->name.bytes, member->name.length);
        if (member->value.type != VALUE_OBJECT)
            break;
        buffer_byte(&name, '.');
        member = member->value.as.children.items;
    }
    encoding->index_field = buffer_steal(&name);
    encoding->index.field = encoding->index_field;
    return 0;
}

int encoding_learn(struct encoding *encoding, struct dataset *dataset, int64_t records,
                   struct tare_error *error)
{
    int64_t looks = records < SAMPLE_MOST ? records : SAMPLE_MOST;
    return encoding_learn_from(encoding, dataset, looks, records, error);
}

int encoding_learn_from(struct encoding *encoding, struct dataset *dataset, int64_t looks,
                        int64_t records, struct tare_error *error)
{
    struct arena arena = {0};
    int failed = 0;
    if (encoding->learned || records == 0)
        return 0;
    for (size_t i = 0; !failed && i < encoding->step_count; i++)
        if (encoding->steps[i].kind->learn)
            failed = learn_step(encoding, i, dataset, looks, records, &arena, error);
    if (!failed && encoding->index.field)
        failed = rename_index(encoding, &arena, error);
    arena_free(&arena);
    encoding->learned = !failed;
    return failed;
}

int64_t encoding_effort(const struct encoding *encoding)
{
    int64_t most = 1;
    for (size_t i = 0; i < encoding->step_count; i++) {
        const struct step *step = &encoding->steps[i];
        int64_t effort = step->kind->effort ? step->kind->effort(step) : 1;
        most = effort > most ? effort : most;
    }
    return most;
}

size_t encoding_table_count(const struct encoding *encoding)
{
    size_t count = 0;
    for (size_t i = 0; i < encoding->step_count; i++)
        count += encoding->steps[i].kind->learn != NULL;
    return count;
}

/* The place of the step whose table is item `number` of a stream. */
static size_t table_step(const struct encoding *encoding, size_t number)
{
    size_t place = encoding->step_count;
    do
        place--;
    while (!encoding->steps[place].kind->learn || number-- > 0);
    return place;
}

/* A step's table as it comes out of the chain. */
static int make_table(struct encoding *encoding, size_t place, struct arena *arena,
                      struct item *item, struct tare_error *error)
{
    const struct step *step = &encoding->steps[place];
    *item = (struct item){.form = step->kind->gives};
    if (step->kind->table(step, arena, item, error) ||
        apply_steps(encoding, place + 1, encoding->step_count, arena, item, error))
        return error_prefix(error, "the table of step '%s'", step->kind->name);
    return 0;
}

int encoding_frame_tables(struct encoding *encoding, struct arena *arena, struct buffer *stream,
                          struct tare_error *error)
{
    for (size_t i = 0; i < encoding_table_count(encoding); i++) {
        struct item item;
        if (make_table(encoding, table_step(encoding, i), arena, &item, error))
            return -1;
        encoding_frame(encoding, buffer_slice(&item.bytes), stream);
    }
    return 0;
}

int encoding_load_table(struct encoding *encoding, size_t number, struct slice bytes,
                        struct arena *arena, struct tare_error *error)
{
    size_t place = table_step(encoding, number);
    const struct step *step = &encoding->steps[place];
    struct item item = item_of(bytes);
    if (undo_steps(encoding, place + 1, arena, &item, error) ||
        step->kind->load(step, arena, &item, error))
        return error_prefix(error, "the table of step '%s'", step->kind->name);
    return 0;
}

/* The store's shape that holds bytes as they are: the first that takes any. */
static const struct shape_kind *shape_of_bytes(const char *store)
{
    for (size_t i = 0; shape_kinds[i]; i++)
        if (shape_kinds[i]->takes == FORM_BYTES && strcmp(shape_kinds[i]->store, store) == 0)
            return shape_kinds[i];
    return NULL;
}

struct table_sink {
    object_sink *sink;
    void *context;
};

/* A table is no record: it never expires, and all of it is counted in one place. */
static int put_table(void *context, const struct object *object, struct tare_error *error)
{
    const struct table_sink *to = context;
    struct object table = *object;
    table.once = true;
    table.ttl_seconds = 0;
    table.counted = (struct counted){.dictionary = counted_sum(&object->counted)};
    return to->sink(to->context, &table, error);
}

int encoding_tables(struct encoding *encoding, struct arena *arena, object_sink *sink,
                    void *context, struct tare_error *error)
{
    struct table_sink to = {sink, context};
    for (size_t i = 0; i < encoding_table_count(encoding); i++) {
        size_t place = table_step(encoding, i);
        const char *name = encoding->steps[place].kind->name;
        const struct shape_kind *shape = shape_of_bytes(encoding->shape->store);
        struct item item;
        if (make_table(encoding, place, arena, &item, error))
            return -1;
        if (item.form == FORM_RECORD) { /* the shape holds records, and this one as bytes */
            struct item record = item;
            struct buffer *scratch = &encoding->scratch[0];
            buffer_clear(scratch);
            item = (struct item){.form = FORM_BYTES, .record = record.record, .bytes = *scratch};
            int failed = step_json.apply(NULL, arena, &record, &item, error);
            *scratch = item.bytes;
            if (failed)
                return -1;
        }
        struct buffer key = {0};
        buffer_format(&key, "tare:%s", name);
        struct record kept = {.number = -1,
                              .key = slice_of(arena_copy(arena, key.data, key.length), key.length)};
        buffer_free(&key);
        if (shape->encode(encoding, arena, &item, &kept, put_table, &to, error))
            return -1;
    }
    return 0;
}

/* The start-up check. */

static int check_step(const struct step_kind *const kinds[], size_t place, struct tare_error *error)
{
    const struct step_kind *kind = kinds[place];
    if (!kind->name || !*kind->name || strpbrk(kind->name, "+@=:, "))
        return error_set(error, TARE_USAGE,
                         "step %zu of the table has no name, or one that no "
                         "encoding can hold",
                         place);
    const char *missing = !kind->summary                                      ? "summary"
                          : !kind->apply                                      ? "apply"
                          : !kind->undo                                       ? "undo"
                          : kind->gives == FORM_BYTES && !kind->unframe       ? "unframe"
                          : (kind->close || kind->learn) && !kind->state_size ? "state_size"
                          : !kind->learn != !kind->learned                    ? "learned"
                          : !kind->learn != !kind->table                      ? "table"
                          : !kind->learn != !kind->load                       ? "load"
                                                                              : NULL;
    if (missing)
        return error_set(error, TARE_USAGE, "step '%s' lacks '%s'", kind->name, missing);
    if (kind->takes == FORM_BYTES && kind->gives == FORM_RECORD)
        return error_set(error, TARE_USAGE, "step '%s' cannot turn bytes into a record",
                         kind->name);
    if (kind->parameter_low <= kind->parameter_high &&
        (kind->parameter_default < kind->parameter_low ||
         kind->parameter_default > kind->parameter_high))
        return error_set(error, TARE_USAGE, "step '%s' has a default out of its range", kind->name);
    for (size_t i = 0; i < place; i++)
        if (strcmp(kinds[i]->name, kind->name) == 0)
            return error_set(error, TARE_USAGE, "step '%s' is in the table twice", kind->name);
    return 0;
}

static int check_shape(const struct shape_kind *const kinds[], size_t place,
                       struct tare_error *error)
{
    const struct shape_kind *kind = kinds[place];
    const char *missing = !kind->store || !*kind->store ? "store"
                          : !kind->name || !*kind->name ? "name"
                          : !kind->summary              ? "summary"
                          : !kind->example              ? "example"
                          : !kind->options              ? "options"
                          : !kind->encode               ? "encode"
                          : !kind->decode               ? "decode"
                                                        : NULL;
    const char *name = kind->name ? kind->name : "";
    if (kind->batch_default < 0 || kind->batch_default > kind->batch_most)
        return error_set(error, TARE_USAGE, "shape '%s' has a default number out of its range",
                         name);
    if (missing)
        return error_set(error, TARE_USAGE, "shape %zu of the table, '%s', lacks '%s'", place, name,
                         missing);
    if (strpbrk(name, "+@=:, ") || strpbrk(kind->store, "+@=:, "))
        return error_set(error, TARE_USAGE, "shape '%s:%s' has a name that no encoding can hold",
                         kind->store, name);
    const struct step_kind *step =
        kind->default_step ? step_kind_of_name(kind->default_step) : NULL;
    if (kind->takes == FORM_BYTES &&
        (!step || step->takes != FORM_RECORD || step->gives != FORM_BYTES))
        return error_set(error, TARE_USAGE,
                         "shape '%s:%s' lacks a default step from record to bytes", kind->store,
                         name);
    for (size_t i = 0; i < place; i++)
        if (strcmp(kinds[i]->store, kind->store) == 0 && strcmp(kinds[i]->name, name) == 0)
            return error_set(error, TARE_USAGE, "shape '%s:%s' is in the table twice", kind->store,
                             name);
    struct encoding *example = encoding_parse(kind->example, error);
    if (!example)
        return error_prefix(error, "example of shape '%s:%s'", kind->store, name);
    bool same = example->shape == kind;
    encoding_free(example);
    return same ? 0
                : error_set(error, TARE_USAGE, "the example '%s' is of another shape than '%s:%s'",
                            kind->example, kind->store, name);
}

int encoder_tables_check(const struct step_kind *const steps[],
                         const struct shape_kind *const shapes[], struct tare_error *error)
{
    for (size_t i = 0; steps[i]; i++)
        if (check_step(steps, i, error))
            return -1;
    for (size_t i = 0; shapes[i]; i++)
        if (check_shape(shapes, i, error))
            return -1;
    return 0;
}

int encoders_check(struct tare_error *error)
{
    return encoder_tables_check(step_kinds, shape_kinds, error);
}

/* Records of a file, or of standard input: NDJSON, a JSON array, CSV with a header, or BSON
 * documents as mongodump writes them. The file is read through a window, from its first record to
 * its last, as often as it is asked for; where more records are asked for than it has, their values
 * go round under fresh keys. */
#include "data/file.h"

#include <math.h>
#include <stdlib.h>

#include "core/units.h"
#include "data/bson_record.h"
#include "data/census.h"

extern const struct file_format file_format_ndjson;
extern const struct file_format file_format_json;
extern const struct file_format file_format_csv;
extern const struct file_format file_format_bson;

const struct file_format *const file_formats[] = {
    &file_format_ndjson, &file_format_json, &file_format_csv, &file_format_bson, NULL,
};

static const char *const format_names[] = {"ndjson", "json", "csv", "bson", NULL}; /* as above */
static const char *const separator_names[] = {"comma", "tab", "semicolon", "bar", NULL};

static const struct option_spec file_options[] = {
    {"key", OPTION_TEXT, offsetof(struct file, key), 0, 0, NULL,
     "the field that the key is, and stays (bson: _id; else keys are numbered)"},
    {"numbered", OPTION_FLAG, offsetof(struct file, numbered), 0, 0, NULL,
     "keys are numbered, of bson too"},
    {"keyprefix", OPTION_TEXT, offsetof(struct file, key_prefix), 0, 0, NULL,
     "before a record's number (record:)"},
    {"format", OPTION_CHOICE, offsetof(struct file, format_given), 0, 0, format_names,
     "as the name's end or the contents say, where it isn't given"},
    {"separator", OPTION_CHOICE, offsetof(struct file, separator), 0, 0, separator_names,
     "between the fields of csv (comma; tab for .tsv)"},
    {"numbers", OPTION_FLAG, offsetof(struct file, numbers), 0, 0, NULL,
     "fields of csv that are a number's shortest text are numbers; else all is text"},
    {"extended", OPTION_FLAG, offsetof(struct file, extended), 0, 0, NULL,
     "json and ndjson are MongoDB's Extended JSON, as mongoexport writes: {\"$oid\": ...} is an "
     "ObjectId; the key is _id"},
    {"skip-bad", OPTION_FLAG, offsetof(struct file, skip_bad), 0, 0, NULL,
     "leave bad records out and count them; as --skip-bad"},
    {0}};

/* So many frames repeat a key, at most, that they are left out one by one: 8 MiB of numbers. */
#define REPEATED_MOST ((size_t)1024 * 1024)

static void file_defaults(void *state)
{
    struct file *file = state;
    file->format_given = file->separator = -1;
    file->key_prefix = memory_text("record:");
}

static int file_open(struct dataset *dataset, struct tare_error *error)
{
    struct file *file = dataset->state;
    if (file->key && file->numbered)
        return error_set(
            error, TARE_USAGE,
            "data set 'file': 'key' and 'numbered' are both given; keys are a field or "
            "numbers");
    dataset->key_named = file->key != NULL;
    return input_open(&file->input, dataset->path, error);
}

static void file_close(struct dataset *dataset)
{
    struct file *file = dataset->state;
    if (file->format && file->format->end)
        file->format->end(file);
    input_close(&file->input);
    json_reader_free(&file->json);
    arena_free(&file->scratch);
    free(file->index.places);
    free(file->first_bad);
    free(file->repeated);
}

/* ---- places ---------------------------------------------------------------------------------- */

static struct file_place place_now(const struct file *file)
{
    struct file_place place = file->next;
    place.offset = input_offset(&file->input);
    return place;
}

static void go_to(struct file *file, const struct file_place *place)
{
    input_seek(&file->input, place->offset);
    file->next = *place;
}

static void index_reset(struct file *file)
{
    file->index.count = 0;
    file->index.stride = 1;
}

/* Remembers the place before record `stride * count`. */
static void index_place(struct file *file)
{
    struct file_index *index = &file->index;
    if (file->next.records != (int64_t)index->count * index->stride)
        return;
    if (!index->places)
        index->places = memory_new(FILE_INDEX_SIZE * sizeof *index->places);
    if (index->count == FILE_INDEX_SIZE) {
        for (size_t i = 0; i < FILE_INDEX_SIZE / 2; i++)
            index->places[i] = index->places[2 * i];
        index->count = FILE_INDEX_SIZE / 2;
        index->stride *= 2;
        if (file->next.records != (int64_t)index->count * index->stride)
            return;
    }
    index->places[index->count++] = place_now(file);
}

/* Goes to the nearest known place before record `number`, unless it can be read on to from here. */
static void go_before(struct file *file, int64_t number)
{
    const struct file_place *known = &file->start;
    if (file->index.count) {
        int64_t at = number / file->index.stride;
        if (at >= (int64_t)file->index.count)
            at = (int64_t)file->index.count - 1;
        known = &file->index.places[at];
    }
    if (file->next.records > number || file->next.records < known->records)
        go_to(file, known);
}

void file_pass(struct file *file, size_t length)
{
    struct slice rest = input_rest(&file->input);
    const char *at = rest.bytes, *end = rest.bytes + length;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
        at++;
        file->next.line++;
        file->next.line_start = input_offset(&file->input) + (at - rest.bytes);
    }
    file->input.place += length;
}

int file_pass_blanks(struct file *file, int *next, struct tare_error *error)
{
    while (1) {
        struct slice rest = input_rest(&file->input);
        size_t blanks = 0;
        while (blanks < rest.length && memchr(" \t\r\n", rest.bytes[blanks], 4))
            blanks++;
        file_pass(file, blanks);
        if (blanks < rest.length) {
            *next = (unsigned char)rest.bytes[blanks];
            return 0;
        }
        if (file->input.ended) {
            *next = -1;
            return 0;
        }
        if (input_more(&file->input, error))
            return -1;
    }
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Lines and characters from the frame's first byte on; of its own first line, and of what is gone
 * from the window, bytes stand for characters. */
int file_fault(const struct file *file, const struct file_frame *frame, size_t byte,
               struct tare_error *error)
{
    const struct file_place *place = &frame->place;
    if (file->format && file->format->binary)
        return error_prefix(error, "%s, record %lld at byte %lld", file->input.name,
                            (long long)place->frames + 1, (long long)place->offset + (int64_t)byte);
    const char *bytes = file->input.window.data + frame->begin;
    int64_t line = place->line, column = place->offset - place->line_start + 1;
    for (size_t i = 0; i < byte; i++) {
        if (bytes[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)bytes[i] & 0xc0) != 0x80) { /* UTF-8 goes on with such bytes */
            column++;
        }
    }
    return error_prefix(error, "%s:%lld:%lld", file->input.name, (long long)line,
                        (long long)column);
}

int file_fault_here(const struct file *file, struct tare_error *error)
{
    struct file_frame frame = {.begin = file->input.place, .place = place_now(file)};
    return file_fault(file, &frame, 0, error);
}

int file_check_length(const struct file *file, size_t length, struct tare_error *error)
{
    char most[UNITS_SIZE];
    if (length <= FILE_RECORD_MAX)
        return 0;
    error_set(error, TARE_USAGE,
              "a record of more than %s; is a quote, a bracket or a line's end "
              "missing?",
              units_bytes(most, FILE_RECORD_MAX));
    return file_fault_here(file, error);
}

char *file_copy(const struct file *file, const struct file_frame *frame, struct arena *arena)
{
    return arena_copy(arena, file->input.window.data + frame->begin, frame->length);
}

static const char *value_type_name(const struct value *value)
{
    if (value_is_extended(value))
        return bson_extended_type(value);
    switch (value->type) {
    case VALUE_NULL:
        return "null";
    case VALUE_BOOLEAN:
        return value->as.boolean ? "true" : "false";
    case VALUE_INTEGER:
    case VALUE_DOUBLE:
        return "a number";
    case VALUE_TEXT:
        return "a text";
    case VALUE_BYTES:
        return "binary";
    case VALUE_ARRAY:
        return "an array";
    case VALUE_OBJECT:
        return "an object";
    }
    return "nothing";
}

int file_read_json(struct file *file, const struct file_frame *frame, struct arena *arena,
                   struct record *record, size_t *fault, struct tare_error *error)
{
    struct value value;
    if (json_read(&file->json, file_copy(file, frame, arena), frame->length, arena, &value, fault,
                  error))
        return -1;
    if (value.type != VALUE_OBJECT)
        return error_set(error, TARE_USAGE, "%s, and a record is an object",
                         value_type_name(&value));
    if (file->extended)
        return bson_record_read_extended(
            slice_of(file->input.window.data + frame->begin, frame->length), arena, record, error);
    *record =
        (struct record){.fields = value.as.children.items, .field_count = value.as.children.count};
    return 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Whole numbers that a double holds exactly. */
#define DOUBLE_WHOLE_MOST INT64_C(9007199254740992)

static bool whole_number(const struct value *value, int64_t *number)
{
    if (value->type == VALUE_INTEGER)
        *number = value->as.integer;
    else if (value->type == VALUE_DOUBLE && fabs(value->as.real) <= (double)DOUBLE_WHOLE_MOST &&
             value->as.real == floor(value->as.real))
        *number = (int64_t)value->as.real;
    else
        return false;
    return true;
}

/* The numbers go on where the file's own end: round 1 of keys 10 to 19 is 20 to 29. */
static int fresh_number(const struct file *file, int64_t round, struct value *value,
                        struct tare_error *error)
{
    int64_t number = 0, span, step;
    whole_number(value, &number);
    bool over = __builtin_sub_overflow(file->most, file->least, &span) ||
                __builtin_add_overflow(span, 1, &span) ||
                __builtin_mul_overflow(span, round, &step) ||
                __builtin_add_overflow(number, step, &number) ||
                (value->type == VALUE_DOUBLE && llabs(number) > DOUBLE_WHOLE_MOST);
    if (over)
        return error_set(error, TARE_USAGE,
                         "no fresh key: field '%s' holds numbers from %lld to %lld, and round %lld "
                         "of them is past what it can hold; give 'numbered'",
                         file->key, (long long)file->least, (long long)file->most,
                         (long long)round + 1);
    if (value->type == VALUE_DOUBLE)
        value->as.real = (double)number;
    else
        value->as.integer = number;
    return 0;
}

/* Another process's ObjectId: seconds and counter stay, and so does the order. */
static struct value fresh_oid(const unsigned char *oid, int64_t round, struct arena *arena)
{
    unsigned char fresh[12];
    uint64_t process = 0;
    memcpy(fresh, oid, sizeof fresh);
    for (int i = 4; i < 9; i++)
        process = process << 8 | fresh[i];
    process += (uint64_t)round;
    for (int i = 9; i-- > 4; process >>= 8)
        fresh[i] = (unsigned char)process;
    return bson_oid_value(fresh, arena);
}

/* The key of a record that was read. */
static int take_key(struct file *file, int64_t index, struct arena *arena, struct record *record,
                    struct tare_error *error)
{
    if (!file->key) {
        record->key = numbered_text(file->key_prefix, index, arena);
        return 0;
    }
    struct member *field = NULL;
    int64_t number = 0;
    for (size_t i = 0; i < record->field_count && !field; i++)
        if (slice_is(record->fields[i].name, file->key))
            field = &record->fields[i];
    if (!field)
        return error_set(error, TARE_USAGE, "no field '%s', which the key is to be", file->key);
    struct value *value = &field->value;
    bool is_number = whole_number(value, &number);
    if (value->type == VALUE_DOUBLE && !is_number)
        return error_set(error, TARE_USAGE, "the key, field '%s', is a number that is not whole",
                         file->key);
    if (value->type != VALUE_TEXT && !is_number && !bson_extended_oid(value))
        return error_set(error, TARE_USAGE,
                         "the key, field '%s', is %s; it can be a text, a whole number or an "
                         "ObjectId",
                         file->key, value_type_name(value));
    if (value->type == VALUE_TEXT && value->as.text.length > FILE_KEY_MAX)
        return error_set(error, TARE_USAGE,
                         "the key, field '%s', is %zu bytes long, and a key has %zu at most",
                         file->key, value->as.text.length, FILE_KEY_MAX);
    if (is_number && (!file->has_numbers || number < file->least))
        file->least = number;
    if (is_number && (!file->has_numbers || number > file->most))
        file->most = number;
    file->has_numbers = file->has_numbers || is_number;
    const struct slice *extended = value_extended_text(value);
    record->key = extended ? *extended : value_text(value, arena);
    record->key_in_fields = true;
    record->key_field = field;
    return 0;
}

/* Another key for the record, in its field too, in a later round of the file's records. */
static int freshen(const struct file *file, int64_t round, struct arena *arena,
                   struct record *record, struct tare_error *error)
{
    if (!record->key_field)
        return 0; /* it is numbered */
    struct value *value = &record->fields[record->key_field - record->fields].value;
    const unsigned char *oid = bson_extended_oid(value);
    if (oid) {
        *value = fresh_oid(oid, round, arena);
        record->key = *value_extended_text(value);
    } else if (value->type == VALUE_TEXT) {
        struct slice number = numbered_text("#", round + 1, arena);
        char *fresh = arena_take(arena, record->key.length + number.length);
        memcpy(fresh, record->key.bytes, record->key.length);
        memcpy(fresh + record->key.length, number.bytes, number.length);
        value->as.text = record->key = slice_of(fresh, record->key.length + number.length);
    } else {
        if (fresh_number(file, round, value, error))
            return -1;
        record->key = value_text(value, arena);
    }
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The format by the end of the name, or what the first bytes look like. */
static const struct file_format *find_format(const struct file *file, struct slice bytes)
{
    const char *name = file->input.name;
    size_t length = strlen(name);
    const struct file_format *named = NULL;
    for (size_t i = 0; file_formats[i]; i++)
        for (size_t j = 0; file_formats[i]->extensions[j]; j++) {
            const char *end = file_formats[i]->extensions[j];
            if (length > strlen(end) && strcasecmp(name + length - strlen(end), end) == 0)
                named = file_formats[i];
        }
    /* A name that ends in .json may be either of two. */
    if (named && named != &file_format_json)
        return named;
    size_t blanks = 0;
    while (blanks < bytes.length && memchr(" \t\r\n", bytes.bytes[blanks], 4))
        blanks++;
    char first = blanks < bytes.length ? bytes.bytes[blanks] : '\0';
    if (first == '{' || first == '[')
        return first == '{' ? &file_format_ndjson : &file_format_json;
    if (named)
        return named;
    /* A BSON document's length; four bytes of text would be 16 MiB and more. */
    if (bytes.length >= 5 && bytes.bytes[3] <= 1 && bytes.bytes[3] >= 0)
        return &file_format_bson;
    return &file_format_csv;
}

/* What can be told from its first bytes to be no text and no BSON either. */
static int refuse_packed(const struct file *file, struct slice bytes, struct tare_error *error)
{
    static const struct {
        struct slice begin;
        const char *what, *remedy;
    } packed[] = {
        {{"\x1f\x8b", 2}, "compressed by gzip", "gunzip -c FILE | tare ... -d -"},
        {{"\x28\xb5\x2f\xfd", 4}, "compressed by zstd", "zstd -dc FILE | tare ... -d -"},
        {{"PK\x03\x04", 4}, "a zip archive", "unzip it"},
        {{"\x6d\xe2\x99\x81", 4},
         "an archive of mongodump",
         "let mongodump write folders, without --archive"},
        {{"\xff\xfe", 2}, "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | tare ... -d -"},
        {{"\xfe\xff", 2}, "UTF-16", "iconv -f UTF-16 -t UTF-8 FILE | tare ... -d -"},
    };
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++)
        if (bytes.length >= packed[i].begin.length &&
            memcmp(bytes.bytes, packed[i].begin.bytes, packed[i].begin.length) == 0)
            return error_set(error, TARE_USAGE, "'%s' is %s: %s", file->input.name, packed[i].what,
                             packed[i].remedy);
    return 0;
}

#define MONGODB_KEY     "_id"
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static int no_records(const struct file *file, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "'%s' holds no records%s", file->input.name,
                     file->bad || file->repeated_count ? " but bad ones" : "");
}

static int file_start(struct dataset *dataset, struct tare_error *error)
{
    struct file *file = dataset->state;
    if (file->started)
        return 0;
    file->started = true;
    file->input.interrupted = dataset->interrupted;
    if (!dataset->streamed && input_keep(&file->input, error))
        return -1;
    while (input_rest(&file->input).length < 5 && !file->input.ended)
        if (input_more(&file->input, error))
            return -1;
    struct slice bytes = input_rest(&file->input);
    if (bytes.length == 0)
        return error_set(error, TARE_USAGE, "'%s' is empty", file->input.name);
    if (refuse_packed(file, bytes, error))
        return -1;
    file->next = (struct file_place){.line = 1};
    if (bytes.length >= 3 && memcmp(bytes.bytes, BYTE_ORDER_MARK, 3) == 0) {
        file->input.place += 3;
        file->next.line_start = 3;
        bytes = input_rest(&file->input);
    }
    file->format =
        file->format_given >= 0 ? file_formats[file->format_given] : find_format(file, bytes);
    if (file->extended && !file->format->json)
        return error_set(error, TARE_USAGE, "'%s' is %s, and 'extended' is for JSON",
                         file->input.name, file->format->title);
    const char *usual = file->extended ? MONGODB_KEY : file->format->usual_key;
    if (!file->key && !file->numbered && usual)
        file->key = memory_text(usual);
    if (file->format->begin && file->format->begin(file, error))
        return -1;
    file->start = place_now(file);
    index_reset(file);
    return 0;
}

/* Was the frame's key seen before it? */
static bool repeats_key(const struct file *file, int64_t frame)
{
    size_t low = 0, high = file->repeated_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (file->repeated[middle] < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low < file->repeated_count && file->repeated[low] == frame;
}

/* Counts a bad record once, however often it is come by, and keeps why the first is. */
static void leave_out(struct file *file, int64_t frame, const struct tare_error *why)
{
    if (frame < file->bad_until)
        return;
    file->bad++;
    file->bad_until = frame + 1;
    if (!file->first_bad)
        file->first_bad = memory_text(why->message);
}

static int parse_frame(struct file *file, const struct file_frame *frame, int64_t index,
                       struct arena *arena, struct record *record, struct tare_error *error)
{
    size_t fault = 0;
    *record = (struct record){0};
    if (file->format->parse(file, frame, arena, record, &fault, error) == 0) {
        fault = 0;
        if (take_key(file, index, arena, record, error) == 0)
            return 0;
    }
    return file_fault(file, frame, fault, error);
}

/* Now and then: frames between two looks at the caller's interrupt. */
#define FRAMES_BETWEEN_LOOKS 4096

/* Finds the next frame that no one left out. */
static int next_frame(struct dataset *dataset, struct file_frame *frame, bool *found,
                      struct tare_error *error)
{
    struct file *file = dataset->state;
    do {
        if (file->next.frames % FRAMES_BETWEEN_LOOKS == 0 && dataset->interrupted &&
            dataset->interrupted(error))
            return -1;
        if (file->format->frame(file, frame, found, error))
            return -1;
        file->next.frames += *found;
    } while (*found && repeats_key(file, frame->place.frames));
    return 0;
}

/* Reads the next record, or passes it where record is NULL. Bad ones are looked for in either case
 * where they are left out: a record's number depends on it. */
static int next_record(struct dataset *dataset, int64_t index, struct arena *arena,
                       struct record *record, struct file_frame *frame, bool *found,
                       struct tare_error *error)
{
    struct file *file = dataset->state;
    struct record passed;
    bool bad = false;
    index_place(file);
    while (1) {
        struct tare_error why = {0};
        if (next_frame(dataset, frame, found, error))
            return -1;
        if (!*found)
            return 0;
        if (!file->skip_bad) {
            if (record && parse_frame(file, frame, index, arena, record, error))
                return -1;
            break;
        }
        /* The caller's arena takes one record: behind a bad one, others are looked at first. */
        bool apart = !record || bad;
        if (apart)
            arena_reset(&file->scratch);
        bad = parse_frame(file, frame, index, apart ? &file->scratch : arena,
                          apart ? &passed : record, &why) != 0;
        if (bad) {
            leave_out(file, frame->place.frames, &why);
            continue;
        }
        if (apart && record && parse_frame(file, frame, index, arena, record, error))
            return -1;
        break;
    }
    file->next.records++;
    return 0;
}

/* Looks at every key once, so that fresh numbers lie behind all of them. */
static int learn_span(struct dataset *dataset, struct tare_error *error)
{
    struct file *file = dataset->state;
    struct arena arena = {0};
    bool found = true;
    int failed = 0;
    go_to(file, &file->start);
    while (!failed && found) {
        struct record record;
        struct file_frame frame;
        arena_reset(&arena);
        failed = next_record(dataset, 0, &arena, &record, &frame, &found, error);
    }
    arena_free(&arena);
    file->span_known = !failed;
    return failed;
}

static int file_read(struct dataset *dataset, int64_t index, struct arena *arena,
                     struct record *record, struct tare_error *error)
{
    struct file *file = dataset->state;
    struct file_frame frame;
    bool found = true;
    if (file_start(dataset, error))
        return -1;
    while (1) {
        int64_t round = 0, number = index;
        if (dataset->count >= 0 && index >= dataset->count) {
            if (dataset->streamed)
                return DATASET_END;
            round = index / dataset->count;
            number = index % dataset->count;
            if (file->key && !file->span_known && learn_span(dataset, error))
                return -1;
        }
        if (!dataset->streamed || file->input.seekable)
            go_before(file, number);
        while (found && file->next.records < number)
            if (next_record(dataset, 0, NULL, NULL, &frame, &found, error))
                return -1;
        if (found && next_record(dataset, index, arena, record, &frame, &found, error))
            return -1;
        if (found)
            return round ? freshen(file, round, arena, record, error) : 0;
        dataset->count = file->next.records;
        if (dataset->count == 0)
            return no_records(file, error);
        found = true;
    }
}

/* ---- the survey ------------------------------------------------------------------------------ */

struct repetition {
    struct dataset *dataset;
    int64_t frame, first; /* the earliest that repeats a key, and who has it */
};

static int keep_repeated(void *context, int64_t frame, int64_t first, struct tare_error *error)
{
    struct repetition *repetition = context;
    struct file *file = repetition->dataset->state;
    if (repetition->frame < 0 || frame < repetition->frame) {
        repetition->frame = frame;
        repetition->first = first;
    }
    if (!file->skip_bad)
        return 0;
    if (file->repeated_count == REPEATED_MOST)
        return error_set(error, TARE_USAGE,
                         "'%s': more than %zu records repeat a key; field '%s' is none",
                         file->input.name, REPEATED_MOST, file->key);
    if (!file->repeated)
        file->repeated = memory_new(REPEATED_MOST * sizeof *file->repeated);
    file->repeated[file->repeated_count++] = frame;
    return 0;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The error of a repeated key; no record was left out, so that frames are records. */
static int refuse_repeated(const struct repetition *repetition, struct tare_error *error)
{
    struct dataset *dataset = repetition->dataset;
    struct file *file = dataset->state;
    struct arena arena = {0};
    struct record record;
    struct file_frame frame;
    char shown[SLICE_SHOW_SIZE];
    bool found = true;
    int failed = 0;
    int64_t line = 0;
    const int64_t numbers[] = {repetition->first, repetition->frame};
    for (size_t i = 0; !failed && i < 2; i++) {
        go_before(file, numbers[i]);
        while (!failed && found && file->next.records < numbers[i])
            failed = next_record(dataset, 0, NULL, NULL, &frame, &found, error);
        if (!failed)
            failed = next_record(dataset, 0, &arena, &record, &frame, &found, error);
        if (i == 0)
            line = file->format->binary ? repetition->first + 1 : frame.place.line;
    }
    if (!failed) {
        error_set(error, TARE_USAGE, "the key '%s' stands in %s %lld already",
                  slice_show(record.key, shown), file->format->binary ? "record" : "line",
                  (long long)line);
        failed = file_fault(file, &frame, 0, error);
    }
    arena_free(&arena);
    return failed;
}

static int find_repeated(struct dataset *dataset, struct census *census, struct tare_error *error)
{
    struct file *file = dataset->state;
    struct repetition repetition = {.dataset = dataset, .frame = -1};
    if (census_end(census, keep_repeated, &repetition, error))
        return -1;
    if (repetition.frame < 0)
        return 0;
    if (!file->skip_bad)
        return refuse_repeated(&repetition, error);
    qsort(file->repeated, file->repeated_count, sizeof *file->repeated, compare_numbers);
    file->repeated = memory_resize(file->repeated, file->repeated_count * sizeof *file->repeated);
    if (dataset->count >= 0)
        dataset->count -= (int64_t)file->repeated_count;
    index_reset(file); /* records have other numbers now */
    go_to(file, &file->start);
    return 0;
}

static int file_survey(struct dataset *dataset, int64_t records, enum dataset_survey survey,
                       struct tare_error *error)
{
    struct file *file = dataset->state;
    if (records == 0)
        return 0;
    if (file_start(dataset, error))
        return -1;
    bool keys = file->key && survey >= DATASET_KEYS, parse = keys || survey == DATASET_CHECK;
    /* Where records are left out, those that take their places have to be known too. */
    bool all = records == DATASET_ALL || (keys && file->skip_bad);
    struct arena arena = {0};
    struct census census = {0};
    struct file_frame frame;
    bool found = true;
    int failed = 0;
    go_to(file, &file->start);
    while (!failed && found && (all || file->next.records < records)) {
        struct record record;
        arena_reset(&arena);
        failed = next_record(dataset, 0, &arena, parse ? &record : NULL, &frame, &found, error);
        if (!failed && found && keys)
            failed = census_add(&census, record.key, frame.place.frames, error);
    }
    arena_free(&arena);
    if (!failed && !found) {
        dataset->count = file->next.records;
        file->span_known = parse;
    }
    if (!failed && keys)
        failed = find_repeated(dataset, &census, error);
    census_free(&census);
    if (!failed && dataset->count == 0)
        failed = no_records(file, error);
    return failed;
}

/* ---- what there is to say -------------------------------------------------------------------- */

static void file_notes(const struct dataset *dataset, struct buffer *lines)
{
    const struct file *file = dataset->state;
    const char *name = file->input.name;
    char number[UNITS_SIZE], all[UNITS_SIZE];
    if (file->input.spool >= 0)
        buffer_format(lines, "%s is kept in a temporary file, since it is read more than once\n",
                      name);
    if (file->bad)
        buffer_format(lines, "%s bad record%s left out; the first: %s\n",
                      units_count(number, file->bad), file->bad == 1 ? " was" : "s were",
                      file->first_bad);
    if (file->repeated_count)
        buffer_format(lines, "%s record%s left out, whose key stands before it\n",
                      units_count(number, (int64_t)file->repeated_count),
                      file->repeated_count == 1 ? " was" : "s were");
    if (dataset->count >= 0 && dataset->wanted > dataset->count)
        buffer_format(lines,
                      "'%s' has %s records and %s are asked for: their values go round under fresh "
                      "keys\n",
                      name, units_count(number, dataset->count), units_count(all, dataset->wanted));
}

static char *file_describe(const struct dataset *dataset)
{
    const struct file *file = dataset->state;
    struct buffer text = {0};
    char number[UNITS_SIZE];
    if (!file->format)
        return NULL;
    buffer_text(&text, file->format->title);
    if (file->key)
        buffer_format(&text, ", keys from '%s'", file->key);
    else
        buffer_text(&text, ", numbered keys");
    if (dataset->count >= 0 && dataset->wanted > dataset->count)
        buffer_format(&text, ", values of %s records going round under fresh keys",
                      units_count(number, dataset->count));
    if (file->bad || file->repeated_count)
        buffer_format(&text, ", %s bad ones left out",
                      units_count(number, file->bad + (int64_t)file->repeated_count));
    return buffer_steal(&text);
}

const struct dataset_kind dataset_file = {
    .name = "file",
    .summary = "records of a file: NDJSON, a JSON array, CSV with a header, a .bson of mongodump; "
               "'-' is standard input",
    .example = "file:samples/data/people.ndjson,key=id",
    .options = file_options,
    .takes_path = true,
    .state_size = sizeof(struct file),
    .defaults = file_defaults,
    .open = file_open,
    .read = file_read,
    .survey = file_survey,
    .notes = file_notes,
    .close = file_close,
    .describe = file_describe,
};

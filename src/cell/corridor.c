#include "cell/corridor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

int corridor_open(struct corridor *corridor, const struct cell_request *request,
                  struct tare_error *error)
{
    (void)error;
    *corridor = (struct corridor){.request = request, .dataset = request->selection->opened};
    encoding_fit(request->encoding, corridor->dataset);
    return encoding_learn(request->encoding, corridor->dataset, request->selection->records, error);
}

char *corridor_dataset_summary(const struct corridor *corridor)
{
    const struct dataset *dataset = corridor->dataset;
    return dataset && dataset->kind->describe ? dataset->kind->describe(dataset) : NULL;
}

void corridor_close(struct corridor *corridor)
{
    arena_free(&corridor->arena);
    corridor->dataset = NULL;
}

int corridor_account(struct corridor *corridor, const struct object *object,
                     struct tare_error *error)
{
    counted_add(&corridor->counted, &object->counted);
    return corridor->model ? corridor->model->kind->add(corridor->model, object, error) : 0;
}

static int take_object(void *context, const struct object *object, struct tare_error *error)
{
    struct corridor *corridor = context;
    if (corridor_account(corridor, object, error))
        return -1;
    if (corridor->store && corridor->store->kind->put(corridor->store, object, error))
        return -1;
    return 0;
}

static struct slice keep(struct arena *arena, struct slice slice)
{
    if (slice.bytes)
        slice.bytes = arena_copy(arena, slice.bytes, slice.length);
    return slice;
}

/* What an encoding hands over lives no longer than the call. */
int objects_take(void *context, const struct object *object, struct tare_error *error)
{
    struct objects *objects = context;
    (void)error;
    MEMORY_GROW(objects->items, objects->count, objects->capacity);
    struct object *kept = &objects->items[objects->count++];
    *kept = *object;
    kept->key = keep(objects->arena, object->key);
    kept->body = keep(objects->arena, object->body);
    if (object->element_count) {
        size_t size = object->element_count * sizeof *kept->elements;
        kept->elements = memcpy(arena_take(objects->arena, size), object->elements, size);
    }
    for (size_t i = 0; i < kept->element_count; i++) {
        kept->elements[i].name = keep(objects->arena, kept->elements[i].name);
        kept->elements[i].value = keep(objects->arena, kept->elements[i].value);
    }
    if (object->entry_count) {
        size_t size = object->entry_count * sizeof *kept->entries;
        kept->entries = memcpy(arena_take(objects->arena, size), object->entries, size);
    }
    return 0;
}

int objects_gather(struct objects *objects, struct corridor *corridor, const struct record *record,
                   struct tare_error *error)
{
    objects->arena = &corridor->arena;
    objects->count = 0;
    return encoding_apply(corridor->request->encoding, record, &corridor->arena, objects_take,
                          objects, error);
}

void objects_free(struct objects *objects)
{
    free(objects->items);
    *objects = (struct objects){0};
}

int corridor_tables(struct corridor *corridor, struct tare_error *error)
{
    arena_reset(&corridor->arena);
    return encoding_tables(corridor->request->encoding, &corridor->arena, take_object, corridor,
                           error);
}

/* As many as a marginal cost needs points (ledger/marginal.h). */
#define SEGMENTS 40

int64_t corridor_segment_end(int64_t records, int64_t segment)
{
    int64_t segments = records < SEGMENTS ? records : SEGMENTS;
    return records / segments * segment + records % segments * segment / segments;
}

void corridor_connected(struct corridor *corridor)
{
    if (corridor->model && corridor->model->kind->connected)
        corridor->model->kind->connected(corridor->model);
}

int corridor_pass(struct corridor *corridor, int64_t index, struct tare_error *error)
{
    return corridor_pass_as(corridor, index, index, error);
}

int corridor_pass_as(struct corridor *corridor, int64_t index, int64_t number,
                     struct tare_error *error)
{
    struct record record = {0};
    arena_reset(&corridor->arena);
    if (dataset_read(corridor->dataset, index, &corridor->arena, &record, error))
        return -1;
    record.number = number;
    if (corridor->sample)
        sample_offer(corridor->sample, &record);
    return encoding_apply(corridor->request->encoding, &record, &corridor->arena, take_object,
                          corridor, error);
}

/* A sample is smaller where records are long, or take long to encode: as many as 10,000 of YCSB's
 * make when they are written out, unless their lengths differ so much that such a sample's three
 * standard errors pass SAMPLE_ERROR of the bytes. What a sample leaves open is in the prediction's
 * range. */
#define SAMPLE_EFFORT ((int64_t)10000 * 1200)
#define SAMPLE_LEAST  100
#define SAMPLE_ERROR  .008
#define PILOTS        64

static int add_plain_bytes(void *context, const struct object *object, struct tare_error *error)
{
    int64_t *bytes = context;
    (void)error;
    *bytes += counted_sum(&object->counted) - object->counted.compression;
    return 0;
}

int corridor_affordable(struct corridor *corridor, int64_t most, int64_t *size,
                        struct tare_error *error)
{
    int64_t records = corridor->request->selection->records;
    struct encoding *encoding = corridor->request->encoding;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < PILOTS; i++) {
        struct record record = {0};
        int64_t bytes = 0, index = dataset_spread(records, PILOTS, i);
        arena_reset(&corridor->arena);
        if (dataset_read(corridor->dataset, index, &corridor->arena, &record, error) ||
            encoding_apply(encoding, &record, &corridor->arena, add_plain_bytes, &bytes, error))
            return -1;
        sum += (double)bytes;
        squares += (double)bytes * (double)bytes;
    }
    double mean = sum / PILOTS + 1, variance = squares / PILOTS - sum / PILOTS * (sum / PILOTS);
    double cheap = (double)SAMPLE_EFFORT / mean / (double)encoding_effort(encoding);
    double wanted = 9 * variance / (mean * mean) / (SAMPLE_ERROR * SAMPLE_ERROR);
    *size = (int64_t)fmin(fmax(fmax(cheap, wanted), SAMPLE_LEAST), (double)most);
    return 0;
}

/* Up to here all records are looked at for the largest, of a file in any case; of more, a sample.
 */
#define LOOKED_AT 100000

struct largest {
    int64_t elements, element_bytes;
};

static int note_largest(void *context, const struct object *object, struct tare_error *error)
{
    struct largest *largest = context;
    (void)error;
    if (object->shared)
        return 0;
    if ((int64_t)object->element_count > largest->elements)
        largest->elements = (int64_t)object->element_count;
    for (size_t i = 0; i < object->element_count; i++) {
        const struct element *element = &object->elements[i];
        size_t longer = element->name.length > element->value.length ? element->name.length
                                                                     : element->value.length;
        if ((int64_t)longer > largest->element_bytes)
            largest->element_bytes = (int64_t)longer;
    }
    return 0;
}

int corridor_settings(struct corridor *corridor, struct figures *settings, struct tare_error *error)
{
    const struct cell_selection *selection = corridor->request->selection;
    struct encoding *encoding = corridor->request->encoding;
    if (encoding->shape->server_settings && encoding->options.listpack) {
        struct largest largest = {0};
        struct figures figures = {0};
        int64_t n = selection->records;
        int64_t looks = LOOKED_AT;
        if (n > LOOKED_AT && !corridor->dataset->kind->survey &&
            corridor_affordable(corridor, LOOKED_AT, &looks, error))
            return -1;
        looks = dataset_sample_size(corridor->dataset, n, LOOKED_AT, looks);
        for (int64_t i = 0; i < looks; i++) {
            struct record record = {0};
            int64_t index = dataset_sample_index(corridor->dataset, n, looks, i);
            arena_reset(&corridor->arena);
            if (dataset_read(corridor->dataset, index, &corridor->arena, &record, error) ||
                encoding_apply(encoding, &record, &corridor->arena, note_largest, &largest, error))
                return -1;
        }
        figures_integer(&figures, "elements", largest.elements);
        figures_integer(&figures, "element.bytes", largest.element_bytes);
        encoding->shape->server_settings(encoding, &figures, settings);
        figures_free(&figures);
    }
    if (encoding->shape->module)
        figures_text(settings, "loadmodule", encoding->shape->module);
    return cell_server_settings(selection, corridor->request->server.kind, settings, error);
}

static bool name_taken(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->cells[i].name && strcmp(report->cells[i].name, name) == 0)
            return true;
    return false;
}

static void append_to_name(struct cell *cell, char *part)
{
    char *longer = memory_format("%s/%s", cell->name, part);
    free(cell->name);
    free(part);
    cell->name = longer;
}

/* What of its selection tells the cell from others of a job: "/player/1000/aof=always". */
static void name_selection(struct cell *cell, const struct cell_request *request)
{
    const struct cell_selection *selection = request->selection;
    if (request->name_needs_dataset)
        append_to_name(cell, memory_text(selection->dataset));
    if (request->name_needs_records)
        append_to_name(cell, memory_format("%lld", (long long)selection->records));
    if (request->name_needs_settings && selection->settings.count) {
        char *settings = cell_settings_text(&selection->settings, &(struct figures){0});
        for (char *blank = settings; (blank = strchr(blank, ' '));)
            *blank = ',';
        append_to_name(cell, settings);
    }
}

void cell_set_name(struct cell *cell, const struct cell_request *request,
                   const struct report *report)
{
    const struct build *build = &cell->build;
    free(cell->name);
    const char *encoding = cell_request_encoding(request);
    if (!request->name_needs_server) {
        cell->name = request->name_needs_engine
                         ? memory_format("%s/%s", encoding, request->server.engine)
                         : memory_text(encoding);
        name_selection(cell, request);
    } else if (build->version[0]) {
        cell->name = memory_format("%s/%s-%s%s%s", encoding, build->store, build->version,
                                   build->engine[0] ? "-" : "", build->engine);
        char *server = memory_text(cell->name);
        name_selection(cell, request);
        if (name_taken(report, cell->name)) {
            free(cell->name);
            cell->name = memory_format("%s-%s", server, build->allocator);
            name_selection(cell, request);
        }
        free(server);
    } else {
        cell->name = memory_format("%s/%s", encoding, request->server.text);
        name_selection(cell, request);
    }
    for (int number = 2; name_taken(report, cell->name); number++) {
        char *longer = memory_format("%s (%d)", cell->name, number);
        if (!name_taken(report, longer)) {
            free(cell->name);
            cell->name = longer;
            return;
        }
        free(longer);
    }
}

void cell_name_broken(const struct cell_request *request, const struct report *report,
                      struct cell *cell)
{
    const char *encoding = request->broken_encoding;
    snprintf(cell->build.store, sizeof cell->build.store, "%.*s", (int)strcspn(encoding, ":"),
             encoding);
    if (request->server.kind)
        snprintf(cell->build.store, sizeof cell->build.store, "%s", request->server.kind->name);
    cell->records = request->selection->records;
    cell->encoding = memory_text(encoding);
    cell->dataset = memory_text(request->selection->dataset);
    cell->error = memory_text(request->broken.message);
    cell->settings = memory_text("");
    cell_set_name(cell, request, report);
}

static void append_settings(struct buffer *text, const struct figures *figures)
{
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *figure = &figures->items[i];
        const char *dot = strrchr(figure->name, '.');
        if (dot && strcmp(dot, ".source") == 0)
            continue;
        buffer_format(text, "%s%s=", text->length ? " " : "", figure->name);
        if (figure->type == FIGURE_TEXT)
            buffer_text(text, figure->text);
        else if (figure->type == FIGURE_REAL)
            buffer_format(text, "%.17g", figure->real);
        else
            buffer_format(text, "%lld", (long long)figure->integer);
    }
}

char *cell_settings_text(const struct figures *settings, const struct figures *inputs)
{
    struct buffer text = {0};
    append_settings(&text, settings);
    append_settings(&text, inputs);
    return text.data ? buffer_steal(&text) : memory_text("");
}

char *corridor_settings_text(const struct corridor *corridor, const struct figures *settings,
                             const struct figures *inputs)
{
    struct figures all = {0};
    int64_t batch = cell_batch(corridor->request->selection);
    figures_copy(&all, settings);
    if (batch > 0)
        figures_integer(&all, "batch", batch);
    char *text = cell_settings_text(&all, inputs);
    figures_free(&all);
    return text;
}

#include "cell/corridor.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

int corridor_open(struct corridor *corridor, const struct cell_request *request,
                  struct tare_error *error)
{
    *corridor = (struct corridor){.request = request};
    corridor->dataset =
        dataset_open(request->selection->dataset, (uint64_t)request->selection->seed, error);
    if (!corridor->dataset)
        return -1;
    encoding_fit(request->encoding, corridor->dataset);
    return 0;
}

char *corridor_dataset_summary(const struct corridor *corridor)
{
    const struct dataset *dataset = corridor->dataset;
    return dataset && dataset->kind->describe ? dataset->kind->describe(dataset) : NULL;
}

void corridor_close(struct corridor *corridor)
{
    if (corridor->dataset)
        dataset_close(corridor->dataset);
    arena_free(&corridor->arena);
    corridor->dataset = NULL;
}

static int take_object(void *context, const struct object *object, struct tare_error *error)
{
    struct corridor *corridor = context;
    counted_add(&corridor->counted, &object->counted);
    if (corridor->model && corridor->model->kind->add(corridor->model, object, error))
        return -1;
    if (corridor->store && corridor->store->kind->put(corridor->store, object, error))
        return -1;
    return 0;
}

int corridor_pass(struct corridor *corridor, int64_t index, struct tare_error *error)
{
    struct record record = {0};
    arena_reset(&corridor->arena);
    if (dataset_read(corridor->dataset, index, &corridor->arena, &record, error))
        return -1;
    return encoding_apply(corridor->request->encoding, &record, &corridor->arena, take_object,
                          corridor, error);
}

/* Records that are looked at for the largest; an even spread of them where there are more. */
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
    if (encoding->shape->server_settings) {
        struct largest largest = {0};
        struct figures figures = {0};
        int64_t n = selection->records, looks = n < LOOKED_AT ? n : LOOKED_AT;
        for (int64_t i = 0; i < looks; i++) {
            struct record record = {0};
            /* i * n / looks without leaving int64_t */
            int64_t index = n / looks * i + n % looks * i / looks;
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
    figures_copy(settings, &selection->settings);
    return 0;
}

static bool name_taken(const struct report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->cells[i].name && strcmp(report->cells[i].name, name) == 0)
            return true;
    return false;
}

void cell_set_name(struct cell *cell, const struct cell_request *request,
                   const struct report *report)
{
    const struct build *build = &cell->build;
    free(cell->name);
    if (!request->name_needs_server) {
        cell->name = request->name_needs_engine
                         ? memory_format("%s/%s", request->encoding->text, request->server.engine)
                         : memory_text(request->encoding->text);
    } else if (build->version[0]) {
        cell->name = memory_format("%s/%s-%s%s%s", request->encoding->text, build->store,
                                   build->version, build->engine[0] ? "-" : "", build->engine);
        if (name_taken(report, cell->name)) {
            char *longer = memory_format("%s-%s", cell->name, build->allocator);
            free(cell->name);
            cell->name = longer;
        }
    } else {
        cell->name = memory_format("%s/%s", request->encoding->text, request->server.text);
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

#include "report/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/units.h"
#include "report/number.h"

/* Where blocks predicted and counted of a size class differ by more than this share of all blocks,
 * the report names the class. */
#define EVIDENCE_SHARE 0.01

void texts_add(struct texts *texts, char *text)
{
    for (size_t i = 0; i < texts->count; i++) {
        if (strcmp(texts->items[i], text) == 0) {
            free(text);
            return;
        }
    }
    MEMORY_GROW(texts->items, texts->count, texts->capacity);
    texts->items[texts->count++] = text;
}

void texts_free(struct texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
}

bool texts_have(const struct texts *texts, const char *text)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], text) == 0)
            return true;
    return false;
}

const char *words_cell(const struct cell *cell)
{
    return cell->name && cell->name[0] ? cell->name : cell->encoding ? cell->encoding : "cell";
}

char *words_data(const struct cell *cell)
{
    char count[UNITS_SIZE];
    bool named = cell->dataset && cell->dataset[0];
    bool summary = cell->dataset_summary && cell->dataset_summary[0];

    return memory_format("%s %s%srecords%s%s", units_count(count, cell_loaded_records(cell)),
                         named ? cell->dataset : "", named ? " " : "", summary ? ", " : "",
                         summary ? cell->dataset_summary : "");
}

char *words_server(const struct build *build)
{
    struct buffer out = {0};
    const char *engine = strcmp(build->engine, "memory") == 0 ? "in memory"
                         : strcmp(build->engine, "disk") == 0 ? "on disk"
                                                              : build->engine;
    const char *between = " (";

    buffer_text(&out, build->store[0] ? build->store : "unknown server");
    if (build->version[0])
        buffer_format(&out, " %s", build->version);
    if (engine[0]) {
        buffer_format(&out, "%s%s", between, engine);
        between = ", ";
    }
    if (build->allocator[0]) {
        buffer_format(&out, "%s%s", between, build->allocator);
        between = ", ";
        if (build->quantum > 0 && strncmp(build->allocator, "jemalloc", 8) == 0)
            buffer_format(&out, "%squantum %d", between, build->quantum);
    }
    if (between[0] == ',')
        buffer_byte(&out, ')');
    return buffer_steal(&out);
}

char *words_seed(const struct report *report)
{
    return report->seed_unknown ? memory_text("") : memory_format(", seed %" PRId64, report->seed);
}

bool words_rate(const struct cell *cell, int64_t *rate)
{
    double real =
        cell->load_seconds > 0 ? (double)cell_loaded_records(cell) / cell->load_seconds : 0;

    /* No load is faster than this; what a damaged file says is not converted. */
    if (cell->load_seconds <= 0 || !(real < 1e15))
        return false;
    *rate = llround(real);
    return true;
}

char *words_disk(const struct cell *cell, const struct ledger *ledger)
{
    const struct model_kind *kind = model_kind_of(&cell->build);
    const struct published *published = kind ? kind->published : NULL;
    struct buffer text = {0};
    int64_t bytes, records = ledger_records(cell, ledger);

    for (; published && published->name && records > 0; published++) {
        char number[NUMBER_SIZE];
        if (published->total || !published_bytes(published, &ledger->samples, &bytes) || bytes == 0)
            continue;
        buffer_format(&text, "%s%s %s", text.length ? ", " : "on disk: ", published->name,
                      number_tenths_text(number, number_tenths(bytes, records)));
    }
    if (!text.length)
        return NULL;
    buffer_text(&text, " bytes a record");
    return buffer_steal(&text);
}

char *words_figure(const struct figure *figure)
{
    char text[UNITS_SIZE], fixed[NUMBER_SIZE];

    switch (figure->type) {
    case FIGURE_INTEGER:
        return memory_text(units_count(text, figure->integer));
    case FIGURE_REAL:
        /* A source may well say "nan". */
        return isfinite(figure->real) ? memory_text(number_fixed(fixed, figure->real))
                                      : memory_format("%f", figure->real);
    case FIGURE_TEXT:
        break;
    }
    return memory_text(figure->text ? figure->text : "");
}

/* So many blocks of a class come and go in the caches of a server that does nothing. */
#define EVIDENCE_FLOOR 200

void words_notes(const struct ledger *ledger, struct texts *notes)
{
    const struct evidence *evidence = &ledger->evidence;
    double blocks = 0;

    for (size_t i = 0; i < ledger->note_count; i++)
        if (!ledger_advice_of(ledger, i))
            texts_add(notes, memory_text(ledger->notes[i]));
    for (size_t i = 0; i < evidence->count; i++)
        blocks += fabs((double)evidence->rows[i].counted);
    for (size_t i = 0; i < evidence->count; i++) {
        const struct evidence_row *row = &evidence->rows[i];
        char size[UNITS_SIZE], predicted[UNITS_SIZE], counted[UNITS_SIZE];
        double apart = fabs((double)row->counted - (double)row->predicted);
        if (apart > EVIDENCE_SHARE * blocks && apart > EVIDENCE_FLOOR)
            texts_add(notes,
                      memory_format("size class %s: the model has %s blocks, the server %s (%s)",
                                    units_count(size, row->size),
                                    units_count(predicted, row->predicted),
                                    units_count(counted, row->counted),
                                    evidence->source ? evidence->source : "evidence"));
    }
}

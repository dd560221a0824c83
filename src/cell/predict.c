/* Predicts a cell without a server: the corridor without store and probes. */
#include <stdlib.h>
#include <string.h>

#include "cell/advice.h"
#include "cell/corridor.h"
#include "cell/timing.h"
#include "core/memory.h"
#include "stores/process.h"

/* Up to here every record is evaluated; beyond, a sample whose size doesn't depend on N. Of a file
 * every record is evaluated (dataset_sample_size: unless it goes round often): no one knows how its
 * records are spread. */
#define EVALUATE_ALL 100000
#define SAMPLE_SIZE  20000

static void scale(int64_t *bytes, int64_t sampled, int64_t records)
{
    /* 128 bits: bytes x records leaves int64_t long before the result does. */
    __int128 wide = (__int128)*bytes * records;
    *bytes = (int64_t)((wide + (wide >= 0 ? sampled / 2 : -sampled / 2)) / sampled);
}

void corridor_scale_counted(struct counted *counted, int64_t sampled, int64_t records)
{
    if (sampled == records || sampled == 0)
        return;
    scale(&counted->key, sampled, records);
    scale(&counted->values, sampled, records);
    scale(&counted->field_names, sampled, records);
    scale(&counted->framing, sampled, records);
    scale(&counted->number_form, sampled, records);
    scale(&counted->escapes, sampled, records);
    scale(&counted->compression, sampled, records);
    /* The dictionary is kept once, whatever the number of records. */
}

/* As which record a sample's i-th is put. One object of all records has them without gaps; of
 * objects of N records there are whole ones, spread as the sample is. */
static int64_t sample_number(const struct corridor *corridor, int64_t sampled, int64_t i,
                             int64_t index)
{
    const struct encoding *encoding = corridor->request->encoding;
    int64_t records = corridor->request->selection->records, batch = encoding->batch;
    if (sampled == records || encoding->shape->batch_most == 0)
        return index;
    if (batch == 0 || sampled < batch)
        return i;
    return dataset_spread(records / batch, sampled / batch, i / batch) * batch + i % batch;
}

/* Records of a sample, as many as fill whole objects. */
static int sample_size(struct corridor *corridor, int64_t *size, struct tare_error *error)
{
    int64_t batch = corridor->request->encoding->batch;
    int64_t records = corridor->request->selection->records;
    *size = records <= EVALUATE_ALL ? records : SAMPLE_SIZE;
    /* A file's are evaluated all of them. */
    if (records <= EVALUATE_ALL || corridor->dataset->kind->survey)
        return 0;
    if (corridor_affordable(corridor, SAMPLE_SIZE, size, error))
        return -1;
    *size = batch > 1 ? (*size + batch - 1) / batch * batch : *size;
    *size = *size < records ? *size : records;
    return 0;
}

int corridor_predict(struct corridor *corridor, int64_t sampled, const struct figures *inputs,
                     struct counted *counted, struct prediction *prediction,
                     struct tare_error *error)
{
    int64_t records = corridor->request->selection->records;
    int failed = sampled ? corridor_tables(corridor, error) : 0;
    for (int64_t i = 0, segment = 1; !failed && i < sampled; i++) {
        if (i == corridor_segment_end(sampled, segment)) {
            corridor_connected(corridor);
            segment++;
        }
        int64_t index = dataset_sample_index(corridor->dataset, records, sampled, i);
        failed =
            corridor_pass_as(corridor, index, sample_number(corridor, sampled, i, index), error) ||
            ((i & 0xff) == 0 && process_check_interrupt(error));
    }
    if (failed)
        return -1;
    *counted = corridor->counted;
    corridor_scale_counted(counted, sampled, records);
    return corridor->model->kind->predict(corridor->model, sampled, records, counted_sum(counted),
                                          inputs, prediction, error);
}

static int predict(struct corridor *corridor, struct cell *cell, const struct figures *settings,
                   bool advise, struct tare_error *error)
{
    const struct cell_selection *selection = corridor->request->selection;
    int64_t records = selection->records, sampled;
    if (sample_size(corridor, &sampled, error))
        return -1;
    sampled = dataset_sample_size(corridor->dataset, records, EVALUATE_ALL, sampled);
    struct prediction prediction = {0};
    struct counted counted;
    if (advise)
        corridor->sample = sample_open(corridor->dataset, sampled);
    int failed =
        corridor_predict(corridor, sampled, &selection->given, &counted, &prediction, error);
    if (!failed) {
        cell->states = memory_new(sizeof *cell->states);
        cell->state_count = cell->state_capacity = 1;
        ledger_close(&cell->states[0], "settled", &counted, &prediction, NULL);
        failed = ledger_check(&cell->states[0], error);
    }
    if (!failed && advise) {
        const struct advice_question question = {.request = corridor->request,
                                                 .build = &cell->build,
                                                 .settings = settings,
                                                 .inputs = &selection->given,
                                                 .sample = corridor->sample,
                                                 .prediction = &prediction};
        advice_give(&question, &cell->states[0]);
        if (corridor->request->compared)
            timing_measure(corridor->request->encoding, corridor->sample, &cell->encode_ns,
                           &cell->decode_ns);
    }
    sample_free(corridor->sample);
    prediction_free(&prediction);
    return failed;
}

int cell_predict(const struct cell_request *request, struct report *report, struct cell *cell,
                 bool advise, struct tare_error *error)
{
    struct corridor corridor;
    struct figures settings = {0};
    int failed = corridor_open(&corridor, request, error) ||
                 server_spec_build(&request->server, &cell->build, error) ||
                 model_takes(&cell->build, request->encoding->shape->holds, error) ||
                 corridor_settings(&corridor, &settings, error);
    cell->encoding = memory_text(request->encoding->text);
    cell->dataset = memory_text(request->selection->dataset);
    cell->dataset_summary = corridor_dataset_summary(&corridor);
    cell->records = request->selection->records;
    cell->predicted = true;
    cell->repeats = 1;
    cell->settings = corridor_settings_text(&corridor, &settings, &request->selection->given);
    cell_set_name(cell, request, report);
    if (!failed) {
        /* A server sizes its caches by the machine: the one that is planned on stands for its. */
        struct figures environment = {0};
        cell_environment(&environment);
        if (figures_has(&environment, "memory_bytes"))
            figures_integer(&settings, MODEL_MACHINE_MEMORY,
                            figures_get(&environment, "memory_bytes"));
        figures_free(&environment);
        corridor.model = model_open(&cell->build, &settings, error);
        failed = corridor.model ? predict(&corridor, cell, &settings, advise, error) : -1;
        model_close(corridor.model);
    }
    cell->complete = !failed;
    figures_free(&settings);
    corridor_close(&corridor);
    return failed ? -1 : 0;
}

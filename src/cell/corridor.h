/* The stations that measuring and predicting share: data set -> record ->
 * encoding -> object -> model. */
#ifndef TARE_CELL_CORRIDOR_H
#define TARE_CELL_CORRIDOR_H

#include "cell/cell_request.h"
#include "data/sample.h"
#include "model/model.h"

struct corridor {
    const struct cell_request *request;
    struct dataset *dataset; /* borrowed from the selection */
    struct arena arena;
    struct model *model;    /* objects go to it, where not NULL */
    struct store *store;    /* and to it, where not NULL */
    struct sample *sample;  /* takes of the records that pass, where not NULL */
    struct counted counted; /* of all objects so far */
};

/* The objects of one record, with copies of all their bytes; the corridor's arena's. */
struct objects {
    struct arena *arena;
    struct object *items;
    size_t count, capacity;
};
/* Appends a copy of the object: a sink, whose context the objects are. */
int objects_take(void *context, const struct object *object, struct tare_error *error);
/* Those of the record alone. */
int objects_gather(struct objects *objects, struct corridor *corridor, const struct record *record,
                   struct tare_error *error);
void objects_free(struct objects *objects);

int corridor_open(struct corridor *corridor, const struct cell_request *request,
                  struct tare_error *error);
/* An object that was written otherwise: counted, and the model's. */
int corridor_account(struct corridor *corridor, const struct object *object,
                     struct tare_error *error);
/* What the encoding keeps once for all records, before the first one. */
int corridor_tables(struct corridor *corridor, struct tare_error *error);
/* Record `index` through the corridor. */
int corridor_pass(struct corridor *corridor, int64_t index, struct tare_error *error);
/* The same, put as if it were record `number`: of a sample that stands for records without gaps. */
int corridor_pass_as(struct corridor *corridor, int64_t index, int64_t number,
                     struct tare_error *error);
/* The segments that a load is made in, each over a connection of its own: the first record behind
 * segment `segment`, from 1 on, of `records`; behind the last that is `records`. */
int64_t corridor_segment_end(int64_t records, int64_t segment);
/* The records to come pass over a new connection. */
void corridor_connected(struct corridor *corridor);
/* How many records of a sample can be had, and are wanted, told by the length of some; at most
 * `most`. */
int corridor_affordable(struct corridor *corridor, int64_t most, int64_t *size,
                        struct tare_error *error);
/* Passes `sampled` records, an even spread of the request's, and predicts all of them by the
 * corridor's model, which is new. *counted: scaled to all. Fill *prediction with zeros before, and
 * free it in any case. */
int corridor_predict(struct corridor *corridor, int64_t sampled, const struct figures *inputs,
                     struct counted *counted, struct prediction *prediction,
                     struct tare_error *error);
/* What the data set's options mean; the caller frees. NULL: nothing to say. */
char *corridor_dataset_summary(const struct corridor *corridor);
void corridor_close(struct corridor *corridor); /* not the model, not the store, not the sample */

/* The settings that this cell's server gets: the encoding's own, then --set over them. Looks at
 * all records up to 100,000, and all of a file, else at a sample, for the largest ones. */
int corridor_settings(struct corridor *corridor, struct figures *settings,
                      struct tare_error *error);

/* Names the cell: its encoding, with the server where another cell has the same encoding; unique
 * in the report. */
void cell_set_name(struct cell *cell, const struct cell_request *request,
                   const struct report *report);

/* Fills in a cell that can't be run: what it would have been, and why not. */
void cell_name_broken(const struct cell_request *request, const struct report *report,
                      struct cell *cell);

/* Counted bytes of `sampled` records as those of `records`: each account is rounded on its own. */
void corridor_scale_counted(struct counted *counted, int64_t sampled, int64_t records);

/* The settings that a server says it runs with, of its samples ("config.NAME"), by the names that
 * models know. */
void cell_model_settings(const struct figures *samples, struct figures *settings);

/* "NAME=VALUE NAME=VALUE": settings, then state inputs (without their ".source"). The caller frees.
 */
char *cell_settings_text(const struct figures *settings, const struct figures *inputs);
/* The same of a corridor's cell: the server's settings, tare's own, then inputs. */
char *corridor_settings_text(const struct corridor *corridor, const struct figures *settings,
                             const struct figures *inputs);

#endif

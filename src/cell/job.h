/* Job files: JSON, a list of blocks. Each block is data sets x encodings x
 * servers x counts x settings and a list of steps; lists multiply within a
 * block only.
 *
 *   { "about": "what it is",                       for people; optional
 *     "seed": 1,                                   optional
 *     "blocks": [
 *       { "about": "...",                          optional
 *         "datasets": ["ycsb"],                    as -d takes it
 *         "encodings": ["redis:hash", ...],        as -e
 *         "servers": ["redis=7.4.1", ...],         as --server; optional
 *         "counts": [1000, 100000],                as -n
 *         "settings": [{"aof": "off"}, ...],       as --set; optional
 *         "steps": ["load", "settle"] } ] }        as --steps; optional
 *
 * A value stands for a list of one. The list of blocks may stand alone. */
#ifndef TARE_CELL_JOB_H
#define TARE_CELL_JOB_H

#include "cell/cell_request.h"

struct job_options {
    double scale; /* of counts, > 0; 1: as they are */
    bool seed_given;
    int64_t seed; /* where given: instead of the file's */
    struct store_limits limits;
};

struct job {
    char *about; /* NULL: none */
    int64_t seed;
    struct cell_selection **selections; /* what the requests refer to */
    size_t count, capacity;
    struct cell_requests requests;
};

/* Reads and checks a job file, and makes its cells in the order of the file. A cell of a store that
 * tare doesn't know, or of a server that isn't here, is one that fails alone when it is run.
 * Whatever else is wrong is an error that names the file and the line and column (where it is no
 * JSON) or the place in it ("$.blocks[0].encodings[1]"). Free with job_free() in any case. */
int job_read(const char *path, const struct job_options *options, struct job *job,
             struct tare_error *error);
void job_free(struct job *job);

#endif

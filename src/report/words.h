/* What was weighed, in the words that reports use. The caller frees what is
 * returned as char *. */
#ifndef TARE_REPORT_WORDS_H
#define TARE_REPORT_WORDS_H

#include "ledger/ledger.h"

/* A set of texts in the order in which they came. */
struct texts {
    char **items;
    size_t count, capacity;
};

void texts_add(struct texts *texts, char *text); /* takes the text */
bool texts_have(const struct texts *texts, const char *text);
void texts_free(struct texts *texts);

const char *words_cell(const struct cell *cell); /* its name, borrowed; never NULL */
char *words_data(const struct cell *cell);       /* "100,000 ycsb records, 10 fields x 100 bytes" */
char *words_seed(const struct report *report);   /* ", seed 1"; "" where it isn't known */
/* "redis 7.0.15 (jemalloc-5.3.0, quantum 16)", "mongodb 6.0.5 (in memory, tcmalloc)" */
char *words_server(const struct build *build);
/* Records a second of the load; false where it isn't known. */
bool words_rate(const struct cell *cell, int64_t *rate);
/* "on disk: collStats.storageSize 556.6, ... bytes a record"; NULL: the server shows none. */
char *words_disk(const struct cell *cell, const struct ledger *ledger);
char *words_figure(const struct figure *figure); /* its value */
/* A ledger's notes but for those that act, and a note for each size class whose blocks model and
 * server count differently. */
void words_notes(const struct ledger *ledger, struct texts *notes);

#endif

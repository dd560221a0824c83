/* Notes that act: what would make a cell smaller. Each asks the corridor the
 * same question again with one thing changed (another encoding, a setting, a
 * shorter key), on a sample of the cell's records, and tells the difference of
 * the two predictions. One kind of note is one file in advice/ that ends in one
 * const struct, and a line in advice.c's table. Pure but for the records. */
#ifndef TARE_CELL_ADVICE_H
#define TARE_CELL_ADVICE_H

#include "cell/corridor.h"

/* The cell that is asked about. All borrowed. */
struct advice_question {
    const struct cell_request *request; /* its encoding has learned already */
    const struct build *build;
    const struct figures *settings;      /* that the cell's model was opened with */
    const struct figures *inputs;        /* state inputs of its prediction */
    struct sample *sample;               /* of its records */
    const struct prediction *prediction; /* of all of them */
};

/* Adds the notes of every kind to the ledger. What can't be weighed (an encoding that does not
 * carry these records) gives none. */
void advice_give(const struct advice_question *question, struct ledger *ledger);

/* --- For kinds of notes --- */

/* What is weighed instead of the cell. {0}: nothing is changed. */
struct advice_variant {
    const char *encoding;           /* NULL: the cell's own */
    const struct figures *settings; /* over the cell's; NULL: none */
    size_t key_cut;                 /* so many bytes at the beginning of each key are left out */
    bool numbers;                   /* texts that are whole numbers become numbers */
};

/* By the model, bytes a record. */
struct advice_weight {
    double allocated, resident;
    double field_names, compression; /* of what the encoding counted */
};

struct advising {
    const struct advice_question *question;
    struct ledger *ledger;
    struct advice_weight weight; /* of the cell as it is, on the sample */
};

/* False where the variant can't be weighed. */
bool advice_weigh(const struct advising *advising, const struct advice_variant *variant,
                  struct advice_weight *weight);
/* The share of the cell's allocated bytes that the other one saves; negative where it takes more.
 */
double advice_share(const struct advising *advising, const struct advice_weight *other);
/* Savings below this share are no news. */
#define ADVICE_SHARE_LEAST 0.01
/* Adds a note; other NULL: it tells of nothing that is saved. */
void advice_add(const struct advising *advising, const char *kind, const char *change,
                const struct advice_weight *other, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Objects that the cell's records are held as, of `most` records of the sample at most, evenly
 * spread; tables that are kept once are none of them. Their memory is the arena's, where that is
 * given: it is not reset in between. Returns how many records they are of, 0 where one can't be
 * encoded. */
int64_t advice_objects(const struct advising *advising, struct arena *arena, int64_t most,
                       object_sink *sink, void *context);
/* The cell's encoding with `dropped` steps from the first one named left out, and others ("short",
 * "msgpack+zstd"; NULL: none) put there; as text, which the caller frees. */
char *advice_encoding(const struct advising *advising, size_t first, size_t dropped,
                      const char *inserted);
/* The same without an @ option. */
char *advice_without_option(const struct advising *advising, const char *name);
/* Place of the step that makes bytes of a record; step_count where there is none. */
size_t advice_codec_place(const struct encoding *encoding);
bool advice_has_step(const struct encoding *encoding, const char *name);

struct advice_kind {
    const char *name; /* "size class" */
    const char *summary;
    void (*consider)(const struct advising *advising);
};

extern const struct advice_kind *const advice_kinds[]; /* NULL-terminated */
int advice_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests. */
int advice_table_check(const struct advice_kind *const kinds[], struct tare_error *error);

#endif

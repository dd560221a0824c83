/* Encodings: STORE:SHAPE[+STEP...][@OPTION[=VALUE]...]. A chain of typed steps
 * that ends in a store's shape, checked when it is parsed. Pure: a record goes
 * in, objects come out, and every byte of them that is payload or encoding is
 * counted. One step or shape is one file that ends in one const struct, and
 * one line in encoding.c's tables. */
#ifndef TARE_ENCODERS_ENCODING_H
#define TARE_ENCODERS_ENCODING_H

#include "core/buffer.h"
#include "core/error.h"
#include "core/figures.h"
#include "core/options.h"
#include "data/dataset.h"
#include "data/record.h"
#include "model/object.h"

struct encoding;
struct step;

enum form { FORM_RECORD, FORM_BYTES };

/* What flows through a chain. `counted` is kept true by every step: in form
 * bytes its sum without key equals bytes.length. */
struct item {
    enum form form;
    const struct record *record; /* of FORM_BYTES: what they were made of, or NULL */
    struct buffer bytes;         /* of FORM_BYTES; owned by the chain, reused */
    struct counted counted;
};

struct step_kind {
    const char *name; /* "json" */
    const char *summary;
    enum form takes, gives;
    /* Optional number after "=", as zstd=9; low > high: takes none. */
    int64_t parameter_low, parameter_high, parameter_default;
    /* record -> bytes or record -> record or bytes -> bytes; out is empty on entry. */
    int (*apply)(const struct step *step, struct arena *arena, const struct item *in,
                 struct item *out, struct tare_error *error);
    /* The inverse; what is in *in is borrowed. Malformed bytes are an error, and a length that they
     * merely claim costs no memory. */
    int (*undo)(const struct step *step, struct arena *arena, const struct item *in,
                struct item *out, struct tare_error *error);
    /* Of the kind's own struct, zeroed, for what a step keeps between records (a compressor's
     * context); close frees what is in it. 0: none. */
    size_t state_size;
    void (*close)(const struct step *step);
    /* What a step learns from a sample of the records, before any is encoded, and must be kept once
     * to read them back (a mapping of names, a compressor's dictionary): its table. learn takes an
     * item of the sample as it comes to the step; learned ends it, records_each: records that each
     * item of the sample stands for. table gives what is to be kept, in the arena or borrowed from
     * the state; load takes that instead of learning. All four, or none. */
    int (*learn)(const struct step *step, const struct item *in, struct tare_error *error);
    /* Bytes of items of which learn keeps no more: the sample is then of as many records as make
     * them. 0: it looks at each record of a whole sample. */
    int64_t learn_bytes;
    int (*learned)(const struct step *step, double records_each, struct tare_error *error);
    int (*table)(const struct step *step, struct arena *arena, struct item *out,
                 struct tare_error *error);
    int (*load)(const struct step *step, struct arena *arena, const struct item *table,
                struct tare_error *error);
    /* How many times as long a byte takes as in a step that only writes it out: plan takes a sample
     * that is as much smaller. NULL: once. */
    int64_t (*effort)(const struct step *step);
    /* Items one after another in a file (tare encode, tare decode). frame appends an item to the
     * stream; NULL: as it is. unframe finds the first item that the stream's bytes begin with and
     * its length with what frames it; a length of 0: it isn't whole yet; an item without bytes:
     * nothing but white space. last: no bytes will follow. Of steps that give bytes. */
    void (*frame)(const struct step *step, struct slice item, struct buffer *stream);
    int (*unframe)(const struct step *step, struct slice stream, bool last, struct slice *item,
                   size_t *length, struct tare_error *error);
};

struct step {
    const struct step_kind *kind;
    int64_t parameter;
    void *state; /* the kind's own */
};

/* Receives the objects of a record, in the order in which they are written. */
typedef int object_sink(void *context, const struct object *object, struct tare_error *error);

struct shape_kind {
    const char *store; /* "redis": the family; servers of a store.h kind name theirs */
    const char *name;  /* "hash" */
    const char *summary;
    const char *example; /* "redis:hash@index" */
    enum form takes;
    const char
        *default_step; /* taken where a bytes shape is given a record without a codec: "json" */
    const struct option_spec *options; /* the @ options, parsed into struct shape_options */
    /* How many records an object holds, as `bucket=100`: the most, and what it is where no number
     * is given; 0 is all of them. batch_most 0: an object a record, no number is taken. */
    int64_t batch_most, batch_default;
    enum object_type holds; /* the type of the objects that hold records */
    /* A module that the server needs for them, by its file's name; NULL: none. */
    const char *module;
    /* Settings that the server of this cell needs, by the server's own names
     * (@listpack: hash-max-listpack-value). largest: figures of the data's first records
     * ("elements", "element.bytes": the largest seen). May be NULL. */
    void (*server_settings)(const struct encoding *encoding, const struct figures *largest,
                            struct figures *settings);
    /* Looks at the options once they are parsed; may be NULL. */
    int (*check)(struct encoding *encoding, struct tare_error *error);
    int (*encode)(struct encoding *encoding, struct arena *arena, const struct item *item,
                  const struct record *record, object_sink *sink, void *context,
                  struct tare_error *error);
    /* What a client does with the object that it has read: its record or bytes, as `takes` says,
     * into *item, whose form is set. like: the record, whose fields tell the types of those that
     * the store holds as text, in the same order. */
    int (*decode)(const struct encoding *encoding, struct arena *arena, const struct object *object,
                  const struct record *like, struct item *item, struct tare_error *error);
    /* What is held is the record itself, in the reader's own memory: reading takes no decoding, and
     * decode is of what was handed over. */
    bool read_in_place;
};

/* All @ options of all shapes; a shape's option table names those it takes. */
struct shape_options {
    bool index;    /* redis:hash@index */
    bool listpack; /* redis:hash@listpack */
    int64_t ttl;   /* @ttl=SECONDS; 0: none */
    int id;        /* mongodb: @id=given|objectid|number, enum bson_id */
    char *field;   /* mongodb: @index=FIELD[:hashed]; NULL: none */
};

#define ENCODING_STEPS_MAX 8
#define ENCODING_DEPTH_MAX RECORD_DEPTH_MAX

struct encoding {
    char *text; /* as normalised: default steps shown, "redis:string+json" */
    const struct shape_kind *shape;
    struct step steps[ENCODING_STEPS_MAX];
    size_t step_count;
    struct shape_options options;
    int64_t batch;             /* records an object, where the shape takes a number; 0: all */
    struct object_index index; /* of options.field, by the shape's check */
    char *index_field;         /* its field, where steps gave it another name */
    bool step_defaulted;       /* the first step is the shape's default one */
    bool learned;              /* encoding_learn() was called */
    char *options_text;        /* as given: "@index@ttl=864000"; "" where there are none */
    struct buffer scratch[3];  /* two for the chain's steps in turn, one for the shape */
};

extern const struct step_kind *const step_kinds[];   /* NULL-terminated */
extern const struct shape_kind *const shape_kinds[]; /* NULL-terminated */
int encoders_check(struct tare_error *error);
/* The same of two tables, NULL-terminated, for tests; examples are parsed by the real tables. */
int encoder_tables_check(const struct step_kind *const steps[],
                         const struct shape_kind *const shapes[], struct tare_error *error);

/* Parses and checks a whole encoding: unknown shape, step or option names the
 * nearest; an impossible chain ("+zstd+json") says why. Free with encoding_free(). */
struct encoding *encoding_parse(const char *text, struct tare_error *error);
/* Steps alone, "json" or "short+msgpack+zstd=9", for `tare encode`; shape is NULL. */
struct encoding *encoding_parse_steps(const char *text, struct tare_error *error);
/* Where the data set's records are one value each (kv) and no codec was named, the value itself is
 * the bytes: the default step becomes `value`, and text shows it. Call it before encoding_apply().
 */
void encoding_fit(struct encoding *encoding, const struct dataset *dataset);
void encoding_free(struct encoding *encoding);

/* A record through the chain: objects go to the sink; all memory is the arena's. */
int encoding_apply(struct encoding *encoding, const struct record *record, struct arena *arena,
                   object_sink *sink, void *context, struct tare_error *error);
/* Steps alone: the bytes of a record, borrowed until the next call. */
int encoding_bytes(struct encoding *encoding, const struct record *record, struct arena *arena,
                   struct slice *bytes, struct counted *counted, struct tare_error *error);

/* Has every step that learns do so, from an evenly spread sample of the `records` records that will
 * be encoded; what is learned is a pure function of them. Call it before anything is encoded; more
 * calls do nothing. */
int encoding_learn(struct encoding *encoding, struct dataset *dataset, int64_t records,
                   struct tare_error *error);
/* The same from so many records, evenly spread. */
int encoding_learn_from(struct encoding *encoding, struct dataset *dataset, int64_t looks,
                        int64_t records, struct tare_error *error);
/* How many of the steps learn, and so keep a table. */
size_t encoding_table_count(const struct encoding *encoding);
/* The tables as objects of the store, under keys of their own, "tare:STEP": whoever reads the
 * records needs them. A table goes through the steps behind its own, as the records do; it is
 * counted as `dictionary`. */
int encoding_tables(struct encoding *encoding, struct arena *arena, object_sink *sink,
                    void *context, struct tare_error *error);
/* The efforts of all steps, of which the dearest counts: 1 and more. */
int64_t encoding_effort(const struct encoding *encoding);
/* Appends the tables to a stream, framed as the records that follow; the last step's first, since
 * it is needed to read those of the steps before it. */
int encoding_frame_tables(struct encoding *encoding, struct arena *arena, struct buffer *stream,
                          struct tare_error *error);
/* Loads the table that is item `number` of a stream, from 0. */
int encoding_load_table(struct encoding *encoding, size_t number, struct slice bytes,
                        struct arena *arena, struct tare_error *error);

/* Appends what encoding_bytes() gave to a stream of records, framed as its last step frames. */
void encoding_frame(const struct encoding *encoding, struct slice bytes, struct buffer *stream);
/* The inverse: see unframe of struct step_kind. */
int encoding_unframe(const struct encoding *encoding, struct slice stream, bool last,
                     struct slice *item, size_t *length, struct tare_error *error);

/* The inverse of encoding_bytes(): the record is the arena's; its key is empty, since a key is not
 * in the bytes. */
int encoding_undo(struct encoding *encoding, struct slice bytes, struct arena *arena,
                  struct record *record, struct tare_error *error);
/* The inverse of encoding_apply(), from the object that holds the record `like`: what a client that
 * knows the types of its fields makes of it. The record is the arena's; its key is empty. */
int encoding_read(struct encoding *encoding, const struct object *object, const struct record *like,
                  struct arena *arena, struct record *record, struct tare_error *error);

#endif

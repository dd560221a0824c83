/* Data set `file`: records of a file, and the formats that it may have. A format is one file that
 * ends in one const struct, and a line in file.c's table. */
#ifndef TARE_DATA_FILE_H
#define TARE_DATA_FILE_H

#include "data/dataset.h"
#include "data/input.h"
#include "data/json_text.h"

/* The longest record of a file: what is longer is more likely a quote or a bracket that is missing.
 * MongoDB takes 16 MiB. */
#define FILE_RECORD_MAX ((size_t)64 * 1024 * 1024)
/* The longest key: a longer field is data. */
#define FILE_KEY_MAX ((size_t)64 * 1024)

struct file_format;

/* A place between two records, from which reading can go on. */
struct file_place {
    int64_t offset;     /* of the input */
    int64_t line;       /* in which the next byte stands, from 1 */
    int64_t line_start; /* offset of that line's first byte */
    int64_t frames;     /* before it: what looks like records */
    int64_t records;    /* before it: those that are none of the bad ones */
};

/* What a format takes for the next record: bytes of the window. */
struct file_frame {
    size_t begin, length;
    struct file_place place; /* of its first byte */
};

/* Places of every `stride`-th record, so that any can be reached without reading from the start;
 * thinned out when it is full. */
#define FILE_INDEX_SIZE 8192
struct file_index {
    struct file_place *places;
    size_t count;
    int64_t stride;
};

struct file {
    /* Options. */
    char *key;        /* the field that the key is; NULL: keys are numbered */
    char *key_prefix; /* before the number */
    int format_given; /* index into the table; -1: by the name's end, or the contents */
    int separator;    /* of CSV: index into its table; -1: by the name's end */
    bool numbered, numbers, skip_bad, extended;

    struct input input;
    bool started;
    const struct file_format *format;
    void *format_state;      /* made by begin, freed by end */
    struct file_place start; /* of the first record */
    struct file_place next;  /* of what is read next; its offset is the input's */
    struct file_index index;
    struct json_reader json;
    struct arena scratch; /* of records that are looked at and left out */

    int64_t bad, bad_until; /* how many were left out among the frames before this one */
    char *first_bad;        /* why the first was */
    int64_t *repeated;      /* frames whose key stood before, ascending; left out */
    size_t repeated_count;
    bool span_known; /* every key was looked at */
    bool has_numbers;
    int64_t least, most; /* of keys that are numbers */
};

struct file_format {
    const char *name;              /* "ndjson", for format= */
    const char *title;             /* "NDJSON" */
    const char *const *extensions; /* of names, NULL-terminated: ".ndjson" */
    bool json;                     /* records are JSON: option `extended` is for it */
    bool binary;                   /* places are told by record and byte, not by line and column */
    const char *usual_key; /* the field that the key is where nothing is said; may be NULL */
    /* Reads what stands before the first record; may be NULL. */
    int (*begin)(struct file *file, struct tare_error *error);
    /* Finds the next record and goes behind it; *found is false at the end. An error where what
     * follows could not be found either. */
    int (*frame)(struct file *file, struct file_frame *frame, bool *found,
                 struct tare_error *error);
    /* Reads a record; *fault is the byte of it at which an error is. */
    int (*parse)(struct file *file, const struct file_frame *frame, struct arena *arena,
                 struct record *record, size_t *fault, struct tare_error *error);
    void (*end)(struct file *file); /* may be NULL */
};

extern const struct file_format *const file_formats[]; /* NULL-terminated */

/* For formats. */

/* The frame's bytes, a copy in the arena with a NUL behind it. */
char *file_copy(const struct file *file, const struct file_frame *frame, struct arena *arena);
/* Goes `length` bytes on; the lines among them are counted. */
void file_pass(struct file *file, size_t length);
/* Passes white space; *next is the character behind it, -1 at the end. */
int file_pass_blanks(struct file *file, int *next, struct tare_error *error);
/* An error if more than FILE_RECORD_MAX bytes were looked at for the end of a record that begins at
 * the next byte. */
int file_check_length(const struct file *file, size_t length, struct tare_error *error);
/* Puts the place of a byte of the frame before an error: "FILE:LINE:COLUMN: ". Returns -1. */
int file_fault(const struct file *file, const struct file_frame *frame, size_t byte,
               struct tare_error *error);
/* The same of the next byte. */
int file_fault_here(const struct file *file, struct tare_error *error);
/* The frame's JSON object as the record: its members; an error for any other value. */
int file_read_json(struct file *file, const struct file_frame *frame, struct arena *arena,
                   struct record *record, size_t *fault, struct tare_error *error);

#endif

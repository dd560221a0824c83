/* A caller-owned error: one line that says what is wrong, where, and what to
 * do. Lower case, the subject quoted, no full stop (git's habit). Functions
 * that can fail return 0 or -1 and fill the error; they never print or exit. */
#ifndef TARE_CORE_ERROR_H
#define TARE_CORE_ERROR_H

/* The process's exit codes; an error carries the one that it leads to. */
enum tare_status {
    TARE_OK = 0,
    TARE_USAGE = 1,   /* usage or input */
    TARE_STORE = 2,   /* a store failed; results so far are written */
    TARE_STRICT = 3,  /* --strict: share unattributed over the limit */
    TARE_SIGNAL = 128 /* + the signal's number */
};

struct tare_error {
    enum tare_status status;
    char message[600];
};

/* Fills *error (if not NULL) and returns -1, so that callers can write
 * `return error_set(error, ...)`. A message that is too long is cut. */
int error_set(struct tare_error *error, enum tare_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "prefix: " before the message that *error holds already; returns -1. */
int error_prefix(struct tare_error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

/* Processes that tare starts: in a private temporary folder, with a death
 * signal, gone afterwards in every case. A folder holds a lock that its tare
 * keeps; a stale folder (lock free) is swept by the next tare. */
#ifndef TARE_STORES_PROCESS_H
#define TARE_STORES_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/buffer.h"
#include "core/error.h"

struct process {
    pid_t pid;        /* 0: not running */
    char folder[256]; /* private, mode 0700; "" none */
    int lock;         /* descriptor of the folder's lock */
    char log[300];    /* path of the captured stdout and stderr */
};

/* Makes the folder (under TMPDIR or /tmp: "tare-XXXXXX") and sweeps stale ones of this user. */
int process_folder(struct process *process, struct tare_error *error);
/* Starts arguments[0] (argv, NULL-terminated) with its working directory in the folder. Must be
 * called from the main thread: the death signal is bound to it. The program's last lines of log
 * are in the error when it ends at once. Inherits the environment. Signals blocked by tare are
 * unblocked in the child; the child has its own process group, so that a Ctrl-C reaches it only
 * through tare. */
int process_start(struct process *process, char *const arguments[], struct tare_error *error);
/* True while it runs; reaps it when it ended. */
bool process_alive(struct process *process);
/* Last line(s) of its log that look like a reason, for messages. */
void process_last_words(const struct process *process, struct buffer *out);
/* TERM, then KILL after `patience_ms`; waits. */
void process_stop(struct process *process, int patience_ms);
/* Stops with KILL and removes the folder and all in it. */
void process_remove(struct process *process);
/* Async-signal-safe emergency: kills every started process and nothing else. */
void process_kill_all(void);
/* Finds a program: a path with a slash as it is, else on PATH; NULL where none. Caller frees. */
char *process_find_program(const char *name);

/* Set by the signal handler that main installs; long waits and loads look at it. */
extern volatile int process_interrupted; /* signal number, 0: none */
/* If interrupted: fills the error with status TARE_SIGNAL + number and returns -1. */
int process_check_interrupt(struct tare_error *error);

/* Whether process pid is what listens at this unix socket or TCP port on this
 * host (its executable and listening socket are the server's): 0 yes; -1 with the reason. */
int process_owns_listener(pid_t pid, const char *program, const char *socket_path, int port,
                          struct tare_error *error);
/* The process that listens at this unix socket (socket_path not NULL) or TCP port of this host:
 * its pid, or 0 with the reason (nothing seen, no permission, several of them). */
pid_t process_find_listener(const char *socket_path, int port, struct tare_error *error);
/* Runs arguments[0] for its output ("mongod --version"): stdout and stderr into *out, at most
 * 64 KiB of it. -1 where it can't be run, ends with an error, or takes longer than patience_ms
 * (it is killed then). */
int process_capture(char *const arguments[], int patience_ms, struct buffer *out,
                    struct tare_error *error);
/* VmRSS of /proc/PID/status in bytes; false where it can't be read. */
bool process_resident(pid_t pid, int64_t *bytes);
/* Processor time that a process has taken, all its threads; 0 where it isn't seen. */
double process_cpu_seconds(pid_t pid);
/* A pause of this many milliseconds; a signal ends it early. */
void process_pause(int milliseconds);

#endif

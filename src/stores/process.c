/* Processes that tare starts, and other processes as /proc shows them.
 *
 * Three things see to it that nothing stays behind. The death signal kills a server when the
 * thread that started it ends, however tare ends. The lock in the private folder is let go by the
 * kernel with the process that held it, so that the next tare knows which folders are stale. And
 * close() of a store removes both at once where tare ends as it should. */
#include "stores/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/memory.h"

#define FOLDER_PREFIX "tare-"
#define FOLDER_RANDOM 6 /* mkdtemp's XXXXXX */
#define LOCK_NAME     "tare.lock"
#define LOG_NAME      "server.log"
#define CAPTURE_MOST  65536 /* of what process_capture() is told */

volatile int process_interrupted;

/* ---- what runs ----------------------------------------------------------------------------- */

/* Read by a signal handler: a slot is written in one store, and cleared before its process is
 * reaped, so that no number in it can have been given to another process. */
#define STARTED_MAX 32
static volatile pid_t started[STARTED_MAX];

static int started_add(pid_t pid)
{
    for (int i = 0; i < STARTED_MAX; i++)
        if (started[i] == 0) {
            started[i] = pid;
            return 0;
        }
    return -1;
}

static void started_remove(pid_t pid)
{
    for (int i = 0; i < STARTED_MAX; i++)
        if (started[i] == pid)
            started[i] = 0;
}

void process_kill_all(void)
{
    int saved = errno;
    for (int i = 0; i < STARTED_MAX; i++) {
        pid_t pid = started[i];
        if (pid > 0) {
            kill(-pid, SIGKILL); /* its group: a child that saves in the background too */
            kill(pid, SIGKILL);
        }
    }
    errno = saved;
}

void process_pause(int milliseconds)
{
    struct timespec pause = {milliseconds / 1000, (long)(milliseconds % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int process_check_interrupt(struct tare_error *error)
{
    int number = process_interrupted;
    if (number == 0)
        return 0;
    const char *name = sigabbrev_np(number);
    return error_set(error, (enum tare_status)(TARE_SIGNAL + number), "interrupted by SIG%s",
                     name ? name : "?");
}

/* ---- the private folder -------------------------------------------------------------------- */

static const char *temporary_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] == '/' ? folder : "/tmp";
}

/* Removes what is in the folder open at `descriptor`, and closes it. Never follows a symbolic
 * link, so that nothing outside can be reached. */
static void remove_inside(int descriptor)
{
    DIR *folder = fdopendir(descriptor);
    if (!folder) {
        close(descriptor);
        return;
    }
    struct dirent *entry;
    while ((entry = readdir(folder))) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        if (unlinkat(descriptor, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
            continue;
        int inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner < 0 && errno == EACCES) {
            fchmodat(descriptor, name, 0700, 0);
            inner = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        }
        if (inner >= 0)
            remove_inside(inner);
        unlinkat(descriptor, name, AT_REMOVEDIR);
    }
    closedir(folder);
}

static void remove_folder(const char *path)
{
    /* A process that was killed a moment ago may still have made a file after we looked. */
    for (int attempt = 0; attempt < 20; attempt++) {
        int descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (descriptor < 0) {
            if (errno != EACCES || chmod(path, 0700) != 0)
                return;
            continue;
        }
        remove_inside(descriptor);
        if (rmdir(path) == 0 || errno == ENOENT)
            return;
        process_pause(10);
    }
}

static bool is_folder_name(const char *name)
{
    size_t prefix = strlen(FOLDER_PREFIX);
    if (strncmp(name, FOLDER_PREFIX, prefix) != 0 || strlen(name) != prefix + FOLDER_RANDOM)
        return false;
    for (const char *c = name + prefix; *c; c++)
        if (!isalnum((unsigned char)*c))
            return false;
    return true;
}

/* Takes the lock of a folder, without making it: -1 where there is none or another tare has it. */
static int take_lock(int folder, int flags)
{
    int lock = openat(folder, LOCK_NAME, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (lock < 0)
        return -1;
    struct stat status;
    /* The last: a sweep had it before us and has unlinked it by now. */
    if (flock(lock, LOCK_EX | LOCK_NB) != 0 || fstat(lock, &status) != 0 || status.st_nlink == 0) {
        close(lock);
        return -1;
    }
    return lock;
}

static void sweep_one(const char *base, int parent, const char *name)
{
    struct stat status;
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    if (fstat(folder, &status) == 0 && status.st_uid == geteuid()) {
        char path[PATH_MAX];
        int length = snprintf(path, sizeof path, "%s/%s", base, name);
        int lock = take_lock(folder, 0);
        if (lock >= 0 && length < (int)sizeof path) {
            remove_folder(path);
        } else if (lock < 0 && faccessat(folder, LOCK_NAME, F_OK, 0) != 0 &&
                   time(NULL) - status.st_mtime > 60) {
            /* Its tare ended between two system calls. A folder that holds anything else but
             * has no lock of ours is none of ours: rmdir leaves it. */
            unlinkat(parent, name, AT_REMOVEDIR);
        }
        if (lock >= 0)
            close(lock);
    }
    close(folder);
}

static void sweep(const char *base)
{
    DIR *folder = opendir(base);
    if (!folder)
        return;
    struct dirent *entry;
    while ((entry = readdir(folder)))
        if (is_folder_name(entry->d_name))
            sweep_one(base, dirfd(folder), entry->d_name);
    closedir(folder);
}

int process_folder(struct process *process, struct tare_error *error)
{
    const char *base = temporary_folder();
    sweep(base);
    memset(process, 0, sizeof *process);
    process->lock = -1;
    for (int attempt = 0; attempt < 10; attempt++) {
        int length =
            snprintf(process->folder, sizeof process->folder, "%s/%sXXXXXX", base, FOLDER_PREFIX);
        /* A unix socket's path holds 107 bytes: leave room for its name. */
        if (length > 80) {
            process->folder[0] = 0;
            return error_set(error, TARE_STORE,
                             "the temporary folder '%s' has too long a path for a unix socket; "
                             "set TMPDIR to a shorter one",
                             base);
        }
        if (!mkdtemp(process->folder)) {
            int reason = errno;
            process->folder[0] = 0;
            return error_set(error, TARE_STORE,
                             "cannot make a temporary folder in '%s': %s; set TMPDIR to another",
                             base, strerror(reason));
        }
        int folder = open(process->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder >= 0) {
            process->lock = take_lock(folder, O_CREAT);
            close(folder);
        }
        if (process->lock >= 0) {
            snprintf(process->log, sizeof process->log, "%s/%s", process->folder, LOG_NAME);
            return 0;
        }
        /* Another tare's sweep was quicker than we: once more, under another name. */
        remove_folder(process->folder);
    }
    process->folder[0] = 0;
    return error_set(error, TARE_STORE, "cannot lock a temporary folder in '%s': %s", base,
                     strerror(errno));
}

/* ---- starting and stopping ----------------------------------------------------------------- */

/* In the child, between fork and exec: only what is async-signal-safe. */
static void become(const char *program, char *const arguments[], const char *folder,
                   const char *log, int output, pid_t parent, int report)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127); /* tare ended before the death signal was set */
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    int in = open("/dev/null", O_RDONLY);
    int out = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0600) : output;
    int failed = in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0 ||
                 (folder && chdir(folder) != 0);
    if (!failed) {
        /* Nothing of tare's own (connections, exports, locks) reaches the server. */
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
        if (syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0)
            for (int i = 3; i < 1024; i++)
                fcntl(i, F_SETFD, FD_CLOEXEC);
        execv(program, arguments);
    }
    int reason = errno;
    if (write(report, &reason, sizeof reason) < 0)
        _exit(126);
    _exit(127);
}

/* fork and exec; the child's pid, or -1. */
static pid_t spawn(char *const arguments[], const char *folder, const char *log, int output,
                   struct tare_error *error)
{
    int report[2];
    if (access(arguments[0], X_OK) != 0)
        return error_set(error, TARE_STORE, "cannot start '%s': %s", arguments[0], strerror(errno));
    char *program = memory_text(arguments[0]);
    if (program[0] != '/') { /* the child changes its folder before exec */
        char current[PATH_MAX];
        char *whole =
            getcwd(current, sizeof current) ? memory_format("%s/%s", current, program) : NULL;
        free(program);
        if (!whole)
            return error_set(error, TARE_STORE, "cannot start '%s': %s", arguments[0],
                             strerror(errno));
        program = whole;
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        free(program);
        return error_set(error, TARE_STORE, "cannot start '%s': %s", arguments[0], strerror(errno));
    }
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        close(report[0]);
        become(program, arguments, folder, log, output, parent, report[1]);
    }
    int reason = pid < 0 ? errno : 0;
    close(report[1]);
    free(program);
    if (pid > 0) {
        setpgid(pid, pid); /* in both, so that it is so before either goes on */
        int code = 0;
        ssize_t got;
        do
            got = read(report[0], &code, sizeof code);
        while (got < 0 && errno == EINTR);
        if (got > 0) {
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                ;
            reason = got == (ssize_t)sizeof code ? code : EIO;
        }
    }
    close(report[0]);
    if (reason)
        return error_set(error, TARE_STORE, "cannot start '%s': %s", arguments[0],
                         strerror(reason));
    return pid;
}

int process_start(struct process *process, char *const arguments[], struct tare_error *error)
{
    pid_t pid = spawn(arguments, process->folder, process->log, -1, error);
    if (pid < 0)
        return -1;
    if (started_add(pid) != 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
        return error_set(error, TARE_STORE, "cannot start '%s': %d servers run already",
                         arguments[0], STARTED_MAX);
    }
    process->pid = pid;
    /* A wrong option ends most programs within milliseconds. */
    process_pause(20);
    if (!process_alive(process)) {
        struct buffer words = {0};
        process_last_words(process, &words);
        error_set(error, TARE_STORE, "'%s' ended at once: %s", arguments[0],
                  words.length ? words.data : "it said nothing");
        buffer_free(&words);
        return -1;
    }
    return 0;
}

bool process_alive(struct process *process)
{
    if (process->pid <= 0)
        return false;
    siginfo_t info = {0};
    int result;
    do
        result = waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    while (result != 0 && errno == EINTR);
    if (result == 0 && info.si_pid == 0)
        return true;
    /* It ended but isn't reaped, so its number is still its own: forget it, then reap. What it
     * left running in its group goes with it. */
    started_remove(process->pid);
    kill(-process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    process->pid = 0;
    return false;
}

static bool ends_within(struct process *process, int patience_ms)
{
    int64_t until = now_ms() + patience_ms;
    int pause = 1;
    while (process_alive(process)) {
        if (now_ms() >= until)
            return false;
        process_pause(pause);
        if (pause < 20)
            pause *= 2;
    }
    return true;
}

void process_stop(struct process *process, int patience_ms)
{
    if (!process_alive(process))
        return;
    if (patience_ms > 0) {
        kill(process->pid, SIGTERM);
        if (ends_within(process, patience_ms))
            return;
    }
    kill(-process->pid, SIGKILL);
    kill(process->pid, SIGKILL);
    /* The kernel takes back gigabytes in some tenths of a second; nothing can refuse it. */
    ends_within(process, 60000);
}

void process_remove(struct process *process)
{
    process_stop(process, 0);
    if (process->folder[0]) {
        remove_folder(process->folder);
        process->folder[0] = 0;
        /* 0 may be the lock's number only where there is a folder. */
        if (process->lock >= 0)
            close(process->lock);
        process->lock = -1;
    }
}

int process_capture(char *const arguments[], int patience_ms, struct buffer *out,
                    struct tare_error *error)
{
    int output[2];
    if (pipe2(output, O_CLOEXEC) != 0)
        return error_set(error, TARE_STORE, "cannot run '%s': %s", arguments[0], strerror(errno));
    pid_t pid = spawn(arguments, NULL, NULL, output[1], error);
    close(output[1]);
    if (pid < 0) {
        close(output[0]);
        return -1;
    }
    int64_t until = now_ms() + patience_ms;
    bool ended = false;
    while (1) {
        char piece[4096];
        struct pollfd waiting = {.fd = output[0], .events = POLLIN};
        int64_t left = until - now_ms();
        int ready = left > 0 ? poll(&waiting, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR && !process_interrupted)
            continue;
        if (ready <= 0)
            break;
        ssize_t got = read(output[0], piece, sizeof piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            ended = got == 0;
            break;
        }
        /* What is past the limit is read too, and dropped: the program is to come to its end. */
        size_t room = CAPTURE_MOST - out->length;
        buffer_append(out, piece, (size_t)got < room ? (size_t)got : room);
    }
    close(output[0]);
    /* A program may close its output and go on. */
    if (ended) {
        siginfo_t info = {0};
        while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid &&
               now_ms() < until && !process_interrupted)
            process_pause(1);
        ended = info.si_pid != 0;
    }
    if (!ended)
        kill(-pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (process_check_interrupt(error))
        return -1;
    if (!ended)
        return error_set(error, TARE_STORE, "'%s %s' did not end within %d ms", arguments[0],
                         arguments[1] ? arguments[1] : "", patience_ms);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        size_t line = out->length ? strcspn(out->data, "\n") : 0;
        return error_set(error, TARE_STORE, "'%s %s' failed: %.*s", arguments[0],
                         arguments[1] ? arguments[1] : "", line ? (int)line : 15,
                         line ? out->data : "it said nothing");
    }
    return 0;
}

/* ---- last words ---------------------------------------------------------------------------- */

/* The text of a member of a JSON log line, without its quotes; false where there is none. */
static bool json_text(const char *line, const char *member, char *out, size_t size)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":\"", member);
    const char *from = strstr(line, wanted);
    if (!from)
        return false;
    size_t length = 0;
    for (from += strlen(wanted); *from && *from != '"' && length + 1 < size; from++) {
        if (*from == '\\' && from[1])
            from++;
        out[length++] = *from;
    }
    out[length] = 0;
    return length > 0;
}

/* A line as it is worth telling: without what precedes the message, or "" where it tells
 * nothing. */
static void telling_part(char *line, char *out, size_t size)
{
    out[0] = 0;
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    while (*line == ' ')
        line++;
    size_t length = strlen(line);
    while (length && line[length - 1] == ' ')
        line[--length] = 0;
    if (line[0] == '{' && strstr(line, "\"msg\":")) { /* mongod 4.4+: one JSON object a line */
        char severity[8] = "", message[200] = "", reason[300] = "";
        json_text(line, "s", severity, sizeof severity);
        if (severity[0] != 'E' && severity[0] != 'F')
            return;
        json_text(line, "msg", message, sizeof message);
        bool has = json_text(line, "error", reason, sizeof reason) ||
                   json_text(line, "errmsg", reason, sizeof reason) ||
                   json_text(line, "reason", reason, sizeof reason);
        snprintf(out, size, "%s%s%s", message, has ? ": " : "", has ? reason : "");
        return;
    }
    if (strncmp(line, "try '", 5) == 0)
        return; /* mongod: "try 'mongod --help' for more information" */
    /* redis: "12345:M 30 Nov 2026 22:30:00.123 # message"; a level above notice tells why. */
    char *c = line;
    while (isdigit((unsigned char)*c))
        c++;
    if (c > line && c[0] == ':' && c[1] && c[2] == ' ') {
        char *mark = strpbrk(c + 3, "#*.-");
        while (mark && !(mark[-1] == ' ' && mark[1] == ' '))
            mark = strpbrk(mark + 1, "#*.-");
        if (!mark || *mark != '#')
            return;
        line = mark + 2;
        if (strncmp(line, "WARNING", 7) == 0 || strncmp(line, "Warning", 7) == 0)
            return;
    }
    snprintf(out, size, "%s", line);
}

void process_last_words(const struct process *process, struct buffer *out)
{
    enum { TAIL = 16384, LINES = 3 };
    char *text = memory_new(TAIL + 1);
    char lines[LINES][512] = {{0}}; /* a message and a reason, each at its longest */
    size_t count = 0, got = 0;
    int log = open(process->log, O_RDONLY | O_CLOEXEC);
    if (log >= 0) {
        off_t end = lseek(log, 0, SEEK_END);
        off_t from = end > TAIL ? end - TAIL : 0;
        ssize_t result;
        while (got < TAIL && (result = pread(log, text + got, TAIL - got, from + (off_t)got)) > 0)
            got += (size_t)result;
        close(log);
    }
    text[got] = 0;
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        char part[sizeof lines[0]];
        if (strstr(line, "FATAL CONFIG FILE ERROR")) { /* what follows is the reason, whole */
            count = 0;
            continue;
        }
        telling_part(line, part, sizeof part);
        if (!part[0])
            continue;
        if (count == LINES) {
            memmove(lines[0], lines[1], sizeof lines[0] * (LINES - 1));
            count--;
        }
        memcpy(lines[count++], part, sizeof part);
    }
    size_t before = out->length;
    for (size_t i = 0; i < count; i++)
        buffer_format(out, "%s%s", out->length > before ? "; " : "", lines[i]);
    while (out->length > before && out->data[out->length - 1] == '.')
        out->data[--out->length] = 0;
    free(text);
}

/* ---- programs ------------------------------------------------------------------------------ */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

char *process_find_program(const char *name)
{
    if (!name[0])
        return NULL;
    if (strchr(name, '/'))
        return is_program(name) ? memory_text(name) : NULL;
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t length = strcspn(path, ":");
        char *candidate = length ? memory_format("%.*s/%s", (int)length, path, name)
                                 : memory_format("./%s", name);
        if (is_program(candidate))
            return candidate;
        free(candidate);
        path += length;
        if (*path == ':')
            path++;
    }
    return NULL;
}

/* ---- other processes ----------------------------------------------------------------------- */

#define INODES_MAX 64

struct inodes {
    unsigned long items[INODES_MAX];
    size_t count;
};

/* Inodes of the sockets that listen at the TCP port: proc(5), /proc/net/tcp. */
static void tcp_listeners(const char *path, int port, struct inodes *inodes)
{
    char line[512];
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        unsigned local, state;
        unsigned long inode;
        /* sl: local:port remote:port state queues timer retransmits uid timeout inode */
        if (sscanf(line, " %*d: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*u %lu",
                   &local, &state, &inode) == 3 &&
            local == (unsigned)port && state == 0x0a /* TCP_LISTEN, linux/tcp_states.h */ &&
            inode && inodes->count < INODES_MAX)
            inodes->items[inodes->count++] = inode;
    }
    fclose(file);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether both name one socket: /var/run is a link to /run, and a server shows what it was told. */
static bool same_socket(const char *one, const char *other)
{
    if (strcmp(one, other) == 0)
        return true;
    struct stat a, b;
    return one[0] == '/' && strcmp(base_name(one), base_name(other)) == 0 && stat(one, &a) == 0 &&
           stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void unix_listeners(const char *socket_path, struct inodes *inodes)
{
    char line[512];
    FILE *file = fopen("/proc/net/unix", "re");
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        unsigned flags;
        unsigned long inode;
        int at = 0;
        line[strcspn(line, "\n")] = 0;
        /* Num RefCount Protocol Flags Type St Inode Path; a listener has __SO_ACCEPTCON */
        if (sscanf(line, "%*x: %*x %*x %x %*x %*x %lu %n", &flags, &inode, &at) == 2 && at > 0 &&
            (flags & 0x10000) && same_socket(line + at, socket_path) && inodes->count < INODES_MAX)
            inodes->items[inodes->count++] = inode;
    }
    fclose(file);
}

static void listeners(const char *socket_path, int port, struct inodes *inodes)
{
    inodes->count = 0;
    if (socket_path) {
        unix_listeners(socket_path, inodes);
    } else {
        tcp_listeners("/proc/net/tcp", port, inodes);
        tcp_listeners("/proc/net/tcp6", port, inodes);
    }
}

/* 1: the process holds one of the sockets; 0: it doesn't; -1: it may not be looked at (errno). */
static int holds_socket(pid_t pid, const struct inodes *inodes)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    int found = 0;
    struct dirent *entry;
    while (!found && (entry = readdir(folder))) {
        char link[64];
        ssize_t length = readlinkat(dirfd(folder), entry->d_name, link, sizeof link - 1);
        unsigned long inode;
        if (length <= 0)
            continue;
        link[length] = 0;
        if (sscanf(link, "socket:[%lu]", &inode) == 1)
            for (size_t i = 0; i < inodes->count; i++)
                found |= inodes->items[i] == inode;
    }
    closedir(folder);
    return found;
}

/* Whether the process runs this program: the same file, or a file of the same name (a wrapper
 * script starts the real one under its own name from another folder). */
static int runs_program(pid_t pid, const char *program, struct tare_error *error)
{
    char path[64], executable[PATH_MAX];
    struct stat mine, its;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(path, executable, sizeof executable - 1);
    if (length < 0) {
        if (errno == ENOENT)
            return error_set(error, TARE_STORE,
                             "process %d is not to be seen from here: another container's or ended",
                             (int)pid);
        return error_set(error, TARE_STORE,
                         "no permission to look at process %d: run tare as its user or as root",
                         (int)pid);
    }
    executable[length] = 0;
    char *deleted = strstr(executable, " (deleted)"); /* the file was replaced since */
    if (deleted)
        *deleted = 0;
    if (!program || strcmp(base_name(executable), base_name(program)) == 0)
        return 0;
    if (stat(path, &its) == 0) {
        /* Distributions make redis-server a link to redis-check-rdb: compare the files. */
        char *found = process_find_program(program);
        bool same = found && stat(found, &mine) == 0 && mine.st_dev == its.st_dev &&
                    mine.st_ino == its.st_ino;
        free(found);
        if (same)
            return 0;
    }
    return error_set(error, TARE_STORE, "process %d is '%s', not '%s'", (int)pid,
                     base_name(executable), base_name(program));
}

static void describe_place(const char *socket_path, int port, char *out, size_t size)
{
    if (socket_path)
        snprintf(out, size, "socket '%.100s'", socket_path);
    else
        snprintf(out, size, "port %d", port);
}

int process_owns_listener(pid_t pid, const char *program, const char *socket_path, int port,
                          struct tare_error *error)
{
    struct inodes inodes;
    char place[128];
    describe_place(socket_path, port, place, sizeof place);
    if (pid <= 0)
        return error_set(error, TARE_STORE, "there is no process %d", (int)pid);
    if (runs_program(pid, program, error))
        return -1;
    listeners(socket_path, port, &inodes);
    if (inodes.count == 0)
        return error_set(error, TARE_STORE, "nothing listens at %s on this host", place);
    int holds = holds_socket(pid, &inodes);
    if (holds < 0)
        return error_set(error, TARE_STORE,
                         "no permission to look at process %d: run tare as its user or as root",
                         (int)pid);
    if (holds == 0)
        return error_set(error, TARE_STORE, "process %d does not listen at %s", (int)pid, place);
    return 0;
}

pid_t process_find_listener(const char *socket_path, int port, struct tare_error *error)
{
    struct inodes inodes;
    char place[128];
    describe_place(socket_path, port, place, sizeof place);
    listeners(socket_path, port, &inodes);
    if (inodes.count == 0) {
        error_set(error, TARE_STORE, "nothing listens at %s on this host", place);
        return 0;
    }
    DIR *folder = opendir("/proc");
    pid_t found = 0;
    int count = 0;
    bool hidden = false;
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);
        if (*end || number <= 0)
            continue;
        int holds = holds_socket((pid_t)number, &inodes);
        hidden |= holds < 0 && errno == EACCES;
        if (holds == 1) {
            found = (pid_t)number;
            count++;
        }
    }
    if (folder)
        closedir(folder);
    if (count == 1)
        return found;
    if (count > 1)
        error_set(error, TARE_STORE, "%d processes listen at %s", count, place);
    else if (hidden)
        error_set(error, TARE_STORE,
                  "no permission to look at the process at %s: run tare as its user or as root",
                  place);
    else
        error_set(error, TARE_STORE, "the process at %s is not to be seen from here", place);
    return 0;
}

bool process_resident(pid_t pid, int64_t *bytes)
{
    char path[64], line[256];
    long long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && kib < 0 && fgets(line, sizeof line, file))
        sscanf(line, "VmRSS: %lld kB", &kib);
    if (file)
        fclose(file);
    if (kib < 0)
        return false;
    *bytes = kib * 1024;
    return true;
}

double process_cpu_seconds(pid_t pid)
{
    struct timespec now;
    clockid_t clock;
    if (pid <= 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &now) != 0)
        return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

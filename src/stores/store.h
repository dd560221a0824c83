/* Stores: kinds of server. tare starts one in a private folder, or connects to
 * a URL; guards what it may write to; loads, reads and wipes. Only src/stores
 * includes hiredis.h and mongoc.h. One kind is one file that ends in one const
 * struct, and one line in store.c's table. */
#ifndef TARE_STORES_STORE_H
#define TARE_STORES_STORE_H

#include <sys/types.h>

#include "core/error.h"
#include "core/figures.h"
#include "core/options.h"
#include "model/build.h"
#include "model/object.h"

/* --server KIND=TARGET[,k=v...] as parsed. */
enum target_type { TARGET_PROGRAM, TARGET_URL, TARGET_VERSION };

struct server_spec {
    char *text; /* as given, with any password replaced by *** : safe to print */
    const struct store_kind *kind;
    enum target_type target_type;
    char *target;    /* program path, URL (with its password: never print), or version */
    char *engine;    /* "memory", "disk" or NULL */
    char *allocator; /* of a version; NULL: upstream's own */
    int64_t quantum, page_size;
    int cache_oblivious; /* -1: not given */
};

/* A copy of a text that may hold a server's URL, with *** for the password of its user and for each
 * parameter named ...password: safe to print. The caller frees. */
char *server_text_masked(const char *text);
/* Parses; options are split off from the right, at known names only. */
int server_spec_parse(const char *text, struct server_spec *spec, struct tare_error *error);
/* The kind's program on PATH, else in the build folder (build/servers/...); an error names
 * what to install. engine as in the spec. */
int server_spec_default(const struct store_kind *kind, const char *engine, struct server_spec *spec,
                        struct tare_error *error);
/* A version to run on: becomes the program that set-up put into the build folder
 * (build/servers/KIND-VERSION/); an error says how to get it where it isn't there. */
int server_spec_find_version(struct server_spec *spec, struct tare_error *error);
/* A program to run: its path, where the kind's own program was named without one and isn't on PATH
 * but in the build folder; an error names what to install. Other targets stay as they are. */
int server_spec_find_program(struct server_spec *spec, struct tare_error *error);
/* For plan without --server: as server_spec_default, but where no program is found, the version
 * that the kind names (plan_version) as a TARGET_VERSION. */
int server_spec_plan_default(const struct store_kind *kind, struct server_spec *spec,
                             struct tare_error *error);
/* The build of a spec without starting a server: of a version by build_defaults and the spec's
 * options; of a program by what `PROGRAM --version` prints and what it is linked to; a URL is
 * connected to, read only. For plan. */
int server_spec_build(const struct server_spec *spec, struct build *build,
                      struct tare_error *error);
void server_spec_free(struct server_spec *spec);

/* What a cell lets the store do. */
struct store_limits {
    bool allow_config; /* --allow-config: CONFIG SET on a server that tare didn't start */
    bool keep;         /* --keep: leave what was written */
    bool read_only;    /* probe: nothing is ever written */
};

/* Receives the objects of a sample; borrowed for the call. */
typedef int store_object_sink(void *context, const struct object *object, struct tare_error *error);

/* About how much and how fast, for forecasts alone: what an empty server takes, and a load on two
 * processors that the server shares with tare (the README's benchmarks). */
struct store_pace {
    int64_t empty_bytes; /* resident, of the empty server */
    double start_seconds;
    double records_per_second, bytes_per_second; /* their times add up; 0: not known */
};

/* What a client of a workload does with one record. */
enum operation { OPERATION_READ, OPERATION_UPDATE, OPERATION_INSERT, OPERATION_MISS };
#define OPERATION_TYPES 4
extern const char *const operation_names[]; /* "read", ... */

/* One connection of a workload. Opened and closed by the main thread, used by one thread between;
 * no member looks after the server's process. */
struct store_client {
    struct store *store;
};

struct store_kind {
    const char *name;   /* "redis": the KIND of --server and the CSV's column store */
    const char *family; /* "redis": whose encodings it takes (valkey's is redis too) */
    const char *summary;
    const char *program; /* "redis-server"; NULL: none to start */
    const char *install; /* "apt-get install redis-server" : what to do where it is missing */
    const char *const *engines; /* NULL-terminated; NULL: none. The first is the default */
    const char *url_scheme;     /* "redis://"; NULL: no URL */
    const char
        *plan_version; /* what plan takes where no program is found: "7.0.15,allocator=..." */
    struct store_pace pace;
    /* Reads version and allocator from what `PROGRAM --version` printed. NULL where program is. */
    int (*build_of_version_text)(const char *program, const char *text, struct build *build,
                                 struct tare_error *error);

    /* Starts the program in a fresh private folder with these settings (the server's own
     * names; integers or texts), or connects to the URL and guards: with limits->read_only
     * false a non-empty database is refused. On failure everything is undone and gone. */
    struct store *(*open)(const struct server_spec *spec, const struct figures *settings,
                          const struct store_limits *limits, struct tare_error *error);
    /* The build of a store that is a part of tare, without opening it; NULL elsewhere. */
    void (*own_build)(struct build *build);
    /* One of store_common_settings in this kind's own settings, added to these; NULL where the kind
     * has none of them. An error says which values there are. */
    int (*common_setting)(const char *name, const struct figure *value, struct figures *settings,
                          struct tare_error *error);
    /* The build, from the server's own words. */
    int (*describe)(struct store *store, struct build *build, struct tare_error *error);
    /* Before the base sample: calls every command that the load of such objects will use once
     * and removes what it wrote (Redis); or nothing (MongoDB). State that only this can tell
     * (the hash seed's branch) goes into figures, "warmup.NAME". */
    int (*warm_up)(struct store *store, const struct object *objects, size_t count,
                   struct figures *figures, struct tare_error *error);
    /* The same state alone, by writing these objects and removing them; into figures too. Leaves
     * traces as a first call does. NULL: there is none. */
    int (*ask_branch)(struct store *store, const struct object *objects, size_t count,
                      struct figures *figures, struct tare_error *error);
    /* Loading: a session of its own connection(s), opened and closed between checkpoints. put
     * copies what it needs of the object before it returns and may write behind; flush waits
     * until all is acknowledged and reports any failed write. */
    int (*load_open)(struct store *store, struct tare_error *error);
    int (*put)(struct store *store, const struct object *object, struct tare_error *error);
    int (*flush)(struct store *store, struct tare_error *error);
    void (*load_close)(struct store *store);
    /* True in *quiet where the server itself says that nothing is under way (lazy frees,
     * rehashing, checkpoints); on disk it asks for a checkpoint first, once. May be NULL. */
    int (*settle)(struct store *store, bool *quiet, struct tare_error *error);
    /* The one or two figures that tell whether it is settled; also the checkpoints' figures:
     * "allocated" and, where it can be seen, "resident" (cheap). */
    int (*glance)(struct store *store, struct figures *figures, struct tare_error *error);
    /* Called before the probes read a base or an end: brings what the store's own connection takes
     * in the server to the same state at each. May be NULL. */
    int (*steady)(struct store *store, struct tare_error *error);
    /* Reads every object back once (step read); *count: how many there were. May be NULL. */
    int (*read_all)(struct store *store, int64_t *count, struct tare_error *error);
    /* A workload's client; all five, or none. add takes an operation on one record, of which it
     * copies what it needs, and sends nothing: its objects; for an update those before it too, so
     * that what differs alone is written. send sends what was added; take waits for the answer to
     * the oldest operation, and tells whether its record was there (an update where the server
     * says). in_flight_most: operations between an add and its take. */
    struct store_client *(*client_open)(struct store *store, struct tare_error *error);
    int (*client_add)(struct store_client *client, enum operation operation,
                      const struct object *objects, const struct object *before, size_t count,
                      struct tare_error *error);
    int (*client_send)(struct store_client *client, struct tare_error *error);
    int (*client_take)(struct store_client *client, bool *found, struct tare_error *error);
    void (*client_close)(struct store_client *client);
    int64_t in_flight_most;
    /* Up to `count` keys spread over the database, as objects with lengths (bytes where they may be
     * a number), counted; reads alone. *keys: how many the database holds; *skipped: keys of types
     * that aren't read, or too large to be. May be NULL. */
    int (*sample)(struct store *store, int64_t count, store_object_sink *sink, void *context,
                  int64_t *keys, int64_t *skipped, struct tare_error *error);
    /* What the server says of the memory of single values, where that is asked key by key. For a
     * probe; may be NULL. */
    int (*value_memory)(struct store *store, struct figures *figures, struct tare_error *error);
    /* Writes all to a file and reads it back in the same process (step reload); may be NULL. */
    int (*reload)(struct store *store, struct tare_error *error);
    /* Stops and starts the program again on the same folder (step restart); may be NULL. */
    int (*restart)(struct store *store, struct tare_error *error);
    /* What step restart leads to is held against a server that was restarted while it was empty. */
    bool restarts_empty;
    /* Asks a question in the store's own terms ("INFO", "MEMORY STATS", "CONFIG GET maxmemory";
     * for MongoDB "admin {\"serverStatus\": 1}") and flattens the reply into figures under
     * prefix; a reply that is one text is put at prefix itself. For probes. */
    int (*ask)(struct store *store, const char *question, const char *prefix,
               struct figures *figures, struct tare_error *error);
    /* Removes what tare wrote (unless limits->keep), restores settings, closes, stops the
     * program that tare started and removes its folder. Never fails visibly; safe to call in
     * any state. Frees the store. */
    void (*close)(struct store *store);
};

struct store {
    const struct store_kind *kind;
    struct store_limits limits;
    bool started;      /* by tare */
    pid_t pid;         /* of the server where it can be weighed; 0 where it can't be seen */
    char unseen[160];  /* why it can't be seen, one line; "" where it can */
    char address[128]; /* host:port or socket, for messages; no password */
    int64_t written;   /* objects acknowledged */
    /* How all objects came to be as they are, where it isn't by having been written: "rdb", read
     * from an RDB file. Constant text; NULL elsewhere. */
    const char *made_by;
    /* Freed pages that the store had its server's allocator give back before it was settled: bytes
     * that it took for resident. 0: none. */
    int64_t purged;
};

/* Settings that mean the same in each kind that has them: "aof" (off, everysec, always: how the
 * append-only file reaches the disk), "rdb" (off, or "SECONDS CHANGES"). NULL-terminated. */
extern const char *const store_common_settings[];

extern const struct store_kind *const store_kinds[]; /* NULL-terminated */
int store_kinds_check(struct tare_error *error);
/* The same of a table, NULL-terminated, for tests: an incomplete kind, or one name twice. */
int store_table_check(const struct store_kind *const kinds[], struct tare_error *error);
const struct store_kind *store_kind_of_name(const char *name); /* or NULL */
/* First kind of the family (default for an encoding). */
const struct store_kind *store_kind_of_family(const char *family);

#endif

/* What the files of the Redis and Valkey model share; no other file includes
 * this. redis.c is the model kind, redis_layouts.c the rows of constants,
 * redis_objects.c turns objects into blocks, redis_tables.c knows how tables
 * grow, redis_resident.c goes from used_memory to resident pages. */
#ifndef TARE_MODEL_REDIS_H
#define TARE_MODEL_REDIS_H

#include "model/model.h"

/* How a key and its object stand in memory. */
enum redis_key_form {
    REDIS_KEY_APART,     /* robj, key sds and dictEntry: three blocks (to Redis 8.0, Valkey 7.2) */
    REDIS_KEY_IN_ENTRY,  /* robj; the key sds inside the dictEntry (Valkey 8.0) */
    REDIS_KEY_IN_OBJECT, /* the object holds the key (Redis 8.2, Valkey 8.1) */
};

enum redis_table_form {
    REDIS_TABLE_CHAINED, /* dict.h: a pointer a bucket, entries in chains */
    REDIS_TABLE_KEYS,    /* the key tables of Redis 8.2: the first key of a bucket stands in it */
    REDIS_TABLE_BUCKETS  /* hashtable.c of Valkey 8.1: buckets of 64 bytes with 7 places */
};

enum redis_packed_form { REDIS_ZIPLIST, REDIS_LISTPACK };

enum redis_field_form {
    REDIS_FIELD_OBJECTS, /* a field and a value are objects of their own (to Redis 3.2) */
    REDIS_FIELD_STRINGS, /* a dictEntry, a field sds and a value sds */
    REDIS_FIELD_FUSED    /* one block of field and value where they are short (Valkey 9.x) */
};

/* What the value of a SET of 32 KiB and more keeps of the query buffer that it came in, which the
 * server takes for the value (networking.c, processMultibulkBuffer). */
enum redis_big_argument {
    REDIS_BIG_ROOM,      /* room that was made for the last big one, or in growing, up to a tenth */
    REDIS_BIG_ROOM_READ, /* the same, where room is made for the whole value behind what is read */
    REDIS_BIG_ROOM_USABLE, /* as REDIS_BIG_ROOM; the buffer knows its block's usable size (sds.c) */
    REDIS_BIG_LINE_END,    /* CR LF: it grows no further than it must, and is then read full */
};

struct redis_layout {
    const char *store;    /* "redis", "valkey" */
    int from;             /* the first version; up to the next row's of the same store */
    const char *range;    /* "7.0", for people */
    const char *verified; /* the builds on which this row was held against a server; NULL: none */

    enum redis_key_form key_form;
    enum redis_table_form key_table, field_table;
    enum redis_field_form field_form;
    enum redis_packed_form packed;
    int object;          /* sizeof(robj), server.h */
    int embstr_limit;    /* OBJ_ENCODING_EMBSTR_SIZE_LIMIT, object.c */
    int embedded_total;  /* a string stands in its key's block where both take no more; 0: never */
    int embedded_object; /* what of the object is left in such a block (object.c) */
    int embedded_value_limit; /* and the string is no longer than this */
    int expire_reserved_from; /* a key of this length reserves the 8 bytes of an expiry; 0: none */
    int entry;                /* sizeof(dictEntry), dict.h (dict.c from 7.2) */
    int entry_key_only;       /* sizeof(dictEntryNoValue), dict.c */
    int dict;            /* sizeof(dict); REDIS_TABLE_BUCKETS: sizeof(hashtable) of a field table */
    int zset_dict;       /* the same of a sorted set's table */
    int dict_step;       /* buckets that a rehash moves for each further field of a HSET */
    int dict_first_step; /* and for the field at which it began */
    int zset_dict_step;  /* the same for each ZADD */
    int skip_list;       /* sizeof(zskiplist), server.h; with its head where that is inside */
    int skip_list_head;  /* the head node, of all levels; 0: inside */
    int skip_list_node;  /* sizeof(zskiplistNode) without levels */
    bool member_in_node; /* the node holds the member's sds behind a byte of header size */
    int zset_entry;      /* what a sorted set's table needs a member, besides its bucket */
    int skip_list_levels; /* ZSKIPLIST_MAXLEVEL, server.h */
    int fused_total; /* REDIS_FIELD_FUSED: field and value share a block up to this (entry.c) */
    bool full_table_grows; /* serverCron enlarges a key table that holds as many keys as buckets
                              (kvstore.c, kvstoreTryResizeDicts) */
    int list;              /* sizeof(quicklist), quicklist.h */
    int list_node;         /* sizeof(quicklistNode) */
    bool list_bare;        /* a small list is a listpack without a quicklist (t_list.c, 7.2) */
    bool list_plain_above_limit; /* an element above the node's limit is a block of its own */
    bool integer_in_pointer;     /* SET frees the text of a number (tryObjectEncoding, object.c) */
    bool sized_from_count; /* HSET of more fields than the packed limit makes the table at once */
    bool sized_on_read;    /* a hash or sorted set read from an RDB file gets its table at once */
    bool sized_on_convert; /* a packed hash that is converted gets a table of its size at once */
    enum redis_big_argument big_argument;
};

/* Streams, by versions of their own (t_stream.c changed in patch releases). */
struct redis_stream_layout {
    const char *store;
    int from;
    const char *range;
    int stream;        /* sizeof(stream), stream.h */
    int tree;          /* sizeof(rax), rax.h */
    int reserved;      /* a new listpack's bytes (STREAM_LISTPACK_MAX_PRE_ALLOCATE), t_stream.c */
    bool counts_entry; /* stream-node-max-bytes holds for a listpack with the new entry in it */
    bool one_over;     /* a limit is passed before it closes a listpack */
};

/* NULL: the version has no streams. */
const struct redis_stream_layout *redis_stream_layout_of(const struct build *build);

const struct redis_layout *redis_layout_of(const struct build *build, bool *newer);
/* True where the last row of the table is not for this build's family at all. */
extern const struct redis_layout redis_layouts[];
extern const size_t redis_layout_count;

/* Bytes of the sds header for a string of this length (sds.h, sdsReqType), without the NUL. */
int redis_sds_header(int64_t length);
/* Header and NUL. */
int64_t redis_sds_overhead(int64_t length);

/* Buckets of a chained table that holds `keys` (dict.c, _dictNextExp): a power of two, 4 at least.
 */
int64_t redis_dict_buckets(int64_t keys);

/* What the tables of one hash may come to, by the branch that the server's hash seed takes. */
#define REDIS_OUTCOMES_MAX 24
struct redis_outcome {
    int64_t table;       /* bytes of the tables' arrays that stay */
    int64_t table_extra; /* child buckets: count; each a block of its own */
    int64_t old;         /* bytes of the array that stands until its rehash is finished; 0: gone */
    int64_t old_extra;
    double probability;
};
struct redis_outcomes {
    struct redis_outcome items[REDIS_OUTCOMES_MAX];
    size_t count;
};
/* Outcomes of a hash of `fields` made by one command in a table that starts at `presized` entries
 * (0: from the smallest). */
void redis_hash_outcomes(const struct redis_layout *layout, int64_t fields, int64_t presized,
                         struct redis_outcomes *outcomes);
/* The same of a hash that was read from an RDB file (rdb.c, rdbLoadObject): it is packed until its
 * pair number `first` is too large (1 to fields; 0: it has too many pairs to begin so), and from
 * 5.0 on the table is then sized for what is left to read. */
void redis_read_outcomes(const struct redis_layout *layout, int64_t fields, int64_t first,
                         struct redis_outcomes *outcomes);
/* Probability that `keys` thrown into `buckets` occupy exactly `occupied` of them. */
double redis_occupancy(int64_t keys, int64_t buckets, int64_t occupied);

/* Figures of a workload: records that were updated so many times and more; up to this many times.
 */
#define REDIS_UPDATED         "workload.updated."
#define REDIS_UPDATES_TOLD    255
#define REDIS_SHARED_INTEGERS 10000 /* OBJ_SHARED_INTEGERS, server.h */

/* Tables of 64-byte buckets (Valkey 8.1). */
#define REDIS_BUCKET        64
#define REDIS_BUCKET_PLACES 7
int64_t redis_bucket_count(int64_t keys);
/* Buckets of a table that is sized for so many keys at once (hashtable.c, nextBucketExp). */
int64_t redis_bucket_count_sized(int64_t keys);
/* Expected child buckets where `keys` fall on `buckets` by chance. */
double redis_child_buckets(int64_t keys, int64_t buckets);

/* Hashes whose tables the seed treats alike: the same field names in the same order. */
struct redis_hashes {
    uint64_t signature; /* 0: various, told by the number of fields alone */
    int64_t fields;
    int64_t presized;
    int64_t first; /* number of the first pair that is too large for a packed hash; 0: none */
    int64_t count;
    int place;          /* among those with as many fields: 1, 2, ... in order of appearance */
    double first_total; /* allocated bytes of the first one, without its tables and key */
};

/* An object that many records share (a sorted set): it grows. */
struct redis_shared {
    char *key;
    size_t key_length;
    enum object_type type;
    int64_t members, member_bytes;
    int64_t packed_bytes;         /* as a listpack or ziplist, while that is possible */
    bool fits_packed;             /* no member was too long so far */
    struct blocks members_blocks; /* per-member blocks that scale: strings, entries */
};

/* A listpack or ziplist as it grows. bytes = structure + content. */
struct redis_packed {
    enum redis_packed_form form;
    int64_t bytes, previous, count;
    int64_t structure, content;
    int64_t shrunk; /* text that integers made go away */
};

/* A hash that grows by a field a command: packed and as a table at once, as long as both may be. */
struct redis_hash {
    struct redis_packed packed;
    bool packs;
    int64_t fields, presized;
    int64_t first; /* number of the first field that is too large to be packed; 0: none */
    struct blocks fields_blocks;
};

struct redis_list {
    bool bare;                /* no quicklist so far */
    struct redis_packed node; /* the last one */
    struct blocks nodes;      /* those before it */
};

#define REDIS_STREAM_KEY 16 /* a listpack's key in the tree: the ID of its first entry */

struct redis_stream {
    int64_t listpacks, entries;   /* entries of the last listpack */
    struct stream_entry master;   /* its first one */
    uint64_t signature;           /* of its field names */
    struct redis_packed listpack; /* the last one */
    unsigned char key[REDIS_STREAM_KEY];
    int children[REDIS_STREAM_KEY]; /* of the nodes on the tree's path to it */
    struct blocks blocks;           /* listpacks before it, and the tree beside the path */
};

/* So many objects had so many different texts. */
struct redis_texts_mark {
    int64_t objects, count;
};

/* The different texts of RedisJSON's values, of which each is held once. */
struct redis_texts {
    uint64_t *entries; /* open addressing: hashes */
    size_t size;
    int64_t count; /* different ones */
    double bytes;  /* of all as often as they were seen: content */
    struct blocks different;
    int64_t objects, of_first;        /* objects so far; count after the first */
    struct redis_texts_mark marks[3]; /* at the last powers of two, the last one first */
    struct blocks fresh[2];           /* of texts new since the last mark, and the one before it */
};

/* An object that many records go into, one after another. */
struct redis_growing {
    enum object_type type;
    char *key; /* NULL: none is open */
    int64_t key_length;
    bool expires;
    union {
        struct redis_hash hash;
        struct redis_list list;
        struct redis_stream stream;
    } as;
};

/* A key's text: a record's, which was counted (NULL), or no record's. */
struct redis_key {
    int64_t length;
    const struct account *text;
    bool expires;
};

struct redis_model {
    struct model model;
    const struct redis_layout *layout;
    const struct redis_stream_layout *stream_layout; /* NULL: none */
    bool layout_newer;                               /* the server is newer than the newest row */
    int64_t hash_entries, hash_value;                /* limits of packed hashes */
    int64_t zset_entries, zset_value;
    int64_t list_fill;                    /* list-max-listpack-size */
    int64_t list_compress;                /* list-compress-depth */
    int64_t stream_entries, stream_bytes; /* stream-node-max-entries, -bytes */
    bool shared_integers;                 /* SET of 0 to 9,999 takes an object that all share */
    struct blocks blocks;                 /* of all whole objects so far, without tables */
    int64_t keys, expiring;               /* whole objects so far */
    int64_t big_room;      /* what this connection's query buffer was made for; 0: nothing big */
    double big_bytes;      /* of all big values, summed, with the two lines below: */
    double big_room_bytes; /* what growing left in them, which may be less */
    double big_band;       /* what they may have kept besides */
    double bytes, bytes_squared; /* of each of them, summed */
    struct blocks reading;       /* what reading all of it from an RDB file adds to that */
    struct blocks once;          /* of strings that are kept once for all records */
    int64_t once_keys;
    struct redis_hashes *hashes;
    size_t hashes_count, hashes_capacity;
    size_t *hashes_index; /* open addressing; place + 1 */
    size_t hashes_index_size;
    struct redis_shared *shared;
    size_t shared_count, shared_capacity;
    struct redis_texts texts;
    struct redis_growing batch;   /* the one that records go into, of those of N records */
    struct redis_growing *wholes; /* those that hold all records */
    size_t wholes_count, wholes_capacity;
};

/* redis_packed.c */
/* Whether the text is kept as a number: canonical, 64 bits, 20 characters at most. */
bool redis_is_number(struct slice text, bool told, int64_t *number);
void redis_packed_open(struct redis_packed *packed, enum redis_packed_form form);
void redis_packed_add(struct redis_packed *packed, struct slice text, bool told);
/* A number of the store's own, all of it structure; and what it changes to. Listpacks only. */
void redis_packed_add_own(struct redis_packed *packed, int64_t number);
void redis_packed_replace_own(struct redis_packed *packed, int64_t from, int64_t to);
/* Its block; one of `reserved` bytes where it hasn't grown beyond them. */
void redis_packed_blocks(const struct redis_packed *packed, const struct account *account,
                         int64_t reserved, double count, struct blocks *blocks);

/* redis_hashes.c */
void redis_add_hash(struct redis_model *redis, const struct object *object);
void redis_hash_open(struct redis_hash *hash, const struct redis_model *redis);
void redis_hash_close(struct redis_hash *hash);
void redis_hash_add(struct redis_hash *hash, const struct redis_model *redis,
                    const struct element *element);
/* Its blocks, without the table's array, which redis_hash_note() leaves to redis_add_tables(). */
void redis_hash_end(const struct redis_hash *hash, const struct redis_model *redis,
                    struct blocks *blocks);
void redis_hash_note(const struct redis_hash *hash, struct redis_model *redis);

/* redis_lists.c */
void redis_list_open(struct redis_list *list, const struct redis_model *redis);
void redis_list_close(struct redis_list *list);
/* So many elements of so many bytes come in one command: a bare listpack may have to go. */
void redis_list_announce(struct redis_list *list, const struct redis_model *redis, int64_t bytes,
                         int64_t count);
void redis_list_add(struct redis_list *list, const struct redis_model *redis, struct slice text,
                    bool is_integer);
/* Blocks of the last node and of the list; those of list->nodes come on top. */
void redis_list_end(const struct redis_list *list, const struct redis_model *redis,
                    struct blocks *blocks);

/* redis_streams.c */
void redis_stream_open(struct redis_stream *stream, const struct redis_model *redis);
void redis_stream_close(struct redis_stream *stream);
void redis_stream_add(struct redis_stream *stream, const struct redis_model *redis,
                      const struct element *elements, const struct stream_entry *entry);
/* Blocks of the last listpack, the path to it and the stream; those of stream->blocks come on top.
 * read: from an RDB file, which leaves no room in the listpack. */
void redis_stream_end(const struct redis_stream *stream, const struct redis_model *redis, bool read,
                      struct blocks *blocks);
/* What reading it from an RDB file adds to redis_stream_end() as it was written. */
void redis_stream_reading(const struct redis_stream *stream, const struct redis_model *redis,
                          struct blocks *blocks);

/* redis_json.c */
void redis_texts_open(struct redis_texts *texts, const struct build *build);
void redis_texts_close(struct redis_texts *texts);
void redis_add_json(struct redis_model *redis, const struct object *object);
/* The blocks of all texts where there are `factor` times as many objects, with their table. *low
 * and *high grow by what other numbers of different texts would add. */
void redis_texts_blocks(const struct redis_texts *texts, double factor, struct blocks *blocks,
                        double *low, double *high);

/* Says what RedisJSON itself says of its values, where a probe asked it, beside the model. */
void redis_json_note(const struct figures *end, const struct blocks *blocks,
                     struct measurement *measurement);

/* redis_batches.c */
void redis_growing_open(struct redis_growing *growing, const struct redis_model *redis,
                        const struct object *object);
void redis_growing_close(struct redis_growing *growing);
bool redis_growing_is(const struct redis_growing *growing, const struct object *object);
void redis_growing_add(struct redis_growing *growing, const struct redis_model *redis,
                       const struct object *object);
/* All its blocks with its key's, those of finished parts `factor` times. read: from an RDB file. */
void redis_growing_blocks(const struct redis_growing *growing, const struct redis_model *redis,
                          double factor, bool read, struct blocks *blocks);
/* An object's elements go into the open batch of its key, which is begun where there is none. */
void redis_add_to_batch(struct redis_model *redis, const struct object *object);
/* And into the one object that all records share. */
void redis_add_to_whole(struct redis_model *redis, const struct object *object);

/* redis_objects.c */
struct redis_key redis_key_of(const struct object *object);
/* Blocks of a key and its object, of any type but string. */
void redis_add_whole_object(const struct redis_model *redis, struct blocks *blocks,
                            const struct redis_key *key);
int redis_add_object(struct redis_model *redis, const struct object *object,
                     struct tare_error *error);
/* The blocks of a shared object that has come to `members` members. read: from an RDB file. */
void redis_add_shared(const struct redis_model *redis, const struct redis_shared *shared,
                      double factor, bool read, struct blocks *blocks);

/* redis.c */
int redis_takes(const struct build *build, enum object_type type, struct tare_error *error);

/* redis_resident.c */
/* buffers: bytes of freed buffers that may be resident too; branch_low, branch_high: bytes by which
 * other branches of the hash seed move the total, at most.
 */
void redis_predict_resident(const struct redis_model *redis, int64_t buffers, int64_t branch_low,
                            int64_t branch_high, struct prediction *prediction);
int redis_measure(struct model *model, const struct figures *base, const struct figures *end,
                  const struct prediction *prediction, struct measurement *measurement,
                  struct tare_error *error);
int redis_evidence(struct model *model, const struct figures *base, const struct figures *end,
                   const struct prediction *prediction, struct evidence *evidence);

#endif

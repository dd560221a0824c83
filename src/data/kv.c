/* A key and one value of random bytes: by default a GUID without hyphens and 4
 * to 20 KiB, as in a published comparison of key-value stores. */
#include "core/random.h"
#include "data/dataset.h"

struct kv {
    char *key_prefix;
    int64_t length_least, length_most;
};

#define KV_LENGTH_MAX (512 * 1024 * 1024) /* what Redis takes as one string by default */

static const struct option_spec kv_options[] = {
    {"keyprefix", OPTION_TEXT, offsetof(struct kv, key_prefix), 0, 0, NULL,
     "keys are this and the record's number, not a GUID"},
    {"minlength", OPTION_INTEGER, offsetof(struct kv, length_least), 0, KV_LENGTH_MAX, NULL,
     "least bytes of a value (4096)"},
    {"maxlength", OPTION_INTEGER, offsetof(struct kv, length_most), 0, KV_LENGTH_MAX, NULL,
     "most bytes of a value (20480)"},
    {0}};

static void kv_defaults(void *state)
{
    struct kv *kv = state;
    kv->length_least = 4096;
    kv->length_most = 20480;
}

static int kv_open(struct dataset *dataset, struct tare_error *error)
{
    const struct kv *kv = dataset->state;
    if (kv->length_least > kv->length_most)
        return error_set(error, TARE_USAGE,
                         "data set 'kv': minlength %lld is more than maxlength %lld",
                         (long long)kv->length_least, (long long)kv->length_most);
    return 0;
}

/* 128 random bits as 32 hexadecimal digits; of its kind (RFC 4122) a random GUID has version 4
 * and variant 10 in two of them. */
#define GUID_LENGTH 32
static struct slice random_guid(struct random *random, struct arena *arena)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[GUID_LENGTH / 2];
    random_bytes(random, bytes, sizeof bytes);
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *text = arena_take(arena, GUID_LENGTH);
    for (size_t i = 0; i < sizeof bytes; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    return slice_of(text, GUID_LENGTH);
}

static struct slice kv_key(const struct dataset *dataset, int64_t index, struct arena *arena)
{
    const struct kv *kv = dataset->state;
    struct random keys = random_at(dataset->seed, index, 0);
    return kv->key_prefix ? numbered_text(kv->key_prefix, index, arena) : random_guid(&keys, arena);
}

static int kv_read(struct dataset *dataset, int64_t index, struct arena *arena,
                   struct record *record, struct tare_error *error)
{
    (void)error;
    const struct kv *kv = dataset->state;
    struct random values = random_at(dataset->seed, index, 1);
    size_t length = (size_t)(kv->length_least +
                             (int64_t)random_below(
                                 &values, (uint64_t)(kv->length_most - kv->length_least + 1)));
    char *bytes = arena_take(arena, length);
    random_bytes(&values, bytes, length);
    *record = (struct record){
        .key = kv_key(dataset, index, arena),
        .fields = arena_take(arena, sizeof *record->fields),
        .field_count = 1,
    };
    record->fields[0] = (struct member){slice_text("value"),
                                        {.type = VALUE_BYTES, .as.text = slice_of(bytes, length)}};
    return 0;
}

const struct dataset_kind dataset_kv = {
    .name = "kv",
    .summary = "a key and one value of random bytes",
    .example = "kv:minlength=4096,maxlength=20480",
    .options = kv_options,
    .state_size = sizeof(struct kv),
    .single_value = true,
    .defaults = kv_defaults,
    .open = kv_open,
    .read = kv_read,
    .key = kv_key,
};

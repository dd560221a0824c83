/* The Valkey store: Redis's protocol and commands, a server of another name. */
#include "stores/redis.h"

const struct store_kind store_valkey = {
    .name = "valkey",
    .family = "redis",
    .summary = "Valkey 7.2 and later, started or by URL (redis://, unix://)",
    .program = "valkey-server",
    .install = "./setup.sh servers valkey-9.1.2 puts one into build/servers",
    .url_scheme = "redis://",
    .plan_version = "9.1.2,allocator=libc",
    .pace = REDIS_PACE,
    .build_of_version_text = redis_build_of_version_text,
    .open = redis_open,
    .common_setting = redis_common_setting,
    .describe = redis_describe,
    .warm_up = redis_warm_up,
    .load_open = redis_load_open,
    .put = redis_put,
    .flush = redis_flush,
    .load_close = redis_load_close,
    .settle = redis_settle,
    .glance = redis_glance,
    .read_all = redis_read_all,
    .sample = redis_sample,
    .ask = redis_ask,
    .close = redis_close,
};

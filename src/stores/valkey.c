/* The Valkey store: Redis's protocol and commands, a server of another name. */
#include "stores/redis.h"

const struct store_kind store_valkey = {
    .name = "valkey",
    .summary = "Valkey 7.2 and later, started or by URL (redis://, unix://)",
    .program = "valkey-server",
    .install = "./setup.sh servers valkey-9.1.2 puts one into build/servers",
    .plan_version = "9.1.2,allocator=libc",
    REDIS_FAMILY,
};

/* INFO: info.SECTION.FIELD, the section in lower case, the field as INFO has it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "probes/redis_text.h"

void redis_info_parse(const char *text, struct figures *figures)
{
    char section[64] = "none";
    char *copy = memory_text(text);
    char *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        line[strcspn(line, "\r")] = '\0';
        if (*line == '#') {
            size_t length = 0;
            for (const char *c = line + 1; *c && length + 1 < sizeof section; c++)
                if (!isspace((unsigned char)*c))
                    section[length++] = (char)tolower((unsigned char)*c);
            section[length] = '\0';
            continue;
        }
        char *colon = strchr(line, ':');
        if (!colon)
            continue;
        *colon = '\0';
        char *name = memory_format("info.%s.%s", section, line);
        figures_parse(figures, name, colon + 1);
        free(name);
    }
    free(copy);
}

static int info_read(struct store *store, struct figures *figures, struct tare_error *error)
{
    struct figures reply = {0};
    int failed = store->kind->ask(store, "INFO", "text", &reply, error);
    const char *text = figures_get_text(&reply, "text");
    if (!failed && !text)
        failed = error_set(error, TARE_STORE, "%s: INFO is answered by no text", store->address);
    if (!failed)
        redis_info_parse(text, figures);
    figures_free(&reply);
    return failed;
}

const struct probe_kind probe_redis_info = {
    .name = "info",
    .family = "redis",
    .summary = "INFO: memory, server, keyspace, stats, ...",
    .read = info_read,
};

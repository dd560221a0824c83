#include "model/build.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

int version_number(const char *version)
{
    int parts[3] = {0, 0, 0}, count = 0;
    const char *at = version;
    while (count < 3) {
        if (!isdigit((unsigned char)*at))
            return -1;
        int part = 0;
        for (; isdigit((unsigned char)*at); at++) {
            part = part * 10 + (*at - '0');
            if (part > 9999)
                return -1;
        }
        parts[count++] = part;
        if (*at != '.')
            break;
        at++;
    }
    /* What follows a third number is a suffix ("8.0.1-rc1", "6.0.5-4", "7.0.15:x"). */
    if (count == 1 || (*at && !strchr("-+~: .", *at)) || parts[1] > 99 || parts[2] > 99)
        return -1;
    return parts[0] * 10000 + parts[1] * 100 + parts[2];
}

int build_jemalloc(const struct build *build)
{
    static const char prefix[] = "jemalloc-";
    if (strncmp(build->allocator, prefix, sizeof prefix - 1) != 0)
        return strcmp(build->allocator, "jemalloc") == 0 ? 50300 : 0;
    int number = version_number(build->allocator + sizeof prefix - 1);
    return number < 0 ? 50300 : number;
}

/* The jemalloc in the source of each version (deps/jemalloc/VERSION), the newest first. */
static const struct bundled {
    const char *store;
    int from;
    const char *allocator;
} bundled[] = {
    {"redis", 70200, "jemalloc-5.3.0"}, {"redis", 70000, "jemalloc-5.2.1"},
    {"redis", 50000, "jemalloc-5.1.0"}, {"redis", 30200, "jemalloc-4.0.3"},
    {"redis", 0, "jemalloc-3.6.0"},     {"valkey", 0, "jemalloc-5.3.0"},
    {"mongodb", 0, "tcmalloc"},         {"memory", 0, "libc"},
};

static const char *bundled_allocator(const struct build *build)
{
    for (size_t i = 0; i < sizeof bundled / sizeof *bundled; i++)
        if (strcmp(bundled[i].store, build->store) == 0 && build->number >= bundled[i].from)
            return bundled[i].allocator;
    return "";
}

void build_defaults(struct build *build)
{
    if (build->number <= 0 && build->version[0]) {
        int number = version_number(build->version);
        build->number = number < 0 ? 0 : number;
    }
    const char *own = bundled_allocator(build);
    if (!build->allocator[0])
        snprintf(build->allocator, sizeof build->allocator, "%s", own);
    int jemalloc = build_jemalloc(build);
    if (!jemalloc) {
        if (!build->page_size)
            build->page_size = 4096;
        return;
    }
    /* Upstream's makefile configures its own copy with --with-lg-quantum=3; any other jemalloc is
     * the system's, whose quantum on 64-bit machines is 16 (jemalloc's quantum.h). */
    bool is_own = strcmp(build->allocator, own) == 0;
    bool padding_known = build->quantum != 0 && build->cache_oblivious >= 0;
    if (!build->quantum)
        build->quantum = is_own ? 8 : 16;
    if (!build->page_size)
        build->page_size = 4096;
    /* On by default in jemalloc 4 and 5; upstream's copy of 5.3.0 is made with
     * --disable-cache-oblivious (deps/Makefile from 7.2). */
    if (!padding_known)
        build->cache_oblivious = !(is_own && build->quantum == 8 && jemalloc >= 50300);
}

void build_refine(struct build *build, const struct figures *figures)
{
    const struct figure *version = figures_find(figures, "malloc.version");
    if (!build_jemalloc(build)) {
        build_defaults(build);
        return;
    }
    /* INFO prints the version that was compiled in; this one is the loaded library's:
     * "5.3.0-0-g54eaed1d8b56...". */
    if (version && version->type == FIGURE_TEXT) {
        size_t length = strcspn(version->text, "-");
        if (length > 0 && length < 16 && version_number(version->text) > 0)
            snprintf(build->allocator, sizeof build->allocator, "jemalloc-%.*s", (int)length,
                     version->text);
    }
    if (figures_has(figures, "malloc.quantum"))
        build->quantum = (int)figures_get(figures, "malloc.quantum");
    else if (figures_has(figures, "malloc.bins.24.curregs"))
        build->quantum = 8;
    else if (figures_has(figures, "malloc.bins.48.curregs") &&
             figures_has(figures, "malloc.bins.16.curregs"))
        build->quantum = 16;
    if (figures_has(figures, "malloc.page_size"))
        build->page_size = (int)figures_get(figures, "malloc.page_size");
    static const char *const padding[] = {"malloc.config.cache_oblivious",
                                          "malloc.opt.cache_oblivious"};
    for (size_t i = 0; i < 2; i++) {
        const struct figure *figure = figures_find(figures, padding[i]);
        if (!figure)
            continue;
        if (figure->type == FIGURE_TEXT)
            build->cache_oblivious = strcmp(figure->text, "true") == 0;
        else
            build->cache_oblivious = figure->integer != 0;
    }
    build_defaults(build);
}

#include "encoders/reading.h"

struct slice slice_copy(struct arena *arena, const void *bytes, size_t length)
{
    return slice_of(arena_copy(arena, bytes, length), length);
}

int reading_names_differ(const struct member *members, size_t count, struct arena *arena,
                         const char *format, struct tare_error *error)
{
    const struct slice *twice = members_twice(members, count, arena);
    char shown[SLICE_SHOW_SIZE];
    return twice ? error_set(error, TARE_USAGE, "%s: the name '%s' stands twice in one object",
                             format, slice_show(*twice, shown))
                 : 0;
}

int reading_text(struct arena *arena, const char *bytes, size_t length, const char *format,
                 struct slice *text, struct tare_error *error)
{
    *text = slice_copy(arena, bytes, length);
    return slice_utf8(*text) ? 0
                             : error_set(error, TARE_USAGE, "%s: a text of %zu bytes is no UTF-8",
                                         format, length);
}

int reading_record(const struct value *value, struct arena *arena, const char *otherwise,
                   struct item *out, struct tare_error *error)
{
    if (value->type != VALUE_OBJECT)
        return error_set(error, TARE_USAGE, "%s", otherwise);
    struct record *record = arena_take(arena, sizeof *record);
    *record = (struct record){.key = slice_of("", 0),
                              .fields = value->as.children.items,
                              .field_count = value->as.children.count};
    out->record = record;
    return 0;
}

/* From BSON replies to figures. */
#include "stores/mongodb.h"

#include <inttypes.h>
#include <math.h>

#include "core/memory.h"

static void flatten(const bson_iter_t *at, struct buffer *name, struct figures *figures);

static void flatten_all(bson_iter_t *children, struct buffer *name, struct figures *figures)
{
    size_t length = name->length;
    while (bson_iter_next(children)) {
        if (length)
            buffer_byte(name, '.');
        buffer_text(name, bson_iter_key(children));
        flatten(children, name, figures);
        name->length = length;
        name->data[length] = '\0';
    }
}

static void put_hexadecimal(struct figures *figures, const char *name, const uint8_t *bytes,
                            size_t length)
{
    struct buffer text = {0};
    buffer_reserve(&text, 2 * length);
    text.data[0] = '\0';
    for (size_t i = 0; i < length; i++)
        buffer_format(&text, "%02x", bytes[i]);
    figures_text(figures, name, text.data);
    buffer_free(&text);
}

/* Everything that JSON can't say plainly, as libbson's extended JSON. */
static void put_other(struct figures *figures, const char *name, const bson_iter_t *at)
{
    bson_t wrapper = BSON_INITIALIZER;
    if (bson_append_iter(&wrapper, "", 0, at)) {
        char *text = bson_as_relaxed_extended_json(&wrapper, NULL);
        figures_text(figures, name, text ? text : "");
        bson_free(text);
    }
    bson_destroy(&wrapper);
}

static void flatten(const bson_iter_t *at, struct buffer *name, struct figures *figures)
{
    bson_iter_t children;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        if (bson_iter_recurse(at, &children))
            flatten_all(&children, name, figures);
        break;
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_BOOL:
        figures_integer(figures, name->data, bson_iter_as_int64(at));
        break;
    case BSON_TYPE_DATE_TIME:
        figures_integer(figures, name->data, bson_iter_date_time(at));
        break;
    case BSON_TYPE_DOUBLE:
        figures_real(figures, name->data, bson_iter_double(at));
        break;
    case BSON_TYPE_UTF8:
        figures_text(figures, name->data, bson_iter_utf8(at, NULL));
        break;
    case BSON_TYPE_OID:
        put_hexadecimal(figures, name->data, bson_iter_oid(at)->bytes, 12);
        break;
    case BSON_TYPE_BINARY: {
        bson_subtype_t subtype;
        uint32_t length;
        const uint8_t *bytes;
        bson_iter_binary(at, &subtype, &length, &bytes);
        put_hexadecimal(figures, name->data, bytes, length);
        break;
    }
    case BSON_TYPE_TIMESTAMP: {
        uint32_t seconds, ordinal;
        char text[32];
        bson_iter_timestamp(at, &seconds, &ordinal);
        snprintf(text, sizeof text, "%" PRIu32 ":%" PRIu32, seconds, ordinal);
        figures_text(figures, name->data, text);
        break;
    }
    case BSON_TYPE_NULL:
    case BSON_TYPE_UNDEFINED:
        figures_text(figures, name->data, "null");
        break;
    default:
        put_other(figures, name->data, at);
        break;
    }
}

void mongodb_flatten(const bson_t *document, const char *prefix, struct figures *figures)
{
    struct buffer name = {0};
    bson_iter_t children;
    buffer_reserve(&name, 64);
    name.data[0] = '\0';
    buffer_text(&name, prefix);
    if (bson_iter_init(&children, document))
        flatten_all(&children, &name, figures);
    buffer_free(&name);
}

static bool find(const bson_t *document, const char *path, bson_iter_t *found)
{
    bson_iter_t from;
    return bson_iter_init(&from, document) && bson_iter_find_descendant(&from, path, found);
}

bool mongodb_number(const bson_t *document, const char *path, int64_t *number)
{
    bson_iter_t found;
    if (!find(document, path, &found))
        return false;
    switch (bson_iter_type(&found)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
    case BSON_TYPE_BOOL:
        *number = bson_iter_as_int64(&found);
        return true;
    case BSON_TYPE_DOUBLE:
        *number = (int64_t)llround(bson_iter_double(&found));
        return true;
    default:
        return false;
    }
}

const char *mongodb_text(const bson_t *document, const char *path)
{
    bson_iter_t found;
    if (!find(document, path, &found) || !BSON_ITER_HOLDS_UTF8(&found))
        return NULL;
    return bson_iter_utf8(&found, NULL);
}

/* msgpack: a record as one MessagePack map (msgpack.org, the format of 2013
 * with str and bin), by msgpack-c. Text is str, bytes are bin, so that types
 * survive; each number takes the shortest form. */
#include <msgpack.h>

#include "encoders/encoding.h"

static int write_bytes(void *data, const char *bytes, size_t length)
{
    buffer_append(data, bytes, length);
    return 0;
}

static int check_length(struct slice bytes, struct tare_error *error)
{
    if (bytes.length > UINT32_MAX)
        return error_set(error, TARE_USAGE, "longer than the 2^32 - 1 bytes that 'msgpack' holds");
    return 0;
}

/* A str; its header is framing. Text that is no UTF-8 would not survive other readers. */
static int pack_text(msgpack_packer *packer, struct slice text, struct tare_error *error)
{
    if (check_length(text, error))
        return -1;
    if (!slice_utf8(text))
        return error_set(error, TARE_USAGE, "text that is no UTF-8, which 'msgpack' cannot hold");
    msgpack_pack_str(packer, text.length);
    msgpack_pack_str_body(packer, text.bytes, text.length);
    return 0;
}

static int pack_value(msgpack_packer *packer, const struct value *value, int depth,
                      struct counted *counted, struct tare_error *error);

static int pack_members(msgpack_packer *packer, const struct member *members, size_t count,
                        bool named, int depth, struct counted *counted, struct tare_error *error)
{
    if (depth > ENCODING_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than %d levels", ENCODING_DEPTH_MAX);
    if (count > UINT32_MAX)
        return error_set(error, TARE_USAGE,
                         "more than 2^32 - 1 members, which 'msgpack' cannot hold");
    if (named)
        msgpack_pack_map(packer, count);
    else
        msgpack_pack_array(packer, count);
    for (size_t i = 0; i < count; i++) {
        char shown[SLICE_SHOW_SIZE];
        if (named && pack_text(packer, members[i].name, error))
            return error_prefix(error, "the name '%s'", slice_show(members[i].name, shown));
        if (named)
            counted->field_names += (int64_t)members[i].name.length;
        if (pack_value(packer, &members[i].value, depth, counted, error))
            return depth == 1
                       ? error_prefix(error, "field '%s'", slice_show(members[i].name, shown))
                       : -1;
    }
    return 0;
}

/* A number, boolean or null: what is stored, header and all, less its text is number form. */
static void pack_plain(msgpack_packer *packer, const struct value *value, struct counted *counted)
{
    const struct buffer *out = packer->data;
    size_t start = out->length;
    if (value->type == VALUE_INTEGER)
        msgpack_pack_int64(packer, value->as.integer);
    else if (value->type == VALUE_DOUBLE)
        msgpack_pack_double(packer, value->as.real);
    else if (value->type == VALUE_NULL)
        msgpack_pack_nil(packer);
    else if (value->as.boolean)
        msgpack_pack_true(packer);
    else
        msgpack_pack_false(packer);
    int64_t text = value_text_length(value);
    counted->values += text;
    counted->number_form += (int64_t)(out->length - start) - text;
}

static int pack_value(msgpack_packer *packer, const struct value *value, int depth,
                      struct counted *counted, struct tare_error *error)
{
    struct slice bytes = value->as.text;
    switch (value->type) {
    case VALUE_NULL:
    case VALUE_BOOLEAN:
    case VALUE_INTEGER:
    case VALUE_DOUBLE:
        pack_plain(packer, value, counted);
        return 0;
    case VALUE_TEXT:
        counted->values += (int64_t)bytes.length;
        return pack_text(packer, bytes, error);
    case VALUE_BYTES:
        if (check_length(bytes, error))
            return -1;
        counted->values += (int64_t)bytes.length;
        msgpack_pack_bin(packer, bytes.length);
        msgpack_pack_bin_body(packer, bytes.bytes, bytes.length);
        return 0;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        return pack_members(packer, value->as.children.items, value->as.children.count,
                            value->type == VALUE_OBJECT, depth + 1, counted, error);
    }
    return error_set(error, TARE_USAGE, "a value without a type");
}

static int msgpack_apply(const struct step *step, struct arena *arena, const struct item *in,
                         struct item *out, struct tare_error *error)
{
    (void)step;
    (void)arena;
    msgpack_packer packer;
    msgpack_packer_init(&packer, &out->bytes, write_bytes);
    if (pack_members(&packer, in->record->fields, in->record->field_count, true, 1, &out->counted,
                     error))
        return -1;
    /* Headers of maps, arrays, str and bin: all that is counted as nothing else. */
    out->counted.framing = (int64_t)out->bytes.length - counted_sum(&out->counted);
    return 0;
}

static int read_value(struct arena *arena, const msgpack_object *object, struct value *value,
                      struct tare_error *error);

static struct slice copy_text(struct arena *arena, const char *bytes, uint32_t length)
{
    return slice_of(arena_copy(arena, bytes, length), length);
}

static int read_map(struct arena *arena, const msgpack_object_map *map, struct member **members,
                    size_t *count, struct tare_error *error)
{
    *count = map->size;
    *members = arena_take(arena, *count * sizeof **members);
    for (size_t i = 0; i < *count; i++) {
        const msgpack_object *name = &map->ptr[i].key;
        if (name->type != MSGPACK_OBJECT_STR)
            return error_set(error, TARE_USAGE, "msgpack: a map's key %zu is no text", i);
        (*members)[i].name = copy_text(arena, name->via.str.ptr, name->via.str.size);
        if (read_value(arena, &map->ptr[i].val, &(*members)[i].value, error))
            return -1;
    }
    return 0;
}

static int read_array(struct arena *arena, const msgpack_object_array *array, struct value *value,
                      struct tare_error *error)
{
    value->type = VALUE_ARRAY;
    value->as.children.count = array->size;
    value->as.children.items = arena_take(arena, array->size * sizeof(struct member));
    for (size_t i = 0; i < array->size; i++) {
        value->as.children.items[i].name = slice_of("", 0);
        if (read_value(arena, &array->ptr[i], &value->as.children.items[i].value, error))
            return -1;
    }
    return 0;
}

static int read_value(struct arena *arena, const msgpack_object *object, struct value *value,
                      struct tare_error *error)
{
    *value = (struct value){.type = VALUE_NULL};
    switch (object->type) {
    case MSGPACK_OBJECT_NIL:
        return 0;
    case MSGPACK_OBJECT_BOOLEAN:
        value->type = VALUE_BOOLEAN;
        value->as.boolean = object->via.boolean;
        return 0;
    case MSGPACK_OBJECT_POSITIVE_INTEGER:
        if (object->via.u64 > INT64_MAX)
            return error_set(error, TARE_USAGE, "msgpack: the integer %llu is past 63 bits",
                             (unsigned long long)object->via.u64);
        value->type = VALUE_INTEGER;
        value->as.integer = (int64_t)object->via.u64;
        return 0;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER:
        value->type = VALUE_INTEGER;
        value->as.integer = object->via.i64;
        return 0;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64:
        value->type = VALUE_DOUBLE;
        value->as.real = object->via.f64;
        return 0;
    case MSGPACK_OBJECT_STR:
        value->type = VALUE_TEXT;
        value->as.text = copy_text(arena, object->via.str.ptr, object->via.str.size);
        return 0;
    case MSGPACK_OBJECT_BIN:
        value->type = VALUE_BYTES;
        value->as.text = copy_text(arena, object->via.bin.ptr, object->via.bin.size);
        return 0;
    case MSGPACK_OBJECT_ARRAY:
        return read_array(arena, &object->via.array, value, error);
    case MSGPACK_OBJECT_MAP:
        value->type = VALUE_OBJECT;
        return read_map(arena, &object->via.map, &value->as.children.items,
                        &value->as.children.count, error);
    case MSGPACK_OBJECT_EXT:
        return error_set(error, TARE_USAGE, "msgpack: extension type %d has no form in a record",
                         object->via.ext.type);
    }
    return error_set(error, TARE_USAGE, "msgpack: an object of unknown type");
}

static int msgpack_undo(const struct step *step, struct arena *arena, struct slice in,
                        struct item *out, struct tare_error *error)
{
    (void)step;
    msgpack_unpacked unpacked;
    msgpack_unpacked_init(&unpacked);
    size_t place = 0;
    msgpack_unpack_return result =
        msgpack_unpack_next(&unpacked, in.bytes ? in.bytes : "", in.length, &place);
    int failed = 0;
    if (result == MSGPACK_UNPACK_CONTINUE)
        failed = error_set(error, TARE_USAGE, "msgpack: cut short after %zu bytes", in.length);
    else if (result == MSGPACK_UNPACK_NOMEM_ERROR)
        /* Its stack is fixed: MSGPACK_EMBED_STACK_SIZE of unpack_define.h. */
        failed = error_set(error, TARE_USAGE,
                           "msgpack: nested deeper than the 32 levels that msgpack-c reads");
    else if (result != MSGPACK_UNPACK_SUCCESS)
        failed = error_set(error, TARE_USAGE, "msgpack: malformed at byte %zu", place);
    else if (place != in.length)
        failed =
            error_set(error, TARE_USAGE, "msgpack: %zu bytes after the record", in.length - place);
    else if (unpacked.data.type != MSGPACK_OBJECT_MAP)
        failed = error_set(error, TARE_USAGE, "msgpack: not a map, and so no record");
    if (!failed) {
        struct record *record = arena_take(arena, sizeof *record);
        *record = (struct record){.key = slice_of("", 0)};
        failed =
            read_map(arena, &unpacked.data.via.map, &record->fields, &record->field_count, error);
        out->form = FORM_RECORD;
        out->record = record;
    }
    msgpack_unpacked_destroy(&unpacked);
    return failed;
}

const struct step_kind step_msgpack = {
    .name = "msgpack",
    .summary = "one MessagePack map",
    .takes = FORM_RECORD,
    .gives = FORM_BYTES,
    .parameter_low = 1, /* above parameter_high: takes none */
    .apply = msgpack_apply,
    .undo = msgpack_undo,
};

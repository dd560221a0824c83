#include "encoders/mongodb_shape.h"

#include "data/bson_record.h"

static const char *const ids[] = {"given", "objectid", "number", NULL}; /* enum bson_id_type */

const struct option_spec mongodb_shape_options[] = {
    {"id", OPTION_CHOICE, offsetof(struct shape_options, id), 0, 0, ids,
     "the _id: the record's key; an ObjectId or a number, and the key is a field"},
    {"index", OPTION_TEXT, offsetof(struct shape_options, field), 0, 0, NULL,
     "keep a secondary index of the field TEXT, or a hashed one: TEXT:hashed"},
    {0}};

int mongodb_shape_check(struct encoding *encoding, struct tare_error *error)
{
    static const char hashed[] = "hashed";
    char *field = encoding->options.field;
    if (!field)
        return 0;
    char *kind = strrchr(field, ':');
    if (kind && strcmp(kind + 1, hashed) != 0)
        return error_set(error, TARE_USAGE,
                         "unknown kind '%s' of index '%s'; it is FIELD or FIELD:hashed", kind + 1,
                         field);
    encoding->index.hashed = kind != NULL;
    if (kind)
        *kind = '\0';
    encoding->index.field = field;
    if (!*field || *field == '$' || strcmp(field, "_id") == 0)
        return error_set(error, TARE_USAGE, "option 'index' names %s; name a field of the records",
                         *field ? field : "no field");
    return 0;
}

static bool has_field(const struct member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (slice_is(members[i].name, name))
            return true;
    return false;
}

/* The members but the field "_id". */
static const struct member *without_id(const struct member *members, size_t *count,
                                       struct arena *arena)
{
    struct member *others = arena_take(arena, *count * sizeof *others);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (!slice_is(members[i].name, "_id"))
            others[kept++] = members[i];
    *count = kept;
    return others;
}

/* What of the document is payload: the key once, whatever holds it. */
static struct counted count_document(const struct record *record, const struct bson_id *id,
                                     const struct counted *document, bool key_added,
                                     const struct counted *inside)
{
    if (inside) {
        /* The blob's bytes are counted already, by the steps that made them; the document adds its
         * framing, of which the names of its fields are a part: they are none of the record's. */
        struct counted counted = *inside;
        counted.framing += document->framing + document->field_names;
        counted.number_form += document->number_form; /* of an _id that is no text */
        return shape_counted(record, &counted);
    }
    if (id->value)
        return *document; /* the key's field is the _id, and the key is there once */
    if (id->type == BSON_ID_KEY)
        return shape_counted(record, document);
    struct counted counted = *document;
    counted.key = (int64_t)record->key.length;
    counted.values -= counted.key;
    if (key_added) {
        counted.field_names -= (int64_t)strlen(MONGODB_KEY_FIELD);
        counted.framing += (int64_t)strlen(MONGODB_KEY_FIELD);
    }
    return counted;
}

/* Whether the document has the key as a field of its own that the record doesn't. */
static bool adds_key(enum bson_id_type id, bool blob, const struct record *record)
{
    return id != BSON_ID_KEY && (blob || !record->key_in_fields);
}

/* Whether the record's own field `_id` is the document's. */
static bool keeps_id(enum bson_id_type id, const struct record *record)
{
    return id == BSON_ID_KEY && record->key_field && slice_is(record->key_field->name, "_id");
}

int mongodb_shape_decode(const struct encoding *encoding, const struct object *object,
                         const struct record *like, bool blob, struct arena *arena,
                         struct record *record, struct tare_error *error)
{
    enum bson_id_type id = (enum bson_id_type)encoding->options.id;
    if (bson_record_read(object->body, arena, record, error))
        return -1;
    size_t added = (blob || !keeps_id(id, like)) + (size_t)adds_key(id, blob, like);
    if (record->field_count < added)
        return error_set(error, TARE_USAGE, "a document without an _id");
    record->fields += added;
    record->field_count -= added;
    return 0;
}

int mongodb_shape_encode(struct encoding *encoding, struct arena *arena,
                         const struct record *record, const struct member *members, size_t count,
                         const struct counted *inside, object_sink *sink, void *context,
                         struct tare_error *error)
{
    struct buffer *bson = &encoding->scratch[2];
    /* What is no record is found by its key alone. */
    struct bson_id id = {.type = record->number < 0 ? BSON_ID_KEY
                                                    : (enum bson_id_type)encoding->options.id,
                         .key = record->key,
                         .number = record->number};
    bool key_added = adds_key(id.type, inside != NULL, record);
    struct counted counted;
    if (keeps_id(id.type, record)) {
        id.value = &record->key_field->value;
        if (!inside)
            members = without_id(members, &count, arena);
    }
    if (has_field(members, count, "_id"))
        return error_set(error, TARE_USAGE,
                         "a field '_id', which 'mongodb:%s' makes of its own unless it is the key; "
                         "of a file it is with 'key=_id'",
                         encoding->shape->name);
    if (key_added && has_field(members, count, MONGODB_KEY_FIELD))
        return error_set(error, TARE_USAGE,
                         "a field '" MONGODB_KEY_FIELD "', which '@id=%s' gives the record's key",
                         ids[id.type]);
    if (key_added) {
        struct member *all = arena_take(arena, (count + 1) * sizeof *all);
        all[0] = (struct member){slice_text(MONGODB_KEY_FIELD),
                                 {.type = VALUE_TEXT, .as.text = record->key}};
        memcpy(all + 1, members, count * sizeof *all);
        members = all;
        count++;
    }
    if (bson_document_make(bson, &id, members, count, &counted, error))
        return -1;
    if (bson->length > BSON_DOCUMENT_MAX)
        return error_set(error, TARE_USAGE,
                         "%zu bytes as BSON, and MongoDB holds documents up to 16 MiB",
                         bson->length);
    struct object object = {
        .type = OBJECT_DOCUMENT,
        .key = record->key,
        /* Copied: the buffer is overwritten by the next record. */
        .body = slice_of(arena_copy(arena, bson->data, bson->length), bson->length),
        .indexes = encoding->index.field ? &encoding->index : NULL,
        .index_count = encoding->index.field ? 1 : 0,
        .counted = count_document(record, &id, &counted, key_added, inside),
    };
    return sink(context, &object, error);
}

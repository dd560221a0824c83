/* redis:json: a record as a value of RedisJSON, which keeps it as a tree and each of its texts once
 * for the whole server. The JSON that it is sent as is no part of what is held. */
#include "data/json_text.h"
#include "encoders/json.h"
#include "encoders/reading.h"
#include "encoders/shape.h"

/* Levels that RedisJSON reads: serde_json's limit of 128 (de.rs, remaining_depth), less one. */
#define JSON_DEPTH_MAX 127

static const struct option_spec redis_json_options[] = {SHAPE_OPTION_TTL, {0}};

static size_t count_nodes(const struct value *value)
{
    size_t count = 1;
    if (value->type == VALUE_ARRAY || value->type == VALUE_OBJECT)
        for (size_t i = 0; i < value->as.children.count; i++)
            count += count_nodes(&value->as.children.items[i].value);
    return count;
}

/* Appends the value and all inside it. */
static int add_nodes(struct json_node **next, const struct slice *name, const struct value *value,
                     int depth, struct tare_error *error)
{
    static const enum json_node_type types[] = {
        [VALUE_NULL] = NODE_PLAIN,    [VALUE_BOOLEAN] = NODE_PLAIN, [VALUE_INTEGER] = NODE_INTEGER,
        [VALUE_DOUBLE] = NODE_DOUBLE, [VALUE_TEXT] = NODE_TEXT,     [VALUE_BYTES] = NODE_TEXT,
        [VALUE_ARRAY] = NODE_ARRAY,   [VALUE_OBJECT] = NODE_OBJECT,
    };
    struct json_node *node = (*next)++;
    *node = (struct json_node){.type = types[value->type], .named = name != NULL};
    if (name)
        node->name = *name;
    switch (node->type) {
    case NODE_PLAIN:
    case NODE_DOUBLE:
    case NODE_INTEGER:
        node->text = slice_of(NULL, (size_t)value_text_length(value));
        node->integer = node->type == NODE_INTEGER ? value->as.integer : 0;
        return 0;
    case NODE_TEXT:
        node->text = value->as.text;
        return 0;
    case NODE_ARRAY:
    case NODE_OBJECT:
        break;
    }
    if (depth > JSON_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than the %d levels that RedisJSON takes",
                         JSON_DEPTH_MAX);
    node->children = value->as.children.count;
    for (size_t i = 0; i < node->children; i++) {
        const struct member *member = &value->as.children.items[i];
        const struct slice *own = node->type == NODE_OBJECT ? &member->name : NULL;
        if (add_nodes(next, own, &member->value, depth + 1, error))
            return -1;
    }
    return 0;
}

static int redis_json_encode(struct encoding *encoding, struct arena *arena,
                             const struct item *item, const struct record *record,
                             object_sink *sink, void *context, struct tare_error *error)
{
    const struct value value = {.type = VALUE_OBJECT,
                                .as.children = {item->record->fields, item->record->field_count}};
    struct buffer *json = &encoding->scratch[2];
    struct counted sent = {0};
    buffer_clear(json);
    if (json_append_value(json, &value, &sent, error))
        return -1;
    size_t count = count_nodes(&value);
    struct json_node *nodes = arena_take(arena, count * sizeof *nodes), *next = nodes;
    if (add_nodes(&next, NULL, &value, 1, error))
        return -1;
    const struct counted held = {.values = sent.values, .field_names = sent.field_names};
    struct object object = {
        .type = OBJECT_JSON,
        .key = record->key,
        .body = slice_copy(arena, json->data, json->length),
        .nodes = nodes,
        .node_count = count,
        .ttl_seconds = encoding->options.ttl,
        .counted = shape_counted(record, &held),
    };
    return sink(context, &object, error);
}

/* JSON.GET gives the text. */
static int redis_json_decode(const struct encoding *encoding, struct arena *arena,
                             const struct object *object, const struct record *like,
                             struct item *item, struct tare_error *error)
{
    struct value value;
    (void)encoding, (void)like;
    return shape_read_json(object->body, arena, &value, error) ||
           reading_record(&value, arena, "json: not an object, and so no record", item, error);
}

const struct shape_kind shape_redis_json = {
    .store = "redis",
    .name = "json",
    .summary = "a RedisJSON value a record, each different text held once (module; 7.0)",
    .example = "redis:json",
    .takes = FORM_RECORD,
    .holds = OBJECT_JSON,
    .module = "rejson.so",
    .options = redis_json_options,
    .encode = redis_json_encode,
    .decode = redis_json_decode,
};

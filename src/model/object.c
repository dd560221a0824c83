#include "model/object.h"

int64_t counted_sum(const struct counted *counted)
{
    return counted->key + counted->values + counted->field_names + counted->framing +
           counted->number_form + counted->escapes + counted->compression + counted->dictionary;
}

void counted_add(struct counted *to, const struct counted *from)
{
    to->key += from->key;
    to->values += from->values;
    to->field_names += from->field_names;
    to->framing += from->framing;
    to->number_form += from->number_form;
    to->escapes += from->escapes;
    to->compression += from->compression;
    to->dictionary += from->dictionary;
}

/* FNV-1a, 64 bits, eight bytes at a time: only equality matters here. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

uint64_t object_names_signature(const struct object *object)
{
    uint64_t hash = mix(0xcbf29ce484222325u, object->element_count);
    for (size_t i = 0; i < object->element_count; i++) {
        struct slice name = object->elements[i].name;
        hash = mix(hash, name.length);
        if (!name.bytes)
            continue;
        size_t at = 0;
        for (; at + sizeof(uint64_t) <= name.length; at += sizeof(uint64_t)) {
            uint64_t word;
            memcpy(&word, name.bytes + at, sizeof word);
            hash = mix(hash, word);
        }
        uint64_t rest = 0;
        memcpy(&rest, name.bytes + at, name.length - at);
        hash = mix(hash, rest);
    }
    return hash;
}

#include "encoders/names.h"

#include <stdlib.h>

#include "core/memory.h"

/* FNV-1a, 64 bits. */
static uint64_t hash_of(struct slice text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.length; i++)
        hash = (hash ^ (unsigned char)text.bytes[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* The slot that holds the name, or the free one that it would take. There is always a free one. */
static uint32_t *slot_of(const struct names *names, struct slice text)
{
    for (size_t place = (size_t)hash_of(text);; place++) {
        uint32_t *slot = &names->slots[place & (names->slot_count - 1)];
        if (*slot == 0 || slice_equal(names->items[*slot - 1].text, text))
            return slot;
    }
}

struct name *names_find(const struct names *names, struct slice text)
{
    if (names->count == 0)
        return NULL;
    uint32_t slot = *slot_of(names, text);
    return slot ? &names->items[slot - 1] : NULL;
}

#define SLOTS_FIRST ((size_t)32)

/* Twice the slots where they are half full. */
static void make_room(struct names *names)
{
    if (names->count * 2 < names->slot_count)
        return;
    names->slot_count = names->slot_count ? names->slot_count * 2 : SLOTS_FIRST;
    free(names->slots);
    names->slots = memory_new(names->slot_count * sizeof *names->slots);
    for (size_t i = 0; i < names->count; i++)
        *slot_of(names, names->items[i].text) = (uint32_t)i + 1;
}

struct name *names_add(struct names *names, struct slice text)
{
    struct name *found = names_find(names, text);
    if (found)
        return found;
    make_room(names);
    MEMORY_GROW(names->items, names->count, names->capacity);
    uint32_t *slot = slot_of(names, text);
    struct name *name = &names->items[names->count++];
    *name = (struct name){
        .text = slice_of(memory_text_n(text.length ? text.bytes : "", text.length), text.length)};
    *slot = (uint32_t)names->count;
    return name;
}

void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free((char *)(uintptr_t)names->items[i].text.bytes);
    free(names->items);
    free(names->slots);
    *names = (struct names){0};
}

#include "model/tree.h"

#include <string.h>

struct tree_reader tree_read(struct slice bytes)
{
    const unsigned char *begin = (const unsigned char *)bytes.bytes;
    return (struct tree_reader){begin, begin + bytes.length};
}

/* An unsigned number of `size` bytes, the highest first. */
static bool take_number(struct tree_reader *reader, size_t size, uint64_t *number)
{
    if ((size_t)(reader->end - reader->at) < size)
        return false;
    *number = 0;
    for (size_t i = 0; i < size; i++)
        *number = *number << 8 | *reader->at++;
    return true;
}

static bool take_text(struct tree_reader *reader, uint64_t length, struct tree_node *node)
{
    if ((uint64_t)(reader->end - reader->at) < length)
        return false;
    node->type = TREE_TEXT;
    node->text = slice_of((const char *)reader->at, (size_t)length);
    reader->at += length;
    return true;
}

static bool take_count(enum tree_type type, uint64_t count, struct tree_node *node)
{
    node->type = type;
    node->count = (size_t)count;
    return true;
}

static bool take_integer(uint64_t number, size_t size, bool is_signed, struct tree_node *node)
{
    node->type = TREE_INTEGER;
    unsigned unused = 64 - 8 * (unsigned)size;
    node->integer = is_signed ? (int64_t)(number << unused) >> unused : (int64_t)number;
    return true;
}

static bool take_real(uint64_t number, size_t size, struct tree_node *node)
{
    node->type = TREE_REAL;
    if (size == sizeof(float)) {
        uint32_t bits = (uint32_t)number;
        float real;
        memcpy(&real, &bits, sizeof real);
        node->real = (double)real;
    } else {
        memcpy(&node->real, &number, sizeof node->real);
    }
    return true;
}

/* Heads that hold all but the bytes behind them: the spec's "fix" formats, nil and booleans. */
static bool short_node(struct tree_reader *reader, unsigned head, struct tree_node *node)
{
    if (head < 0x80 || head >= 0xe0)
        return take_integer(head, 1, true, node);
    if (head < 0x90)
        return take_count(TREE_OBJECT, head & 0x0f, node);
    if (head < 0xa0)
        return take_count(TREE_ARRAY, head & 0x0f, node);
    if (head < 0xc0)
        return take_text(reader, head & 0x1f, node);
    node->type = head == 0xc0 ? TREE_NULL : head == 0xc2 ? TREE_FALSE : TREE_TRUE;
    return head == 0xc0 || head == 0xc2 || head == 0xc3;
}

bool tree_next(struct tree_reader *reader, struct tree_node *node)
{
    uint64_t head, number;
    *node = (struct tree_node){0};
    if (!take_number(reader, 1, &head))
        return false;
    if (head < 0xc4 || head >= 0xe0)
        return short_node(reader, (unsigned)head, node);
    /* Of 0xc4 to 0xdf each head tells how many bytes its number has; 0: an extension type. */
    static const unsigned char sizes[] = {1, 2, 4, 0, 0, 0, 4, 8, 1, 2, 4, 8, 1, 2,
                                          4, 8, 0, 0, 0, 0, 0, 1, 2, 4, 2, 4, 2, 4};
    size_t size = sizes[head - 0xc4];
    if (size == 0 || !take_number(reader, size, &number))
        return false;
    if (head <= 0xc6 || (head >= 0xd9 && head <= 0xdb))
        return take_text(reader, number, node);
    if (head <= 0xcb)
        return take_real(number, size, node);
    if (head <= 0xd3)
        return take_integer(number, size, head >= 0xd0, node);
    return take_count(head <= 0xdd ? TREE_ARRAY : TREE_OBJECT, number, node);
}

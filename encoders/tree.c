#include "encoders/tree.h"

static int check_length(const struct tree_format *format, uint64_t length, struct tare_error *error)
{
    if (length > format->length_most)
        return error_set(error, TARE_USAGE, "longer than the %llu that '%s' holds",
                         (unsigned long long)format->length_most, format->name);
    return 0;
}

/* Text that is no UTF-8 would not survive other readers. */
static int put_text(const struct tree_format *format, struct buffer *out, struct slice text,
                    struct tare_error *error)
{
    if (check_length(format, text.length, error))
        return -1;
    if (!slice_utf8(text))
        return error_set(error, TARE_USAGE, "text that is no UTF-8, which '%s' cannot hold",
                         format->name);
    format->text(out, text);
    return 0;
}

int tree_put_members(const struct tree_format *format, struct buffer *out,
                     const struct member *members, size_t count, bool named, int depth,
                     struct counted *counted, struct tare_error *error)
{
    if (depth > ENCODING_DEPTH_MAX)
        return error_set(error, TARE_USAGE, "nested deeper than %d levels", ENCODING_DEPTH_MAX);
    if (check_length(format, count, error))
        return -1;
    format->head(out, named, count);
    for (size_t i = 0; i < count; i++) {
        char shown[SLICE_SHOW_SIZE];
        if (named && put_text(format, out, members[i].name, error))
            return error_prefix(error, "the name '%s'", slice_show(members[i].name, shown));
        if (named)
            counted->field_names += (int64_t)members[i].name.length;
        /* The outermost name alone: the line stays readable at any depth. */
        if (tree_put_value(format, out, &members[i].value, depth, counted, error))
            return depth == 1
                       ? error_prefix(error, "field '%s'", slice_show(members[i].name, shown))
                       : -1;
    }
    return 0;
}

int tree_put_value(const struct tree_format *format, struct buffer *out, const struct value *value,
                   int depth, struct counted *counted, struct tare_error *error)
{
    size_t start = out->length;
    int64_t text;
    switch (value->type) {
    case VALUE_NULL:
    case VALUE_BOOLEAN:
    case VALUE_INTEGER:
    case VALUE_DOUBLE:
        /* What is stored, head and all, less its text is number form. */
        format->plain(out, value);
        text = value_text_length(value);
        counted->values += text;
        counted->number_form += (int64_t)(out->length - start) - text;
        return 0;
    case VALUE_TEXT:
        counted->values += (int64_t)value->as.text.length;
        return put_text(format, out, value->as.text, error);
    case VALUE_BYTES:
        if (check_length(format, value->as.text.length, error))
            return -1;
        counted->values += (int64_t)value->as.text.length;
        format->bytes(out, value->as.text);
        return 0;
    case VALUE_ARRAY:
    case VALUE_OBJECT:
        return tree_put_members(format, out, value->as.children.items, value->as.children.count,
                                value->type == VALUE_OBJECT, depth + 1, counted, error);
    }
    return error_set(error, TARE_USAGE, "a value without a type");
}

void tree_count_heads(struct item *out)
{
    out->counted.framing = (int64_t)out->bytes.length - counted_sum(&out->counted);
}

int tree_apply(const struct tree_format *format, const struct item *in, struct item *out,
               struct tare_error *error)
{
    if (tree_put_members(format, &out->bytes, in->record->fields, in->record->field_count, true, 1,
                         &out->counted, error))
        return -1;
    tree_count_heads(out);
    return 0;
}

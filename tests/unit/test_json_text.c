/* Reading JSON: cases by hand, and drawn ones that jansson reads too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "core/buffer.h"
#include "core/random.h"
#include "data/json_text.h"

static void texts_are_read_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        size_t place;
    } cases[] = {
        {"{}", NULL, 0},
        {" \t\r\n[ ] ", NULL, 0},
        {"9223372036854775807", NULL, 0},
        {"-9223372036854775808", NULL, 0},
        {"1.7976931348623157e308", NULL, 0},
        {"1e-400", NULL, 0},
        {"\"\\u00e9\\ud83d\\ude00\\u0000\"", NULL, 0},
        {"", "the text ends where a value should be", 0},
        {"  ", "the text ends where a value should be", 2},
        {"{\"a\" 1}", "'1' where ':' should be", 5},
        {"{\"a\":1,}", "'}' where a name in quotes should be", 7},
        {"{a:1}", "'a' where a name in quotes should be", 1},
        {"[1,]", "']' where a value should be", 3},
        {"[1 2]", "'2' where ',' or ']' should be", 3},
        {"{\"a\":1", "the text ends where ',' or '}' should be", 6},
        {"[] []", "'[' where the end should be", 3},
        {"nul", "'n' where a value should be", 0},
        {"NaN", "'N' where a value should be", 0},
        {"'a'", "''' where a value should be", 0},
        {"01", "a number that begins with 0", 0},
        {"-", "the text ends where a digit should be", 1},
        {"1.", "the text ends where a digit should be", 2},
        {"1e+", "the text ends where a digit should be", 3},
        {"+1", "'+' where a value should be", 0},
        {"9223372036854775808", "an integer past 64 bits", 0},
        {"-9223372036854775809", "an integer past 64 bits", 0},
        {"18446744073709551616", "an integer past 64 bits", 0},
        {"[1e309]", "a real number past the largest, 1.8e308", 1},
        {"\"a", "a string that is not closed", 0},
        {"\"a\nb\"", "a control character in a string; JSON escapes it", 2},
        {"\"\\x\"", "a backslash before what JSON does not escape", 1},
        {"\"\\u12\"", "'\\u' without four hexadecimal digits", 1},
        {"\"\\ud800\"", "half of a surrogate pair, which is no character", 1},
        {"\"\\udc00\\ud800\"", "half of a surrogate pair, which is no character", 1},
        {"\"abc\xff\"", "a byte that is no UTF-8", 4},
        {"\"\xc3\"", "a byte that is no UTF-8", 1},
        {"[{\"a\":1,\"b\":2,\"a\":3}]", "the name 'a' stands twice in one object", 1},
        {"\xef\xbb\xbf{}", "'?' where a value should be", 0},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tare_error error = {0};
        struct value value;
        size_t place = 0;
        struct json_reader reader = {0};
        char *copy = memory_text(cases[i].text);
        int failed = json_read(&reader, copy, strlen(copy), &arena, &value, &place, &error);
        if (failed != (cases[i].message ? -1 : 0))
            fail_msg("%s: %s", cases[i].text, failed ? error.message : "read");
        if (failed) {
            assert_string_equal(error.message, cases[i].message);
            assert_int_equal(error.status, TARE_USAGE);
            if (place != cases[i].place)
                fail_msg("%s: at %zu", cases[i].text, place);
        }
        free(copy);
        json_reader_free(&reader);
    }
    arena_free(&arena);
}

static void nesting_has_a_limit(void **state)
{
    (void)state;
    struct arena arena = {0};
    for (size_t depth = RECORD_DEPTH_MAX; depth <= 100000; depth += 99000) {
        struct buffer text = {0};
        struct tare_error error = {0};
        struct value value;
        size_t place;
        struct json_reader reader = {0};
        for (size_t i = 0; i < depth; i++)
            buffer_byte(&text, '[');
        for (size_t i = 0; i < depth; i++)
            buffer_byte(&text, ']');
        int failed = json_read(&reader, text.data, text.length, &arena, &value, &place, &error);
        assert_int_equal(failed, depth > RECORD_DEPTH_MAX ? -1 : 0);
        if (failed)
            assert_string_equal(error.message, "nested deeper than 1000 levels");
        json_reader_free(&reader);
        buffer_free(&text);
    }
    arena_free(&arena);
}

static void numbers_keep_their_kind(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double real;
    } reals[] = {{"-0.0", -0.0},
                 {"1.0", 1},
                 {"1E2", 100},
                 {"0.1", 0.1},
                 {"5e-324", 5e-324},
                 {"1e22", 1e22},
                 {"1e23", 1e23},
                 {"9007199254740993.0", 9007199254740992.0},
                 {"123456789012345678901234567890.0", 1.2345678901234568e29},
                 {"0.000000000000000000000000000001", 1e-30}};
    struct arena arena = {0};
    struct value value;
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        struct json_reader reader = {0};
        size_t place;
        char *copy = memory_text(reals[i].text);
        assert_int_equal(json_read(&reader, copy, strlen(copy), &arena, &value, &place, NULL), 0);
        assert_int_equal(value.type, VALUE_DOUBLE);
        assert_memory_equal(&value.as.real, &reals[i].real, sizeof(double));
        free(copy);
        json_reader_free(&reader);
    }
    arena_free(&arena);
}

/* Are both the same value? */
static bool same(const struct value *value, const json_t *json)
{
    switch (json_typeof(json)) {
    case JSON_NULL:
        return value->type == VALUE_NULL;
    case JSON_TRUE:
    case JSON_FALSE:
        return value->type == VALUE_BOOLEAN && value->as.boolean == json_is_true(json);
    case JSON_INTEGER:
        return value->type == VALUE_INTEGER && value->as.integer == json_integer_value(json);
    case JSON_REAL: {
        double real = json_real_value(json);
        return value->type == VALUE_DOUBLE && memcmp(&value->as.real, &real, sizeof real) == 0;
    }
    case JSON_STRING:
        return value->type == VALUE_TEXT &&
               slice_equal(value->as.text,
                           slice_of(json_string_value(json), json_string_length(json)));
    case JSON_ARRAY:
        if (value->type != VALUE_ARRAY || value->as.children.count != json_array_size(json))
            return false;
        for (size_t i = 0; i < value->as.children.count; i++)
            if (!same(&value->as.children.items[i].value, json_array_get(json, i)))
                return false;
        return true;
    case JSON_OBJECT: {
        if (value->type != VALUE_OBJECT || value->as.children.count != json_object_size(json))
            return false;
        const struct member *member = value->as.children.items;
        for (void *at = json_object_iter((json_t *)json); at;
             at = json_object_iter_next((json_t *)json, at), member++)
            if (!slice_equal(member->name,
                             slice_of(json_object_iter_key(at), json_object_iter_key_len(at))) ||
                !same(&member->value, json_object_iter_value(at)))
                return false;
        return true;
    }
    }
    return false;
}

static void draw_json(struct random *random, struct buffer *out, int depth)
{
    static const char *const plain[] = {"null",
                                        "true",
                                        "false",
                                        "0",
                                        "-0",
                                        "1",
                                        "-1",
                                        "1.5",
                                        "1e5",
                                        "1E-7",
                                        "0.1",
                                        "123456789012345678",
                                        "\"\"",
                                        "\"a\"",
                                        "\"\\n\\\\\"",
                                        "\"\\u00e9\"",
                                        "\"\xc3\xa9\xf0\x9f\x98\x80\"",
                                        "\"a longer text of plain letters\"",
                                        "3.141592653589793",
                                        "-2.2250738585072014e-308",
                                        "\"\\ud83d\\ude00 and \\t more of it\\/\"",
                                        "9223372036854775807",
                                        "1.7e308"};
    static const char *const blanks[] = {"", "", "", " ", "\n", "\t ", "\r\n"};
    uint64_t kind = random_below(random, depth > 4 ? 3 : 6);
    buffer_text(out, blanks[random_below(random, 7)]);
    if (kind < 3) {
        buffer_text(out, plain[random_below(random, sizeof plain / sizeof plain[0])]);
    } else {
        bool object = kind < 5;
        size_t count = random_below(random, 25) == 0 ? 30 : random_below(random, 5);
        buffer_byte(out, object ? '{' : '[');
        for (size_t i = 0; i < count; i++) {
            if (i)
                buffer_byte(out, ',');
            buffer_text(out, blanks[random_below(random, 7)]);
            if (object)
                buffer_format(out, "\"n%d\"%s:", (int)random_below(random, 40),
                              blanks[random_below(random, 7)]);
            draw_json(random, out, depth + (count > 10 ? 3 : 1));
        }
        buffer_byte(out, object ? '}' : ']');
    }
    buffer_text(out, blanks[random_below(random, 7)]);
}

static void drawn_texts_are_read_as_jansson_reads_them(void **state)
{
    (void)state;
    struct arena arena = {0};
    int64_t read = 0, refused = 0;
    json_object_seed(1);
    for (int64_t i = 0; i < 20000; i++) {
        struct random random = random_at(7, i, 0);
        struct buffer text = {0};
        draw_json(&random, &text, 0);
        /* Half of them with a fault or two: a byte more, less, or another. */
        for (uint64_t faults = random_below(&random, 2) ? random_below(&random, 3) : 0;
             faults && text.length; faults--) {
            size_t at = random_below(&random, text.length);
            static const char bytes[] = "{}[],:\"\\0-.e1tn \n\x01\xff\xc3\xa9";
            char byte = bytes[random_below(&random, sizeof bytes - 1)];
            if (random_below(&random, 3) == 0)
                memmove(text.data + at, text.data + at + 1, text.length-- - at);
            else
                text.data[at] = byte;
        }
        struct tare_error error = {0};
        struct value value;
        size_t place = 0;
        json_error_t reason;
        arena_reset(&arena);
        json_t *json =
            json_loadb(text.data, text.length,
                       JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &reason);
        struct json_reader reader = {0};
        char *copy = memory_text_n(text.data, text.length);
        int failed = json_read(&reader, copy, text.length, &arena, &value, &place, &error);
        if ((failed == 0) != (json != NULL))
            fail_msg("%s\n%s", text.data, failed ? error.message : reason.text);
        if (json && !same(&value, json))
            fail_msg("%s", text.data);
        assert_in_range(place, 0, text.length);
        read += json != NULL;
        refused += json == NULL;
        json_decref(json);
        json_reader_free(&reader);
        free(copy);
        buffer_free(&text);
    }
    assert_true(read > 5000 && refused > 2000);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_or_refused),
        cmocka_unit_test(nesting_has_a_limit),
        cmocka_unit_test(numbers_keep_their_kind),
        cmocka_unit_test(drawn_texts_are_read_as_jansson_reads_them),
    };
    return cmocka_run_group_tests_name("data: JSON text", tests, NULL, NULL);
}

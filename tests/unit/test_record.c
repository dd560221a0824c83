/* Values: canonical text, lengths, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/random.h"
#include "data/record.h"

static void doubles_are_shortest(void **state)
{
    (void)state;
    static const struct {
        double real;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {0.1, "0.1"},
                 {1.0 / 3, "0.3333333333333333"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {100000, "100000"},
                 {1e15, "1e15"},
                 {1e22, "1e22"},
                 {-1.5e-7, "-1.5e-7"},
                 {1e100, "1e100"},
                 {5e-324, "5e-324"},
                 {DBL_MAX, "1.7976931348623157e308"},
                 {DBL_MIN, "2.2250738585072014e-308"},
                 {9007199254740993.0, "9007199254740992"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(double_text(cases[i].real, text), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
    assert_int_equal(double_text(NAN, text), 3);
    assert_int_equal(double_text(-HUGE_VAL, text), 4);
}

/* Random bit patterns read back, and no text of a digit less does. */
static void doubles_read_back(void **state)
{
    (void)state;
    struct random random = random_at(1, 0, 0);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_next(&random);
        double real;
        memcpy(&real, &bits, sizeof real);
        if (!isfinite(real))
            continue;
        char text[32];
        size_t length = double_text(real, text);
        assert_true(length < sizeof text);
        assert_true(strtod(text, NULL) == real);
    }
}

static void leaves_have_their_text(void **state)
{
    (void)state;
    static const struct {
        struct value value;
        const char *text;
    } cases[] = {{{.type = VALUE_NULL}, "null"},
                 {{.type = VALUE_BOOLEAN, .as.boolean = true}, "true"},
                 {{.type = VALUE_BOOLEAN}, "false"},
                 {{.type = VALUE_INTEGER}, "0"},
                 {{.type = VALUE_INTEGER, .as.integer = INT64_MIN}, "-9223372036854775808"},
                 {{.type = VALUE_INTEGER, .as.integer = INT64_MAX}, "9223372036854775807"},
                 {{.type = VALUE_INTEGER, .as.integer = -10}, "-10"},
                 {{.type = VALUE_DOUBLE, .as.real = 2.5}, "2.5"},
                 {{.type = VALUE_TEXT, .as.text = {"text", 4}}, "text"},
                 {{.type = VALUE_BYTES, .as.text = {"b", 1}}, "b"},
                 {{.type = VALUE_TEXT}, ""}};
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(slice_is(value_text(&cases[i].value, &arena), cases[i].text));
        assert_int_equal(value_text_length(&cases[i].value), strlen(cases[i].text));
        assert_int_equal(value_names_length(&cases[i].value), 0);
    }
    assert_true(slice_is(numbered_text("player:", -42, &arena), "player:-42"));
    assert_true(slice_is(numbered_text("", 0, &arena), "0"));
    arena_free(&arena);
}

static void nested_values_are_summed(void **state)
{
    (void)state;
    struct member numbers[] = {{{"", 0}, {.type = VALUE_INTEGER, .as.integer = 100}},
                               {{"ignored", 7}, {.type = VALUE_NULL}}};
    struct member members[] = {
        {{"list", 4}, {.type = VALUE_ARRAY, .as.children = {numbers, 2}}},
        {{"x", 1}, {.type = VALUE_TEXT, .as.text = {"abc", 3}}},
        {{"empty", 5}, {.type = VALUE_OBJECT}},
    };
    struct value value = {.type = VALUE_OBJECT, .as.children = {members, 3}};
    assert_int_equal(value_text_length(&value), 3 + 4 + 3);
    assert_int_equal(value_names_length(&value), 4 + 1 + 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_shortest),
        cmocka_unit_test(doubles_read_back),
        cmocka_unit_test(leaves_have_their_text),
        cmocka_unit_test(nested_values_are_summed),
    };
    return cmocka_run_group_tests_name("data: values", tests, NULL, NULL);
}

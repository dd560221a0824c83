/* Figures by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "core/figures.h"

static void figures_are_set_and_replaced(void **state)
{
    (void)state;
    struct figures figures = {0};
    assert_null(figures_find(&figures, "a"));
    assert_int_equal(figures_get(&figures, "a"), 0);
    figures_integer(&figures, "a", 42);
    figures_text(&figures, "b", "text");
    figures_real(&figures, "c", 2.5);
    assert_int_equal(figures.count, 3);
    assert_int_equal(figures_get(&figures, "a"), 42);
    assert_true(figures_find(&figures, "a")->real == 42.0);
    assert_int_equal(figures_get(&figures, "c"), 3);
    assert_string_equal(figures_get_text(&figures, "b"), "text");
    assert_null(figures_get_text(&figures, "a"));
    assert_int_equal(figures_get(&figures, "b"), 0);
    figures_text(&figures, "a", "now a text");
    figures_integer(&figures, "b", -1);
    assert_int_equal(figures.count, 3);
    assert_string_equal(figures_get_text(&figures, "a"), "now a text");
    assert_int_equal(figures_find(&figures, "b")->type, FIGURE_INTEGER);
    assert_null(figures_get_text(&figures, "b"));
    figures_text(&figures, "a", figures_get_text(&figures, "a")); /* its own old text */
    assert_string_equal(figures_get_text(&figures, "a"), "now a text");
    assert_string_equal(figures.items[0].name, "a"); /* in the order read */
    assert_string_equal(figures.items[2].name, "c");
    assert_true(figures_has(&figures, "c"));
    assert_false(figures_has(&figures, "d"));
    figures_free(&figures);
    assert_int_equal(figures.count, 0);
}

static void reals_are_rounded_within_range(void **state)
{
    (void)state;
    struct figures figures = {0};
    figures_real(&figures, "a", 1e300);
    assert_true(figures_get(&figures, "a") == INT64_MAX);
    figures_real(&figures, "a", -1e300);
    assert_true(figures_get(&figures, "a") == INT64_MIN);
    figures_real(&figures, "a", -2.5);
    assert_int_equal(figures_get(&figures, "a"), -3);
    figures_free(&figures);
}

static void texts_are_told_from_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum figure_type type;
    } cases[] = {
        {"0", FIGURE_INTEGER},
        {"-17", FIGURE_INTEGER},
        {"9223372036854775807", FIGURE_INTEGER},
        {"18446744073709551615", FIGURE_REAL},
        {"1.07", FIGURE_REAL},
        {"-0.5", FIGURE_REAL},
        {"1e+10", FIGURE_REAL},
        {"1.5e3", FIGURE_REAL},
        {"7.0.15", FIGURE_TEXT},
        {"00000000", FIGURE_TEXT}, /* redis_git_sha1 */
        {"12345e12", FIGURE_TEXT}, /* a hash may look like this */
        {"007", FIGURE_TEXT},
        {"nan", FIGURE_TEXT},
        {"inf", FIGURE_TEXT},
        {"0x10", FIGURE_TEXT},
        {"1.", FIGURE_TEXT},
        {".5", FIGURE_TEXT},
        {"1.5e", FIGURE_TEXT},
        {"1.5 ", FIGURE_TEXT},
        {"-", FIGURE_TEXT},
        {"", FIGURE_TEXT},
        {"jemalloc-5.3.0", FIGURE_TEXT},
    };
    struct figures figures = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        figures_parse(&figures, "figure", cases[i].text);
        if (figures_find(&figures, "figure")->type != cases[i].type)
            fail_msg("'%s' is taken for type %d", cases[i].text,
                     figures_find(&figures, "figure")->type);
    }
    figures_parse(&figures, "figure", "1.25");
    assert_true(figures_find(&figures, "figure")->real == 1.25);
    figures_free(&figures);
}

static void many_figures_are_found(void **state)
{
    (void)state;
    struct figures figures = {0}, copy = {0};
    char name[32];
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "malloc.bins.%d", i);
        figures_integer(&figures, name, i);
    }
    figures_text(&figures, "t", "x");
    figures_real(&figures, "r", 0.5);
    figures_integer(&copy, "malloc.bins.3", -3);
    figures_copy(&copy, &figures);
    figures_copy(&copy, &copy);
    assert_int_equal(copy.count, 20002);
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "malloc.bins.%d", i);
        assert_int_equal(figures_get(&figures, name), i);
        assert_int_equal(figures_get(&copy, name), i);
    }
    assert_string_equal(figures_get_text(&copy, "t"), "x");
    assert_true(figures_find(&copy, "r")->real == 0.5);
    assert_false(figures_has(&figures, "malloc.bins.20000"));
    figures_free(&copy);
    figures_free(&figures);
}

static void growth_counts_missing_as_nothing(void **state)
{
    (void)state;
    struct figures base = {0}, end = {0};
    figures_integer(&base, "a", 10);
    figures_integer(&end, "a", 25);
    figures_integer(&end, "b", 7);
    figures_integer(&base, "c", 3);
    assert_int_equal(figures_growth(&base, &end, "a"), 15);
    assert_int_equal(figures_growth(&base, &end, "b"), 7);
    assert_int_equal(figures_growth(&base, &end, "c"), -3);
    assert_int_equal(figures_growth(&base, &end, "d"), 0);
    figures_free(&base);
    figures_free(&end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_set_and_replaced),
        cmocka_unit_test(reals_are_rounded_within_range),
        cmocka_unit_test(texts_are_told_from_numbers),
        cmocka_unit_test(many_figures_are_found),
        cmocka_unit_test(growth_counts_missing_as_nothing),
    };
    return cmocka_run_group_tests_name("core: figures", tests, NULL, NULL);
}

/* Numbers and texts of reports. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "report/number.h"

static void bytes_per_record_are_exact(void **state)
{
    char text[NUMBER_SIZE];
    (void)state;
    assert_string_equal(number_per_record(text, 1000000, 3), "333333.3333");
    assert_string_equal(number_per_record(text, 2, 3), "0.6667");
    assert_string_equal(number_per_record(text, -1, 3), "-0.3333");
    assert_string_equal(number_per_record(text, -100, 1000), "-0.1000");
    assert_string_equal(number_per_record(text, INT64_MAX, 1), "9223372036854775807.0000");
    assert_string_equal(number_per_record(text, INT64_MIN, 1), "-9223372036854775808.0000");
    assert_string_equal(number_per_record(text, 5, 0), "");
}

static void fixed_numbers_come_back(void **state)
{
    static const double numbers[] = {0, 1, -1, 0.0001, -0.5, 1867.3, 123456789.0625, 1e12};
    char text[NUMBER_SIZE];
    double number;
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_true(number_parse_fixed(number_fixed(text, numbers[i]), &number));
        assert_true(number == numbers[i]);
    }
    assert_string_equal(number_fixed(text, 1850.00004), "1850");
    assert_string_equal(number_fixed(text, 0.25), "0.25");
    assert_string_equal(number_fixed(text, NAN), "");
    static const char *const wrong[] = {"",
                                        "-",
                                        ".5",
                                        "1e5",
                                        "1.2.3",
                                        "nan",
                                        " 1",
                                        "1 ",
                                        "0x1",
                                        "99999999999999999999",
                                        "0.000000000000001"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(number_parse_fixed(wrong[i], &number));
}

static void integers_are_whole(void **state)
{
    int64_t number;
    (void)state;
    assert_true(number_parse_integer("9223372036854775807", &number) && number == INT64_MAX);
    assert_true(number_parse_integer("-9223372036854775808", &number) && number == INT64_MIN);
    static const char *const wrong[] = {"", "-", "9223372036854775808", "1.0", "1e3", "+1", " 1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(number_parse_integer(wrong[i], &number));
}

static void printed_columns_sum(void **state)
{
    /* 0.04 each: rounded alone every one is 0.0, and the column would sum to 0.0 of 0.4. */
    int64_t bytes[10], tenths[10], sum = 0;
    (void)state;
    for (int i = 0; i < 10; i++)
        bytes[i] = 4;
    number_tenths_of_all(bytes, 10, 100, number_tenths(40, 100), tenths);
    for (int i = 0; i < 10; i++)
        sum += tenths[i];
    assert_int_equal(sum, 4);
    /* What needs no rounding is left alone; negative amounts too. */
    const int64_t mixed[] = {1000, -7, 0, 333, -1326};
    number_tenths_of_all(mixed, 5, 100, number_tenths(0, 100), tenths);
    assert_int_equal(tenths[0], 100);
    assert_int_equal(tenths[2], 0);
    assert_int_equal(tenths[0] + tenths[1] + tenths[2] + tenths[3] + tenths[4], 0);
    for (int i = 0; i < 5; i++)
        assert_true(fabs((double)tenths[i] - (double)mixed[i] / 10) < 1);
}

static void tenths_read_well(void **state)
{
    char text[NUMBER_SIZE];
    (void)state;
    assert_string_equal(number_tenths_text(text, 18673), "1,867.3");
    assert_string_equal(number_tenths_text(text, -850), "-85.0");
    assert_string_equal(number_tenths_text(text, -1), "-0.1");
    assert_string_equal(number_tenths_text(text, 0), "0.0");
    assert_int_equal(number_tenths(186725, 1000), 1867);
    assert_int_equal(number_tenths(186750, 1000), 1868);
    assert_int_equal(number_tenths(5, 0), 0);
}

static void text_is_made_safe(void **state)
{
    static const struct {
        const char *text, *safe, *controlled;
    } texts[] = {
        {"plain", "plain", "plain"},
        {"caf\xc3\xa9", "caf\xc3\xa9", "caf\xc3\xa9"},
        {"a\nb\x1b[1m", "a\nb\x1b[1m", "a\\x0ab\\x1b[1m"},
        {"\xff\xfe", "\\xff\\xfe", "\\xff\\xfe"},
        {"\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf"},               /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80"}, /* a surrogate */
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80"}, /* beyond */
        {"\xe2\x82", "\\xe2\\x82", "\\xe2\\x82"},                             /* cut */
        {"\xc2\x9b", "\xc2\x9b", "\\xc2\\x9b"}, /* C1: a terminal's CSI */
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct buffer safe = {0}, controlled = {0};
        text_safe(&safe, texts[i].text, false);
        text_safe(&controlled, texts[i].text, true);
        assert_string_equal(safe.data, texts[i].safe);
        assert_string_equal(controlled.data, texts[i].controlled);
        buffer_free(&safe);
        buffer_free(&controlled);
    }
    assert_int_equal(text_width("caf\xc3\xa9"), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_per_record_are_exact), cmocka_unit_test(fixed_numbers_come_back),
        cmocka_unit_test(integers_are_whole),         cmocka_unit_test(printed_columns_sum),
        cmocka_unit_test(tenths_read_well),           cmocka_unit_test(text_is_made_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Figures as people read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/units.h"

static void counts_have_commas(void **state)
{
    (void)state;
    char out[UNITS_SIZE];
    assert_string_equal(units_count(out, 0), "0");
    assert_string_equal(units_count(out, 999), "999");
    assert_string_equal(units_count(out, 1000), "1,000");
    assert_string_equal(units_count(out, -1234567), "-1,234,567");
    assert_string_equal(units_count(out, 100000), "100,000");
    assert_string_equal(units_count(out, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void bytes_have_three_digits(void **state)
{
    (void)state;
    char out[UNITS_SIZE];
    assert_string_equal(units_bytes(out, 0), "0 B");
    assert_string_equal(units_bytes(out, 512), "512 B");
    assert_string_equal(units_bytes(out, 1023), "1023 B");
    assert_string_equal(units_bytes(out, 1024), "1.00 KiB");
    assert_string_equal(units_bytes(out, 187 * 1048576LL), "187 MiB");
    assert_string_equal(units_bytes(out, 3246208584), "3.02 GiB");
    assert_string_equal(units_bytes(out, 10235), "10.0 KiB");
    assert_string_equal(units_bytes(out, 1048575), "1.00 MiB");
    assert_string_equal(units_bytes(out, 102399), "100 KiB");
    assert_string_equal(units_bytes(out, -2048), "-2.00 KiB");
    assert_string_equal(units_bytes(out, INT64_MAX), "8.00 EiB");
    assert_string_equal(units_bytes(out, INT64_MIN), "-8.00 EiB");
}

static void decimals_are_grouped(void **state)
{
    (void)state;
    char out[UNITS_SIZE];
    assert_string_equal(units_decimal(out, 1867.26, 1), "1,867.3");
    assert_string_equal(units_decimal(out, 0, 2), "0.00");
    assert_string_equal(units_decimal(out, -0.04, 1), "0.0");
    assert_string_equal(units_decimal(out, -0.06, 1), "-0.1");
    assert_string_equal(units_decimal(out, 999999.96, 1), "1,000,000.0");
    assert_string_equal(units_decimal(out, -85, 0), "-85");
    assert_string_equal(units_decimal(out, NAN, 1), "-");
    assert_string_equal(units_decimal(out, HUGE_VAL, 1), "-");
    assert_string_equal(units_decimal(out, 1e18, 1), "1.000e+18");
    assert_true(strlen(units_decimal(out, -1e18 + 1000, 30)) < UNITS_SIZE);
    assert_true(strlen(units_signed_percent(out, -DBL_MAX / 200, 9)) < UNITS_SIZE);
}

static void percents_have_signs_where_wanted(void **state)
{
    (void)state;
    char out[UNITS_SIZE];
    assert_string_equal(units_percent(out, 0.001, 1), "0.1 %");
    assert_string_equal(units_percent(out, 12.5, 1), "1,250.0 %");
    assert_string_equal(units_percent(out, -0.0001, 1), "0.0 %");
    assert_string_equal(units_signed_percent(out, 0.001, 1), "+0.1 %");
    assert_string_equal(units_signed_percent(out, -0.0001, 1), "-0.0 %");
    assert_string_equal(units_signed_percent(out, 0, 1), "+0.0 %");
    assert_string_equal(units_percent(out, NAN, 1), "- %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_commas),
        cmocka_unit_test(bytes_have_three_digits),
        cmocka_unit_test(decimals_are_grouped),
        cmocka_unit_test(percents_have_signs_where_wanted),
    };
    return cmocka_run_group_tests_name("core: units", tests, NULL, NULL);
}

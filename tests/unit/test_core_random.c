/* Pseudo-random numbers: known ones, and that they are spread evenly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/random.h"

/* The first numbers of SplitMix64 from state 1234567, as its authors' program prints them. */
static void draws_are_splitmix64(void **state)
{
    (void)state;
    static const uint64_t known[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                     UINT64_C(9817491932198370423), UINT64_C(4593380528125082431),
                                     UINT64_C(16408922859458223821)};
    struct random random = {1234567};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_true(random_next(&random) == known[i]);
}

static void streams_differ_by_each_part(void **state)
{
    (void)state;
    struct random streams[] = {random_at(1, 2, 3), random_at(1, 3, 2), random_at(2, 1, 3),
                               random_at(3, 2, 1), random_at(1, 2, 4), random_at(0, 0, 0),
                               random_at(0, 0, 1), random_at(0, 1, 0), random_at(1, 0, 0)};
    enum { COUNT = sizeof streams / sizeof streams[0] };
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_true(streams[i].state != streams[j].state);
    struct random again = random_at(1, 2, 3);
    assert_true(again.state == streams[0].state);
}

/* 1,000 draws of each of 7 on the average: a count is off by 6 standard deviations never. */
static void bounded_draws_are_even(void **state)
{
    (void)state;
    int counts[7] = {0};
    struct random random = random_at(1, 0, 0);
    for (int i = 0; i < 7000; i++) {
        uint64_t draw = random_below(&random, 7);
        assert_true(draw < 7);
        counts[draw]++;
    }
    for (int i = 0; i < 7; i++)
        assert_in_range(counts[i], 1000 - 6 * 30, 1000 + 6 * 30);
    assert_int_equal(random_below(&random, 0), 0);
    assert_int_equal(random_below(&random, 1), 0);
    /* A bound that refuses half of all draws, less one. */
    uint64_t bound = (UINT64_C(1) << 63) + 1;
    int high = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t draw = random_below(&random, bound);
        assert_true(draw < bound);
        high += draw >= bound / 2;
    }
    assert_in_range(high, 400, 600);
}

static void units_are_below_one(void **state)
{
    (void)state;
    struct random random = random_at(9, 9, 9);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double unit = random_unit(&random);
        assert_true(unit >= 0 && unit < 1);
        sum += unit;
    }
    assert_true(sum > 4800 && sum < 5200);
}

static void characters_are_printable_and_even(void **state)
{
    (void)state;
    enum { LENGTH = 95000 };
    static char text[LENGTH + 1];
    int counts[256] = {0};
    struct random random = random_at(5, 0, 0);
    text[LENGTH] = 'x';
    random_printable(&random, text, LENGTH);
    assert_int_equal(text[LENGTH], 'x');
    for (int i = 0; i < LENGTH; i++)
        counts[(unsigned char)text[i]]++;
    for (int i = 0; i < 256; i++)
        if (i < 32 || i > 126)
            assert_int_equal(counts[i], 0);
        else
            assert_in_range(counts[i], 1000 - 6 * 32, 1000 + 6 * 32);
}

static void bytes_are_filled_to_the_end(void **state)
{
    (void)state;
    for (size_t length = 0; length < 30; length++) {
        unsigned char bytes[32], seen[32] = {0};
        for (int64_t round = 0; round < 20; round++) {
            struct random random = random_at(1, round, length);
            memset(bytes, 0, sizeof bytes);
            random_bytes(&random, bytes, length);
            for (size_t i = 0; i < sizeof bytes; i++)
                seen[i] |= bytes[i];
        }
        for (size_t i = 0; i < sizeof seen; i++)
            assert_true(i < length ? seen[i] != 0 : seen[i] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_splitmix64),
        cmocka_unit_test(streams_differ_by_each_part),
        cmocka_unit_test(bounded_draws_are_even),
        cmocka_unit_test(units_are_below_one),
        cmocka_unit_test(characters_are_printable_and_even),
        cmocka_unit_test(bytes_are_filled_to_the_end),
    };
    return cmocka_run_group_tests_name("core: random numbers", tests, NULL, NULL);
}

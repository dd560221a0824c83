/* Options, numbers in text, nearest names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/options.h"

struct target {
    int64_t number;
    int choice;
    char *text;
    bool flag;
};

static const char *const choices[] = {"red", "green", NULL};
static const struct option_spec specs[] = {
    {"number", OPTION_INTEGER, offsetof(struct target, number), -5, 5000, NULL, ""},
    {"choice", OPTION_CHOICE, offsetof(struct target, choice), 0, 0, choices, ""},
    {"text", OPTION_TEXT, offsetof(struct target, text), 0, 0, NULL, ""},
    {"flag", OPTION_FLAG, offsetof(struct target, flag), 0, 0, NULL, ""},
    {0}};

static void options_reach_their_members(void **state)
{
    (void)state;
    struct tare_error error = {0};
    struct target target = {.choice = 7};
    assert_int_equal(options_parse(specs, "number=2k,choice=green,text=a:b=c,flag", &target,
                                   "thing 't'", &error),
                     0);
    assert_int_equal(target.number, 2000);
    assert_int_equal(target.choice, 1);
    assert_string_equal(target.text, "a:b=c");
    assert_true(target.flag);
    assert_int_equal(options_parse(specs, "flag=0,text=d", &target, "thing 't'", &error), 0);
    assert_false(target.flag);
    assert_string_equal(target.text, "d");
    assert_int_equal(options_parse(specs, NULL, &target, "thing 't'", &error), 0);
    assert_int_equal(options_parse(specs, "", &target, "thing 't'", &error), 0);
    options_free(specs, &target);
    assert_null(target.text);
}

static void wrong_options_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"numbr=1", "unknown option 'numbr' of thing 't'; did you mean 'number'?"},
        {"zzzzzz=1", "unknown option 'zzzzzz' of thing 't'; known are number, choice, text, flag"},
        {"number=5001", "option 'number' of thing 't' must be a whole number from -5 to 5000, not "
                        "'5001'"},
        {"number=-6",
         "option 'number' of thing 't' must be a whole number from -5 to 5000, not '-6'"},
        {"number=", "option 'number' of thing 't' needs a value: 'number=...'"},
        {"number", "option 'number' of thing 't' needs a value: 'number=...'"},
        {"choice=gren", "option 'choice' of thing 't' must be one of red, green, not 'gren'; did "
                        "you mean 'green'?"},
        {"choice=mauve", "option 'choice' of thing 't' must be one of red, green, not 'mauve'"},
        {"flag=yes", "option 'flag' of thing 't' takes no value, or 0 or 1, not 'yes'"},
        {"number=1,number=1", "option 'number' of thing 't' is given twice"},
        {"number=1,,flag", "empty option in 'number=1,,flag' of thing 't'"},
        {"=1", "empty option in '=1' of thing 't'"},
        {"flag,", "empty option in 'flag,' of thing 't'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct tare_error error = {0};
        struct target target = {0};
        assert_int_equal(options_parse(specs, cases[i].text, &target, "thing 't'", &error), -1);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.status, TARE_USAGE);
        options_free(specs, &target);
    }
    struct tare_error error = {0};
    static const struct option_spec none[] = {{0}};
    assert_int_equal(option_set(none, "x", NULL, NULL, "thing 't'", &error), -1);
    assert_string_equal(error.message, "unknown option 'x' of thing 't', which has none");
}

static void numbers_are_whole_and_in_range(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } good[] = {{"0", 0},
                {"1000000", 1000000},
                {"100k", 100000},
                {"3M", 3000000},
                {"2G", 2000000000},
                {"007", 7},
                {"-3", -3},
                {"9223372036854775807", INT64_MAX},
                {"9223372036G", 9223372036000000000}};
    static const char *const bad[] = {"",
                                      "k",
                                      "1K",
                                      "1kk",
                                      "1.5",
                                      "1e3",
                                      " 1",
                                      "1 ",
                                      "+1",
                                      "-",
                                      "--1",
                                      "0x10",
                                      "ten",
                                      "9223372036854775808",
                                      "18446744073709551617",
                                      "9223372037G",
                                      "99999999999999999999999"};
    int64_t number;
    struct tare_error error;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(parse_integer(good[i].text, INT64_MIN, INT64_MAX, "-n", &number, &error),
                         0);
        assert_true(number == good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(parse_integer(bad[i], INT64_MIN, INT64_MAX, "-n", &number, &error), -1);
    assert_int_equal(parse_integer("-1", 0, INT64_MAX, "-n", &number, &error), -1);
    assert_string_equal(error.message, "-n must be a whole number of at least 0, not '-1'");
}

static void nearest_names_are_near(void **state)
{
    (void)state;
    static const char *const names[] = {"json", "msgpack", "zstd", "ycsb", "hash", NULL};
    static const char *const none[] = {NULL};
    assert_string_equal(nearest_name("ycbs", names), "ycsb"); /* swapped */
    assert_string_equal(nearest_name("jsn", names), "json");
    assert_string_equal(nearest_name("JSON", names), "json");
    assert_string_equal(nearest_name("message-pack", names), "msgpack");
    assert_string_equal(nearest_name("hahs", names), "hash");
    assert_string_equal(nearest_name("zstd", names), "zstd");
    assert_null(nearest_name("protobuf", names));
    assert_null(nearest_name("", names));
    assert_null(nearest_name("json", none));
    char text[5000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_null(nearest_name(text, names));
}

static void options_stand_behind_a_path(void **state)
{
    (void)state;
    static const struct option_spec path_specs[] = {
        {"key", OPTION_TEXT, 0, 0, 0, NULL, ""}, {"bad", OPTION_FLAG, 0, 0, 0, NULL, ""}, {0}};
    static const struct {
        const char *text, *options;
    } cases[] = {
        {"a.csv", NULL},
        {"a.csv,key=x", "key=x"},
        {"a,b.csv,key=x,bad", "key=x,bad"},
        {"a.csv:key=x", "key=x"},
        {"a:b.csv,bad", "bad"},
        {"a,key", NULL},
        {"a,nokey=x", NULL},
        {"a,bad,nokey=x", NULL},
        {"a:key=x,bad=1", "key=x,bad=1"},
        {"key=x", NULL},
        {"", NULL},
        {",bad", "bad"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *options = options_behind(path_specs, cases[i].text, ":,");
        if (cases[i].options)
            assert_string_equal(options, cases[i].options);
        else
            assert_null(options);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_reach_their_members),    cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(numbers_are_whole_and_in_range), cmocka_unit_test(nearest_names_are_near),
        cmocka_unit_test(options_stand_behind_a_path),
    };
    return cmocka_run_group_tests_name("core: options", tests, NULL, NULL);
}

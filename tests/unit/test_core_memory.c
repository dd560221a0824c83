/* Memory, arenas, buffers, slices, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/buffer.h"
#include "core/error.h"
#include "core/memory.h"
#include "core/slice.h"

static void memory_is_zeroed_and_copied(void **state)
{
    (void)state;
    char *block = memory_new(1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    free(block);
    assert_null(memory_text(NULL));
    char *copy = memory_text_n("ab\0cd", 5);
    assert_memory_equal(copy, "ab\0cd", 6);
    free(copy);
    char *text = memory_format("%s-%d", "a", 7);
    assert_string_equal(text, "a-7");
    free(text);
}

static void arrays_grow(void **state)
{
    (void)state;
    int *items = NULL;
    size_t count = 0, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        MEMORY_GROW(items, count, capacity);
        items[count++] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

/* Blocks of many sizes are aligned, apart from each other, and the arena's chunks are reused. */
static void arena_blocks_are_apart(void **state)
{
    (void)state;
    struct arena arena = {0};
    static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 65535, 65536, 65537, 300000, 3};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    for (int round = 0; round < 5; round++) {
        unsigned char *blocks[3 * COUNT];
        for (int i = 0; i < 3 * COUNT; i++) {
            blocks[i] = arena_take(&arena, sizes[i % COUNT]);
            assert_int_equal((uintptr_t)blocks[i] % 16, 0);
            memset(blocks[i], i, sizes[i % COUNT]);
        }
        for (int i = 0; i < 3 * COUNT; i++)
            for (size_t j = 0; j < sizes[i % COUNT]; j++)
                assert_int_equal(blocks[i][j], i);
        arena_reset(&arena);
    }
    char *copy = arena_copy(&arena, "tare", 4);
    assert_string_equal(copy, "tare");
    arena_reset(&arena);
    assert_ptr_equal(arena_copy(&arena, "", 0), copy);
    arena_free(&arena);
    assert_null(arena.first);
}

static void arena_gives_large_chunks_back(void **state)
{
    (void)state;
    struct arena arena = {0};
    arena_take(&arena, 100);
    arena_take(&arena, 8 << 20);
    arena_reset(&arena);
    struct arena_chunk *first = arena.first;
    assert_non_null(first);
    for (int i = 0; i < 100; i++) {
        arena_take(&arena, 8 << 20);
        arena_reset(&arena);
        assert_ptr_equal(arena.first, first);
    }
    arena_free(&arena);
}

static void buffer_appends(void **state)
{
    (void)state;
    struct buffer buffer = {0};
    assert_int_equal(buffer_slice(&buffer).length, 0);
    buffer_append(&buffer, NULL, 0);
    buffer_text(&buffer, "one");
    buffer_byte(&buffer, ' ');
    buffer_format(&buffer, "%d", 2);
    buffer_append(&buffer, "\0x", 2);
    assert_int_equal(buffer.length, 7);
    assert_memory_equal(buffer.data, "one 2\0x", 8);
    size_t capacity = buffer.capacity;
    buffer_clear(&buffer);
    assert_int_equal(buffer.length, 0);
    assert_int_equal(buffer.capacity, capacity);
    assert_string_equal(buffer.data, "");
    buffer_format(&buffer, "%0500d", 1); /* longer than the room that there is */
    assert_int_equal(buffer.length, 500);
    assert_int_equal(strlen(buffer.data), 500);
    char *stolen = buffer_steal(&buffer);
    assert_null(buffer.data);
    assert_int_equal(strlen(stolen), 500);
    free(stolen);
    stolen = buffer_steal(&buffer);
    assert_string_equal(stolen, "");
    free(stolen);
    for (int i = 0; i < 100000; i++)
        buffer_byte(&buffer, (char)i);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buffer.data[i], (char)i);
    buffer_free(&buffer);
    assert_int_equal(buffer.capacity, 0);
}

static void slices_compare(void **state)
{
    (void)state;
    assert_true(slice_equal(slice_text("abc"), slice_of("abcd", 3)));
    assert_false(slice_equal(slice_text("abc"), slice_text("abd")));
    assert_false(slice_equal(slice_text("abc"), slice_text("abcd")));
    assert_true(slice_equal(slice_of(NULL, 0), slice_text("")));
    assert_true(slice_is(slice_of("a\0b", 1), "a"));
    assert_false(slice_is(slice_of("a\0b", 3), "a"));
}

static void integers_are_canonical_or_none(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t number;
    } good[] = {{"0", 0},
                {"-1", -1},
                {"42", 42},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN},
                {"1000000000000000000", 1000000000000000000}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+1",
                                      "01",
                                      "-0",
                                      "-01",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "18446744073709551615",
                                      "99999999999999999999",
                                      "a",
                                      "--1"};
    int64_t number;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(slice_integer(slice_text(good[i].text), &number));
        assert_true(number == good[i].number);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(slice_integer(slice_text(bad[i]), &number));
    assert_false(slice_integer(slice_of("1\0", 2), &number));
}

/* All code points, written by the definition, are read back; everything next to them is refused. */
static void utf8_is_strict(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char text[4];
        size_t size;
        if (code < 0x80) {
            text[0] = (char)code;
            size = 1;
        } else if (code < 0x800) {
            text[0] = (char)(0xc0 | code >> 6);
            text[1] = (char)(0x80 | (code & 63));
            size = 2;
        } else if (code < 0x10000) {
            text[0] = (char)(0xe0 | code >> 12);
            text[1] = (char)(0x80 | (code >> 6 & 63));
            text[2] = (char)(0x80 | (code & 63));
            size = 3;
        } else {
            text[0] = (char)(0xf0 | code >> 18);
            text[1] = (char)(0x80 | (code >> 12 & 63));
            text[2] = (char)(0x80 | (code >> 6 & 63));
            text[3] = (char)(0x80 | (code & 63));
            size = 4;
        }
        uint32_t read = 0;
        size_t expected = code >= 0xd800 && code <= 0xdfff ? 0 : size;
        if (utf8_character(text, size, &read) != expected || (expected && read != code))
            fail_msg("code point %x is read as %x", code, read);
        if (utf8_character(text, size - 1, &read) != 0)
            fail_msg("code point %x is read though cut short", code);
    }
    static const char *const bad[] = {
        "\x80",  "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xff",  "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xc3(", "\xe2\x82("};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(slice_utf8(slice_text(bad[i])));
        /* Also where it straddles the words that are looked at at once. */
        for (size_t before = 0; before < 20; before++) {
            char text[40] = "";
            memset(text, 'a', before);
            strcpy(text + before, bad[i]);
            strcat(text, "bbbbbbbbb");
            assert_false(slice_utf8(slice_text(text)));
        }
    }
    assert_true(slice_utf8(slice_text("a\xc3\xa4 and \xe2\x82\xac and \xf0\x9f\x98\x80 too")));
    assert_true(slice_utf8(slice_of("nul \0 is a character", 20)));
    assert_true(slice_utf8(slice_of(NULL, 0)));
}

static void slices_are_shown_in_one_line(void **state)
{
    (void)state;
    char out[SLICE_SHOW_SIZE], text[200];
    assert_string_equal(slice_show(slice_of("a\n\0\x80z", 5), out), "a???z");
    memset(text, 'x', sizeof text);
    slice_show(slice_of(text, 63), out);
    assert_int_equal(strlen(out), 63);
    assert_string_equal(out + 60, "xxx");
    slice_show(slice_of(text, 64), out);
    assert_int_equal(strlen(out), 63);
    assert_string_equal(out + 59, "x...");
}

static void errors_are_set_and_prefixed(void **state)
{
    (void)state;
    struct tare_error error = {0};
    assert_int_equal(error_set(&error, TARE_STORE, "no '%s'", "x"), -1);
    assert_int_equal(error.status, TARE_STORE);
    assert_string_equal(error.message, "no 'x'");
    assert_int_equal(error_prefix(&error, "cell %d", 3), -1);
    assert_string_equal(error.message, "cell 3: no 'x'");
    /* The message may be an argument of the new one. */
    error_set(&error, TARE_USAGE, "again: %s", error.message);
    assert_string_equal(error.message, "again: cell 3: no 'x'");
    char text[2000];
    memset(text, 'y', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&error, TARE_USAGE, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    error_prefix(&error, "z");
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_memory_equal(error.message, "z: yyy", 6);
    error_prefix(&error, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(error_set(NULL, TARE_USAGE, "x"), -1);
    assert_int_equal(error_prefix(NULL, "x"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_and_copied),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(arena_blocks_are_apart),
        cmocka_unit_test(arena_gives_large_chunks_back),
        cmocka_unit_test(buffer_appends),
        cmocka_unit_test(slices_compare),
        cmocka_unit_test(integers_are_canonical_or_none),
        cmocka_unit_test(utf8_is_strict),
        cmocka_unit_test(slices_are_shown_in_one_line),
        cmocka_unit_test(errors_are_set_and_prefixed),
    };
    return cmocka_run_group_tests_name("core: memory, buffers, slices, errors", tests, NULL, NULL);
}

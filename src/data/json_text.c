#include "data/json_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct text {
    struct json_reader *reader;
    struct arena *arena;
    char *begin, *at, *end; /* *end is NUL */
    struct tare_error *error;
    size_t *place;
};

void json_reader_free(struct json_reader *reader)
{
    free(reader->open);
    *reader = (struct json_reader){0};
}

/* An error at `at`. */
static int fault(struct text *text, const char *at, const char *reason)
{
    *text->place = (size_t)(at - text->begin);
    return error_set(text->error, TARE_USAGE, "%s", reason);
}

/* What is there does not fit; the end of the text is told apart. */
static int unexpected(struct text *text, const char *wanted)
{
    char shown[SLICE_SHOW_SIZE];
    *text->place = (size_t)(text->at - text->begin);
    if (text->at == text->end)
        return error_set(text->error, TARE_USAGE, "the text ends where %s should be", wanted);
    return error_set(text->error, TARE_USAGE, "'%s' where %s should be",
                     slice_show(slice_of(text->at, 1), shown), wanted);
}

static void skip_blanks(struct text *text)
{
    while (*text->at == ' ' || *text->at == '\n' || *text->at == '\r' || *text->at == '\t')
        text->at++;
}

static int hexadecimal(const char *at, uint32_t *number)
{
    *number = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        *number = *number << 4 | (uint32_t)digit;
    }
    return 0;
}

static size_t write_utf8(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size; --i > 0; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(0xf00 >> size | code);
    return size;
}

/* "\uXXXX", two of them where the first is half of a pair; `at` is behind the backslash. */
static int unescape_code(struct text *text, char **to)
{
    uint32_t code, low;
    char *escape = text->at - 1;
    if (text->end - text->at < 5 || hexadecimal(text->at + 1, &code))
        return fault(text, escape, "'\\u' without four hexadecimal digits");
    text->at += 5;
    if (code >= 0xd800 && code < 0xe000) {
        if (code >= 0xdc00 || text->end - text->at < 6 || text->at[0] != '\\' ||
            text->at[1] != 'u' || hexadecimal(text->at + 2, &low) || low < 0xdc00 || low >= 0xe000)
            return fault(text, escape, "half of a surrogate pair, which is no character");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        text->at += 6;
    }
    *to += write_utf8(*to, code);
    return 0;
}

static int unescape(struct text *text, char **to)
{
    static const char letters[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
    text->at++;
    if (*text->at == 'u')
        return unescape_code(text, to);
    const char *letter = *text->at ? strchr(letters, *text->at) : NULL;
    if (!letter)
        return fault(text, text->at - 1, "a backslash before what JSON does not escape");
    *(*to)++ = characters[letter - letters];
    text->at++;
    return 0;
}

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Is one of eight bytes a quote, a backslash, a control character or not ASCII? */
static bool needs_care(uint64_t word)
{
    uint64_t quote = word ^ EACH_BYTE('"'), backslash = word ^ EACH_BYTE('\\');
    return (((word - EACH_BYTE(0x20)) | (quote - EACH_BYTE(1)) | (backslash - EACH_BYTE(1)) |
             word) &
            EACH_BYTE(0x80)) != 0;
}

/* A string; `at` is on its first quote. */
static int read_string(struct text *text, struct slice *string)
{
    char *begin = ++text->at, *to = begin;
    while (1) {
        uint64_t word;
        /* What needs no care is copied to where it belongs, or stands there already. */
        char *plain = text->at;
        while ((size_t)(text->end - text->at) >= sizeof word) {
            memcpy(&word, text->at, sizeof word);
            if (needs_care(word))
                break;
            text->at += sizeof word;
        }
        while ((unsigned char)*text->at >= 0x20 && (unsigned char)*text->at < 0x80 &&
               *text->at != '"' && *text->at != '\\')
            text->at++;
        size_t length = (size_t)(text->at - plain);
        if (to != plain)
            memmove(to, plain, length);
        to += length;

        if (*text->at == '"') {
            *string = slice_of(begin, (size_t)(to - begin));
            text->at++;
            return 0;
        }
        if (text->at == text->end)
            return fault(text, begin - 1, "a string that is not closed");
        if (*text->at == '\\') {
            if (unescape(text, &to))
                return -1;
            continue;
        }
        size_t size = utf8_character(text->at, (size_t)(text->end - text->at), NULL);
        if (!size)
            return fault(text, text->at, "a byte that is no UTF-8");
        if (size == 1)
            return fault(text, text->at, "a control character in a string; JSON escapes it");
        memmove(to, text->at, size);
        to += size;
        text->at += size;
    }
}

/* Powers of ten that a double holds exactly. */
static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define POWER_MOST 22

/* A real number between begin and at. Where digits and power of ten are both exact as doubles, one
 * rounded division or product of them is the nearest (Clinger 1990); else strtod(). */
static int make_real(struct text *text, const char *begin, uint64_t digits, bool exact, int power,
                     struct value *value)
{
    value->type = VALUE_DOUBLE;
    if (exact && digits <= UINT64_C(1) << 53 && power >= -POWER_MOST && power <= POWER_MOST) {
        double real = (double)digits;
        real = power < 0 ? real / powers[-power] : real * powers[power];
        value->as.real = *begin == '-' ? -real : real;
        return 0;
    }
    /* Behind the number stands a character that strtod() stops at, or the NUL. */
    value->as.real = strtod(begin, NULL);
    return isinf(value->as.real) ? fault(text, begin, "a real number past the largest, 1.8e308")
                                 : 0;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static int read_number(struct text *text, struct value *value)
{
    const char *begin = text->at;
    uint64_t digits = 0;
    bool negative = *text->at == '-', over = false, real = false;
    int power = 0;
    text->at += negative;
    if (!digit(*text->at))
        return unexpected(text, "a digit");
    if (*text->at == '0' && digit(text->at[1]))
        return fault(text, text->at, "a number that begins with 0");
    for (; digit(*text->at); text->at++)
        over = over || __builtin_mul_overflow(digits, 10, &digits) ||
               __builtin_add_overflow(digits, (uint64_t)(*text->at - '0'), &digits);
    if (*text->at == '.') {
        real = true;
        if (!digit(*++text->at))
            return unexpected(text, "a digit");
        for (; digit(*text->at); text->at++, power--)
            over = over || __builtin_mul_overflow(digits, 10, &digits) ||
                   __builtin_add_overflow(digits, (uint64_t)(*text->at - '0'), &digits);
    }
    if (*text->at == 'e' || *text->at == 'E') {
        real = true;
        bool down = *++text->at == '-';
        if (*text->at == '-' || *text->at == '+')
            text->at++;
        if (!digit(*text->at))
            return unexpected(text, "a digit");
        int exponent = 0;
        for (; digit(*text->at); text->at++)
            if (exponent < 100000)
                exponent = exponent * 10 + (*text->at - '0');
        power += down ? -exponent : exponent;
    }
    if (real)
        return make_real(text, begin, digits, !over, power, value);
    if (over || digits > (uint64_t)INT64_MAX + negative)
        return fault(text, begin, "an integer past 64 bits");
    value->type = VALUE_INTEGER;
    value->as.integer = negative ? (int64_t)(0 - digits) : (int64_t)digits;
    return 0;
}

static int read_word(struct text *text, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return unexpected(text, "a value");
    text->at += length;
    return 0;
}

static int read_value(struct text *text, int depth, struct value *value);

/* Members up to the closing bracket, taken from the stack of open ones as the container's own. */
static int read_members(struct text *text, bool named, int depth, struct value *value)
{
    struct json_reader *reader = text->reader;
    char close = named ? '}' : ']';
    size_t base = reader->count;
    if (depth > RECORD_DEPTH_MAX) {
        *text->place = (size_t)(text->at - text->begin);
        return error_set(text->error, TARE_USAGE, "nested deeper than %d levels", RECORD_DEPTH_MAX);
    }
    const char *begin = text->at++;
    skip_blanks(text);
    if (*text->at == close) {
        text->at++;
    } else {
        while (1) {
            struct member member = {.name = slice_of("", 0)};
            if (named) {
                if (*text->at != '"')
                    return unexpected(text, "a name in quotes");
                if (read_string(text, &member.name))
                    return -1;
                skip_blanks(text);
                if (*text->at != ':')
                    return unexpected(text, "':'");
                text->at++;
                skip_blanks(text);
            }
            if (read_value(text, depth, &member.value))
                return -1;
            MEMORY_GROW(reader->open, reader->count, reader->capacity);
            reader->open[reader->count++] = member;
            skip_blanks(text);
            if (*text->at == close) {
                text->at++;
                break;
            }
            if (*text->at != ',')
                return unexpected(text, named ? "',' or '}'" : "',' or ']'");
            text->at++;
            skip_blanks(text);
        }
    }
    size_t count = reader->count - base;
    value->type = named ? VALUE_OBJECT : VALUE_ARRAY;
    value->as.children.count = count;
    value->as.children.items = arena_take(text->arena, count * sizeof *reader->open);
    if (count)
        memcpy(value->as.children.items, reader->open + base, count * sizeof *reader->open);
    reader->count = base;
    const struct slice *twice =
        named ? members_twice(value->as.children.items, count, text->arena) : NULL;
    if (twice) {
        char shown[SLICE_SHOW_SIZE];
        *text->place = (size_t)(begin - text->begin);
        return error_set(text->error, TARE_USAGE, "the name '%s' stands twice in one object",
                         slice_show(*twice, shown));
    }
    return 0;
}

static int read_value(struct text *text, int depth, struct value *value)
{
    *value = (struct value){.type = VALUE_NULL};
    switch (*text->at) {
    case '{':
        return read_members(text, true, depth + 1, value);
    case '[':
        return read_members(text, false, depth + 1, value);
    case '"':
        value->type = VALUE_TEXT;
        return read_string(text, &value->as.text);
    case 't':
        *value = (struct value){.type = VALUE_BOOLEAN, .as.boolean = true};
        return read_word(text, "true");
    case 'f':
        *value = (struct value){.type = VALUE_BOOLEAN, .as.boolean = false};
        return read_word(text, "false");
    case 'n':
        return read_word(text, "null");
    default:
        if (*text->at == '-' || digit(*text->at))
            return read_number(text, value);
        return unexpected(text, "a value");
    }
}

int json_read(struct json_reader *reader, char *begin, size_t length, struct arena *arena,
              struct value *value, size_t *place, struct tare_error *error)
{
    struct text text = {.reader = reader,
                        .arena = arena,
                        .begin = begin,
                        .at = begin,
                        .end = begin + length,
                        .error = error,
                        .place = place};
    reader->count = 0;
    skip_blanks(&text);
    if (read_value(&text, 0, value))
        return -1;
    skip_blanks(&text);
    return text.at == text.end ? 0 : unexpected(&text, "the end");
}

#include "data/properties.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buffer.h"

/* A line ends where it isn't carried on by a backslash; the blanks that begin the next are none of
 * it. False at the end of the file. */
static bool read_line(FILE *file, char **text, size_t *size, struct buffer *line)
{
    ssize_t length;
    buffer_clear(line);
    while ((length = getline(text, size, file)) >= 0) {
        size_t end = (size_t)length;
        const char *begin = line->length ? *text + strspn(*text, " \t\f") : *text;
        while (end > 0 && ((*text)[end - 1] == '\n' || (*text)[end - 1] == '\r'))
            (*text)[--end] = '\0';
        bool goes_on = end > 0 && (*text)[end - 1] == '\\' && begin[0] != '#' && begin[0] != '!';
        if (goes_on)
            (*text)[--end] = '\0';
        buffer_text(line, begin);
        if (!goes_on)
            return true;
    }
    return line->length > 0;
}

static void take_line(char *line, struct figures *properties)
{
    line += strspn(line, " \t\f");
    if (*line == '\0' || *line == '#' || *line == '!')
        return;
    size_t name = strcspn(line, "=: \t\f");
    char *value = line + name + strspn(line + name, " \t\f");
    if (*value == '=' || *value == ':')
        value++;
    value += strspn(value, " \t\f");
    size_t length = strlen(value);
    while (length > 0 && strchr(" \t\f", value[length - 1]))
        value[--length] = '\0';
    line[name] = '\0';
    figures_text(properties, line, value);
}

int properties_read(const char *path, struct figures *properties, struct tare_error *error)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(error, TARE_USAGE, "'%s': %s", path, strerror(errno));
    struct buffer line = {0};
    char *text = NULL;
    size_t size = 0;
    while (read_line(file, &text, &size, &line))
        if (line.data)
            take_line(line.data, properties);
    int failed = ferror(file) ? error_set(error, TARE_USAGE, "'%s': it can't be read", path) : 0;
    fclose(file);
    free(text);
    buffer_free(&line);
    return failed;
}

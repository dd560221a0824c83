#include "core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct tare_error *error, enum tare_status status, const char *format, ...)
{
    if (!error)
        return -1;
    /* An argument may be the message that the error holds already: build it apart. */
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    /* One line, whatever a server or a program said in several. */
    for (char *c = message; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    error->status = status;
    memcpy(error->message, message, sizeof message);
    return -1;
}

int error_prefix(struct tare_error *error, const char *format, ...)
{
    if (!error)
        return -1;
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0)
        return -1;
    /* The subject counts more than the end of what happened to it: that is cut. */
    size_t used = strnlen(message, sizeof message - 3);
    memcpy(message + used, ": ", 3);
    used += 2;
    size_t rest = strnlen(error->message, sizeof message - 1 - used);
    memcpy(message + used, error->message, rest);
    message[used + rest] = '\0';
    memcpy(error->message, message, sizeof message);
    return -1;
}

#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

static int cannot_write(const struct output *output, struct tare_error *error)
{
    return error_set(error, TARE_USAGE, "cannot write '%s': %s",
                     output->temporary ? output->temporary : "standard output", strerror(errno));
}

int output_open(struct output *output, const char *path, struct tare_error *error)
{
    *output = (struct output){.path = path, .file = stdout};
    if (!path || strcmp(path, "-") == 0)
        return 0;
    output->temporary = memory_format("%s.part", path);
    output->file = fopen(output->temporary, "wxb");
    if (output->file)
        return 0;
    cannot_write(output, error);
    free(output->temporary);
    return -1;
}

int output_write(struct output *output, struct slice bytes, struct tare_error *error)
{
    return bytes.length == 0 || fwrite(bytes.bytes, 1, bytes.length, output->file) == bytes.length
               ? 0
               : cannot_write(output, error);
}

int output_close(struct output *output, int failed, struct tare_error *error)
{
    if (!output->temporary)
        return failed;
    if (fclose(output->file) != 0 && !failed)
        failed = cannot_write(output, error);
    if (!failed && rename(output->temporary, output->path) != 0)
        failed = error_set(error, TARE_USAGE, "cannot rename '%s' to '%s': %s", output->temporary,
                           output->path, strerror(errno));
    if (failed)
        remove(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return failed;
}

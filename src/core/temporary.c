#include "core/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"

const char *temporary_folder(void)
{
    const char *set = getenv("TMPDIR");
    return set && *set ? set : "/tmp";
}

int temporary_open(void)
{
    const char *folder = temporary_folder();
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    /* Not every file system has files without a name. */
    if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        char *path = memory_format("%s/tare-XXXXXX", folder);
        descriptor = mkostemp(path, O_CLOEXEC);
        if (descriptor >= 0)
            unlink(path);
        free(path);
    }
    return descriptor;
}

int temporary_error(const char *what, struct tare_error *error)
{
    return error_set(error, TARE_USAGE,
                     "cannot keep %s in a temporary file in '%s': %s; set TMPDIR to a folder with "
                     "room",
                     what, temporary_folder(), strerror(errno));
}

/* Export files: tested before, renamed at the end, never half-written. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <dirent.h>

#include <cmocka.h>

#include "report/report.h"
#include "sample_report.h"

static char folder[] = "/tmp/tare-test-export-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails where a test left a file */
}

static char *in_folder(const char *name)
{
    return memory_format("%s/%s", folder, name);
}

static size_t files_in_folder(void)
{
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    for (struct dirent *entry; (entry = readdir(open_folder));)
        count += entry->d_name[0] != '.';
    closedir(open_folder);
    return count;
}

static char *content(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void file_appears_at_the_end(void **state)
{
    struct export export;
    struct tare_error error = {0};
    struct report report;
    struct stat status;
    char *path = in_folder("x.csv");
    (void)state;
    mode_t mask = umask(027);
    assert_int_equal(export_open(&export, path, format_of_name("csv", NULL), &error), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(files_in_folder(), 1);
    sample_report(&report);
    assert_int_equal(export_write(&export, &report, &error), 0);
    umask(mask);
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0640);
    assert_true(strncmp(content(path), "cell,store,version,", 19) == 0);
    /* again: whole, and anew */
    assert_int_equal(export_write_text(&export, slice_text("short"), &error), 0);
    assert_string_equal(content(path), "short");
    export_abandon(&export);
    assert_string_equal(content(path), "short");
    assert_int_equal(files_in_folder(), 1);
    unlink(path);
    free(path);
    report_free(&report);
}

static void abandoned_leaves_the_old_file(void **state)
{
    struct export export;
    struct tare_error error = {0};
    char *path = in_folder("x.json");
    (void)state;
    put(path, "old");
    assert_int_equal(export_open(&export, path, format_of_name("json", NULL), &error), 0);
    assert_int_equal(files_in_folder(), 2);
    export_abandon(&export);
    export_abandon(&export);
    assert_int_equal(files_in_folder(), 1);
    assert_string_equal(content(path), "old");
    unlink(path);
    free(path);
    export_abandon(&(struct export){0});
    assert_true(fcntl(0, F_GETFD) != -1 || errno == EBADF);
}

static void links_and_modes_stay(void **state)
{
    struct export export;
    struct tare_error error = {0};
    struct stat status;
    char *path = in_folder("real"), *link_path = in_folder("link");
    (void)state;
    put(path, "old");
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(symlink("real", link_path), 0);
    assert_int_equal(export_open(&export, link_path, format_of_name("json", NULL), &error), 0);
    assert_int_equal(export_write_text(&export, slice_text("new"), &error), 0);
    export_abandon(&export);
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0604);
    assert_string_equal(content(path), "new");
    unlink(link_path);
    unlink(path);
    free(link_path);
    free(path);
}

static void what_cannot_be_written_says_so(void **state)
{
    struct export export;
    struct tare_error error = {0};
    char *path = in_folder("none/x.csv");
    char *says = memory_format("cannot write '%s': No such file or directory", path);
    (void)state;
    assert_int_equal(export_open(&export, path, format_of_name("csv", NULL), &error), -1);
    assert_string_equal(error.message, says);
    assert_int_equal(error.status, TARE_USAGE);
    export_abandon(&export);
    free(says);
    says = memory_format("cannot write '%s': Is a directory", folder);
    assert_int_equal(export_open(&export, folder, format_of_name("csv", NULL), &error), -1);
    assert_string_equal(error.message, says);
    export_abandon(&export);
    assert_int_equal(export_open(&export, "", format_of_name("csv", NULL), &error), -1);
    export_abandon(&export);
    free(says);
    free(path);
    assert_int_equal(files_in_folder(), 0);
}

/* A device is no place for a rename. */
static void devices_are_written_as_they_are(void **state)
{
    struct export export;
    struct tare_error error = {0};
    struct stat status;
    (void)state;
    assert_int_equal(export_open(&export, "/dev/null", format_of_name("csv", NULL), &error), 0);
    assert_int_equal(export_write_text(&export, slice_text("x"), &error), 0);
    export_abandon(&export);
    assert_int_equal(stat("/dev/null", &status), 0);
    assert_true(S_ISCHR(status.st_mode));
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(export_open(&export, "/dev/full", format_of_name("csv", NULL), &error), 0);
        assert_int_equal(export_write_text(&export, slice_text("x"), &error), -1);
        assert_string_equal(error.message, "cannot write '/dev/full': No space left on device");
        export_abandon(&export);
    }
}

/* A ledger that doesn't add up reaches no file. */
static void broken_ledgers_are_not_written(void **state)
{
    struct export export;
    struct tare_error error = {0};
    struct report report;
    char *path = in_folder("x.csv");
    (void)state;
    sample_report(&report);
    report.cells[0].states[0].rows[0].bytes++;
    assert_int_equal(export_open(&export, path, format_of_name("csv", NULL), &error), 0);
    assert_int_equal(export_write(&export, &report, &error), -1);
    assert_true(strncmp(error.message, "internal: ", 10) == 0);
    assert_non_null(strstr(error.message, "accounts sum to"));
    export_abandon(&export);
    assert_int_equal(files_in_folder(), 0);
    report_free(&report);
    free(path);
}

static void formats_are_known_by_name(void **state)
{
    struct tare_error error = {0};
    (void)state;
    assert_int_equal(format_kinds_check(&error), 0);
    assert_string_equal(format_kinds[0]->name, "text");
    assert_ptr_equal(format_of_name("json", &error)->name, format_kinds[2]->name);
    assert_null(format_of_name("jsn", &error));
    assert_string_equal(error.message, "unknown format 'jsn'; did you mean 'json'?");
    assert_null(format_of_name("portable document", &error));
    assert_string_equal(error.message, "unknown format 'portable document'; it is one of text, "
                                       "csv, json, markdown, html");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_appears_at_the_end),
        cmocka_unit_test(abandoned_leaves_the_old_file),
        cmocka_unit_test(links_and_modes_stay),
        cmocka_unit_test(what_cannot_be_written_says_so),
        cmocka_unit_test(devices_are_written_as_they_are),
        cmocka_unit_test(broken_ledgers_are_not_written),
        cmocka_unit_test(formats_are_known_by_name),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

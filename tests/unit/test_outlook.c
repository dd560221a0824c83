/* What is left of memory, by a kernel's files; and how long in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cell/outlook.h"
#include "core/memory.h"
#include "core/units.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/tare-outlook-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Writes a file below the folder, and the folders on the way. */
static void put(const char *path, const char *text)
{
    char *whole = memory_format("%s/%s", folder, path);
    for (char *slash = whole + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(whole, 0700);
    }
    FILE *file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(whole);
}

static int64_t available(char *reason)
{
    char *proc = memory_format("%s/proc", folder), *cgroup = memory_format("%s/cgroup", folder);
    int64_t bytes = memory_available_at(proc, cgroup, reason);
    free(proc);
    free(cgroup);
    return bytes;
}

static void the_kernel_tells_what_is_available(void **state)
{
    char reason[32];
    (void)state;
    assert_int_equal(available(reason), -1);
    put("proc/meminfo", "MemTotal: 4000 kB\nMemFree: 100 kB\nMemAvailable: 1000 kB\n");
    put("proc/self/cgroup", "0::/\n");
    put("cgroup/memory.max", "max\n");
    put("cgroup/memory.current", "5000\n");
    assert_int_equal(available(reason), 1024000);
    assert_string_equal(reason, "MemAvailable");
}

static void the_narrowest_group_limits_it(void **state)
{
    char reason[32];
    (void)state;
    put("proc/meminfo", "MemAvailable: 1000 kB\n");
    put("proc/self/cgroup", "1:name=x:/elsewhere\n0::/outer/inner\n");
    put("cgroup/outer/memory.max", "700000\n");
    put("cgroup/outer/memory.current", "300000\n");
    put("cgroup/outer/memory.stat", "anon 1\ninactive_file 50000\n");
    put("cgroup/outer/inner/memory.max", "max\n");
    put("cgroup/outer/inner/memory.current", "300000\n");
    assert_int_equal(available(reason), 450000);
    assert_string_equal(reason, "control group's limit");
    put("cgroup/outer/inner/memory.max", "400000\n");
    assert_int_equal(available(reason), 100000);
    put("cgroup/outer/inner/memory.current", "500000\n");
    assert_int_equal(available(reason), 0);
}

static void so_does_one_of_version_1(void **state)
{
    char reason[32];
    (void)state;
    put("proc/meminfo", "MemAvailable: 1000 kB\n");
    put("cgroup/memory/memory.limit_in_bytes", "200000\n");
    put("cgroup/memory/memory.usage_in_bytes", "150000\n");
    assert_int_equal(available(reason), 50000);
    put("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_int_equal(available(reason), 1024000);
}

static void durations_in_words(void **state)
{
    char text[UNITS_SIZE];
    (void)state;
    assert_string_equal(units_duration(text, 0.4), "0 s");
    assert_string_equal(units_duration(text, 59.6), "1 min 0 s");
    assert_string_equal(units_duration(text, 200), "3 min 20 s");
    assert_string_equal(units_duration(text, 3600 + 5 * 60 + 59), "1 h 5 min");
    assert_string_equal(units_duration(text, 1e30), "-");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_kernel_tells_what_is_available, make_folder,
                                        remove_folder),
        cmocka_unit_test_setup_teardown(the_narrowest_group_limits_it, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(so_does_one_of_version_1, make_folder, remove_folder),
        cmocka_unit_test(durations_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Which files count as having come with us: core/library.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/library.h"
#include "support.h"

static const char name[] = "libweft-beside-test.so";

static void make_file(const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fclose(file), 0);
}

/* The folder of this program, with a slash at its end. */
static void find_folder(char *folder, size_t size) {
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    assert_true(length > 0);
    folder[length] = '\0';
    strrchr(folder, '/')[1] = '\0';
}

WEFT_TEST(a_file_in_the_programs_folder_came_with_it) {
    char folder[2048], made[4096], found[4096] = "", small[4096];
    find_folder(folder, sizeof folder);
    snprintf(made, sizeof made, "%s%s", folder, name);
    assert_false(weft_library_beside(found, sizeof found, name));
    make_file(made);
    const bool there = weft_library_beside(found, sizeof found, name);
    const bool fits = weft_library_beside(small, strlen(made), name);
    assert_int_equal(unlink(made), 0);
    assert_true(there);
    assert_string_equal(found, made);
    assert_false(fits);
}

/* As Debian's package has it. */
WEFT_TEST(a_file_in_the_folder_weft_beside_the_program_came_with_it) {
    char folder[2048], inner[3072], made[4096], found[4096] = "";
    find_folder(folder, sizeof folder);
    snprintf(inner, sizeof inner, "%sweft", folder);
    snprintf(made, sizeof made, "%s/%s", inner, name);
    assert_int_equal(mkdir(inner, 0755), 0);
    make_file(made);
    const bool there = weft_library_beside(found, sizeof found, name);
    assert_int_equal(unlink(made), 0);
    assert_int_equal(rmdir(inner), 0);
    assert_true(there);
    assert_string_equal(found, made);
}

/* Others may have put one there. */
WEFT_TEST(a_file_in_the_current_folder_did_not) {
    const char *folder = weft_test_folder();
    char before[4096], found[4096] = "";
    weft_test_write(folder, name, "", 0);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    assert_true(access(name, R_OK) == 0);
    const bool there = weft_library_beside(found, sizeof found, name);
    assert_int_equal(chdir(before), 0);
    assert_false(there);
}

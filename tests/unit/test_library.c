/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* Which files count as having come with us: core/system/library.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/library.h"
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

struct places {
    char folder[2048], inner[3072], made[4096], found[4096];
};

/* A file in the folder `weft` beside this program. */
static void begin(struct places *places) {
    find_folder(places->folder, sizeof places->folder);
    snprintf(places->inner, sizeof places->inner, "%sweft", places->folder);
    snprintf(places->made, sizeof places->made, "%s/%s", places->inner, name);
    assert_int_equal(mkdir(places->inner, 0755), 0);
    make_file(places->made);
}

static bool is_found(struct places *places, mode_t mode) {
    assert_int_equal(chmod(places->inner, mode), 0);
    return weft_library_beside(places->found, sizeof places->found, name);
}

static void end(const struct places *places) {
    assert_int_equal(unlink(places->made), 0);
    assert_int_equal(rmdir(places->inner), 0);
}

/* As Debian's package has it. Others may write to the folder that is writable. */
WEFT_TEST(a_file_in_the_folder_weft_beside_the_program_came_with_it) {
    struct places places;
    begin(&places);
    const bool there = is_found(&places, 0755) && strcmp(places.found, places.made) == 0;
    const bool writable = is_found(&places, 0757), sticky = is_found(&places, 01757);
    end(&places);
    assert_true(there);
    assert_false(writable || sticky);
}

/* As a library beside the folder of a program may be, where everybody can write. */
WEFT_TEST(a_file_in_somebody_elses_folder_did_not) {
    if (geteuid() != 0) {
        skip();
    }
    struct places places;
    begin(&places);
    const bool before = is_found(&places, 0755);
    const int changed = chown(places.inner, 12345, 12345);
    const bool after = is_found(&places, 0755);
    end(&places);
    assert_true(before);
    assert_int_equal(changed, 0);
    assert_false(after);
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

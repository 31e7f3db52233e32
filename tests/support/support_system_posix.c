/* SPDX-License-Identifier: MIT */
#include "support_system.h"

#include <ftw.h>

#include "support.h"

void weft_test_make_folder(char path[WEFT_TEST_FOLDER_SIZE]) {
    const char *parent = getenv("TMPDIR");
    const int length = snprintf(path, WEFT_TEST_FOLDER_SIZE, "%s/weft-test-XXXXXX",
                                parent && parent[0] != '\0' ? parent : "/tmp");
    assert_in_range(length, 1, WEFT_TEST_FOLDER_SIZE - 1);
    assert_non_null(mkdtemp(path));
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place) {
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

void weft_test_remove_folder(const char *path) {
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void weft_test_set_variable(const char *name, const char *value) {
    assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

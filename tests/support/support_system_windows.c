/* SPDX-License-Identifier: MIT */
#include "support_system.h"

#include <errno.h>
#include <windows.h>

#include "core/system.h"
#include "support.h"

void weft_test_make_folder(char path[WEFT_TEST_FOLDER_SIZE]) {
    static unsigned long made;
    char parent[MAX_PATH + 1];
    const DWORD length = GetTempPathA(sizeof parent, parent);
    assert_in_range(length, 1, MAX_PATH);
    snprintf(path, WEFT_TEST_FOLDER_SIZE, "%sweft-test-%lx-%lx-%lx", parent, GetCurrentProcessId(),
             GetTickCount(), made++);
    assert_int_equal(weft_system_make_folder(path), 0);
}

static bool remove_entry(void *user, const char *name) {
    char path[WEFT_TEST_FOLDER_SIZE];
    snprintf(path, sizeof path, "%s/%s", (const char *)user, name);
    weft_test_remove_folder(path);
    return true;
}

void weft_test_remove_folder(const char *path) {
    if (weft_system_remove(path) == ENOTEMPTY) {
        char folder[WEFT_TEST_FOLDER_SIZE];
        snprintf(folder, sizeof folder, "%s", path);
        (void)weft_system_list(folder, remove_entry, folder);
        (void)weft_system_remove(path);
    }
}

void weft_test_set_variable(const char *name, const char *value) {
    assert_int_equal(_putenv_s(name, value ? value : ""), 0); /* empty: none */
}

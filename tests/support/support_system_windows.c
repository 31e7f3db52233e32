/* SPDX-License-Identifier: MIT */
#include "support_system.h"

#include <errno.h>
#include <wchar.h>
#include <windows.h>

#include "core/system/system.h"
#include "support.h"

void weft_test_make_folder(char path[WEFT_TEST_FOLDER_SIZE]) {
    static unsigned long made;
    char parent[MAX_PATH + 1];
    const DWORD length = GetTempPathA(sizeof parent, parent);
    assert_in_range(length, 1, MAX_PATH);
    snprintf(path, WEFT_TEST_FOLDER_SIZE, "%sweft-test-%lx-%lx-%lx", parent, GetCurrentProcessId(),
             GetTickCount(), made++);
    assert_int_equal(weft_system_make_folder(path, WEFT_FOLDER_FOR_MYSELF), 0);
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

bool weft_test_can_write_file(const char *path) {
    int file = -1;
    if (weft_system_open(&file, path, WEFT_OPEN_WRITE) != 0) {
        return false;
    }
    (void)weft_system_close(file);
    return true;
}

uint32_t weft_test_open_handles(void) {
    DWORD count = 0;
    assert_true(GetProcessHandleCount(GetCurrentProcess(), &count));
    return count;
}

static HANDLE handle_of(weft_external_handle handle) {
    return (HANDLE)handle; /* NOLINT(performance-no-int-to-ptr) */
}

void weft_test_close_handle(weft_external_handle handle) {
    assert_true(CloseHandle(handle_of(handle)));
}

int weft_test_run_again(const weft_external_handle *handles, uint32_t count) {
    wchar_t program[MAX_PATH + 1];
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION child;
    DWORD status = 1;
    wchar_t line[MAX_PATH + 1];
    const DWORD length = GetModuleFileNameW(NULL, program, MAX_PATH);
    assert_in_range(length, 1, MAX_PATH - 1);
    assert_true(swprintf(line, MAX_PATH, L"again %hs", weft_test_name()) > 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(
            SetHandleInformation(handle_of(handles[i]), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT));
    }
    assert_true(CreateProcessW(program, line, NULL, NULL, TRUE, 0, NULL, NULL, &start, &child));
    assert_int_equal(WaitForSingleObject(child.hProcess, INFINITE), WAIT_OBJECT_0);
    assert_true(GetExitCodeProcess(child.hProcess, &status));
    CloseHandle(child.hThread);
    CloseHandle(child.hProcess);
    return (int)status;
}

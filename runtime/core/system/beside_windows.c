/* SPDX-License-Identifier: MIT */
/* A file that is open for somebody alone is its own lock, and goes with the last who has it. */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include "core/system/beside.h"

#include <errno.h>
#include <string.h>

#include "core/system/system_windows.h"

int weft_beside_create(int *file, const char *name, const char *path) {
    (void)path; /* rights are the folder's */
    return weft_system_open(file, name, WEFT_OPEN_CREATE);
}

/* A writer has it open, and not for being deleted by others. */
void weft_beside_remove_left(const char *name) {
    wchar_t wide[WEFT_WIDE_SIZE];
    if (weft_windows_widen(wide, name) != 0) {
        return;
    }
    HANDLE handle = CreateFileW(wide, DELETE, 0, NULL, OPEN_EXISTING,
                                FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (handle != INVALID_HANDLE_VALUE) {
        CloseHandle(handle);
    }
}

int weft_beside_target(char target[WEFT_SYSTEM_PATH_SIZE], const char *path) {
    weft_file_facts facts;
    const size_t length = strlen(path);
    if (weft_system_facts(&facts, path) == 0 && facts.kind == WEFT_FILE_REGULAR) {
        return weft_system_resolve(target, path);
    }
    if (length >= WEFT_SYSTEM_PATH_SIZE) {
        return ENAMETOOLONG;
    }
    memcpy(target, path, length + 1);
    return 0;
}

int weft_beside_own_descriptor(const char *path) {
    (void)path;
    return -1;
}

int weft_beside_duplicate(int *file, int of) {
    (void)of;
    *file = -1;
    return EBADF;
}

int weft_beside_lock(int *lock, const char *name) {
    wchar_t wide[WEFT_WIDE_SIZE];
    int error = weft_windows_widen(wide, name);
    for (int i = 0; error == 0 && i < WEFT_BESIDE_LOCK_TRIES; i++) {
        HANDLE handle =
            CreateFileW(wide, GENERIC_WRITE, 0, NULL, OPEN_ALWAYS, FILE_FLAG_DELETE_ON_CLOSE, NULL);
        if (handle != INVALID_HANDLE_VALUE) {
            return weft_windows_file(lock, handle, false);
        }
        const DWORD reason = GetLastError();
        if (reason != ERROR_SHARING_VIOLATION && reason != ERROR_ACCESS_DENIED) {
            return weft_windows_last_error();
        }
        Sleep(10);
    }
    return error != 0 ? error : EWOULDBLOCK;
}

void weft_beside_unlock(int lock, const char *name) {
    (void)name; /* it goes when it is closed */
    (void)weft_system_close(lock);
}

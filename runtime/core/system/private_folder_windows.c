/* SPDX-License-Identifier: MIT */
/*
 * There is no opening by a folder's handle here. Instead the handle does not share the right to delete: as long as it is open,
 * neither the folder nor one above it can be renamed, and its path leads to it.
 */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include "core/system/private_folder.h"

#include <errno.h>
#include <string.h>

#include "core/system/file.h"
#include "core/system/system_windows.h"

#define SHARE_ALL (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

static bool is_link(HANDLE handle) {
    FILE_ATTRIBUTE_TAG_INFO info;
    return GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &info, sizeof info) &&
           (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
           IsReparseTagNameSurrogate(info.ReparseTag);
}

/* 0 for a trusted file or folder, whichever is expected. */
static int check(HANDLE handle, weft_file_kind kind, char distrust[WEFT_DISTRUST_SIZE]) {
    weft_file_facts facts;
    if (is_link(handle)) {
        snprintf(distrust, WEFT_DISTRUST_SIZE, "it is a symbolic link; expected %s",
                 kind == WEFT_FILE_FOLDER ? "the folder itself" : "a regular file");
        return EPERM;
    }
    const int error = weft_windows_facts(&facts, handle);
    if (error == 0 && facts.kind != kind) {
        if (kind == WEFT_FILE_FOLDER) {
            return ENOTDIR;
        }
        snprintf(distrust, WEFT_DISTRUST_SIZE, "it is not a regular file");
        return EPERM;
    }
    return error != 0 ? error : weft_windows_check_trust(handle, distrust);
}

int weft_private_open(struct weft_private_folder *folder, const char *path,
                      char distrust[WEFT_DISTRUST_SIZE]) {
    wchar_t wide[WEFT_WIDE_SIZE];
    int error = weft_windows_widen(wide, path);
    if (error != 0) {
        return error;
    }
    HANDLE handle =
        CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                    FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        return weft_windows_last_error();
    }
    error = check(handle, WEFT_FILE_FOLDER, distrust);
    if (error != 0) {
        CloseHandle(handle);
        return error;
    }
    *folder = (struct weft_private_folder){.handle = (intptr_t)handle, .path = path};
    return 0;
}

int weft_private_open_shipped(struct weft_private_folder *folder, const char *path,
                              char distrust[WEFT_DISTRUST_SIZE]) {
    (void)folder;
    (void)path;
    distrust[0] = '\0';
    return ENOENT;
}

void weft_private_close(struct weft_private_folder *folder) {
    CloseHandle((HANDLE)folder->handle); /* NOLINT(performance-no-int-to-ptr) */
}

/* ---- names in it ---- */

static int widen_in(wchar_t wide[WEFT_WIDE_SIZE], const struct weft_private_folder *folder,
                    const char *name) {
    char *path = weft_path_join(folder->path, name, NULL);
    const int error = path ? weft_windows_widen(wide, path) : ENOMEM;
    weft_free(NULL, path);
    return error;
}

/* INVALID_HANDLE_VALUE with *error. */
static HANDLE open_in(int *error, const struct weft_private_folder *folder, const char *name,
                      DWORD access, DWORD how, SECURITY_ATTRIBUTES *attributes) {
    wchar_t wide[WEFT_WIDE_SIZE];
    *error = widen_in(wide, folder, name);
    if (*error != 0) {
        return INVALID_HANDLE_VALUE;
    }
    HANDLE handle = CreateFileW(wide, access, SHARE_ALL, attributes, how,
                                FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    *error = handle == INVALID_HANDLE_VALUE ? weft_windows_last_error() : 0;
    return handle;
}

int weft_private_read(int *file, const struct weft_private_folder *folder, const char *name,
                      char distrust[WEFT_DISTRUST_SIZE]) {
    int error = 0;
    HANDLE handle = open_in(&error, folder, name, GENERIC_READ, OPEN_EXISTING, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        return error;
    }
    error = check(handle, WEFT_FILE_REGULAR, distrust);
    if (error != 0) {
        CloseHandle(handle);
        return error;
    }
    return weft_windows_file(file, handle, true);
}

int weft_private_create(int *file, const struct weft_private_folder *folder, const char *name) {
    SECURITY_ATTRIBUTES attributes;
    int error = weft_windows_private_attributes(&attributes);
    if (error != 0) {
        return error;
    }
    HANDLE handle = open_in(&error, folder, name, GENERIC_WRITE, CREATE_NEW, &attributes);
    weft_windows_free_attributes(&attributes);
    return handle == INVALID_HANDLE_VALUE ? error : weft_windows_file(file, handle, false);
}

int weft_private_rename(const struct weft_private_folder *folder, const char *from,
                        const char *to) {
    char *path = weft_path_join(folder->path, from, NULL);
    char *target = weft_path_join(folder->path, to, NULL);
    const int error = path && target ? weft_system_rename(path, target) : ENOMEM;
    weft_free(NULL, target);
    weft_free(NULL, path);
    return error;
}

int weft_private_remove(const struct weft_private_folder *folder, const char *name) {
    wchar_t wide[WEFT_WIDE_SIZE];
    const int error = widen_in(wide, folder, name);
    return error != 0 ? error : DeleteFileW(wide) ? 0 : weft_windows_last_error();
}

int weft_private_facts(weft_file_facts *facts, const struct weft_private_folder *folder,
                       const char *name) {
    int error = 0;
    HANDLE handle = open_in(&error, folder, name, FILE_READ_ATTRIBUTES, OPEN_EXISTING, NULL);
    if (handle != INVALID_HANDLE_VALUE) {
        error = weft_windows_facts(facts, handle);
        if (error == 0 && is_link(handle)) {
            facts->kind = WEFT_FILE_OTHER;
        }
        CloseHandle(handle);
    }
    return error;
}

int weft_private_list(const struct weft_private_folder *folder,
                      bool (*take)(void *user, const char *name), void *user) {
    return weft_system_list(folder->path, take, user);
}

int weft_private_touch(int file) {
    HANDLE handle = ReOpenFile(weft_windows_handle(file), FILE_WRITE_ATTRIBUTES, SHARE_ALL, 0);
    if (handle == INVALID_HANDLE_VALUE) {
        return weft_windows_last_error();
    }
    FILETIME now;
    GetSystemTimeAsFileTime(&now);
    const int error = SetFileTime(handle, NULL, NULL, &now) ? 0 : weft_windows_last_error();
    CloseHandle(handle);
    return error;
}

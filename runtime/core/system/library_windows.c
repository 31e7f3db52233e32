/* SPDX-License-Identifier: MIT */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00 /* Windows 10 */
#endif
#define WIN32_LEAN_AND_MEAN
#include "core/system/library.h"

#include <stdio.h>
#include <string.h>

#include "core/system/system_windows.h"

/* "C:\…" or "\\server\…": names of other forms depend on the current folder. */
static bool is_absolute(const char *path) {
    const bool network = weft_system_is_separator(path[0]) && weft_system_is_separator(path[1]);
    return network || (weft_system_root_length(path) == 3 && path[1] == ':');
}

void *weft_library_open(const char *name, char *reason, size_t size) {
    wchar_t wide[WEFT_WIDE_SIZE];
    /* A library at an absolute path may need libraries beside it. */
    const DWORD where = is_absolute(name)
                            ? LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS
                            : LOAD_LIBRARY_SEARCH_DEFAULT_DIRS;
    if ((!is_absolute(name) && strpbrk(name, "/\\:")) || weft_windows_widen(wide, name) != 0) {
        snprintf(reason, size, "%s is neither a name nor an absolute path", name);
        return NULL;
    }
    HMODULE library = LoadLibraryExW(wide, NULL, where);
    if (!library) {
        snprintf(reason, size, "%s cannot be loaded (error %lu)", name, GetLastError());
    }
    return library;
}

const char *weft_library_refusal(void) {
    return NULL;
}

void *weft_library_function(void *library, const char *name) {
    void *address = NULL;
    const FARPROC function = GetProcAddress(library, name);
    memcpy(&address, &function, sizeof address); /* ISO C knows no other way */
    return address;
}

bool weft_library_is_there(const char *path) {
    weft_file_facts facts;
    return is_absolute(path) && weft_system_facts(&facts, path) == 0 &&
           facts.kind == WEFT_FILE_REGULAR;
}

/* Below the folder that administrators alone may write to. */
bool weft_library_installed(char *path, size_t size, const char *package, const char *name) {
    wchar_t wide[MAX_PATH];
    char folder[4 * MAX_PATH];
    const DWORD length = GetEnvironmentVariableW(L"ProgramFiles", wide, MAX_PATH);
    if (length == 0 || length >= MAX_PATH ||
        WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, folder, (int)sizeof folder,
                            NULL, NULL) <= 0) {
        return false;
    }
    const int written = snprintf(path, size, "%s\\%s\\bin\\%s", folder, package, name);
    return written > 0 && (size_t)written < size && weft_library_is_there(path);
}

static bool find_own_file(char *file, int size) {
    static const char here = 0;
    HMODULE own = NULL;
    wchar_t wide[WEFT_WIDE_SIZE];
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                                GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                            (LPCWSTR)(const void *)&here, &own)) {
        return false;
    }
    const DWORD length = GetModuleFileNameW(own, wide, WEFT_WIDE_SIZE);
    return length > 0 && length < WEFT_WIDE_SIZE &&
           WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, file, size, NULL, NULL) > 0;
}

bool weft_library_beside(char *path, size_t size, const char *name) {
    char own[4 * MAX_PATH];
    char *slash = find_own_file(own, (int)sizeof own) ? strrchr(own, '\\') : NULL;
    if (!slash) {
        return false;
    }
    slash[1] = '\0';
    const int written = snprintf(path, size, "%s%s", own, name);
    return written > 0 && (size_t)written < size && weft_library_is_there(path);
}

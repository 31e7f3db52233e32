/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include <errno.h>
#include <stdlib.h>
#include <windows.h>

#include "bench/temporary.h"
#include "core/system/file.h"
#include "core/system/system.h"

#define WIDE_SIZE     4096
#define NAME_ATTEMPTS 100

/* In host memory, or null. */
static char *narrow(const wchar_t *wide, const weft_host *host) {
    const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = size > 0 ? weft_alloc(host, (size_t)size) : NULL;
    if (text) {
        (void)WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    }
    return text;
}

int weft_bench_make_temporary(char **folder, const weft_host *host) {
    wchar_t wide[MAX_PATH + 1];
    const DWORD length = GetTempPathW(MAX_PATH + 1, wide);
    char *parent = length > 0 && length <= MAX_PATH ? narrow(wide, host) : NULL;
    if (!parent) {
        return length > 0 && length <= MAX_PATH ? ENOMEM : ENOENT;
    }
    int error = EEXIST;
    for (unsigned long attempt = 0; error == EEXIST && attempt < NAME_ATTEMPTS; attempt++) {
        weft_free(host, *folder);
        *folder = weft_format(host, "%sweft-bench-%lx-%lx", parent, weft_system_process(),
                              GetTickCount() + attempt);
        error = *folder ? weft_system_make_folder(*folder, WEFT_FOLDER_FOR_MYSELF) : ENOMEM;
    }
    weft_free(host, parent);
    return error;
}

struct removal {
    const char *folder;
    const weft_host *host;
    int error;
};

static bool remove_entry(void *user, const char *name) {
    struct removal *removal = user;
    char *path = weft_path_join(removal->folder, name, removal->host);
    const int error = path ? weft_bench_remove_folder(path, removal->host) : ENOMEM;
    removal->error = removal->error != 0 ? removal->error : error;
    weft_free(removal->host, path);
    return true;
}

/* Files, empty folders and links go at once. */
int weft_bench_remove_folder(const char *path, const weft_host *host) {
    int error = weft_system_remove(path);
    if (error != ENOTEMPTY) {
        return error;
    }
    struct removal removal = {.folder = path, .host = host};
    error = weft_system_list(path, remove_entry, &removal);
    error = error != 0 ? error : removal.error;
    return error != 0 ? error : weft_system_remove(path);
}

static int widen(wchar_t wide[WIDE_SIZE], const char *text) {
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, WIDE_SIZE) > 0
               ? 0
               : EINVAL;
}

int weft_bench_get_variable(char **value, const char *name, const weft_host *host) {
    wchar_t wide_name[WIDE_SIZE];
    const int error = widen(wide_name, name);
    const wchar_t *found = error == 0 ? _wgetenv(wide_name) : NULL;
    *value = found ? narrow(found, host) : NULL;
    return found && !*value ? ENOMEM : error;
}

/* An empty value removes a variable. */
int weft_bench_set_variable(const char *name, const char *value) {
    wchar_t wide_name[WIDE_SIZE], wide_value[WIDE_SIZE];
    int error = widen(wide_name, name);
    error = error != 0 ? error : widen(wide_value, value ? value : "");
    return error != 0 ? error : _wputenv_s(wide_name, wide_value);
}

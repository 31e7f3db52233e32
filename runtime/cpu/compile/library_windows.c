/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include "cpu/compile/library.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

void *weft_library_open(const char *name, char *reason, size_t size) {
    HMODULE library = LoadLibraryA(name);
    if (!library) {
        snprintf(reason, size, "%s cannot be loaded (error %lu)", name, GetLastError());
    }
    return library;
}

void *weft_library_function(void *library, const char *name) {
    void *address = NULL;
    const FARPROC function = GetProcAddress(library, name);
    memcpy(&address, &function, sizeof address); /* ISO C knows no other way */
    return address;
}

/* Where LoadLibrary would look for a name that is no path. */
bool weft_library_is_there(const char *path) {
    char found[MAX_PATH];
    return SearchPathA(NULL, path, NULL, sizeof found, found, NULL) > 0;
}

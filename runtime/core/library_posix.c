/* SPDX-License-Identifier: MIT */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include "core/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

void *weft_library_open(const char *name, char *reason, size_t size) {
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (!library) {
        const char *told = dlerror();
        snprintf(reason, size, "%s", told ? told : name);
    }
    return library;
}

void *weft_library_function(void *library, const char *name) {
    return dlsym(library, name);
}

bool weft_library_is_there(const char *path) {
    return path[0] == '/' && access(path, R_OK) == 0;
}

/* The system looks there by itself. */
bool weft_library_installed(char *path, size_t size, const char *package, const char *name) {
    (void)package;
    (void)name;
    if (size > 0) {
        path[0] = '\0';
    }
    return false;
}

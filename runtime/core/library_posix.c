/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "core/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
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

/* Of a program it may be what it was called by. */
static bool find_own_file(char *path, size_t size) {
    static const char here;
    Dl_info info;
    if (dladdr(&here, &info) != 0 && info.dli_fname && info.dli_fname[0] == '/') {
        const int length = snprintf(path, size, "%s", info.dli_fname);
        return length > 0 && (size_t)length < size;
    }
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    return true;
}

bool weft_library_beside(char *path, size_t size, const char *name) {
    static const char *const ways[] = {"", "../" WEFT_LIBRARY_FOLDER "/"};
    if (!find_own_file(path, size)) {
        return false;
    }
    char *end = strrchr(path, '/');
    for (size_t i = 0; end && i < sizeof ways / sizeof ways[0]; i++) {
        const size_t room = size - (size_t)(end + 1 - path);
        const int length = snprintf(end + 1, room, "%s%s", ways[i], name);
        if (length > 0 && (size_t)length < room && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

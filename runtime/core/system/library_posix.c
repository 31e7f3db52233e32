/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "core/system/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
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

const char *weft_library_refusal(void) {
    return NULL;
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

/* A program's name is what it was started as: where that is no absolute path, the system knows. */
static bool find_own_file(char file[PATH_MAX]) {
    static const char here = 0;
    Dl_info info;
    if (dladdr(&here, &info) == 0 || !info.dli_fname) {
        return false;
    }
    return realpath(info.dli_fname[0] == '/' ? info.dli_fname : "/proc/self/exe", file) != NULL;
}

bool weft_library_beside(char *path, size_t size, const char *name) {
    static const char *const folders[] = {"", "../lib/", "../" WEFT_LIBRARY_FOLDER "/"};
    char own[PATH_MAX];
    char *slash = find_own_file(own) ? strrchr(own, '/') : NULL;
    if (!slash) {
        return false;
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const int written = snprintf(path, size, "%s%s%s", own, folders[i], name);
        if (written > 0 && (size_t)written < size && weft_library_is_there(path)) {
            return true;
        }
    }
    return false;
}

/* SPDX-License-Identifier: MIT */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr, S_ISVTX */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif
#include "core/system/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Nobody but the administrator may write there who may not write to our folder: he could replace us as well. */
static bool is_as_ours(const struct stat *folder, const struct stat *ours) {
    const mode_t writers = S_IWOTH | (folder->st_gid == ours->st_gid ? S_IWGRP : 0U);
    return (folder->st_uid == ours->st_uid || folder->st_uid == 0) &&
           (folder->st_mode & (S_IWGRP | S_IWOTH) & ~(ours->st_mode & writers)) == 0;
}

/* `folder` empty: our own folder. In a sticky folder such as /tmp each file may be somebody else's. */
static bool is_trusted(const char *own, const char *folder, const char *path) {
    char place[PATH_MAX + 64];
    struct stat ours, there, file;
    (void)snprintf(place, sizeof place, "%s%s", own, folder);
    if (stat(own, &ours) != 0 || stat(place, &there) != 0 || stat(path, &file) != 0) {
        return false;
    }
    return (folder[0] == '\0' || is_as_ours(&there, &ours)) &&
           ((there.st_mode & S_ISVTX) == 0 || file.st_uid == geteuid() || file.st_uid == 0);
}

bool weft_library_beside(char *path, size_t size, const char *name) {
    static const char *const folders[] = {"", "weft/", "../lib/", "../" WEFT_LIBRARY_FOLDER "/"};
    char own[PATH_MAX];
    char *slash = find_own_file(own) ? strrchr(own, '/') : NULL;
    if (!slash) {
        return false;
    }
    slash[1] = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const int written = snprintf(path, size, "%s%s%s", own, folders[i], name);
        if (written > 0 && (size_t)written < size && weft_library_is_there(path) &&
            is_trusted(own, folders[i], path)) {
            return true;
        }
    }
    return false;
}

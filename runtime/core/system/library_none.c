/* SPDX-License-Identifier: MIT */
/* A static program, which has no dynamic linker and so opens no library: in place of library_posix.c. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* PATH_MAX, realpath */
#endif
#include "core/system/library.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *weft_library_refusal(void) {
    return "this is the static command, for the processor alone: it opens no Vulkan and no OpenCL "
           "driver";
}

void *weft_library_open(const char *name, char *reason, size_t size) {
    (void)name;
    (void)snprintf(reason, size, "%s", weft_library_refusal());
    return NULL;
}

void *weft_library_function(void *library, const char *name) {
    (void)library;
    (void)name;
    return NULL;
}

bool weft_library_is_there(const char *path) {
    return path[0] == '/' && access(path, R_OK) == 0;
}

bool weft_library_installed(char *path, size_t size, const char *package, const char *name) {
    (void)package;
    (void)name;
    if (size > 0) {
        path[0] = '\0';
    }
    return false;
}

/* Without /proc, the kernel has told what it was asked to execute: a relative path was of the folder that was current then. */
static bool find_own_file(char file[PATH_MAX]) {
    const char *executed = (const char *)getauxval(AT_EXECFN);
    return realpath("/proc/self/exe", file) != NULL ||
           (executed && executed[0] == '/' && realpath(executed, file) != NULL);
}

/* In the program's own folder alone: it is one file, with at most a folder of kernels beside it. */
bool weft_library_beside(char *path, size_t size, const char *name) {
    char own[PATH_MAX];
    char *slash = find_own_file(own) ? strrchr(own, '/') : NULL;
    if (!slash) {
        return false;
    }
    slash[1] = '\0';
    const int written = snprintf(path, size, "%s%s", own, name);
    return written > 0 && (size_t)written < size && weft_library_is_there(path);
}

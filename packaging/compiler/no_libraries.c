/* SPDX-License-Identifier: MIT */
/*
 * The functions by which LLVM would open libraries and look up users, for the static command, whose linker calls these instead
 * (--wrap, cmake/WeftStatic.cmake). There glibc's cannot work, and would try all the same. Weft has LLVM do nothing that needs
 * them: each says that there is no such thing, which LLVM knows.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <pwd.h>
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);
int __wrap_dlclose(void *library);
char *__wrap_dlerror(void);
void *__wrap_dlsym(void *library, const char *name);
struct passwd *__wrap_getpwnam(const char *name);
struct passwd *__wrap_getpwuid(uid_t user);

void *__wrap_dlopen(const char *file, int mode) {
    (void)file;
    (void)mode;
    return NULL;
}

int __wrap_dlclose(void *library) {
    (void)library;
    return 0;
}

char *__wrap_dlerror(void) {
    static char told[] = "a static program opens no libraries";
    return told;
}

void *__wrap_dlsym(void *library, const char *name) {
    (void)library;
    (void)name;
    return NULL;
}

struct passwd *__wrap_getpwnam(const char *name) {
    (void)name;
    return NULL;
}

struct passwd *__wrap_getpwuid(uid_t user) {
    (void)user;
    return NULL;
}

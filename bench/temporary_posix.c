/* SPDX-License-Identifier: MIT */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw, setenv */
#endif
#ifdef __APPLE__
#define _DARWIN_C_SOURCE /* mkdtemp */
#endif

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <unistd.h> /* mkdtemp */
#endif

#include "bench/temporary.h"
#include "core/system/file.h"

int weft_bench_make_temporary(char **folder, const weft_host *host) {
    const char *parent = getenv("TMPDIR");
    *folder =
        weft_path_join(parent && parent[0] != '\0' ? parent : "/tmp", "weft-bench-XXXXXX", host);
    if (!*folder) {
        return ENOMEM;
    }
    return mkdtemp(*folder) ? 0 : errno;
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place) {
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

int weft_bench_remove_folder(const char *path, const weft_host *host) {
    (void)host;
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0 ? 0 : errno;
}

int weft_bench_get_variable(char **value, const char *name, const weft_host *host) {
    const char *found = getenv(name);
    *value = found ? weft_strdup(host, found) : NULL;
    return found && !*value ? ENOMEM : 0;
}

int weft_bench_set_variable(const char *name, const char *value) {
    return (value ? setenv(name, value, 1) : unsetenv(name)) == 0 ? 0 : errno;
}

/* SPDX-License-Identifier: MIT */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* mkdtemp, nftw, setenv */
#endif

#include "bench/temporary.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/try.h"

/* Where drivers keep compiled shaders: Mesa now and before, NVIDIA's, AMD's, and what else goes by the XDG folders. */
static const char *const variables[WEFT_BENCH_CACHE_VARIABLES] = {
    "MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH",
    "AMD_SHADER_DISK_CACHE_PATH", "XDG_CACHE_HOME"};

static weft_status make_folder(weft_bench_temporary *temporary, const weft_host *host) {
    const char *parent = getenv("TMPDIR");
    char *name =
        weft_path_join(parent && parent[0] != '\0' ? parent : "/tmp", "weft-bench-XXXXXX", host);
    if (!name) {
        return weft_fail_memory(host, "the name of a temporary folder");
    }
    if (!mkdtemp(name)) {
        weft_status status =
            weft_fail(host, WEFT_IO_ERROR, "cannot make the folder %s: %s", name, strerror(errno));
        weft_free(host, name);
        return status;
    }
    temporary->folder = name;
    temporary->own = weft_path_join(name, "weft", host);
    return temporary->own ? WEFT_OK : weft_fail_memory(host, "the name of a temporary folder");
}

/** Keeps all values before it changes any, so that they can always be restored. */
static weft_status redirect(weft_bench_temporary *temporary, const weft_host *host) {
    for (uint32_t i = 0; i < WEFT_BENCH_CACHE_VARIABLES; i++) {
        const char *value = getenv(variables[i]);
        temporary->previous[i] = value ? weft_strdup(host, value) : NULL;
        if (value && !temporary->previous[i]) {
            return weft_fail_memory(host, variables[i]);
        }
    }
    temporary->redirected = true;
    for (uint32_t i = 0; i < WEFT_BENCH_CACHE_VARIABLES; i++) {
        if (setenv(variables[i], temporary->folder, 1) != 0) {
            return weft_fail_memory(host, variables[i]);
        }
    }
    return WEFT_OK;
}

weft_status weft_bench_temporary_begin(weft_bench_temporary *temporary, const weft_host *host) {
    *temporary = (weft_bench_temporary){.folder = NULL};
    WEFT_TRY(make_folder(temporary, host));
    return redirect(temporary, host);
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *place) {
    (void)about;
    (void)type;
    (void)place;
    return remove(path);
}

void weft_bench_temporary_end(weft_bench_temporary *temporary, const weft_host *host) {
    for (uint32_t i = 0; i < WEFT_BENCH_CACHE_VARIABLES; i++) {
        if (temporary->redirected && temporary->previous[i]) {
            setenv(variables[i], temporary->previous[i], 1);
        } else if (temporary->redirected) {
            unsetenv(variables[i]);
        }
        weft_free(host, temporary->previous[i]);
    }
    if (temporary->folder && nftw(temporary->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        weft_log(host, WEFT_LOG_WARNING, "cannot remove the folder %s: %s", temporary->folder,
                 strerror(errno));
    }
    weft_free(host, temporary->own);
    weft_free(host, temporary->folder);
    *temporary = (weft_bench_temporary){.folder = NULL};
}

/* SPDX-License-Identifier: MIT */
#include "bench/temporary.h"

#include <errno.h>

#include "core/system/file.h"
#include "core/system/system.h"
#include "core/try.h"

/* Where drivers keep compiled shaders: Mesa now and before, NVIDIA's, AMD's, and what else goes by the XDG folders. */
static const char *const variables[WEFT_BENCH_CACHE_VARIABLES] = {
    "MESA_SHADER_CACHE_DIR", "MESA_GLSL_CACHE_DIR", "__GL_SHADER_DISK_CACHE_PATH",
    "AMD_SHADER_DISK_CACHE_PATH", "XDG_CACHE_HOME"};

static weft_status make_folder(weft_bench_temporary *temporary, const weft_host *host) {
    char *name = NULL;
    const int error = weft_bench_make_temporary(&name, host);
    if (error == ENOMEM) {
        weft_free(host, name);
        return weft_fail_memory(host, "the name of a temporary folder");
    }
    if (error != 0) {
        char reason[128];
        weft_system_error_text(reason, sizeof reason, error);
        weft_status status = weft_fail(host, WEFT_IO_ERROR, "cannot make the folder %s: %s",
                                       name ? name : "for what is temporary", reason);
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
        if (weft_bench_get_variable(&temporary->previous[i], variables[i], host) != 0) {
            return weft_fail_memory(host, variables[i]);
        }
    }
    temporary->redirected = true;
    for (uint32_t i = 0; i < WEFT_BENCH_CACHE_VARIABLES; i++) {
        if (weft_bench_set_variable(variables[i], temporary->folder) != 0) {
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

void weft_bench_temporary_end(weft_bench_temporary *temporary, const weft_host *host) {
    for (uint32_t i = 0; i < WEFT_BENCH_CACHE_VARIABLES; i++) {
        if (temporary->redirected) {
            (void)weft_bench_set_variable(variables[i], temporary->previous[i]);
        }
        weft_free(host, temporary->previous[i]);
    }
    const int error = temporary->folder ? weft_bench_remove_folder(temporary->folder, host) : 0;
    if (error != 0) {
        char reason[128];
        weft_system_error_text(reason, sizeof reason, error);
        weft_log(host, WEFT_LOG_WARNING, "cannot remove the folder %s: %s", temporary->folder,
                 reason);
    }
    weft_free(host, temporary->own);
    weft_free(host, temporary->folder);
    *temporary = (weft_bench_temporary){.folder = NULL};
}

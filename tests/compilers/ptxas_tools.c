/* SPDX-License-Identifier: MIT */
/* clang, ptxas and nvdisasm. */
#include <string.h>
#include <unistd.h>

#include "core/system/file.h"
#include "core/try.h"
#include "ptxas.h"
#include "sass_text.h"
#include "tool.h"

#define HEADER "tests/compilers/nvptx.cl"

bool weft_ptxas_breaks(const struct weft_ptxas *run, const char *rule) {
    return strcmp(run->broken, rule) == 0;
}

void weft_ptxas_name_paths(struct weft_ptxas_paths *paths, const struct weft_ptxas *run,
                           const struct weft_ptxas_target *target, uint32_t number) {
    const char *first = run->targets[0].to; /* has what all have in common */
    snprintf(paths->text, sizeof paths->text, "%s/batch-%u.cl", first, number);
    snprintf(paths->ptx, sizeof paths->ptx, "%s/batch-%u.ptx", first, number);
    snprintf(paths->code, sizeof paths->code, "%s/batch-%u.cubin", target->to, number);
    snprintf(paths->listing, sizeof paths->listing, "%s/batch-%u.listing", target->to, number);
    snprintf(paths->errors, sizeof paths->errors, "%s/batch-%u.errors", target->to, number);
}

static weft_status run_tool(const char *const arguments[], const char *output,
                            const struct weft_ptxas_paths *paths) {
    return weft_run_tool(arguments, output, paths->errors)
               ? WEFT_OK
               : weft_fail(&weft_ptxas_host, WEFT_COMPILE_ERROR, "%s failed, see %s", arguments[0],
                           paths->errors);
}

weft_status weft_ptxas_make_ptx(const struct weft_ptxas *run,
                                const struct weft_ptxas_paths *paths) {
    const char *contract =
        weft_ptxas_breaks(run, "contraction") ? "-ffp-contract=fast" : "-ffp-contract=off";
    const char *subnormals = weft_ptxas_breaks(run, "flush")
                                 ? "-fdenormal-fp-math-f32=ieee,ieee"
                                 : "-fdenormal-fp-math-f32=preserve-sign,preserve-sign";
    const char *const arguments[] = {
        run->clang, "-x", "cl", "-cl-std=CL1.2", "-cl-no-stdinc", "-include", HEADER,
        "--target=nvptx64-nvidia-cuda", "-nogpulib", "-O2",
        /* every operation flushes */
        "-Xclang", subnormals,
        /* what the least of the GPUs understands */
        "-Xclang", "-target-cpu", "-Xclang", "sm_75", "-Xclang", "-target-feature", "-Xclang",
        "+ptx64", contract, "-S", "-o", paths->ptx, paths->text, NULL};
    return run_tool(arguments, "/dev/null", paths);
}

weft_status weft_ptxas_make_sass(char **sass, char **told, const struct weft_ptxas *run,
                                 const struct weft_ptxas_target *target,
                                 const struct weft_ptxas_paths *paths) {
    char architecture[32], ptxas[512], nvdisasm[512];
    snprintf(architecture, sizeof architecture, "-arch=%s", target->architecture);
    snprintf(ptxas, sizeof ptxas, "%s/ptxas", run->tools);
    snprintf(nvdisasm, sizeof nvdisasm, "%s/nvdisasm", run->tools);
    const char *const compile[] = {ptxas, architecture, "-O3",      "-v",
                                   "-o",  paths->code,  paths->ptx, NULL};
    const char *const print[] = {nvdisasm, "-c", paths->code, NULL};
    size_t size = 0;
    WEFT_TRY(run_tool(compile, "/dev/null", paths));
    WEFT_TRY(weft_file_read((uint8_t **)told, &size, 1 << 20, paths->errors, &weft_ptxas_host));
    WEFT_TRY(run_tool(print, paths->listing, paths));
    WEFT_TRY(weft_file_read((uint8_t **)sass, &size, 1 << 28, paths->listing, &weft_ptxas_host));
    weft_sass_clean(*sass);
    unlink(paths->code);
    unlink(paths->listing);
    unlink(paths->errors);
    return WEFT_OK;
}

weft_status weft_ptxas_read_version(struct weft_ptxas *run) {
    char ptxas[512], path[512], *text = NULL;
    size_t size = 0;
    snprintf(ptxas, sizeof ptxas, "%s/ptxas", run->tools);
    snprintf(path, sizeof path, "%s/version.txt", run->targets[0].to);
    const char *const arguments[] = {ptxas, "--version", NULL};
    if (!weft_run_tool(arguments, path, "/dev/null")) {
        return weft_fail(&weft_ptxas_host, WEFT_NOT_FOUND, "%s does not run", ptxas);
    }
    WEFT_TRY(weft_file_read((uint8_t **)&text, &size, 1 << 16, path, &weft_ptxas_host));
    const char *version = strstr(text, ", V");
    snprintf(run->version, sizeof run->version, "%.*s",
             version ? (int)strcspn(version + 3, "\n") : 0, version ? version + 3 : "");
    weft_free(&weft_ptxas_host, text);
    return version ? WEFT_OK
                   : weft_fail(&weft_ptxas_host, WEFT_BAD_FILE, "%s names no version, see %s",
                               ptxas, path);
}

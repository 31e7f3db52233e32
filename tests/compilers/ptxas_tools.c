/* SPDX-License-Identifier: MIT */
/* clang, ptxas and nvdisasm. */
#include <string.h>
#include <unistd.h>

#include "core/system/file.h"
#include "core/try.h"
#include "listing.h"
#include "sass_text.h"
#include "tool.h"
#include "vendor.h"

#define HEADER "tests/compilers/nvptx.cl"

static weft_status make_ptx(const struct weft_vendor_run *run,
                            const struct weft_vendor_paths *paths) {
    const char *contract =
        weft_vendor_breaks(run, "contraction") ? "-ffp-contract=fast" : "-ffp-contract=off";
    const char *subnormals = weft_vendor_breaks(run, "flush")
                                 ? "-fdenormal-fp-math-f32=ieee,ieee"
                                 : "-fdenormal-fp-math-f32=preserve-sign,preserve-sign";
    const char *const arguments[] = {
        run->clang, "-x", "cl", "-cl-std=CL1.2", "-cl-no-stdinc", "-include", HEADER,
        "--target=nvptx64-nvidia-cuda", "-nogpulib", "-O2",
        /* every operation flushes */
        "-Xclang", subnormals,
        /* what the least of the GPUs understands */
        "-Xclang", "-target-cpu", "-Xclang", "sm_75", "-Xclang", "-target-feature", "-Xclang",
        "+ptx64", contract, "-S", "-o", paths->shared, paths->text, NULL};
    return weft_vendor_tool(arguments, "/dev/null", paths);
}

static weft_status make_sass(struct weft_vendor_code *made, const struct weft_vendor_run *run,
                             const struct weft_vendor_target *target,
                             const struct weft_vendor_paths *paths) {
    char architecture[32], ptxas[512], nvdisasm[512];
    snprintf(architecture, sizeof architecture, "-arch=%s", target->architecture);
    snprintf(ptxas, sizeof ptxas, "%s/ptxas", run->tools);
    snprintf(nvdisasm, sizeof nvdisasm, "%s/nvdisasm", run->tools);
    const char *const compile[] = {ptxas, architecture, "-O3",         "-v",
                                   "-o",  paths->code,  paths->shared, NULL};
    const char *const print[] = {nvdisasm, "-c", paths->code, NULL};
    size_t size = 0;
    WEFT_TRY(weft_vendor_tool(compile, "/dev/null", paths));
    WEFT_TRY(
        weft_file_read((uint8_t **)&made->told, &size, 1 << 20, paths->errors, &weft_vendor_host));
    WEFT_TRY(weft_vendor_tool(print, paths->listing, paths));
    WEFT_TRY(
        weft_file_read((uint8_t **)&made->code, &size, 1 << 28, paths->listing, &weft_vendor_host));
    weft_sass_clean(made->code);
    unlink(paths->code);
    unlink(paths->listing);
    unlink(paths->errors);
    return WEFT_OK;
}

static weft_status take(struct weft_vendor_code *part, const struct weft_vendor_code *made,
                        const struct weft_vendor_target *target,
                        const struct weft_vendor_paths *paths, uint32_t number) {
    (void)target;
    (void)paths;
    char code[32], kernel[32];
    snprintf(code, sizeof code, ".text.weft_%u_main:", number);
    snprintf(kernel, sizeof kernel, "'weft_%u_main'", number);
    part->code = weft_listing_part(made->code, code, "\n.text.", &weft_vendor_host);
    part->told = weft_listing_part(made->told, kernel, "Compiling entry", &weft_vendor_host);
    return WEFT_OK;
}

/* The stack has what is spilled, and arrays that are no registers. */
static json_t *statistics_of(const char *told) {
    return json_pack("{s:I, s:I, s:I}", "Registers", weft_ptxas_told(told, " registers"),
                     "Stack words", weft_ptxas_told(told, " bytes stack frame") / 4,
                     "Shared memory", weft_ptxas_told(told, " bytes smem"));
}

static int64_t subgroup_of(const char *told) {
    (void)told;
    return 32;
}

static bool knows(const char *architecture) {
    return strncmp(architecture, "sm_", 3) == 0;
}

static const char *version_in(const char *told) {
    const char *version = strstr(told, ", V");
    return version ? version + 3 : "";
}

const struct weft_vendor weft_vendor = {.name = "ptxas",
                                        .end = "SASS",
                                        .flushes = true,
                                        .knows = knows,
                                        .version_in = version_in,
                                        .prepare = make_ptx,
                                        .compile = make_sass,
                                        .take = take,
                                        .statistics = statistics_of,
                                        .subgroup = subgroup_of};

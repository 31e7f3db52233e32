/* SPDX-License-Identifier: MIT */
/* Intel's ocloc, which compiles and disassembles. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/system/file.h"
#include "core/try.h"
#include "listing.h"
#include "ocloc_text.h"
#include "tool.h"
#include "vendor.h"

/* As for an OpenCL device of Weft's (opencl/program.c), or with a rule broken. */
static const char *options_of(const struct weft_vendor_run *run) {
    return weft_vendor_breaks(run, "flush") ? "-cl-std=CL1.2"
           : weft_vendor_breaks(run, "contraction")
               ? "-cl-std=CL1.2 -cl-denorms-are-zero -cl-mad-enable"
               : "-cl-std=CL1.2 -cl-denorms-are-zero";
}

static weft_status compile(struct weft_vendor_code *made, const struct weft_vendor_run *run,
                           const struct weft_vendor_target *target,
                           const struct weft_vendor_paths *paths) {
    char ocloc[512], told[600], name[64], module[600];
    size_t size = 0;
    snprintf(ocloc, sizeof ocloc, "%s/ocloc", run->tools);
    snprintf(told, sizeof told, "%s/.ze_info", paths->listing);
    snprintf(name, sizeof name, "%s", strrchr(paths->code, '/') + 1);
    *strrchr(name, '.') =
        '\0'; /* ocloc writes the end, and beside it the SPIR-V that it compiled */
    snprintf(module, sizeof module, "%s/%s.spv", target->to, name);
    const char *const compiles[] = {ocloc,
                                    "compile",
                                    "-file",
                                    paths->text,
                                    "-device",
                                    target->architecture,
                                    "-output",
                                    name,
                                    "-out_dir",
                                    target->to,
                                    "-output_no_suffix",
                                    "-options",
                                    options_of(run),
                                    NULL};
    const char *const prints[] = {ocloc,       "disasm",       "-file",
                                  paths->code, "-device",      target->architecture,
                                  "-dump",     paths->listing, NULL};
    WEFT_TRY(weft_make_folders(paths->listing, &weft_vendor_host));
    WEFT_TRY(weft_vendor_tool(compiles, "/dev/null", paths));
    WEFT_TRY(weft_vendor_tool(prints, "/dev/null", paths));
    unlink(paths->code);
    unlink(paths->errors);
    unlink(module);
    return weft_file_read((uint8_t **)&made->told, &size, 1 << 24, told, &weft_vendor_host);
}

/* A file for each kernel, which does not say how wide the registers are. */
static weft_status take(struct weft_vendor_code *part, const struct weft_vendor_code *made,
                        const struct weft_vendor_target *target,
                        const struct weft_vendor_paths *paths, uint32_t number) {
    char path[600], kernel[32], *code = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/.text.weft_%u_main.asm", paths->listing, number);
    snprintf(kernel, sizeof kernel, " weft_%u_main\n", number);
    WEFT_TRY(weft_file_read((uint8_t **)&code, &size, 1 << 26, path, &weft_vendor_host));
    unlink(path);
    part->code = weft_format(&weft_vendor_host, "%s%u\n%s", WEFT_OCLOC_REGISTER_BYTES,
                             strcmp(target->architecture, "dg2") == 0 ? 32u : 64u, code);
    weft_free(&weft_vendor_host, code);
    part->told = weft_listing_part(made->told, kernel, "- name: ", &weft_vendor_host);
    return WEFT_OK;
}

/* Bytes that are spilled are of all invocations of a subgroup. */
static json_t *statistics_of(const char *told) {
    return json_pack("{s:I, s:I, s:I}", "Registers", weft_ocloc_told(told, "grf_count:"),
                     "Spilled bytes", weft_ocloc_told(told, "spill_size:"), "Shared memory",
                     weft_ocloc_told(told, "slm_size:"));
}

static int64_t subgroup_of(const char *told) {
    return weft_ocloc_told(told, "simd_size:");
}

static bool knows(const char *architecture) {
    return strcmp(architecture, "dg2") == 0 || strcmp(architecture, "bmg") == 0;
}

static const char *version_in(const char *told) {
    return told;
}

const struct weft_vendor weft_vendor = {.name = "ocloc",
                                        .end = "GEN",
                                        .knows = knows,
                                        .version_in = version_in,
                                        .compile = compile,
                                        .take = take,
                                        .statistics = statistics_of,
                                        .subgroup = subgroup_of};

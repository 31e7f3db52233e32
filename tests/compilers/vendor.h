/* SPDX-License-Identifier: MIT */
/*
 * A vendor's own compiler: what weft-ptxas and weft-ocloc (vendor.c) hand to it, and what it makes of that. Each program has one, which is
 * in ptxas_tools.c or ocloc_tools.c.
 */
#ifndef WEFT_TESTS_COMPILERS_VENDOR_H
#define WEFT_TESTS_COMPILERS_VENDOR_H

#include <stdio.h>

#include "rules.h"
#include "source.h"

#define WEFT_VENDOR_TARGETS 8

extern const weft_host weft_vendor_host;

struct weft_vendor_target {
    const char *architecture, *to;
    FILE *out;
    uint32_t broken, failed;
    uint64_t fused, split; /* multiply-adds, in all code */
};

/* nvdisasm takes most of a second to start: a program for each would take four times as long. */
#define WEFT_VENDOR_BATCH 16

struct weft_vendor_run {
    const char *from, *tools, *clang, *only;
    const char *broken; /* rule; or empty */
    struct weft_vendor_target targets[WEFT_VENDOR_TARGETS];
    uint32_t target_count, jobs, count;
    bool checks, apart;
    const struct weft_isa *isa;
    struct dirent **files; /* of interfaces, `count` */
    char version[32];
};

struct weft_vendor_pipeline {
    json_t *line; /* as compile.c writes it */
    char *name;
};

struct weft_vendor_batch {
    uint32_t number, first, count; /* of files */
    struct weft_vendor_pipeline pipelines[WEFT_VENDOR_BATCH];
};

struct weft_vendor_paths {
    char text[512], shared[512], code[512], listing[512], errors[512];
};

/* Labels and instructions, and what the compiler tells about them; both in host memory. */
struct weft_vendor_code {
    char *code, *told;
};

struct weft_vendor {
    const char *name; /* as rules.h and multiply_adds.h know it */
    const char *end;  /* of the names of files with machine code */
    bool flushes;     /* by instructions what a GPU's mode does not: small products */
    bool (*knows)(const char *architecture);
    /* What stands up to the line's end, in what the program `name` tells with --version; "" where there is none */
    const char *(*version_in)(const char *told);
    /* Of the text that is there what all targets share; null where they share no more */
    weft_status (*prepare)(const struct weft_vendor_run *run,
                           const struct weft_vendor_paths *paths);
    /* Of a batch, or what `take` finds its pipelines' in */
    weft_status (*compile)(struct weft_vendor_code *made, const struct weft_vendor_run *run,
                           const struct weft_vendor_target *target,
                           const struct weft_vendor_paths *paths);
    /* Of the pipeline `number` of a batch, whose entry point is "weft_7_main"; null where there is none */
    weft_status (*take)(struct weft_vendor_code *part, const struct weft_vendor_code *made,
                        const struct weft_vendor_target *target,
                        const struct weft_vendor_paths *paths, uint32_t number);
    json_t *(*statistics)(const char *told);
    int64_t (*subgroup)(const char *told);
};

/* The program's. */
extern const struct weft_vendor weft_vendor;

/* ---- vendor_batch.c ---- */

/** Whether --break names a rule. */
bool weft_vendor_breaks(const struct weft_vendor_run *run, const char *rule);

/** Where what all targets share is, and what is one target's. */
void weft_vendor_name_paths(struct weft_vendor_paths *paths, const struct weft_vendor_run *run,
                            const struct weft_vendor_target *target, uint32_t number);

/** What a program of the vendor's prints goes to a file, and its errors to that of the paths. */
weft_status weft_vendor_tool(const char *const arguments[], const char *output,
                             const struct weft_vendor_paths *paths);

weft_status weft_vendor_read_interface(struct weft_vendor_pipeline *read,
                                       const struct weft_vendor_run *run, uint32_t index);

/** For weft_run_apart, with a struct weft_vendor_run: writes files with the lines of a batch's pipelines. */
bool weft_vendor_compile_batch(void *user, uint32_t number);

#endif

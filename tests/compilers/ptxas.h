/* SPDX-License-Identifier: MIT */
/* NVIDIA's own compiler: what weft-ptxas (ptxas.c) hands to it, and what it makes of that. */
#ifndef WEFT_TESTS_COMPILERS_PTXAS_H
#define WEFT_TESTS_COMPILERS_PTXAS_H

#include <stdio.h>

#include "rules.h"
#include "source.h"

#define WEFT_PTXAS_TARGETS 8

extern const weft_host weft_ptxas_host;

struct weft_ptxas_target {
    const char *architecture, *to;
    FILE *out;
    uint32_t broken, failed;
    uint64_t fused, split; /* multiply-adds, in all code */
};

struct weft_ptxas {
    const char *from, *tools, *clang, *only;
    const char *broken; /* rule; or empty */
    struct weft_ptxas_target targets[WEFT_PTXAS_TARGETS];
    uint32_t target_count, jobs, count;
    bool checks, apart;
    const struct weft_isa *isa;
    struct dirent **files; /* of interfaces, `count` */
    char version[32];
};

/* nvdisasm takes most of a second to start: a program for each would take four times as long. */
#define WEFT_PTXAS_BATCH 16

struct weft_ptxas_pipeline {
    json_t *line; /* as compile.c writes it */
    char *name;
};

struct weft_ptxas_batch {
    uint32_t number, first, count; /* of files */
    struct weft_ptxas_pipeline pipelines[WEFT_PTXAS_BATCH];
};

/* ---- programs: ptxas_tools.c ---- */

struct weft_ptxas_paths {
    char text[512], ptx[512], code[512], listing[512], errors[512];
};

void weft_ptxas_name_paths(struct weft_ptxas_paths *paths, const struct weft_ptxas *run,
                           const struct weft_ptxas_target *target, uint32_t number);

/** Whether --break names a rule. */
bool weft_ptxas_breaks(const struct weft_ptxas *run, const char *rule);

/** Of the text that is there. */
weft_status weft_ptxas_make_ptx(const struct weft_ptxas *run, const struct weft_ptxas_paths *paths);

/** Of the PTX that is there, labels and instructions alone, and what ptxas tells about the code; both in host memory. */
weft_status weft_ptxas_make_sass(char **sass, char **told, const struct weft_ptxas *run,
                                 const struct weft_ptxas_target *target,
                                 const struct weft_ptxas_paths *paths);

weft_status weft_ptxas_read_version(struct weft_ptxas *run);

/* ---- batches: ptxas_batch.c ---- */

weft_status weft_ptxas_read_interface(struct weft_ptxas_pipeline *read,
                                      const struct weft_ptxas *run, uint32_t index);

/** For weft_run_apart, with a struct weft_ptxas: writes files with the lines of a batch's pipelines. */
bool weft_ptxas_compile_batch(void *user, uint32_t number);

#endif

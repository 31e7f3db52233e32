/* SPDX-License-Identifier: MIT */
/*
 * An OpenCL library, libOpenCL.so.1, whose one device is an emulated GPU: just what Weft calls of OpenCL 1.2, for one thread at a time.
 * Environment:
 *
 *     WEFT_AMD_GPU        gfx1030 (default), gfx1100 or gfx906
 *     WEFT_AMD_SIDE       1 or -1: approximate results, such as v_rcp_f32's, are the next above or below the exact one in magnitude
 *     WEFT_AMD_TINY       "before": results are judged subnormal before they are rounded
 *     WEFT_AMD_ORDER      "last-first": waves run in reverse order between barriers
 *     WEFT_AMD_BREAK      "contraction": clang may fuse products and sums; "flush": nothing flushes subnormals
 *     WEFT_AMD_DUMP       a folder for the kernels' texts
 *     WEFT_AMD_COUNTS     a file that gets, at the end, how often each instruction was executed
 */
#ifndef WEFT_TESTS_AMD_DRIVER_H
#define WEFT_TESTS_AMD_DRIVER_H

#include <pthread.h>

#include "gpu.h"
#include "opencl/stand_in.h"

#define AMD_KERNEL "weft_main" /* of each program: WEFT_CL_KERNEL of opencl/emit.h */

struct _cl_mem {
    uint32_t references;
    uint8_t *bytes;
    size_t size;
};

struct _cl_program {
    uint32_t references;
    char *text; /* or null, of one that a binary made */
    uint8_t *object;
    size_t size;
    char *log;
    bool is_loaded;
    struct amd_program program; /* loaded when it is built, for its kernels */
};

struct _cl_kernel {
    uint32_t references;
    struct _cl_program *of; /* kept */
    const struct amd_program *program;
    uint8_t values[AMD_BUFFERS][512]; /* of arguments that are no buffers */
    struct _cl_mem *buffers[AMD_BUFFERS];
    bool is_set[AMD_BUFFERS];
    uint64_t *counts;
};

/** One call at a time. */
extern pthread_mutex_t amd_lock;

/** The GPU of the environment; null where it names none. */
const struct amd_gpu *amd_driver_gpu(void);
bool amd_driver_breaks(const char *rule);

#endif

/* SPDX-License-Identifier: MIT */
/* Which kernels a case executes: for lists of cases that execute each of them. */
#ifndef WEFT_VERIFY_KERNELS_H
#define WEFT_VERIFY_KERNELS_H

#include "verify/conformance.h"

#define WEFT_CASE_KERNEL_SIZE 128

/**
 * An embedded shader with a value of one of its specialization constants, "matmul/tiled 2:1": cases that execute each such
 * pair execute every branch that a constant decides, without all combinations. VkFFT's kernels are made for one length each, of
 * a piece of code for each prime factor up to 13 and one way for the others: "vkfft/r2c columns 5" is any of that axis whose
 * length has that factor, "vkfft/r2c columns large" one with a larger one.
 */
typedef struct weft_case_kernel {
    char name[WEFT_CASE_KERNEL_SIZE];
    size_t bytes;      /* of SPIR-V */
    bool made_for_one; /* length: others of that name have to be compiled, too */
    uint32_t number;   /* the caller's own */
} weft_case_kernel;

typedef struct weft_case_kernels {
    weft_case_kernel *kernels;
    uint32_t count, capacity;
    double groups; /* workgroups of one run */
    double flops;
} weft_case_kernels;

/**
 * Adds the kernels of all plans that weft_case_run makes of a case; a case that it would fail adds none. With `once` a
 * kernel has one name, without constants or factors. Free `kernels` with the case's host. For reproducible math. Errors: WEFT_OUT_OF_HOST_MEMORY, and what reading a module can fail by.
 */
weft_status weft_case_list_kernels(weft_case_kernels *kernels, const weft_case *c,
                                   weft_device *device, bool once);

#endif

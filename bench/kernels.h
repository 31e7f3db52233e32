/* SPDX-License-Identifier: MIT */
/* Kernels that find a device's own limits. They are ops of the suite alone, by weft/op.h. */
#ifndef WEFT_BENCH_KERNELS_H
#define WEFT_BENCH_KERNELS_H

#include <weft/graph.h>

/** x f32, a multiple of 4 elements, copied a word (or with `vectors` 4 words) by each invocation. */
weft_status weft_bench_copy(weft_tensor *out, weft_graph *graph, weft_tensor x, bool vectors);

#define WEFT_BENCH_ARITHMETIC_MAX_LOOPS 1024

/**
 * y = a recurrence of products and sums from x on, f32, a multiple of 8 elements, 8 of them side by side in each
 * invocation. Of `loops`, a power of 2 up to 1024, each does a = m a + c 64 times with m = -1 and c = 1/4, which changes
 * nothing in the end, and a = p a + d once with p = 1 and d = 1/loops, so that y is x rounded to a multiple of 1/16, plus
 * 1, without any rounding, in f32 as in f16. The constants are given at run time, so that no compiler can know that.
 * Reproducible math multiplies and adds; fast math may do both in one instruction. With `half` all is f16, which needs
 * fast math and a device that can.
 */
weft_status weft_bench_arithmetic(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                  uint32_t loops, bool half);

typedef enum weft_bench_factors {
    WEFT_BENCH_MATRIX_F16 = 0, /* f32 sums; needs fast math */
    WEFT_BENCH_MATRIX_INT8,    /* int32 sums */
    WEFT_BENCH_MATRIX_BF16     /* compiling a plan says that there is no such kernel */
} weft_bench_factors;

/**
 * y = what the above gives of x, by products of matrices whose size and type the device has (VK_KHR_cooperative_matrix), of a shape that fills
 * whole workgroups: 2^16 elements do. Of `loops`, each multiplies and adds 16 times for each of four matrices of sums, as often with 1 as with
 * -1, which changes nothing in the end; one product more makes each sum the matrices' depth, for which 1 is added. WEFT_UNSUPPORTED when a plan
 * is compiled for a device that has no such matrices.
 */
weft_status weft_bench_matrix(weft_tensor *out, weft_graph *graph, weft_tensor x, uint32_t loops,
                              weft_bench_factors factors);

/** What an element of x becomes, by either. */
float weft_bench_arithmetic_result(float x);

#endif

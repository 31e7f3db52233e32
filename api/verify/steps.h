/* SPDX-License-Identifier: MIT */
/* A step of weft/decode.h by parameters, for the cases of `weft verify` and of `weft bench`. */
#ifndef WEFT_VERIFY_STEPS_H
#define WEFT_VERIFY_STEPS_H

#include <weft/decode.h>

typedef enum weft_case_step_mixer {
    WEFT_CASE_STEP_LINEAR,
    WEFT_CASE_STEP_KERNELS,
    WEFT_CASE_STEP_COSFORMER,
    WEFT_CASE_STEP_FAST_WEIGHT,
    WEFT_CASE_STEP_BAND
} weft_case_step_mixer;

typedef struct weft_case_step {
    weft_case_step_mixer mixer;
    uint32_t heads;
    uint32_t option; /* KERNELS: how many; COSFORMER: the length; BAND: the half-width */
    const weft_kernel *kernels;
    float epsilon;
} weft_case_step;

/** x: the token's q, k and v, and beta of FAST_WEIGHT. */
weft_status weft_case_add_step(weft_tensor *y, weft_graph *graph, const weft_case_step *params,
                               const weft_tensor x[4], const weft_step *step);

#endif

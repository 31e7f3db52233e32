/* SPDX-License-Identifier: MIT */
/* Cases that are whole models with random weights, for suites of them. */
#ifndef WEFT_BENCH_MODEL_CASE_H
#define WEFT_BENCH_MODEL_CASE_H

#include "bench/case.h"

/** A model of one batch and length. */
typedef struct weft_bench_model {
    const char *config; /**< config.json with ' for ", so that tables of them can be read */
    uint32_t batch, length;
    const char *implementation; /**< forced, or null */
    bool timestamps;
} weft_bench_model;

/**
 * A plan of weft_model_compile's, for weft_bench_case.compile: weights are those of weft_model_create_random with
 * WEFT_BENCH_SEED, which the plan's device alone keeps.
 */
weft_status weft_bench_compile_model(weft_plan **plan, weft_device *device,
                                     const weft_bench_model *model, const weft_host *host);

#endif

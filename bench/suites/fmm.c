/* SPDX-License-Identifier: MIT */
/*
 * Figure 6 of Nguyen et al., "FMMformer", 2021: softmax attention, the linear transformer (rank 1), far fields of rank 2
 * and 3, and rank 3 with a band of half-width 30, over n = 2^9 … 2^16.
 */
#include "bench/suites/builders.h"
#include "bench/suites/suites.h"

#define DENSE  .growth = WEFT_BENCH_GROWTH_DENSE
#define LINEAR .growth = WEFT_BENCH_GROWTH_LINEAR

/* Causal attention is not what the others are held against: those that are not causal do twice its work. */
static const weft_bench_mixer mixers[] = {
    {"softmax", .kind = WEFT_BENCH_ATTENTION, DENSE},
    {"softmax/full_band", .kind = WEFT_BENCH_BANDED, DENSE, .full_band = true},
    {"rank_1", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 1},
    {"rank_2", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 2},
    {"rank_3", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 3},
    {"rank_3,band_30", .kind = WEFT_BENCH_FMM, LINEAR, .kernel_count = 3},
    /* Of size full alone: */
    {"softmax/full_band,causal", .kind = WEFT_BENCH_BANDED, .full_band = true, .causal = true},
    {"rank_1/causal", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 1, .causal = true},
    {"rank_2/causal", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 2, .causal = true},
    {"rank_3/causal", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 3, .causal = true},
    {"rank_3,band_30/causal", .kind = WEFT_BENCH_FMM, LINEAR, .kernel_count = 3, .causal = true},
};

/** The smallest is the one that the figure is about. */
static const weft_bench_mixers series = {.suite = "fmm",
                                         .mixers = mixers,
                                         .count = sizeof mixers / sizeof mixers[0],
                                         .short_count = 6,
                                         .smallest = 5};

/** 2^9 … 2^16, unless the user gave lengths. */
static weft_bench_scope figure_scope(const weft_bench_scope *scope) {
    weft_bench_scope result = *scope;
    if (scope->size == WEFT_BENCH_FULL && !scope->lengths_given) {
        result.length_count = 0;
        for (uint32_t power = 9; power <= 16; power++) {
            result.lengths[result.length_count++] = 1U << power;
        }
    }
    return result;
}

void weft_bench_add_fmm(weft_bench_list *list, const weft_bench_scope *scope) {
    const weft_bench_scope lengths = figure_scope(scope);
    weft_bench_list_add_mixers(list, &lengths, &series);
}

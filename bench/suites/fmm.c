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
    {"softmax", WEFT_BENCH_ATTENTION, DENSE},
    {"softmax/full_band", WEFT_BENCH_BANDED(WEFT_BENCH_FULL_BAND, .causal = false), DENSE},
    {"rank_1", WEFT_BENCH_KERNELS(1, .causal = false), LINEAR},
    {"rank_2", WEFT_BENCH_KERNELS(2, .causal = false), LINEAR},
    {"rank_3", WEFT_BENCH_KERNELS(3, .causal = false), LINEAR},
    {"rank_3,band_30", WEFT_BENCH_FMM(3, .causal = false), LINEAR},
    /* Of size full alone: */
    {"softmax/full_band,causal", WEFT_BENCH_BANDED(WEFT_BENCH_FULL_BAND, .causal = true)},
    {"rank_1/causal", WEFT_BENCH_KERNELS(1, .causal = true), LINEAR},
    {"rank_2/causal", WEFT_BENCH_KERNELS(2, .causal = true), LINEAR},
    {"rank_3/causal", WEFT_BENCH_KERNELS(3, .causal = true), LINEAR},
    {"rank_3,band_30/causal", WEFT_BENCH_FMM(3, .causal = true), LINEAR},
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

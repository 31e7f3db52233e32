/* SPDX-License-Identifier: MIT */
/*
 * Figure 1 of Choromanski et al., "Learning a Fourier transform for linear relative positional encodings in transformers",
 * 2024: time and memory of the Performer with FLT's relative positions, without any, and log-linear (Luo et al., 2021).
 * All have 64 orthogonal positive features; FLT's are of queries and keys that 32 frequencies make 64 channels longer.
 */
#include "bench/suites/builders.h"
#include "bench/suites/suites.h"

#define DENSE     .growth = WEFT_BENCH_GROWTH_DENSE
#define LINEAR    .growth = WEFT_BENCH_GROWTH_LINEAR
#define CAUSAL    .causal = true
#define PERFORMER .component = WEFT_COMPONENT_POSITIVE, .matrix = WEFT_FEATURES_ORF
#define FLT(of)   PERFORMER, LINEAR, .positions = WEFT_BENCH_POSITIONS_##of

static const weft_bench_mixer mixers[] = {
    {"softmax", WEFT_BENCH_ATTENTION, DENSE},
    {"softmax/full_band", WEFT_BENCH_BANDED(WEFT_BENCH_FULL_BAND, .causal = false), DENSE},
    {"performer", PERFORMER, LINEAR},
    {"log_linear_performer", PERFORMER, .log_linear = true},
    {"flt/local", FLT(LOCAL)},
    {"flt/local,2d", FLT(LOCAL_2D)},
    {"flt/molecular,3d", FLT(MOLECULAR)},
    {"performer/causal", PERFORMER, LINEAR, CAUSAL},
    {"flt/local,causal", FLT(LOCAL), CAUSAL},
    /* Of size full alone: */
    {"flt/gaussian_mixture", FLT(MIXTURE)},
    {"flt/gaussian_kernel", FLT(KERNEL)},
    {"log_linear_performer/causal", PERFORMER, .log_linear = true, CAUSAL},
    {"flt/gaussian_mixture,causal", FLT(MIXTURE), CAUSAL},
    {"flt/gaussian_kernel,causal", FLT(KERNEL), CAUSAL},
};

/** The smallest is the one that the figure is about. */
static const weft_bench_mixers series = {.suite = "flt",
                                         .mixers = mixers,
                                         .count = sizeof mixers / sizeof mixers[0],
                                         .short_count = 9,
                                         .smallest = 4};

void weft_bench_add_flt(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_mixers(list, scope, &series);
}

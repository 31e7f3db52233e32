/* SPDX-License-Identifier: MIT */
/*
 * Figure 1 of Choromanski et al., "Learning a Fourier transform for linear relative positional encodings in transformers",
 * 2024: time and memory of the Performer with FLT's relative positions, without any, and log-linear (Luo et al., 2021).
 * All have 64 orthogonal positive features; FLT's are of queries and keys that 32 frequencies make 64 channels longer.
 */
#include "bench/suites/builders.h"
#include "bench/suites/suites.h"

#define DENSE  .growth = WEFT_BENCH_GROWTH_DENSE
#define LINEAR .growth = WEFT_BENCH_GROWTH_LINEAR
#define CAUSAL .causal = true
#define PERFORMER \
    .kind = WEFT_BENCH_FEATURES, .component = WEFT_COMPONENT_POSITIVE, .matrix = WEFT_FEATURES_ORF
#define FLT(of) PERFORMER, LINEAR, .positions = WEFT_BENCH_POSITIONS_##of

static const weft_bench_mixer mixers[] = {
    {"softmax", .kind = WEFT_BENCH_ATTENTION, DENSE},
    {"softmax/full_band", .kind = WEFT_BENCH_BANDED, DENSE, .full_band = true},
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

/* Places in the table: of the one that shows that the suite works, and how many the short form has. */
enum { SMALLEST = 4, SHORT_COUNT = 9, MIXER_COUNT = sizeof mixers / sizeof mixers[0] };

static weft_bench_case make(uint32_t index, uint32_t length) {
    const uint32_t sizes[] = {length, WEFT_BENCH_WIDTH, 1};
    return weft_bench_mixer_case_of(&mixers[index], "flt", NULL, sizes);
}

/** The one that the figure is about. */
static weft_bench_case make_smallest(uint32_t index, uint32_t length) {
    return make(index + SMALLEST, length);
}

void weft_bench_add_flt(weft_bench_list *list, const weft_bench_scope *scope) {
    if (scope->size == WEFT_BENCH_SMALLEST) {
        weft_bench_list_add_series(list, scope, 1, make_smallest);
    } else {
        weft_bench_list_add_series(
            list, scope, scope->size == WEFT_BENCH_FULL ? MIXER_COUNT : SHORT_COUNT, make);
    }
}

/* SPDX-License-Identifier: MIT */
#include "bench/suites/mixers.h"

#include "bench/suites/suites.h"

#define DENSE  .growth = WEFT_BENCH_GROWTH_DENSE
#define LINEAR .growth = WEFT_BENCH_GROWTH_LINEAR
#define CAUSAL .causal = true

/** PosRF with orthogonal rows. */
#define POSITIVE \
    .kind = WEFT_BENCH_FEATURES, .component = WEFT_COMPONENT_POSITIVE, .matrix = WEFT_FEATURES_ORF
#define RFA .kind = WEFT_BENCH_RFA, .matrix = WEFT_FEATURES_ORF
#define FLT POSITIVE, .positions = WEFT_BENCH_POSITIONS_KERNEL

static const weft_bench_mixer mixers[] = {
    {"attention", .kind = WEFT_BENCH_ATTENTION, DENSE},
    {"attention/full_band", .kind = WEFT_BENCH_BANDED, DENSE, .full_band = true},
    {"fourier", .kind = WEFT_BENCH_FOURIER},
    {"toeplitz", .kind = WEFT_BENCH_TOEPLITZ},
    {"toeplitz/causal", .kind = WEFT_BENCH_TOEPLITZ, CAUSAL},
    {"toeplitz/direct", .kind = WEFT_BENCH_TOEPLITZ, .implementation = "direct"},
    {"toeplitz_fd", .kind = WEFT_BENCH_TOEPLITZ_FD},
    {"toeplitz_fd/causal", .kind = WEFT_BENCH_TOEPLITZ_FD, CAUSAL},
    {"ski_toeplitz/linear", .kind = WEFT_BENCH_SKI, LINEAR,
     .interpolation = WEFT_INTERPOLATION_LINEAR},
    {"ski_toeplitz/cubic", .kind = WEFT_BENCH_SKI, LINEAR,
     .interpolation = WEFT_INTERPOLATION_CUBIC},
    {"banded_attention", .kind = WEFT_BENCH_BANDED, LINEAR},
    {"banded_attention/causal", .kind = WEFT_BENCH_BANDED, LINEAR, CAUSAL},
    {"kernel_attention/1", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 1},
    {"kernel_attention/2", .kind = WEFT_BENCH_KERNEL, LINEAR, .kernel_count = 2},
    {"kernel_attention/2,causal", .kind = WEFT_BENCH_KERNEL, LINEAR, CAUSAL, .kernel_count = 2},
    {"fmm_attention/2", .kind = WEFT_BENCH_FMM, LINEAR, .kernel_count = 2},
    {"fast_weight", .kind = WEFT_BENCH_FAST_WEIGHT, LINEAR, CAUSAL},
    {"cosformer", .kind = WEFT_BENCH_COSFORMER, LINEAR},
    {"cosformer/causal", .kind = WEFT_BENCH_COSFORMER, LINEAR, CAUSAL},
    {"random_features", POSITIVE, LINEAR},
    {"random_features/causal", POSITIVE, LINEAR, CAUSAL},
    {"rfa_attention", RFA, LINEAR},
    {"rfa_attention/causal", RFA, LINEAR, CAUSAL},
    {"flt", FLT, LINEAR},
    {"flt/causal", FLT, LINEAR, CAUSAL},
};

#define MIXER_COUNT (sizeof mixers / sizeof mixers[0])

uint32_t weft_bench_mixer_count(void) {
    return MIXER_COUNT;
}

weft_bench_case weft_bench_mixer_case(uint32_t index, uint32_t length) {
    const uint32_t sizes[] = {length, WEFT_BENCH_WIDTH, 1};
    return weft_bench_mixer_case_of(&mixers[index], "mixers", NULL, sizes);
}

/* ---- the papers' widths ---- */

#define PAPER_WIDTH 512U
#define PAPER_HEADS 8U

static uint32_t heads_of(const weft_bench_mixer *mixer) {
    switch (mixer->kind) {
    case WEFT_BENCH_FOURIER:
    case WEFT_BENCH_TOEPLITZ:
    case WEFT_BENCH_TOEPLITZ_FD:
    case WEFT_BENCH_SKI:
        return 1; /* they have none */
    default:
        return PAPER_HEADS;
    }
}

/** Two lengths of each mixer: no series, which has one width. */
static void add_paper_widths(weft_bench_list *list) {
    static const uint32_t lengths[] = {512, 2048};
    for (uint32_t i = 0; i < MIXER_COUNT; i++) {
        for (uint32_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            const uint32_t sizes[] = {lengths[k], PAPER_WIDTH, heads_of(&mixers[i])};
            weft_bench_case made = weft_bench_mixer_case_of(&mixers[i], "mixers", NULL, sizes);
            made.series = NULL;
            made.length = 0;
            made.linear = false;
            made.dense = false;
            weft_bench_list_add(list, &made);
        }
    }
}

static const weft_bench_mixers series = {
    .suite = "mixers", .mixers = mixers, .count = MIXER_COUNT, .short_count = MIXER_COUNT};

void weft_bench_add_mixers(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_add_wide_mixers(list, scope);
    if (scope->size == WEFT_BENCH_FULL && !scope->lengths_given) {
        add_paper_widths(list);
    }
    weft_bench_list_add_mixers(list, scope, &series);
}

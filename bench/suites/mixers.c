/* SPDX-License-Identifier: MIT */
#include "bench/suites/mixers.h"

#include "bench/suites/suites.h"

#define DENSE  .growth = WEFT_BENCH_GROWTH_DENSE
#define LINEAR .growth = WEFT_BENCH_GROWTH_LINEAR
#define CAUSAL .causal = true

/** PosRF with orthogonal rows. */
#define POSITIVE .component = WEFT_COMPONENT_POSITIVE, .matrix = WEFT_FEATURES_ORF
#define RFA      .rfa = true, .matrix = WEFT_FEATURES_ORF
#define FLT      POSITIVE, .positions = WEFT_BENCH_POSITIONS_KERNEL

static const weft_bench_mixer mixers[] = {
    {"attention", WEFT_BENCH_ATTENTION, DENSE},
    {"attention/full_band", WEFT_BENCH_BANDED(WEFT_BENCH_FULL_BAND, .causal = false), DENSE},
    {"fourier", .sheet = &weft_sheet_fourier},
    {"toeplitz", WEFT_BENCH_TOEPLITZ(false)},
    {"toeplitz/causal", WEFT_BENCH_TOEPLITZ(true)},
    {"toeplitz/direct", WEFT_BENCH_TOEPLITZ(false), .implementation = "direct"},
    {"toeplitz_fd", WEFT_BENCH_TOEPLITZ_FD(false)},
    {"toeplitz_fd/causal", WEFT_BENCH_TOEPLITZ_FD(true)},
    {"ski_toeplitz/linear", WEFT_BENCH_SKI(WEFT_INTERPOLATION_LINEAR), LINEAR},
    {"ski_toeplitz/cubic", WEFT_BENCH_SKI(WEFT_INTERPOLATION_CUBIC), LINEAR},
    {"banded_attention", WEFT_BENCH_BANDED(WEFT_BENCH_BAND, .causal = false), LINEAR},
    {"banded_attention/causal", WEFT_BENCH_BANDED(WEFT_BENCH_BAND, .causal = true), LINEAR},
    {"kernel_attention/1", WEFT_BENCH_KERNELS(1, .causal = false), LINEAR},
    {"kernel_attention/2", WEFT_BENCH_KERNELS(2, .causal = false), LINEAR},
    {"kernel_attention/2,causal", WEFT_BENCH_KERNELS(2, .causal = true), LINEAR},
    {"fmm_attention/2", WEFT_BENCH_FMM(2, .causal = false), LINEAR},
    {"fast_weight", .sheet = &weft_sheet_fast_weight, LINEAR},
    {"cosformer", .sheet = &weft_sheet_cosformer, LINEAR},
    {"cosformer/causal", .sheet = &weft_sheet_cosformer,
     .params = weft_cosformer_params(.causal = true), LINEAR},
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

/** Mixers of channels that do not interact have none. */
static uint32_t heads_of(const weft_bench_mixer *mixer) {
    return mixer->sheet && mixer->sheet->heads == 0 ? 1 : PAPER_HEADS;
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

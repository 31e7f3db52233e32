/* SPDX-License-Identifier: MIT */
/*
 * Moreno et al., "SKI to go faster: accelerating Toeplitz neural networks via asymmetric kernels", 2023: the TNN's Toeplitz
 * operator (Qin et al., 2023), which the others are held against, with sparse plus low-rank matrices (SKI) and with frequency
 * responses (FD) in its place. 64 channels, at size full 512 as well.
 *
 * The TNN's coefficients and FD's responses are an MLP's of learned weights (four layers of width 32, and a decay of 0.99 of
 * the TNN's), as in the papers. A plan evaluates it once for each length, together with what the operator makes of its
 * result, so this is no part of a run's time: it is part of `cold_ms`, and the result of `weight_bytes`. In training, which
 * the papers time too, it would have to be done in every step.
 */
#include "bench/suites/builders.h"
#include "bench/suites/suites.h"

#define BASELINE .growth = WEFT_BENCH_GROWTH_DENSE
#define LINEAR   .growth = WEFT_BENCH_GROWTH_LINEAR
#define SKI(of)  WEFT_BENCH_SKI(WEFT_INTERPOLATION_##of), LINEAR

static const weft_bench_mixer mixers[] = {
    {"tnn", WEFT_BENCH_TOEPLITZ(false), BASELINE, .rpe = true},
    {"ski_tnn/linear", SKI(LINEAR)},
    {"ski_tnn/cubic", SKI(CUBIC)},
    {"fd_tnn", WEFT_BENCH_TOEPLITZ_FD(false), .rpe = true},
    {"tnn/causal", WEFT_BENCH_TOEPLITZ(true), .rpe = true},
    {"fd_tnn/causal", WEFT_BENCH_TOEPLITZ_FD(true), .rpe = true},
};

enum { MIXER_COUNT = sizeof mixers / sizeof mixers[0] };

static const weft_bench_mixers series = {.suite = "ski",
                                         .mixers = mixers,
                                         .count = MIXER_COUNT,
                                         .short_count = MIXER_COUNT,
                                         .smallest = 1};

static const char *const wide_names[] = {
    "tnn,d=512",    "ski_tnn/linear,d=512", "ski_tnn/cubic,d=512",
    "fd_tnn,d=512", "tnn/causal,d=512",     "fd_tnn/causal,d=512",
};

static const weft_bench_mixers wide = {
    .suite = "ski", .mixers = mixers, .names = wide_names, .width = 512, .count = MIXER_COUNT};

void weft_bench_add_ski(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_mixers(list, scope, &series);
    if (scope->size == WEFT_BENCH_FULL) {
        weft_bench_list_add_mixers(list, scope, &wide);
    }
}

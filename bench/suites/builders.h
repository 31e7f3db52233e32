/* SPDX-License-Identifier: MIT */
/*
 * Cases of one mixer by parameters, for all suites that time mixers. A case's `data` is the weft_bench_mixer, its sizes are
 * n, d and heads: together they say everything about the graph.
 *
 * Inputs are f32 [1, n, d]: "x", or "q", "k" and "v" (and WEFT_BENCH_UNIT_INPUT, [1, n, heads], of a fast weight); the
 * output is "y". The streams of weights are those of weft_bench_weight, WEFT_BENCH_STREAM_….
 */
#ifndef WEFT_BENCH_BUILDERS_H
#define WEFT_BENCH_BUILDERS_H

#include "bench/case.h"
#include "bench/suites/mixer.h"

/**
 * The case of a mixer, which is to be static, with the sizes n, d and heads: named by the mixer and them, in series
 * `series`, null for one of the mixer's name.
 */
weft_bench_case weft_bench_mixer_case_of(const weft_bench_mixer *mixer, const char *suite,
                                         const char *series, const uint32_t sizes[3]);

/**
 * A mixer by its sheet: inputs, and weights of the streams WEFT_BENCH_STREAM_KERNEL and on. `with` has bits of the optional
 * operands that it has.
 */
weft_array weft_bench_sheet(weft_case *c, const weft_sheet *sheet, const weft_sizes *sizes,
                            const void *params, uint32_t with);

/** The series of a suite, each of a mixer with one head. */
typedef struct weft_bench_mixers {
    const char *suite;
    const weft_bench_mixer *mixers; /* static */
    const char *const *names;       /* of the series; null: the mixers' */
    uint32_t width;                 /* 0: WEFT_BENCH_WIDTH */
    uint32_t count;
    uint32_t short_count; /* of size short: the first ones */
    uint32_t smallest; /* of size smallest: the index of the one that shows that the suite works */
} weft_bench_mixers;

/** Adds those of the scope's size, each at all of its lengths. */
void weft_bench_list_add_mixers(weft_bench_list *list, const weft_bench_scope *scope,
                                const weft_bench_mixers *series);

#endif

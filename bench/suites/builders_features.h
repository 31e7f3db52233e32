/* SPDX-License-Identifier: MIT */
/* Random features of queries and keys and attention with them, with relative positions (FLT) or without. */
#ifndef WEFT_BENCH_BUILDERS_FEATURES_H
#define WEFT_BENCH_BUILDERS_FEATURES_H

#include "bench/suites/mixer.h"
#include "verify/conformance.h"

/** Queries, keys and values, [1, n, d]. */
typedef struct weft_bench_qkv {
    weft_array q, k, v;
    uint32_t heads;
} weft_bench_qkv;

/** Of a mixer without sheet; sets the case's tolerance. */
weft_array weft_bench_feature_attention(weft_case *c, const weft_bench_mixer *mixer,
                                        const weft_bench_qkv *in);

#endif

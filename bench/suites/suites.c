/* SPDX-License-Identifier: MIT */
#include "bench/suites/suites.h"

static const weft_bench_suite suites[] = {
    {"ops", "matmul, LayerNorm, GELU and softmax at the sizes of FNet-base", weft_bench_add_ops},
    {"mixers", "every mixer over the length n, and its growth", weft_bench_add_mixers},
    {"fnet", "FNet's encoder", weft_bench_add_fnet},
    {"decode", "a causal mixer's n-th token alone", weft_bench_add_decode},
};

const weft_bench_suite *weft_bench_suite_at(uint32_t index) {
    return index < sizeof suites / sizeof suites[0] ? &suites[index] : NULL;
}

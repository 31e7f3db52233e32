/* SPDX-License-Identifier: MIT */
#include "bench/suites/suites.h"

#include <string.h>

static const weft_bench_suite suites[] = {
    {"ops", "matmul, LayerNorm, GELU and softmax at the sizes of FNet-base", weft_bench_add_ops},
    {"mixers", "every mixer over the length n, and its growth", weft_bench_add_mixers},
    {"fnet", "encoders of FNet's paper: Fourier, Linear, attention, Performer",
     weft_bench_add_fnet},
    {"fmm", "FMMformer's far fields of rank 1 to 3 and its band", weft_bench_add_fmm},
    {"flt", "relative positions by FLT, against Performers", weft_bench_add_flt},
    {"ski", "the TNN's Toeplitz operator against SKI and FD", weft_bench_add_ski},
    {"spectra", "random features: component functions by weight matrices", weft_bench_add_spectra},
    {"models", "whole models at published sizes, in tokens per second", weft_bench_add_models},
    {"decode", "a causal mixer's n-th token alone", weft_bench_add_decode},
    {"device", "a device's own limits: copying, arithmetic, latencies", weft_bench_add_device},
};

const weft_bench_suite *weft_bench_suite_at(uint32_t index) {
    return index < sizeof suites / sizeof suites[0] ? &suites[index] : NULL;
}

bool weft_bench_suite_is(const weft_bench_suite *suite, const char *name) {
    static const char *const papers[] = {"fnet", "fmm", "flt", "ski", "spectra"};
    bool paper = false;
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++) {
        paper = paper || strcmp(papers[i], suite->name) == 0;
    }
    return strcmp(name, suite->name) == 0 || (paper && strcmp(name, "papers") == 0);
}

/* SPDX-License-Identifier: MIT */
/* Fourier mixing and attention as FNet-base has them: 768 channels, 12 heads. */
#include "bench/suites/fixed.h"
#include "bench/suites/mixers.h"
#include "verify/paired.h"

/** sizes: n, d. */
static weft_array tokens(weft_case *c, const weft_bench_case *bench_case) {
    return weft_case_input(c, "x", weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1]),
                           WEFT_VALUES_UNIT);
}

static void fourier(weft_case *c, const weft_bench_case *bench_case) {
    weft_case_expect(c, "y", weft_case_fourier(c, tokens(c, bench_case)));
}

/** sizes: n, d, heads. q, k and v are all x. */
static void attention(weft_case *c, const weft_bench_case *bench_case) {
    const weft_array x = tokens(c, bench_case);
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_case_expect(
        c, "y",
        weft_case_attention(c, x, x, x, weft_attention_params(.heads = bench_case->sizes[2])));
}

/* From 256 tokens on the usual choice is by FFT, in the form for the device. */
static const weft_bench_fixed cases[] = {
    {"fourier/fft/n=128,d=768", "fft", {128, 768}, fourier, WEFT_BENCH_FULL},
    {"fourier/matrix/n=128,d=768", "matrix", {128, 768}, fourier, WEFT_BENCH_FULL},
    {"attention/n=128,d=768,heads=12", NULL, {128, 768, 12}, attention, WEFT_BENCH_FULL},
    {"fourier/fft/n=512,d=768", NULL, {512, 768}, fourier, WEFT_BENCH_SHORT},
    {"fourier/matrix/n=512,d=768", "matrix", {512, 768}, fourier, WEFT_BENCH_SHORT},
    {"attention/n=512,d=768,heads=12", NULL, {512, 768, 12}, attention, WEFT_BENCH_SHORT},
    {"fourier/fft/n=2048,d=768", NULL, {2048, 768}, fourier, WEFT_BENCH_FULL},
    {"attention/n=2048,d=768,heads=12", NULL, {2048, 768, 12}, attention, WEFT_BENCH_FULL},
};

void weft_bench_add_wide_mixers(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_fixed(list, scope, "mixers", cases, sizeof cases / sizeof cases[0]);
}

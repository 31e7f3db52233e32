/* SPDX-License-Identifier: MIT */
#include "bench/graph.h"
#include "bench/suites/fixed.h"
#include "bench/suites/suites.h"
#include "verify/paired.h"

static weft_array input(weft_case *c, weft_shape shape) {
    return weft_case_input(c, "x", shape, WEFT_VALUES_UNIT);
}

/** sizes: m, n, k. x [m, k] times a weight [n, k] transposed, as a linear layer has it. */
static void matmul(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_array x = input(c, weft_shape_of(1, sizes[0], sizes[2]));
    const weft_array w = weft_bench_weight(c, weft_shape_of(sizes[1], sizes[2]), 1);
    weft_case_expect(c, "y", weft_case_linear(c, x, w, (weft_array){0}));
}

/** sizes: n, d. */
static void layer_norm(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_array x = input(c, weft_shape_of(1, sizes[0], sizes[1]));
    const weft_tensor w = weft_bench_weight(c, weft_shape_of(sizes[1]), 1).tensor;
    weft_case_expect(
        c, "y", weft_case_norm(c, x, weft_norm_params(.gamma = w, .beta = w, .epsilon = 1e-12F)));
}

/** sizes: n, d, activation. */
static void activation(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_array x = input(c, weft_shape_of(1, sizes[0], sizes[1]));
    weft_case_expect(c, "y", weft_case_activate(c, x, (weft_activation)sizes[2]));
}

/** sizes: rows, columns. */
static void softmax(weft_case *c, const weft_bench_case *bench_case) {
    const weft_array x = input(c, weft_shape_of(bench_case->sizes[0], bench_case->sizes[1]));
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_case_expect(c, "y", weft_case_softmax(c, x));
}

static const weft_bench_fixed cases[] = {
    {"matmul/512x3072x768", NULL, {512, 3072, 768}, matmul, WEFT_BENCH_SHORT},
    {"matmul/512x768x3072", NULL, {512, 768, 3072}, matmul, WEFT_BENCH_FULL},
    {"matmul/509x769x767", NULL, {509, 769, 767}, matmul, WEFT_BENCH_FULL},
    {"layer_norm/512x768", NULL, {512, 768}, layer_norm, WEFT_BENCH_SMALLEST},
    {"gelu_tanh/512x3072",
     NULL,
     {512, 3072, WEFT_ACTIVATION_GELU_TANH},
     activation,
     WEFT_BENCH_SHORT},
    {"gelu_erf/512x3072", NULL, {512, 3072, WEFT_ACTIVATION_GELU_ERF}, activation, WEFT_BENCH_FULL},
    {"softmax/6144x512", NULL, {6144, 512}, softmax, WEFT_BENCH_FULL},
    {"softmax/1024x512", NULL, {1024, 512}, softmax, WEFT_BENCH_SHORT},
};

void weft_bench_add_ops(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_fixed(list, scope, "ops", cases, sizeof cases / sizeof cases[0]);
}

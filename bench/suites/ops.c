/* SPDX-License-Identifier: MIT */
#include "bench/graph.h"
#include "bench/reference.h"
#include "bench/suites/fixed.h"
#include "bench/suites/suites.h"
#include "core/try.h"
#include "verify/conformance.h"

static weft_status add_input(weft_tensor *out, weft_graph *graph, weft_shape shape) {
    return weft_bench_input(out, graph, "x", shape);
}

/** sizes: m, n, k. x [m, k] times a weight [n, k] transposed, as a linear layer has it. */
static weft_status build_matmul(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    weft_tensor x = {0};
    weft_tensor w = {0};
    WEFT_TRY(add_input(&x, graph, weft_shape_of(1, sizes[0], sizes[2])));
    WEFT_TRY(weft_bench_weight(&w, graph, weft_shape_of(sizes[1], sizes[2]), 1));
    WEFT_TRY(weft_graph_linear(&x, graph, x, w, (weft_tensor){0}));
    return weft_graph_output(graph, "y", x);
}

/** sizes: n, d. */
static weft_status build_layer_norm(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    weft_tensor w = {0};
    WEFT_TRY(add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1])));
    WEFT_TRY(weft_bench_weight(&w, graph, weft_shape_of(bench_case->sizes[1]), 1));
    WEFT_TRY(weft_graph_layer_norm(&x, graph, x, w, w, 1e-12F));
    return weft_graph_output(graph, "y", x);
}

/** sizes: n, d, activation. */
static weft_status build_activation(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    WEFT_TRY(add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1])));
    WEFT_TRY(weft_graph_activate(&x, graph, x, (weft_activation)bench_case->sizes[2]));
    return weft_graph_output(graph, "y", x);
}

/** sizes: rows, columns. */
static weft_status build_softmax(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    WEFT_TRY(add_input(&x, graph, weft_shape_of(bench_case->sizes[0], bench_case->sizes[1])));
    WEFT_TRY(weft_graph_softmax(&x, graph, x));
    return weft_graph_output(graph, "y", x);
}

/* ---- the same in float64 ---- */

static void refer_matmul(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const double *x = weft_bench_reference_input(ref, "x");
    const double *w = weft_bench_reference_weight(ref, (uint64_t)sizes[1] * sizes[2], 1);
    weft_bench_reference_linear(ref, ref->expected, ref->rows, x, sizes[2], w, sizes[1], NULL);
}

static void refer_layer_norm(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    (void)bench_case;
    const double *x = weft_bench_reference_input(ref, "x");
    const double *w = weft_bench_reference_weight(ref, ref->width, 1);
    weft_bench_reference_layer_norm(ref, ref->expected, ref->rows, x, ref->width, w, w,
                                    (double)1e-12F);
}

static void refer_activation(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const double *x = weft_bench_reference_input(ref, "x");
    weft_bench_reference_activation(ref, ref->expected, ref->rows, x, ref->width,
                                    (weft_activation)bench_case->sizes[2]);
}

static void refer_softmax(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    (void)bench_case;
    const double *x = weft_bench_reference_input(ref, "x");
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_reference_softmax(ref, ref->expected, ref->rows, x, ref->width);
}

static const weft_bench_fixed cases[] = {
    {"matmul/512x3072x768", NULL, {512, 3072, 768}, build_matmul, refer_matmul, WEFT_BENCH_SHORT},
    {"matmul/512x768x3072", NULL, {512, 768, 3072}, build_matmul, refer_matmul, WEFT_BENCH_FULL},
    {"matmul/509x769x767", NULL, {509, 769, 767}, build_matmul, refer_matmul, WEFT_BENCH_FULL},
    {"layer_norm/512x768",
     NULL,
     {512, 768},
     build_layer_norm,
     refer_layer_norm,
     WEFT_BENCH_SMALLEST},
    {"gelu_tanh/512x3072",
     NULL,
     {512, 3072, WEFT_ACTIVATION_GELU_TANH},
     build_activation,
     refer_activation,
     WEFT_BENCH_SHORT},
    {"gelu_erf/512x3072",
     NULL,
     {512, 3072, WEFT_ACTIVATION_GELU_ERF},
     build_activation,
     refer_activation,
     WEFT_BENCH_FULL},
    {"softmax/6144x512", NULL, {6144, 512}, build_softmax, refer_softmax, WEFT_BENCH_FULL},
    {"softmax/1024x512", NULL, {1024, 512}, build_softmax, refer_softmax, WEFT_BENCH_SHORT},
};

void weft_bench_add_ops(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_fixed(list, scope, "ops", cases, sizeof cases / sizeof cases[0]);
}

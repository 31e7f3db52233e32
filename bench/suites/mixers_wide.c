/* SPDX-License-Identifier: MIT */
/* Fourier mixing and attention as FNet-base has them: 768 channels, 12 heads. */
#include <weft/mixers.h>

#include "bench/graph.h"
#include "bench/reference.h"
#include "bench/suites/fixed.h"
#include "bench/suites/mixers.h"
#include "core/try.h"
#include "verify/conformance.h"

static weft_status add_input(weft_tensor *out, weft_graph *graph, weft_shape shape) {
    return weft_bench_input(out, graph, "x", shape);
}

/** sizes: n, d. */
static weft_status build_fourier(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    WEFT_TRY(add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1])));
    WEFT_TRY(weft_graph_fourier(&x, graph, x));
    return weft_graph_output(graph, "y", x);
}

/** sizes: n, d, heads. */
static weft_status build_attention(weft_graph *graph, const weft_bench_case *bench_case) {
    weft_tensor x = {0};
    WEFT_TRY(add_input(&x, graph, weft_shape_of(1, bench_case->sizes[0], bench_case->sizes[1])));
    WEFT_TRY(weft_graph_attention(&x, graph, x, x, x,
                                  weft_attention_params(.heads = bench_case->sizes[2])));
    return weft_graph_output(graph, "y", x);
}

static void refer_fourier(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    (void)bench_case;
    const double *x = weft_bench_reference_input(ref, "x");
    weft_bench_reference_fourier(ref, ref->expected, ref->rows, x, ref->n, ref->width);
}

/** q, k and v are all x. */
static void refer_attention(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const double *x = weft_bench_reference_input(ref, "x");
    const weft_bench_attention in = {.q = x,
                                     .k = x,
                                     .v = x,
                                     .n = ref->n,
                                     .heads = bench_case->sizes[2],
                                     .width = ref->width / bench_case->sizes[2]};
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_reference_softmax_attention(ref, ref->expected, ref->rows, &in, UINT32_MAX, 0.0);
}

static const weft_bench_fixed cases[] = {
    {"fourier/fft/n=128,d=768", "fft", {128, 768}, build_fourier, refer_fourier, WEFT_BENCH_FULL},
    {"fourier/matrix/n=128,d=768",
     "matrix",
     {128, 768},
     build_fourier,
     refer_fourier,
     WEFT_BENCH_FULL},
    {"attention/n=128,d=768,heads=12",
     NULL,
     {128, 768, 12},
     build_attention,
     refer_attention,
     WEFT_BENCH_FULL},
    {"fourier/fft/n=512,d=768", "fft", {512, 768}, build_fourier, refer_fourier, WEFT_BENCH_SHORT},
    {"fourier/matrix/n=512,d=768",
     "matrix",
     {512, 768},
     build_fourier,
     refer_fourier,
     WEFT_BENCH_SHORT},
    {"attention/n=512,d=768,heads=12",
     NULL,
     {512, 768, 12},
     build_attention,
     refer_attention,
     WEFT_BENCH_SHORT},
    {"fourier/fft/n=2048,d=768", "fft", {2048, 768}, build_fourier, refer_fourier, WEFT_BENCH_FULL},
    {"attention/n=2048,d=768,heads=12",
     NULL,
     {2048, 768, 12},
     build_attention,
     refer_attention,
     WEFT_BENCH_FULL},
};

void weft_bench_add_wide_mixers(weft_bench_list *list, const weft_bench_scope *scope) {
    weft_bench_list_add_fixed(list, scope, "mixers", cases, sizeof cases / sizeof cases[0]);
}

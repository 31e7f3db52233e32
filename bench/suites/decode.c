/* SPDX-License-Identifier: MIT */
/*
 * The steps of weft/decode.h as series of cases over the length: the n-th token of a sequence, 8 heads of 64 channels. With
 * n a multiple of 64 it is the last token of a chunk, which reads most.
 */
#include <stdio.h>

#include <weft/decode.h>

#include "bench/graph.h"
#include "bench/suites/suites.h"
#include "core/try.h"

enum {
    HEADS = 8,
    WIDTH = 64,         /* of a head */
    BAND = 30,          /* half-width: FMMformer's */
    COSFORMER = 1 << 20 /* M: the longest sequence */
};

/** What all steps have: inputs of one token, and its position, the last of `length`. */
struct token {
    weft_tensor q, k, v;
    weft_step step;
};

static weft_status add_position(weft_tensor *out, weft_graph *graph, int32_t position) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_weight_create(
        &weight,
        weft_weight_params(.dtype = WEFT_I32, .shape = weft_shape_of(1), .data = &position), NULL));
    weft_status status = weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight);
    return status;
}

static weft_status add_token(struct token *token, weft_graph *graph,
                             const weft_bench_case *bench_case) {
    const weft_shape shape = weft_shape_of(1, 1, HEADS * WIDTH);
    *token = (struct token){.step.state = "state"};
    WEFT_TRY(weft_bench_input(&token->q, graph, "q", shape));
    WEFT_TRY(weft_bench_input(&token->k, graph, "k", shape));
    WEFT_TRY(weft_bench_input(&token->v, graph, "v", shape));
    return add_position(&token->step.position, graph, (int32_t)bench_case->length - 1);
}

/* ---- the steps ---- */

static weft_status add_band(weft_graph *graph, const weft_bench_case *bench_case,
                            uint32_t half_width) {
    struct token t;
    weft_tensor y = {0};
    WEFT_TRY(add_token(&t, graph, bench_case));
    WEFT_TRY(weft_graph_banded_attention_step(
        &y, graph, t.q, t.k, t.v, &t.step,
        weft_banded_attention_params(.heads = HEADS, .half_width = half_width)));
    return weft_graph_output(graph, "y", y);
}

/** Softmax attention with its keys and values kept. */
static weft_status build_attention(weft_graph *graph, const weft_bench_case *bench_case) {
    return add_band(graph, bench_case, bench_case->length - 1);
}

static weft_status build_band(weft_graph *graph, const weft_bench_case *bench_case) {
    return add_band(graph, bench_case, BAND);
}

static weft_status build_linear(weft_graph *graph, const weft_bench_case *bench_case) {
    struct token t;
    weft_tensor y = {0};
    WEFT_TRY(add_token(&t, graph, bench_case));
    WEFT_TRY(weft_graph_linear_attention_step(
        &y, graph, t.q, t.k, t.v, &t.step,
        weft_linear_attention_params(.heads = HEADS, .epsilon = 1e-3F)));
    return weft_graph_output(graph, "y", y);
}

static weft_status build_kernel(weft_graph *graph, const weft_bench_case *bench_case) {
    static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_ELU1},
                                          {.map = WEFT_FEATURE_ELU1_NEGATED}};
    struct token t;
    weft_tensor y = {0};
    WEFT_TRY(add_token(&t, graph, bench_case));
    WEFT_TRY(weft_graph_kernel_attention_step(
        &y, graph, t.q, t.k, t.v, &t.step,
        weft_kernel_attention_params(.heads = HEADS, .kernels = kernels,
                                     .kernel_count = bench_case->sizes[2], .epsilon = 1e-3F)));
    return weft_graph_output(graph, "y", y);
}

static weft_status build_cosformer(weft_graph *graph, const weft_bench_case *bench_case) {
    struct token t;
    weft_tensor y = {0};
    WEFT_TRY(add_token(&t, graph, bench_case));
    WEFT_TRY(weft_graph_cosformer_step(
        &y, graph, t.q, t.k, t.v, &t.step,
        weft_cosformer_params(.heads = HEADS, .length = COSFORMER, .epsilon = 1e-3F)));
    return weft_graph_output(graph, "y", y);
}

static weft_status build_fast_weight(weft_graph *graph, const weft_bench_case *bench_case) {
    struct token t;
    weft_tensor beta = {0};
    weft_tensor y = {0};
    WEFT_TRY(add_token(&t, graph, bench_case));
    WEFT_TRY(weft_bench_input(&beta, graph, WEFT_BENCH_UNIT_INPUT, weft_shape_of(1, 1, HEADS)));
    WEFT_TRY(weft_graph_fast_weight_step(&y, graph, t.q, t.k, t.v, beta, &t.step,
                                         weft_fast_weight_params(.heads = HEADS)));
    return weft_graph_output(graph, "y", y);
}

/* ---- the table ---- */

static const struct step_series {
    const char *name;
    bool dense;
    uint32_t option; /* sizes[2] */
    weft_status (*build)(weft_graph *graph, const weft_bench_case *bench_case);
} series[] = {
    {"attention", true, 0, build_attention},        {"banded_attention", false, 0, build_band},
    {"linear_attention", false, 0, build_linear},   {"kernel_attention/1", false, 1, build_kernel},
    {"kernel_attention/2", false, 2, build_kernel}, {"cosformer", false, 0, build_cosformer},
    {"fast_weight", false, 0, build_fast_weight},
};

static weft_bench_case make_case(uint32_t index, uint32_t length) {
    const struct step_series *own = &series[index];
    weft_bench_case result = {.suite = "decode",
                              .sizes = {length, HEADS * WIDTH, own->option, 0},
                              .build = own->build,
                              .series = own->name,
                              .length = length,
                              .dense = own->dense};
    snprintf(result.name, sizeof result.name, "decode/%s/n=%u,d=%u,heads=%u", own->name, length,
             (unsigned)(HEADS * WIDTH), (unsigned)HEADS);
    return result;
}

void weft_bench_add_decode(weft_bench_list *list, const weft_bench_scope *scope) {
    const uint32_t count = sizeof series / sizeof series[0];
    weft_bench_list_add_series(list, scope, scope->size == WEFT_BENCH_SMALLEST ? 1 : count,
                               make_case);
}

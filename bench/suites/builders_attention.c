/* SPDX-License-Identifier: MIT */
/* Softmax attention, dense and banded, and what has elementwise feature maps. */
#include "bench/suites/builders_internal.h"

const weft_kernel weft_bench_kernels[3] = {
    {.map = WEFT_FEATURE_ELU1}, {.map = WEFT_FEATURE_ELU1_NEGATED}, {.map = WEFT_FEATURE_TANH1}};

static weft_status add_banded(weft_tensor *y, weft_bench_builder *b, const weft_bench_qkv *in) {
    return weft_graph_banded_attention(
        y, b->graph, in->q, in->k, in->v,
        weft_banded_attention_params(.heads = b->heads,
                                     .half_width = b->mixer->full_band ? b->n - 1 : WEFT_BENCH_BAND,
                                     .causal = b->mixer->causal));
}

static weft_status add_kernel(weft_tensor *y, weft_bench_builder *b, const weft_bench_qkv *in) {
    return weft_graph_kernel_attention(
        y, b->graph, in->q, in->k, in->v,
        weft_kernel_attention_params(.heads = b->heads, .causal = b->mixer->causal,
                                     .kernels = weft_bench_kernels,
                                     .kernel_count = b->mixer->kernel_count));
}

static weft_status add_fmm(weft_tensor *y, weft_bench_builder *b, const weft_bench_qkv *in) {
    const weft_fmm_attention_params params = {.heads = b->heads,
                                              .causal = b->mixer->causal,
                                              .half_width = WEFT_BENCH_BAND,
                                              .kernels = weft_bench_kernels,
                                              .kernel_count = b->mixer->kernel_count};
    return weft_graph_fmm_attention(y, b->graph, in->q, in->k, in->v, &params);
}

static weft_status add_fast_weight(weft_tensor *y, weft_bench_builder *b,
                                   const weft_bench_qkv *in) {
    weft_tensor beta = {0};
    weft_status status =
        weft_bench_input(&beta, b->graph, WEFT_BENCH_UNIT_INPUT, weft_shape_of(1, b->n, b->heads));
    return status == WEFT_OK ? weft_graph_fast_weight(y, b->graph, in->q, in->k, in->v, beta,
                                                      weft_fast_weight_params(.heads = b->heads))
                             : status;
}

static weft_status add(weft_tensor *y, weft_bench_builder *b, const weft_bench_qkv *in) {
    switch (b->mixer->kind) {
    case WEFT_BENCH_BANDED:
        return add_banded(y, b, in);
    case WEFT_BENCH_KERNEL:
        return add_kernel(y, b, in);
    case WEFT_BENCH_FMM:
        return add_fmm(y, b, in);
    case WEFT_BENCH_FAST_WEIGHT:
        return add_fast_weight(y, b, in);
    case WEFT_BENCH_COSFORMER:
        return weft_graph_cosformer(
            y, b->graph, in->q, in->k, in->v,
            weft_cosformer_params(.heads = b->heads, .causal = b->mixer->causal));
    default:
        return weft_graph_attention(y, b->graph, in->q, in->k, in->v,
                                    weft_attention_params(.heads = b->heads));
    }
}

weft_tensor weft_bench_build_attention(weft_bench_builder *b) {
    const weft_bench_qkv in = weft_bench_builder_qkv(b);
    weft_tensor y = {0};
    if (b->status == WEFT_OK) {
        b->status = add(&y, b, &in);
    }
    return y;
}

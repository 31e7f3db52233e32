/* SPDX-License-Identifier: MIT */
/*
 * Kernelized attention with relative positions: linear attention whose terms have the weights exp(b(i - j)) of their
 * distance. By its definition, or as a Toeplitz matrix per head times the products of key features and values.
 */
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "graph/graph.h"
#include "kernels/toeplitz_attention/contract.h"
#include "kernels/toeplitz_attention/direct.h"
#include "kernels/toeplitz_attention/outer.h"
#include "kernels/toeplitz_attention/tiled.h"
#include "kernels/toeplitz_attention/weights.h"
#include "lower/divisor.h"
#include "lower/variant.h"
#include "mixers/convolution.h"
#include "mixers/linear_attention.h"
#include "mixers/qkv.h"

enum { Q = 0, K = 1, V = 2, BIAS = 3, INPUTS = 4 };

struct toeplitz_attention_node {
    uint32_t heads;
    uint32_t causal;
    float epsilon;
};

/* ---- building ---- */

weft_status weft_graph_toeplitz_attention(weft_tensor *out, weft_graph *graph,
                                          weft_tensor q_features, weft_tensor k_features,
                                          weft_tensor v, weft_tensor bias,
                                          const weft_toeplitz_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct toeplitz_attention_node node = {.heads = params && params->heads ? params->heads : 1,
                                           .causal = params && params->causal,
                                           .epsilon = params ? params->epsilon : 0.0F};
    weft_tensor inputs[INPUTS] = {q_features, k_features, v, bias};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = WEFT_OK;
    for (uint32_t i = K; i <= V && params && params->lengths.id != 0 && status == WEFT_OK; i++) {
        status = weft_graph_mask(&inputs[i], graph, inputs[i], params->lengths);
    }
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, &weft_op_toeplitz_attention, inputs, INPUTS, &node,
                                sizeof node);
    }
    return weft_graph_end(graph, mark, status);
}

static weft_status check_shapes(const weft_graph *graph, const struct weft_node *node) {
    weft_shape q = *weft_node_shape(graph, node, Q);
    weft_shape k = *weft_node_shape(graph, node, K);
    weft_shape v = *weft_node_shape(graph, node, V);
    if (q.rank == 3 && v.rank == 3 && weft_shape_equal(q, k) && q.dim[0] == v.dim[0] &&
        q.dim[1] == v.dim[1]) {
        return WEFT_OK;
    }
    char text[3][WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                     "toeplitz_attention: q_features %s, k_features %s and v %s must be "
                     "[B, n, heads·m], [B, n, heads·m] and [B, n, d]",
                     weft_shape_text(q, text[0]), weft_shape_text(k, text[1]),
                     weft_shape_text(v, text[2]));
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct toeplitz_attention_node *params = (void *)node->params.bytes;
    uint32_t width = weft_node_shape(graph, node, Q)->dim[2];
    uint32_t values = weft_node_shape(graph, node, V)->dim[2];
    if (width % params->heads != 0 || values % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "toeplitz_attention: %u heads do not divide %u features and %u values",
                         params->heads, width, values);
    }
    WEFT_TRY(weft_check_epsilon(graph, "toeplitz_attention", params->epsilon));
    if (params->epsilon < WEFT_LEAST_DENOMINATOR) {
        params->epsilon = WEFT_LEAST_DENOMINATOR;
    }
    return WEFT_OK;
}

/** [2m - 1, heads], or causal [m, heads], with m at least n. */
static weft_status check_bias(const weft_graph *graph, const struct weft_node *node) {
    const struct toeplitz_attention_node *params = (const void *)node->params.bytes;
    uint32_t n = weft_node_shape(graph, node, Q)->dim[1];
    weft_shape bias = *weft_node_shape(graph, node, BIAS);
    uint32_t rows = bias.rank == 2 ? bias.dim[0] : 0;
    uint32_t reach = params->causal ? rows : rows % 2 == 1 ? rows / 2 + 1 : 0;
    if (reach >= n && bias.dim[1] == params->heads) {
        return WEFT_OK;
    }
    char text[WEFT_SHAPE_TEXT_SIZE];
    return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                     "toeplitz_attention: bias %s must be [%s, %u] with m >= %u",
                     weft_shape_text(bias, text), params->causal ? "m" : "2m - 1", params->heads,
                     n);
}

static weft_status toeplitz_attention_infer(const weft_graph *graph, struct weft_node *node,
                                            weft_dtype *dtype, weft_shape *shape) {
    static const char *const names[INPUTS] = {"q_features", "k_features", "v", "bias"};
    for (uint32_t i = 0; i < INPUTS; i++) {
        WEFT_TRY(weft_expect_f32(graph, node, i, names[i]));
    }
    WEFT_TRY(check_shapes(graph, node));
    WEFT_TRY(check_params(graph, node));
    WEFT_TRY(check_bias(graph, node));
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, V);
    return WEFT_OK;
}

/* ---- lowering ---- */

/** Sizes and storages of a node. */
struct lowered {
    struct weft_lowering *lowering;
    const struct toeplitz_attention_node *params;
    uint32_t batch, n, heads, features, values; /* features and values of a head */
    uint32_t lags, zero;                        /* lags in use, and which of them is 0 */
    uint32_t q, k, v, bias, result;
    uint32_t first_lag; /* the row of bias with the first lag in use */
};

static struct lowered begin(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct toeplitz_attention_node *params = (const void *)node->params.bytes;
    weft_shape q = *weft_node_shape(lowering->graph, node, Q);
    weft_shape bias = *weft_node_shape(lowering->graph, node, BIAS);
    uint32_t n = q.dim[1];
    return (struct lowered){.lowering = lowering,
                            .params = params,
                            .batch = q.dim[0],
                            .n = n,
                            .heads = params->heads,
                            .features = q.dim[2] / params->heads,
                            .values =
                                weft_node_shape(lowering->graph, node, V)->dim[2] / params->heads,
                            .lags = params->causal ? n : 2 * n - 1,
                            .zero = params->causal ? 0 : n - 1,
                            .q = weft_lower_value(lowering, node->input[Q]),
                            .k = weft_lower_value(lowering, node->input[K]),
                            .v = weft_lower_value(lowering, node->input[V]),
                            .bias = weft_lower_value(lowering, node->input[BIAS]),
                            .result = weft_lower_value(lowering, node->output),
                            .first_lag = params->causal ? 0 : bias.dim[0] / 2 - (n - 1)};
}

/**
 * [heads, columns] in a storage of its own: the weights of all lags, or with a length 1/length times the circulant
 * column of that length for the first `tokens` tokens.
 */
static uint32_t lower_weights(const struct lowered *l, uint32_t length, uint32_t tokens) {
    uint32_t columns = length ? length : l->lags;
    uint32_t weights =
        weft_lower_scratch(l->lowering, (uint64_t)l->heads * columns * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, toeplitz_attention_weights, weft_grid_of_groups(l->heads),
                   .bind = {.bias = l->bias, .weights = weights},
                   .push = {.heads = l->heads,
                            .columns = columns,
                            .first_lag = l->first_lag,
                            .lags = l->lags,
                            .zero = l->zero,
                            .reach = tokens,
                            .scale = length ? 1.0F / (float)length : 1.0F},
                   .constant = {.circulant = length != 0});
    dispatch->flops = 30.0 * l->heads * columns;
    dispatch->bytes = 4.0 * l->heads * ((double)columns + l->lags);
    return weights;
}

/* ---- by its definition ---- */

static_assert((int)WEFT_TOEPLITZ_ATTENTION_DIRECT_QUERIES ==
                      (int)WEFT_TOEPLITZ_ATTENTION_TILED_QUERIES &&
                  (int)WEFT_TOEPLITZ_ATTENTION_DIRECT_COLUMNS ==
                      (int)WEFT_TOEPLITZ_ATTENTION_TILED_COLUMNS,
              "their workgroups make the same blocks");

/* GPUs want tiles in shared memory; processors have caches, and no use for barriers. */
WEFT_VARIANTS(toeplitz_attention_direct, "toeplitz_attention/direct",
              {.name = "untiled",
               .shader = &weft_shader_toeplitz_attention_direct,
               .grid = weft_grid_of_first_groups,
               .cost = {.hardware = 1.5F}},
              {.name = "tiled",
               .shader = &weft_shader_toeplitz_attention_tiled,
               .grid = weft_grid_of_first_groups,
               .needs = WEFT_NEEDS_REGISTERS(weft_has_many_registers),
               .cost = {.software = 4.0F, .processor = 16.0F}})

/** The first `rows` tokens of each sequence. */
static void lower_rows(const struct lowered *l, uint32_t rows) {
    const uint32_t weights = lower_weights(l, 0, l->n);
    const uint32_t column_blocks = (l->values - 1) / WEFT_TOEPLITZ_ATTENTION_DIRECT_COLUMNS + 1;
    const uint32_t row_blocks = (rows - 1) / WEFT_TOEPLITZ_ATTENTION_DIRECT_QUERIES + 1;
    const uint64_t groups = (uint64_t)l->batch * l->heads * row_blocks * column_blocks;
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        l->lowering, &weft_toeplitz_attention_direct_variants, l->batch, toeplitz_attention_direct,
        .bind = {.queries = l->q,
                 .keys = l->k,
                 .values = l->v,
                 .weights = weights,
                 .result = l->result},
        .push = {.groups = (uint32_t)groups,
                 .n = l->n,
                 .heads = l->heads,
                 .features = l->features,
                 .values = l->values,
                 .column_blocks = column_blocks,
                 .lags = l->lags,
                 .zero = l->zero,
                 .rows = rows,
                 .epsilon = l->params->epsilon},
        .constant = {.causal = l->params->causal,
                     .vector_features = weft_whole_fours(l->features),
                     .vector_values = weft_whole_fours(l->values)});
    const double queries = (double)l->batch * l->heads * rows;
    const double pairs = queries * (l->params->causal ? 0.5 * rows : (double)l->n);
    dispatch->flops = 2.0 * pairs * ((double)l->features * column_blocks + l->values + 1.0);
    dispatch->bytes = 8.0 * queries * ((double)l->features + l->values);
}

static weft_status lower_direct(struct weft_lowering *lowering, const struct weft_node *node) {
    struct lowered l = begin(lowering, node);
    lower_rows(&l, l.n);
    return weft_lower_status(lowering);
}

/* ---- by FFT ---- */

/*
 * The rounding errors of a transform are as large in all its results. Causal sums grow along the sequence, so that they
 * would drown the first tokens: those before an eighth of the sequence are made by a transform of their own, which adds
 * an eighth of the work, and so on; the last few by definition.
 */
#define PREFIX       8
#define LEAST_TOKENS 64

static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)device;
    return weft_node_shape(graph, node, Q)->dim[1] <= WEFT_CONVOLUTION_MAX_LENGTH / 2;
}

/** Channels of a sequence: features · (values + 1) of every head. Fails when the kernels' indices do not reach them. */
static uint32_t channels_of(const struct lowered *l) {
    double channels = (double)l->features * ((double)l->values + 1.0) * l->heads;
    double count = channels * l->batch * l->n;
    if (count > (double)INT32_MAX) {
        weft_lower_fail(l->lowering,
                        weft_fail(&l->lowering->device->host, WEFT_UNSUPPORTED,
                                  "%s: features and values have %.0f products, more than %d",
                                  l->lowering->label, count, INT32_MAX));
        return 0;
    }
    return (uint32_t)channels;
}

static uint32_t lower_outer(const struct lowered *l, uint32_t tokens, uint32_t channels) {
    uint64_t count = (uint64_t)l->batch * tokens * channels;
    uint32_t products = weft_lower_scratch(l->lowering, count * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, toeplitz_attention_outer, weft_grid_of_items(count),
                   .bind = {.keys = l->k, .values = l->v, .result = products},
                   .push = {.count = (uint32_t)count,
                            .heads = l->heads,
                            .features = l->features,
                            .values = l->values,
                            .tokens = tokens,
                            .n = l->n,
                            WEFT_INVERSE(heads, l->heads),
                            WEFT_INVERSE(columns, l->values + 1),
                            WEFT_INVERSE(features, l->features),
                            WEFT_INVERSE(tokens, tokens)});
    dispatch->flops = (double)count;
    dispatch->bytes = 4.0 * (double)count;
    return products;
}

/** Toeplitz matrices times all channels: those of a head have the same one. */
static uint32_t lower_sums(const struct lowered *l, uint32_t products, uint32_t tokens,
                           uint32_t channels) {
    uint32_t length = weft_convolution_length(tokens);
    uint32_t weights = lower_weights(l, length, tokens);
    uint64_t bins = weft_convolution_bins(length);
    uint32_t spectrum = weft_lower_scratch(l->lowering, 2 * bins * l->heads * sizeof(float));
    weft_lower_row_fft(l->lowering, WEFT_FFT_R2C, length, l->heads, weights, spectrum);
    struct weft_convolution convolution = {
        .x = products,
        .result =
            weft_lower_scratch(l->lowering, (uint64_t)l->batch * tokens * channels * sizeof(float)),
        .spectrum = spectrum,
        .kernels = l->heads,
        .shape = weft_shape_of(l->batch, tokens, channels),
        .length = length};
    weft_lower_convolution(l->lowering, &convolution);
    return convolution.result;
}

/** The results of the tokens from `first` on. */
static void lower_contract(const struct lowered *l, uint32_t sums, uint32_t tokens,
                           uint32_t first) {
    uint64_t count = (uint64_t)l->batch * (tokens - first) * l->heads * l->values;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, toeplitz_attention_contract, weft_grid_of_items(count),
                   .bind = {.queries = l->q, .sums = sums, .result = l->result},
                   .push = {.count = (uint32_t)count,
                            .heads = l->heads,
                            .features = l->features,
                            .values = l->values,
                            .tokens = tokens,
                            .n = l->n,
                            .first = first,
                            .epsilon = l->params->epsilon});
    dispatch->flops = 4.0 * (double)count * l->features;
    dispatch->bytes = 4.0 * (double)count * (l->features + 1.0);
}

static weft_status lower_fft(struct weft_lowering *lowering, const struct weft_node *node) {
    struct lowered l = begin(lowering, node);
    uint32_t channels = channels_of(&l);
    uint32_t tokens = l.n; /* that have no result yet */
    while (weft_lower_status(lowering) == WEFT_OK && (tokens == l.n || tokens > LEAST_TOKENS)) {
        uint32_t first = l.params->causal ? tokens / PREFIX : 0;
        uint32_t products = lower_outer(&l, tokens, channels);
        lower_contract(&l, lower_sums(&l, products, tokens, channels), tokens, first);
        tokens = first;
    }
    if (tokens > 0 && weft_lower_status(lowering) == WEFT_OK) {
        lower_rows(&l, tokens);
    }
    return weft_lower_status(lowering);
}

/* ---- the choice ---- */

/*
 * The definition costs 2 n² (m + d_v) a head, half of that when it is causal, the transforms a channel's time for each of
 * the m (d_v + 1) channels. On lavapipe (busy with other work, so these are rough) both took the same time where a
 * channel took that of 2 · 8 n log2(2n) operations of the definition for m = d_v up to 16, near n = 60, 350 and 750 for 1,
 * 8 and 16, and of 2 · 15 n log2(2n) for 32, near 3000: 12 is between.
 */
static const char *toeplitz_attention_choose(const weft_graph *graph,
                                             const struct weft_node *node) {
    const struct toeplitz_attention_node *params = (const void *)node->params.bytes;
    uint64_t n = weft_node_shape(graph, node, Q)->dim[1];
    uint64_t features = weft_node_shape(graph, node, Q)->dim[2] / params->heads;
    uint64_t values = weft_node_shape(graph, node, V)->dim[2] / params->heads;
    uint64_t log2 = 0;
    while (UINT64_C(1) << log2 < 2 * n) {
        log2++;
    }
    uint64_t direct = n * (features + values) / (params->causal ? 2 : 1);
    uint64_t fft = 12 * log2 * features * (values + 1);
    return direct <= fft ? "direct" : "fft";
}

const struct weft_op weft_op_toeplitz_attention = {
    .name = "toeplitz_attention",
    .min_inputs = INPUTS,
    .max_inputs = INPUTS,
    .params_size = sizeof(struct toeplitz_attention_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(toeplitz_attention_node, heads, COUNT),
                          WEFT_FIELD(toeplitz_attention_node, causal, BOOL),
                          WEFT_FIELD(toeplitz_attention_node, epsilon, F32)),
    .infer = toeplitz_attention_infer,
    .choose = toeplitz_attention_choose,
    .cuts = WEFT_CUTS({.inputs = 1 << Q | 1 << K | 1 << V, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "direct", .lower = lower_direct},
        {.name = "fft", .bits = 1, .supports = fft_supports, .lower = lower_fft}),
};

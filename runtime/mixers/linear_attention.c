/* SPDX-License-Identifier: MIT */
/* Linear attention over given features: states of chunks, their sums, and what the queries read from them. */
#include "mixers/linear_attention.h"
#include "mixers/qkv.h"

#include <stdio.h>

#include <weft/mixers.h>

struct weft_linear_attention_node {
    uint32_t heads;
    uint32_t causal;
    float epsilon;
};

/* ---- lowering ---- */

#define BIDIRECTIONAL_CHUNK (4 * WEFT_CHUNK) /* only its sum is needed: fewer, larger ones */

uint32_t weft_chunk_count(uint32_t n, uint32_t chunk) {
    return (n - 1) / chunk + 1;
}

/** Whether a kernel's 32-bit indices reach that many elements or work items. */
static bool countable(struct weft_lowering *lowering, double count, const char *what) {
    if (count <= (double)INT32_MAX) {
        return true;
    }
    weft_lower_fail(lowering, weft_fail(&lowering->device->host, WEFT_UNSUPPORTED,
                                        "%s: %.0f %s, more than %d", lowering->label, count, what,
                                        INT32_MAX));
    return false;
}

uint32_t weft_lower_chunk_states(struct weft_lowering *lowering,
                                 const struct weft_chunk_states *states) {
    uint32_t chunks = weft_chunk_count(states->n, states->chunk);
    double parts = (double)states->batch * states->heads * chunks;
    uint32_t size = states->feature_count * (states->value_count + states->ones);
    if (!countable(lowering, parts * size, "elements in the states of all chunks")) {
        return 0;
    }
    uint32_t result = weft_lower_scratch(lowering, (uint64_t)parts * size * sizeof(float));
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/state");
    weft_dispatch_read(dispatch, states->features);
    weft_dispatch_read(dispatch, states->values);
    weft_dispatch_write(dispatch, result);
    weft_dispatch_specialize(dispatch, states->ones);
    weft_dispatch_specialize(dispatch, weft_whole_fours(states->feature_count));
    weft_dispatch_specialize(dispatch, weft_whole_fours(states->value_count));
    uint32_t columns = (states->value_count - 1) / 4 + 1 + states->ones;
    uint32_t rows = (states->feature_count - 1) / 8 + 1;
    weft_dispatch_items(dispatch, (uint64_t)parts * rows * columns);
    weft_dispatch_push_u32(dispatch, states->n);
    weft_dispatch_push_u32(dispatch, states->heads);
    weft_dispatch_push_u32(dispatch, states->feature_count);
    weft_dispatch_push_u32(dispatch, states->value_count);
    weft_dispatch_push_u32(dispatch, states->chunk);
    weft_dispatch_push_u32(dispatch, chunks);
    double tokens = (double)states->batch * states->heads * states->n;
    dispatch->flops = 2.0 * tokens * size;
    dispatch->bytes = 4.0 * (tokens * (states->feature_count + states->value_count) + parts * size);
    return result;
}

/** Replaces states by the sums of those before them, or the first one of a head by the sum of all. */
static void lower_scan(struct weft_lowering *lowering, uint32_t state, uint32_t size,
                       uint32_t chunks, uint32_t heads, bool prefix) {
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/scan");
    weft_dispatch_write(dispatch, state);
    weft_dispatch_specialize(dispatch, prefix);
    weft_dispatch_items(dispatch, (uint64_t)heads * size);
    weft_dispatch_push_u32(dispatch, size);
    weft_dispatch_push_u32(dispatch, chunks);
    double count = (double)heads * size * chunks;
    dispatch->flops = count;
    dispatch->bytes = (prefix ? 8.0 : 4.0) * count;
}

static void count_apply(struct weft_dispatch *dispatch, const struct weft_linear_attention *a,
                        uint32_t column_blocks) {
    double rows = (double)a->batch * a->heads * a->n;
    double scores =
        a->causal ? WEFT_CHUNK * (0.5 * a->values + 0.5 * column_blocks * a->features) : 0.0;
    dispatch->flops = 2.0 * rows * (a->features * (a->values + 1.0) + scores);
    dispatch->bytes = 4.0 * rows * (2.0 * a->features + 2.0 * a->values);
}

void weft_lower_chunk_apply(struct weft_lowering *lowering, const struct weft_chunk_apply *apply) {
    const struct weft_linear_attention *a = apply->attention;
    uint32_t column_blocks = (a->values - 1) / 64 + 1;
    double groups =
        (double)a->batch * a->heads * weft_chunk_count(a->n, WEFT_CHUNK) * column_blocks;
    if (!countable(lowering, groups, "workgroups")) {
        return;
    }
    struct weft_dispatch *dispatch = weft_old_dispatch(lowering, "linear_attention/apply");
    weft_dispatch_read(dispatch, a->q);
    weft_dispatch_read(dispatch, a->causal ? a->k : a->q);
    weft_dispatch_read(dispatch, a->causal ? a->v : a->q);
    weft_dispatch_read(dispatch, apply->has_state ? apply->state : a->q);
    weft_dispatch_write(dispatch, a->result);
    weft_dispatch_specialize(dispatch, a->causal);
    weft_dispatch_specialize(dispatch, apply->normalize);
    weft_dispatch_specialize(dispatch, a->accumulate);
    weft_dispatch_specialize(dispatch, weft_whole_fours(a->features));
    weft_dispatch_specialize(dispatch, weft_whole_fours(a->values));
    weft_dispatch_specialize(dispatch, apply->has_state);
    weft_dispatch_rows(dispatch, (struct weft_rows){.rows = (uint64_t)groups, .columns = a->n});
    weft_dispatch_push_u32(dispatch, a->heads);
    weft_dispatch_push_u32(dispatch, a->features);
    weft_dispatch_push_u32(dispatch, a->values);
    weft_dispatch_push_u32(dispatch, apply->state_chunks);
    weft_dispatch_push_u32(dispatch, column_blocks);
    weft_dispatch_push_f32(dispatch, a->epsilon);
    weft_dispatch_push_f32(dispatch, a->weight);
    count_apply(dispatch, a, column_blocks);
}

void weft_lower_linear_attention(struct weft_lowering *lowering,
                                 const struct weft_linear_attention *attention) {
    const struct weft_linear_attention *a = attention;
    uint32_t chunk = a->causal ? WEFT_CHUNK : BIDIRECTIONAL_CHUNK;
    uint32_t chunks = weft_chunk_count(a->keys, chunk);
    struct weft_chunk_apply apply = {.attention = a,
                                     .state_chunks = chunks,
                                     .has_state = !a->causal || chunks > 1,
                                     .normalize = true};
    if (apply.has_state) {
        struct weft_chunk_states states = {.features = a->k,
                                           .values = a->v,
                                           .batch = a->batch,
                                           .heads = a->heads,
                                           .n = a->keys,
                                           .feature_count = a->features,
                                           .value_count = a->values,
                                           .chunk = chunk,
                                           .ones = true};
        apply.state = weft_lower_chunk_states(lowering, &states);
    }
    if (chunks > 1) {
        lower_scan(lowering, apply.state, a->features * (a->values + 1), chunks,
                   a->batch * a->heads, a->causal);
    }
    weft_lower_chunk_apply(lowering, &apply);
}

/* ---- the op ---- */

weft_status weft_graph_linear_attention(weft_tensor *out, weft_graph *graph, weft_tensor q_features,
                                        weft_tensor k_features, weft_tensor v,
                                        const weft_linear_attention_params *params) {
    struct weft_linear_attention_node node = {.heads = params && params->heads ? params->heads : 1,
                                              .causal = params && params->causal,
                                              .epsilon = params ? params->epsilon : 0.0F};
    weft_tensor inputs[] = {q_features, k_features, v};
    return weft_graph_add(out, graph, &weft_op_linear_attention, inputs, 3, &node, sizeof node);
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_linear_attention_node *params = (void *)node->params.bytes;
    uint32_t width = weft_node_shape(graph, node, 0)->dim[2];
    uint32_t values = weft_node_shape(graph, node, 2)->dim[2];
    if (width % params->heads != 0 || values % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "linear_attention: %u heads do not divide %u features and %u values",
                         params->heads, width, values);
    }
    const weft_status status = weft_check_epsilon(graph, "linear_attention", params->epsilon);
    if (status != WEFT_OK) {
        return status;
    }
    if (params->epsilon < WEFT_LEAST_DENOMINATOR) {
        params->epsilon = WEFT_LEAST_DENOMINATOR;
    }
    return WEFT_OK;
}

static weft_status linear_attention_infer(const weft_graph *graph, struct weft_node *node,
                                          weft_dtype *dtype, weft_shape *shape) {
    const struct weft_linear_attention_node *params = (const void *)node->params.bytes;
    const char *const names[] = {"q_features", "k_features", "v"};
    for (uint32_t i = 0; i < 3; i++) {
        weft_status status = weft_expect_f32(graph, node, i, names[i]);
        if (status != WEFT_OK) {
            return status;
        }
    }
    weft_shape q = *weft_node_shape(graph, node, 0);
    weft_shape k = *weft_node_shape(graph, node, 1);
    weft_shape v = *weft_node_shape(graph, node, 2);
    bool fits = q.rank == 3 && k.rank == 3 && v.rank == 3 && q.dim[0] == k.dim[0] &&
                q.dim[2] == k.dim[2] && k.dim[0] == v.dim[0] && k.dim[1] == v.dim[1];
    if (!fits || (params->causal && q.dim[1] != k.dim[1])) {
        char text[3][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "linear_attention: q_features %s, k_features %s and v %s must be "
                         "[B, n, heads·m], [B, k, heads·m] and [B, k, d]%s",
                         weft_shape_text(q, text[0]), weft_shape_text(k, text[1]),
                         weft_shape_text(v, text[2]), params->causal ? " with k = n" : "");
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(q.dim[0], q.dim[1], v.dim[2]);
    return check_params(graph, node);
}

static weft_status linear_attention_lower(struct weft_lowering *lowering,
                                          const struct weft_node *node) {
    const struct weft_linear_attention_node *params = (const void *)node->params.bytes;
    const weft_shape *q = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *v = weft_node_shape(lowering->graph, node, 2);
    struct weft_linear_attention attention = {.q = weft_lower_value(lowering, node->input[0]),
                                              .k = weft_lower_value(lowering, node->input[1]),
                                              .v = weft_lower_value(lowering, node->input[2]),
                                              .result = weft_lower_value(lowering, node->output),
                                              .batch = q->dim[0],
                                              .heads = params->heads,
                                              .n = q->dim[1],
                                              .keys = v->dim[1],
                                              .features = q->dim[2] / params->heads,
                                              .values = v->dim[2] / params->heads,
                                              .causal = params->causal,
                                              .epsilon = params->epsilon,
                                              .weight = 1.0F};
    weft_lower_linear_attention(lowering, &attention);
    return weft_lower_status(lowering);
}

static void linear_attention_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_linear_attention_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "[%u heads%s]", params->heads, params->causal ? ", causal" : "");
}

const struct weft_op weft_op_linear_attention = {
    .name = "linear_attention",
    .min_inputs = 3,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_linear_attention_node),
    .infer = linear_attention_infer,
    .describe = linear_attention_describe,
    .implementation = {{.name = "chunks", .lower = linear_attention_lower}},
};

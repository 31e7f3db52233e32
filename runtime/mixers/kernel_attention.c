/* SPDX-License-Identifier: MIT */
/* FMMformer's far field: several feature maps, each with linear attention normalised by itself, and their blend. */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "mixers/feature_map.h"
#include "mixers/linear_attention.h"
#include "mixers/qkv.h"
#include "mixers/step.h"
#include "ops/mask.h"

#define LENGTHS (3 + WEFT_MAX_KERNELS) /* an input, behind q, k, v and the texts of kernels */

struct weft_kernel_attention_node {
    uint32_t heads;
    uint32_t causal;
    float epsilon;
    uint32_t count;
    uint32_t map[WEFT_MAX_KERNELS]; /* WEFT_FEATURE_COUNT: GLSL text, in input 3 + its index */
    float weight[WEFT_MAX_KERNELS];
};

/* ---- building ---- */

#define SIGNED_MAP_EPSILON 1e-6F

static const weft_kernel usual_kernel = {.map = WEFT_FEATURE_ELU1};

static weft_status check_kernel(const weft_graph *graph, const weft_kernel *kernel) {
    if (kernel->glsl) {
        WEFT_TRY(weft_feature_text_check(kernel->glsl, &graph->host));
    } else if ((uint32_t)kernel->map >= WEFT_FEATURE_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "kernel_attention: map %u is not in 0 … %u", (uint32_t)kernel->map,
                         WEFT_FEATURE_COUNT - 1);
    }
    if (!isfinite(kernel->weight)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "kernel_attention: weight %g must be finite", (double)kernel->weight);
    }
    return WEFT_OK;
}

static weft_status take_kernels(struct weft_kernel_attention_node *node, const weft_graph *graph,
                                const weft_kernel *kernels, uint32_t count) {
    if (count < 1 || count > WEFT_MAX_KERNELS) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "kernel_attention: kernel_count %u is not in 1 … %u", count,
                         WEFT_MAX_KERNELS);
    }
    node->count = count;
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(check_kernel(graph, &kernels[i]));
        node->map[i] = kernels[i].glsl ? WEFT_FEATURE_COUNT : (uint32_t)kernels[i].map;
        node->weight[i] = kernels[i].weight == 0.0F ? 1.0F : kernels[i].weight;
    }
    return WEFT_OK;
}

/** The node without what depends on the tensors; *kernels are those to take. */
static weft_status make_node(struct weft_kernel_attention_node *node, const weft_kernel **kernels,
                             const weft_graph *graph, const weft_kernel_attention_params *params) {
    *node =
        (struct weft_kernel_attention_node){.heads = params && params->heads ? params->heads : 1,
                                            .causal = params && params->causal,
                                            .epsilon = params ? params->epsilon : 0.0F};
    *kernels = params && params->kernels ? params->kernels : &usual_kernel;
    bool usual = !params || (!params->kernels && params->kernel_count == 0);
    if (!usual && !params->kernels) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "kernel_attention: kernel_count is %u, but kernels is null",
                         params->kernel_count);
    }
    return take_kernels(node, graph, *kernels, usual ? 1 : params->kernel_count);
}

/** The texts among the kernels as constants, from inputs[0] on. */
static weft_status add_texts(weft_tensor *inputs, weft_graph *graph, const weft_kernel *kernels,
                             uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (kernels[i].glsl) {
            WEFT_TRY(weft_feature_text_add(&inputs[i], graph, kernels[i].glsl));
        }
    }
    return WEFT_OK;
}

/** The checks that need no GLSL, before the texts become constants of the graph. */
static weft_status check_tensors(const weft_graph *graph,
                                 const struct weft_kernel_attention_node *params,
                                 const weft_tensor *tensors) {
    weft_shape shape[3];
    WEFT_TRY(weft_check_qkv(shape, graph, "kernel_attention", tensors, params->causal));
    WEFT_TRY(weft_check_heads(graph, "kernel_attention", params->heads, shape));
    return weft_check_epsilon(graph, "kernel_attention", params->epsilon);
}

weft_status weft_graph_kernel_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                        weft_tensor k, weft_tensor v,
                                        const weft_kernel_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_kernel_attention_node node;
    const weft_kernel *kernels = NULL;
    weft_tensor inputs[LENGTHS + 1] = {q, k, v};
    inputs[LENGTHS] = params ? params->lengths : inputs[LENGTHS];
    WEFT_TRY(make_node(&node, &kernels, graph, params));
    WEFT_TRY(check_tensors(graph, &node, inputs));
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = add_texts(inputs + 3, graph, kernels, node.count);
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, &weft_op_kernel_attention, inputs, LENGTHS + 1, &node,
                                sizeof node);
    }
    return weft_graph_end(graph, mark, status);
}

static weft_status add_step(weft_tensor *out, weft_graph *graph, struct weft_step_call *call,
                            const struct weft_kernel_attention_node *node,
                            const weft_kernel *kernels) {
    WEFT_TRY(add_texts(call->input + WEFT_STEP_INPUTS, graph, kernels, node->count));
    return weft_add_step(out, graph, call, node->count * weft_linear_attention_state_size(call, 1),
                         node, sizeof *node);
}

weft_status weft_graph_kernel_attention_step(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                             weft_tensor k, weft_tensor v, const weft_step *step,
                                             const weft_kernel_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    struct weft_kernel_attention_node node;
    const weft_kernel *kernels = NULL;
    struct weft_step_call call = {.op = &weft_op_kernel_attention_step,
                                  .step = step,
                                  .input = {q, k, v},
                                  .lengths = params ? params->lengths : (weft_tensor){0}};
    WEFT_TRY(make_node(&node, &kernels, graph, params));
    node.causal = true;
    call.heads = node.heads;
    call.input_count = WEFT_STEP_INPUTS + node.count;
    WEFT_TRY(weft_check_step(graph, &call));
    WEFT_TRY(weft_check_epsilon(graph, call.op->name, node.epsilon));
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_step(out, graph, &call, &node, kernels));
}

/** Checks the texts and numbers of kernels that programs give. */
static weft_status check_node(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_kernel_attention_node *params = (const void *)node->params.bytes;
    bool fits = params->count >= 1 && params->count <= WEFT_MAX_KERNELS;
    for (uint32_t i = 0; i < WEFT_MAX_KERNELS && fits; i++) {
        const bool has_text = i < params->count && params->map[i] == WEFT_FEATURE_COUNT;
        fits = params->map[i] <= WEFT_FEATURE_COUNT && isfinite(params->weight[i]) &&
               weft_node_has_input(node, 3 + i) == has_text;
    }
    if (!fits) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "kernel_attention: must have 1 … %u kernels with finite weights, and a "
                         "text where a map is none of the library's",
                         WEFT_MAX_KERNELS);
    }
    return WEFT_OK;
}

static weft_status kernel_attention_infer(const weft_graph *graph, struct weft_node *node,
                                          weft_dtype *dtype, weft_shape *shape) {
    const struct weft_kernel_attention_node *params = (const void *)node->params.bytes;
    WEFT_TRY(check_node(graph, node));
    WEFT_TRY(weft_infer_qkv(dtype, shape, graph, node, params->heads, params->causal));
    return weft_check_epsilon(graph, "kernel_attention", params->epsilon);
}

/* ---- lowering ---- */

static float epsilon_of(const struct weft_kernel_attention_node *params, uint32_t kernel) {
    bool may_change_sign =
        params->map[kernel] == WEFT_FEATURE_TANH || params->map[kernel] == WEFT_FEATURE_COUNT;
    float epsilon = params->epsilon;
    if (epsilon == 0.0F && may_change_sign) {
        epsilon = SIGNED_MAP_EPSILON;
    }
    return epsilon < WEFT_LEAST_DENOMINATOR ? WEFT_LEAST_DENOMINATOR : epsilon;
}

/** Features of a value in a scratch storage of their own; text: the graph's value of a map of the caller's. */
static uint32_t lower_features(struct weft_lowering *lowering, const struct weft_node *node,
                               uint32_t input, uint32_t kernel, uint32_t text) {
    const struct weft_kernel_attention_node *params = (const void *)node->params.bytes;
    uint32_t x = weft_lower_value(lowering, node->input[input]);
    uint64_t count = weft_shape_elements(*weft_node_shape(lowering->graph, node, input));
    uint32_t features = weft_lower_scratch(lowering, count * sizeof(float));
    weft_lower_feature_map(lowering, features, x, count, (weft_feature_map)params->map[kernel],
                           text);
    return features;
}

/** Both ops: the state of a step holds those of the kernels, one behind the other. */
static weft_status kernel_attention_lower(struct weft_lowering *lowering,
                                          const struct weft_node *node) {
    const struct weft_kernel_attention_node *params = (const void *)node->params.bytes;
    const uint32_t channels = weft_node_shape(lowering->graph, node, 0)->dim[2];
    struct weft_linear_attention attention = weft_linear_attention_of(
        lowering, node, params->heads, channels / params->heads, params->causal);
    const uint32_t first_text = attention.has_state ? WEFT_STEP_INPUTS : 3;
    for (uint32_t i = 0; i < params->count; i++) {
        const uint32_t text = node->input[first_text + i];
        attention.q = lower_features(lowering, node, 0, i, text);
        attention.k = node->input[0] == node->input[1] ? attention.q
                                                       : lower_features(lowering, node, 1, i, text);
        attention.offset = attention.stride / params->count * i;
        attention.epsilon = epsilon_of(params, i);
        attention.weight = params->weight[i];
        attention.accumulate = i > 0;
        weft_lower_linear_attention(lowering, &attention);
    }
    return weft_lower_status(lowering);
}

static void kernel_attention_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_kernel_attention_node *params = (const void *)node->params.bytes;
    int used = snprintf(text, size, "[%u heads%s", params->heads, params->causal ? ", causal" : "");
    for (uint32_t i = 0; i < params->count && used >= 0 && (size_t)used < size; i++) {
        const char *name = params->map[i] == WEFT_FEATURE_COUNT
                               ? "glsl"
                               : weft_feature_map_name((weft_feature_map)params->map[i]);
        used +=
            snprintf(text + used, size - (size_t)used, ", %g %s", (double)params->weight[i], name);
    }
    if (used >= 0 && (size_t)used < size) {
        snprintf(text + used, size - (size_t)used, "]");
    }
}

static const struct weft_member kernel_attention_fields[] = {
    WEFT_FIELD(weft_kernel_attention_node, heads, COUNT),
    WEFT_FIELD(weft_kernel_attention_node, causal, BOOL),
    WEFT_FIELD(weft_kernel_attention_node, epsilon, F32),
    {"maps", WEFT_MEMBER_WORD, WEFT_MEMBER_AT(weft_kernel_attention_node, map),
     .capacity = WEFT_MAX_KERNELS, .counted_at = offsetof(struct weft_kernel_attention_node, count),
     .words = weft_feature_map_words, .word_count = WEFT_FEATURE_COUNT},
    {"weights", WEFT_MEMBER_F32, WEFT_MEMBER_AT(weft_kernel_attention_node, weight),
     .capacity = WEFT_MAX_KERNELS,
     .counted_at = offsetof(struct weft_kernel_attention_node, count)},
    {.name = NULL}};

const struct weft_op weft_op_kernel_attention = {
    .name = "kernel_attention",
    .min_inputs = 3,
    .max_inputs = LENGTHS + 1,
    .lengths = {{.input = LENGTHS, .of = 1}},
    .params_size = sizeof(struct weft_kernel_attention_node),
    .fields = kernel_attention_fields,
    .infer = kernel_attention_infer,
    .describe = kernel_attention_describe,
    .cuts = WEFT_CUTS({.inputs = 7 | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "chunks", .lower = kernel_attention_lower}),
};

const struct weft_op weft_op_kernel_attention_step = {
    .name = "kernel_attention_step",
    .min_inputs = WEFT_STEP_INPUTS,
    .max_inputs = WEFT_STEP_INPUTS + WEFT_MAX_KERNELS,
    .params_size = sizeof(struct weft_kernel_attention_node),
    .fields = kernel_attention_fields,
    .state_input = WEFT_STEP_STATE,
    .infer = weft_step_infer,
    .describe = kernel_attention_describe,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = kernel_attention_lower}),
};

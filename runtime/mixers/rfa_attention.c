/* SPDX-License-Identifier: MIT */
/* Random feature attention with the Gaussian kernel, as ops that are there already. */
#include <weft/mixers.h>

#include "core/given.h"
#include "core/host.h"
#include "core/shape.h"
#include "core/try.h"
#include "graph/graph.h"
#include "mixers/qkv.h"

#define USUAL_EPSILON 1e-6F
#define LEAST_LENGTH  1e-12F /* of a query or key: a shorter one is not made longer than 1 */

/** Sizes of q, k, v and w that the ops need. */
struct rfa {
    weft_tensor tensor[3]; /* q, k, v */
    weft_tensor w;
    weft_shape shape[3];
    uint32_t heads;
    bool causal;
    float epsilon;
    weft_tensor lengths;
};

static weft_status check_w(const weft_graph *graph, const struct rfa *rfa) {
    weft_dtype dtype;
    weft_shape w;
    WEFT_TRY(weft_graph_get_tensor(graph, rfa->w, &w, &dtype));
    if (dtype != WEFT_F32) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "rfa_attention: w must be f32, not %s",
                         weft_dtype_name(dtype));
    }
    const uint32_t channels = rfa->shape[0].dim[2];
    if (w.rank != 2 || w.dim[1] != channels / rfa->heads) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "rfa_attention: w %s must be [s, %u] for %u channels and %u heads",
                         weft_shape_text(w, text), channels / rfa->heads, channels, rfa->heads);
    }
    return WEFT_OK;
}

static weft_status check(const weft_graph *graph, struct rfa *rfa) {
    WEFT_TRY(weft_check_epsilon(graph, "rfa_attention", rfa->epsilon));
    WEFT_TRY(weft_check_qkv(rfa->shape, graph, "rfa_attention", rfa->tensor, rfa->causal));
    WEFT_TRY(weft_check_heads(graph, "rfa_attention", rfa->heads, rfa->shape));
    return check_w(graph, rfa);
}

/** x / ‖x‖ of each head of q or k. */
static weft_status add_unit(weft_tensor *out, weft_graph *graph, const struct rfa *rfa,
                            uint32_t input, weft_tensor one) {
    weft_shape shape = rfa->shape[input];
    weft_shape heads =
        weft_shape_of(shape.dim[0], shape.dim[1], rfa->heads, shape.dim[2] / rfa->heads);
    WEFT_TRY(weft_graph_reshape(out, graph, rfa->tensor[input], heads));
    WEFT_TRY(weft_graph_scale_norm(out, graph, *out, one, LEAST_LENGTH));
    return weft_graph_reshape(out, graph, *out, shape);
}

/** Both sides have the queries' stabilizer: besides sin and cos, features have its divisor alone. */
static weft_status add_features(weft_tensor *out, weft_graph *graph, const struct rfa *rfa,
                                uint32_t input, weft_tensor one) {
    weft_tensor unit = {0};
    WEFT_TRY(add_unit(&unit, graph, rfa, input, one));
    return weft_graph_random_features(
        out, graph, unit, rfa->w,
        weft_random_features_params(.component = WEFT_COMPONENT_TRIGONOMETRIC, .heads = rfa->heads,
                                    .stabilizer = WEFT_STABILIZER_QUERY, .scale = 1.0F));
}

static weft_status add_attention(weft_tensor *out, weft_graph *graph, struct rfa *rfa) {
    static const float gain = 1.0F; /* of the norms */
    const bool shared = rfa->tensor[0].id == rfa->tensor[1].id;
    weft_tensor one = {0};
    weft_tensor phi = {0};
    weft_tensor psi = {0};
    WEFT_TRY(check(graph, rfa));
    WEFT_TRY(weft_graph_constant(&one, graph, "one", WEFT_F32, weft_shape_of(1), &gain));
    WEFT_TRY(add_features(&phi, graph, rfa, 0, one));
    if (!shared) {
        WEFT_TRY(add_features(&psi, graph, rfa, 1, one));
    }
    return weft_graph_linear_attention(
        out, graph, phi, shared ? phi : psi, rfa->tensor[2],
        weft_linear_attention_params(.heads = rfa->heads, .causal = rfa->causal,
                                     .epsilon = rfa->epsilon > 0.0F ? rfa->epsilon : USUAL_EPSILON,
                                     .lengths = rfa->lengths));
}

weft_status weft_graph_rfa_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                     weft_tensor k, weft_tensor v, weft_tensor w,
                                     const weft_rfa_attention_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct rfa rfa = {.tensor = {q, k, v},
                      .w = w,
                      .heads = params && params->heads ? params->heads : 1,
                      .causal = params && params->causal,
                      .epsilon = params ? params->epsilon : 0.0F,
                      .lengths = params ? params->lengths : (weft_tensor){0}};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    return weft_graph_end(graph, mark, add_attention(out, graph, &rfa));
}

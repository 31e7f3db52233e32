/* SPDX-License-Identifier: MIT */
/* Random feature attention with the Gaussian kernel, as ops that are there already. */
#include <weft/mixers.h>

#include "core/host.h"
#include "core/shape.h"
#include "graph/graph.h"
#include "mixers/qkv.h"

#define USUAL_EPSILON 1e-6F
#define LEAST_LENGTH  1e-12F /* of a query or key: a shorter one is not made longer than 1 */

/** What the ops need to know of q, k, v and w. */
struct rfa {
    weft_tensor tensor[3]; /* q, k, v */
    weft_tensor w;
    weft_shape shape[3];
    uint32_t heads;
    bool causal;
    float epsilon;
};

static weft_status check_w(const weft_graph *graph, const struct rfa *rfa) {
    weft_dtype dtype;
    weft_shape w;
    const weft_status status = weft_graph_get_tensor(graph, rfa->w, &w, &dtype);
    if (status != WEFT_OK) {
        return status;
    }
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
    weft_status status = weft_check_epsilon(graph, "rfa_attention", rfa->epsilon);
    if (status == WEFT_OK) {
        status = weft_check_qkv(rfa->shape, graph, "rfa_attention", rfa->tensor, rfa->causal);
    }
    if (status == WEFT_OK) {
        status = weft_check_heads(graph, "rfa_attention", rfa->heads, rfa->shape);
    }
    return status == WEFT_OK ? check_w(graph, rfa) : status;
}

/** The gain of the norms. */
static weft_status add_one(weft_tensor *out, weft_graph *graph) {
    static const float one = 1.0F;
    weft_weight *weight = NULL;
    weft_status status =
        weft_weight_create(&weight,
                           weft_weight_params(.name = "one", .dtype = WEFT_F32,
                                              .shape = weft_shape_of(1), .data = &one),
                           &graph->host);
    if (status == WEFT_OK) {
        status = weft_graph_weight(out, graph, weight);
    }
    weft_weight_destroy(&weight);
    return status;
}

/** x / ‖x‖ of each head of q or k. */
static weft_status add_unit(weft_tensor *out, weft_graph *graph, const struct rfa *rfa,
                            uint32_t input, weft_tensor one) {
    weft_shape shape = rfa->shape[input];
    weft_shape heads =
        weft_shape_of(shape.dim[0], shape.dim[1], rfa->heads, shape.dim[2] / rfa->heads);
    weft_status status = weft_graph_reshape(out, graph, rfa->tensor[input], heads);
    if (status == WEFT_OK) {
        status = weft_graph_scale_norm(out, graph, *out, one, LEAST_LENGTH);
    }
    if (status == WEFT_OK) {
        status = weft_graph_reshape(out, graph, *out, shape);
    }
    return status;
}

/** Queries' stabilizer for both sides: what it divides by is all that the features have beside sin and cos. */
static weft_status add_features(weft_tensor *out, weft_graph *graph, const struct rfa *rfa,
                                uint32_t input, weft_tensor one) {
    weft_tensor unit = {0};
    weft_status status = add_unit(&unit, graph, rfa, input, one);
    if (status == WEFT_OK) {
        status = weft_graph_random_features(
            out, graph, unit, rfa->w,
            weft_random_features_params(.component = WEFT_COMPONENT_TRIGONOMETRIC,
                                        .heads = rfa->heads, .stabilizer = WEFT_STABILIZER_QUERY,
                                        .scale = 1.0F));
    }
    return status;
}

static weft_status add_attention(weft_tensor *out, weft_graph *graph, const struct rfa *rfa) {
    const bool shared = rfa->tensor[0].id == rfa->tensor[1].id;
    weft_tensor one = {0};
    weft_tensor phi = {0};
    weft_tensor psi = {0};
    weft_status status = add_one(&one, graph);
    if (status == WEFT_OK) {
        status = add_features(&phi, graph, rfa, 0, one);
    }
    if (status == WEFT_OK && !shared) {
        status = add_features(&psi, graph, rfa, 1, one);
    }
    if (status != WEFT_OK) {
        return status;
    }
    return weft_graph_linear_attention(
        out, graph, phi, shared ? phi : psi, rfa->tensor[2],
        weft_linear_attention_params(.heads = rfa->heads, .causal = rfa->causal,
                                     .epsilon =
                                         rfa->epsilon > 0.0F ? rfa->epsilon : USUAL_EPSILON));
}

weft_status weft_graph_rfa_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                     weft_tensor k, weft_tensor v, weft_tensor w,
                                     const weft_rfa_attention_params *params) {
    if (!out || !graph) {
        return weft_graph_missing(graph, "weft_graph_rfa_attention");
    }
    struct rfa rfa = {.tensor = {q, k, v},
                      .w = w,
                      .heads = params && params->heads ? params->heads : 1,
                      .causal = params && params->causal,
                      .epsilon = params ? params->epsilon : 0.0F};
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_status status = check(graph, &rfa);
    if (status == WEFT_OK) {
        status = add_attention(out, graph, &rfa);
    }
    return weft_graph_end(graph, mark, status);
}

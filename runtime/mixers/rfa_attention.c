/* SPDX-License-Identifier: MIT */
/* Random feature attention with the Gaussian kernel, as ops that are there already. */
#include <math.h>

#include <weft/mixers.h>

#include "core/host.h"
#include "core/shape.h"
#include "graph/graph.h"

#define USUAL_EPSILON 1e-6F
#define LEAST_LENGTH  1e-12F /* of a query or key: a shorter one is not made longer than 1 */
#define TENSORS       4

/** What the ops need to know of q, k, v and w. */
struct rfa {
    weft_tensor tensor[TENSORS]; /* q, k, v, w */
    weft_shape shape[TENSORS];
    uint32_t heads;
    bool causal;
    float epsilon;
};

static weft_status check_shapes(const weft_graph *graph, const struct rfa *rfa) {
    const weft_shape *q = &rfa->shape[0];
    const weft_shape *k = &rfa->shape[1];
    const weft_shape *v = &rfa->shape[2];
    const weft_shape *w = &rfa->shape[3];
    bool fits = q->rank == 3 && k->rank == 3 && v->rank == 3 && w->rank == 2 &&
                q->dim[0] == k->dim[0] && q->dim[2] == k->dim[2] && k->dim[0] == v->dim[0] &&
                k->dim[1] == v->dim[1];
    if (!fits || (rfa->causal && q->dim[1] != k->dim[1])) {
        char text[TENSORS][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "rfa_attention: q %s, k %s, v %s and w %s must be [B, n, d], [B, m, d], "
                         "[B, m, d_v] and [s, d/heads]%s",
                         weft_shape_text(*q, text[0]), weft_shape_text(*k, text[1]),
                         weft_shape_text(*v, text[2]), weft_shape_text(*w, text[3]),
                         rfa->causal ? " with m = n" : "");
    }
    if (q->dim[2] % rfa->heads != 0 || v->dim[2] % rfa->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "rfa_attention: %u heads do not divide %u and %u channels", rfa->heads,
                         q->dim[2], v->dim[2]);
    }
    if (w->dim[1] != q->dim[2] / rfa->heads) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "rfa_attention: w %s must be [s, %u] for %u channels and %u heads",
                         weft_shape_text(*w, text), q->dim[2] / rfa->heads, q->dim[2], rfa->heads);
    }
    return WEFT_OK;
}

static weft_status check(const weft_graph *graph, struct rfa *rfa) {
    static const char *const names[TENSORS] = {"q", "k", "v", "w"};
    for (uint32_t i = 0; i < TENSORS; i++) {
        weft_dtype dtype;
        weft_status status = weft_graph_get_tensor(graph, rfa->tensor[i], &rfa->shape[i], &dtype);
        if (status != WEFT_OK) {
            return status;
        }
        if (dtype != WEFT_F32) {
            return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                             "rfa_attention: %s must be f32, not %s", names[i],
                             weft_dtype_name(dtype));
        }
    }
    if (!(rfa->epsilon >= 0.0F) || isinf(rfa->epsilon)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "rfa_attention: epsilon %g must be at least 0 and finite",
                         (double)rfa->epsilon);
    }
    return check_shapes(graph, rfa);
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
            out, graph, unit, rfa->tensor[3],
            weft_random_features_params(.component = WEFT_COMPONENT_TRIGONOMETRIC,
                                        .heads = rfa->heads, .stabilizer = WEFT_STABILIZER_QUERY,
                                        .scale = 1.0F));
    }
    return status;
}

weft_status weft_graph_rfa_attention(weft_tensor *out, weft_graph *graph, weft_tensor q,
                                     weft_tensor k, weft_tensor v, weft_tensor w,
                                     const weft_rfa_attention_params *params) {
    if (!graph) {
        return WEFT_INVALID_ARGUMENT;
    }
    struct rfa rfa = {.tensor = {q, k, v, w},
                      .heads = params && params->heads ? params->heads : 1,
                      .causal = params && params->causal,
                      .epsilon = params ? params->epsilon : 0.0F};
    weft_tensor one = {0};
    weft_tensor phi = {0};
    weft_tensor psi = {0};
    weft_status status = check(graph, &rfa);
    if (status == WEFT_OK) {
        status = add_one(&one, graph);
    }
    if (status == WEFT_OK) {
        status = add_features(&phi, graph, &rfa, 0, one);
    }
    if (status == WEFT_OK && q.id != k.id) {
        status = add_features(&psi, graph, &rfa, 1, one);
    }
    if (status != WEFT_OK) {
        return status;
    }
    float epsilon = rfa.epsilon > 0.0F ? rfa.epsilon : USUAL_EPSILON;
    return weft_graph_linear_attention(
        out, graph, phi, q.id != k.id ? psi : phi, v,
        weft_linear_attention_params(.heads = rfa.heads, .causal = rfa.causal, .epsilon = epsilon));
}

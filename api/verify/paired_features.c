/* SPDX-License-Identifier: MIT */
#include "verify/paired.h"

#include <math.h>

static uint32_t heads_of(uint32_t heads) {
    return heads != 0 ? heads : 1;
}

/* Features shared by the three ops; `x` is of one sequence. */
static weft_reference_random_features features_of(weft_array x, weft_array w, uint32_t heads,
                                                  weft_stabilizer stabilizer, float scale) {
    return (weft_reference_random_features){.x = x.value,
                                            .n = x.shape.dim[1],
                                            .heads = heads_of(heads),
                                            .width = w.shape.dim[1],
                                            .w = w.value,
                                            .count = w.shape.dim[0],
                                            .stabilizer = stabilizer,
                                            .scale = (double)scale};
}

static uint64_t sequence_of(weft_shape shape) {
    return (uint64_t)shape.dim[1] * shape.dim[2];
}

static uint32_t growth_of(const weft_reference_random_features *p) {
    if (p->family == WEFT_REFERENCE_HYBRID) {
        return 3 * (1 + p->direction_count);
    }
    const bool waves = p->component == WEFT_COMPONENT_TRIGONOMETRIC ||
                       (p->component == WEFT_COMPONENT_GENERALIZED && p->s < 0);
    const bool pairs = waves || p->component == WEFT_COMPONENT_HYPERBOLIC;
    return p->family == WEFT_REFERENCE_RANDOM && pairs ? 2 : 1;
}

/* The features of each sequence of x: their maps, and unless the case has rows their elements. */
static weft_array expand(weft_case *c, weft_status status, weft_tensor tensor, weft_array x,
                         const weft_reference_random_features *params) {
    const uint32_t batch = x.shape.dim[0];
    weft_reference_random_features own = *params;
    const weft_shape shape = weft_shape_of(batch, own.n, own.heads * own.count * growth_of(params));
    weft_reference_features *maps =
        c->only_graph || c->only_ops ? NULL : weft_reference_memory(&c->ref, batch, sizeof *maps);
    for (uint64_t b = 0; maps && b < batch; b++) {
        own.x = params->x + b * own.n * own.heads * own.width;
        if (params->other) {
            own.other = params->other + b * own.m * own.heads * own.width;
        }
        maps[b] = weft_reference_feature_map(&c->ref, &own);
    }
    if (c->only_graph || c->rows.count > 0) {
        weft_case_check(c, status);
        return (weft_array){.tensor = tensor, .shape = shape, .features = maps};
    }
    double *out;
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    const weft_rows all = weft_reference_all(&c->ref, own.n);
    for (uint64_t b = 0; maps && out && b < batch; b++) {
        weft_reference_write_features(&c->ref, out + b * sequence_of(shape), all, own.heads,
                                      &maps[b]);
    }
    return y;
}

weft_array weft_case_random_features(weft_case *c, weft_array x, weft_array w,
                                     const weft_random_features_params *params) {
    weft_reference_random_features own =
        features_of(x, w, params->heads, params->stabilizer, params->scale);
    const weft_array other = weft_case_find(c, params->other);
    own.coefficients = weft_case_find(c, params->coefficients).value;
    own.component = params->component;
    own.epsilon = (double)params->epsilon;
    own.other = other.value;
    own.m = other.shape.dim[1];
    own.a = (double)params->a;
    own.s = params->s;
    weft_tensor tensor = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_random_features(&tensor, c->graph, x.tensor, w.tensor, params));
    return expand(c, status, tensor, x, &own);
}

weft_array weft_case_discrete_features(weft_case *c, weft_array x, weft_array w,
                                       weft_array coefficients,
                                       const weft_discrete_features_params *params) {
    weft_reference_random_features own =
        features_of(x, w, params->heads, params->stabilizer, params->scale);
    own.family = WEFT_REFERENCE_DISCRETE;
    own.coefficients = coefficients.value;
    weft_tensor tensor = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_discrete_features(&tensor, c->graph, x.tensor, w.tensor,
                                                      coefficients.tensor, params));
    return expand(c, status, tensor, x, &own);
}

weft_array weft_case_hybrid_features(weft_case *c, weft_array x, weft_array w,
                                     weft_array directions,
                                     const weft_hybrid_features_params *params) {
    weft_reference_random_features own =
        features_of(x, w, params->heads, params->stabilizer, params->scale);
    own.family = WEFT_REFERENCE_HYBRID;
    own.coefficients = weft_case_find(c, params->coefficients).value;
    own.directions = directions.value;
    own.direction_count = directions.shape.dim[0];
    own.keys = params->keys;
    weft_tensor tensor = {0};
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_hybrid_features(&tensor, c->graph, x.tensor, w.tensor,
                                                    directions.tensor, params));
    return expand(c, status, tensor, x, &own);
}

weft_array weft_case_balance_channels(weft_case *c, weft_array x, weft_array other) {
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_balance_channels(&tensor, c->graph, x.tensor, other.tensor));
    weft_array y = weft_case_made(c, status, tensor, x.shape, false, &out);
    for (uint64_t b = 0; out && b < x.shape.dim[0]; b++) {
        const uint64_t at = b * sequence_of(x.shape);
        const double *balanced = weft_reference_balance(&c->ref, x.value + at, x.shape.dim[1],
                                                        other.value + b * sequence_of(other.shape),
                                                        other.shape.dim[1], x.shape.dim[2]);
        for (uint64_t i = 0; balanced && i < sequence_of(x.shape); i++) {
            out[at + i] = balanced[i];
        }
    }
    return y;
}

weft_array weft_case_flt_features(weft_case *c, weft_array x, weft_array frequencies,
                                  weft_array weights, const weft_flt_features_params *params) {
    const weft_array positions = weft_case_find(c, params->positions);
    const uint32_t rank = frequencies.shape.rank;
    const uint32_t heads = heads_of(params->heads);
    weft_reference_flt_params own = {.side = params->side,
                                     .n = x.shape.dim[1],
                                     .heads = heads,
                                     .width = x.shape.dim[2] / heads,
                                     .r = frequencies.shape.dim[rank - 2],
                                     .l = frequencies.shape.dim[rank - 1],
                                     .frequencies = frequencies.value,
                                     .weights = weights.value,
                                     .phases = weft_case_find(c, params->phases).value,
                                     .own_frequencies = rank == 3,
                                     .own_weights = weights.shape.rank == 2,
                                     .scale = (double)params->scale};
    const weft_shape shape = weft_shape_of(x.shape.dim[0], own.n, heads * (own.width + 2 * own.r));
    weft_tensor tensor = {0};
    double *out;
    const weft_status status =
        WEFT_CASE_ADD(c, weft_graph_flt_features(&tensor, c->graph, x.tensor, frequencies.tensor,
                                                 weights.tensor, params));
    weft_array y = weft_case_made(c, status, tensor, shape, false, &out);
    for (uint64_t b = 0; out && b < x.shape.dim[0]; b++) {
        const uint64_t sequence = positions.shape.rank == 3 ? b * own.n * own.l : 0;
        own.x = x.value + b * sequence_of(x.shape);
        own.positions = positions.value ? positions.value + sequence : NULL;
        weft_reference_flt(&c->ref, out + b * sequence_of(shape), &own);
    }
    return y;
}

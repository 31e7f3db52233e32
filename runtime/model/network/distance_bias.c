/* SPDX-License-Identifier: MIT */
/* Biases of scores by the kind of a distance, as T5 has them and MPNet. */
#include <math.h>

#include "core/math/portable_math.h"
#include "graph/graph.h"
#include "model/network/family.h"
#include "model/network/network.h"

/*
 * Half of the kinds of a side are exact distances, and the others grow by one factor up to `farthest`. transformers takes the
 * logarithms in float32; at whole powers, the only close ones, both have the greater kind.
 */
uint32_t weft_distance_kind(uint32_t distance, uint32_t kinds, uint32_t farthest) {
    const uint32_t exact = kinds / 2;
    if (distance < exact) {
        return distance;
    }
    const double grown =
        weft_portable_log((double)distance / exact) / weft_portable_log((double)farthest / exact);
    const double far = exact + floor(grown * (kinds - exact) + 1e-6);
    return far < kinds - 1.0 ? (uint32_t)far : kinds - 1;
}

/* Half of the kinds are those of keys behind the query. */
static uint32_t kind_of(const weft_attention_form *form, uint32_t query, uint32_t key) {
    const uint32_t half = form->distance_kinds / 2;
    const uint32_t distance = query > key ? query - key : key - query;
    return weft_distance_kind(distance, half, form->farthest) + (key > query ? half : 0);
}

struct kinds {
    const weft_attention_form *form;
    uint32_t n;
};

/* Element (i, j) of [n, n]. */
static int32_t kind_at(const void *user, uint64_t index) {
    const struct kinds *kinds = user;
    return (int32_t)kind_of(kinds->form, (uint32_t)(index / kinds->n),
                            (uint32_t)(index % kinds->n));
}

/* The table of all layers has no scope. */
static weft_tensor table(struct weft_builder *builder) {
    const weft_attention_form *form = &builder->network->config.attention;
    const weft_shape shape = weft_shape_of(form->distance_rows, form->heads);
    if (form->distances_of_layers) {
        return weft_build_weight(builder, "distances.weight", shape);
    }
    const struct weft_scope scope = weft_build_outside(builder);
    weft_tensor out = weft_build_weight(builder, "distances.weight", shape);
    weft_build_inside(builder, &scope);
    return out;
}

weft_tensor weft_build_distances(struct weft_builder *builder) {
    if (builder->status != WEFT_OK ||
        (builder->score_bias.id != 0 && !builder->network->config.attention.distances_of_layers)) {
        return builder->score_bias;
    }
    const uint32_t n = builder->length;
    const struct kinds kinds = {&builder->network->config.attention, n};
    const weft_embedding_params params = {
        .tokens = weft_build_indices(builder, "distances", weft_shape_of(n, n), kind_at, &kinds),
        .table = table(builder)};
    weft_tensor rows = {0};
    rows = WEFT_BUILT(builder, rows, weft_graph_embedding(&rows, builder->graph, &params));
    builder->score_bias = weft_build_permute(builder, rows, weft_shape_of(2, 0, 1));
    return builder->score_bias;
}

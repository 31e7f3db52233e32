/* SPDX-License-Identifier: MIT */
/* Biases of scores by the kind of a distance, as T5 has them and MPNet. */
#include <math.h>
#include <string.h>

#include <weft/movement.h>

#include "core/math/portable_math.h"
#include "graph/graph.h"
#include "model/network/family.h"
#include "model/network/network.h"

/*
 * Half of the kinds are those of keys behind the query. Of each half, half are exact distances, and the others grow by one factor up to
 * `farthest`. transformers takes the logarithms in float32; at whole powers, the only close ones, both have the greater kind.
 */
static int32_t kind_of(const weft_attention_form *form, uint32_t query, uint32_t key) {
    const uint32_t half = form->distance_kinds / 2;
    const uint32_t exact = half / 2;
    const uint32_t distance = query > key ? query - key : key - query;
    uint32_t kind = distance;
    if (distance >= exact) {
        const double grown = weft_portable_log((double)distance / exact) /
                             weft_portable_log((double)form->farthest / exact);
        const double far = exact + floor(grown * (half - exact) + 1e-6);
        kind = far < half - 1.0 ? (uint32_t)far : half - 1;
    }
    return (int32_t)(kind + (key > query ? half : 0));
}

/* i32 [n, n], a weight of the graph alone. */
static weft_tensor kinds(struct weft_builder *builder) {
    const uint32_t n = builder->length;
    weft_weight *weight = NULL;
    weft_tensor out = {0};
    if (builder->status == WEFT_OK) {
        builder->status =
            weft_weight_create_empty(&weight,
                                     weft_weight_params(.name = "distances", .dtype = WEFT_I32,
                                                        .shape = weft_shape_of(n, n)),
                                     builder->host);
    }
    int32_t *data = weight ? weight->owned : NULL;
    for (size_t i = 0; data && i < (size_t)n * n; i++) {
        data[i] =
            kind_of(&builder->network->config.attention, (uint32_t)(i / n), (uint32_t)(i % n));
    }
    out = WEFT_BUILT(builder, out, weft_graph_weight(&out, builder->graph, weight));
    weft_weight_destroy(&weight);
    return out;
}

/* The table of all layers has no scope. */
static weft_tensor table(struct weft_builder *builder) {
    const weft_attention_form *form = &builder->network->config.attention;
    const weft_shape shape = weft_shape_of(form->distance_rows, form->heads);
    if (form->distances_of_layers) {
        return weft_build_weight(builder, "distances.weight", shape);
    }
    char scope[WEFT_SCOPE_SIZE];
    memcpy(scope, builder->scope, sizeof scope);
    builder->scope[0] = '\0';
    weft_tensor out = weft_build_weight(builder, "distances.weight", shape);
    memcpy(builder->scope, scope, sizeof scope);
    return out;
}

weft_tensor weft_build_distances(struct weft_builder *builder) {
    if (builder->status != WEFT_OK ||
        (builder->score_bias.id != 0 && !builder->network->config.attention.distances_of_layers)) {
        return builder->score_bias;
    }
    const weft_embedding_params params = {.tokens = kinds(builder), .table = table(builder)};
    weft_tensor rows = {0};
    rows = WEFT_BUILT(builder, rows, weft_graph_embedding(&rows, builder->graph, &params));
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out,
                     weft_graph_permute(&out, builder->graph, rows, weft_shape_of(2, 0, 1)));
    builder->score_bias = out;
    return out;
}

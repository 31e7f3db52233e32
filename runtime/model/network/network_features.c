/* SPDX-License-Identifier: MIT */
/* Random features of queries and keys, as families build them. */
#include "model/network/architecture.h"
#include "model/network/network.h"

/* Causal features are not divided by a largest one: it would carry later tokens into earlier results. */
static weft_stabilizer stabilizer(const struct weft_builder *builder, weft_stabilizer usual) {
    return builder->network->config.causal ? WEFT_STABILIZER_NONE : usual;
}

static weft_tensor positive_features(struct weft_builder *builder, weft_tensor x, weft_tensor w,
                                     const weft_random_features_params *params) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out, weft_graph_random_features(&out, builder->graph, x, w, params));
}

struct weft_qkv weft_build_positive_features(struct weft_builder *builder,
                                             const struct weft_qkv *qkv, weft_tensor w,
                                             uint32_t heads, float scale, float epsilon) {
    weft_random_features_params params = {.component = WEFT_COMPONENT_POSITIVE,
                                          .heads = heads,
                                          .scale = scale,
                                          .epsilon = epsilon,
                                          .stabilizer = stabilizer(builder, WEFT_STABILIZER_QUERY)};
    struct weft_qkv features = {.value = qkv->value};
    features.query = positive_features(builder, qkv->query, w, &params);
    params.stabilizer = stabilizer(builder, WEFT_STABILIZER_KEY);
    params.lengths = weft_build_lengths(builder);
    features.key = positive_features(builder, qkv->key, w, &params);
    return features;
}

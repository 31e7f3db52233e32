/* SPDX-License-Identifier: MIT */
#include "model/network/layer_outputs.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include <weft/arithmetic.h>
#include <weft/movement.h>

#include "model/network/network.h"

/* In place of hidden scores: their weight is 0 beside any other, and a row of them alone is finite. */
#define HIDDEN (-FLT_MAX)

static void add_output(struct weft_builder *builder, const char *stem, uint32_t number,
                       weft_tensor x) {
    char name[32];
    snprintf(name, sizeof name, "%s.%u", stem, number);
    if (builder->status == WEFT_OK) {
        builder->status = weft_graph_output(builder->graph, name, x);
    }
}

void weft_build_hidden_state(struct weft_builder *builder, uint32_t number, weft_tensor x) {
    if (builder->outputs && builder->outputs->hidden_states) {
        add_output(builder, "hidden_states", number, x);
    }
}

/* ---- attention maps ---- */

struct band {
    uint32_t n, half_width;
    bool causal;
};

/* Element (i, j) of [n, n]. */
static float hide_outside(const void *user, uint64_t index) {
    const struct band *band = user;
    const uint64_t i = index / band->n;
    const uint64_t j = index % band->n;
    const uint64_t distance = i < j ? j - i : i - j;
    return distance > band->half_width || (band->causal && j > i) ? HIDDEN : 0.0F;
}

static float index_of(const void *user, uint64_t index) {
    (void)user;
    return (float)index; /* exact: n is at most 2^24 */
}

static float hidden(const void *user, uint64_t index) {
    (void)user;
    (void)index;
    return HIDDEN;
}

/* [B, n, heads · size] → [B, heads, n, size]. */
static weft_tensor part_heads(struct weft_builder *builder, weft_tensor x, uint32_t heads,
                              uint32_t size) {
    weft_tensor out = {0};
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, builder->length, heads, size));
    return WEFT_BUILT(builder, out,
                      weft_graph_permute(&out, builder->graph, x, weft_shape_of(0, 2, 1, 3)));
}

/* q kᵀ/√size [B, heads, n, n]. The queries of a group of heads are rows of one product with their keys. */
static weft_tensor scores(struct weft_builder *builder, const struct weft_qkv *qkv, uint32_t heads,
                          uint32_t size) {
    const uint32_t batch = builder->batch;
    const uint32_t n = builder->length;
    const uint32_t groups = qkv->kv_heads != 0 ? qkv->kv_heads : heads;
    weft_tensor q = part_heads(builder, qkv->query, heads, size);
    weft_tensor k = part_heads(builder, qkv->key, groups, size);
    q = weft_build_reshape(builder, q, weft_shape_of(batch, groups, heads / groups * n, size));
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out,
                     weft_graph_matmul(&out, builder->graph, q, k,
                                       weft_matmul_params(.transpose_b = true,
                                                          .alpha = (float)(1.0 / sqrt(size)))));
    return weft_build_reshape(builder, out, weft_shape_of(batch, heads, n, n));
}

/* Scores of keys behind the lengths are hidden. */
static weft_tensor hide_padding(struct weft_builder *builder, weft_tensor x) {
    const weft_tensor lengths = weft_build_lengths(builder);
    if (lengths.id == 0) {
        return x;
    }
    weft_tensor keys =
        weft_build_filled(builder, "keys", weft_shape_of(builder->length), index_of, NULL);
    weft_tensor fill = weft_build_filled(builder, "hidden", weft_shape_of(1), hidden, NULL);
    weft_tensor ends = {0};
    weft_tensor out = {0};
    ends = WEFT_BUILT(builder, ends, weft_graph_convert(&ends, builder->graph, lengths, WEFT_F32));
    ends = weft_build_reshape(builder, ends, weft_shape_of(builder->batch, 1, 1, 1));
    weft_tensor counts = weft_build_binary(builder, WEFT_BINARY_LESS, keys, ends);
    return WEFT_BUILT(builder, out, weft_graph_where(&out, builder->graph, counts, x, fill));
}

void weft_build_attention_map(struct weft_builder *builder, const struct weft_qkv *qkv,
                              uint32_t heads, uint32_t half_width) {
    if (!builder->outputs || !builder->outputs->attentions || builder->status != WEFT_OK) {
        return;
    }
    const struct band band = {
        .n = builder->length, .half_width = half_width, .causal = builder->network->config.causal};
    weft_shape query = {.rank = 0};
    builder->status = weft_graph_get_tensor(builder->graph, qkv->query, &query, NULL);
    weft_tensor x = scores(builder, qkv, heads, query.dim[2] / heads);
    if (qkv->bias.id != 0) {
        x = weft_build_binary(builder, WEFT_BINARY_ADD, x, qkv->bias);
    }
    if (band.causal || band.half_width < band.n - 1) {
        weft_tensor outside = weft_build_filled(builder, "outside", weft_shape_of(band.n, band.n),
                                                hide_outside, &band);
        x = weft_build_binary(builder, WEFT_BINARY_ADD, x, outside);
    }
    x = hide_padding(builder, x);
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out, weft_graph_softmax(&out, builder->graph, x));
    add_output(builder, "attentions", builder->layer, out);
    builder->outputs->maps++;
}

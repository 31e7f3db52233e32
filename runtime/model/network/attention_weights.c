/* SPDX-License-Identifier: MIT */
#include "model/network/attention_weights.h"

#include <float.h>
#include <math.h>

#include <weft/arithmetic.h>
#include <weft/movement.h>

#include "core/math/portable_math.h"
#include "model/network/network.h"

/* In place of hidden scores: their weight is 0 beside any other, and a row of them alone is finite. */
#define HIDDEN (-FLT_MAX)

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
    x = weft_build_reshape(builder, x, weft_shape_of(builder->batch, builder->length, heads, size));
    return weft_build_permute(builder, x, weft_shape_of(0, 2, 1, 3));
}

/* scale · q kᵀ, capped, [B, heads, n, n]. The queries of a group of heads are rows of one product with their keys. */
static weft_tensor scores(struct weft_builder *builder, const struct weft_qkv *qkv, uint32_t heads,
                          uint32_t size) {
    const uint32_t batch = builder->batch;
    const uint32_t n = builder->length;
    const uint32_t groups = qkv->kv_heads != 0 ? qkv->kv_heads : heads;
    weft_tensor q = part_heads(builder, qkv->query, heads, size);
    weft_tensor k = part_heads(builder, qkv->key, groups, size);
    q = weft_build_reshape(builder, q, weft_shape_of(batch, groups, heads / groups * n, size));
    const float scale = qkv->scale != 0 ? qkv->scale : (float)(1.0 / sqrt(size));
    weft_tensor out = {0};
    out = WEFT_BUILT(builder, out,
                     weft_graph_matmul(&out, builder->graph, q, k,
                                       weft_matmul_params(.transpose_b = true, .alpha = scale)));
    out = weft_build_cap(builder, out, qkv->cap);
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

/* Softmax of [B, heads, n, n] with a score more for each head, whose weight is left out. */
static weft_tensor softmax_beside(struct weft_builder *builder, weft_tensor x, weft_tensor sinks,
                                  uint32_t heads) {
    const uint32_t n = builder->length;
    weft_tensor parts[] = {x, weft_build_reshape(builder, sinks, weft_shape_of(1, heads, 1, 1))};
    weft_tensor out = {0};
    parts[1] = WEFT_BUILT(builder, parts[1],
                          weft_graph_expand(&parts[1], builder->graph, parts[1],
                                            weft_shape_of(builder->batch, heads, n, 1)));
    out = WEFT_BUILT(builder, out, weft_graph_concat(&out, builder->graph, parts, 2, 3));
    out = WEFT_BUILT(builder, out, weft_graph_softmax(&out, builder->graph, out));
    return WEFT_BUILT(builder, out, weft_graph_slice(&out, builder->graph, out, 3, 0, n, 1));
}

weft_tensor weft_build_attention_weights(struct weft_builder *builder, const struct weft_qkv *qkv,
                                         uint32_t heads, uint32_t half_width) {
    const struct band band = {
        .n = builder->length, .half_width = half_width, .causal = builder->network->config.causal};
    weft_shape query = {.rank = 0};
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
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
    return qkv->sinks.id != 0
               ? softmax_beside(builder, x, qkv->sinks, heads)
               : WEFT_BUILT(builder, out, weft_graph_softmax(&out, builder->graph, x));
}

weft_tensor weft_build_capped_attention(struct weft_builder *builder, const struct weft_qkv *qkv,
                                        uint32_t heads, uint32_t half_width) {
    const uint32_t batch = builder->batch, n = builder->length;
    const uint32_t groups = qkv->kv_heads != 0 ? qkv->kv_heads : heads;
    weft_tensor weights = weft_build_attention_weights(builder, qkv, heads, half_width);
    weft_shape value = {.rank = 0};
    weft_tensor out = {0};
    if (builder->status != WEFT_OK) {
        return out;
    }
    builder->status = weft_graph_get_tensor(builder->graph, qkv->value, &value, NULL);
    const uint32_t size = value.dim[2] / groups;
    weights =
        weft_build_reshape(builder, weights, weft_shape_of(batch, groups, heads / groups * n, n));
    weft_tensor v = part_heads(builder, qkv->value, groups, size);
    out = WEFT_BUILT(builder, out, weft_graph_matmul(&out, builder->graph, weights, v, NULL));
    out = weft_build_reshape(builder, out, weft_shape_of(batch, heads, n, size));
    out = weft_build_permute(builder, out, weft_shape_of(0, 2, 1, 3));
    return weft_build_reshape(builder, out, weft_shape_of(batch, n, heads * size));
}

/* ---- slopes ---- */

struct slopes {
    uint32_t heads, n;
};

/* 2^(-8 (h+1) / heads); where heads is no power of two, that of the next lower one, then every other one of the next higher. */
static double slope_of(uint32_t head, uint32_t heads) {
    uint32_t lower = 1;
    while (lower * 2 <= heads) {
        lower *= 2;
    }
    const double exponent =
        head < lower ? 8.0 * (head + 1) / lower : 4.0 * (2 * (head - lower) + 1) / lower;
    return weft_portable_exp(-exponent * 0.69314718055994530942);
}

static float falling(const void *user, uint64_t index) {
    const struct slopes *slopes = user;
    const uint64_t i = index / slopes->n % slopes->n;
    const uint64_t j = index % slopes->n;
    const uint32_t head = (uint32_t)(index / slopes->n / slopes->n);
    const double distance = i > j ? (double)(i - j) : (double)(j - i);
    return (float)(-slope_of(head, slopes->heads) * distance);
}

weft_tensor weft_build_slopes(struct weft_builder *builder, uint32_t heads) {
    if (builder->score_bias.id == 0 && builder->status == WEFT_OK) {
        const struct slopes slopes = {.heads = heads, .n = builder->length};
        builder->score_bias = weft_build_filled(
            builder, "slopes", weft_shape_of(heads, slopes.n, slopes.n), falling, &slopes);
    }
    return builder->score_bias;
}

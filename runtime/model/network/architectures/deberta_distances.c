/* SPDX-License-Identifier: MIT */
/* Parts of DeBERTa's scores: products with a table of distances, whose columns are moved to their tokens. */
#include <math.h>

#include <weft/movement.h>

#include "core/math/portable_math.h"
#include "model/network/architectures/deberta.h"
#include "model/network/network.h"

struct distances {
    const struct weft_deberta *deberta;
    uint32_t n;
    bool falling; /* element 0 is of the distance n - 1, otherwise of 1 - n */
};

/*
 * Half of the buckets are exact on either side, the others grow by one factor. transformers computes the logarithms in float32, and where
 * one is a whole number its roundings say which bucket it is: here are the same ones.
 */
static int32_t bucket_of(const struct weft_deberta *deberta, int32_t distance) {
    const int32_t middle = (int32_t)(deberta->buckets / 2);
    const int32_t size = distance < 0 ? -distance : distance;
    if (middle == 0 || size <= middle) {
        return distance;
    }
    const float far = (float)(((double)deberta->farthest - 1) / middle);
    const float grown = (float)weft_portable_log((double)((float)size / (float)middle));
    const float share = grown / (float)weft_portable_log((double)far);
    const double steps = ceil((double)(share * (float)(middle - 1)));
    const double most = 2.0 * deberta->span; /* what is beyond the table is cut to it anyway */
    const int32_t bucket = (int32_t)(steps < most ? steps : most) + middle;
    return distance < 0 ? -bucket : bucket;
}

/* Row of the table for each of the 2n - 1 distances. */
static int32_t row_of(const void *user, uint64_t index) {
    const struct distances *distances = user;
    const int32_t rising = (int32_t)index - (int32_t)(distances->n - 1);
    const int32_t span = (int32_t)distances->deberta->span;
    const int32_t row = bucket_of(distances->deberta, distances->falling ? -rising : rising) + span;
    return row < 0 ? 0 : row < 2 * span ? row : 2 * span - 1;
}

static weft_tensor rows(struct weft_builder *builder, const struct weft_deberta *deberta,
                        enum weft_deberta_term term) {
    const struct distances distances = {
        .deberta = deberta, .n = builder->length, .falling = term == WEFT_CONTENT_TO_POSITION};
    return weft_build_indices(builder, "distances", weft_shape_of(2 * builder->length - 1), row_of,
                              &distances);
}

static weft_tensor take(struct weft_builder *builder, weft_tensor x, weft_tensor indices,
                        uint32_t axis) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out, weft_graph_take(&out, builder->graph, x, indices, axis));
}

/* True if a graph has fewer distances than the table has rows: then only their rows are multiplied. */
static bool takes_rows(const struct weft_builder *builder, const struct weft_deberta *deberta) {
    return builder->length <= deberta->span;
}

/* The table of all layers, or its rows for the distances in their order. */
static weft_tensor distance_rows(struct weft_builder *builder, const struct weft_deberta *deberta,
                                 enum weft_deberta_term term) {
    const uint32_t d = builder->width;
    if (builder->distance_rows[term].id != 0 || builder->status != WEFT_OK) {
        return builder->distance_rows[term];
    }
    const struct weft_scope scope = weft_build_outside(builder);
    weft_tensor table =
        weft_build_weight(builder, "distances.weight", weft_shape_of(2 * deberta->span, d));
    if (deberta->table_norm != 0) {
        table = weft_build_norm(builder, table, "distances_norm", d);
    }
    weft_build_inside(builder, &scope);
    builder->distance_rows[term] = takes_rows(builder, deberta)
                                       ? take(builder, table, rows(builder, deberta, term), 0)
                                       : table;
    return builder->distance_rows[term];
}

static weft_tensor slice(struct weft_builder *builder, weft_tensor x, uint32_t axis, uint32_t start,
                         uint32_t count) {
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out,
                      weft_graph_slice(&out, builder->graph, x, axis, start, count, 1));
}

/* [rows, heads · size] → [heads, rows, size]. */
static weft_tensor part_heads(struct weft_builder *builder, weft_tensor x, uint32_t count,
                              uint32_t heads) {
    x = weft_build_reshape(builder, x, weft_shape_of(count, heads, builder->width / heads));
    return weft_build_permute(builder, x, weft_shape_of(1, 0, 2));
}

/* [heads, B n, 2n - 1], where row i has n columns from n - 1 - i on: these, [heads, B, n, n]. */
static weft_tensor align(struct weft_builder *builder, weft_tensor x, uint32_t heads) {
    const uint32_t n = builder->length, rows_of_all = heads * builder->batch;
    if (n > 1) { /* in memory row i + 1 begins 2n - 2 elements behind row i */
        x = weft_build_reshape(builder, x, weft_shape_of(rows_of_all, n * (2 * n - 1)));
        x = slice(builder, x, 1, n - 1, n * (2 * n - 2));
        x = weft_build_reshape(builder, x, weft_shape_of(rows_of_all, n, 2 * n - 2));
        x = slice(builder, x, 2, 0, n);
    }
    return weft_build_reshape(builder, x, weft_shape_of(heads, builder->batch, n, n));
}

/* Scores of tokens, which are queries or keys, with the distances to all others: [heads, B, n, n], rows of these tokens. */
static weft_tensor term_scores(struct weft_builder *builder, const struct weft_deberta *deberta,
                               enum weft_deberta_term term, const struct weft_qkv *qkv) {
    static const char *const own[] = {"position_key", "position_query"};
    static const char *const shared[] = {"key", "query"};
    const uint32_t heads = builder->network->config.attention.heads;
    const uint32_t d = builder->width, n = builder->length;
    const uint32_t count = takes_rows(builder, deberta) ? 2 * n - 1 : 2 * deberta->span;
    weft_tensor table = distance_rows(builder, deberta, term);
    table =
        weft_build_map(builder, table, deberta->shared_maps ? shared[term] : own[term], d, d, true);
    table = part_heads(builder, table, count, heads);
    weft_tensor tokens = term == WEFT_CONTENT_TO_POSITION ? qkv->query : qkv->key;
    tokens = part_heads(builder, tokens, builder->batch * n, heads);
    weft_tensor out = {0};
    out =
        WEFT_BUILT(builder, out,
                   weft_graph_matmul(&out, builder->graph, tokens, table,
                                     weft_matmul_params(.transpose_b = true, .alpha = qkv->scale)));
    if (!takes_rows(builder, deberta)) {
        out = take(builder, out, rows(builder, deberta, term), 2);
    }
    return align(builder, out, heads);
}

weft_tensor weft_deberta_scores(struct weft_builder *builder, const struct weft_deberta *deberta,
                                const struct weft_qkv *qkv) {
    weft_tensor sum = {0};
    if (weft_deberta_has(deberta, WEFT_CONTENT_TO_POSITION)) {
        sum = term_scores(builder, deberta, WEFT_CONTENT_TO_POSITION, qkv);
    }
    if (weft_deberta_has(deberta, WEFT_POSITION_TO_CONTENT)) {
        weft_tensor of_keys = term_scores(builder, deberta, WEFT_POSITION_TO_CONTENT, qkv);
        of_keys = weft_build_permute(builder, of_keys, weft_shape_of(0, 1, 3, 2));
        sum = weft_deberta_has(deberta, WEFT_CONTENT_TO_POSITION)
                  ? weft_build_binary(builder, WEFT_BINARY_ADD, sum, of_keys)
                  : of_keys;
    }
    return weft_build_permute(builder, sum, weft_shape_of(1, 0, 2, 3));
}

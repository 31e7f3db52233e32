/* SPDX-License-Identifier: MIT */
#include "mixers/feature_rows.h"

#include <math.h>

#include "core/try.h"
#include "kernels/random_features/sequence_maximum.h"
#include "ops/mask.h"
#include "ops/matmul.h"

weft_status weft_check_stabilizer(const weft_graph *graph, const struct weft_node *node,
                                  weft_stabilizer stabilizer) {
    if ((uint32_t)stabilizer >= WEFT_STABILIZER_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: stabilizer %u is not in 0 … %u",
                         node->op->name, (uint32_t)stabilizer, WEFT_STABILIZER_COUNT - 1);
    }
    return WEFT_OK;
}

weft_status weft_check_feature_rows(float *scale, const weft_graph *graph,
                                    const struct weft_node *node, uint32_t heads) {
    if (!isfinite(*scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "%s: scale %g must be finite",
                         node->op->name, (double)*scale);
    }
    WEFT_TRY(weft_expect_f32(graph, node, 0, "x"));
    const weft_shape x = *weft_node_shape(graph, node, 0);
    if (x.rank != 3) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: x must be [B, n, d], not %s",
                         node->op->name, weft_shape_text(x, text));
    }
    if (x.dim[2] % heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %u heads do not divide %u channels", node->op->name, heads, x.dim[2]);
    }
    if (*scale == 0.0F) {
        const uint32_t width = x.dim[2] / heads;
        *scale = (float)(1.0 / sqrt(sqrt((double)width)));
    }
    return WEFT_OK;
}

weft_status weft_infer_features(weft_dtype *dtype, weft_shape *shape, const weft_graph *graph,
                                const struct weft_node *node, uint32_t heads, uint64_t features) {
    if (features > UINT32_MAX / heads) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "%s: %u heads of %llu features are too many", node->op->name, heads,
                         (unsigned long long)features);
    }
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, 0);
    shape->dim[2] = (uint32_t)features * heads;
    return WEFT_OK;
}

uint32_t weft_lower_row_projection(struct weft_lowering *lowering, uint32_t x, uint64_t rows,
                                   uint32_t width, uint32_t w, uint32_t count, float alpha) {
    const uint32_t result = weft_lower_scratch(lowering, rows * count * sizeof(float));
    const struct weft_product product = {.a = {.storage = x, .row = width, .column = 1},
                                         .b = {.storage = w, .row = 1, .column = width},
                                         .c = {.storage = result, .row = count, .column = 1},
                                         .m = (uint32_t)rows,
                                         .n = count,
                                         .k = width,
                                         .batches = 1,
                                         .inner_count = 1,
                                         .alpha = alpha,
                                         .bias = WEFT_NO_STORAGE,
                                         .residual = WEFT_NO_STORAGE};
    weft_lower_product(lowering, &product);
    return result;
}

uint32_t weft_lower_sequence_maximum(struct weft_lowering *lowering, uint32_t of_rows,
                                     uint32_t lengths, const uint32_t sizes[3]) {
    const uint32_t tokens = sizes[1];
    const uint32_t heads = sizes[2];
    const uint64_t sequences = (uint64_t)sizes[0] * heads;
    if (lengths != WEFT_NO_STORAGE) {
        const struct weft_masked masked = {.x = of_rows,
                                           .result = of_rows,
                                           .lengths = lengths,
                                           .count = sequences * tokens,
                                           .batch = sizes[0],
                                           .tokens = tokens,
                                           .columns = heads,
                                           .fill = -INFINITY};
        weft_lower_mask(lowering, &masked);
    }
    const uint32_t result = weft_lower_scratch(lowering, sequences * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, random_features_sequence_maximum, weft_grid_of_groups(sequences),
                   .bind = {.x = of_rows, .result = result},
                   .push = {.rows = (uint32_t)sequences, .tokens = tokens, .heads = heads});
    dispatch->flops = (double)sequences * tokens;
    dispatch->bytes = 4.0 * (double)sequences * tokens;
    return result;
}

/* SPDX-License-Identifier: MIT */
#include "ops/strides.h"

#include "kernels/movement/strided.h"
#include "kernels/movement/strided_four.h"
#include "kernels/movement/transpose.h"
#include "lower/divisor.h"
#include "lower/window.h"

#define INNER (WEFT_MAX_RANK - 1) /* axes with an extent in the kernel: all but the outermost */

struct weft_strides weft_strides_of(weft_shape shape) {
    struct weft_strides strides = {.rank = shape.rank};
    uint32_t stride = 1;
    for (uint32_t i = shape.rank; i-- > 0; stride *= shape.dim[i]) {
        strides.extent[i] = shape.dim[i];
        strides.stride[i] = stride;
    }
    return strides;
}

struct weft_strides weft_strides_merged(struct weft_strides strides) {
    struct weft_strides merged = {.offset = strides.offset};
    for (uint32_t i = 0; i < strides.rank; i++) {
        const uint32_t last = merged.rank - 1;
        if (strides.extent[i] == 1) {
            continue;
        }
        if (merged.rank > 0 && merged.stride[last] == strides.stride[i] * strides.extent[i]) {
            merged.extent[last] *= strides.extent[i];
            merged.stride[last] = strides.stride[i];
        } else {
            merged.extent[merged.rank] = strides.extent[i];
            merged.stride[merged.rank++] = strides.stride[i];
        }
    }
    return merged;
}

bool weft_strides_are_dense(const struct weft_strides *strides, weft_shape x) {
    const struct weft_strides merged = weft_strides_merged(*strides);
    const uint64_t elements = weft_shape_elements(x);
    return merged.offset == 0 && (merged.rank == 0 ? elements == 1
                                                   : merged.rank == 1 && merged.stride[0] == 1 &&
                                                         merged.extent[0] == elements);
}

/** The axes as the kernel has them, the innermost first. */
struct axes {
    uint32_t extent[INNER], stride[INNER], outer_stride;
    struct weft_divisor divisor[INNER];
};

static struct axes axes_of(const struct weft_strides *strides) {
    struct axes axes = {.outer_stride = strides->rank > 0 ? strides->stride[0] : 0};
    for (uint32_t i = 0; i < INNER; i++) {
        const bool given = i + 1 < strides->rank;
        axes.extent[i] = given ? strides->extent[strides->rank - 1 - i] : 1;
        axes.stride[i] = given ? strides->stride[strides->rank - 1 - i] : 0;
        axes.divisor[i] = weft_divisor_of(axes.extent[i]);
    }
    return axes;
}

/** True if fours stay together. */
static bool has_fours(const struct weft_strides *strides) {
    const uint32_t last = strides->rank - 1;
    bool fours = strides->rank > 0 && strides->stride[last] == 1 &&
                 strides->extent[last] % 4 == 0 && strides->offset % 4 == 0;
    for (uint32_t i = 0; i < last && fours; i++) {
        fours = strides->stride[i] % 4 == 0;
    }
    return fours;
}

static struct weft_strides in_fours(struct weft_strides strides) {
    const uint32_t last = strides.rank - 1;
    strides.extent[last] /= 4;
    strides.offset /= 4;
    for (uint32_t i = 0; i < last; i++) {
        strides.stride[i] = (uint32_t)((int32_t)strides.stride[i] / 4); /* may be negative */
    }
    return strides;
}

/* Where a dispatch writes. */
struct target {
    uint32_t storage, count, first;
    uint32_t
        row; /* from one row of the innermost axis to the next; 0: the items are found one by one */
};

static void lower_window(struct weft_lowering *lowering, const struct weft_shader *kernel,
                         const struct weft_strides *strides, struct target result,
                         struct weft_window x) {
    const struct axes axes = axes_of(strides);
    const struct weft_divisor *divisor = axes.divisor;
    const uint32_t inner = strides->rank > 0 ? strides->extent[strides->rank - 1] : 1;
    weft_lower_kernel(
        lowering, kernel, NULL,
        result.row ? weft_grid_of_rows(result.count / inner, inner)
                   : weft_grid_of_items(result.count),
        WEFT_KERNEL_ARGS(movement_strided, .bind = {.x = x.storage, .result = result.storage},
                         .push = {.count = result.count,
                                  .first = result.first,
                                  .axes = strides->rank,
                                  .extent0 = axes.extent[0],
                                  .extent1 = axes.extent[1],
                                  .extent2 = axes.extent[2],
                                  .extent3 = axes.extent[3],
                                  .extent4 = axes.extent[4],
                                  .extent5 = axes.extent[5],
                                  .extent6 = axes.extent[6],
                                  .magic0 = divisor[0].magic,
                                  .magic1 = divisor[1].magic,
                                  .magic2 = divisor[2].magic,
                                  .magic3 = divisor[3].magic,
                                  .magic4 = divisor[4].magic,
                                  .magic5 = divisor[5].magic,
                                  .magic6 = divisor[6].magic,
                                  .shifts = weft_divisor_shifts(divisor, 6),
                                  .shift6 = divisor[6].shift,
                                  .stride0 = axes.stride[0],
                                  .stride1 = axes.stride[1],
                                  .stride2 = axes.stride[2],
                                  .stride3 = axes.stride[3],
                                  .stride4 = axes.stride[4],
                                  .stride5 = axes.stride[5],
                                  .stride6 = axes.stride[6],
                                  .outer_stride = axes.outer_stride,
                                  .offset = strides->offset - x.first,
                                  .window = x.count,
                                  .result_row = result.row},
                         .constant = {.by_rows = result.row != 0,
                                      .dense = result.row != 0 && axes.stride[0] == 1}))
        ->bytes = 8.0 * (double)result.count;
}

/* An axis alone is the outermost, too. */
static struct weft_strides in_rows(struct weft_strides strides) {
    if (strides.rank == 1) {
        strides.rank = 2;
        strides.extent[1] = strides.extent[0];
        strides.stride[1] = strides.stride[0];
        strides.extent[0] = 1;
    }
    return strides;
}

bool weft_strides_lie_in_rows(const struct weft_lowering *lowering,
                              const struct weft_strides *strides) {
    return strides->rank > 0 && weft_lower_by_rows(lowering, strides->extent[strides->rank - 1]);
}

static uint32_t elements_of(const struct weft_strides *strides) {
    uint32_t count = 1;
    for (uint32_t i = 0; i < strides->rank; i++) {
        count *= strides->extent[i];
    }
    return count;
}

void weft_lower_rows(struct weft_lowering *lowering, const struct weft_strides *strides, uint32_t x,
                     uint32_t result, uint32_t first, uint32_t row) {
    const struct weft_strides rows = in_rows(*strides);
    const struct target target = {
        .storage = result, .count = elements_of(&rows), .first = first, .row = row};
    lower_window(lowering, &weft_shader_movement_strided, &rows, target,
                 (struct weft_window){.storage = x});
}

void weft_lower_items(struct weft_lowering *lowering, const struct weft_strides *strides,
                      uint32_t x, uint32_t result) {
    lower_window(lowering, &weft_shader_movement_strided, strides,
                 (struct target){.storage = result, .count = elements_of(strides)},
                 (struct weft_window){.storage = x, .count = UINT32_MAX});
}

void weft_lower_strided(struct weft_lowering *lowering, const struct weft_node *node,
                        struct weft_strides strides) {
    const struct weft_strides merged = weft_strides_merged(strides);
    const bool fours = has_fours(&merged);
    const struct weft_strides taken = fours ? in_fours(merged) : merged;
    const struct weft_shader *kernel =
        fours ? &weft_shader_movement_strided_four : &weft_shader_movement_strided;
    const uint32_t results = weft_window_count(lowering, node->output);
    const uint32_t windows = weft_window_count(lowering, node->input[0]);
    if (results == 1 && windows == 1 && weft_strides_lie_in_rows(lowering, &merged)) {
        const struct weft_window x = weft_window_at(lowering, node->input[0], 0);
        const struct weft_window result = weft_window_at(lowering, node->output, 0);
        weft_lower_rows(lowering, &merged, x.storage, result.storage, 0,
                        merged.extent[merged.rank - 1]);
        return;
    }
    for (uint32_t r = 0; r < results; r++) {
        const struct weft_window result = weft_window_at(lowering, node->output, r);
        for (uint32_t w = 0; w < windows; w++) {
            const struct weft_window x = weft_window_at(lowering, node->input[0], w);
            const struct weft_window to = fours ? weft_window_in_fours(result) : result;
            lower_window(
                lowering, kernel, &taken,
                (struct target){.storage = to.storage, .count = to.count, .first = to.first},
                fours ? weft_window_in_fours(x) : x);
        }
    }
}

bool weft_strides_are_transposed(struct weft_matrices *matrices,
                                 const struct weft_strides *strides) {
    const struct weft_strides merged = weft_strides_merged(*strides);
    if (merged.rank < 2 || merged.rank > 3 || merged.offset != 0) {
        return false;
    }
    const uint32_t *extent = merged.extent + merged.rank - 2;
    const uint32_t *stride = merged.stride + merged.rank - 2;
    *matrices = (struct weft_matrices){
        .count = merged.rank == 3 ? merged.extent[0] : 1, .rows = extent[1], .columns = extent[0]};
    return stride[0] == 1 && stride[1] == extent[0] &&
           (merged.rank == 2 || merged.stride[0] == extent[0] * extent[1]);
}

void weft_lower_transposed(struct weft_lowering *lowering, const struct weft_node *node,
                           struct weft_matrices matrices) {
    const uint32_t tile = WEFT_MOVEMENT_TRANSPOSE_TILE;
    const uint32_t across = (matrices.columns + tile - 1) / tile;
    const uint32_t tiles = across * ((matrices.rows + tile - 1) / tile);
    const uint32_t groups = matrices.count * tiles;
    const uint32_t x = weft_lower_value(lowering, node->input[0]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, movement_transpose, weft_grid_of_groups(groups),
                   .bind = {.x = x, .result = result},
                   .push = {.groups = groups,
                            .rows = matrices.rows,
                            .columns = matrices.columns,
                            .across = across,
                            .tiles = tiles});
    dispatch->bytes = 8.0 * matrices.count * matrices.rows * matrices.columns;
}

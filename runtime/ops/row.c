/* SPDX-License-Identifier: MIT */
#include "ops/row.h"

#include "kernels/norm/layer_norm.h"
#include "kernels/norm/layer_norm_lanes.h"

uint32_t weft_rows_kept(uint32_t columns) {
    const uint32_t turns = (columns - 1) / WEFT_NORM_LAYER_NORM_LOCAL_X + 1;
    return turns <= WEFT_NORM_LAYER_NORM_MOST_KEPT ? turns : 0;
}

struct weft_row_args weft_lower_row_args(struct weft_lowering *lowering, weft_shape shape,
                                         const struct weft_epilogue *epilogue) {
    const struct weft_rows rows = weft_shape_rows(shape);
    struct weft_row_args row = {.has_residual = epilogue->residual != 0,
                                .has_norm = epilogue->gamma != 0,
                                .kept = epilogue->gamma ? weft_rows_kept(rows.columns) : 0,
                                .rows = (uint32_t)rows.rows,
                                .columns = rows.columns,
                                .epsilon = epilogue->epsilon};
    row.residual = weft_lower_optional(lowering, epilogue->residual);
    row.gamma = weft_lower_optional(lowering, epilogue->gamma);
    row.beta = weft_lower_optional(lowering, epilogue->beta);
    return row;
}

void weft_row_finish(struct weft_dispatch *dispatch, const struct weft_row_args *row) {
    const double count = (double)row->rows * row->columns;
    dispatch->flops = count * (row->has_residual + (row->has_norm ? 8.0 : 0.0) + 1.0);
    dispatch->bytes = 4.0 * count * (2.0 + row->has_residual);
    dispatch->turns = weft_row_turns(4, row->columns);
}

double weft_row_turns(uint32_t passes, uint32_t columns) {
    return passes * ((double)columns / WEFT_NORM_LAYER_NORM_LOCAL_X + 1.0);
}

struct weft_grid weft_row_groups(const struct weft_variant *variant, uint32_t rows,
                                 uint32_t columns) {
    const bool several = columns <= WEFT_NORM_LAYER_NORM_LANES_SHORT_ROW;
    return weft_grid_of_groups(several ? (rows - 1) / variant->tiles[0] + 1 : rows);
}

bool weft_rows_suit_side(uint32_t rows, uint32_t columns) {
    enum { LEAST_ROWS = 64, MOST_COLUMNS = 1024 };
    return rows >= LEAST_ROWS && columns <= MOST_COLUMNS;
}

/* First words of their push constants. */
struct words {
    uint32_t rows, columns;
};

struct weft_grid weft_lanes_grid(const struct weft_variant *variant, const void *args,
                                 uint32_t batches) {
    const struct words *words = args;
    (void)batches;
    return weft_row_groups(variant, words->rows, words->columns);
}

struct weft_grid weft_side_grid(const struct weft_variant *variant, const void *args,
                                uint32_t batches) {
    enum { ROWS_OF_A_GROUP = 8 };
    const struct words *words = args;
    (void)variant, (void)batches;
    return weft_grid_of_groups((words->rows - 1) / ROWS_OF_A_GROUP + 1);
}

bool weft_suits_side(const struct weft_variant *variant, const void *args) {
    const struct words *words = args;
    (void)variant;
    return weft_rows_suit_side(words->rows, words->columns);
}

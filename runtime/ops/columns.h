/* SPDX-License-Identifier: MIT */
/* The host half of shaders/include/columns.glsl: kernels that go through columns in order. */
#ifndef WEFT_OPS_COLUMNS_H
#define WEFT_OPS_COLUMNS_H

#include "ops/row.h"

/** Rows of a set for a kernel and its form for lanes, whose push constants begin with `count`, `groups_x`, `extent` and `inner`. */
#define WEFT_COLUMNS_ROWS(kernel)                           \
    WEFT_GROUP_ROW(kernel, weft_grid_of_first_items, 1.0F), \
        WEFT_LANES_ROWS_WHERE(kernel##_lanes, weft_columns_grid, weft_columns_suit)

/** And one for its form in fours. */
#define WEFT_COLUMNS_FOURS_ROW(kernel, fits)                                             \
    {                                                                                    \
        .name = "fours", .shader = &weft_shader_##kernel##_fours,                        \
        .grid = weft_grid_of_first_items, .cost = {.software = 8.0F, .hardware = 16.0F}, \
        .suits = (fits),                                                                 \
    }

struct weft_grid weft_columns_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches);

/** True if rows are long enough for vectors. */
bool weft_columns_suit(const struct weft_variant *variant, const void *args);

/** True if there is a form in fours for what lies side by side in such blocks. */
bool weft_columns_are_fours(uint32_t extent, uint32_t inner, uint32_t block, uint32_t blocks);

/** The same for push constants whose two words behind `inner` are `block` and `blocks`. */
bool weft_columns_suit_fours(const struct weft_variant *variant, const void *args);

#endif

/* SPDX-License-Identifier: MIT */
/* The host half of shaders/include/row_norm.glsl: kernels that make a row per workgroup and may normalise it. */
#ifndef WEFT_OPS_ROW_H
#define WEFT_OPS_ROW_H

#include "graph/lowering.h"

/** What those kernels' fields of the same names get. Storages that the epilogue has not are WEFT_NO_STORAGE. */
struct weft_row_args {
    uint32_t residual, gamma, beta;
    uint32_t has_residual, has_norm, kept;
    uint32_t rows, columns;
    float epsilon;
};

struct weft_row_args weft_lower_row_args(struct weft_lowering *lowering, weft_shape shape,
                                         const struct weft_epilogue *epilogue);

/** Notes the costs of such a dispatch. */
void weft_row_finish(struct weft_dispatch *dispatch, const struct weft_row_args *row);

/**
 * The rows of a set whose kernels are `group`, by a workgroup of 128 (row_keep.glsl), and `lanes`, by one subgroup, for
 * processors (row_lanes.glsl), where the former take several times as long.
 */
#define WEFT_ROW_VARIANTS(group, lanes, workgroups)                                               \
    {                                                                                             \
        {.name = "group", .shader = &(group), .grid = (workgroups), .cost = {.processor = 8.0F}}, \
            WEFT_LANES_VARIANTS(lanes, workgroups),                                               \
    }

/** Rows for kernels whose workgroup is one subgroup, of each size that the processor device has. */
#define WEFT_LANES_VARIANTS(kernel, workgroups)               \
    WEFT_LANES_VARIANT("lanes-4", kernel, workgroups, 4),     \
        WEFT_LANES_VARIANT("lanes-8", kernel, workgroups, 8), \
        WEFT_LANES_VARIANT("lanes-16", kernel, workgroups, 16)

#define WEFT_LANES_VARIANT(text, kernel, workgroups, lanes)                  \
    {                                                                        \
        .name = (text), .shader = &(kernel), .tiles = {(lanes)},             \
        .needs = {.least_subgroup = (lanes), .most_subgroup = (lanes)},      \
        .cost = {.software = 8.0F, .hardware = 16.0F}, .grid = (workgroups), \
    }

/** KEPT of shaders/include/row_keep.glsl for rows of that many (not 0) columns. */
uint32_t weft_rows_kept(uint32_t columns);

#endif

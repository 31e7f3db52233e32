/* SPDX-License-Identifier: MIT */
/* The host half of shaders/include/row_norm.glsl: kernels that make a row per workgroup and may normalise it. */
#ifndef WEFT_OPS_ROW_H
#define WEFT_OPS_ROW_H

#include "lower/lowering.h"
#include "lower/variant.h"

/** Arguments for those kernels' fields of the same names. Storages that the epilogue lacks are WEFT_NO_STORAGE. */
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

/** Turns of an invocation's loops where a workgroup goes through a row so often. */
double weft_row_turns(uint32_t passes, uint32_t columns);

/* ---- rows of variants, by the forms of kernels (shaders/README.md) ---- */

/** Row for every device: invocations work alone or in workgroups. */
#define WEFT_GROUP_ROW(kernel, groups, hardware_cost)                       \
    {                                                                       \
        .name = "group", .shader = &weft_shader_##kernel, .grid = (groups), \
        .cost = {.hardware = (hardware_cost), .processor = 8.0F},           \
    }

/** Row that works through tiles in shared memory, for GPUs. */
#define WEFT_TILED_ROW(kernel, groups)                                      \
    {                                                                       \
        .name = "tiled", .shader = &weft_shader_##kernel, .grid = (groups), \
        .needs = WEFT_NEEDS_REGISTERS(weft_has_registers_for_tiles),        \
        .cost = {.software = 4.0F, .processor = 16.0F},                     \
    }

/** Eight rows side by side in a workgroup, for GPUs, which pays once for what "group" pays for every row. */
#define WEFT_SIDE_ROW(kernel, fits)                                                               \
    {                                                                                             \
        .name = "side", .shader = &weft_shader_##kernel, .grid = weft_side_grid, .suits = (fits), \
        .cost = {.software = 8.0F, .hardware = 0.6F, .processor = 16.0F},                         \
    }

/** By one subgroup of a processor, or two, in each workgroup: the other forms take 3 to 20 times as long there. */
#define WEFT_LANES_ROW(text, kernel, groups, fits, lanes, subgroups)                       \
    {                                                                                      \
        .name = (text), .shader = &weft_shader_##kernel, .tiles = {(lanes) * (subgroups)}, \
        .needs = {.least_subgroup = (lanes), .most_subgroup = (lanes)},                    \
        .cost = {.software = 8.0F, .hardware = 16.0F}, .grid = (groups), .suits = (fits),  \
    }
#define WEFT_LANES_ROWS(kernel, groups, subgroups)                     \
    WEFT_LANES_ROW("lanes-4", kernel, groups, NULL, 4, subgroups),     \
        WEFT_LANES_ROW("lanes-8", kernel, groups, NULL, 8, subgroups), \
        WEFT_LANES_ROW("lanes-16", kernel, groups, NULL, 16, subgroups)
/** By one subgroup, where the predicate says so. */
#define WEFT_LANES_ROWS_WHERE(kernel, groups, fits)            \
    WEFT_LANES_ROW("lanes-4", kernel, groups, fits, 4, 1),     \
        WEFT_LANES_ROW("lanes-8", kernel, groups, fits, 8, 1), \
        WEFT_LANES_ROW("lanes-16", kernel, groups, fits, 16, 1)

/*
 * Grids of kernels that include row.glsl and whose push constants begin with `rows` and `columns`, by form. Also
 * tells if making rows side by side pays: they are many, and not so long that their columns need 128 invocations
 * each.
 */
struct weft_grid weft_lanes_grid(const struct weft_variant *variant, const void *args,
                                 uint32_t batches);
struct weft_grid weft_side_grid(const struct weft_variant *variant, const void *args,
                                uint32_t batches);
bool weft_suits_side(const struct weft_variant *variant, const void *args);

/* Grid of rows whose longest extent is another one. */
struct weft_grid weft_row_groups(const struct weft_variant *variant, uint32_t rows,
                                 uint32_t columns);
bool weft_rows_suit_side(uint32_t rows, uint32_t columns);

/** KEPT of shaders/include/row_keep.glsl for rows of that many (not 0) columns. */
uint32_t weft_rows_kept(uint32_t columns);

#endif

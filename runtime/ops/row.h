/* SPDX-License-Identifier: MIT */
/* The host half of shaders/include/row_norm.glsl: kernels that make a row per workgroup and may normalise it. */
#ifndef WEFT_OPS_ROW_H
#define WEFT_OPS_ROW_H

#include <assert.h>

#include "lower/lowering.h"
#include "lower/registers.h"
#include "lower/variant.h"

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

/** Workgroups of kernels that include row_lanes.glsl: one for each row or, where they are short, for several. */
struct weft_grid weft_row_groups(const struct weft_variant *variant, uint32_t rows,
                                 uint32_t columns);

/* What the macros below are made of: `...` are the rows for `group`, and others with the grid of `other`; those of `lanes` are added. */
#define WEFT_ROWS_AND_LANES(set, text, group, other, lanes, subgroups, groups_of_group,         \
                            groups_of_other, groups_of_lanes, ...)                              \
    static_assert(sizeof(struct weft_##group##_args) == sizeof(struct weft_##lanes##_args) &&   \
                      sizeof(struct weft_##group##_args) == sizeof(struct weft_##other##_args), \
                  "the kernels of a set have one interface");                                   \
    static struct weft_grid set##_groups(const struct weft_variant *variant, const void *args,  \
                                         uint32_t batches) {                                    \
        const struct weft_##group##_args *words = args;                                         \
        (void)words, (void)batches;                                                             \
        if (variant->tiles[0]) {                                                                \
            return (groups_of_lanes);                                                           \
        }                                                                                       \
        /* NOLINTNEXTLINE(bugprone-branch-clone): both may have the same grid */                \
        return variant->shader == &weft_shader_##group ? (groups_of_group) : (groups_of_other); \
    }                                                                                           \
    static const struct weft_variant set##_kernels[] = {                                        \
        __VA_ARGS__,                                                                            \
        WEFT_LANES_VARIANT("lanes-4", weft_shader_##lanes, set##_groups, 4, subgroups),         \
        WEFT_LANES_VARIANT("lanes-8", weft_shader_##lanes, set##_groups, 8, subgroups),         \
        WEFT_LANES_VARIANT("lanes-16", weft_shader_##lanes, set##_groups, 16, subgroups),       \
    };                                                                                          \
    const struct weft_variant_set weft_##set##_variants = {                                     \
        .name = (text),                                                                         \
        .rows = set##_kernels,                                                                  \
        .count = sizeof set##_kernels / sizeof set##_kernels[0],                                \
    };

#define WEFT_GROUP_VARIANT(kernel, groups, hardware_cost)         \
    {                                                             \
        .name = "group", .shader = &(kernel), .grid = (groups),   \
        .cost = {.hardware = (hardware_cost), .processor = 8.0F}, \
    }

/**
 * weft_<set>_variants, whose kernels are `group`, and `lanes`, by one subgroup or two in each workgroup, for processors,
 * where the former take 3 to 20 times as long. `text`: its name. `subgroups`: of a workgroup of `lanes`. Their grids are made
 * of `variant`, `words` (the arguments) and `batches`.
 */
#define WEFT_LANES_VARIANTS(set, text, group, lanes, subgroups, groups_of_group, groups_of_lanes) \
    WEFT_ROWS_AND_LANES(set, text, group, group, lanes, subgroups, groups_of_group,               \
                        groups_of_group, groups_of_lanes,                                         \
                        WEFT_GROUP_VARIANT(weft_shader_##group, set##_groups, 1.0F))

#define WEFT_TILED_VARIANT(kernel, groups)                           \
    {                                                                \
        .name = "tiled", .shader = &(kernel), .grid = (groups),      \
        .needs = WEFT_NEEDS_REGISTERS(weft_has_registers_for_tiles), \
        .cost = {.software = 4.0F, .processor = 16.0F},              \
    }

/**
 * The same with `tiled`, for GPUs: the work of `group` through tiles in shared memory. `hardware_cost`: what `group` costs on
 * them beside 1, above 2 where it is never as fast.
 */
#define WEFT_TILED_VARIANTS(set, text, group, tiled, lanes, hardware_cost, groups_of_group,   \
                            groups_of_tiled, groups_of_lanes)                                 \
    WEFT_ROWS_AND_LANES(set, text, group, tiled, lanes, 1, groups_of_group, groups_of_tiled,  \
                        groups_of_lanes,                                                      \
                        WEFT_GROUP_VARIANT(weft_shader_##group, set##_groups, hardware_cost), \
                        WEFT_TILED_VARIANT(weft_shader_##tiled, set##_groups))

/** Where `group` has a workgroup of 128 for each row, and `lanes` includes row_lanes.glsl. `length`: columns of a row. */
#define WEFT_ROW_VARIANTS(set, text, group, lanes, length)                                 \
    WEFT_LANES_VARIANTS(set, text, group, lanes, 1, weft_grid_of_groups(words->push.rows), \
                        weft_row_groups(variant, words->push.rows, (length)))

/** Whether rows are worth making side by side: many, and not so long that their columns want 128 invocations each. */
bool weft_rows_suit_side(uint32_t rows, uint32_t columns);

/** Workgroups of kernels that include row_side.glsl. */
struct weft_grid weft_side_groups(uint32_t rows);

/**
 * The same with `side`, for GPUs, which includes row_side.glsl: a workgroup makes eight rows side by side, and pays once for
 * what `group` pays for every row.
 */
#define WEFT_SIDE_VARIANTS(set, text, group, side, lanes, length)                                \
    static bool set##_suits(const struct weft_variant *variant, const void *args) {              \
        const struct weft_##group##_args *words = args;                                          \
        (void)variant;                                                                           \
        return weft_rows_suit_side(words->push.rows, (length));                                  \
    }                                                                                            \
    WEFT_ROWS_AND_LANES(set, text, group, side, lanes, 1, weft_grid_of_groups(words->push.rows), \
                        weft_side_groups(words->push.rows),                                      \
                        weft_row_groups(variant, words->push.rows, (length)),                    \
                        WEFT_GROUP_VARIANT(weft_shader_##group, set##_groups, 1.0F),             \
                        {.name = "side",                                                         \
                         .shader = &weft_shader_##side,                                          \
                         .grid = set##_groups,                                                   \
                         .suits = set##_suits,                                                   \
                         .cost = {.software = 8.0F, .hardware = 0.6F, .processor = 16.0F}})

#define WEFT_LANES_VARIANT(text, kernel, groups, lanes, subgroups)             \
    {                                                                          \
        .name = (text), .shader = &(kernel), .tiles = {(lanes) * (subgroups)}, \
        .needs = {.least_subgroup = (lanes), .most_subgroup = (lanes)},        \
        .cost = {.software = 8.0F, .hardware = 16.0F}, .grid = (groups),       \
    }

/** KEPT of shaders/include/row_keep.glsl for rows of that many (not 0) columns. */
uint32_t weft_rows_kept(uint32_t columns);

#endif

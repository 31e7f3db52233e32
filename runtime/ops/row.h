/* SPDX-License-Identifier: MIT */
/* The host half of shaders/include/row_norm.glsl: kernels that make a row per workgroup and may normalise it. */
#ifndef WEFT_OPS_ROW_H
#define WEFT_OPS_ROW_H

#include <assert.h>

#include "graph/lowering.h"
#include "graph/variant.h"

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

/**
 * weft_<set>_variants, whose kernels are `group`, and `lanes`, by one subgroup or two in each workgroup, for processors,
 * where the former take 3 to 20 times as long. `text`: its name. `subgroups`: of a workgroup of `lanes`. Their grids are made
 * of `variant`, `words` (the arguments) and `batches`.
 */
#define WEFT_LANES_VARIANTS(set, text, group, lanes, subgroups, groups_of_group, groups_of_lanes) \
    static_assert(sizeof(struct weft_##group##_args) == sizeof(struct weft_##lanes##_args),       \
                  "the kernels of a set have one interface");                                     \
    static struct weft_grid set##_groups(const struct weft_variant *variant, const void *args,    \
                                         uint32_t batches) {                                      \
        const struct weft_##group##_args *words = args;                                           \
        (void)words, (void)batches;                                                               \
        /* NOLINTNEXTLINE(bugprone-branch-clone): both may have the same grid */                  \
        return variant->tiles[0] ? (groups_of_lanes) : (groups_of_group);                         \
    }                                                                                             \
    static const struct weft_variant set##_kernels[] = {                                          \
        {.name = "group",                                                                         \
         .shader = &weft_shader_##group,                                                          \
         .grid = set##_groups,                                                                    \
         .cost = {.processor = 8.0F}},                                                            \
        WEFT_LANES_VARIANT("lanes-4", weft_shader_##lanes, set##_groups, 4, subgroups),           \
        WEFT_LANES_VARIANT("lanes-8", weft_shader_##lanes, set##_groups, 8, subgroups),           \
        WEFT_LANES_VARIANT("lanes-16", weft_shader_##lanes, set##_groups, 16, subgroups),         \
    };                                                                                            \
    const struct weft_variant_set weft_##set##_variants = {                                       \
        .name = (text),                                                                           \
        .rows = set##_kernels,                                                                    \
        .count = sizeof set##_kernels / sizeof set##_kernels[0],                                  \
    };

/** Not on a Raspberry Pi's GPU and on Arm's, whose compilers look for minutes for a way to put tiles into fewer. */
bool weft_has_over_64_registers(const weft_device_info *info);

/** Whether an invocation's 64 sums and what they are made of are in registers: compilers for Intel's GPUs spill some (bench/compilers). */
bool weft_has_registers_for_tiles(const weft_device_info *info);

#define WEFT_NEEDS_OF_TILES \
    { .also = weft_has_registers_for_tiles, .also_text = "wants more registers" }
#define WEFT_NEEDS_OVER_64_REGISTERS \
    { .also = weft_has_over_64_registers, .also_text = "wants more registers" }

/**
 * The same with `tiled`, for GPUs: the work of `group` through tiles in shared memory. `hardware_cost`: what `group` costs on
 * them beside 1, above 2 where it is never as fast.
 */
#define WEFT_TILED_VARIANTS(set, text, group, tiled, lanes, hardware_cost, groups_of_group, \
                            groups_of_tiled, groups_of_lanes)                               \
    WEFT_TILED_VARIANTS_AND(set, text, group, tiled, lanes, hardware_cost, groups_of_group, \
                            groups_of_tiled, groups_of_lanes, NULL, )

/**
 * The same where `group` also asks for registers (null: it does not), and with more rows, whose grid is that of `group`: a
 * macro, each with a comma behind it.
 */
#define WEFT_TILED_VARIANTS_AND(set, text, group, tiled, lanes, hardware_cost, groups_of_group, \
                                groups_of_tiled, groups_of_lanes, has_registers, more)          \
    static_assert(sizeof(struct weft_##group##_args) == sizeof(struct weft_##lanes##_args) &&   \
                      sizeof(struct weft_##group##_args) == sizeof(struct weft_##tiled##_args), \
                  "the kernels of a set have one interface");                                   \
    static struct weft_grid set##_groups(const struct weft_variant *variant, const void *args,  \
                                         uint32_t batches) {                                    \
        const struct weft_##group##_args *words = args;                                         \
        (void)words, (void)batches;                                                             \
        if (variant->shader == &weft_shader_##tiled) {                                          \
            return (groups_of_tiled);                                                           \
        }                                                                                       \
        /* NOLINTNEXTLINE(bugprone-branch-clone): both may have the same grid */                \
        return variant->tiles[0] ? (groups_of_lanes) : (groups_of_group);                       \
    }                                                                                           \
    static const struct weft_variant set##_kernels[] = {                                        \
        {.name = "group",                                                                       \
         .shader = &weft_shader_##group,                                                        \
         .grid = set##_groups,                                                                  \
         .needs = {.also = (has_registers), .also_text = "wants more registers"},               \
         .cost = {.hardware = (hardware_cost), .processor = 8.0F}},                             \
        {.name = "tiled",                                                                       \
         .shader = &weft_shader_##tiled,                                                        \
         .grid = set##_groups,                                                                  \
         .needs = WEFT_NEEDS_OF_TILES,                                                          \
         .cost = {.software = 4.0F, .processor = 16.0F}},                                       \
        WEFT_LANES_VARIANT("lanes-4", weft_shader_##lanes, set##_groups, 4, 1),                 \
        WEFT_LANES_VARIANT("lanes-8", weft_shader_##lanes, set##_groups, 8, 1),                 \
        WEFT_LANES_VARIANT("lanes-16", weft_shader_##lanes, set##_groups, 16, 1),               \
        more};                                                                                  \
    const struct weft_variant_set weft_##set##_variants = {                                     \
        .name = (text),                                                                         \
        .rows = set##_kernels,                                                                  \
        .count = sizeof set##_kernels / sizeof set##_kernels[0],                                \
    };

/** Where `group` has a workgroup of 128 for each row, and `lanes` includes row_lanes.glsl. `length`: columns of a row. */
#define WEFT_ROW_VARIANTS(set, text, group, lanes, length)                                 \
    WEFT_LANES_VARIANTS(set, text, group, lanes, 1, weft_grid_of_groups(words->push.rows), \
                        weft_row_groups(variant, words->push.rows, (length)))

#define WEFT_LANES_VARIANT(text, kernel, groups, lanes, subgroups)             \
    {                                                                          \
        .name = (text), .shader = &(kernel), .tiles = {(lanes) * (subgroups)}, \
        .needs = {.least_subgroup = (lanes), .most_subgroup = (lanes)},        \
        .cost = {.software = 8.0F, .hardware = 16.0F}, .grid = (groups),       \
    }

/** KEPT of shaders/include/row_keep.glsl for rows of that many (not 0) columns. */
uint32_t weft_rows_kept(uint32_t columns);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * Variants: rows of data that say which kernel does a piece of work, with which tiles, on which devices, and whether it
 * gives the bits of others. A device gets the row that was fastest there (choose.h).
 */
#ifndef WEFT_LOWER_VARIANT_H
#define WEFT_LOWER_VARIANT_H

#include <weft/op.h>

#include "device/device.h"
#include "graph/op_list.h"
#include "shader/shader.h"

#define WEFT_MAX_TILES 8

struct weft_grid;

/** A kernel for a set's work. The fields of all shaders of a set are the same. */
struct weft_variant {
    const char *name;
    const struct weft_shader *shader;
    uint32_t tiles
        [WEFT_MAX_TILES]; /* of its constants TILE_…, in the order of AT_TILE_…; 0: the shader's own */
    uint32_t bits;        /* rows of one number give the same bits */
    uint32_t
        subgroup; /* invocations of a subgroup that it is made for, in fast mode; 0: any number */
    weft_matrix_shape matrix; /* of its cooperative matrices of f16, added up in f32; 0s: none */
    weft_matrix_shape
        integer_matrix; /* of those of bytes, added up in int32, in every mode; 0s: none */
    struct weft_needs needs;
    struct weft_cost cost;
    /**
     * True if it is expected to be fast for these arguments (words of the shader's struct), whatever the device; null: for
     * all. It can do the others, too: a caller that names the row gets it.
     */
    bool (*suits)(const struct weft_variant *variant, const void *args);
    /** The workgroups for these arguments, repeated for each of `batches`. */
    struct weft_grid (*grid)(const struct weft_variant *variant, const void *args,
                             uint32_t batches);
};

/** The ways to do one kind of work. To add a way: a row, and a shader if none there is has the tiles for it. WEFT_VARIANTS makes one. */
struct weft_variant_set {
    const char *name; /* "matmul/product" */
    const struct weft_variant *rows;
    uint32_t count; /* at most WEFT_MAX_VARIANTS */
};

/** weft_<set>_variants, called `text`, of these rows. */
#define WEFT_VARIANTS(set, text, ...)                              \
    static const struct weft_variant set##_rows[] = {__VA_ARGS__}; \
    const struct weft_variant_set weft_##set##_variants = {        \
        .name = (text),                                            \
        .rows = set##_rows,                                        \
        .count = sizeof set##_rows / sizeof set##_rows[0],         \
    };

#define WEFT_DECLARE_VARIANTS(name) extern const struct weft_variant_set weft_##name##_variants;
WEFT_VARIANT_SETS(WEFT_DECLARE_VARIANTS)

/** The value of a tile constant: the row's, or its shader's. `at` is WEFT_<SHADER>_AT_TILE_<NAME>. */
uint32_t weft_variant_tile(const struct weft_variant *variant, uint32_t at);

/** Why a device cannot take what asks for this, for people; null when it can. `named`: somebody asks for this row. */
const char *weft_needs_missing(const struct weft_needs *needs, const weft_device *device,
                               bool named);

/** Missing requirement of a row of a set: its needs, subgroups, matrices and workgroup size. */
const char *weft_variant_missing(const struct weft_variant *variant, const weft_device *device,
                                 bool named);

/** Missing requirement among subgroups and matrices alone. */
const char *weft_variant_misfit(const struct weft_variant *variant, const weft_device_info *info);

/** The relative cost of a row on a device. */
double weft_cost_on(const struct weft_cost *cost, const weft_device *device);

/* ---- what rows ask of a GPU's registers, as bench/compilers found it ---- */

/** Not on a Raspberry Pi's GPU and on Arm's, whose compilers look for minutes for a way to put tiles into fewer. */
bool weft_has_over_64_registers(const weft_device_info *info);

/** True if an invocation's 64 sums and what they are made of are in registers: compilers for Intel's GPUs spill some. */
bool weft_has_registers_for_tiles(const weft_device_info *info);

/** As AMD's and NVIDIA's: compilers for Qualcomm's spill of the largest tiles, too, or hold fewer subgroups at once than without. */
bool weft_has_many_registers(const weft_device_info *info);

/** The `needs` of a row that is for devices of which `predicate`, one of these or a mixer's own, is true. */
#define WEFT_NEEDS_REGISTERS(predicate) \
    { .also = (predicate), .also_text = "wants more registers" }

#endif

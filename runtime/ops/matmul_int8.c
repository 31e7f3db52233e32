/* SPDX-License-Identifier: MIT */
/* Products of bytes by bytes: rows of numbers become bytes with a scale for each, and whole numbers are added up. */
#include "kernels/matmul/int8_cooperative.h"
#include "kernels/matmul/int8_pairs.h"
#include "kernels/matmul/int8_panels.h"
#include "kernels/matmul/int8_quantize.h"
#include "kernels/matmul/int8_rows.h"
#include "kernels/matmul/int8_tiled.h"
#include "ops/matmul.h"

static_assert(
    sizeof(struct weft_matmul_int8_panels_args) == sizeof(struct weft_matmul_int8_tiled_args) &&
        sizeof(struct weft_matmul_int8_panels_args) ==
            sizeof(struct weft_matmul_int8_cooperative_args) &&
        sizeof(struct weft_matmul_int8_panels_args) == sizeof(struct weft_matmul_int8_pairs_args) &&
        sizeof(struct weft_matmul_int8_panels_args) == sizeof(struct weft_matmul_int8_rows_args),
    "the kernels of products of bytes have one interface");

static struct weft_grid grid_of(const struct weft_matmul_int8_panels_args *args, uint32_t rows,
                                uint32_t columns) {
    return weft_grid_of((args->push.n - 1) / columns + 1, (args->push.m - 1) / rows + 1, 1);
}

static struct weft_grid panels_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    (void)batches;
    return grid_of(args,
                   WEFT_MATMUL_INT8_PANELS_LOCAL_Y *
                       weft_variant_tile(variant, WEFT_MATMUL_INT8_PANELS_AT_TILE_ROWS),
                   WEFT_PANEL_COLUMNS);
}

/* All rows of a panel before the next panel: a workgroup's rows of a are fewer bytes than its panel of b. */
static struct weft_grid pairs_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    (void)batches;
    const struct weft_matmul_int8_pairs_args *pairs = args;
    const uint32_t rows = WEFT_MATMUL_INT8_PAIRS_LOCAL_Y *
                          weft_variant_tile(variant, WEFT_MATMUL_INT8_PAIRS_AT_TILE_ROWS);
    return weft_grid_of((pairs->push.m - 1) / rows + 1,
                        (pairs->push.n - 1) / WEFT_PANEL_COLUMNS + 1, 1);
}

static struct weft_grid rows_grid(const struct weft_variant *variant, const void *args,
                                  uint32_t batches) {
    (void)batches;
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_INT8_ROWS_AT_TILE_ROWS),
                   WEFT_PANEL_COLUMNS);
}

/* At most two workgroups read each panel. */
static bool are_few(const struct weft_variant *variant, const void *args) {
    const struct weft_matmul_int8_rows_args *rows = args;
    return rows->push.m <= 2 * weft_variant_tile(variant, WEFT_MATMUL_INT8_ROWS_AT_TILE_ROWS);
}

#define ROWS(rows)                                                                                 \
    .shader = &weft_shader_matmul_int8_rows,                                                       \
    .tiles = {[WEFT_MATMUL_INT8_ROWS_AT_TILE_ROWS] = (rows)}, .grid = rows_grid, .suits = are_few, \
    .cost = {.software = 3.0F, .hardware = 3.0F, .processor = 0.5F}

static struct weft_grid tiled_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    (void)variant, (void)batches;
    return grid_of(args, WEFT_MATMUL_INT8_TILED_ROWS, WEFT_PANEL_COLUMNS);
}

static struct weft_grid cooperative_grid(const struct weft_variant *variant, const void *args,
                                         uint32_t batches) {
    (void)batches;
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_ROWS),
                   weft_variant_tile(variant, WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_COLUMNS));
}

/* A row for matrices of m×n×k, of subgroups of so many invocations, with tiles of rows × columns × depth and bytes of shared memory. */
#define COOPERATIVE(m_, n_, k_, invocations_, rows_, columns_, depth_, bytes_)  \
    .shader = &weft_shader_matmul_int8_cooperative, .grid = cooperative_grid,   \
    .subgroup = (invocations_), .integer_matrix = {(m_), (n_), (k_)},           \
    .tiles = {[WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_M] = (m_),                  \
              [WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_N] = (n_),                  \
              [WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_K] = (k_),                  \
              [WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_SUBGROUP] = (invocations_), \
              [WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_ROWS] = (rows_),            \
              [WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_COLUMNS] = (columns_),      \
              [WEFT_MATMUL_INT8_COOPERATIVE_AT_TILE_DEPTH] = (depth_)},         \
    .needs = {.shared_memory = (bytes_)},                                       \
    .cost = {.hardware = 0.3F, .software = 10.0F, .processor = 10.0F}

/* Processors have instructions for int8-panels, or, with vectors of 8 lanes or fewer, perhaps only for int8-pairs. */
WEFT_VARIANTS(
    int8_product, "matmul/int8_product",
    {.name = "int8-panels-2",
     .shader = &weft_shader_matmul_int8_panels,
     .grid = panels_grid,
     .needs = {.invocations = 256},
     .cost = {.hardware = 3.0F}},
    {.name = "int8-panels-6",
     .shader = &weft_shader_matmul_int8_panels,
     .tiles = {[WEFT_MATMUL_INT8_PANELS_AT_TILE_ROWS] = 6},
     .grid = panels_grid,
     .needs = {.least_subgroup = 16, .invocations = 256},
     .cost = {.hardware = 3.0F}},
    {.name = "int8-pairs",
     .shader = &weft_shader_matmul_int8_pairs,
     .grid = pairs_grid,
     .needs = {.most_subgroup = 8, .invocations = 256, .shared_memory = 28 << 10},
     .cost = {.hardware = 3.0F}},
    {.name = "int8-rows-1", ROWS(1)}, {.name = "int8-rows-4", ROWS(4)},
    {.name = "int8-tiled",
     .shader = &weft_shader_matmul_int8_tiled,
     .grid = tiled_grid,
     .cost = {.software = 3.0F, .processor = 4.0F}},
    /* RDNA3 */
    {.name = "int8-16x16x16-128", COOPERATIVE(16, 16, 16, 32, 128, 128, 32, 12288)},
    {.name = "int8-16x16x16-64", COOPERATIVE(16, 16, 16, 32, 64, 64, 64, 10240)},
    /* NVIDIA's from Turing on */
    {.name = "int8-16x16x32-128", COOPERATIVE(16, 16, 32, 32, 128, 128, 32, 12288)},
    {.name = "int8-16x16x32-64", COOPERATIVE(16, 16, 32, 32, 64, 64, 64, 10240)},
    {.name = "int8-16x8x32-64", COOPERATIVE(16, 8, 32, 32, 64, 64, 64, 10240)},
    /* Xe2 and Xe-HPG */
    {.name = "int8-8x16x32", COOPERATIVE(8, 16, 32, 16, 32, 128, 64, 12800)},
    {.name = "int8-8x8x32", COOPERATIVE(8, 8, 32, 8, 32, 128, 64, 12800)},
    /* No GPU's, but lavapipe's with 8 lanes, which shows on a machine without a GPU that the kernel is right */
    {.name = "int8-8x8x8-64", COOPERATIVE(8, 8, 8, 8, 64, 64, 64, 10240)},
    {.name = "int8-8x8x8-32", COOPERATIVE(8, 8, 8, 8, 32, 128, 64, 12800)})

static uint32_t words_of(uint32_t k) {
    return (k - 1) / 4 + 1;
}

uint64_t weft_row_bytes_size(const struct weft_product *p) {
    return ((uint64_t)words_of(p->k) + 3) * p->m * p->batches * 4;
}

void weft_lower_row_bytes(struct weft_lowering *lowering, const struct weft_product *p, uint32_t x,
                          uint32_t result) {
    const uint32_t rows = p->m * p->batches;
    const bool fours =
        p->a.column == 1 && p->k % 4 == 0 && p->a.row % 4 == 0 && p->a.outer % 4 == 0;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, matmul_int8_quantize, weft_grid_of_groups(rows),
                   .bind = {.x = x, .result = result},
                   .push = {.rows = rows,
                            .k = p->k,
                            .words = words_of(p->k),
                            .matrix_rows = p->m,
                            .x_matrix = p->a.outer,
                            .x_row = p->a.row,
                            .x_column = p->a.column},
                   .constant = {.vector_x = fours});
    dispatch->flops = 3.0 * rows * p->k;
    dispatch->bytes = 5.0 * rows * p->k;
}

/* Rows that are there already are read again, unless runs change the value. */
static uint32_t find_bytes(struct weft_lowering *lowering, const struct weft_product *p,
                           uint32_t a) {
    const uint32_t root = weft_graph_storage_of(lowering->graph, a);
    struct weft_row_bytes wanted = {.root = lowering->graph->values[root].is_state ? 0 : root,
                                    .rows = p->m * p->batches,
                                    .k = p->k,
                                    .transposed = p->a.column != 1};
    const struct weft_row_bytes *last = &lowering->row_bytes;
    if (wanted.root != 0 && last->root == root && last->rows == wanted.rows &&
        last->k == wanted.k && last->transposed == wanted.transposed) {
        return last->storage;
    }
    const uint32_t x = weft_lower_value(lowering, a);
    wanted.storage = weft_lower_scratch(lowering, weft_row_bytes_size(p));
    weft_lower_row_bytes(lowering, p, x, wanted.storage);
    lowering->row_bytes = wanted;
    return wanted.storage;
}

void weft_lower_int8_product(struct weft_lowering *lowering, const struct weft_product *p,
                             uint32_t a) {
    weft_lower_product_of_bytes(lowering, p, find_bytes(lowering, p, a));
}

void weft_lower_product_of_bytes(struct weft_lowering *lowering, const struct weft_product *p,
                                 uint32_t bytes) {
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_int8_product_variants, 1, matmul_int8_panels,
                            .bind = {.a = bytes,
                                     .b = p->b.storage,
                                     .bias = p->bias,
                                     .residual = p->residual,
                                     .c = p->c.storage},
                            .push = {.m = p->m * p->batches,
                                     .n = p->n,
                                     .words = words_of(p->k),
                                     .c_row = p->c.row,
                                     .alpha = p->alpha},
                            .constant = {.activation = (int32_t)p->activation,
                                         .has_bias = p->bias != WEFT_NO_STORAGE,
                                         .has_residual = p->residual != WEFT_NO_STORAGE});
    const double m = (double)p->m * p->batches;
    dispatch->flops = m * p->n * (2.0 * p->k + (p->activation ? 20.0 : 0.0));
    dispatch->bytes =
        m * p->k + (double)p->k * p->n + 4.0 * m * p->n * (p->residual != WEFT_NO_STORAGE ? 2 : 1);
    dispatch->turns = 0.5 * p->k;
}

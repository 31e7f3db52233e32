/* SPDX-License-Identifier: MIT */
/* Matrix products, batched and transposed, with bias, activation and residual fused in. */
#include "ops/matmul.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/given.h"
#include "core/math/int8.h"
#include "core/try.h"
#include "core/vendor.h"
#include "kernels/matmul/cooperative.h"
#include "kernels/matmul/direct.h"
#include "kernels/matmul/dots.h"
#include "kernels/matmul/packed.h"
#include "kernels/matmul/panel_rows.h"
#include "kernels/matmul/panels.h"
#include "kernels/matmul/skinny.h"
#include "kernels/matmul/subgroups.h"
#include "kernels/matmul/tiled.h"
#include "lower/choose.h"
#include "lower/cut.h"
#include "ops/binary.h"
#include "ops/numbers.h"
#include "ops/row.h"

struct weft_matmul_node {
    uint32_t transpose_a;
    uint32_t transpose_b;
    float alpha;
};

/* ---- kernels ---- */

static_assert(
    sizeof(struct weft_matmul_direct_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_cooperative_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_dots_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_packed_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_panels_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_panel_rows_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_skinny_args) == sizeof(struct weft_matmul_tiled_args) &&
        sizeof(struct weft_matmul_subgroups_args) == sizeof(struct weft_matmul_tiled_args),
    "the kernels of products have one interface");
static_assert(WEFT_PANEL_COLUMNS == WEFT_MATMUL_PANELS_COLUMNS, "as in the shader");

static struct weft_grid grid_of(const struct weft_matmul_tiled_args *args, uint32_t rows,
                                uint32_t columns, uint32_t batches) {
    return weft_grid_of((args->push.n - 1) / columns + 1, (args->push.m - 1) / rows + 1, batches);
}

static struct weft_grid direct_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_DIRECT_AT_TILE_ROWS),
                   WEFT_MATMUL_DIRECT_COLUMNS, batches);
}

static struct weft_grid tiled_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_TILED_AT_TILE_ROWS),
                   weft_variant_tile(variant, WEFT_MATMUL_TILED_AT_TILE_COLUMNS), batches);
}

static struct weft_grid subgroups_grid(const struct weft_variant *variant, const void *args,
                                       uint32_t batches) {
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_SUBGROUPS_AT_TILE_ROWS),
                   weft_variant_tile(variant, WEFT_MATMUL_SUBGROUPS_AT_TILE_COLUMNS), batches);
}

static struct weft_grid packed_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    (void)variant;
    return grid_of(args, WEFT_MATMUL_PACKED_ROWS, WEFT_MATMUL_PACKED_COLUMNS, batches);
}

/* A lane for each element of the result. */
static struct weft_grid dots_grid(const struct weft_variant *variant, const void *args,
                                  uint32_t batches) {
    const struct weft_matmul_tiled_args *a = args;
    const uint32_t lanes = weft_variant_tile(variant, WEFT_MATMUL_DOTS_AT_TILE_LANES);
    const uint64_t groups = ((uint64_t)a->push.m * a->push.n * batches - 1) / lanes + 1;
    const uint64_t along_x = WEFT_MATMUL_DOTS_GROUPS_X;
    return weft_grid_of((uint32_t)(groups < along_x ? groups : along_x),
                        (uint32_t)((groups - 1) / along_x + 1), 1);
}

/* No column of b serves many rows, and what is multiplied lies side by side. */
static bool is_dots(const struct weft_variant *variant, const void *args) {
    const struct weft_matmul_tiled_args *a = args;
    (void)variant;
    return (a->push.m == 1 || a->push.n == 1) && a->push.a_column == 1 && a->push.b_row == 1;
}

static struct weft_grid skinny_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_SKINNY_AT_TILE_ROWS),
                   WEFT_MATMUL_SKINNY_COLUMNS, batches);
}

/* Its rows hold those of the product, and half of them would not. */
static bool is_skinny(const struct weft_variant *variant, const void *args) {
    const struct weft_matmul_tiled_args *a = args;
    const uint32_t rows = weft_variant_tile(variant, WEFT_MATMUL_SKINNY_AT_TILE_ROWS);
    return a->push.m <= rows && 2 * a->push.m > rows;
}

/* Loading elements one by one takes registers for their addresses. */
static bool is_in_fours(const struct weft_variant *variant, const void *args) {
    const struct weft_matmul_tiled_args *a = args;
    (void)variant;
    return a->constant.vector_a && a->constant.vector_b && a->constant.vector_c;
}

#define TILED                                                \
    .shader = &weft_shader_matmul_tiled, .grid = tiled_grid, \
    .cost = {.software = 3.0F, .processor = 4.0F}
/*
 * Subgroups of `invocations_`, for fast mode on Intel's GPUs: DG2's have 8, Battlemage's 16. 1.24 and 1.19
 * instructions for each product.
 */
#define SUBGROUPS(invocations_)                                                       \
    .shader = &weft_shader_matmul_subgroups, .grid = subgroups_grid,                  \
    .tiles = {[WEFT_MATMUL_SUBGROUPS_AT_TILE_DEPTH] = 32,                             \
              [WEFT_MATMUL_SUBGROUPS_AT_TILE_SUMS] = 1,                               \
              [WEFT_MATMUL_SUBGROUPS_AT_TILE_SUBGROUP] = (invocations_)},             \
    .bits = 1, .subgroup = (invocations_), .needs = {.vendor_id = WEFT_VENDOR_INTEL}, \
    .suits = is_in_fours, .cost = {.hardware = 0.9F}
#define DOTS(lanes)                                                 \
    .shader = &weft_shader_matmul_dots, .grid = dots_grid,          \
    .tiles = {[WEFT_MATMUL_DOTS_AT_TILE_LANES] = (lanes)},          \
    .needs = {.least_subgroup = (lanes), .most_subgroup = (lanes)}, \
    .cost = {.software = 8.0F, .hardware = 16.0F, .processor = 0.25F}, .suits = is_dots
#define SKINNY(rows)                                           \
    .shader = &weft_shader_matmul_skinny, .grid = skinny_grid, \
    .tiles = {[WEFT_MATMUL_SKINNY_AT_TILE_ROWS] = (rows)},     \
    .cost = {.software = 3.0F, .processor = 4.0F}, .suits = is_skinny

/*
 * Registers alone suit drivers that emulate a GPU on a processor, whose caches serve all invocations (3 times as fast on
 * lavapipe), and spill on GPUs; GPUs want tiles in shared memory; and the processor device lanes along columns (4 times as fast as tiles).
 */
WEFT_VARIANTS(
    product, "matmul/product",
    {.name = "tiled", TILED, .needs = WEFT_NEEDS_REGISTERS(weft_has_registers_for_tiles)},
    /* 64 sums an invocation: the fewest instructions, the most registers, for large products. */
    {.name = "tiled-128",
     TILED,
     .tiles = {[WEFT_MATMUL_TILED_AT_TILE_COLUMNS] = 128},
     .needs = WEFT_NEEDS_REGISTERS(weft_has_many_registers)},
    /* 16 sums: twice the workgroups, for products with few rows. */
    {.name = "tiled-32", TILED, .tiles = {[WEFT_MATMUL_TILED_AT_TILE_ROWS] = 32}},
    /* As many sums as "tiled", and fewer registers for addresses: on Intel's GPUs none is spilled. */
    {.name = "tiled-32x128",
     TILED,
     .tiles = {[WEFT_MATMUL_TILED_AT_TILE_ROWS] = 32, [WEFT_MATMUL_TILED_AT_TILE_COLUMNS] = 128},
     .needs = {.vendor_id = WEFT_VENDOR_INTEL},
     .suits = is_in_fours},
    /* One sum an element: twice as many elements in as many registers, for fast mode, which may add in any order. */
    {.name = "tiled-sum",
     TILED,
     .tiles = {[WEFT_MATMUL_TILED_AT_TILE_SUMS] = 1},
     .bits = 1,
     .needs = WEFT_NEEDS_REGISTERS(weft_has_over_64_registers)},
    {.name = "tiled-128-sum",
     TILED,
     .tiles = {[WEFT_MATMUL_TILED_AT_TILE_COLUMNS] = 128, [WEFT_MATMUL_TILED_AT_TILE_SUMS] = 1},
     .bits = 1,
     .needs = WEFT_NEEDS_REGISTERS(weft_has_many_registers)},
    {.name = "tiled-128x128-sum",
     TILED,
     .tiles = {[WEFT_MATMUL_TILED_AT_TILE_ROWS] = 128,
               [WEFT_MATMUL_TILED_AT_TILE_COLUMNS] = 128,
               [WEFT_MATMUL_TILED_AT_TILE_DEPTH] = 8,
               [WEFT_MATMUL_TILED_AT_TILE_SUMS] = 1},
     .bits = 1,
     .needs = WEFT_NEEDS_REGISTERS(weft_has_many_registers)},
    {.name = "subgroups-8", SUBGROUPS(8)}, {.name = "subgroups-16", SUBGROUPS(16)},
    /* Decoding: as many rows as sequences. */
    {.name = "skinny-1", SKINNY(1)}, {.name = "skinny-2", SKINNY(2)},
    {.name = "skinny-4", SKINNY(4)}, {.name = "skinny-8", SKINNY(8)},
    /* Products of vectors, or of a matrix by one, in each of many batches. */
    {.name = "dots-4", DOTS(4)}, {.name = "dots-8", DOTS(8)}, {.name = "dots-16", DOTS(16)},
    {.name = "direct",
     .shader = &weft_shader_matmul_direct,
     .grid = direct_grid,
     .cost = {.hardware = 3.0F, .processor = 12.0F}},
    {.name = "packed",
     .shader = &weft_shader_matmul_packed,
     .grid = packed_grid,
     .needs = {.invocations = 512},
     .cost = {.software = 4.0F, .hardware = 4.0F}})

static struct weft_grid panels_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    return grid_of(args,
                   WEFT_MATMUL_PANELS_LOCAL_Y *
                       weft_variant_tile(variant, WEFT_MATMUL_PANELS_AT_TILE_ROWS),
                   WEFT_MATMUL_PANELS_COLUMNS, batches);
}

static struct weft_grid panel_rows_grid(const struct weft_variant *variant, const void *args,
                                        uint32_t batches) {
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_PANEL_ROWS_AT_TILE_ROWS),
                   WEFT_MATMUL_PANEL_ROWS_COLUMNS, batches);
}

static_assert((int)WEFT_MATMUL_PANEL_ROWS_AT_TILE_ROWS == (int)WEFT_MATMUL_SKINNY_AT_TILE_ROWS,
              "as is_skinny reads it");

#define PANEL_ROWS(rows)                                                                \
    .shader = &weft_shader_matmul_panel_rows,                                           \
    .tiles = {[WEFT_MATMUL_PANEL_ROWS_AT_TILE_ROWS] = (rows)}, .grid = panel_rows_grid, \
    .suits = is_skinny, .cost = {.software = 3.0F, .hardware = 3.0F, .processor = 0.5F}

/*
 * Variants for a constant b in panels. Six rows by four columns take 24 registers for sums, which processors with
 * vectors of 512 bits have; two take 8, half of the registers of x86-64 without them. With 16 lanes six rows take 0.7
 * of the time of two. With few rows, such as a decoder's token, b is read from memory once, and is neither widened
 * into shared memory nor multiplied by missing rows.
 */
WEFT_VARIANTS(panel_product, "matmul/panel_product",
              {.name = "panels-2",
               .shader = &weft_shader_matmul_panels,
               .grid = panels_grid,
               .needs = {.invocations = 256},
               .cost = {.software = 3.0F, .hardware = 3.0F, .processor = 3.0F}},
              {.name = "panels-6",
               .shader = &weft_shader_matmul_panels,
               .tiles = {[WEFT_MATMUL_PANELS_AT_TILE_ROWS] = 6},
               .grid = panels_grid,
               .needs = {.least_subgroup = 16, .invocations = 256}},
              {.name = "panel-rows-1", PANEL_ROWS(1)}, {.name = "panel-rows-2", PANEL_ROWS(2)},
              {.name = "panel-rows-4", PANEL_ROWS(4)})

static struct weft_grid cooperative_grid(const struct weft_variant *variant, const void *args,
                                         uint32_t batches) {
    return grid_of(args, weft_variant_tile(variant, WEFT_MATMUL_COOPERATIVE_AT_TILE_ROWS),
                   weft_variant_tile(variant, WEFT_MATMUL_COOPERATIVE_AT_TILE_COLUMNS), batches);
}

/* A row for matrices of m×n×k, of subgroups of so many invocations, with tiles of rows × columns and bytes of shared memory. */
#define COOPERATIVE(group, m_, n_, k_, invocations_, rows_, columns_, bytes_)             \
    .shader = &weft_shader_matmul_cooperative, .grid = cooperative_grid, .bits = (group), \
    .subgroup = (invocations_), .matrix = {(m_), (n_), (k_)},                             \
    .tiles = {[WEFT_MATMUL_COOPERATIVE_AT_TILE_M] = (m_),                                 \
              [WEFT_MATMUL_COOPERATIVE_AT_TILE_N] = (n_),                                 \
              [WEFT_MATMUL_COOPERATIVE_AT_TILE_K] = (k_),                                 \
              [WEFT_MATMUL_COOPERATIVE_AT_TILE_SUBGROUP] = (invocations_),                \
              [WEFT_MATMUL_COOPERATIVE_AT_TILE_ROWS] = (rows_),                           \
              [WEFT_MATMUL_COOPERATIVE_AT_TILE_COLUMNS] = (columns_)},                    \
    .needs = {.f16_arithmetic = true, .shared_memory = (bytes_)}

/* Variants for f16 by f16, added up in f32, in the shapes that devices have. Tiles of one shape give the same bits. */
WEFT_VARIANTS(
    cooperative_product, "matmul/cooperative_product",
    /* RDNA3, and NVIDIA's from Turing on: the fewest instructions, and more workgroups */
    {.name = "cooperative-16x16x16-128", COOPERATIVE(0, 16, 16, 16, 32, 128, 128, 25104)},
    {.name = "cooperative-16x16x16-64", COOPERATIVE(0, 16, 16, 16, 32, 64, 64, 14608)},
    /* Xe2 */
    {.name = "cooperative-8x16x16", COOPERATIVE(1, 8, 16, 16, 16, 32, 128, 17040)},
    /* Xe-HPG */
    {.name = "cooperative-8x8x16", COOPERATIVE(2, 8, 8, 16, 8, 32, 128, 17040)},
    /* No GPU's, but lavapipe's with 8 lanes, which shows on a machine without a GPU that the kernel is right */
    {.name = "cooperative-8x8x8-128", COOPERATIVE(3, 8, 8, 8, 8, 128, 128, 25104)},
    {.name = "cooperative-8x8x8-64", COOPERATIVE(3, 8, 8, 8, 8, 64, 64, 14608)},
    {.name = "cooperative-8x8x8-32", COOPERATIVE(3, 8, 8, 8, 8, 32, 128, 17040)})

static bool fours(uint32_t stride) {
    return stride % 4 == 0;
}

static bool can_load_fours(const struct weft_matrix *matrix, uint32_t contiguous_stride,
                           uint32_t other_stride, uint32_t length) {
    return contiguous_stride == 1 && fours(other_stride) && fours(length) && fours(matrix->outer) &&
           fours(matrix->inner);
}

/* With the scales of their runs. */
static double block_bytes(enum weft_half half) {
    const double run = (half & WEFT_BLOCKS_SHORT) != 0 ? 16.0 : 32.0;
    const double scale = (half & WEFT_BLOCKS_UNITS) != 0 ? 1.0 / run + 2.0 / WEFT_UNIT_ELEMENTS
                         : (half & WEFT_BLOCKS_F16) != 0 ? 2.0 / run
                                                         : 4.0 / run;
    return ((half & WEFT_BLOCKS_OF_FOUR) != 0 ? 0.5 : 1.0) +
           ((half & WEFT_BLOCKS_OFFSETS) != 0 ? 2.0 : 1.0) * scale;
}

static double element_bytes(enum weft_half half) {
    if (half >= WEFT_HALF_BLOCKS) {
        return block_bytes(half);
    }
    return half == WEFT_HALF_NOT ? 4.0 : half == WEFT_HALF_I8 ? 1.0 : 2.0;
}

static void count_costs(struct weft_dispatch *dispatch, const struct weft_product *product) {
    double m = product->m;
    double n = product->n;
    double k = product->k;
    dispatch->flops =
        product->batches * (2.0 * m * n * k + m * n * (product->activation ? 20.0 : 0.0));
    dispatch->bytes =
        product->batches *
        (m * k * (product->a.half ? 2.0 : 4.0) + k * n * element_bytes(product->b.half) +
         4.0 * m * n * (product->residual != WEFT_NO_STORAGE ? 2 : 1));
    dispatch->turns = 0.5 * k; /* loops of some terms at once, in blocks: 0.3 on llvmpipe */
}

static const struct weft_variant_set *variants_for(const struct weft_matrix *b) {
    return b->panels    ? &weft_panel_product_variants
           : b->along_k ? &weft_cooperative_product_variants
                        : &weft_product_variants;
}

static uint32_t bias_of(const struct weft_product *p) {
    return p->bias == WEFT_NO_STORAGE ? WEFT_BIAS_OF_NOTHING
           : p->bias_of_rows          ? WEFT_BIAS_OF_ROWS
                                      : WEFT_BIAS_OF_COLUMNS;
}

static void lower_dispatch(struct weft_lowering *lowering, const struct weft_product *p) {
    const bool vector_b = p->b.along_k ? can_load_fours(&p->b, p->b.row, p->b.column, p->k)
                                       : can_load_fours(&p->b, p->b.column, p->b.row, p->n);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, variants_for(&p->b), p->batches, matmul_tiled,
        .bind = {.a = p->a.storage,
                 .b = p->b.storage,
                 .bias = p->bias,
                 .residual = p->residual,
                 .c = p->c.storage},
        .push = {.m = p->m,
                 .n = p->n,
                 .k = p->k,
                 .inner = p->inner_count,
                 .a_outer = p->a.outer,
                 .a_inner = p->a.inner,
                 .a_row = p->a.row,
                 .a_column = p->a.column,
                 .b_outer = p->b.outer,
                 .b_inner = p->b.inner,
                 .b_row = p->b.row,
                 .b_column = p->b.column,
                 .c_outer = p->c.outer,
                 .c_inner = p->c.inner,
                 .c_row = p->c.row,
                 .alpha = p->alpha,
                 .batches = p->batches},
        .constant = {.activation = (int32_t)p->activation,
                     .has_bias = bias_of(p),
                     .has_residual = p->residual != WEFT_NO_STORAGE,
                     .vector_a = can_load_fours(&p->a, p->a.column, p->a.row, p->k),
                     .vector_b = vector_b,
                     .vector_c = can_load_fours(&p->c, p->c.column, p->c.row, p->n),
                     .half_a = (uint32_t)p->a.half,
                     .half_b = (uint32_t)p->b.half});
    count_costs(dispatch, p);
}

/* The padding of the last panel is multiplied, too. */
static bool fills_panels(uint64_t n) {
    const uint64_t padded = (n + WEFT_PANEL_COLUMNS - 1) / WEFT_PANEL_COLUMNS * WEFT_PANEL_COLUMNS;
    return 4 * n >= 3 * padded;
}

/* True if it takes less time to copy b to panels first: rows share what that costs. Who names an implementation gets that alone. */
static bool is_worth_panels(const struct weft_lowering *lowering, const struct weft_product *p) {
    enum { ROWS = 128 };
    const bool is_plain = !p->b.panels && !p->b.along_k && p->b.half == WEFT_HALF_NOT;
    const double bytes = 4.0 * p->batches * p->k * ((double)p->n + WEFT_PANEL_COLUMNS);
    return is_plain && weft_lower_on_processor(lowering) && p->m >= ROWS && fills_panels(p->n) &&
           bytes < (double)weft_cut_limit(lowering) && !lowering->chooser->forced;
}

static struct weft_matrix panels_of(struct weft_lowering *lowering, const struct weft_product *p) {
    struct weft_product once = *p;
    const uint32_t steps = ((p->n - 1) / WEFT_PANEL_COLUMNS + 1) * p->k;
    const bool shared = p->b.outer == 0 && p->b.inner == 0;
    once.batches = shared ? 1 : p->batches;
    return (struct weft_matrix){
        .storage = weft_lower_panels(lowering, &once, WEFT_PANEL_COLUMNS, WEFT_NO_STORAGE),
        .outer = shared ? 0 : p->inner_count * steps,
        .inner = shared ? 0 : steps,
        .panels = true};
}

void weft_lower_product(struct weft_lowering *lowering, const struct weft_product *p) {
    struct weft_product product = *p;
    if (is_worth_panels(lowering, p)) {
        product.b = panels_of(lowering, p);
    }
    lower_dispatch(lowering, &product);
}

/* ---- building ---- */

weft_status weft_graph_matmul(weft_tensor *out, weft_graph *graph, weft_tensor a, weft_tensor b,
                              const weft_matmul_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    struct weft_matmul_node node = {.alpha = 1.0F};
    if (params) {
        node.transpose_a = params->transpose_a;
        node.transpose_b = params->transpose_b;
        node.alpha = params->alpha == 0.0F ? 1.0F : params->alpha;
    }
    weft_tensor inputs[] = {a, b};
    return weft_graph_add(out, graph, &weft_op_matmul, inputs, 2, &node, sizeof node);
}

weft_status weft_graph_linear(weft_tensor *out, weft_graph *graph, weft_tensor x,
                              weft_tensor weight, weft_tensor bias) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_graph_mark mark = weft_graph_mark(graph);
    weft_tensor product;
    weft_status status =
        weft_graph_matmul(&product, graph, x, weight, weft_matmul_params(.transpose_b = true));
    if (status == WEFT_OK && bias.id != 0) {
        status = weft_graph_binary_of_shape(&product, graph, WEFT_BINARY_ADD, product, bias);
    }
    if (status == WEFT_OK) {
        *out = product;
    }
    return weft_graph_end(graph, mark, status);
}

/* ---- shapes ---- */

struct dims {
    uint32_t m, n, k;
    uint32_t k_of_b;
};

static struct dims dims_of(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    const uint32_t *a_end = &a->dim[a->rank - 2];
    const uint32_t *b_end = &b->dim[b->rank - 2];
    return (struct dims){.m = a_end[params->transpose_a ? 1 : 0],
                         .k = a_end[params->transpose_a ? 0 : 1],
                         .n = b_end[params->transpose_b ? 0 : 1],
                         .k_of_b = b_end[params->transpose_b ? 1 : 0]};
}

static bool batches_fit(const weft_shape *a, const weft_shape *b) {
    return a->rank == 2 || b->rank == 2 ||
           (a->rank == b->rank && memcmp(a->dim, b->dim, (a->rank - 2) * sizeof a->dim[0]) == 0);
}

static weft_status matmul_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    char left[WEFT_SHAPE_TEXT_SIZE];
    char right[WEFT_SHAPE_TEXT_SIZE];
    WEFT_TRY(weft_expect_f32(graph, node, 0, "a"));
    WEFT_TRY(weft_expect_f32(graph, node, 1, "b"));
    if (!isfinite(params->alpha)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "matmul: alpha %g must be finite",
                         (double)params->alpha);
    }
    if (a->rank < 2 || b->rank < 2 || !batches_fit(a, b) ||
        dims_of(graph, node).k != dims_of(graph, node).k_of_b) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "matmul: %s%s and %s%s cannot be multiplied", weft_shape_text(*a, left),
                         params->transpose_a ? " (transposed)" : "", weft_shape_text(*b, right),
                         params->transpose_b ? " (transposed)" : "");
    }
    struct dims dims = dims_of(graph, node);
    *dtype = WEFT_F32;
    *shape = a->rank >= b->rank ? *a : *b;
    shape->dim[shape->rank - 2] = dims.m;
    shape->dim[shape->rank - 1] = dims.n;
    return WEFT_OK;
}

/* ---- lowering ---- */

static uint32_t batches_of(const weft_shape *shape) {
    uint32_t batches = 1;
    for (uint32_t i = 0; i + 2 < shape->rank; i++) {
        batches *= shape->dim[i];
    }
    return batches;
}

static struct weft_matrix dense(uint32_t rows, uint32_t columns, bool transposed, bool batched) {
    return (struct weft_matrix){.outer = batched ? rows * columns : 0,
                                .row = transposed ? 1 : columns,
                                .column = transposed ? rows : 1};
}

static void address(struct weft_product *product, const weft_graph *graph,
                    const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    struct dims dims = dims_of(graph, node);
    product->m = dims.m;
    product->n = dims.n;
    product->k = dims.k;
    product->batches = batches_of(&graph->values[node->output].shape);
    if (b->rank == 2 && !params->transpose_a) { /* one tall product instead of many */
        product->m *= product->batches;
        product->batches = 1;
    }
    product->a = dense(dims.m, dims.k, params->transpose_a, a->rank > 2 && product->batches > 1);
    product->b = dense(dims.k, dims.n, params->transpose_b, b->rank > 2);
    product->c = dense(dims.m, dims.n, false, true);
    if (graph->values[node->output].stride) { /* some of the columns */
        product->c.row = graph->values[node->output].stride;
        product->c.outer = dims.m * product->c.row;
    }
}

/* Form of b; NOT for a b that is not a weight or has 32 bits. */
static enum weft_half b_form(struct weft_lowering *lowering, uint32_t value, bool transpose_b) {
    if (transpose_b) {
        return weft_lower_rows_form(lowering, value);
    }
    return weft_lower_is_int8(lowering->graph, value, true)
               ? WEFT_HALF_I8
               : weft_lower_exact_half(lowering, value);
}

/**
 * Sets an operand's storage: as f16 where the device keeps the weight so, whose power of two then moves to alpha; otherwise, also
 * when alpha cannot take it exactly, b as it is stored, and a as f32.
 */
static void place_operand(struct weft_lowering *lowering, struct weft_product *product,
                          struct weft_matrix *matrix, uint32_t value, enum weft_layout layout,
                          bool transpose_b) {
    int exponent = 0;
    matrix->panels = layout == WEFT_LAYOUT_PANELS || layout == WEFT_LAYOUT_PANELS_OF_TRANSPOSED;
    matrix->half = matrix == &product->b ? b_form(lowering, value, transpose_b) : WEFT_HALF_NOT;
    if (weft_lower_half_exponent(&exponent, lowering, value)) {
        float alpha = ldexpf(product->alpha, -exponent);
        if (ldexpf(alpha, exponent) == product->alpha) {
            matrix->half = WEFT_HALF_SCALED;
            product->alpha = alpha;
        }
    }
    matrix->storage = weft_lower_matrix(lowering, value, layout, matrix->half);
}

/* `cooperative`: b has its elements along k next to each other, and cooperative matrices are taken if it is kept as f16. */
static weft_status lower(struct weft_lowering *lowering, const struct weft_node *node,
                         enum weft_layout b_layout, bool cooperative) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    struct weft_product product = {
        .inner_count = 1, .alpha = params->alpha, .activation = node->epilogue.activation};
    address(&product, lowering->graph, node);
    const bool transpose_b = params->transpose_b != 0;
    if (b_layout == WEFT_LAYOUT_FOURS) {
        product.b.storage = weft_lower_int8_weight(lowering, node->input[1], b_layout);
    } else {
        place_operand(lowering, &product, &product.a, node->input[0], WEFT_LAYOUT_AS_IT_IS, false);
        place_operand(lowering, &product, &product.b, node->input[1], b_layout, transpose_b);
    }
    if (b_layout == WEFT_LAYOUT_TRANSPOSED) {
        product.b.row = params->transpose_b ? product.n : 1;
        product.b.column = params->transpose_b ? 1 : product.k;
    }
    product.b.along_k = cooperative && product.b.half == WEFT_HALF_SCALED;
    product.bias = weft_lower_optional(lowering, node->epilogue.bias);
    product.residual = weft_lower_optional(lowering, node->epilogue.residual);
    product.c.storage = weft_lower_value(lowering, node->output);
    if (b_layout == WEFT_LAYOUT_FOURS) {
        weft_lower_int8_product(lowering, &product, node->input[0]);
    } else {
        weft_lower_product(lowering, &product);
    }
    return weft_lower_status(lowering);
}

static bool b_is_constant(const weft_graph *graph, const struct weft_node *node) {
    return graph->values[node->input[1]].weight && weft_node_shape(graph, node, 1)->rank == 2;
}

/* A product with a b of bytes that requires it runs by "int8" alone. */
static bool makes_bytes(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    return weft_lower_makes_bytes(graph, node->input[1], params->transpose_b == 0);
}

/* A b of blocks whose runs lie along k lies in panels alone. */
static bool is_of_blocks(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    return params->transpose_b && b_is_constant(graph, node) &&
           weft_lower_block_form(graph, node->input[1]) != WEFT_HALF_NOT;
}

static bool product_supports(const weft_graph *graph, const struct weft_node *node,
                             const weft_device_info *device) {
    (void)device;
    return !makes_bytes(graph, node) && !is_of_blocks(graph, node);
}

static bool int8_supports(const weft_graph *graph, const struct weft_node *node,
                          const weft_device_info *device) {
    (void)device;
    return makes_bytes(graph, node);
}

static weft_status lower_int8(struct weft_lowering *lowering, const struct weft_node *node) {
    return lower(lowering, node, WEFT_LAYOUT_FOURS, false);
}

/* Rows of b next to each other in memory let kernels load four columns at once. */
static weft_status lower_product(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const bool transposed = params->transpose_b && b_is_constant(lowering->graph, node);
    return lower(lowering, node, transposed ? WEFT_LAYOUT_TRANSPOSED : WEFT_LAYOUT_AS_IT_IS, false);
}

static bool panels_support(const weft_graph *graph, const struct weft_node *node,
                           const weft_device_info *device) {
    (void)device;
    return !makes_bytes(graph, node) && b_is_constant(graph, node) &&
           (is_of_blocks(graph, node) || fills_panels(dims_of(graph, node).n));
}

static weft_status lower_panels(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    return lower(lowering, node,
                 params->transpose_b ? WEFT_LAYOUT_PANELS_OF_TRANSPOSED : WEFT_LAYOUT_PANELS,
                 false);
}

static uint32_t matmul_constant_layout(const struct weft_node *node, uint32_t input) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const bool panels = node->implementation && node->implementation->lower == lower_panels;
    const bool product = node->implementation && node->implementation->lower == lower_product;
    const bool bytes = node->implementation && node->implementation->lower == lower_int8;
    if (input != 1 || !params->transpose_b) {
        return panels && input == 1 ? WEFT_LAYOUT_PANELS : WEFT_LAYOUT_AS_IT_IS;
    }
    return panels    ? WEFT_LAYOUT_PANELS_OF_TRANSPOSED
           : bytes   ? WEFT_LAYOUT_FOURS
           : product ? WEFT_LAYOUT_TRANSPOSED
                     : WEFT_LAYOUT_AS_IT_IS;
}

/* Weights that are not kept as f16 are multiplied as usual. */
static weft_status lower_cooperative(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    int exponent = 0;
    if (!weft_lower_half_exponent(&exponent, lowering, node->input[1])) {
        return lower_product(lowering, node);
    }
    return lower(lowering, node,
                 params->transpose_b ? WEFT_LAYOUT_AS_IT_IS : WEFT_LAYOUT_TRANSPOSED, true);
}

static bool cooperative_supports(const weft_graph *graph, const struct weft_node *node,
                                 const weft_device_info *device) {
    return product_supports(graph, node, device) && b_is_constant(graph, node);
}

static bool has_cooperative_matrices(const weft_device_info *info) {
    for (uint32_t i = 0; i < weft_cooperative_product_variants.count; i++) {
        const struct weft_variant *row = &cooperative_product_rows[i];
        if (!weft_variant_misfit(row, info) &&
            row->needs.shared_memory <= info->max_shared_memory) {
            return true;
        }
    }
    return false;
}

/* ---- in parts ---- */

/* Columns `first` to first + count - 1 of a result, or of what is added to it. */
static uint32_t cut_columns(struct weft_lowering *lowering, uint32_t value, uint32_t first,
                            uint32_t count) {
    if (value == 0) {
        return 0;
    }
    weft_shape shape = lowering->graph->values[value].shape;
    const uint32_t stride = shape.dim[shape.rank - 1];
    shape.dim[shape.rank - 1] = count;
    return weft_cut_value(lowering, value, first, shape, shape.rank == 1 ? 0 : stride);
}

static void lower_columns(struct weft_lowering *lowering, const struct weft_node *node,
                          uint32_t first, uint32_t count) {
    struct weft_node part = *node;
    weft_shape b = *weft_node_shape(lowering->graph, node, 1);
    const uint64_t k = b.dim[b.rank - 1];
    b.dim[b.rank - 2] = count;
    part.input[1] = weft_cut_value(lowering, node->input[1], first * k, b, 0);
    part.output = cut_columns(lowering, node->output, first, count);
    part.epilogue.bias = cut_columns(lowering, node->epilogue.bias, first, count);
    part.epilogue.residual = cut_columns(lowering, node->epilogue.residual, first, count);
    weft_lower_node(lowering, &part);
}

/* How many columns a part has: whole panels, if one fits. */
static uint32_t columns_of_part(const struct weft_lowering *lowering, const struct weft_node *node,
                                const struct dims *dims) {
    const uint64_t column = (uint64_t)dims->k * sizeof(float);
    const uint64_t limit = weft_cut_limit(lowering);
    if (weft_cut_largest(lowering, node) <= limit) { /* but for what fills up the last panel */
        return (dims->n / 2 / WEFT_PANEL_COLUMNS + 1) * WEFT_PANEL_COLUMNS;
    }
    const bool panels = column * WEFT_PANEL_COLUMNS <= limit;
    const uint64_t step = panels ? WEFT_PANEL_COLUMNS : weft_cut_step(lowering, sizeof(float));
    return (uint32_t)weft_cut_count(lowering, dims->n, step, column);
}

/* Rows of a transposed b that is one matrix: other columns of the result, whose sums are the same. */
static bool lower_rows_of_b(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const struct dims dims = dims_of(lowering->graph, node);
    const weft_shape *b = weft_node_shape(lowering->graph, node, 1);
    const uint32_t count = columns_of_part(lowering, node, &dims);
    if (!params->transpose_b || weft_shape_elements(*b) != (uint64_t)dims.n * dims.k ||
        count >= dims.n || lowering->graph->values[node->output].stride) {
        return false;
    }
    for (uint64_t first = 0; first < dims.n; first += count) {
        const uint64_t left = dims.n - first;
        lower_columns(lowering, node, (uint32_t)first, (uint32_t)(left < count ? left : count));
    }
    return true;
}

static bool is_one_pair(const struct weft_lowering *lowering, const struct weft_node *node) {
    return batches_of(&lowering->graph->values[node->output].shape) == 1;
}

/* Rows of a, as one matrix where they are multiplied by the same b, else pairs of matrices and then rows of those of a pair. */
static bool matmul_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    enum { A = 1, B = 2 };
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    const uint32_t a_rank = weft_node_shape(lowering->graph, node, 0)->rank;
    const uint32_t b_rank = weft_node_shape(lowering->graph, node, 1)->rank;
    const struct weft_cut rows = {.inputs = A, .whole = 1};
    const struct weft_cut pairs = {.inputs = (a_rank > 2 ? A : 0) | (b_rank > 2 ? B : 0),
                                   .whole = 2};
    const bool by_rows = !params->transpose_a && (b_rank == 2 || is_one_pair(lowering, node));
    return weft_cut_along(lowering, node, (const struct weft_cut[]){by_rows ? rows : pairs, {0}}) ||
           lower_rows_of_b(lowering, node);
}

static void matmul_read_transposed(struct weft_node *node, uint32_t input) {
    struct weft_matmul_node *params = (void *)node->params.bytes;
    uint32_t *transposed = input == 0 ? &params->transpose_a : &params->transpose_b;
    *transposed = *transposed == 0;
}

static void matmul_describe(const struct weft_node *node, char *text, size_t size) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    snprintf(text, size, "%s%s", params->transpose_a ? "[aT]" : "",
             params->transpose_b ? "[bT]" : "");
}

static bool matmul_takes_bytes(bool *columns, const weft_graph *graph, const struct weft_node *node,
                               uint32_t input) {
    const struct weft_matmul_node *params = (const void *)node->params.bytes;
    *columns = params->transpose_b == 0;
    return input == 1 && b_is_constant(graph, node) &&
           dims_of(graph, node).k <= WEFT_INT8_MOST_TERMS;
}

const struct weft_op weft_op_matmul = {
    .name = "matmul",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(struct weft_matmul_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_matmul_node, transpose_a, BOOL),
                          WEFT_FIELD(weft_matmul_node, transpose_b, BOOL),
                          WEFT_FIELD(weft_matmul_node, alpha, F32)),
    .fusable = WEFT_FUSE_BIAS | WEFT_FUSE_ACTIVATION | WEFT_FUSE_RESIDUAL,
    .read_transposed = matmul_read_transposed,
    .constant_layout = matmul_constant_layout,
    .takes_bytes = matmul_takes_bytes,
    .infer = matmul_infer,
    .lower_parts = matmul_lower_parts,
    .describe = matmul_describe,
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "product",
         .supports = product_supports,
         .limits =
             "a b that is no weight of bytes for which a becomes bytes, too, and none of blocks",
         .cost = {.processor = 3.0F},
         .lower = lower_product},
        {.name = "int8",
         .supports = int8_supports,
         .limits = "a weight b stored as I8 with scales for the result's columns",
         .lower = lower_int8},
        {.name = "panels",
         .supports = panels_support,
         .limits = "a constant matrix b of blocks, or that fills three quarters of its panels of "
                   "64 columns",
         .cost = {.software = 3.0F, .hardware = 3.0F},
         .lower = lower_panels},
        {.name = "cooperative",
         .bits = 1,
         .supports = cooperative_supports,
         .limits = "a constant matrix b",
         .needs = {.f16_arithmetic = true,
                   .also = has_cooperative_matrices,
                   .also_text = "wants cooperative matrices of a size that a variant has"},
         .cost = {.software = 10.0F, .hardware = 0.6F, .processor = 10.0F},
         .lower = lower_cooperative}),
};

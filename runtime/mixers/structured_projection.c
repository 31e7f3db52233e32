/* SPDX-License-Identifier: MIT */
/*
 * Projections by structured feature matrices, applied by their fast transforms: Walsh-Hadamard transforms in shared
 * memory, circulant products by FFT or, short ones, by their definition. Inputs: x, diagonals, permutation.
 */
#include <math.h>
#include <stdio.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "core/vendor.h"
#include "kernels/structured_projection/circulant.h"
#include "kernels/structured_projection/circulant_lanes.h"
#include "kernels/structured_projection/cut.h"
#include "kernels/structured_projection/hadamard.h"
#include "kernels/structured_projection/hadamard_wide.h"
#include "kernels/structured_projection/multiply.h"
#include "kernels/structured_projection/pad.h"
#include "lower/divisor.h"
#include "mixers/convolution.h"

enum { X = 0, DIAGONALS = 1, PERMUTATION = 2, INPUTS = 3 };

#define SHORT 127U /* columns of circulant blocks that are multiplied by their definition */

struct weft_structured_projection_node {
    weft_features_kind kind;
    uint32_t heads;
    uint32_t rows;
    float scale;
};

/* ---- building ---- */

weft_status weft_graph_structured_projection(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                             weft_tensor diagonals,
                                             const weft_structured_projection_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    const struct weft_structured_projection_node node = {.kind = params->kind,
                                                         .heads = params->heads ? params->heads : 1,
                                                         .rows = params->rows,
                                                         .scale = params->scale};
    const weft_tensor inputs[INPUTS] = {x, diagonals, params->permutation};
    return weft_graph_add(out, graph, &weft_op_structured_projection, inputs, INPUTS, &node,
                          sizeof node);
}

/* ---- checking ---- */

static const struct weft_structured_projection_node *params_of(const struct weft_node *node) {
    return (const void *)node->params.bytes;
}

static uint32_t width_of(const weft_graph *graph, const struct weft_node *node) {
    return weft_node_shape(graph, node, X)->dim[2] / params_of(node)->heads;
}

/* How many factors the shape of the diagonals means: [blocks, diagonals, size]. */
static uint32_t factors_of(const weft_graph *graph, const struct weft_node *node) {
    const uint32_t diagonals = weft_node_shape(graph, node, DIAGONALS)->dim[1];
    switch (params_of(node)->kind) {
    case WEFT_FEATURES_ROM:
        return diagonals;
    case WEFT_FEATURES_S_HYBRID:
        return diagonals > 1 ? diagonals - 1 : 1; /* of 1, which is refused */
    default:
        return 0;
    }
}

static weft_status get_structure(weft_features_structure *structure, const weft_graph *graph,
                                 const struct weft_node *node) {
    const weft_features_params params = {.kind = params_of(node)->kind,
                                         .rows = params_of(node)->rows,
                                         .columns = width_of(graph, node),
                                         .factors = factors_of(graph, node)};
    return weft_features_get_structure(structure, &params, &graph->host);
}

static bool has_transform(weft_features_kind kind) {
    return kind == WEFT_FEATURES_SORF || kind == WEFT_FEATURES_ROM ||
           kind == WEFT_FEATURES_S_HYBRID || kind == WEFT_FEATURES_FASTFOOD ||
           kind == WEFT_FEATURES_SCRF;
}

static weft_status check_params(const weft_graph *graph, struct weft_node *node) {
    struct weft_structured_projection_node *params = (void *)node->params.bytes;
    const weft_shape x = *weft_node_shape(graph, node, X);
    if (!has_transform(params->kind)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "structured_projection: kind is %s, not sorf, rom, s_hybrid, fastfood or "
                         "scrf",
                         weft_features_name(params->kind));
    }
    if (!isfinite(params->scale)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "structured_projection: scale %g must be finite", (double)params->scale);
    }
    WEFT_TRY(weft_expect_rank(graph, node, X, "x", 3, "[B, n, d]"));
    if (x.dim[2] % params->heads != 0) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "structured_projection: %u heads do not divide %u channels", params->heads,
                         x.dim[2]);
    }
    if (params->scale == 0.0F) {
        const uint32_t width = x.dim[2] / params->heads;
        params->scale = (float)(1.0 / sqrt(sqrt((double)width)));
    }
    return WEFT_OK;
}

/* The entries of a permutation that is a weight. One that is not gives NaN where it is out of range. */
static weft_status check_entries(const weft_graph *graph, const struct weft_node *node,
                                 uint32_t size) {
    const uint32_t storage = weft_graph_storage_of(graph, node->input[PERMUTATION]);
    weft_weight *weight = graph->values[storage].weight;
    const uint64_t count = weight ? weft_shape_elements(weight->shape) : 0;
    const void *entries = NULL;
    WEFT_TRY(weight ? weft_weight_data(&entries, weight) : WEFT_OK);
    for (uint64_t i = 0; i < count; i++) {
        const int32_t entry = ((const int32_t *)entries)[i];
        if (entry < 0 || (uint32_t)entry >= size) {
            return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                             "structured_projection: permutation[%llu] is %d, not 0 to %u",
                             (unsigned long long)i, entry, size - 1);
        }
    }
    return WEFT_OK;
}

static weft_status check_permutation(const weft_graph *graph, const struct weft_node *node,
                                     const weft_features_structure *structure) {
    if (structure->permuted != (node->input[PERMUTATION] != 0)) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "structured_projection: permutation is %s, but %s takes %s",
                         structure->permuted ? "missing" : "given",
                         weft_features_name(params_of(node)->kind),
                         structure->permuted ? "one" : "none");
    }
    if (!structure->permuted) {
        return WEFT_OK;
    }
    const weft_shape found = *weft_node_shape(graph, node, PERMUTATION);
    const weft_shape expected = weft_shape_of(structure->blocks, structure->size);
    if (graph->values[node->input[PERMUTATION]].dtype != WEFT_I32 ||
        !weft_shape_equal(found, expected)) {
        char text[2][WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "structured_projection: permutation must be i32 %s, not %s %s",
                         weft_shape_text(expected, text[0]),
                         weft_dtype_name(graph->values[node->input[PERMUTATION]].dtype),
                         weft_shape_text(found, text[1]));
    }
    return check_entries(graph, node, structure->size);
}

static weft_status check_parts(const weft_graph *graph, const struct weft_node *node) {
    weft_features_structure structure = {.transform = WEFT_FEATURES_DENSE};
    WEFT_TRY(weft_expect_rank(graph, node, DIAGONALS, "diagonals", 3, "[blocks, diagonals, size]"));
    WEFT_TRY(get_structure(&structure, graph, node));
    WEFT_TRY(
        weft_expect_shape(graph, node, DIAGONALS, "diagonals",
                          weft_shape_of(structure.blocks, structure.diagonals, structure.size)));
    return check_permutation(graph, node, &structure);
}

static weft_status structured_projection_infer(const weft_graph *graph, struct weft_node *node,
                                               weft_dtype *dtype, weft_shape *shape) {
    WEFT_TRY(weft_expect_f32(graph, node, X, "x"));
    WEFT_TRY(weft_expect_f32(graph, node, DIAGONALS, "diagonals"));
    WEFT_TRY(check_params(graph, node));
    WEFT_TRY(check_parts(graph, node));
    const uint64_t channels = (uint64_t)params_of(node)->heads * params_of(node)->rows;
    if (channels > UINT32_MAX) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "structured_projection: %u heads of %u rows are too many",
                         params_of(node)->heads, params_of(node)->rows);
    }
    *dtype = WEFT_F32;
    *shape = *weft_node_shape(graph, node, X);
    shape->dim[2] = (uint32_t)channels;
    return WEFT_OK;
}

/* ---- lowering ---- */

/** A node while it is lowered. */
struct lowered {
    struct weft_lowering *lowering;
    weft_features_structure structure;
    uint32_t width, features;
    uint64_t rows; /* batch · tokens · heads */
    uint32_t x, diagonals, result;
    float scale;
};

/** A failure sticks to the lowering. */
static struct lowered begin(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_graph *graph = lowering->graph;
    const weft_shape *x = weft_node_shape(graph, node, X);
    struct lowered l = {.lowering = lowering,
                        .width = width_of(graph, node),
                        .features = params_of(node)->rows,
                        .rows = (uint64_t)x->dim[0] * x->dim[1] * params_of(node)->heads,
                        .scale = params_of(node)->scale};
    const weft_status status = get_structure(&l.structure, graph, node);
    if (status != WEFT_OK) {
        weft_lower_fail(lowering, status);
    }
    l.x = weft_lower_value(lowering, node->input[X]);
    l.diagonals = weft_lower_value(lowering, node->input[DIAGONALS]);
    l.result = weft_lower_value(lowering, node->output);
    return l;
}

/* ---- Hadamard matrices ---- */

/* A workgroup has a block or, of short ones, as many as its invocations have sets for. */
static struct weft_grid blocks_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t batches) {
    const struct weft_structured_projection_hadamard_args *words = args;
    const uint32_t least =
        WEFT_STRUCTURED_PROJECTION_HADAMARD_SET * variant->shader->interface.local_size[0];
    const uint32_t size = UINT32_C(1) << words->constant.bits;
    const uint32_t units = size < least ? least / size : 1;
    (void)batches;
    return weft_grid_of_groups((words->push.units - 1) / units + 1);
}

/* Mesa's compiler for a Raspberry Pi's GPU takes minutes for as much code as there is without loops. */
static bool compiles_long_code(const weft_device_info *info) {
    return info->vendor_id != WEFT_VENDOR_BROADCOM;
}

/*
 * Blocks of 4,096 elements have 32 for each of 128 invocations, more than some compilers for GPUs have registers for; an invocation of
 * twice as many has 16. Processors have no use for more invocations. What is rolled up is slower and compiles everywhere.
 */
WEFT_VARIANTS(hadamard, "structured_projection/hadamard",
              {.name = "narrow",
               .shader = &weft_shader_structured_projection_hadamard,
               .grid = blocks_grid,
               .needs = {.also = compiles_long_code,
                         .also_text = "wants a compiler that takes long code"},
               .cost = {.hardware = 3.0F}},
              {.name = "wide",
               .shader = &weft_shader_structured_projection_hadamard_wide,
               .grid = blocks_grid,
               .needs = {.invocations = 256,
                         .also = compiles_long_code,
                         .also_text = "wants a compiler that takes long code"},
               .cost = {.software = 3.0F, .processor = 3.0F}},
              {.name = "rolled",
               .shader = &weft_shader_structured_projection_hadamard_wide,
               .tiles = {[WEFT_STRUCTURED_PROJECTION_HADAMARD_WIDE_AT_TILE_ROLLED] = 1},
               .grid = blocks_grid,
               .needs = {.invocations = 256},
               .cost = {.software = 3.0F, .hardware = 3.0F, .processor = 4.0F}})

static weft_status lower_hadamard(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct lowered l = begin(lowering, node);
    WEFT_TRY(weft_lower_status(lowering));
    const weft_features_structure *structure = &l.structure;
    const weft_features_kind kind = params_of(node)->kind;
    const uint64_t units = l.rows * structure->blocks;
    /* S-Hybrid's last two diagonals are of two products; of FastFood's three, one is not followed by a transform. */
    const int transforms = (int)structure->diagonals -
                           (kind == WEFT_FEATURES_S_HYBRID || kind == WEFT_FEATURES_FASTFOOD);
    const uint32_t bits = weft_log2(structure->size);
    const int half = (int)bits / 2;
    const double scale = (double)structure->scale * (double)l.scale;
    const uint32_t permutation = weft_lower_optional(lowering, node->input[PERMUTATION]);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_hadamard_variants, 1, structured_projection_hadamard,
        .bind = {.x = l.x,
                 .diagonals = l.diagonals,
                 .permutation = permutation,
                 .result = l.result},
        .push = {.units = (uint32_t)units,
                 .width = l.width,
                 .rows = (uint32_t)l.rows,
                 .blocks = structure->blocks,
                 .diagonal_count = structure->diagonals,
                 .features = l.features,
                 .passes =
                     bits == 0
                         ? 1
                         : (bits - 1) / weft_log2(WEFT_STRUCTURED_PROJECTION_HADAMARD_SET) + 1,
                 .step = (float)(ldexp(1.0, -half)),
                 .scale = (float)(ldexp(scale, half * transforms))},
        .constant = {.kind = (uint32_t)kind,
                     .bits = bits,
                     .odd = kind != WEFT_FEATURES_FASTFOOD && structure->diagonals % 2 == 0,
                     .fours = l.features % 4 == 0});
    const double elements = (double)units * structure->size;
    dispatch->flops = elements * transforms * (2.0 + bits);
    dispatch->bytes = 4.0 * (double)l.rows * ((double)l.width + l.features);
    return weft_lower_status(lowering);
}

static bool is_hadamard(const weft_graph *graph, const struct weft_node *node,
                        const weft_device_info *device) {
    (void)graph;
    (void)device;
    return params_of(node)->kind != WEFT_FEATURES_SCRF;
}

/* ---- circulant matrices by their definition ---- */

static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_structured_projection_circulant_args *words = args;
    const uint32_t d = words->push.size;
    const uint32_t items = (d - 1) / WEFT_STRUCTURED_PROJECTION_CIRCULANT_LANES_TILE_ROWS + 1;
    const uint32_t rows = words->push.count / words->push.blocks / items;
    const uint64_t tiles = (d - 1) / WEFT_STRUCTURED_PROJECTION_CIRCULANT_LANES_COLUMNS + 1;
    (void)variant, (void)batches;
    return weft_grid_of_groups(tiles * words->push.blocks *
                               ((rows - 1) / WEFT_STRUCTURED_PROJECTION_CIRCULANT_LANES_ROWS + 1));
}

/* Processors want elements of a block along the lanes, and coefficients that lie in the order of their lags. */
WEFT_VARIANTS(circulant, "structured_projection/circulant",
              {.name = "items",
               .shader = &weft_shader_structured_projection_circulant,
               .grid = weft_grid_of_first_items,
               .cost = {.processor = 16.0F}},
              {.name = "lanes",
               .shader = &weft_shader_structured_projection_circulant_lanes,
               .grid = lanes_grid,
               .cost = {.software = 4.0F, .hardware = 4.0F}})

static weft_status lower_circulant(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t tile = WEFT_STRUCTURED_PROJECTION_CIRCULANT_TILE_ROWS;
    const struct lowered l = begin(lowering, node);
    WEFT_TRY(weft_lower_status(lowering));
    const uint64_t items = l.rows * l.structure.blocks * ((l.width - 1) / tile + 1);
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_circulant_variants, 1, structured_projection_circulant,
                            .bind = {.x = l.x, .diagonals = l.diagonals, .result = l.result},
                            .push = {.count = (uint32_t)items,
                                     .size = l.width,
                                     .blocks = l.structure.blocks,
                                     .features = l.features,
                                     .scale = l.structure.scale * l.scale,
                                     WEFT_INVERSE(size, l.width)});
    dispatch->flops = 2.0 * (double)l.rows * l.structure.blocks * l.width * l.width;
    dispatch->bytes = 4.0 * (double)l.rows * ((double)l.width + l.features);
    return weft_lower_status(lowering);
}

static bool is_circulant(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    (void)graph;
    (void)device;
    return params_of(node)->kind == WEFT_FEATURES_SCRF;
}

/* ---- circulant matrices by FFT ---- */

/* The block's own length, where that is a fast one; otherwise that of the linear convolution. */
static uint32_t transform_length(uint32_t size) {
    return weft_fast_length(size) == size ? size : weft_convolution_length(size);
}

/* Rows from `first` on of a source with `step` elements a row, as rows of the transform's length. */
struct padding {
    uint32_t source, first, step, rows, length;
    bool continued;
    float scale;
};

static void lower_pad(const struct lowered *l, const struct padding *padding, uint32_t padded) {
    const uint64_t count = (uint64_t)padding->rows * padding->length;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(l->lowering, structured_projection_pad, weft_grid_of_items(count),
                   .bind = {.source = padding->source, .rows = padded},
                   .push = {.count = (uint32_t)count,
                            .width = l->width,
                            .padded_length = padding->length,
                            .first_row = padding->first,
                            .row_step = padding->step,
                            .continued = padding->continued,
                            .scale = padding->scale,
                            WEFT_INVERSE(padded_length, padding->length)});
    dispatch->flops = (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

static uint32_t scratch(const struct lowered *l, uint64_t count) {
    return weft_lower_scratch(l->lowering, count * sizeof(float));
}

/* Half spectra of all blocks' columns, divided by the length: [blocks, bins, 2]. */
static uint32_t lower_kernels(const struct lowered *l, uint32_t length) {
    const uint32_t blocks = l->structure.blocks;
    const uint32_t padded = scratch(l, (uint64_t)blocks * length);
    const uint32_t kernels = scratch(l, UINT64_C(2) * blocks * weft_convolution_bins(length));
    const struct padding padding = {.source = l->diagonals,
                                    .step = 2 * l->width,
                                    .rows = blocks,
                                    .length = length,
                                    .continued = length != l->width,
                                    .scale = (float)(1.0 / (double)length)};
    lower_pad(l, &padding, padded);
    weft_lower_row_fft(l->lowering, WEFT_FFT_R2C, length, blocks, padded, kernels);
    return kernels;
}

/* Work on a slab of rows; all slabs use the storages of the largest one. */
struct slabs {
    uint32_t length, rows;
    uint32_t kernels, padded, spectrum, products, inverse;
};

static struct slabs divide(const struct lowered *l, uint32_t length) {
    const uint64_t blocks = l->structure.blocks;
    const uint64_t bins = weft_convolution_bins(length);
    const uint32_t rows = weft_slab_rows(l->rows, 8 * blocks * bins, blocks);
    struct slabs slabs = {.length = length, .rows = rows, .kernels = lower_kernels(l, length)};
    slabs.padded = scratch(l, (uint64_t)rows * length);
    slabs.spectrum = scratch(l, UINT64_C(2) * rows * bins);
    slabs.products = scratch(l, UINT64_C(2) * rows * blocks * bins);
    slabs.inverse = scratch(l, rows * blocks * length);
    return slabs;
}

static void lower_multiply(const struct lowered *l, const struct slabs *slabs) {
    const uint32_t bins = weft_convolution_bins(slabs->length);
    const uint64_t count = (uint64_t)slabs->rows * l->structure.blocks * bins;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        l->lowering, structured_projection_multiply, weft_grid_of_items(count),
        .bind = {.rows = slabs->spectrum, .blocks = slabs->kernels, .result = slabs->products},
        .push = {.count = (uint32_t)count,
                 .bins = bins,
                 .blocks = l->structure.blocks,
                 WEFT_INVERSE(bins, bins),
                 WEFT_INVERSE(blocks, l->structure.blocks)});
    dispatch->flops = 6.0 * (double)count;
    dispatch->bytes = 16.0 * (double)count;
}

static void lower_cut(const struct lowered *l, const struct slabs *slabs, uint32_t first) {
    const uint64_t count = (uint64_t)slabs->rows * l->features;
    struct weft_dispatch *dispatch = WEFT_LOWER(
        l->lowering, structured_projection_cut, weft_grid_of_items(count),
        .bind = {.products = slabs->inverse, .diagonals = l->diagonals, .result = l->result},
        .push = {.count = (uint32_t)count,
                 .size = l->width,
                 .blocks = l->structure.blocks,
                 .padded_length = slabs->length,
                 .features = l->features,
                 .first_row = first,
                 .scale = l->structure.scale * l->scale,
                 WEFT_INVERSE(features, l->features),
                 WEFT_INVERSE(size, l->width)});
    dispatch->flops = 2.0 * (double)count;
    dispatch->bytes = 8.0 * (double)count;
}

static void lower_slab(const struct lowered *l, const struct slabs *slabs, uint32_t first) {
    const struct padding padding = {.source = l->x,
                                    .first = first,
                                    .step = l->width,
                                    .rows = slabs->rows,
                                    .length = slabs->length,
                                    .scale = 1.0F};
    lower_pad(l, &padding, slabs->padded);
    weft_lower_row_fft(l->lowering, WEFT_FFT_R2C, slabs->length, slabs->rows, slabs->padded,
                       slabs->spectrum);
    lower_multiply(l, slabs);
    weft_lower_row_fft(l->lowering, WEFT_FFT_C2R, slabs->length, slabs->rows * l->structure.blocks,
                       slabs->products, slabs->inverse);
    lower_cut(l, slabs, first);
}

static weft_status lower_circulant_fft(struct weft_lowering *lowering,
                                       const struct weft_node *node) {
    const struct lowered l = begin(lowering, node);
    WEFT_TRY(weft_lower_status(lowering));
    const struct slabs slabs = divide(&l, transform_length(l.width));
    for (uint64_t i = 0; i < l.rows && weft_lower_status(lowering) == WEFT_OK; i += slabs.rows) {
        const uint64_t last = l.rows - slabs.rows;
        lower_slab(&l, &slabs, (uint32_t)(i < last ? i : last));
    }
    return weft_lower_status(lowering);
}

/* All of a row's products are in one slab. */
static bool fft_supports(const weft_graph *graph, const struct weft_node *node,
                         const weft_device_info *device) {
    return is_circulant(graph, node, device) &&
           weft_node_shape(graph, node, DIAGONALS)->dim[0] <= WEFT_SLAB_TRANSFORMS;
}

/* ---- the choice ---- */

/*
 * Which is faster depends on the device; which it is must not. On lavapipe both products with circulants took the same
 * time at 64 columns and at 127, where the FFT is of twice the length; at 256 the FFT took a third.
 */
static const char *structured_projection_choose(const weft_graph *graph,
                                                const struct weft_node *node) {
    if (params_of(node)->kind != WEFT_FEATURES_SCRF) {
        return "hadamard";
    }
    return width_of(graph, node) <= SHORT ? "circulant" : "circulant_fft";
}

/** Names of the structured kinds, as weft_features_name gives them. */
static const char *const kind_words[] = {
    [WEFT_FEATURES_SORF] = "sorf",         [WEFT_FEATURES_ROM] = "rom",
    [WEFT_FEATURES_S_HYBRID] = "s_hybrid", [WEFT_FEATURES_FASTFOOD] = "fastfood",
    [WEFT_FEATURES_SCRF] = "scrf",         [WEFT_FEATURES_P_MODEL] = "p_model"};

const struct weft_op weft_op_structured_projection = {
    .name = "structured_projection",
    .min_inputs = 2,
    .max_inputs = INPUTS,
    .params_size = sizeof(struct weft_structured_projection_node),
    .fields =
        WEFT_FIELDS(WEFT_FIELD_WORDS(weft_structured_projection_node, kind, "kind", kind_words),
                    WEFT_FIELD(weft_structured_projection_node, heads, COUNT),
                    WEFT_FIELD(weft_structured_projection_node, rows, U32),
                    WEFT_FIELD(weft_structured_projection_node, scale, F32)),
    .infer = structured_projection_infer,
    .choose = structured_projection_choose,
    .cuts = WEFT_CUTS({.inputs = 1 << X, .axes = 2}),
    .implementations = WEFT_IMPLEMENTATIONS(
        {.name = "hadamard", .supports = is_hadamard, .lower = lower_hadamard},
        {.name = "circulant", .bits = 1, .supports = is_circulant, .lower = lower_circulant},
        {.name = "circulant_fft",
         .bits = 2,
         .supports = fft_supports,
         .lower = lower_circulant_fft}),
};

/* SPDX-License-Identifier: MIT */
#include "mixers/band.h"

#include <math.h>

#include "core/try.h"
#include "kernels/banded_attention/direct.h"
#include "kernels/banded_attention/lanes.h"
#include "kernels/banded_attention/tiled.h"
#include "kernels/elementwise/convert.h"
#include "mixers/qkv.h"
#include "ops/mask.h"
#include "ops/numbers.h"
#include "ops/row.h"

/** How many keys the bands of a sequence's queries have together. */
static double count_pairs(const struct weft_band *band, uint32_t n) {
    double reach = band->half_width;
    double missing = reach * (reach + 1.0) / 2.0; /* at one end of the sequence */
    return band->causal ? n * (reach + 1.0) - missing : n * (2.0 * reach + 1.0) - 2.0 * missing;
}

/** The largest power of two that is at most 1 / (keys in a band); of causal bands the shaders have it for each query. */
static float unit_of(const struct weft_band *band, uint32_t n) {
    uint64_t keys = (uint64_t)band->half_width * (band->causal ? 1 : 2) + 1;
    keys = keys < n ? keys : n;
    float unit = 1.0F;
    for (uint64_t covered = 1; covered < keys; covered *= 2) {
        unit /= 2.0F;
    }
    return unit;
}

static struct weft_grid band_grid(const struct weft_banded_attention_direct_args *args,
                                  uint32_t queries, uint32_t sequences) {
    const uint64_t tiles = (args->push.n - 1) / queries + 1;
    return weft_grid_of_groups(sequences * tiles);
}

static struct weft_grid direct_grid(const struct weft_variant *variant, const void *args,
                                    uint32_t sequences) {
    return band_grid(args, weft_variant_tile(variant, WEFT_BANDED_ATTENTION_DIRECT_AT_TILE_QUERIES),
                     sequences);
}

static struct weft_grid tiled_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t sequences) {
    (void)variant;
    return band_grid(args, WEFT_BANDED_ATTENTION_TILED_QUERIES, sequences);
}

static struct weft_grid lanes_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t sequences) {
    (void)variant;
    return band_grid(args, WEFT_BANDED_ATTENTION_LANES_QUERIES, sequences);
}

/*
 * Registers alone suit drivers that emulate a GPU on a processor, whose caches serve all invocations, and spill on GPUs; GPUs want tiles in
 * shared memory; and the processor device one subgroup for queries that follow one another.
 */
WEFT_VARIANTS(band, "banded_attention/band",
              {.name = "tiled",
               .shader = &weft_shader_banded_attention_tiled,
               .grid = tiled_grid,
               .needs = WEFT_NEEDS_REGISTERS(weft_has_over_64_registers),
               .cost = {.software = 3.0F, .processor = 6.0F}},
              {.name = "direct",
               .shader = &weft_shader_banded_attention_direct,
               .grid = direct_grid,
               .cost = {.hardware = 3.0F, .processor = 16.0F}},
              WEFT_LANES_ROWS(banded_attention_lanes, lanes_grid, 1))

weft_status weft_check_sinks(const weft_graph *graph, const struct weft_node *node, uint32_t sinks,
                             uint32_t heads) {
    if (!weft_node_has_input(node, sinks)) {
        return WEFT_OK;
    }
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    const weft_shape found = *weft_node_shape(graph, node, sinks);
    const weft_shape wanted = weft_shape_of(heads);
    WEFT_TRY(weft_expect_f32(graph, node, sinks, "sinks"));
    return weft_shape_equal(found, wanted)
               ? WEFT_OK
               : weft_fail(&graph->host, WEFT_SHAPE_MISMATCH, "%s: sinks must be %s, not %s",
                           node->op->name, weft_shape_text(wanted, text[0]),
                           weft_shape_text(found, text[1]));
}

/* Input `index` of a node as the band reads it: itself, or each element as the nearest f16. */
static uint32_t lower_read(struct weft_lowering *lowering, const struct weft_node *node,
                           uint32_t index, bool f16) {
    const uint32_t x = weft_lower_value(lowering, node->input[index]);
    const uint64_t count = weft_shape_elements(*weft_node_shape(lowering->graph, node, index));
    if (!f16) {
        return x;
    }
    const uint32_t result = weft_lower_scratch(lowering, count * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, elementwise_convert, weft_grid_of_items(count),
                   .bind = {.x = x, .result = result}, .push = {.count = (uint32_t)count},
                   .constant = {.kind = WEFT_CONVERSION_NEAREST_F16});
    dispatch->bytes = 8.0 * (double)count;
    return result;
}

void weft_lower_band(struct weft_lowering *lowering, const struct weft_node *node,
                     const struct weft_band *band, uint32_t sinks) {
    const uint32_t lengths = weft_lower_lengths(lowering, node, node->op->lengths[0].input);
    const weft_shape *shape = weft_node_shape(lowering->graph, node, 0);
    const uint32_t n = shape->dim[1];
    const uint32_t d = shape->dim[2];
    const uint32_t width = d / band->heads;
    const uint32_t kv_heads = weft_kv_heads(band->kv_heads, band->heads);
    const uint32_t sequences = shape->dim[0] * band->heads;
    const uint32_t q = weft_lower_value(lowering, node->input[0]);
    const uint32_t k = lower_read(lowering, node, 1, band->f16);
    const uint32_t v = lower_read(lowering, node, 2, band->f16);
    const uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_band_variants, sequences, banded_attention_direct,
        .bind = {.q = q, .k = k, .v = v, .result = result, .lengths = lengths, .sinks = sinks},
        .push = {.sequences = sequences,
                 .width = width,
                 .n = n,
                 .d = d,
                 .heads = band->heads,
                 .kv_d = kv_heads * width,
                 .group = band->heads / kv_heads,
                 .before = band->half_width,
                 .after = band->causal ? 0 : band->half_width,
                 .scale = band->scale,
                 .unit = unit_of(band, n)},
        .constant = {.vector = d % 4 == 0 && width % 4 == 0,
                     .has_lengths = lengths != WEFT_NO_STORAGE,
                     .has_sinks = sinks != WEFT_NO_STORAGE});
    dispatch->flops = (double)sequences * count_pairs(band, n) * (4.0 * width + 20.0);
    dispatch->bytes = 8.0 * shape->dim[0] * n * (d + (double)kv_heads * width);
    dispatch->turns = fmin(n, 2.0 * band->half_width + 1.0);
}

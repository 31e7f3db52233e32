/* SPDX-License-Identifier: MIT */
#include "mixers/one_pass.h"

#include "kernels/attention/rows.h"
#include "lower/cut.h"
#include "ops/row.h"

static struct weft_grid rows_grid(const struct weft_variant *variant, const void *args,
                                  uint32_t batches) {
    const struct weft_attention_rows_args *a = args;
    (void)variant, (void)batches;
    return weft_grid_of(a->push.groups, 1, 1);
}

#define ROWS(text, lanes, rows)                                           \
    {                                                                     \
        .name = (text), .shader = &weft_shader_attention_rows,            \
        .tiles = {[WEFT_ATTENTION_ROWS_AT_TILE_LANES] = (lanes),          \
                  [WEFT_ATTENTION_ROWS_AT_TILE_ROWS] = (rows)},           \
        .needs = {.least_subgroup = (lanes), .most_subgroup = (lanes)},   \
        .cost = {.software = 8.0F, .hardware = 16.0F}, .grid = rows_grid, \
    }

WEFT_VARIANTS(attention_rows, "attention/rows", ROWS("lanes-4", 4, 2), ROWS("lanes-8", 8, 2),
              ROWS("lanes-16", 16, 6))

/* Queries that share the panels while these are in the nearest cache, as long as their scores stay in the next. */
static uint32_t rows_of_block(uint32_t queries, uint32_t columns) {
    enum { STEP = WEFT_ATTENTION_ROWS_MOST_ROWS, MOST = 96, BYTES = 1536 << 10 };
    const uint32_t fitting = BYTES / 4 / columns / STEP * STEP;
    const uint32_t most = fitting == 0 ? STEP : fitting < MOST ? fitting : MOST;
    const uint32_t blocks = (queries - 1) / most + 1;
    return ((queries - 1) / blocks / STEP + 1) * STEP;
}

/* How the work is divided. */
struct division {
    uint32_t queries, keys, width; /* of a head */
    uint32_t vectors;              /* of a panel of values */
    uint32_t rows, blocks;
    uint32_t score_stride;
    uint64_t group_bytes; /* of scratch memory */
    uint32_t groups;
};

static struct division divide(const struct weft_lowering *lowering,
                              const struct weft_product *scores) {
    enum { GROUPS_OF_A_THREAD = 4, GROUPS = 64 };
    struct division division = {.queries = scores->m, .keys = scores->n, .width = scores->k};
    division.vectors = division.width <= WEFT_PANEL_COLUMNS / 2 ? 2 : 4;
    division.rows = rows_of_block(division.queries, division.keys);
    division.blocks = scores->batches * ((division.queries - 1) / division.rows + 1);
    division.score_stride = ((division.keys - 1) / WEFT_PANEL_COLUMNS + 1) * WEFT_PANEL_COLUMNS;
    division.group_bytes = (uint64_t)division.rows *
                           (division.score_stride + WEFT_PANEL_COLUMNS + division.width) *
                           sizeof(float);
    const uint32_t threads = lowering->device->info.threads;
    const uint32_t wanted = threads ? threads * GROUPS_OF_A_THREAD : GROUPS;
    const uint64_t fitting = weft_cut_limit(lowering) / division.group_bytes;
    division.groups = division.blocks < wanted ? division.blocks : wanted;
    division.groups = division.groups < fitting ? division.groups : (uint32_t)fitting;
    return division;
}

/*
 * True if a head's panels and a block's scores fit. A whole block has several queries, so slices may be too small for
 * one.
 */
static bool fits(const struct weft_lowering *lowering, const struct division *division,
                 uint32_t heads) {
    const uint64_t columns = (division->width - 1) / WEFT_PANEL_COLUMNS + 1;
    const uint64_t panels = columns * WEFT_PANEL_COLUMNS * division->score_stride * sizeof(float);
    return division->groups > 0 && heads * panels <= weft_cut_limit(lowering);
}

static void lower_rows(struct weft_lowering *lowering, const struct weft_one_pass *attention,
                       const struct division *division) {
    struct weft_product product = attention->scores;
    const uint32_t keys =
        weft_lower_panels(lowering, &product, WEFT_PANEL_COLUMNS, WEFT_NO_STORAGE);
    product.b = attention->values;
    product.n = division->width;
    product.k = division->keys;
    const uint32_t values = weft_lower_panels(
        lowering, &product, WEFT_PANEL_COLUMNS / 4 * division->vectors, attention->lengths);
    const uint32_t scratch = weft_lower_scratch(lowering, division->groups * division->group_bytes);
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_attention_rows_variants, 1, attention_rows,
        .bind = {.q = product.a.storage,
                 .keys = keys,
                 .values = values,
                 .lengths = attention->lengths,
                 .scratch = scratch,
                 .result = attention->result},
        .push = {.groups = division->groups,
                 .blocks = division->blocks,
                 .rows = division->rows,
                 .queries = division->queries,
                 .columns = division->keys,
                 .heads = attention->heads,
                 .width = division->width,
                 .score_stride = division->score_stride,
                 .group_stride = (uint32_t)(division->group_bytes / sizeof(float)),
                 .scale = product.alpha},
        .constant = {.has_lengths = attention->lengths != WEFT_NO_STORAGE,
                     .value_vectors = division->vectors});
    const double scores = (double)product.batches * division->queries * division->keys;
    dispatch->flops = scores * (4.0 * division->width + 20.0);
    dispatch->bytes = 8.0 * product.batches * (double)division->width *
                      ((double)division->queries + (double)division->keys);
}

bool weft_lower_one_pass(struct weft_lowering *lowering, const struct weft_one_pass *attention) {
    const struct division division = divide(lowering, &attention->scores);
    if (!fits(lowering, &division, attention->heads)) {
        return false;
    }
    if (weft_lower_countable(lowering,
                             (double)division.groups * (double)division.group_bytes / sizeof(float),
                             "scores")) {
        lower_rows(lowering, attention, &division);
    }
    return true;
}

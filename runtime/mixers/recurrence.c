/* SPDX-License-Identifier: MIT */
/* Recurrences: a product for each token, which reads what the token before it gave. */
#include <stdio.h>
#include <string.h>

#include <weft/mixers.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/recurrence/cell.h"
#include "kernels/recurrence/cell_lanes.h"
#include "kernels/recurrence/gates.h"
#include "lower/cut.h"
#include "lower/divisor.h"
#include "ops/mask.h"
#include "ops/matmul.h"
#include "ops/row.h"

static_assert(WEFT_RECURRENCE_CELL_WIDTH == WEFT_MAX_RECURRENT_WIDTH, "shaders/recurrence");

enum { GATES, WEIGHT, BIAS, STATE, LENGTHS, INPUTS };

struct weft_recurrence_node {
    uint32_t cell;
    uint32_t reverse; /* a truth value without padding: equal nodes have equal bytes */
};

static const char *const cells[] = {"tanh", "relu", "gru", "gru_reset_first", "lstm"};
static const uint32_t parts_of[] = {1, 1, 3, 3, 4}; /* of the gates */
static_assert(sizeof cells / sizeof *cells == WEFT_CELL_COUNT, "a name for each cell");
static_assert(sizeof parts_of / sizeof *parts_of == WEFT_CELL_COUNT, "a number for each cell");

weft_status weft_graph_recurrence(weft_tensor *out, weft_graph *graph, weft_tensor gates,
                                  weft_tensor weight, const weft_recurrence_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const weft_recurrence_params given = params ? *params : (weft_recurrence_params){0};
    const struct weft_recurrence_node node = {.cell = (uint32_t)given.cell,
                                              .reverse = given.reverse};
    const weft_tensor inputs[INPUTS] = {gates, weight, given.bias, given.state, given.lengths};
    return weft_graph_add(out, graph, &weft_op_recurrence, inputs, INPUTS, &node, sizeof node);
}

static weft_status recurrence_infer(const weft_graph *graph, struct weft_node *node,
                                    weft_dtype *dtype, weft_shape *shape) {
    const struct weft_recurrence_node *params = (const void *)node->params.bytes;
    if (params->cell >= WEFT_CELL_COUNT) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT, "recurrence: unknown cell %u",
                         params->cell);
    }
    WEFT_TRY(weft_expect_rank(graph, node, GATES, "gates", 3, "[B, n, gates·d]"));
    WEFT_TRY(weft_expect_rank(graph, node, WEIGHT, "weight", 2, "[gates·d, d]"));
    const weft_shape gates = *weft_node_shape(graph, node, GATES);
    const uint32_t width = weft_node_shape(graph, node, WEIGHT)->dim[1];
    if (width > WEFT_MAX_RECURRENT_WIDTH) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "recurrence: weight has %u channels, more than %d", width,
                         WEFT_MAX_RECURRENT_WIDTH);
    }
    const uint32_t rows = parts_of[params->cell] * width;
    const uint32_t kept = params->cell == WEFT_CELL_LSTM ? 2 * width : width;
    WEFT_TRY(weft_expect_shape(graph, node, WEIGHT, "weight", weft_shape_of(rows, width)));
    WEFT_TRY(weft_expect_shape(graph, node, GATES, "gates",
                               weft_shape_of(gates.dim[0], gates.dim[1], rows)));
    if (weft_node_has_input(node, BIAS)) {
        WEFT_TRY(weft_expect_shape(graph, node, BIAS, "bias", weft_shape_of(rows)));
    }
    if (weft_node_has_input(node, STATE)) {
        WEFT_TRY(weft_expect_shape(graph, node, STATE, "state", weft_shape_of(gates.dim[0], kept)));
    }
    *dtype = WEFT_F32;
    *shape = weft_shape_of(gates.dim[0], gates.dim[1], kept);
    return WEFT_OK;
}

/* ---- lowering ---- */

WEFT_VARIANTS(recurrence_cell, "recurrence/cell",
              WEFT_GROUP_ROW(recurrence_cell, weft_grid_of_first_groups, 1.0F),
              WEFT_LANES_ROWS(recurrence_cell_lanes, weft_grid_of_first_groups, 1))

struct recurrence {
    const struct weft_recurrence_node *params;
    uint32_t sequences, n, width, parts, kept;
    uint32_t gates, weight, bias, state, lengths, result; /* storages */
    enum { PLAIN, IN_TILES, BYTES } form;                 /* of the weight */
};

/* ---- a constant weight in tiles: shaders/recurrence ---- */

struct tiles {
    const weft_weight *weight;
    uint32_t parts, width;
};

static size_t tile_elements(const struct tiles *t) {
    return (size_t)WEFT_RECURRENCE_CELL_TILE * t->parts * t->width;
}

static size_t bytes_of_tiles(const struct tiles *t) {
    return ((t->width - 1) / WEFT_RECURRENCE_CELL_TILE + 1) * tile_elements(t) * sizeof(float);
}

/* The terms of all parts of a unit, as the column of a tile. */
static void write_unit(float *tile, const struct tiles *t, const float *rows, uint32_t unit) {
    for (uint32_t part = 0; part < t->parts; part++) {
        const float *row = rows + ((size_t)part * t->width + unit) * t->width;
        float *to = tile + (size_t)part * WEFT_RECURRENCE_CELL_TILE;
        for (uint32_t j = 0; j < t->width; j++) {
            to[(size_t)j * t->parts * WEFT_RECURRENCE_CELL_TILE] = row[j];
        }
    }
}

static weft_status fill_tiles(void *user, void *data) {
    const struct tiles *t = user;
    struct weft_weight_view view;
    WEFT_TRY(weft_weight_view_open(&view, t->weight));
    memset(data, 0, bytes_of_tiles(t));
    for (uint32_t unit = 0; unit < t->width; unit++) {
        float *tile = (float *)data + unit / WEFT_RECURRENCE_CELL_TILE * tile_elements(t);
        write_unit(tile + unit % WEFT_RECURRENCE_CELL_TILE, t, view.data, unit);
    }
    weft_weight_view_close(&view, t->weight);
    return WEFT_OK;
}

static uint32_t lower_tiles(struct weft_lowering *lowering, uint32_t value, uint32_t parts) {
    weft_weight *weight = lowering->graph->values[value].weight;
    struct tiles tiles = {.weight = weight, .parts = parts, .width = weight->shape.dim[1]};
    char key[64];
    snprintf(key, sizeof key, "weight/%llu/units/%u", (unsigned long long)weight->uid, parts);
    return weft_lower_table(lowering, key, bytes_of_tiles(&tiles), fill_tiles, &tiles);
}

/* Of all but the cell that resets h first, whose second product waits for the first: there bytes are numbers. */
static bool makes_bytes(const struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_recurrence_node *params = (const void *)node->params.bytes;
    return params->cell != WEFT_CELL_GRU_RESET_FIRST &&
           weft_lower_makes_bytes(lowering->graph, node->input[WEIGHT], false);
}

static uint32_t lower_weight(struct weft_lowering *lowering, const struct recurrence *r,
                             uint32_t value) {
    return r->form == BYTES      ? weft_lower_int8_weight(lowering, value, WEFT_LAYOUT_FOURS)
           : r->form == IN_TILES ? lower_tiles(lowering, value, r->parts)
                                 : weft_lower_value(lowering, value);
}

static struct recurrence recurrence_of(struct weft_lowering *lowering,
                                       const struct weft_node *node) {
    const struct weft_recurrence_node *params = (const void *)node->params.bytes;
    const weft_shape gates = *weft_node_shape(lowering->graph, node, GATES);
    const uint32_t width = weft_node_shape(lowering->graph, node, WEIGHT)->dim[1];
    const bool is_constant =
        lowering->graph->values[node->input[WEIGHT]].source == WEFT_VALUE_WEIGHT;
    struct recurrence r = {.params = params,
                           .sequences = gates.dim[0],
                           .n = gates.dim[1],
                           .width = width,
                           .parts = parts_of[params->cell],
                           .kept = params->cell == WEFT_CELL_LSTM ? 2 * width : width,
                           .gates = weft_lower_value(lowering, node->input[GATES]),
                           .bias = weft_lower_optional(lowering, node->input[BIAS]),
                           .state = weft_lower_optional(lowering, node->input[STATE]),
                           .lengths = weft_lower_lengths(lowering, node, LENGTHS),
                           .result = weft_lower_value(lowering, node->output),
                           .form = makes_bytes(lowering, node) ? BYTES
                                   : is_constant               ? IN_TILES
                                                               : PLAIN};
    r.weight = lower_weight(lowering, &r, node->input[WEIGHT]);
    return r;
}

/*
 * Of an invocation's loops in a step, at most: the terms of a unit, some at once and in blocks, what is added to them, and the parts. Where
 * loops end, a workgroup goes through the units: vectors of lanes are for this library's processor device.
 */
static double turns_of_step(const struct recurrence *r, uint32_t units_of_group) {
    const double units = (units_of_group - 1) / WEFT_RECURRENCE_CELL_LOCAL_X + 1.0;
    const double products = r->params->cell == WEFT_CELL_GRU_RESET_FIRST ? 2.0 : 1.0;
    const double kept = (double)r->kept / WEFT_RECURRENCE_CELL_LOCAL_X;
    return products * units * (1.25 * r->width + 20.0) + kept + 3.0;
}

static void lower_steps(struct weft_lowering *lowering, const struct recurrence *r, uint32_t units,
                        uint32_t first, uint32_t steps) {
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_recurrence_cell_variants, 1, recurrence_cell,
                            .bind = {.gates = r->gates,
                                     .weight = r->weight,
                                     .bias = r->bias,
                                     .state = r->state,
                                     .lengths = r->lengths,
                                     .result = r->result},
                            .push = {.groups = r->sequences * ((r->width - 1) / units + 1),
                                     .sequences = r->sequences,
                                     .n = r->n,
                                     .width = r->width,
                                     .parts = r->parts,
                                     .kept = r->kept,
                                     .units = units,
                                     .first = first,
                                     .steps = steps,
                                     .reverse = r->params->reverse},
                            .constant = {.cell = r->params->cell,
                                         .has_bias = r->bias != WEFT_NO_STORAGE,
                                         .has_state = r->state != WEFT_NO_STORAGE,
                                         .has_lengths = r->lengths != WEFT_NO_STORAGE,
                                         .in_tiles = r->form == IN_TILES});
    const double tokens = (double)r->sequences * steps;
    const double rows = (double)r->parts * r->width;
    dispatch->flops = 2.0 * tokens * rows * r->width;
    dispatch->bytes = 4.0 * (tokens * (rows + r->kept) + rows * r->width);
    dispatch->turns = steps * turns_of_step(r, units);
}

/*
 * Units of a workgroup: all of them for as many steps as a dispatch may make, or some of them in one step. Then many read a weight at once,
 * of which no core's cache may hold all, and the sequences of a batch read it together: worth a dispatch for each step.
 */
static uint32_t units_of_group(const struct recurrence *r) {
    enum { SHARED_ELEMENTS = 1 << 17, SHARED_UNITS = 32, MOST_DISPATCHES = 4096 };
    const bool needs_h_alone = r->params->cell != WEFT_CELL_GRU_RESET_FIRST;
    const bool is_large = (uint64_t)r->parts * r->width * r->width >= SHARED_ELEMENTS;
    const bool pays = r->n == 1 || (is_large && r->n <= MOST_DISPATCHES);
    return needs_h_alone && pays && r->width > SHARED_UNITS ? SHARED_UNITS : r->width;
}

/* ---- a weight of bytes ---- */

/* The cells of a step, or what is before the first. */
static void lower_gates(struct weft_lowering *lowering, const struct recurrence *r,
                        uint32_t products, uint32_t hidden, uint32_t index, bool begins) {
    const uint32_t count = r->sequences * r->width;
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, recurrence_gates, weft_grid_of_items(count),
                   .bind = {.gates = r->gates,
                            .products = products,
                            .state = r->state,
                            .lengths = r->lengths,
                            .hidden = hidden,
                            .result = r->result},
                   .push = {.count = count,
                            .n = r->n,
                            .width = r->width,
                            .parts = r->parts,
                            .kept = r->kept,
                            .index = index,
                            .reverse = r->params->reverse,
                            WEFT_INVERSE(width, r->width)},
                   .constant = {.cell = r->params->cell,
                                .has_state = r->state != WEFT_NO_STORAGE,
                                .has_lengths = r->lengths != WEFT_NO_STORAGE,
                                .begins = begins});
    dispatch->flops = 20.0 * r->parts * count;
    dispatch->bytes = 4.0 * count * (2.0 * r->parts + 2.0);
}

/* Of each step a = W h as a product of bytes by bytes, for all sequences at once, and then the cells. */
static void lower_products(struct weft_lowering *lowering, const struct recurrence *r) {
    const struct weft_product product = {
        .a = {.row = r->width, .column = 1},
        .b = {.storage = r->weight},
        .c = {.row = r->parts * r->width,
              .column = 1,
              .storage = weft_lower_scratch(lowering, (uint64_t)r->sequences * r->parts * r->width *
                                                          sizeof(float))},
        .m = r->sequences,
        .n = r->parts * r->width,
        .k = r->width,
        .batches = 1,
        .inner_count = 1,
        .alpha = 1.0F,
        .bias = r->bias,
        .residual = WEFT_NO_STORAGE};
    const uint32_t hidden =
        weft_lower_scratch(lowering, (uint64_t)r->sequences * r->width * sizeof(float));
    const uint32_t bytes = weft_lower_scratch(lowering, weft_row_bytes_size(&product));
    lower_gates(lowering, r, product.c.storage, hidden, 0, true);
    for (uint32_t step = 0; step < r->n; step++) {
        weft_lower_row_bytes(lowering, &product, hidden, bytes);
        weft_lower_product_of_bytes(lowering, &product, bytes);
        lower_gates(lowering, r, product.c.storage, hidden, step, false);
    }
}

static weft_status recurrence_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct recurrence r = recurrence_of(lowering, node);
    const double tokens = (double)r.sequences * r.n;
    if (!weft_lower_countable(lowering, tokens * r.parts * r.width, "elements")) {
        return weft_lower_status(lowering);
    }
    if (r.form == BYTES) {
        lower_products(lowering, &r);
        return weft_lower_status(lowering);
    }
    const uint32_t units = units_of_group(&r);
    const uint32_t operations = 2 * r.parts * r.width * r.width; /* of a step */
    const uint32_t at_once =
        units < r.width ? 1 : weft_cut_sequence(lowering, operations, turns_of_step(&r, units));
    for (uint32_t first = 0; first < r.n; first += at_once) {
        lower_steps(lowering, &r, units, first, r.n - first < at_once ? r.n - first : at_once);
    }
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_recurrence = {
    .name = "recurrence",
    .min_inputs = 2,
    .max_inputs = INPUTS,
    .lengths = {{.input = LENGTHS, .of = GATES}},
    .params_size = sizeof(struct weft_recurrence_node),
    .fields = WEFT_FIELDS(WEFT_FIELD_WORDS(weft_recurrence_node, cell, "cell", cells),
                          WEFT_FIELD(weft_recurrence_node, reverse, BOOL)),
    .infer = recurrence_infer,
    .cuts = WEFT_CUTS({.inputs = 1 << GATES | 1 << STATE | 1 << LENGTHS, .axes = 1}),
    .implementations = WEFT_IMPLEMENTATIONS({.name = "steps", .lower = recurrence_lower}),
};

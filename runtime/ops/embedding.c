/* SPDX-License-Identifier: MIT */
/* Sum of embedding tables. Inputs of the node: tokens, table, types, type_table, positions. */
#include <string.h>

#include "lower/cut.h"
#include "ops/row.h"

#include "core/given.h"
#include "kernels/embedding/embedding.h"

weft_status weft_graph_embedding(weft_tensor *out, weft_graph *graph,
                                 const weft_embedding_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, params);
    weft_tensor inputs[] = {params->tokens, params->table, params->types, params->type_table,
                            params->positions};
    return weft_graph_add(out, graph, &weft_op_embedding, inputs, 5, NULL, 0);
}

static weft_status expect_indices(const weft_graph *graph, const struct weft_node *node,
                                  uint32_t input, const char *role) {
    const struct weft_value *value = &graph->values[node->input[input]];
    if (value->dtype != WEFT_I32 || value->shape.rank != 2) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "embedding: %s must be i32 [B, n], not %s %s", role,
                         weft_dtype_name(value->dtype), weft_shape_text(value->shape, text));
    }
    return WEFT_OK;
}

static weft_status expect_table(const weft_graph *graph, const struct weft_node *node,
                                uint32_t input, const char *role, uint32_t columns) {
    const struct weft_value *value = &graph->values[node->input[input]];
    if (value->dtype != WEFT_F32 || value->shape.rank != 2 ||
        (columns && value->shape.dim[1] != columns)) {
        char text[WEFT_SHAPE_TEXT_SIZE];
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "embedding: %s must be f32 with rows of %u, not %s %s", role, columns,
                         weft_dtype_name(value->dtype), weft_shape_text(value->shape, text));
    }
    return WEFT_OK;
}

static weft_status check_types(const weft_graph *graph, const struct weft_node *node,
                               uint32_t columns) {
    if (!node->input[3]) {
        return node->input[2] ? weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                                          "embedding: types without type_table")
                              : WEFT_OK;
    }
    weft_status status = expect_table(graph, node, 3, "type_table", columns);
    if (status != WEFT_OK || !node->input[2]) {
        return status;
    }
    status = expect_indices(graph, node, 2, "types");
    if (status == WEFT_OK &&
        !weft_shape_equal(*weft_node_shape(graph, node, 0), *weft_node_shape(graph, node, 2))) {
        char tokens[WEFT_SHAPE_TEXT_SIZE];
        char types[WEFT_SHAPE_TEXT_SIZE];
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "embedding: tokens are %s but types are %s",
                           weft_shape_text(*weft_node_shape(graph, node, 0), tokens),
                           weft_shape_text(*weft_node_shape(graph, node, 2), types));
    }
    return status;
}

static weft_status check_positions(const weft_graph *graph, const struct weft_node *node,
                                   uint32_t columns) {
    if (!node->input[4]) {
        return WEFT_OK;
    }
    weft_status status = expect_table(graph, node, 4, "positions", columns);
    uint32_t length = weft_node_shape(graph, node, 0)->dim[1];
    uint32_t rows = weft_node_shape(graph, node, 4)->dim[0];
    if (status == WEFT_OK && rows < length) {
        status = weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "embedding: sequences of %u tokens, but the table has %u positions",
                           length, rows);
    }
    return status;
}

static weft_status embedding_infer(const weft_graph *graph, struct weft_node *node,
                                   weft_dtype *dtype, weft_shape *shape) {
    weft_status status = expect_indices(graph, node, 0, "tokens");
    if (status == WEFT_OK) {
        status = expect_table(graph, node, 1, "table", 0);
    }
    if (status != WEFT_OK) {
        return status;
    }
    uint32_t columns = weft_node_shape(graph, node, 1)->dim[1];
    status = check_types(graph, node, columns);
    if (status == WEFT_OK) {
        status = check_positions(graph, node, columns);
    }
    const weft_shape *tokens = weft_node_shape(graph, node, 0);
    *dtype = WEFT_F32;
    *shape = (weft_shape){.rank = 3, .dim = {tokens->dim[0], tokens->dim[1], columns}};
    return status;
}

/* ---- lowering ---- */

enum { TOKENS, TABLE, TYPES, TYPE_TABLE, POSITIONS, INPUTS };

/* Parameters of a node with a slice of the table; it computes only tokens in that slice. */
struct window {
    uint32_t first; /* row; that with row 0 also makes what tokens outside the table make */
    uint32_t table_rows;
};

static weft_status embedding_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_graph *graph = lowering->graph;
    const struct window *window = (const void *)node->params.bytes;
    const uint32_t rows = weft_node_shape(graph, node, TABLE)->dim[0];
    const enum weft_layout layout = weft_lower_shared_layout(lowering, node->input[TABLE]);
    const enum weft_half half = weft_lower_rows_form(lowering, node->input[TABLE]);
    uint32_t input[INPUTS];
    for (uint32_t i = 0; i < INPUTS; i++) {
        input[i] = i == TABLE ? weft_lower_matrix(lowering, node->input[i], layout, half)
                              : weft_lower_optional(lowering, node->input[i]);
    }
    const struct weft_row_args row =
        weft_lower_row_args(lowering, graph->values[node->output].shape, &node->epilogue);
    uint32_t result = weft_lower_value(lowering, node->output);
    struct weft_dispatch *dispatch = WEFT_LOWER(
        lowering, embedding_embedding, weft_grid_of_groups(row.rows),
        .bind = {.gamma = row.gamma,
                 .beta = row.beta,
                 .result = result,
                 .tokens = input[TOKENS],
                 .table = input[TABLE],
                 .types = input[TYPES],
                 .type_table = input[TYPE_TABLE],
                 .positions = input[POSITIONS]},
        .push = {.rows = row.rows,
                 .columns = row.columns,
                 .epsilon = row.epsilon,
                 .sequence_length = weft_node_shape(graph, node, TOKENS)->dim[1],
                 .table_rows = window->table_rows ? window->table_rows : rows,
                 .type_rows =
                     node->input[TYPE_TABLE] ? weft_node_shape(graph, node, TYPE_TABLE)->dim[0] : 1,
                 .first_row = window->first,
                 .window_rows = rows},
        .constant = {.has_norm = row.has_norm,
                     .kept = row.kept,
                     .has_types = node->input[TYPES] != 0,
                     .has_type_table = node->input[TYPE_TABLE] != 0,
                     .has_positions = node->input[POSITIONS] != 0,
                     .is_window = window->table_rows != 0,
                     .half_table = (uint32_t)half,
                     .table_layout = (uint32_t)layout});
    weft_row_finish(dispatch, &row);
    return weft_lower_status(lowering);
}

/* Rows of the table, once nothing else is too large. */
static bool lower_windows(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape table = *weft_node_shape(lowering->graph, node, TABLE);
    const uint64_t row_bytes = (uint64_t)table.dim[1] * sizeof(float);
    const uint64_t rows =
        weft_cut_count(lowering, table.dim[0], weft_cut_step(lowering, row_bytes), row_bytes);
    for (uint64_t first = 0; first < table.dim[0] && rows < table.dim[0]; first += rows) {
        const uint64_t left = table.dim[0] - first;
        const struct window window = {.first = (uint32_t)first, .table_rows = table.dim[0]};
        struct weft_node part = *node;
        memcpy(part.params.bytes, &window, sizeof window);
        part.input[TABLE] =
            weft_cut_value(lowering, node->input[TABLE], first * table.dim[1],
                           weft_shape_of((uint32_t)(left < rows ? left : rows), table.dim[1]), 0);
        weft_lower_node(lowering, &part);
    }
    return rows < table.dim[0];
}

/* Positions count from the start of a sequence: those of one alone can be cut with it. */
static bool lower_tokens(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape tokens = *weft_node_shape(lowering->graph, node, TOKENS);
    const struct weft_cut *one =
        WEFT_CUTS({.inputs = 1 << TOKENS | 1 << TYPES | 1 << POSITIONS, .axes = 2, .one = true});
    struct weft_node part = *node;
    if (node->input[POSITIONS] == 0 || tokens.dim[0] != 1) {
        return false;
    }
    const uint32_t columns = weft_node_shape(lowering->graph, node, POSITIONS)->dim[1];
    part.input[POSITIONS] = weft_cut_value(lowering, node->input[POSITIONS], 0,
                                           weft_shape_of(tokens.dim[1], columns), 0);
    return weft_cut_along(lowering, &part, one);
}

static bool embedding_lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    static const uint32_t by_token = 1 << TOKENS | 1 << TYPES;
    const struct weft_cut *cuts = WEFT_CUTS({.inputs = by_token, .axes = 2, .without = POSITIONS},
                                            {.inputs = by_token, .axes = 1});
    return weft_cut_along(lowering, node, cuts) || lower_tokens(lowering, node) ||
           lower_windows(lowering, node);
}

static bool embedding_takes_bytes(bool *columns, const weft_graph *graph,
                                  const struct weft_node *node, uint32_t input) {
    (void)graph, (void)node;
    *columns = false;
    return input == TABLE;
}

const struct weft_op weft_op_embedding = {
    .name = "embedding",
    .min_inputs = 2,
    .max_inputs = 5,
    .fusable = WEFT_FUSE_NORM,
    .indices = {{.input = TOKENS, .table = TABLE}, {.input = TYPES, .table = TYPE_TABLE}},
    .takes_bytes = embedding_takes_bytes,
    .infer = embedding_infer,
    .lower_parts = embedding_lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "row", .lower = embedding_lower}),
};

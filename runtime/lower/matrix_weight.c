/* SPDX-License-Identifier: MIT */
/* Constant matrices in the layouts that kernels read. */
#include "graph/op.h"
#include "lower/cut.h"
#include "lower/lowering.h"

uint32_t weft_lower_matrix(struct weft_lowering *lowering, uint32_t value, enum weft_layout layout,
                           enum weft_half half) {
    if (half == WEFT_HALF_I8) {
        return weft_lower_int8_weight(lowering, value, layout);
    }
    if (half >= WEFT_HALF_BLOCKS) {
        return weft_lower_block_weight(lowering, value);
    }
    if (layout == WEFT_LAYOUT_PANELS || layout == WEFT_LAYOUT_PANELS_OF_TRANSPOSED) {
        return weft_lower_panel_weight(lowering, value, layout == WEFT_LAYOUT_PANELS_OF_TRANSPOSED,
                                       half);
    }
    const bool transposed = layout == WEFT_LAYOUT_TRANSPOSED;
    if (half) {
        return weft_lower_half_weight(lowering, value, transposed, half);
    }
    return transposed ? weft_lower_transposed_weight(lowering, value)
                      : weft_lower_value(lowering, value);
}

enum weft_half weft_lower_rows_form(struct weft_lowering *lowering, uint32_t value) {
    const enum weft_half blocks = weft_lower_block_form(lowering->graph, value);
    return blocks != WEFT_HALF_NOT ? blocks
           : weft_lower_is_int8(lowering->graph, value, false)
               ? WEFT_HALF_I8
               : weft_lower_exact_half(lowering, value);
}

/* The first such layout, of a node that reads the table transposed. */
static enum weft_layout find_layout(const weft_graph *graph, uint32_t table) {
    enum weft_layout found = WEFT_LAYOUT_AS_IT_IS;
    for (uint32_t i = 0; i < graph->node_count && found == WEFT_LAYOUT_AS_IT_IS; i++) {
        const struct weft_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->op && node->op->constant_layout && k < node->input_count; k++) {
            if (node->input[k] == table) {
                found = (enum weft_layout)node->op->constant_layout(node, k);
            }
        }
    }
    return found == WEFT_LAYOUT_PANELS ? WEFT_LAYOUT_AS_IT_IS : found;
}

enum weft_layout weft_lower_shared_layout(struct weft_lowering *lowering, uint32_t table) {
    const struct weft_value *value = &lowering->graph->values[table];
    const bool small = weft_value_bytes(value) <= weft_cut_limit(lowering);
    const enum weft_layout found = value->weight && value->shape.rank == 2 && small
                                       ? find_layout(lowering->graph, table)
                                       : WEFT_LAYOUT_AS_IT_IS;
    int exponent = 0;
    if (weft_lower_block_form(lowering->graph, table) != WEFT_HALF_NOT) {
        return WEFT_LAYOUT_PANELS_OF_TRANSPOSED;
    }
    return found != WEFT_LAYOUT_AS_IT_IS && weft_lower_half_exponent(&exponent, lowering, table)
               ? WEFT_LAYOUT_AS_IT_IS
               : found;
}

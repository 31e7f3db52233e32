/* SPDX-License-Identifier: MIT */
/*
 * Transposes in front of products: a product that reads a transposed matrix reads the matrix itself, transposed. Its sums are
 * the same, in the same order. So a constant stays the weight that it is, and an activation is not copied.
 */
#include "plan/passes.h"

/** The node that makes a value by exchanging the last two axes of its input, or null. */
static const struct weft_node *transpose_of(const weft_graph *graph, uint32_t value) {
    const uint32_t index = value ? weft_graph_producer(graph, value) : UINT32_MAX;
    const struct weft_node *node = index == UINT32_MAX ? NULL : &graph->nodes[index];
    const bool exchanges = node && node->op->is_transpose && node->op->is_transpose(graph, node);
    return exchanges ? node : NULL;
}

weft_status weft_pass_transposes(weft_graph *graph) {
    bool any = false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct weft_node *node = &graph->nodes[i];
        for (uint32_t k = 0; node->op && node->op->read_transposed && k < node->input_count; k++) {
            const struct weft_node *transpose = transpose_of(graph, node->input[k]);
            if (transpose) {
                node->op->read_transposed(node, k);
                node->input[k] = transpose->input[0];
                any = true;
            }
        }
    }
    return any ? weft_pass_prune(graph) : WEFT_OK;
}

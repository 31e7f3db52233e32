/* SPDX-License-Identifier: MIT */
/*
 * Fusion. A fused node computes norm(activation(result + bias) + residual) with the same operations in the same order
 * as the separate nodes, so fusing never changes a bit (a test compares plans with and without it).
 */
#include "plan/passes.h"

#include "core/try.h"

struct fusion {
    weft_graph *graph;
    const uint32_t
        *uses; /* as they were: what is fused is read no more, and nothing else changes */
};

/** The node that makes `value` when it is read only once and its op can take over `what`; else null. */
static struct weft_node *taker(const struct fusion *fusion, uint32_t value, uint32_t what) {
    uint32_t index = weft_graph_producer(fusion->graph, value);
    if (index == UINT32_MAX || fusion->uses[value] != 1) {
        return NULL;
    }
    struct weft_node *node = &fusion->graph->nodes[index];
    return (node->op->fusable & what) == what ? node : NULL;
}

static uint32_t fuses_as(struct weft_epilogue *own, const struct weft_node *node) {
    *own = (struct weft_epilogue){0};
    return node->op->fuses_as ? node->op->fuses_as(own, node) : 0;
}

/** Moves `from`, whose epilogue has just taken over `into`'s work, to where `into` stands. */
static void replace(struct weft_node *into, struct weft_node *from) {
    uint32_t output = into->output;
    *into = *from;
    into->output = output;
    from->op = NULL;
}

static bool fuse_bias(struct fusion *fusion, struct weft_node *add) {
    const struct weft_value *bias = &fusion->graph->values[add->input[1]];
    struct weft_node *node = taker(fusion, add->input[0], WEFT_FUSE_BIAS);
    const weft_shape sum = fusion->graph->values[add->output].shape;
    if (!node || bias->shape.rank != 1 || bias->shape.dim[0] != sum.dim[sum.rank - 1] ||
        !weft_shape_equal(sum, fusion->graph->values[add->input[0]].shape)) {
        return false;
    }
    const struct weft_epilogue *done = &node->epilogue;
    if (done->bias || done->activation || done->residual || done->gamma) {
        return false;
    }
    node->epilogue.bias = add->input[1];
    replace(add, node);
    return true;
}

static bool fuse_residual_of(struct fusion *fusion, struct weft_node *add, uint32_t operand) {
    struct weft_node *node = taker(fusion, add->input[operand], WEFT_FUSE_RESIDUAL);
    if (!node || node->epilogue.residual || node->epilogue.gamma) {
        return false;
    }
    node->epilogue.residual = add->input[1 - operand];
    replace(add, node);
    return true;
}

static bool fuse_residual(struct fusion *fusion, struct weft_node *add) {
    const struct weft_value *a = &fusion->graph->values[add->input[0]];
    const struct weft_value *b = &fusion->graph->values[add->input[1]];
    if (!weft_shape_equal(a->shape, b->shape) || add->input[0] == add->input[1]) {
        return false;
    }
    return fuse_residual_of(fusion, add, 1) || fuse_residual_of(fusion, add, 0);
}

static bool fuse_activation(struct fusion *fusion, struct weft_node *activation,
                            const struct weft_epilogue *own) {
    struct weft_node *node = taker(fusion, activation->input[0], WEFT_FUSE_ACTIVATION);
    if (!node || node->epilogue.activation || node->epilogue.residual || node->epilogue.gamma) {
        return false;
    }
    node->epilogue.activation = own->activation;
    replace(activation, node);
    return true;
}

static bool fuse_norm(struct fusion *fusion, struct weft_node *norm,
                      const struct weft_epilogue *own) {
    struct weft_node *node = taker(fusion, norm->input[0], WEFT_FUSE_NORM);
    if (!node || node->epilogue.gamma || norm->epilogue.residual) {
        return false;
    }
    node->epilogue.gamma = own->gamma;
    node->epilogue.beta = own->beta;
    node->epilogue.epsilon = own->epsilon;
    replace(norm, node);
    return true;
}

/** LayerNorm(a + b) where neither a's nor b's node can take it: the norm reads both. */
static bool fuse_sum_into_norm(struct fusion *fusion, struct weft_node *norm) {
    uint32_t index = weft_graph_producer(fusion->graph, norm->input[0]);
    if (index == UINT32_MAX || fusion->uses[norm->input[0]] != 1 || norm->epilogue.residual) {
        return false;
    }
    struct weft_node *add = &fusion->graph->nodes[index];
    struct weft_epilogue own;
    if ((fuses_as(&own, add) & WEFT_FUSE_RESIDUAL) == 0 ||
        !weft_shape_equal(fusion->graph->values[add->input[0]].shape,
                          fusion->graph->values[add->input[1]].shape)) {
        return false;
    }
    norm->input[0] = add->input[0];
    norm->epilogue.residual = add->input[1];
    add->op = NULL;
    return true;
}

static bool fuse_node(struct fusion *fusion, struct weft_node *node) {
    struct weft_epilogue own;
    const uint32_t as = fuses_as(&own, node);
    return ((as & WEFT_FUSE_BIAS) && fuse_bias(fusion, node)) ||
           ((as & WEFT_FUSE_RESIDUAL) && fuse_residual(fusion, node)) ||
           ((as & WEFT_FUSE_ACTIVATION) && fuse_activation(fusion, node, &own)) ||
           ((as & WEFT_FUSE_NORM) &&
            (fuse_norm(fusion, node, &own) || fuse_sum_into_norm(fusion, node)));
}

weft_status weft_pass_fuse(weft_graph *graph) {
    uint32_t *uses = NULL;
    WEFT_TRY(weft_graph_count_uses(&uses, graph));
    struct fusion fusion = {.graph = graph, .uses = uses};
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (graph->nodes[i].op) {
            fuse_node(&fusion, &graph->nodes[i]);
        }
    }
    weft_free(&graph->host, uses);
    return WEFT_OK;
}

weft_status weft_pass_prune(weft_graph *graph) {
    uint32_t *uses = NULL;
    WEFT_TRY(weft_graph_count_uses(&uses, graph));
    for (uint32_t i = graph->node_count; i-- > 0;) {
        struct weft_node *node = &graph->nodes[i];
        if (!node->op || uses[node->output] > 0 || node->op->state_input != 0) {
            continue;
        }
        for (uint32_t k = 0; k < node->input_count; k++) {
            uses[node->input[k]]--;
        }
        node->op = NULL;
    }
    weft_free(&graph->host, uses);
    return WEFT_OK;
}

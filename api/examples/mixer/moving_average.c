/* SPDX-License-Identifier: MIT */
/* A mixer outside of Weft, by its public headers alone. README.md goes through this file. */
#include "moving_average.h"

#include <stdio.h>
#include <weft/op.h>

#include "shaders.h" /* made by CMakeLists.txt: scan_glsl, carry_glsl */

enum { X = 0, ALPHA = 1 };

#define CHUNK 64 /* tokens; carry.comp takes its logarithm for granted */

/* What a node keeps of its parameters. Zeroed before it is filled, so that equal nodes compare equal. */
struct node {
    uint32_t reverse;
};

/* ---- building ---- */

/* The elements of a weight are known while the graph is built. */
static weft_status check_alpha(const weft_graph *graph, const weft_node *node, uint32_t channels) {
    const float *alpha = weft_node_weight(graph, node, ALPHA);
    for (uint32_t i = 0; alpha && i < channels; i++) {
        if (!(alpha[i] > 0.0F && alpha[i] <= 1.0F)) {
            return weft_node_fail(graph, node, WEFT_INVALID_ARGUMENT,
                                  "alpha[%u] is %g, outside (0, 1]", i, (double)alpha[i]);
        }
    }
    return WEFT_OK;
}

static weft_status infer(const weft_graph *graph, weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    weft_status status = weft_expect_rank(graph, node, X, "x", 3, "[B, n, d]");
    if (status != WEFT_OK) {
        return status;
    }
    const weft_shape x = *weft_node_shape(graph, node, X);
    status = weft_expect_shape(graph, node, ALPHA, "alpha", weft_shape_of(x.dim[2]));
    if (status == WEFT_OK) {
        status = check_alpha(graph, node, x.dim[2]);
    }
    *dtype = WEFT_F32;
    *shape = x;
    return status;
}

/* ---- lowering ---- */

struct average {
    weft_shape shape;
    uint32_t chunks, reverse;
    uint32_t x, alpha, result; /* storages */
    uint32_t states;           /* [B, chunks, d]: averages at the chunks' ends; not of one chunk */
};

#define COUNT(array) (uint32_t)(sizeof(array) / sizeof(array)[0])

/* Each chunk by itself: for the states its end alone, otherwise all of it, from the state before it on. */
static void lower_scan(weft_lowering *lowering, const struct average *a, bool ends) {
    const uint64_t count = (uint64_t)a->shape.dim[0] * a->chunks * a->shape.dim[2];
    const double elements = (double)weft_shape_elements(a->shape);
    const weft_arg args[] = {
        weft_arg_buffer("x", a->x),
        weft_arg_buffer("alpha", a->alpha),
        weft_arg_buffer("states", ends ? WEFT_NO_STORAGE : a->states),
        weft_arg_buffer("result", ends ? a->states : a->result),
        weft_arg_uint("count", (uint32_t)count),
        weft_arg_uint("n", a->shape.dim[1]),
        weft_arg_uint("channels", a->shape.dim[2]),
        weft_arg_uint("chunks", a->chunks),
        weft_arg_uint("reverse", a->reverse),
        weft_arg_uint("ends", ends),
        weft_arg_uint("chunk", CHUNK),
    };
    weft_lower_launch(lowering,
                      weft_launch(.kernel = {.name = "moving_average/scan", .glsl = scan_glsl},
                                  .items = count, .args = args, .arg_count = COUNT(args),
                                  .flops = 3.0 * elements,
                                  .bytes = 4.0 * (elements + (ends ? (double)count : elements))));
}

/* The chunks' own ends become those of the whole sequence up to there. */
static void lower_carry(weft_lowering *lowering, const struct average *a) {
    const uint64_t count = (uint64_t)a->shape.dim[0] * a->shape.dim[2];
    const weft_arg args[] = {
        weft_arg_buffer("alpha", a->alpha),      weft_arg_buffer("states", a->states),
        weft_arg_uint("count", (uint32_t)count), weft_arg_uint("channels", a->shape.dim[2]),
        weft_arg_uint("chunks", a->chunks),
    };
    weft_lower_launch(lowering,
                      weft_launch(.kernel = {.name = "moving_average/carry", .glsl = carry_glsl},
                                  .items = count, .args = args, .arg_count = COUNT(args),
                                  .flops = 2.0 * (double)count * a->chunks,
                                  .bytes = 8.0 * (double)count * a->chunks));
}

static weft_status lower(weft_lowering *lowering, const weft_node *node) {
    const struct node *params = weft_node_params(node);
    const weft_shape shape = *weft_node_shape(weft_lower_graph(lowering), node, X);
    struct average a = {.shape = shape,
                        .chunks = (shape.dim[1] - 1) / CHUNK + 1,
                        .reverse = params->reverse,
                        .x = weft_lower_input(lowering, node, X),
                        .alpha = weft_lower_input(lowering, node, ALPHA),
                        .result = weft_lower_output(lowering, node),
                        .states = WEFT_NO_STORAGE};
    if (a.chunks > 1) {
        const uint64_t states = (uint64_t)shape.dim[0] * a.chunks * shape.dim[2];
        a.states = weft_lower_scratch(lowering, states * sizeof(float));
        lower_scan(lowering, &a, true);
        lower_carry(lowering, &a);
    }
    lower_scan(lowering, &a, false);
    return weft_lower_status(lowering);
}

/* ---- the op ---- */

static void describe(const weft_node *node, char *text, size_t size) {
    const struct node *params = weft_node_params(node);
    snprintf(text, size, "%s", params->reverse ? "[reverse]" : "");
}

weft_status graph_moving_average(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                 weft_tensor alpha, const moving_average_params *params) {
    static const weft_implementation rows[] = {{.name = "chunks", .lower = lower}};
    const struct node node = {.reverse = params && params->reverse};
    const weft_tensor inputs[] = {x, alpha};
    weft_op *op = NULL;
    weft_status status = weft_op_create(
        &op,
        weft_op_params(.name = "moving_average", .min_inputs = 2, .params_size = sizeof node,
                       .infer = infer, .describe = describe, .implementations = rows,
                       .implementation_count = COUNT(rows)),
        NULL);
    if (status == WEFT_OK) {
        status = weft_graph_add(out, graph, op, inputs, COUNT(inputs), &node, sizeof node);
    }
    weft_op_destroy(&op); /* the graph keeps what it needs */
    return status;
}

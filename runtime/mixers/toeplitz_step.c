/* SPDX-License-Identifier: MIT */
/*
 * The causal Toeplitz operator one token at a time, with the bits of its definition. The state has the tokens so far,
 * [m, d] of each sequence for coefficients of m lags.
 */
#include "lower/divisor.h"
#include "mixers/toeplitz_operator.h"

#include "core/given.h"
#include "core/try.h"
#include "kernels/toeplitz/keep.h"
#include "kernels/toeplitz/step.h"
#include "kernels/toeplitz/step_lanes.h"
#include "mixers/step.h"

enum { X, COEFFICIENTS, DECAY };

weft_status weft_graph_toeplitz_step(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     weft_tensor coefficients, const weft_step *step,
                                     const weft_toeplitz_params *params) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph, step);
    const struct weft_toeplitz_node node = {.causal = true};
    weft_shape lags;
    struct weft_step_call call = {
        .op = &weft_op_toeplitz_step,
        .step = step,
        .input = {x, coefficients, params ? params->decay : (weft_tensor){0}},
        .input_count = WEFT_STEP_INPUTS,
        .lengths = params ? params->lengths : (weft_tensor){0}};
    WEFT_TRY(weft_graph_get_tensor(graph, x, &call.shape[0], NULL));
    WEFT_TRY(weft_graph_get_tensor(graph, coefficients, &lags, NULL));
    WEFT_TRY(weft_check_step_place(graph, &call));
    /* infer reports other ranks. */
    const double d = call.shape[0].rank == 3 ? call.shape[0].dim[2] : 1;
    const double m = lags.rank == 2 ? lags.dim[0] : 1;
    call.rings = (struct weft_state_rings){.count = 1, .rows = (uint32_t)m, .width = (uint32_t)d};
    return weft_add_step(out, graph, &call, d * m, &node, sizeof node);
}

/* Each form has groups of as many channels. */
static struct weft_grid step_grid(const struct weft_variant *variant, const void *args,
                                  uint32_t sequences) {
    const struct weft_toeplitz_step_args *words = args;
    (void)variant;
    return weft_grid_of_groups((uint64_t)sequences *
                               ((words->push.channels - 1) / WEFT_TOEPLITZ_STEP_CHANNELS + 1));
}

/* Parts of the sum suit GPUs, which have few channels otherwise; processors have no use for invocations that wait. */
WEFT_VARIANTS(toeplitz_step, "toeplitz/step",
              {.name = "parts",
               .shader = &weft_shader_toeplitz_step,
               .grid = step_grid,
               .cost = {.processor = 4.0F}},
              {.name = "lanes",
               .shader = &weft_shader_toeplitz_step_lanes,
               .grid = step_grid,
               .cost = {.software = 2.0F, .hardware = 8.0F}})

/** The tokens that sequences begin with: the definition, and a copy of them. */
static void lower_prompt(struct weft_lowering *lowering, const struct weft_node *node,
                         const weft_shape *shape, uint32_t reach) {
    const uint64_t count = weft_shape_elements(*shape);
    weft_lower_toeplitz_direct(lowering, node, reach);
    struct weft_dispatch *dispatch =
        WEFT_LOWER(lowering, toeplitz_keep, weft_grid_of_items(count),
                   .bind = {.x = weft_lower_value(lowering, node->input[X]),
                            .state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE])},
                   .push = {.count = (uint32_t)count,
                            .kept = shape->dim[1] * shape->dim[2],
                            .size = reach * shape->dim[2],
                            WEFT_INVERSE(kept, shape->dim[1] * shape->dim[2])});
    dispatch->bytes = 8.0 * (double)count;
}

static weft_status step_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *shape = weft_node_shape(lowering->graph, node, X);
    const uint32_t reach = weft_node_shape(lowering->graph, node, COEFFICIENTS)->dim[0];
    if (shape->dim[1] > 1) {
        lower_prompt(lowering, node, shape, reach);
        return weft_lower_status(lowering);
    }
    const uint32_t x = weft_lower_value(lowering, node->input[X]);
    const uint32_t coefficients = weft_lower_toeplitz_decayed(lowering, node, reach);
    const uint32_t position = weft_lower_value(lowering, node->input[WEFT_STEP_POSITION]);
    const uint32_t state = weft_lower_value(lowering, node->input[WEFT_STEP_STATE]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const uint32_t sequences = shape->dim[0];
    struct weft_dispatch *dispatch = WEFT_LOWER_VARIANTS(
        lowering, &weft_toeplitz_step_variants, sequences, toeplitz_step,
        .bind = {.x = x, .t = coefficients, .position = position, .state = state, .y = result},
        .push = {.sequences = sequences, .channels = shape->dim[2], .reach = reach});
    const double terms = (double)sequences * reach * shape->dim[2];
    dispatch->flops = 2.0 * terms;
    dispatch->bytes = 8.0 * terms;
    return weft_lower_status(lowering);
}

const struct weft_op weft_op_toeplitz_step = {
    .name = "toeplitz_step",
    .min_inputs =
        COEFFICIENTS + 1, /* decay may be missing; the others weft_graph_toeplitz_step gives */
    .max_inputs = WEFT_STEP_INPUTS,
    .params_size = sizeof(struct weft_toeplitz_node),
    .state_input = WEFT_STEP_STATE,
    .infer = weft_toeplitz_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "step", .lower = step_lower}),
};

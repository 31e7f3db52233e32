/* SPDX-License-Identifier: MIT */
/* Linear maps of experts, of which each row chooses some. Inputs of the node: x, choices, weight. */
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "kernels/matmul/experts.h"
#include "lower/choose.h"
#include "lower/cut.h"

enum { X, CHOICES, WEIGHT };

/* Of a node, and of one with some rows of the weight: those of the result that others make are then left alone. */
struct weft_expert_linear_node {
    uint32_t experts;
};
struct window {
    uint32_t experts;
    uint32_t first; /* row of the weight */
    uint32_t rows;  /* of all experts; 0: the node has them */
};

weft_status weft_graph_expert_linear(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     weft_tensor choices, weft_tensor weight, uint32_t experts) {
    WEFT_ENTER;
    WEFT_GIVEN(WEFT_HOST_OF(graph, host), out, graph);
    const struct weft_expert_linear_node params = {.experts = experts};
    const weft_tensor inputs[] = {x, choices, weight};
    return weft_graph_add(out, graph, &weft_op_expert_linear, inputs, 3, &params, sizeof params);
}

/* ---- shapes ---- */

/* True if the axes of x but the last are the first `count` of a shape. */
static bool has_axes(const weft_shape *x, const weft_shape *shape, uint32_t count) {
    return x->rank == count + 1 && memcmp(x->dim, shape->dim, count * sizeof x->dim[0]) == 0;
}

static weft_status check_weight(const weft_graph *graph, const struct weft_node *node) {
    const struct weft_expert_linear_node *params = (const void *)node->params.bytes;
    const weft_shape *weight = weft_node_shape(graph, node, WEIGHT);
    const weft_shape *x = weft_node_shape(graph, node, X);
    char text[WEFT_SHAPE_TEXT_SIZE];
    WEFT_TRY(weft_expect_f32(graph, node, WEIGHT, "weight"));
    if (!graph->values[node->input[WEIGHT]].weight) {
        return weft_fail(&graph->host, WEFT_UNSUPPORTED,
                         "expert_linear: weight must be a weight of the graph, not what it makes");
    }
    if (params->experts == 0 || params->experts > WEFT_MAX_EXPERTS) {
        return weft_fail(&graph->host, WEFT_INVALID_ARGUMENT,
                         "expert_linear: experts %u must be from 1 to %d", params->experts,
                         WEFT_MAX_EXPERTS);
    }
    return weight->rank == 2 && weight->dim[0] % params->experts == 0 && x->rank > 0 &&
                   weight->dim[1] == x->dim[x->rank - 1]
               ? WEFT_OK
               : weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                           "expert_linear: weight %s must have as many rows for each of %u "
                           "experts, and the columns of x",
                           weft_shape_text(*weight, text), params->experts);
}

static weft_status infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                         weft_shape *shape) {
    const struct weft_expert_linear_node *params = (const void *)node->params.bytes;
    const weft_shape *x = weft_node_shape(graph, node, X);
    const weft_shape *choices = weft_node_shape(graph, node, CHOICES);
    char text[2][WEFT_SHAPE_TEXT_SIZE];
    WEFT_TRY(weft_expect_f32(graph, node, X, "x"));
    WEFT_TRY(check_weight(graph, node));
    if (weft_node_dtype(graph, node, CHOICES) != WEFT_I32 || choices->rank == 0 ||
        choices->rank + 1 > WEFT_MAX_RANK ||
        !(has_axes(x, choices, choices->rank) || has_axes(x, choices, choices->rank - 1))) {
        return weft_fail(&graph->host, WEFT_SHAPE_MISMATCH,
                         "expert_linear: choices must be i32 with the axes of x %s but its last, "
                         "and may have one more, not %s %s",
                         weft_shape_text(*x, text[0]),
                         weft_dtype_name(weft_node_dtype(graph, node, CHOICES)),
                         weft_shape_text(*choices, text[1]));
    }
    *dtype = WEFT_F32;
    *shape = *choices;
    shape->dim[shape->rank++] = weft_node_shape(graph, node, WEIGHT)->dim[0] / params->experts;
    return WEFT_OK;
}

/* ---- kernels ---- */

/* Panels that hold what there is of any expert: of the first, and where experts do not fill panels, of those that begin within one. */
static uint32_t panels_of(const struct weft_matmul_experts_args *args) {
    const uint32_t columns = args->push.c_row < args->push.n ? args->push.c_row : args->push.n;
    return columns % WEFT_PANEL_COLUMNS == 0
               ? columns / WEFT_PANEL_COLUMNS
               : (columns + WEFT_PANEL_COLUMNS - 2) / WEFT_PANEL_COLUMNS + 1;
}

static uint32_t experts_of(const struct weft_matmul_experts_args *args) {
    return args->push.last_expert - args->push.first_expert + 1;
}

static struct weft_grid experts_grid(const struct weft_variant *variant, const void *args,
                                     uint32_t batches) {
    (void)variant, (void)batches;
    return weft_grid_of(panels_of(args), 1, experts_of(args));
}

static struct weft_grid choices_grid(const struct weft_variant *variant, const void *args,
                                     uint32_t batches) {
    const struct weft_matmul_experts_args *a = args;
    (void)variant, (void)batches;
    return weft_grid_of(panels_of(args), 1, a->push.m - a->push.begin);
}

/* Most experts are nobody's choice. */
static bool are_few(const void *args) {
    const struct weft_matmul_experts_args *a = args;
    const uint64_t count = a->push.m - a->push.begin;
    return count <= 8 || 2 * count <= experts_of(args);
}

static bool suits_choices(const struct weft_variant *variant, const void *args) {
    (void)variant;
    return are_few(args);
}

WEFT_VARIANTS(
    expert_product, "matmul/expert_product",
    {.name = "choices",
     .shader = &weft_shader_matmul_experts,
     .tiles = {[WEFT_MATMUL_EXPERTS_AT_TILE_ROWS] = 1, [WEFT_MATMUL_EXPERTS_AT_TILE_IS_CHOICE] = 1},
     .grid = choices_grid,
     .suits = suits_choices},
    {.name = "experts",
     .shader = &weft_shader_matmul_experts,
     .tiles = {[WEFT_MATMUL_EXPERTS_AT_TILE_ROWS] = 4},
     .cost = {.software = 4.0F, .hardware = 4.0F, .processor = 4.0F},
     .grid = experts_grid})

/* ---- lowering ---- */

/* Choices of one dispatch: a workgroup may have to go through the matrix of one expert for all of them, four at a time. */
static uint32_t most_choices(const struct weft_lowering *lowering, uint32_t k) {
    const double most = lowering->device->most_turns, four = 0.5 * k;
    const double count = most > 0 ? (most - four) / (four / 4 + 1) : UINT32_MAX;
    return count < 1 ? 1 : count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

static void lower_some(struct weft_lowering *lowering, struct weft_matmul_experts_args args,
                       uint32_t begin, uint32_t end) {
    args.push.begin = begin;
    args.push.m = end;
    struct weft_dispatch *dispatch =
        weft_lower_variants(lowering, &weft_expert_product_variants, 1, &args);
    const double count = end - begin, experts = experts_of(&args);
    const double columns = args.push.c_row, k = args.push.k;
    dispatch->flops = 2.0 * count * columns * k;
    dispatch->bytes = ((count < experts ? count : experts) * columns + count) * k * sizeof(float) +
                      count * columns * sizeof(float);
    dispatch->turns = count + (count / 4 + 1) * 0.5 * k;
}

static weft_status lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_graph *graph = lowering->graph;
    const struct window *window = (const void *)node->params.bytes;
    const weft_shape choices = *weft_node_shape(graph, node, CHOICES);
    const weft_shape weight = *weft_node_shape(graph, node, WEIGHT);
    const bool shared = weft_node_shape(graph, node, X)->rank == choices.rank;
    const uint32_t count = (uint32_t)weft_shape_elements(choices);
    const uint32_t columns = (window->rows > 0 ? window->rows : weight.dim[0]) / window->experts;
    const enum weft_half half = weft_lower_rows_form(lowering, node->input[WEIGHT]);
    const uint32_t x = weft_lower_value(lowering, node->input[X]);
    const uint32_t chosen = weft_lower_value(lowering, node->input[CHOICES]);
    const uint32_t b =
        weft_lower_matrix(lowering, node->input[WEIGHT], WEFT_LAYOUT_PANELS_OF_TRANSPOSED, half);
    const uint32_t result = weft_lower_value(lowering, node->output);
    const struct weft_matmul_experts_args *args =
        WEFT_KERNEL_ARGS(matmul_experts,
                         .bind = {.a = x,
                                  .b = b,
                                  .bias = WEFT_NO_STORAGE,
                                  .residual = WEFT_NO_STORAGE,
                                  .c = result,
                                  .choices = chosen},
                         .push = {.begin = 0,
                                  .m = count,
                                  .n = weight.dim[0],
                                  .k = weight.dim[1],
                                  .inner = shared ? choices.dim[choices.rank - 1] : 1,
                                  .a_row = weight.dim[1],
                                  .a_column = 1,
                                  .b_column = 1,
                                  .c_row = columns,
                                  .alpha = 1.0F,
                                  .experts = window->experts,
                                  .first = window->first,
                                  .first_expert = window->first / columns,
                                  .last_expert = (window->first + weight.dim[0] - 1) / columns},
                         .constant = {.activation = WEFT_ACTIVATION_NONE,
                                      .has_bias = 0,
                                      .has_residual = 0,
                                      .vector_a = 0,
                                      .vector_b = 0,
                                      .half_b = (uint32_t)half,
                                      .vector_c = 0});
    const uint32_t most = most_choices(lowering, weight.dim[1]);
    for (uint32_t begin = 0, end = 0; begin < count; begin = end) {
        end = count - begin < most ? count : begin + most;
        lower_some(lowering, *args, begin, end);
    }
    return weft_lower_status(lowering);
}

/* Rows of x with their choices. */
static bool lower_rows(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t axes = weft_node_shape(lowering->graph, node, X)->rank - 1;
    return axes > 0 && weft_cut_along(lowering, node,
                                      WEFT_CUTS({.inputs = 1 << X | 1 << CHOICES, .axes = axes}));
}

/* Rows of the weight whose panels can be bound at once: of whole experts, if one fits. */
static uint32_t rows_at_once(const struct weft_lowering *lowering, uint32_t rows, uint32_t k) {
    const uint64_t panel = (uint64_t)k * WEFT_PANEL_COLUMNS * sizeof(float);
    const uint64_t panels = weft_cut_limit(lowering) / panel;
    const uint64_t count = (panels > 0 ? panels : 1) * WEFT_PANEL_COLUMNS;
    const uint64_t whole = count < rows ? count : count / rows * rows;
    return whole < UINT32_MAX ? (uint32_t)whole : UINT32_MAX;
}

/* Some rows of the weight after others, once nothing else is too large. */
static bool lower_windows(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct weft_expert_linear_node *params = (const void *)node->params.bytes;
    const weft_shape weight = *weft_node_shape(lowering->graph, node, WEIGHT);
    const uint32_t rows = weight.dim[0], k = weight.dim[1];
    const uint32_t count = rows_at_once(lowering, rows / params->experts, k);
    for (uint32_t first = 0, some = 0; first < rows && count < rows; first += some) {
        some = rows - first < count ? rows - first : count;
        const struct window window = {.experts = params->experts, .first = first, .rows = rows};
        struct weft_node part = *node;
        memcpy(part.params.bytes, &window, sizeof window);
        part.input[WEIGHT] = weft_cut_value(lowering, node->input[WEIGHT], (uint64_t)first * k,
                                            weft_shape_of(some, k), 0);
        weft_lower_node(lowering, &part);
    }
    return count < rows;
}

static bool lower_parts(struct weft_lowering *lowering, const struct weft_node *node) {
    const struct window *window = (const void *)node->params.bytes;
    return lower_rows(lowering, node) || (window->rows == 0 && lower_windows(lowering, node));
}

static bool takes_bytes(bool *columns, const weft_graph *graph, const struct weft_node *node,
                        uint32_t input) {
    (void)graph, (void)node;
    *columns = false;
    return input == WEIGHT;
}

static uint32_t constant_layout(const struct weft_node *node, uint32_t input) {
    (void)node;
    return input == WEIGHT ? WEFT_LAYOUT_PANELS_OF_TRANSPOSED : WEFT_LAYOUT_AS_IT_IS;
}

const struct weft_op weft_op_expert_linear = {
    .name = "expert_linear",
    .min_inputs = 3,
    .max_inputs = 3,
    .params_size = sizeof(struct weft_expert_linear_node),
    .fields = WEFT_FIELDS(WEFT_FIELD(weft_expert_linear_node, experts, COUNT)),
    .constant_layout = constant_layout,
    .takes_bytes = takes_bytes,
    .infer = infer,
    .lower_parts = lower_parts,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "panels", .lower = lower}),
};

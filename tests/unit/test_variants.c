/* SPDX-License-Identifier: MIT */
/* weft-test: slow every device */
/* Variants: every row of every set gives the bits of its group, and the engine that chooses between rows. */
#include <weft/arithmetic.h>

#include "core/math/half.h"
#include "core/math/philox.h"
#include "graph/op.h"
#include "kernels/matmul/tiled.h"
#include "lower/choose.h"
#include "lower/lowering.h"
#include "ops/matmul.h"
#include "support_sheet.h"

#define ROW_OF_SETS(name) &weft_##name##_variants,
static const struct weft_variant_set *const sets[] = {WEFT_VARIANT_SETS(ROW_OF_SETS)};
static const size_t set_count = sizeof sets / sizeof sets[0];

/* ---- the work of each set ---- */

typedef weft_status build_work(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                               uint32_t round);
typedef void fill_work(float *data, size_t count, uint32_t round, uint32_t input);

struct work {
    const char *set;
    weft_shape shape[4]; /* of the inputs; one more is that of "state" */
    uint32_t inputs;
    build_work *build; /* null: that of the sheet */
    const weft_sheet *sheet;
    weft_sizes sizes;      /* in place of shapes */
    const void *params[2]; /* of each round */
    fill_work *fill;       /* null: fill_evenly */
};

static void fill_evenly(float *data, size_t count, uint32_t round, uint32_t input) {
    weft_philox_uniform(data, count, 31 + round, input);
}

/* Products near 2^-126: sums of them that underflow are zeros of both signs, which another +0 would change. */
static void fill_tiny(float *data, size_t count, uint32_t round, uint32_t input) {
    fill_evenly(data, count, round, input);
    for (size_t i = 0; i < count; i++) {
        data[i] *= 0x1p-62F;
    }
}

/* Of rows of 256: each of 128 sums of two underflows to -0. */
static void fill_halves(float *data, size_t count, uint32_t round, uint32_t input) {
    (void)round;
    (void)input;
    for (size_t i = 0; i < count; i++) {
        data[i] = (i % 256 < 128 ? -1.5F : 1.0F) * 0x1p-126F;
    }
}

/* The state's words are two f16 each. */
static void fill_pairs(float *data, size_t count, uint32_t round, uint32_t input) {
    fill_evenly(data, count, round, input);
    for (size_t i = 0; input == 3 && i < count; i++) {
        const uint16_t pair[2] = {weft_half_of_float(data[i]), weft_half_of_float(2 * data[i])};
        memcpy(&data[i], pair, sizeof pair);
    }
}

static weft_status build_product(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                 uint32_t round) {
    return weft_graph_matmul(y, graph, x[0], x[1],
                             weft_matmul_params(.alpha = round ? 0.5F : 1.0F));
}

/* Choices of 7 experts, of which the last is none, by rows of 67; or each row of its own. */
static weft_status build_experts(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                 uint32_t round) {
    enum { ROWS = 26, EXPERTS = 7, OUT = 70, IN = 67 };
    static float weight[EXPERTS * OUT * IN];
    int32_t choices[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        choices[i] = (int32_t)(i * i % (EXPERTS + 1));
    }
    weft_philox_uniform(weight, WEFT_COUNT(weight), 17, 0);
    const weft_shape shape = round ? weft_shape_of(2, 13) : weft_shape_of(2, 13, 1);
    return weft_graph_expert_linear(
        y, graph, x[0], weft_test_constant_i32(graph, shape, choices),
        weft_test_constant(graph, weft_shape_of(EXPERTS * OUT, IN), weight), EXPERTS);
}

/* The tokens 199 and 30 of two sequences. */
static weft_status add_band_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                 uint32_t round, bool f16) {
    static const int32_t positions[2] = {199, 30};
    const weft_step step = {.state = "state",
                            .position = weft_test_constant_i32(graph, weft_shape_of(2), positions)};
    return weft_graph_banded_attention_step(
        y, graph, x[0], x[1], x[2], &step,
        weft_banded_attention_params(.heads = 2 - round, .half_width = 150, .f16 = f16));
}

static weft_status build_band_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                   uint32_t round) {
    return add_band_step(y, graph, x, round, false);
}

static weft_status build_band_half_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                        uint32_t round) {
    return add_band_step(y, graph, x, round, true);
}

/* x [2, 1, d] and coefficients [m, d]. */
static weft_status build_toeplitz_step(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                       uint32_t round) {
    static const int32_t positions[2][2] = {{1029, 30}, {0, 512}};
    const weft_step step = {.state = "state",
                            .position =
                                weft_test_constant_i32(graph, weft_shape_of(2), positions[round])};
    return weft_graph_toeplitz_step(y, graph, x[0], x[1], &step, NULL);
}

static weft_status build_layer_norm(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                    uint32_t round) {
    return weft_graph_layer_norm(y, graph, x[0], x[1], x[2], round ? 0.5F : 1e-5F);
}

/* By turns alone, and with a residual and a LayerNorm that it is fused with. */
static weft_status build_fourier(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                 uint32_t round) {
    const weft_status status = weft_graph_fourier(y, graph, x[0]);
    if (status != WEFT_OK || round == 0) {
        return status;
    }
    assert_ok(weft_graph_binary(y, graph, WEFT_BINARY_ADD, *y, x[0]));
    return weft_graph_layer_norm(y, graph, *y, x[1], x[2], 1e-5F);
}

static weft_status build_softmax(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                 uint32_t round) {
    (void)round;
    return weft_graph_softmax(y, graph, x[0]);
}

static weft_status build_log_softmax(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                     uint32_t round) {
    (void)round;
    return weft_graph_log_softmax(y, graph, x[0], 1);
}

static weft_status reduce_rows(weft_tensor *y, weft_graph *graph, weft_reduction op,
                               const weft_tensor *x) {
    return weft_graph_reduce(y, graph, op, x[0], weft_reduce_params(.axes = {1}, .axis_count = 1));
}

static weft_status build_sums(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                              uint32_t round) {
    return reduce_rows(y, graph, round ? WEFT_REDUCTION_SUM_OF_SQUARES : WEFT_REDUCTION_MEAN, x);
}

static weft_status build_signed_sums(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                     uint32_t round) {
    return reduce_rows(y, graph, round ? WEFT_REDUCTION_SUM : WEFT_REDUCTION_MEAN, x);
}

static weft_status build_column_sums(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                     uint32_t round) {
    return reduce_rows(y, graph, round ? WEFT_REDUCTION_MAX : WEFT_REDUCTION_MEAN, x);
}

static weft_status build_cumsum(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                uint32_t round) {
    return weft_graph_cumsum(y, graph, x[0], 1, round != 0, round != 0);
}

static weft_status build_column_softmax(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                        uint32_t round) {
    return round ? weft_graph_log_softmax(y, graph, x[0], 1)
                 : weft_graph_softmax_axis(y, graph, x[0], 1);
}

static weft_status build_arg(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                             uint32_t round) {
    weft_tensor found;
    const weft_status status = round ? weft_graph_argmin(&found, graph, x[0], 1, false)
                                     : weft_graph_argmax(&found, graph, x[0], 1, false);
    return status == WEFT_OK ? weft_graph_convert(y, graph, found, WEFT_F32) : status;
}

/* Variances as they come: some are negative, which makes NaNs. */
static weft_status build_batch_norm(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                    uint32_t round) {
    return weft_graph_batch_norm(y, graph, x[0],
                                 weft_batch_norm_params(.mean = x[1], .variance = x[1],
                                                        .gamma = round ? x[1] : (weft_tensor){0},
                                                        .beta = round ? x[1] : (weft_tensor){0},
                                                        .epsilon = 1e-5F, .channels_first = true));
}

static weft_status build_largest(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                 uint32_t round) {
    return reduce_rows(y, graph, round ? WEFT_REDUCTION_MIN : WEFT_REDUCTION_MAX, x);
}

/* x [1, n, d] and diagonals [blocks, 2, d], less three rows of the last block. */
static weft_status build_circulant(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                   uint32_t round) {
    weft_shape diagonals;
    assert_ok(weft_graph_get_tensor(graph, x[1], &diagonals, NULL));
    const uint32_t rows = diagonals.dim[0] * diagonals.dim[2] - 3;
    return weft_graph_structured_projection(
        y, graph, x[0], x[1],
        weft_structured_projection_params(.kind = WEFT_FEATURES_SCRF, .rows = rows,
                                          .scale = round ? 0.5F : 1.0F));
}

static weft_status build_rms_norm(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                  uint32_t round) {
    return round ? weft_graph_simple_rms_norm(y, graph, x[0])
                 : weft_graph_rms_norm(y, graph, x[0], x[1], 1e-5F);
}

static weft_status build_scale_norm(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                    uint32_t round) {
    return weft_graph_scale_norm(y, graph, x[0], x[1], round ? 0.5F : 1e-5F);
}

/* Tails of fours, whole fours and fewer than one. */
static weft_status build_activation(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                    uint32_t round) {
    return weft_graph_activate(y, graph, x[0],
                               round ? WEFT_ACTIVATION_RELU : WEFT_ACTIVATION_GELU_TANH);
}

/* x [1, n, d] and diagonals [blocks, count, 2^p], less `round` features: fours that lie whole in the result, and such that do not. */
static weft_status build_hadamard(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                  uint32_t round) {
    weft_shape diagonals;
    assert_ok(weft_graph_get_tensor(graph, x[1], &diagonals, NULL));
    return weft_graph_structured_projection(
        y, graph, x[0], x[1],
        weft_structured_projection_params(.kind = WEFT_FEATURES_ROM,
                                          .rows = diagonals.dim[0] * diagonals.dim[2] - round));
}

/* A product of x [m, k] and a constant [k, n] or, transposed, [n, k], in panels whatever the device. */
static weft_status panels_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                                weft_shape *shape) {
    const uint32_t transposed = *(const uint32_t *)(const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(graph, node, 0);
    const weft_shape *b = weft_node_shape(graph, node, 1);
    *dtype = WEFT_F32;
    *shape = weft_shape_of(a->dim[0], b->dim[transposed ? 0 : 1]);
    return WEFT_OK;
}

static weft_status panels_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const uint32_t transposed = *(const uint32_t *)(const void *)node->params.bytes;
    const weft_shape *a = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *c = &lowering->graph->values[node->output].shape;
    struct weft_product product = {.m = c->dim[0],
                                   .n = c->dim[1],
                                   .k = a->dim[1],
                                   .batches = 1,
                                   .inner_count = 1,
                                   .alpha = 1.0F,
                                   .bias = WEFT_NO_STORAGE,
                                   .residual = WEFT_NO_STORAGE};
    product.a = (struct weft_matrix){
        .storage = weft_lower_value(lowering, node->input[0]), .row = a->dim[1], .column = 1};
    product.b = (struct weft_matrix){
        .storage = weft_lower_panel_weight(lowering, node->input[1], transposed != 0, false),
        .panels = true};
    product.c = (struct weft_matrix){
        .storage = weft_lower_value(lowering, node->output), .row = c->dim[1], .column = 1};
    weft_lower_product(lowering, &product);
    return weft_lower_status(lowering);
}

static const struct weft_op panels_op = {
    .name = "test_panels",
    .min_inputs = 2,
    .max_inputs = 2,
    .params_size = sizeof(uint32_t),
    .infer = panels_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "panels", .lower = panels_lower}),
};

/* By turns as it is, and transposed. The constant has as many elements as x[1], which only says so. */
static weft_status build_panels(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                uint32_t round) {
    weft_shape shape;
    assert_ok(weft_graph_get_tensor(graph, x[1], &shape, NULL));
    const size_t count = (size_t)weft_shape_elements(shape);
    float *data = malloc(count * sizeof *data);
    weft_philox_uniform(data, count, 47, round);
    const uint32_t k = shape.dim[0];
    const uint32_t n = shape.dim[1];
    const weft_tensor inputs[] = {
        x[0], weft_test_constant(graph, round ? weft_shape_of(n, k) : weft_shape_of(k, n), data)};
    free(data);
    return weft_graph_add(y, graph, &panels_op, inputs, 2, &round, sizeof round);
}

/* Attention in one pass, whatever the device. */
static weft_status build_attention_rows(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                        uint32_t round) {
    static struct weft_implementation one_pass[2];
    static struct weft_op op;
    const struct weft_implementation *row = weft_op_attention.implementations;
    while (strcmp(row->name, "rows") != 0) {
        row++;
    }
    one_pass[0] = *row;
    op = weft_op_attention;
    op.implementations = one_pass;
    const weft_status status =
        weft_graph_attention(y, graph, x[0], x[1], x[2], weft_attention_params(.heads = 1 + round));
    if (status == WEFT_OK) {
        graph->nodes[graph->node_count - 1].op = &op;
    }
    return status;
}

/* Mixers by their sheets, with the parameters of each round. */
#define BOTH_WAYS(name, ...)                                                                    \
    .sheet = &weft_sheet_##name, .params = {weft_##name##_params(.causal = false, __VA_ARGS__), \
                                            weft_##name##_params(.causal = true, __VA_ARGS__)}
#define BAND        BOTH_WAYS(banded_attention, .heads = 2, .half_width = 5)
#define LINEAR      BOTH_WAYS(linear_attention, .heads = 2)
#define COSFORMER   BOTH_WAYS(cosformer, .heads = 2)
#define RELATIVE    BOTH_WAYS(toeplitz_attention, .heads = 2)
#define TOEPLITZ    BOTH_WAYS(toeplitz, .lengths = {0})
#define FAST_WEIGHT .sheet = &weft_sheet_fast_weight
#define SKI                                                          \
    .sheet = &weft_sheet_ski_toeplitz,                               \
    .params = {weft_ski_toeplitz_params(.points = 9, .gamma = 0.9F), \
               weft_ski_toeplitz_params(.points = 70, .gamma = 0.9F, \
                                        .interpolation = WEFT_INTERPOLATION_CUBIC)}
/* Components and stabilizers by turns. */
#define COMPONENTS(first, a_second, ...)                                                      \
    .sheet = &weft_sheet_random_features,                                                     \
    .params = {weft_random_features_params(.component = WEFT_COMPONENT_##first,               \
                                           .stabilizer = WEFT_STABILIZER_QUERY, __VA_ARGS__), \
               weft_random_features_params(.component = WEFT_COMPONENT_##a_second,            \
                                           .stabilizer = WEFT_STABILIZER_KEY, __VA_ARGS__)}
#define FEATURES  COMPONENTS(HYPERBOLIC, POSITIVE, .heads = 2, .epsilon = 1e-6F)
#define TWO_SIDED COMPONENTS(OPTIMAL, OPTIMAL, .heads = 2)
#define WAVES                                                                             \
    .sheet = &weft_sheet_random_features,                                                 \
    .params = {NULL, weft_random_features_params(.component = WEFT_COMPONENT_GENERALIZED, \
                                                 .a = -0.5F, .s = -1)}
#define FLT                                                                  \
    .sheet = &weft_sheet_flt_features,                                       \
    .params = {weft_flt_features_params(.side = WEFT_FLT_QUERY, .heads = 2), \
               weft_flt_features_params(.side = WEFT_FLT_KEY, .heads = 2)}

/* x [2, n, gates] and weight [gates, d], of each GRU by turns. */
static weft_status build_gru(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                             uint32_t round) {
    return weft_graph_recurrence(
        y, graph, x[0], x[1],
        weft_recurrence_params(.cell = round ? WEFT_CELL_GRU_RESET_FIRST : WEFT_CELL_GRU));
}

/* LSTM from a state, forwards and backwards. */
static weft_status build_lstm(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                              uint32_t round) {
    return weft_graph_recurrence(
        y, graph, x[0], x[1],
        weft_recurrence_params(.cell = WEFT_CELL_LSTM, .state = x[2], .reverse = round != 0));
}

/* The delta rule of two heads, and a state that is read first, with x[3] as decays of rows. */
static weft_status build_gated_state(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                     uint32_t round) {
    return weft_graph_gated_state(y, graph, x[0], x[1], x[2],
                                  weft_gated_state_params(.heads = 2,
                                                          .erase = round ? (weft_tensor){0} : x[1],
                                                          .decay = x[3], .read_first = round != 0));
}

/* What is written is read by the same numbers; without and with x[3], which is skipped. */
static weft_status build_selective_scan(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                                        uint32_t round) {
    return weft_graph_selective_scan(
        y, graph, x[0], x[0], x[1], x[2], x[2],
        weft_selective_scan_params(.skip = round ? x[3] : (weft_tensor){0}));
}

/* A b whose columns have the scales, and one whose rows have them. */
static weft_status build_int8(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                              uint32_t round) {
    weft_shape shape;
    weft_weight *weight = NULL, *bytes = NULL;
    weft_tensor b = {0};
    assert_ok(weft_graph_get_tensor(graph, x[1], &shape, NULL));
    float *data = malloc((size_t)weft_shape_elements(shape) * sizeof *data);
    weft_philox_uniform(data, (size_t)weft_shape_elements(shape), 53, round);
    const weft_shape turned = weft_shape_of(shape.dim[1], shape.dim[0]);
    assert_ok(weft_weight_create(
        &weight, weft_weight_params(.shape = round ? turned : shape, .data = data), NULL));
    free(data);
    assert_ok(weft_weight_quantize(&bytes, weight, WEFT_STORED_I8, round == 0));
    assert_ok(weft_graph_weight(&b, graph, bytes));
    weft_weight_destroy(&weight);
    weft_weight_destroy(&bytes);
    return weft_graph_matmul(y, graph, x[0], b, weft_matmul_params(.transpose_b = round != 0));
}

/* More rows and columns than a tile of any row, and no multiple of one. */
static const struct work works[] = {
    {"matmul/panel_product", {{2, {131, 70}}, {2, {70, 257}}}, 2, .build = build_panels},
    {"matmul/panel_product", {{2, {97, 128}}, {2, {128, 64}}}, 2, .build = build_panels},
    {"matmul/panel_product", {{2, {1, 1}}, {2, {1, 1}}}, 2, .build = build_panels},
    {"matmul/int8_product", {{2, {131, 70}}, {2, {70, 257}}}, 2, .build = build_int8},
    {"matmul/int8_product", {{2, {1, 1}}, {2, {1, 1}}}, 2, .build = build_int8},
    {"matmul/expert_product", {{3, {2, 13, 67}}}, 1, .build = build_experts},
    {"recurrence/cell", {{3, {2, 7, 411}}, {2, {411, 137}}}, 2, .build = build_gru},
    {"recurrence/cell", {{3, {2, 3, 3}}, {2, {3, 1}}}, 2, .build = build_gru},
    {"recurrence/cell", {{3, {2, 7, 296}}, {2, {296, 74}}, {2, {2, 148}}}, 3, .build = build_lstm},
    {"gated_state/steps",
     {{3, {2, 5, 74}}, {3, {2, 5, 74}}, {3, {2, 5, 38}}, {3, {2, 5, 74}}},
     4,
     .build = build_gated_state},
    {"gated_state/steps",
     {{3, {1, 3, 400}}, {3, {1, 3, 400}}, {3, {1, 3, 2}}, {3, {1, 3, 400}}},
     4,
     .build = build_gated_state},
    {"selective_scan/steps",
     {{3, {2, 11, 37}}, {2, {16, 37}}, {3, {2, 11, 16}}, {1, {37}}},
     4,
     .build = build_selective_scan},
    {"selective_scan/steps",
     {{3, {1, 3, 2}}, {2, {67, 2}}, {3, {1, 3, 67}}, {1, {2}}},
     4,
     .build = build_selective_scan},
    {"matmul/product", {{2, {131, 70}}, {2, {70, 257}}}, 2, .build = build_product},
    {"matmul/product", {{3, {3, 9, 33}}, {3, {3, 33, 5}}}, 2, .build = build_product},
    {"matmul/product", {{2, {1, 1}}, {2, {1, 1}}}, 2, .build = build_product},
    {"matmul/product", {{3, {37, 1, 196}}, {3, {37, 196, 1}}}, 2, .build = build_product},
    {"matmul/product", {{3, {5, 7, 131}}, {3, {5, 131, 1}}}, 2, .build = build_product},
    {"attention/rows",
     {{3, {2, 37, 40}}, {3, {2, 37, 40}}, {3, {2, 37, 40}}},
     3,
     .build = build_attention_rows},
    {"attention/rows",
     {{3, {1, 19, 70}}, {3, {1, 67, 70}}, {3, {1, 67, 70}}},
     3,
     .build = build_attention_rows},
    {"matmul/pack",
     {{3, {2, 37, 40}}, {3, {2, 37, 40}}, {3, {2, 37, 40}}},
     3,
     .build = build_attention_rows},
    {"matmul/pack",
     {{3, {1, 19, 70}}, {3, {1, 67, 70}}, {3, {1, 67, 70}}},
     3,
     .build = build_attention_rows},
    {"banded_attention/band", BAND, .sizes = {2, 131, 2, 6, .values = 6}},
    {"banded_attention/band", BAND, .sizes = {1, 7, 2, 5, .values = 5}},
    {"banded_attention/band", BAND, .sizes = {1, 70, 2, 139, .values = 139}},
    {"banded_attention/step",
     {{3, {2, 1, 70}}, {3, {2, 1, 70}}, {3, {2, 1, 70}}, {2, {2, 2 * 151 * 70}}},
     3,
     .build = build_band_step},
    {"banded_attention/step",
     {{3, {2, 1, 152}}, {3, {2, 1, 152}}, {3, {2, 1, 152}}, {2, {2, 2 * 151 * 152}}},
     3,
     .build = build_band_step},
    {"banded_attention/half_step",
     {{3, {2, 1, 72}}, {3, {2, 1, 72}}, {3, {2, 1, 72}}, {2, {2, 2 * 160 * 36}}},
     3,
     .build = build_band_half_step,
     .fill = fill_pairs},
    {"banded_attention/half_step",
     {{3, {2, 1, 152}}, {3, {2, 1, 152}}, {3, {2, 1, 152}}, {2, {2, 2 * 160 * 76}}},
     3,
     .build = build_band_half_step,
     .fill = fill_pairs},
    {"toeplitz/step",
     {{3, {2, 1, 37}}, {2, {1030, 37}}, {2, {2, 1030 * 37}}},
     2,
     .build = build_toeplitz_step},
    /* So long that each level of weft_partial counts. */
    {"norm/layer_norm", {{2, {7, 517}}, {1, {517}}, {1, {517}}}, 3, .build = build_layer_norm},
    {"norm/layer_norm",
     {{2, {3, 40001}}, {1, {40001}}, {1, {40001}}},
     3,
     .build = build_layer_norm},
    {"norm/layer_norm", {{2, {2, 1}}, {1, {1}}, {1, {1}}}, 3, .build = build_layer_norm},
    {"fourier/unfold", {{3, {2, 67, 70}}, {1, {70}}, {1, {70}}}, 3, .build = build_fourier},
    {"fourier/unfold", {{3, {2, 9, 129}}, {1, {129}}, {1, {129}}}, 3, .build = build_fourier},
    {"fourier/unfold", {{3, {1, 3, 2}}, {1, {2}}, {1, {2}}}, 3, .build = build_fourier},
    {"softmax/softmax", {{2, {7, 517}}}, 1, .build = build_softmax},
    {"softmax/softmax", {{2, {3, 40001}}}, 1, .build = build_softmax},
    {"softmax/softmax", {{3, {2, 3, 1}}}, 1, .build = build_softmax},
    {"ski/apply", SKI, .sizes = {2, 131, 1, 37, .rows = 20, .taps = 67}},
    {"ski/interpolate", SKI, .sizes = {2, 131, 1, 37, .rows = 20, .taps = 67}},
    {"ski/interpolate", SKI, .sizes = {1, 70, 1, 32, .rows = 1, .taps = 1}},
    {"toeplitz/direct", TOEPLITZ, .sizes = {2, 77, 1, 37, .reach = 96}},
    {"toeplitz/direct", TOEPLITZ, .sizes = {1, 1, 1, 1, .reach = 1}},
    {"linear_attention/state", LINEAR, .sizes = {1, 261, 2, 67, .values = 69}},
    {"linear_attention/state", LINEAR, .sizes = {2, 131, 2, 7, .values = 5}},
    {"linear_attention/apply", LINEAR, .sizes = {2, 131, 2, 8, .values = 24}},
    {"linear_attention/apply", LINEAR, .sizes = {1, 70, 2, 3, .values = 21}},
    {"linear_attention/apply", LINEAR, .sizes = {1, 1, 2, 1, .values = 1}},
    /* More features and values than a tile for GPUs, in whole fours. */
    {"linear_attention/apply", LINEAR, .sizes = {1, 131, 2, 68, .values = 72}},
    /* In blocks of 64 queries and 32 keys; features in tiles of 16 and sums of 64. */
    {"toeplitz_attention/direct", RELATIVE, .sizes = {1, 197, 2, 80, .values = 68, .reach = 201}},
    {"toeplitz_attention/direct", RELATIVE, .sizes = {2, 67, 2, 67, .values = 69, .reach = 67}},
    {"toeplitz_attention/direct", RELATIVE, .sizes = {1, 1, 2, 1, .values = 1, .reach = 1}},
    {"fast_weight/normalize", FAST_WEIGHT, .sizes = {1, 131, 2, 67, .values = 69}},
    {"fast_weight/normalize", FAST_WEIGHT, .sizes = {2, 7, 2, 7, .values = 1}},
    {"fast_weight/solve", FAST_WEIGHT, .sizes = {1, 131, 2, 67, .values = 69}},
    {"fast_weight/solve", FAST_WEIGHT, .sizes = {2, 70, 2, 7, .values = 5}},
    {"fast_weight/scan", FAST_WEIGHT, .sizes = {1, 197, 2, 64, .values = 32}},
    {"fast_weight/scan", FAST_WEIGHT, .sizes = {1, 131, 2, 261, .values = 5}},
    {"fast_weight/scan", FAST_WEIGHT, .sizes = {1, 131, 2, 129, .values = 17}},
    {"fast_weight/update", FAST_WEIGHT, .sizes = {1, 133, 2, 16, .values = 16}},
    {"fast_weight/update", FAST_WEIGHT, .sizes = {1, 133, 2, 68, .values = 72}},
    {"structured_projection/circulant",
     {{3, {1, 53, 100}}, {3, {2, 2, 100}}},
     2,
     .build = build_circulant},
    {"structured_projection/circulant",
     {{3, {1, 5, 7}}, {3, {3, 2, 7}}},
     2,
     .build = build_circulant},
    {"softmax/softmax", {{2, {37, 64}}}, 1, .build = build_softmax},
    {"softmax/log", {{2, {7, 517}}}, 1, .build = build_log_softmax},
    {"softmax/log", {{2, {3, 40001}}}, 1, .build = build_log_softmax},
    {"reduce/sums", {{2, {7, 517}}}, 1, .build = build_sums},
    {"reduce/sums", {{2, {3, 40001}}}, 1, .build = build_sums},
    {"reduce/largest", {{2, {7, 517}}}, 1, .build = build_largest},
    {"reduce/largest", {{2, {3, 40001}}}, 1, .build = build_largest},
    /* Columns of whole tiles of lanes, and of parts of them. */
    {"reduce/columns", {{3, {2, 300, 131}}}, 1, .build = build_column_sums},
    {"reduce/columns", {{3, {3, 17, 5}}}, 1, .build = build_column_sums},
    {"reduce/cumsum", {{3, {2, 300, 131}}}, 1, .build = build_cumsum},
    {"reduce/cumsum", {{3, {3, 17, 5}}}, 1, .build = build_cumsum},
    {"reduce/columns", {{2, {7, 256}}}, 1, .build = build_cumsum},
    {"reduce/cumsum", {{2, {7, 256}}}, 1, .build = build_cumsum},
    {"softmax/columns", {{3, {2, 300, 131}}}, 1, .build = build_column_softmax},
    {"softmax/columns", {{3, {3, 17, 5}}}, 1, .build = build_column_softmax},
    {"reduce/arg", {{2, {7, 640}}}, 1, .build = build_arg},
    {"reduce/arg", {{2, {7, 131}}}, 1, .build = build_arg},
    {"norm/batch_norm", {{4, {2, 7, 67, 31}}, {1, {7}}}, 2, .build = build_batch_norm},
    {"norm/batch_norm", {{3, {2, 3, 5}}, {1, {3}}}, 2, .build = build_batch_norm},
    {"norm/layer_norm", {{2, {37, 64}}, {1, {64}}, {1, {64}}}, 3, .build = build_layer_norm},
    {"norm/rms_norm", {{2, {37, 64}}, {1, {64}}}, 2, .build = build_rms_norm},
    {"norm/rms_norm", {{2, {3, 40001}}, {1, {40001}}}, 2, .build = build_rms_norm},
    {"norm/rms_norm", {{2, {19, 517}}, {1, {1}}}, 2, .build = build_scale_norm},
    {"norm/rms_norm", {{2, {2, 1}}, {1, {1}}}, 2, .build = build_scale_norm},
    {"random_features/features", {{3, {2, 19, 128}}, {2, {33, 64}}}, 2, FEATURES},
    {"random_features/features", {{3, {1, 1, 2}}, {2, {1, 1}}}, 2, FEATURES},
    {"random_features/features", {{3, {2, 19, 20}}, {2, {200, 10}}, {3, {2, 7, 20}}}, 3, TWO_SIDED},
    {"random_features/features", {{3, {2, 19, 10}}, {2, {67, 10}}}, 2, WAVES},
    {"cosformer/features", COSFORMER, .sizes = {2, 37, 2, 13, .values = 13}},
    {"cosformer/features", COSFORMER, .sizes = {1, 65, 2, 64, .values = 64}},
    {"flt/features", {{3, {2, 37, 26}}, {2, {37, 1}}, {1, {37}}}, 3, FLT},
    {"flt/features", {{3, {1, 9, 128}}, {3, {2, 32, 1}}, {2, {2, 32}}}, 3, FLT},
    {"random_features/row_maximum", {{3, {2, 19, 128}}, {2, {33, 64}}}, 2, FEATURES},
    {"random_features/row_maximum",
     {{3, {2, 19, 20}}, {2, {200, 10}}, {3, {2, 7, 20}}},
     3,
     TWO_SIDED},
    /* Edges of blocks on both axes, and taps in more than one chunk. */
    {"ski/interpolate", SKI, .sizes = {2, 331, 1, 37, .rows = 8, .taps = 131}},
    {"ski/interpolate", SKI, .sizes = {1, 79, 1, 1, .rows = 8, .taps = 65}},
    /* So long that both rounds are in shared memory, with lengths of all parities. */
    {"convolution/shared", TOEPLITZ, .sizes = {2, 201, 1, 21, .reach = 201}},
    {"convolution/shared", TOEPLITZ, .sizes = {1, 512, 1, 32, .reach = 512}},
    {"convolution/shared", TOEPLITZ, .sizes = {1, 2047, 1, 3, .reach = 2047}},
    {"toeplitz/shared_spectrum", TOEPLITZ, .sizes = {1, 201, 1, 21, .reach = 201}},
    {"toeplitz/shared_spectrum", TOEPLITZ, .sizes = {1, 512, 1, 32, .reach = 512}},
    {"toeplitz/shared_spectrum", TOEPLITZ, .sizes = {1, 2047, 1, 3, .reach = 2047}},
    {"activation/activation", {{2, {7, 517}}}, 1, .build = build_activation},
    {"activation/activation", {{2, {8, 516}}}, 1, .build = build_activation},
    {"activation/activation", {{1, {3}}}, 1, .build = build_activation},
    {"structured_projection/hadamard",
     {{3, {1, 3, 4000}}, {3, {2, 3, 4096}}},
     2,
     .build = build_hadamard},
    {"structured_projection/hadamard",
     {{3, {1, 7, 600}}, {3, {1, 2, 1024}}},
     2,
     .build = build_hadamard},
    {"structured_projection/hadamard",
     {{3, {1, 67, 30}}, {3, {3, 1, 32}}},
     2,
     .build = build_hadamard},
    {"structured_projection/hadamard",
     {{3, {1, 67, 3}}, {3, {5, 2, 4}}},
     2,
     .build = build_hadamard},
    /* Sums that underflow: terms that are not there do not change the sign of a zero. */
    {"matmul/product",
     {{2, {131, 130}}, {2, {130, 257}}},
     2,
     .build = build_product,
     .fill = fill_tiny},
    {"reduce/sums", {{2, {7, 256}}}, 1, .build = build_signed_sums, .fill = fill_halves},
};

static const char *const names[] = {"0", "1", "2", "3"};

static weft_shape shape_of(const struct work *work, uint32_t input, uint32_t round) {
    return work->sizes.n == 0
               ? work->shape[input]
               : weft_sheet_shape(work->sheet, input, &work->sizes,
                                  weft_sheet_is_causal(work->sheet, work->params[round]));
}

static weft_status build(const struct work *work, weft_tensor *y, weft_graph *graph,
                         const weft_tensor *x, uint32_t round) {
    const weft_sizes sizes = {.heads = 2};
    if (!work->sheet) {
        return work->build(y, graph, x, round);
    }
    weft_sheet_params params =
        weft_sheet_params_of(work->sheet, work->params[round],
                             work->sizes.n == 0 ? &sizes : &work->sizes, (weft_tensor){0});
    for (uint32_t i = 0; i < weft_sheet_operand_count(work->sheet); i++) {
        weft_sheet_set(&params, work->sheet->operands[i].field, i < 4 ? x[i] : (weft_tensor){0});
    }
    return work->sheet->call(y, graph, x, &params);
}

/* The work's result by a row, as bits to be freed. */
static uint32_t *run_row(struct weft_test_graph *f, const struct work *work, uint32_t round,
                         const char *row, size_t *count) {
    struct weft_test_run run = weft_test_begin(f->device);
    weft_tensor x[4] = {{0}};
    weft_tensor y = {0};
    weft_shape shape;
    float *data[4] = {NULL};
    for (uint32_t i = 0; i < 4 && shape_of(work, i, round).rank > 0; i++) {
        const weft_shape in = shape_of(work, i, round);
        const size_t elements = (size_t)weft_shape_elements(in);
        data[i] = malloc(elements * sizeof *data[i]);
        (work->fill ? work->fill : fill_evenly)(data[i], elements, round, i);
        if (i < work->inputs || work->sizes.n > 0) {
            x[i] = weft_test_feed(&run, names[i], in, data[i]);
        } else {
            weft_test_feed_state(&run, "state", in, data[i]);
        }
    }
    assert_ok(build(work, &y, run.graph, x, round));
    assert_ok(weft_graph_get_tensor(run.graph, y, &shape, NULL));
    *count = (size_t)weft_shape_elements(shape);
    float *out = malloc(*count * sizeof *out);
    weft_test_take(&run, "y", y, out);
    weft_test_execute_row(&run, row);
    for (uint32_t i = 0; i < 4; i++) {
        free(data[i]);
    }
    return (uint32_t *)(void *)out;
}

/* A row that this driver cannot run is named in the test's output. */
static bool can_run(const struct weft_test_graph *f, const struct weft_variant_set *set,
                    const struct weft_variant *row) {
    const char *missing = weft_variant_missing(row, f->device, true);
    if (missing) {
        print_message("%s: %s does not run here: %s\n", set->name, row->name, missing);
    }
    return !missing;
}

/* A NaN of all ones is what the output was before. */
static void expect_written(const uint32_t *bits, size_t count, const char *row) {
    for (size_t k = 0; k < count; k++) {
        if (bits[k] == UINT32_MAX) {
            fail_msg("%s leaves element %zu unwritten", row, k);
        }
    }
}

/* Against the first row of the same group of bits. */
static uint32_t compare_rows(struct weft_test_graph *f, const struct weft_variant_set *set,
                             const struct work *work, uint32_t round) {
    uint32_t *first[WEFT_MAX_VARIANTS] = {NULL};
    uint32_t compared = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!can_run(f, set, &set->rows[i])) {
            continue;
        }
        size_t count = 0;
        uint32_t *bits = run_row(f, work, round, set->rows[i].name, &count);
        const uint32_t group = set->rows[i].bits;
        expect_written(bits, count, set->rows[i].name);
        assert_in_range(group, 0, WEFT_MAX_VARIANTS - 1);
        if (!first[group]) {
            first[group] = bits;
            continue;
        }
        for (size_t k = 0; k < count; k++) {
            if (bits[k] != first[group][k]) {
                fail_msg("%s by %s: element %zu is 0x%08x, by another row 0x%08x", set->name,
                         set->rows[i].name, k, bits[k], first[group][k]);
            }
        }
        compared++;
        free(bits);
    }
    for (uint32_t i = 0; i < WEFT_MAX_VARIANTS; i++) {
        free(first[i]);
    }
    return compared;
}

/* Its rows are run by unit.cooperative. */
static bool is_for_fast_mode(const struct weft_variant_set *set) {
    return set->rows[0].matrix.m != 0;
}

/* Of one group of bits, and for this driver: workgroups of 512 leave SwiftShader one. */
static bool has_two_rows(const struct weft_test_graph *f, const struct weft_variant_set *set) {
    uint32_t rows[WEFT_MAX_VARIANTS] = {0};
    bool has = false;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!weft_variant_missing(&set->rows[i], f->device, true)) {
            has = ++rows[set->rows[i].bits] > 1 || has;
        }
    }
    return has;
}

WEFT_TEST_ON_GRAPH(test_rows_give_the_bits_of_their_group, f) {
    for (size_t s = 0; s < set_count; s++) {
        if (is_for_fast_mode(sets[s])) {
            continue;
        }
        uint32_t compared = 0;
        for (size_t w = 0; w < sizeof works / sizeof works[0]; w++) {
            for (uint32_t round = 0; round < 2 && strcmp(works[w].set, sets[s]->name) == 0;
                 round++) {
                compared += compare_rows(f, sets[s], &works[w], round);
            }
        }
        if (compared == 0 && has_two_rows(f, sets[s])) { /* a set without work here */
            fail_msg("%s: no two of its rows were compared", sets[s]->name);
        }
    }
}

/* All shaders of a set take the same fields. */
WEFT_TEST(test_sets_have_one_interface) {
    for (size_t s = 0; s < set_count; s++) {
        const struct weft_shader_interface *a = &sets[s]->rows[0].shader->interface;
        for (uint32_t i = 1; i < sets[s]->count; i++) {
            const struct weft_shader_interface *b = &sets[s]->rows[i].shader->interface;
            const uint32_t fields = a->push_count + a->binding_count + a->constant_count;
            assert_int_equal(a->push_count, b->push_count);
            assert_int_equal(a->binding_count, b->binding_count);
            assert_int_equal(a->constant_count, b->constant_count);
            for (uint32_t k = 0; k < fields; k++) {
                assert_string_equal(a->fields[k].name, b->fields[k].name);
                assert_int_equal(a->fields[k].type, b->fields[k].type);
                assert_int_equal(a->fields[k].place, b->fields[k].place);
            }
        }
    }
}

/* ---- other tiles: what a row for one vendor would be ---- */

static struct weft_grid tiled_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct weft_matmul_tiled_args *a = args;
    const uint32_t rows = weft_variant_tile(variant, WEFT_MATMUL_TILED_AT_TILE_ROWS);
    const uint32_t columns = weft_variant_tile(variant, WEFT_MATMUL_TILED_AT_TILE_COLUMNS);
    return weft_grid_of((a->push.n - 1) / columns + 1, (a->push.m - 1) / rows + 1, batches);
}

#define TILED(row_name, row_count, column_count, depth_count)                                   \
    {                                                                                           \
        .name = (row_name), .shader = &weft_shader_matmul_tiled, .grid = tiled_grid, .tiles = { \
            [WEFT_MATMUL_TILED_AT_TILE_ROWS] = (row_count),                                     \
            [WEFT_MATMUL_TILED_AT_TILE_COLUMNS] = (column_count),                               \
            [WEFT_MATMUL_TILED_AT_TILE_DEPTH] = (depth_count),                                  \
        }                                                                                       \
    }

static bool suits_nothing(const struct weft_variant *variant, const void *args) {
    (void)variant;
    (void)args;
    return false;
}

static const struct weft_variant tile_rows[] = {
    {.name = "usual", .shader = &weft_shader_matmul_tiled, .grid = tiled_grid},
    TILED("low", 32, 64, 32),
    TILED("wide", 64, 128, 8),
    TILED("high", 128, 64, 8),
    {.name = "unsuited",
     .shader = &weft_shader_matmul_tiled,
     .grid = tiled_grid,
     .suits = suits_nothing},
};
static const struct weft_variant_set tile_set = {
    .name = "test/tiles", .rows = tile_rows, .count = 5};

static weft_status tiles_infer(const weft_graph *graph, struct weft_node *node, weft_dtype *dtype,
                               weft_shape *shape) {
    *dtype = WEFT_F32;
    *shape = weft_shape_of(weft_node_shape(graph, node, 0)->dim[0],
                           weft_node_shape(graph, node, 1)->dim[1]);
    return WEFT_OK;
}

static weft_status tiles_lower(struct weft_lowering *lowering, const struct weft_node *node) {
    const weft_shape *a = weft_node_shape(lowering->graph, node, 0);
    const weft_shape *b = weft_node_shape(lowering->graph, node, 1);
    const uint32_t left = weft_lower_value(lowering, node->input[0]);
    const uint32_t right = weft_lower_value(lowering, node->input[1]);
    const uint32_t result = weft_lower_value(lowering, node->output);
    WEFT_LOWER_VARIANTS(lowering, &tile_set, 1, matmul_tiled,
                        .bind = {.a = left,
                                 .b = right,
                                 .bias = WEFT_NO_STORAGE,
                                 .residual = WEFT_NO_STORAGE,
                                 .c = result},
                        .push = {.m = a->dim[0],
                                 .n = b->dim[1],
                                 .k = a->dim[1],
                                 .inner = 1,
                                 .a_outer = 0,
                                 .a_inner = 0,
                                 .a_row = a->dim[1],
                                 .a_column = 1,
                                 .b_outer = 0,
                                 .b_inner = 0,
                                 .b_row = b->dim[1],
                                 .b_column = 1,
                                 .c_outer = 0,
                                 .c_inner = 0,
                                 .c_row = b->dim[1],
                                 .alpha = 1.0F,
                                 .batches = 1},
                        .constant = {.activation = 0,
                                     .has_bias = 0,
                                     .has_residual = 0,
                                     .vector_a = 0,
                                     .vector_b = 0,
                                     .vector_c = 0,
                                     .half_a = 0,
                                     .half_b = 0});
    return weft_lower_status(lowering);
}

static const struct weft_op tiles_op = {
    .name = "test_tiles",
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = tiles_infer,
    .implementations = WEFT_IMPLEMENTATIONS({.name = "product", .lower = tiles_lower}),
};

static weft_status build_tiles(weft_tensor *y, weft_graph *graph, const weft_tensor *x,
                               uint32_t round) {
    (void)round;
    return weft_graph_add(y, graph, &tiles_op, x, 2, NULL, 0);
}

WEFT_TEST_ON_GRAPH(test_tiles_change_no_bit, f) {
    const struct work work = {
        "test/tiles", {{2, {150, 130}}, {2, {130, 141}}}, 2, .build = build_tiles};
    assert_int_equal(compare_rows(f, &tile_set, &work, 0), 4);
}

/* Nobody names a row: each is run by itself, in memory of its own, and the plan says how long it took. */
WEFT_TEST_ON_FRESH_GRAPH(test_rows_are_timed, f) {
    struct weft_test_run run = weft_test_begin(f->device);
    const float x[2] = {3.0F, 5.0F};
    weft_tensor inputs[2] = {weft_test_feed(&run, "a", weft_shape_of(1, 2), x),
                             weft_test_feed(&run, "b", weft_shape_of(2, 1), x)};
    weft_tensor y = {0};
    float out = 0.0F;
    assert_ok(build_tiles(&y, run.graph, inputs, 0));
    weft_test_take(&run, "y", y, &out);
    weft_plan *plan = weft_test_plan(&run, NULL);
    const char *choices = NULL;
    assert_ok(weft_plan_describe(plan, "choices", &choices));
    assert_non_null(strstr(choices, "test/tiles of test_tiles"));
    assert_non_null(strstr(choices, "measured now"));
    uint32_t times = 0;
    for (const char *at = choices; (at = strstr(at, " ms")); at++) {
        times++;
    }
    assert_int_equal(times, tile_set.count - 1);
    assert_non_null(strstr(choices, "left out: for other shapes"));
    assert_ok(weft_plan_execute(plan, run.tensors, run.count));
    assert_true(out == 34.0F);
    weft_plan_destroy(&plan);
}

/* ---- the engine ---- */

/* Times that are made up, and how often one was asked for. */
struct clock {
    double ms[3];
    uint32_t asked;
};

static weft_status read_clock(double *ms, void *user, uint32_t candidate) {
    struct clock *clock = user;
    clock->asked++;
    *ms = clock->ms[candidate];
    return WEFT_OK;
}

static uint32_t choose(struct weft_test_graph *f, struct clock *clock, const char *forced,
                       const struct weft_candidate candidates[3], const char *expected) {
    struct weft_choice choice = {
        .work = "made-up work", .count = 3, .measure = read_clock, .user = clock};
    struct weft_chooser chooser = {.device = f->device, .forced = forced};
    uint32_t chosen = 0;
    memcpy(choice.candidates, candidates, 3 * sizeof candidates[0]);
    assert_ok(weft_choose(&chosen, &choice, &chooser));
    assert_non_null(chooser.report);
    if (!strstr(chooser.report, expected)) {
        fail_msg("no '%s' in\n%s", expected, chooser.report);
    }
    weft_free(&f->host.host, chooser.report);
    return chosen;
}

WEFT_TEST_WITH(test_fastest_is_taken_and_remembered, struct weft_test_graph *f,
               weft_test_graph_set_up_cached, weft_test_graph_tear_down) {
    const struct weft_candidate all[3] = {
        {.name = "a", .cost = 1.0}, {.name = "b", .cost = 1.0}, {.name = "c", .cost = 1.5}};
    struct clock clock = {.ms = {3.0, 2.0, 1.0}};
    assert_int_equal(choose(f, &clock, NULL, all, "measured now"), 2);
    assert_int_equal(clock.asked, 3);
    clock.ms[0] = 0.5; /* nobody looks again */
    assert_int_equal(choose(f, &clock, NULL, all, "measured before, by this device"), 2);
    assert_int_equal(clock.asked, 3);
    weft_device *other = NULL;
    weft_device *first = f->device;
    assert_ok(
        weft_device_open(&other, weft_device_params(.host = f->host.host, .cache_dir = f->folder)));
    f->device = other;
    assert_int_equal(choose(f, &clock, NULL, all, "found on disk"), 2);
    assert_int_equal(clock.asked, 3);
    f->device = first;
    weft_device_destroy(&other);
}

WEFT_TEST_ON_GRAPH(test_what_is_left_out, f) {
    struct clock clock = {.ms = {1.0, 2.0, 3.0}};
    const struct weft_candidate bits[3] = {{.name = "a", .bits = 1, .cost = 1.0},
                                           {.name = "b", .cost = 1.0},
                                           {.name = "c", .bits = 2, .cost = 1.0}};
    assert_int_equal(choose(f, &clock, NULL, bits, "other bits"), 1);
    const struct weft_candidate slow[3] = {{.name = "a", .cost = 2.5},
                                           {.name = "b", .cost = 1.0},
                                           {.name = "c", .cost = 1.0, .left_out = "for Sundays"}};
    assert_int_equal(choose(f, &clock, NULL, slow, "more than twice the time"), 1);
    assert_int_equal(choose(f, &clock, NULL, slow, "for Sundays"), 1);
    assert_int_equal(clock.asked, 0); /* one was left each time */
    assert_int_equal(choose(f, &clock, "a", slow, "named by the caller"), 0);
    assert_int_equal(choose(f, &clock, "c", slow, "for Sundays"), 3); /* none */
}

WEFT_TEST(test_needs) {
    weft_device device = {.on_processor = true,
                          .info = {.vendor_id = 7,
                                   .subgroup_size = 8,
                                   .max_workgroup_invocations = 256,
                                   .max_shared_memory = 32768}};
    const struct {
        struct weft_needs needs;
        const char *missing;
    } rows[] = {
        {{0}, NULL},
        {{.kind = WEFT_SOFTWARE_DEVICE}, NULL},
        {{.kind = WEFT_HARDWARE_DEVICE}, "for hardware"},
        {{.vendor_id = 7}, NULL},
        {{.vendor_id = 8}, "for another vendor's devices"},
        {{.least_subgroup = 16}, "wants larger subgroups"},
        {{.most_subgroup = 4}, "wants smaller subgroups"},
        {{.invocations = 512}, "wants larger workgroups"},
        {{.shared_memory = 65536}, "wants more shared memory"},
        {{.f16_arithmetic = true}, "for fast mode"},
        {{.subgroup_arithmetic = true}, "for fast mode"},
        {{.least_subgroup = 16, .subgroup_arithmetic = true}, "wants larger subgroups"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *missing = weft_needs_missing(&rows[i].needs, &device, false);
        assert_true(missing ? rows[i].missing && strcmp(missing, rows[i].missing) == 0
                            : !rows[i].missing);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) { /* somebody asked for it */
        const struct weft_needs *needs = &rows[i].needs;
        const bool subgroups = needs->least_subgroup || needs->most_subgroup;
        const bool anyway = needs->kind || needs->vendor_id || !rows[i].missing ||
                            (subgroups && !needs->subgroup_arithmetic);
        assert_int_equal(!weft_needs_missing(&rows[i].needs, &device, true), anyway);
    }
    device.on_processor = false;
    assert_string_equal(weft_needs_missing(&rows[1].needs, &device, false), "for software drivers");
    assert_null(weft_needs_missing(&rows[2].needs, &device, false));
    device.math = WEFT_MATH_FAST;
    assert_string_equal(weft_needs_missing(&rows[9].needs, &device, false), "wants f16 arithmetic");
    device.info.has_f16_arithmetic = true;
    assert_null(weft_needs_missing(&rows[9].needs, &device, false));
}

/* Subgroups of a size, and a shape of matrices: for fast mode, and also for who asks for the row. */
WEFT_TEST(test_subgroups_and_matrices) {
    const struct weft_variant row = {
        .shader = &weft_shader_matmul_tiled, .subgroup = 16, .matrix = {8, 16, 16}};
    weft_device device = {.info = {.max_workgroup_invocations = 128,
                                   .least_subgroup = 16,
                                   .most_subgroup = 32,
                                   .matrix_shapes = {{16, 8, 16}, {8, 16, 16}}}};
    assert_string_equal(weft_variant_missing(&row, &device, true), "for fast mode");
    device.math = WEFT_MATH_FAST;
    assert_null(weft_variant_missing(&row, &device, false));
    device.info.least_subgroup = 32;
    assert_string_equal(weft_variant_missing(&row, &device, true),
                        "wants subgroups of another size");
    device.info.least_subgroup = device.info.most_subgroup = 8;
    assert_string_equal(weft_variant_missing(&row, &device, true),
                        "wants subgroups of another size");
    device.info.most_subgroup = 16;
    device.info.matrix_shapes[1].k = 8;
    assert_string_equal(weft_variant_missing(&row, &device, true),
                        "wants cooperative matrices of another shape");
}

/* Those of bytes are for every mode, and not the same as those of f16. */
WEFT_TEST(test_subgroups_and_matrices_of_bytes) {
    const struct weft_variant row = {
        .shader = &weft_shader_matmul_tiled, .subgroup = 16, .integer_matrix = {8, 16, 16}};
    weft_device device = {.info = {.max_workgroup_invocations = 128,
                                   .least_subgroup = 16,
                                   .most_subgroup = 32,
                                   .matrix_shapes = {{8, 16, 16}},
                                   .integer_matrix_shapes = {{8, 16, 16}}}};
    for (int math = WEFT_MATH_REPRODUCIBLE; math <= WEFT_MATH_FUSED; math++) {
        device.math = (weft_math)math;
        assert_null(weft_variant_missing(&row, &device, false));
    }
    device.info.least_subgroup = 32;
    assert_string_equal(weft_variant_missing(&row, &device, true),
                        "wants subgroups of another size");
    device.info.least_subgroup = 8;
    device.info.integer_matrix_shapes[0].k = 32;
    assert_string_equal(weft_variant_missing(&row, &device, true),
                        "wants cooperative matrices of another shape");
}

/* ---- GPUs of few registers ---- */

/* As a Raspberry Pi 5's and an Arm Mali-G610's drivers describe them, in what rows ask for. */
static const weft_device_info small_gpus[] = {
    {.type = WEFT_DEVICE_INTEGRATED,
     .vendor_id = 0x14e4,
     .subgroup_size = 16,
     .least_subgroup = 16,
     .most_subgroup = 16,
     .max_workgroup_invocations = 256,
     .max_shared_memory = 16384},
    {.type = WEFT_DEVICE_INTEGRATED,
     .vendor_id = 0x13b5,
     .subgroup_size = 16,
     .max_workgroup_invocations = 1024,
     .max_shared_memory = 32768,
     .has_subgroup_arithmetic = true},
};

static const struct weft_variant_set *set_of(const char *name) {
    for (size_t s = 0; s < set_count; s++) {
        if (strcmp(sets[s]->name, name) == 0) {
            return sets[s];
        }
    }
    return NULL;
}

static const char *missing_of(const struct weft_variant_set *set, const char *row,
                              const weft_device *device) {
    for (uint32_t i = 0; set && i < set->count; i++) {
        if (strcmp(set->rows[i].name, row) == 0) {
            return weft_variant_missing(&set->rows[i], device, false);
        }
    }
    return "not there";
}

/* Of every group: a row of bits 1 for fast mode does not help reproducible mode. Matrices are for devices that have them, all or none. */
WEFT_TEST(test_small_gpus_have_a_row_of_every_set) {
    for (size_t g = 0; g < sizeof small_gpus / sizeof small_gpus[0]; g++) {
        const weft_device device = {.info = small_gpus[g]};
        for (size_t s = 0; s < set_count; s++) {
            bool has_row = sets[s]->rows[0].matrix.m != 0;
            for (uint32_t i = 0; i < sets[s]->count; i++) {
                const struct weft_variant *row = &sets[s]->rows[i];
                has_row = has_row || (row->bits == 0 && !row->suits &&
                                      !weft_variant_missing(row, &device, false));
            }
            if (!has_row) {
                fail_msg("%s has no row for vendor 0x%x", sets[s]->name, device.info.vendor_id);
            }
        }
    }
}

/* Their compilers take minutes for these; AMD's and NVIDIA's keep them in registers. */
WEFT_TEST(test_tiles_are_for_gpus_of_many_registers) {
    static const char *const rows[][2] = {
        {"matmul/product", "tiled"},         {"matmul/product", "tiled-128"},
        {"banded_attention/band", "tiled"},  {"fast_weight/solve", "tiled"},
        {"fast_weight/update", "tiled"},     {"linear_attention/state", "tiled"},
        {"linear_attention/apply", "tiled"}, {"toeplitz_attention/direct", "tiled"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weft_variant_set *set = set_of(rows[i][0]);
        for (size_t g = 0; g < sizeof small_gpus / sizeof small_gpus[0]; g++) {
            weft_device device = {.info = small_gpus[g]};
            const char *missing = missing_of(set, rows[i][1], &device);
            if (!missing || strcmp(missing, "wants more registers") != 0) {
                fail_msg("%s, %s: %s", rows[i][0], rows[i][1], missing ? missing : "taken");
            }
            device.info.vendor_id = 0x1002;
            assert_null(missing_of(set, rows[i][1], &device));
        }
    }
}

/* A Raspberry Pi's compiler takes minutes for the transforms without loops. */
WEFT_TEST(test_long_code_is_rolled_up) {
    const weft_device device = {.info = small_gpus[0]};
    const struct weft_variant_set *set = set_of("structured_projection/hadamard");
    assert_non_null(missing_of(set, "narrow", &device));
    assert_non_null(missing_of(set, "wide", &device));
    assert_null(missing_of(set, "rolled", &device));
}

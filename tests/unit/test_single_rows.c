/* SPDX-License-Identifier: MIT */
/* weft-test: device */
/*
 * Ops that work on each token by itself give a token the same bits alone and among others: what decoding token by token
 * rests on, beside the steps.
 */
#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_graph.h"

/** An op of x f32 [1, n, d] and tokens i32 [1, n]. */
struct op {
    const char *name;
    uint32_t d;
    uint32_t option;
    void (*build)(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                  const struct op *op);
};

#define N     259
#define VOCAB 40

/** A constant of numbers in -1 … 1, or 0 … 1. */
static weft_tensor add_weight(weft_graph *graph, weft_shape shape, uint64_t stream, bool positive) {
    const uint64_t count = weft_shape_elements(shape);
    float *data = calloc(count, sizeof *data);
    weft_weight *weight = NULL;
    weft_tensor tensor = {0};
    assert_non_null(data);
    weft_philox_uniform(data, count, 17, stream);
    for (uint64_t i = 0; i < count && positive; i++) {
        data[i] = 0.5F * data[i] + 0.5F;
    }
    assert_int_equal(
        weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL),
        WEFT_OK);
    assert_int_equal(weft_graph_weight(&tensor, graph, weight), WEFT_OK);
    weft_weight_destroy(&weight);
    free(data);
    return tensor;
}

/* ---- the ops ---- */

/** option: outputs. */
static void build_linear(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                         const struct op *op) {
    (void)tokens;
    weft_tensor w = add_weight(graph, weft_shape_of(op->option, op->d), 1, false);
    weft_tensor b = add_weight(graph, weft_shape_of(op->option), 2, false);
    assert_int_equal(weft_graph_linear(out, graph, x, w, b), WEFT_OK);
}

/** A post-norm block: linear, activation, linear, residual, norm, which are fused where they can be. */
static void build_block(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                        const struct op *op) {
    (void)tokens;
    weft_tensor y;
    weft_tensor in = add_weight(graph, weft_shape_of(op->option, op->d), 1, false);
    weft_tensor bias = add_weight(graph, weft_shape_of(op->option), 2, false);
    weft_tensor back = add_weight(graph, weft_shape_of(op->d, op->option), 3, false);
    weft_tensor gamma = add_weight(graph, weft_shape_of(op->d), 4, false);
    weft_tensor beta = add_weight(graph, weft_shape_of(op->d), 5, false);
    assert_int_equal(weft_graph_linear(&y, graph, x, in, bias), WEFT_OK);
    assert_int_equal(weft_graph_activate(&y, graph, y, WEFT_ACTIVATION_GELU_ERF), WEFT_OK);
    assert_int_equal(weft_graph_linear(&y, graph, y, back, beta), WEFT_OK);
    assert_int_equal(weft_graph_binary(&y, graph, WEFT_BINARY_ADD, y, x), WEFT_OK);
    assert_int_equal(weft_graph_layer_norm(out, graph, y, gamma, beta, 1e-5F), WEFT_OK);
}

/** option: weft_norm. */
static void build_norm(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                       const struct op *op) {
    (void)tokens;
    const weft_norm kind = (weft_norm)op->option;
    weft_norm_params params = {.kind = kind, .epsilon = 1e-5F};
    params.gamma = add_weight(graph, weft_shape_of(kind == WEFT_NORM_SCALE ? 1 : op->d), 1, false);
    params.beta = add_weight(graph, weft_shape_of(op->d), 2, false);
    params.mean = add_weight(graph, weft_shape_of(op->d), 3, false);
    params.variance = add_weight(graph, weft_shape_of(op->d), 4, true);
    assert_int_equal(weft_graph_norm(out, graph, x, &params), WEFT_OK);
}

/** option: weft_activation. */
static void build_activation(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                             const struct op *op) {
    (void)tokens;
    assert_int_equal(weft_graph_activate(out, graph, x, (weft_activation)op->option), WEFT_OK);
}

static void build_softmax(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                          const struct op *op) {
    (void)tokens;
    (void)op;
    assert_int_equal(weft_graph_softmax(out, graph, x), WEFT_OK);
}

static void build_glu(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                      const struct op *op) {
    (void)tokens;
    weft_glu_params params = {.activation = WEFT_ACTIVATION_SILU};
    for (uint32_t i = 0; i < 3; i++) {
        weft_shape shape =
            i < 2 ? weft_shape_of(op->option, op->d) : weft_shape_of(op->d, op->option);
        params.weight[i] = add_weight(graph, shape, 1 + i, false);
        params.bias[i] = add_weight(graph, weft_shape_of(shape.dim[0]), 4 + i, false);
    }
    assert_int_equal(weft_graph_glu(out, graph, x, &params), WEFT_OK);
}

/** option: weft_component; 3 heads. */
static void build_features(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                           const struct op *op) {
    (void)tokens;
    weft_tensor w = add_weight(graph, weft_shape_of(20, op->d / 3), 1, false);
    weft_random_features_params params = {
        .component = (weft_component)op->option, .heads = 3, .stabilizer = WEFT_STABILIZER_QUERY};
    params.a = params.component == WEFT_COMPONENT_GENERALIZED ? 0.1F : 0.0F;
    assert_int_equal(weft_graph_random_features(out, graph, x, w, &params), WEFT_OK);
}

/** option: weft_features_kind of one with a fast transform. */
static void build_projection(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                             const struct op *op) {
    (void)tokens;
    weft_features_structure structure;
    const weft_features_params *params =
        weft_features_params(.kind = (weft_features_kind)op->option, .rows = 24, .columns = op->d);
    assert_int_equal(weft_features_get_structure(&structure, params, NULL), WEFT_OK);
    weft_tensor diagonals = add_weight(
        graph, weft_shape_of(structure.blocks, structure.diagonals, structure.size), 1, false);
    assert_int_equal(
        weft_graph_structured_projection(
            out, graph, x, diagonals,
            weft_structured_projection_params(.kind = (weft_features_kind)op->option, .rows = 24)),
        WEFT_OK);
}

static void build_discrete(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                           const struct op *op) {
    (void)tokens;
    float powers[8 * 12];
    assert_int_equal(op->d, 24);
    for (uint32_t i = 0; i < 8 * 12; i++) {
        const uint32_t power = i * i % 7 / 3;
        powers[i] = (float)power;
    }
    weft_weight *weight = NULL;
    weft_tensor w = {0};
    assert_int_equal(
        weft_weight_create(&weight,
                           weft_weight_params(.shape = weft_shape_of(8, 12), .data = powers), NULL),
        WEFT_OK);
    assert_int_equal(weft_graph_weight(&w, graph, weight), WEFT_OK);
    weft_weight_destroy(&weight);
    weft_tensor coefficients = add_weight(graph, weft_shape_of(8), 2, false);
    assert_int_equal(
        weft_graph_discrete_features(
            out, graph, x, w, coefficients,
            weft_discrete_features_params(.heads = 2, .stabilizer = WEFT_STABILIZER_QUERY)),
        WEFT_OK);
}

static void build_hybrid(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                         const struct op *op) {
    (void)tokens;
    weft_tensor w = add_weight(graph, weft_shape_of(9, op->d / 2), 1, false);
    weft_tensor directions = add_weight(graph, weft_shape_of(4, op->d / 2), 2, false);
    assert_int_equal(
        weft_graph_hybrid_features(
            out, graph, x, w, directions,
            weft_hybrid_features_params(.heads = 2, .stabilizer = WEFT_STABILIZER_QUERY)),
        WEFT_OK);
}

static void build_embedding(weft_tensor *out, weft_graph *graph, weft_tensor x, weft_tensor tokens,
                            const struct op *op) {
    (void)x;
    weft_tensor table = add_weight(graph, weft_shape_of(VOCAB, op->d), 1, false);
    assert_int_equal(
        weft_graph_embedding(out, graph, weft_embedding_params(.tokens = tokens, .table = table)),
        WEFT_OK);
}

static const struct op ops[] = {
    {"linear 48 to 96", 48, 96, build_linear},
    {"linear 33 to 17", 33, 17, build_linear},
    {"linear 8 to 1", 8, 1, build_linear},
    {"linear 64 to 256", 64, 256, build_linear},
    {"linear 768 to 64", 768, 64, build_linear},
    {"block of 48", 48, 96, build_block},
    {"block of 33", 33, 130, build_block},
    {"block of 512", 512, 40, build_block},
    {"layer norm", 300, WEFT_NORM_LAYER, build_norm},
    {"rms norm", 300, WEFT_NORM_RMS, build_norm},
    {"simple rms norm", 300, WEFT_NORM_SIMPLE_RMS, build_norm},
    {"scale norm", 300, WEFT_NORM_SCALE, build_norm},
    {"batch norm", 300, WEFT_NORM_BATCH, build_norm},
    {"gelu", 48, WEFT_ACTIVATION_GELU_TANH, build_activation},
    {"softmax", 300, 0, build_softmax},
    {"glu", 48, 100, build_glu},
    {"trigonometric", 48, WEFT_COMPONENT_TRIGONOMETRIC, build_features},
    {"positive", 48, WEFT_COMPONENT_POSITIVE, build_features},
    {"hyperbolic", 33, WEFT_COMPONENT_HYPERBOLIC, build_features},
    {"generalized", 33, WEFT_COMPONENT_GENERALIZED, build_features},
    {"sorf", 24, WEFT_FEATURES_SORF, build_projection},
    {"rom", 32, WEFT_FEATURES_ROM, build_projection},
    {"scrf", 24, WEFT_FEATURES_SCRF, build_projection},
    {"scrf by fft", 160, WEFT_FEATURES_SCRF, build_projection},
    {"discrete", 24, 0, build_discrete},
    {"hybrid", 24, 0, build_hybrid},
    {"embedding", 40, 0, build_embedding},
};

/* ---- running ---- */

/** The op's rows for n tokens, in malloc's memory; *columns receives their length. */
static float *run(struct weft_test_graph *f, const struct op *op, float *x, int32_t *tokens,
                  uint32_t n, uint32_t *columns) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor ids;
    weft_tensor y;
    weft_shape shape;
    assert_int_equal(weft_graph_create(&graph, &f->host.host), WEFT_OK);
    weft_tensor input = weft_test_input(graph, "x", weft_shape_of(1, n, op->d));
    assert_int_equal(weft_graph_input(&ids, graph, "tokens", WEFT_I32, weft_shape_of(1, n)),
                     WEFT_OK);
    op->build(&y, graph, input, ids, op);
    assert_int_equal(weft_graph_get_tensor(graph, y, &shape, NULL), WEFT_OK);
    assert_int_equal(weft_graph_output(graph, "y", y), WEFT_OK);
    assert_int_equal(weft_plan_compile(&plan, f->device, graph, NULL), WEFT_OK);
    *columns = shape.dim[2];
    float *out = calloc((size_t)n * *columns, sizeof *out);
    assert_non_null(out);
    const weft_host_tensor tensors[] = {{"x", x, (uint64_t)n * op->d * sizeof *x},
                                        {"tokens", tokens, n * sizeof *tokens},
                                        {"y", out, (uint64_t)n * *columns * sizeof *out}};
    assert_int_equal(weft_plan_execute(plan, tensors, 3), WEFT_OK);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
    return out;
}

static void check_op(struct weft_test_graph *f, const struct op *op) {
    static const uint32_t rows[] = {0, 1, 31, 63, 64, 200, N - 1};
    float *x = calloc((size_t)N * op->d, sizeof *x);
    int32_t tokens[N];
    assert_non_null(x);
    weft_philox_uniform(x, (uint64_t)N * op->d, 23, 0);
    for (uint32_t i = 0; i < N; i++) {
        tokens[i] = (int32_t)(i * 7 % VOCAB);
    }
    for (uint64_t i = 0; i < (uint64_t)N * op->d; i++) {
        x[i] = 1.5F * x[i];
    }
    uint32_t columns = 0;
    float *all = run(f, op, x, tokens, N, &columns);
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        float *one = run(f, op, x + (size_t)rows[i] * op->d, tokens + rows[i], 1, &columns);
        if (memcmp(one, all + (size_t)rows[i] * columns, columns * sizeof *one) != 0) {
            fail_msg("%s: token %u has other bits alone", op->name, rows[i]);
        }
        free(one);
    }
    free(all);
    free(x);
}

WEFT_TEST_ON_GRAPH(test_tokens_alone, f) {
    for (uint32_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        check_op(f, &ops[i]);
    }
}

/* A position's row as a second table's, looked up by number, is added as the table of positions is. */
WEFT_TEST_ON_GRAPH(test_position_as_type, f) {
    enum { TOKENS = 9, D = 12 };
    weft_plan *plan = NULL;
    weft_tensor ids;
    weft_tensor places;
    weft_tensor y[2];
    int32_t tokens[TOKENS];
    int32_t positions[TOKENS];
    float out[2][TOKENS * D];
    for (int32_t i = 0; i < TOKENS; i++) {
        tokens[i] = i * 5 % VOCAB;
        positions[i] = i;
    }
    assert_int_equal(weft_graph_input(&ids, f->graph, "tokens", WEFT_I32, weft_shape_of(1, TOKENS)),
                     WEFT_OK);
    assert_int_equal(
        weft_graph_input(&places, f->graph, "positions", WEFT_I32, weft_shape_of(1, TOKENS)),
        WEFT_OK);
    weft_tensor table = add_weight(f->graph, weft_shape_of(VOCAB, D), 1, false);
    weft_tensor rows = add_weight(f->graph, weft_shape_of(TOKENS + 3, D), 2, false);
    assert_int_equal(weft_graph_embedding(
                         &y[0], f->graph,
                         weft_embedding_params(.tokens = ids, .table = table, .positions = rows)),
                     WEFT_OK);
    assert_int_equal(
        weft_graph_embedding(&y[1], f->graph,
                             weft_embedding_params(.tokens = ids, .table = table, .types = places,
                                                   .type_table = rows)),
        WEFT_OK);
    assert_int_equal(weft_graph_output(f->graph, "y0", y[0]), WEFT_OK);
    assert_int_equal(weft_graph_output(f->graph, "y1", y[1]), WEFT_OK);
    assert_int_equal(weft_plan_compile(&plan, f->device, f->graph, NULL), WEFT_OK);
    const weft_host_tensor tensors[] = {{"tokens", tokens, sizeof tokens},
                                        {"positions", positions, sizeof positions},
                                        {"y0", out[0], sizeof out[0]},
                                        {"y1", out[1], sizeof out[1]}};
    assert_int_equal(weft_plan_execute(plan, tensors, 4), WEFT_OK);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
    weft_plan_destroy(&plan);
}

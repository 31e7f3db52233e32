/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/*
 * Ops that work on each token by itself give a token the same bits alone and among others: what decoding token by token
 * rests on, beside the steps.
 */
#include <weft/mixers.h>

#include "core/math/philox.h"
#include "core/shape.h"
#include "support_graph.h"

/** What an op is built of: x f32 [1, n, d] and tokens i32 [1, n]. */
struct call {
    const struct op *op;
    weft_graph *graph;
    weft_tensor x, tokens;
};

struct op {
    const char *name;
    uint32_t d;
    uint32_t option;
    void (*build)(const struct call *c, weft_tensor *out);
};

#define N     259
#define VOCAB 40

/** A constant of numbers in -1 … 1, or 0 … 1. */
static weft_tensor add_weight(weft_graph *graph, weft_shape shape, uint64_t stream, bool positive) {
    const uint64_t count = weft_shape_elements(shape);
    float *data = weft_test_uniform(count, 17, stream);
    for (uint64_t i = 0; i < count && positive; i++) {
        data[i] = 0.5F * data[i] + 0.5F;
    }
    weft_tensor tensor = weft_test_constant(graph, shape, data);
    free(data);
    return tensor;
}

/* ---- the ops ---- */

/** option: outputs. */
static void build_linear(const struct call *c, weft_tensor *out) {
    weft_tensor w = add_weight(c->graph, weft_shape_of(c->op->option, c->op->d), 1, false);
    weft_tensor b = add_weight(c->graph, weft_shape_of(c->op->option), 2, false);
    assert_ok(weft_graph_linear(out, c->graph, c->x, w, b));
}

/** A post-norm block: linear, activation, linear, residual, norm, which are fused where they can be. */
static void build_block(const struct call *c, weft_tensor *out) {
    weft_tensor y;
    weft_tensor in = add_weight(c->graph, weft_shape_of(c->op->option, c->op->d), 1, false);
    weft_tensor bias = add_weight(c->graph, weft_shape_of(c->op->option), 2, false);
    weft_tensor back = add_weight(c->graph, weft_shape_of(c->op->d, c->op->option), 3, false);
    weft_tensor gamma = add_weight(c->graph, weft_shape_of(c->op->d), 4, false);
    weft_tensor beta = add_weight(c->graph, weft_shape_of(c->op->d), 5, false);
    assert_ok(weft_graph_linear(&y, c->graph, c->x, in, bias));
    assert_ok(weft_graph_activate(&y, c->graph, y, WEFT_ACTIVATION_GELU_ERF));
    assert_ok(weft_graph_linear(&y, c->graph, y, back, beta));
    assert_ok(weft_graph_binary(&y, c->graph, WEFT_BINARY_ADD, y, c->x));
    assert_ok(weft_graph_layer_norm(out, c->graph, y, gamma, beta, 1e-5F));
}

/** option: weft_norm. */
static void build_norm(const struct call *c, weft_tensor *out) {
    const weft_norm kind = (weft_norm)c->op->option;
    weft_norm_params params = {.kind = kind, .epsilon = 1e-5F};
    params.gamma =
        add_weight(c->graph, weft_shape_of(kind == WEFT_NORM_SCALE ? 1 : c->op->d), 1, false);
    params.beta = add_weight(c->graph, weft_shape_of(c->op->d), 2, false);
    params.mean = add_weight(c->graph, weft_shape_of(c->op->d), 3, false);
    params.variance = add_weight(c->graph, weft_shape_of(c->op->d), 4, true);
    assert_ok(weft_graph_norm(out, c->graph, c->x, &params));
}

/** option: weft_activation. */
static void build_activation(const struct call *c, weft_tensor *out) {
    assert_ok(weft_graph_activate(out, c->graph, c->x, (weft_activation)c->op->option));
}

static void build_softmax(const struct call *c, weft_tensor *out) {
    assert_ok(weft_graph_softmax(out, c->graph, c->x));
}

static void build_glu(const struct call *c, weft_tensor *out) {
    weft_glu_params params = {.activation = WEFT_ACTIVATION_SILU};
    for (uint32_t i = 0; i < 3; i++) {
        weft_shape shape =
            i < 2 ? weft_shape_of(c->op->option, c->op->d) : weft_shape_of(c->op->d, c->op->option);
        params.weight[i] = add_weight(c->graph, shape, 1 + i, false);
        params.bias[i] = add_weight(c->graph, weft_shape_of(shape.dim[0]), 4 + i, false);
    }
    assert_ok(weft_graph_glu(out, c->graph, c->x, &params));
}

/** option: weft_component; 3 heads. */
static void build_features(const struct call *c, weft_tensor *out) {
    weft_tensor w = add_weight(c->graph, weft_shape_of(20, c->op->d / 3), 1, false);
    weft_random_features_params params = {.component = (weft_component)c->op->option,
                                          .heads = 3,
                                          .stabilizer = WEFT_STABILIZER_QUERY};
    params.a = params.component == WEFT_COMPONENT_GENERALIZED ? 0.1F : 0.0F;
    assert_ok(weft_graph_random_features(out, c->graph, c->x, w, &params));
}

/** option: weft_features_kind of one with a fast transform. */
static void build_projection(const struct call *c, weft_tensor *out) {
    weft_features_structure structure;
    const weft_features_params *params =
        weft_features_params(.kind = (weft_features_kind)c->op->option, .rows = 24,
                             .columns = c->op->d);
    assert_ok(weft_features_get_structure(&structure, params, NULL));
    weft_tensor diagonals = add_weight(
        c->graph, weft_shape_of(structure.blocks, structure.diagonals, structure.size), 1, false);
    assert_ok(weft_graph_structured_projection(
        out, c->graph, c->x, diagonals,
        weft_structured_projection_params(.kind = (weft_features_kind)c->op->option, .rows = 24)));
}

static void build_discrete(const struct call *c, weft_tensor *out) {
    float powers[8 * 12];
    assert_int_equal(c->op->d, 24);
    for (uint32_t i = 0; i < 8 * 12; i++) {
        const uint32_t power = i * i % 7 / 3;
        powers[i] = (float)power;
    }
    weft_tensor w = weft_test_constant(c->graph, weft_shape_of(8, 12), powers);
    weft_tensor coefficients = add_weight(c->graph, weft_shape_of(8), 2, false);
    assert_ok(weft_graph_discrete_features(
        out, c->graph, c->x, w, coefficients,
        weft_discrete_features_params(.heads = 2, .stabilizer = WEFT_STABILIZER_QUERY)));
}

static void build_hybrid(const struct call *c, weft_tensor *out) {
    weft_tensor w = add_weight(c->graph, weft_shape_of(9, c->op->d / 2), 1, false);
    weft_tensor directions = add_weight(c->graph, weft_shape_of(4, c->op->d / 2), 2, false);
    assert_ok(weft_graph_hybrid_features(
        out, c->graph, c->x, w, directions,
        weft_hybrid_features_params(.heads = 2, .stabilizer = WEFT_STABILIZER_QUERY)));
}

static void build_embedding(const struct call *c, weft_tensor *out) {
    weft_tensor table = add_weight(c->graph, weft_shape_of(VOCAB, c->op->d), 1, false);
    assert_ok(weft_graph_embedding(out, c->graph,
                                   weft_embedding_params(.tokens = c->tokens, .table = table)));
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
    struct weft_test_run r = weft_test_begin(f->device);
    struct call call = {.op = op, .graph = r.graph};
    weft_tensor y;
    weft_shape shape;
    call.x = weft_test_feed(&r, "x", weft_shape_of(1, n, op->d), x);
    call.tokens = weft_test_feed_i32(&r, "tokens", weft_shape_of(1, n), tokens);
    op->build(&call, &y);
    assert_ok(weft_graph_get_tensor(r.graph, y, &shape, NULL));
    *columns = shape.dim[2];
    float *out = calloc((size_t)n * *columns, sizeof *out);
    assert_non_null(out);
    weft_test_execute_to(&r, y, out);
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
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y[2];
    int32_t tokens[TOKENS];
    int32_t positions[TOKENS];
    float out[2][TOKENS * D];
    for (int32_t i = 0; i < TOKENS; i++) {
        tokens[i] = i * 5 % VOCAB;
        positions[i] = i;
    }
    weft_tensor ids = weft_test_feed_i32(&r, "tokens", weft_shape_of(1, TOKENS), tokens);
    weft_tensor places = weft_test_feed_i32(&r, "positions", weft_shape_of(1, TOKENS), positions);
    weft_tensor table = add_weight(r.graph, weft_shape_of(VOCAB, D), 1, false);
    weft_tensor rows = add_weight(r.graph, weft_shape_of(TOKENS + 3, D), 2, false);
    assert_ok(weft_graph_embedding(
        &y[0], r.graph, weft_embedding_params(.tokens = ids, .table = table, .positions = rows)));
    assert_ok(weft_graph_embedding(
        &y[1], r.graph,
        weft_embedding_params(.tokens = ids, .table = table, .types = places, .type_table = rows)));
    weft_test_take(&r, "y0", y[0], out[0]);
    weft_test_take(&r, "y1", y[1], out[1]);
    weft_test_execute(&r, NULL);
    assert_memory_equal(out[0], out[1], sizeof out[0]);
}

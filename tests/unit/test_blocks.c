/* SPDX-License-Identifier: MIT */
/* The norms and the helpers around mixers: shapes, bad parameters, graphs left as they were. */
#include <math.h>

#include <weft/mixers.h>

#include "support_graph.h"

struct fixture {
    struct weft_test_host host;
    weft_graph *graph;
    weft_tensor x;           /* [2, 9, 6] */
    weft_tensor d6, d5, d1;  /* [6], [5], [1] */
    weft_tensor w, up, down; /* [6, 6], [11, 6], [6, 11] */
};

static void make_graph(struct fixture *fixture) {
    assert_ok(weft_graph_create(&fixture->graph, &fixture->host.host));
    fixture->x = weft_test_input(fixture->graph, "x", weft_shape_of(2, 9, 6));
    fixture->d6 = weft_test_input(fixture->graph, "d6", weft_shape_of(6));
    fixture->d5 = weft_test_input(fixture->graph, "d5", weft_shape_of(5));
    fixture->d1 = weft_test_input(fixture->graph, "d1", weft_shape_of(1));
    fixture->w = weft_test_input(fixture->graph, "w", weft_shape_of(6, 6));
    fixture->up = weft_test_input(fixture->graph, "up", weft_shape_of(11, 6));
    fixture->down = weft_test_input(fixture->graph, "down", weft_shape_of(6, 11));
}

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    weft_test_host_begin(&fixture->host);
    make_graph(fixture);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    weft_graph_destroy(&fixture->graph);
    weft_test_host_end(&fixture->host);
    free(fixture);
    return 0;
}

#define RMS_NORM_REFUSED(status, x, gain, epsilon, ...)                                        \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_rms_norm(&y, f->graph, x, gain, epsilon), \
                        __VA_ARGS__)

#define SCALE_NORM_REFUSED(status, x, gain, epsilon, ...)                                        \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_scale_norm(&y, f->graph, x, gain, epsilon), \
                        __VA_ARGS__)

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

TEST(test_rms_norms, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor none = {0};
    assert_ok(weft_graph_rms_norm(&y, g, f->x, f->d6, 0.0F));
    assert_ok(weft_graph_rms_norm(&y, g, f->x, none, 1e-6F));
    assert_ok(weft_graph_simple_rms_norm(&y, g, f->x));
    assert_ok(weft_graph_scale_norm(&y, g, f->x, f->d1, 1e-5F));
    RMS_NORM_REFUSED(SHAPE_MISMATCH, f->x, f->d5, 1e-6F, "rms_norm", "gain", "[6]", "[5]");
    RMS_NORM_REFUSED(INVALID_ARGUMENT, f->x, f->d6, -1.0F, "epsilon -1", "at least 0");
    RMS_NORM_REFUSED(INVALID_ARGUMENT, f->x, f->d6, NAN, "epsilon", "finite");
    SCALE_NORM_REFUSED(SHAPE_MISMATCH, f->x, f->d6, 1e-5F, "scale_norm", "gain", "[1]", "[6]");
    SCALE_NORM_REFUSED(INVALID_ARGUMENT, f->x, none, 1e-5F, "scale_norm", "input 1");
    SCALE_NORM_REFUSED(INVALID_ARGUMENT, f->x, f->d1, 1.0F / 0.0F, "epsilon inf");
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT, weft_graph_simple_rms_norm(&y, g, none),
                        "input 0");
    weft_tensor long_row = weft_test_input(f->graph, "long_row", weft_shape_of((1U << 24) + 1));
    WEFT_EXPECT_FAILURE(f, WEFT_UNSUPPORTED, weft_graph_simple_rms_norm(&y, g, long_row),
                        "16777217", "16777216");
}

#define BATCH_NORM_REFUSED(status, x, params, ...)                                        \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_batch_norm(&y, f->graph, x, params), \
                        __VA_ARGS__)
#define BATCH_NORM_WITH(...) weft_batch_norm_params(__VA_ARGS__)

TEST(test_batch_norm, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    assert_ok(weft_graph_batch_norm(&y, g, f->x,
                                    weft_batch_norm_params(.mean = f->d6, .variance = f->d6)));
    BATCH_NORM_REFUSED(SHAPE_MISMATCH, f->x, BATCH_NORM_WITH(.mean = f->d6, .variance = f->d5),
                       "variance", "[6]", "[5]");
    BATCH_NORM_REFUSED(SHAPE_MISMATCH, f->x,
                       BATCH_NORM_WITH(.mean = f->d6, .variance = f->d6, .beta = f->d1), "beta",
                       "[6]", "[1]");
    BATCH_NORM_REFUSED(INVALID_ARGUMENT, f->x, BATCH_NORM_WITH(.mean = f->d6),
                       "batch_norm: input 2");
    BATCH_NORM_REFUSED(INVALID_ARGUMENT, f->x,
                       BATCH_NORM_WITH(.mean = f->d6, .variance = f->d6, .epsilon = -1e-5F),
                       "epsilon -1e-05", "at least 0");
    BATCH_NORM_REFUSED(INVALID_ARGUMENT, f->x, NULL, "weft_graph_batch_norm: params is null");
}

#define NORM_REFUSED(status, x, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_norm(&y, f->graph, x, params), __VA_ARGS__)
#define NORM_WITH(...) weft_norm_params(__VA_ARGS__)

TEST(test_norm_by_number, f) {
    weft_tensor y;
    NORM_REFUSED(INVALID_ARGUMENT, f->x, NORM_WITH(.kind = WEFT_NORM_COUNT), "kind 5", "0 … 4");
    NORM_REFUSED(INVALID_ARGUMENT, f->x, NORM_WITH(.kind = WEFT_NORM_LAYER), "layer_norm",
                 "input 1");
    NORM_REFUSED(INVALID_ARGUMENT, f->x, NULL, "weft_graph_norm: params is null");
    /* The sum was made before its norm failed, and is taken back. */
    WEFT_EXPECT_FAILURE(
        f, WEFT_SHAPE_MISMATCH,
        weft_graph_add_norm(&y, f->graph, f->x, f->x,
                            weft_norm_params(.kind = WEFT_NORM_RMS, .gamma = f->d5)),
        "rms_norm", "[5]");
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_add_norm(&y, f->graph, f->x, f->d5, NULL), "[5]", "[2, 9, 6]");
}

TEST(test_projections, f) {
    weft_tensor qkv[3] = {{0}};
    weft_project_qkv_params params = {.weight = {f->w, f->up, f->up}};
    weft_tensor memory = weft_test_input(f->graph, "memory", weft_shape_of(2, 4, 6));
    assert_ok(weft_graph_project_qkv(qkv, f->graph, f->x, memory, &params));
    weft_test_expect_shape(f->graph, qkv[0], weft_shape_of(2, 9, 6));
    weft_test_expect_shape(f->graph, qkv[2], weft_shape_of(2, 4, 11));
    params.weight[2] = f->down;
    weft_tensor untouched[3] = {{0}};
    WEFT_EXPECT_FAILURE(f, WEFT_SHAPE_MISMATCH,
                        weft_graph_project_qkv(untouched, f->graph, f->x, memory, &params),
                        "[6, 11]", "[2, 4, 6]");
    assert_int_equal(untouched[0].id, 0);
    WEFT_EXPECT_FAILURE(f, WEFT_INVALID_ARGUMENT,
                        weft_graph_project_qkv(untouched, f->graph, f->x, memory, NULL), "null");
}

#define GLU_REFUSED(status, x, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_glu(&y, f->graph, x, params), __VA_ARGS__)

TEST(test_glu, f) {
    weft_tensor y;
    weft_glu_params params = {.weight = {f->up, f->up, f->down},
                              .activation = WEFT_ACTIVATION_SILU};
    assert_ok(weft_graph_glu(&y, f->graph, f->x, &params));
    weft_test_expect_shape(f->graph, y, weft_shape_of(2, 9, 6));
    params.weight[1] = f->w; /* [6] channels against [11] */
    GLU_REFUSED(SHAPE_MISMATCH, f->x, &params, "[2, 9, 6]", "[2, 9, 11]");
    params = (weft_glu_params){.weight = {f->up, f->up, f->down}, .bias = {f->d5}};
    GLU_REFUSED(SHAPE_MISMATCH, f->x, &params, "[5]", "[2, 9, 11]");
    params = (weft_glu_params){.weight = {f->up, f->up}};
    GLU_REFUSED(INVALID_ARGUMENT, f->x, &params, "matmul: input 1");
    params =
        (weft_glu_params){.weight = {f->up, f->up, f->down}, .activation = WEFT_ACTIVATION_COUNT};
    GLU_REFUSED(INVALID_ARGUMENT, f->x, &params, "activation number");
    GLU_REFUSED(INVALID_ARGUMENT, f->x, NULL, "weft_graph_glu: params is null");
}

#define GTU_REFUSED(status, x, params, ...) \
    WEFT_EXPECT_FAILURE(f, WEFT_##status, weft_graph_gtu(&y, f->graph, x, params), __VA_ARGS__)

TEST(test_gtu, f) {
    weft_graph *g = f->graph;
    weft_tensor y;
    weft_tensor kernel = weft_test_input(g, "kernel", weft_shape_of(17, 11));
    weft_tensor response = weft_test_input(g, "response", weft_shape_of(10, 22));
    const weft_gtu_params toeplitz = {
        .weight = {f->up, f->up, f->down}, .activation = WEFT_ACTIVATION_SILU, .kernel = kernel};
    weft_gtu_params fd = toeplitz;
    fd.mixer = WEFT_GTU_FD;
    fd.kernel = response;
    weft_gtu_params ski = toeplitz;
    ski.mixer = WEFT_GTU_SKI;
    ski.kernel = (weft_tensor){0};
    ski.ski = weft_ski_toeplitz_params(.rpe = kernel, .gamma = 0.5F);
    const weft_gtu_params *const good[] = {&toeplitz, &fd, &ski};
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(weft_graph_gtu(&y, g, f->x, good[i]));
        weft_test_expect_shape(g, y, weft_shape_of(2, 9, 6));
    }

    weft_gtu_params bad = toeplitz;
    bad.mixer = WEFT_GTU_COUNT;
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "mixer 3", "0 … 2");
    bad = toeplitz;
    bad.fd = weft_toeplitz_fd_params(.causal = true);
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "params of fd", "mixer 0 is toeplitz");
    bad = fd;
    bad.kernel = (weft_tensor){0};
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "mixer fd takes a kernel");
    bad = ski;
    bad.ski = NULL;
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "params ski");
    bad = ski;
    bad.kernel = kernel;
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "no kernel");
    GTU_REFUSED(INVALID_ARGUMENT, f->x, NULL, "weft_graph_gtu: params is null");

    /* Errors of the ops within, whose nodes are taken back. */
    bad = toeplitz;
    bad.weight[0] = f->w; /* [6] channels against [11] */
    GTU_REFUSED(SHAPE_MISMATCH, f->x, &bad, "[2, 9, 6]", "[2, 9, 11]");
    bad = toeplitz;
    bad.kernel = response;
    GTU_REFUSED(SHAPE_MISMATCH, f->x, &bad, "toeplitz", "[10, 22]");
    bad = ski;
    bad.ski = weft_ski_toeplitz_params(.rpe = kernel, .gamma = 1.5F);
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "gamma 1.5");
    bad = toeplitz;
    bad.norm = weft_norm_params(.kind = WEFT_NORM_RMS, .gamma = f->d5);
    GTU_REFUSED(SHAPE_MISMATCH, f->x, &bad, "rms_norm", "[11]", "[5]");
    bad = toeplitz;
    bad.activation = WEFT_ACTIVATION_COUNT;
    GTU_REFUSED(INVALID_ARGUMENT, f->x, &bad, "activation number");
}

TEST(test_out_of_memory_at_every_allocation, f) {
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    for (long at = 1; status != WEFT_OK; at++) {
        assert_true(at < 100);
        weft_graph_destroy(&f->graph);
        weft_test_host_reset(&f->host);
        make_graph(f);
        /* A short graph has room left: what is to fail is the growing. */
        while (f->graph->value_count < f->graph->value_capacity) {
            weft_tensor y;
            assert_ok(weft_graph_simple_rms_norm(&y, f->graph, f->x));
        }
        uint32_t values = f->graph->value_count;
        uint32_t nodes = f->graph->node_count;
        weft_test_host_reset(&f->host);
        f->host.fail_at = at;
        weft_tensor y;
        status =
            weft_graph_glu(&y, f->graph, f->x, weft_glu_params(.weight = {f->up, f->up, f->down}));
        f->host.fail_at = 0;
        if (status != WEFT_OK) {
            assert_int_equal(status, WEFT_OUT_OF_HOST_MEMORY);
            assert_int_equal(f->graph->value_count, values);
            assert_int_equal(f->graph->node_count, nodes);
        } else {
            assert_true(at > 1);
        }
    }
}

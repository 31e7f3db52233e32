/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* The baselines that fall out of FMMformer's attention: the linear transformer, Band_k and softmax attention. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "support.h"

enum { N = 97, D = 12, HEADS = 3, COUNT = N * D };

struct fixture {
    struct weft_test_host host;
    weft_device *device;
    float q[COUNT], k[COUNT], v[COUNT];
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    weft_test_host_begin(&fixture->host);
    assert_int_equal(
        weft_device_open(&fixture->device,
                         weft_device_params(.host = fixture->host.host, .cache_dir = "")),
        WEFT_OK);
    weft_philox_uniform(fixture->q, COUNT, 31, 0);
    weft_philox_uniform(fixture->k, COUNT, 31, 1);
    weft_philox_uniform(fixture->v, COUNT, 31, 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        fixture->q[i] = 8.0F * fixture->q[i] - 4.0F;
        fixture->v[i] = 2.0F * fixture->v[i] - 1.0F;
    }
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    weft_test_device_close(&fixture->device);
    weft_test_host_end(&fixture->host);
    free(fixture);
    return 0;
}

#define TEST(name, f) WEFT_TEST_WITH(name, struct fixture *f, set_up, tear_down)

/** q, k, v, and the weights of the near and the far field. */
enum port { Q, K, V, NEAR, FAR, PORTS };

typedef weft_status (*add_op)(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS]);

/** out [COUNT] of one op with those weights in every channel. */
static void run(struct fixture *fixture, add_op add, float near, float far, float *out) {
    static const char *const names[PORTS] = {"q", "k", "v", "near", "far"};
    float weights[2][D];
    for (uint32_t i = 0; i < D; i++) {
        weights[0][i] = near;
        weights[1][i] = far;
    }
    float *data[PORTS] = {fixture->q, fixture->k, fixture->v, weights[0], weights[1]};
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor in[PORTS];
    weft_tensor y = {0};
    weft_host_tensor tensors[PORTS + 1];
    assert_int_equal(weft_graph_create(&graph, &fixture->host.host), WEFT_OK);
    for (uint32_t i = 0; i < PORTS; i++) {
        weft_shape shape = i < NEAR ? weft_shape_of(1, N, D) : weft_shape_of(D);
        assert_int_equal(weft_graph_input(&in[i], graph, names[i], WEFT_F32, shape), WEFT_OK);
        tensors[i] = (weft_host_tensor){
            .name = names[i], .data = data[i], .bytes = sizeof(float) * (i < NEAR ? COUNT : D)};
    }
    tensors[PORTS] = (weft_host_tensor){.name = "y", .data = out, .bytes = sizeof(float) * COUNT};
    memset(out, 0xff, sizeof(float) * COUNT);
    assert_int_equal(add(&y, graph, in), WEFT_OK);
    assert_int_equal(weft_graph_output(graph, "y", y), WEFT_OK);
    assert_int_equal(weft_plan_compile(&plan, fixture->device, graph, NULL), WEFT_OK);
    assert_int_equal(weft_plan_execute(plan, tensors, PORTS + 1), WEFT_OK);
    weft_plan_destroy(&plan);
    weft_graph_destroy(&graph);
}

/** The blend with one kernel, elu(x) + 1. */
static weft_status add_blend(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS],
                             uint32_t half_width, bool causal) {
    return weft_graph_fmm_attention(out, graph, in[Q], in[K], in[V],
                                    &(weft_fmm_attention_params){.heads = HEADS,
                                                                 .causal = causal,
                                                                 .half_width = half_width,
                                                                 .near_weight = in[NEAR],
                                                                 .far_weight = in[FAR]});
}

static weft_status narrow(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS]) {
    return add_blend(out, graph, in, 0, false);
}

static weft_status narrow_causal(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS]) {
    return add_blend(out, graph, in, 0, true);
}

static weft_status banded(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS]) {
    return add_blend(out, graph, in, 7, false);
}

static weft_status full(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS]) {
    return add_blend(out, graph, in, N - 1, false);
}

static weft_status full_causal(weft_tensor *out, weft_graph *graph, const weft_tensor in[PORTS]) {
    return add_blend(out, graph, in, N - 1, true);
}

/* ---- what they are compared with, straight from the formulas ---- */

static double elu1(double x) {
    return x > 0.0 ? x + 1.0 : exp(x);
}

/** exp(q·k/√d_h), or the product of the features, of one head. */
static double weight_of(const struct fixture *f, uint32_t i, uint32_t j, uint32_t head,
                        bool softmax) {
    double product = 0.0;
    for (uint32_t c = head * (D / HEADS); c < (head + 1) * (D / HEADS); c++) {
        double q = (double)f->q[i * D + c];
        double k = (double)f->k[j * D + c];
        product += softmax ? q * k / sqrt((double)D / HEADS) : elu1(q) * elu1(k);
    }
    return softmax ? exp(product) : product;
}

/** Expects Σ_j w_ij v_j / Σ_j w_ij over the tokens j with -ahead ≤ i - j ≤ back. */
static void expect(const struct fixture *f, const float *found, bool softmax, uint32_t back,
                   uint32_t ahead) {
    double error = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t c = 0; c < D; c++) {
            double sum = 0.0;
            double weights = 0.0;
            for (uint32_t j = 0; j < N; j++) {
                if (j + back >= i && j <= i + ahead) {
                    double weight = weight_of(f, i, j, c / (D / HEADS), softmax);
                    sum += weight * (double)f->v[j * D + c];
                    weights += weight;
                }
            }
            double difference = (double)found[i * D + c] - sum / weights;
            error += difference * difference;
            squares += sum / weights * (sum / weights);
        }
    }
    if (!(sqrt(error / squares) <= 5e-6)) {
        fail_msg("relative L2 %g", sqrt(error / squares));
    }
}

TEST(test_far_field_alone_is_the_linear_transformer, f) {
    float y[COUNT];
    run(f, narrow, 0.0F, 1.0F, y);
    expect(f, y, false, N, N);
    run(f, narrow_causal, 0.0F, 1.0F, y);
    expect(f, y, false, N, 0);
}

TEST(test_near_field_alone_is_a_band, f) {
    float y[COUNT];
    run(f, banded, 1.0F, 0.0F, y);
    expect(f, y, true, 7, 7);
}

TEST(test_full_band_is_softmax_attention, f) {
    float y[COUNT];
    run(f, full, 1.0F, 0.0F, y);
    expect(f, y, true, N, N);
    run(f, full_causal, 1.0F, 0.0F, y);
    expect(f, y, true, N, 0);
}

/** A band of width 0 gives v, so that half of it and half of the far field are v's and the linear transformer's mean. */
TEST(test_width_0_adds_v, f) {
    float far[COUNT];
    float both[COUNT];
    run(f, narrow, 0.0F, 1.0F, far);
    run(f, narrow, 0.5F, 0.5F, both);
    for (uint32_t i = 0; i < COUNT; i++) {
        double mean = ((double)f->v[i] + (double)far[i]) / 2.0;
        assert_true(fabs((double)both[i] - mean) <= 1e-6);
    }
}

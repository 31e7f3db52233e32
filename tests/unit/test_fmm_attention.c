/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* The baselines that fall out of FMMformer's attention: the linear transformer, Band_k and softmax attention. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "support_graph.h"
#include "support_reference.h"

enum { N = 97, D = 12, HEADS = 3, COUNT = N * D };

struct sequence {
    float q[COUNT], k[COUNT], v[COUNT];
};

static void fill(struct sequence *s) {
    weft_philox_uniform(s->q, COUNT, 31, 0);
    weft_philox_uniform(s->k, COUNT, 31, 1);
    weft_philox_uniform(s->v, COUNT, 31, 2);
    for (uint32_t i = 0; i < COUNT; i++) {
        s->q[i] = 8.0F * s->q[i] - 4.0F;
        s->v[i] = 2.0F * s->v[i] - 1.0F;
    }
}

/** The blend with one kernel, elu(x) + 1, the weights the same in every channel. */
struct blend {
    uint32_t half_width;
    bool causal;
    float near, far;
};

static void run(struct weft_test_graph *f, const struct sequence *s, struct blend blend,
                float *out) {
    float near[D];
    float far[D];
    for (uint32_t i = 0; i < D; i++) {
        near[i] = blend.near;
        far[i] = blend.far;
    }
    struct weft_test_run r = weft_test_begin(f->device);
    weft_tensor y;
    weft_tensor q = weft_test_feed(&r, "q", weft_shape_of(1, N, D), s->q);
    weft_tensor k = weft_test_feed(&r, "k", weft_shape_of(1, N, D), s->k);
    weft_tensor v = weft_test_feed(&r, "v", weft_shape_of(1, N, D), s->v);
    const weft_fmm_attention_params params = {
        .heads = HEADS,
        .causal = blend.causal,
        .half_width = blend.half_width,
        .near_weight = weft_test_feed(&r, "near", weft_shape_of(D), near),
        .far_weight = weft_test_feed(&r, "far", weft_shape_of(D), far)};
    assert_ok(weft_graph_fmm_attention(&y, r.graph, q, k, v, &params));
    weft_test_execute_to(&r, y, out);
}

/* Each field alone, by its weight of 1 and the other's of 0. */
WEFT_TEST_ON_GRAPH(test_fields_alone_are_the_baselines, f) {
    static const struct {
        const char *name;
        struct blend blend;
        bool kernel;
    } cases[] = {
        {"the linear transformer", {0, false, 0.0F, 1.0F}, true},
        {"the causal linear transformer", {0, true, 0.0F, 1.0F}, true},
        {"a band", {7, false, 1.0F, 0.0F}, false},
        {"softmax attention", {N - 1, false, 1.0F, 0.0F}, false},
        {"causal softmax attention", {N - 1, true, 1.0F, 0.0F}, false},
    };
    struct sequence s;
    fill(&s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float y[COUNT];
        run(f, &s, cases[i].blend, y);
        double expected[COUNT];
        weft_test_attention(expected,
                            &(struct weft_test_attention){.q = s.q,
                                                          .k = s.k,
                                                          .v = s.v,
                                                          .n = N,
                                                          .heads = HEADS,
                                                          .width = D / HEADS,
                                                          .causal = cases[i].blend.causal,
                                                          .kernel = cases[i].kernel,
                                                          .half_width = cases[i].blend.half_width});
        weft_test_expect_near(cases[i].name, y, expected, COUNT, 5e-6);
    }
}

/** A band of width 0 gives v, so that half of it and half of the far field are v's and the linear transformer's mean. */
WEFT_TEST_ON_GRAPH(test_width_0_adds_v, f) {
    struct sequence s;
    float far[COUNT];
    float both[COUNT];
    fill(&s);
    run(f, &s, (struct blend){.far = 1.0F}, far);
    run(f, &s, (struct blend){.near = 0.5F, .far = 0.5F}, both);
    for (uint32_t i = 0; i < COUNT; i++) {
        double mean = ((double)s.v[i] + (double)far[i]) / 2.0;
        assert_true(fabs((double)both[i] - mean) <= 1e-6);
    }
}

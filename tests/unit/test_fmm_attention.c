/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* The baselines that fall out of FMMformer's attention: the linear transformer, Band_k and softmax attention. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "support_graph.h"

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

/* ---- what they are compared with, straight from the formulas ---- */

static double elu1(double x) {
    return x > 0.0 ? x + 1.0 : exp(x);
}

/** exp(q·k/√d_h), or the product of the features, of one head. */
static double weight_of(const struct sequence *s, uint32_t i, uint32_t j, uint32_t head,
                        bool softmax) {
    double product = 0.0;
    for (uint32_t c = head * (D / HEADS); c < (head + 1) * (D / HEADS); c++) {
        double q = (double)s->q[i * D + c];
        double k = (double)s->k[j * D + c];
        product += softmax ? q * k / sqrt((double)D / HEADS) : elu1(q) * elu1(k);
    }
    return softmax ? exp(product) : product;
}

/** Expects Σ_j w_ij v_j / Σ_j w_ij over the tokens j with -ahead ≤ i - j ≤ back. */
static void expect(const struct sequence *s, const float *found, const char *name, bool softmax,
                   uint32_t back, uint32_t ahead) {
    double error = 0.0;
    double squares = 0.0;
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t c = 0; c < D; c++) {
            double sum = 0.0;
            double weights = 0.0;
            for (uint32_t j = 0; j < N; j++) {
                if (j + back >= i && j <= i + ahead) {
                    double weight = weight_of(s, i, j, c / (D / HEADS), softmax);
                    sum += weight * (double)s->v[j * D + c];
                    weights += weight;
                }
            }
            double difference = (double)found[i * D + c] - sum / weights;
            error += difference * difference;
            squares += sum / weights * (sum / weights);
        }
    }
    if (!(sqrt(error / squares) <= 5e-6)) {
        fail_msg("%s: relative L2 %g", name, sqrt(error / squares));
    }
}

/* Each field alone, by its weight of 1 and the other's of 0. */
WEFT_TEST_ON_GRAPH(test_fields_alone_are_the_baselines, f) {
    static const struct {
        const char *name;
        struct blend blend;
        bool softmax;
        uint32_t back, ahead; /* what a token reads */
    } cases[] = {
        {"the linear transformer", {0, false, 0.0F, 1.0F}, false, N, N},
        {"the causal linear transformer", {0, true, 0.0F, 1.0F}, false, N, 0},
        {"a band", {7, false, 1.0F, 0.0F}, true, 7, 7},
        {"softmax attention", {N - 1, false, 1.0F, 0.0F}, true, N, N},
        {"causal softmax attention", {N - 1, true, 1.0F, 0.0F}, true, N, 0},
    };
    struct sequence s;
    fill(&s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float y[COUNT];
        run(f, &s, cases[i].blend, y);
        expect(&s, y, cases[i].name, cases[i].softmax, cases[i].back, cases[i].ahead);
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

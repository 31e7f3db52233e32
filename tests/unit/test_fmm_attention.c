/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* The baselines that fall out of FMMformer's attention: the linear transformer, Band_k and softmax attention. */
#include <math.h>

#include "support_reference.h"
#include "support_sheet.h"

enum { N = 97, D = 12, HEADS = 3, COUNT = N * D };

/** The blend with one kernel, elu(x) + 1, the weights the same in every channel. */
struct blend {
    uint32_t half_width;
    bool causal;
    float near, far;
};

static struct weft_test_mix make(void) {
    struct weft_test_mix mix = {.sheet = &weft_sheet_fmm_attention,
                                .sizes = {1, N, HEADS, D / HEADS, .values = 0},
                                .with = 3 << 4 /* weights of both fields */,
                                .feeds_weights = true};
    weft_test_mix_fill(&mix, 31);
    for (uint32_t i = 0; i < COUNT; i++) {
        mix.x[0][i] *= 4.0F;
    }
    return mix;
}

static void run(struct weft_test_graph *f, struct weft_test_mix *mix, struct blend blend,
                float *out) {
    const weft_fmm_attention_params params = {.causal = blend.causal,
                                              .half_width = blend.half_width};
    for (uint32_t i = 0; i < D; i++) {
        mix->x[4][i] = blend.near;
        mix->x[5][i] = blend.far;
    }
    mix->params = &params;
    weft_test_mix_run(f->device, mix, out);
    mix->params = NULL;
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
    struct weft_test_mix mix = make();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float y[COUNT];
        run(f, &mix, cases[i].blend, y);
        double expected[COUNT];
        weft_test_attention(expected,
                            &(struct weft_test_attention){.q = mix.x[0],
                                                          .k = mix.x[1],
                                                          .v = mix.x[2],
                                                          .n = N,
                                                          .heads = HEADS,
                                                          .width = D / HEADS,
                                                          .causal = cases[i].blend.causal,
                                                          .kernel = cases[i].kernel,
                                                          .half_width = cases[i].blend.half_width});
        weft_test_expect_near(cases[i].name, y, expected, COUNT, 5e-6);
    }
    weft_test_mix_free(&mix);
}

/** A band of width 0 gives v, so that half of it and half of the far field are v's and the linear transformer's mean. */
WEFT_TEST_ON_GRAPH(test_width_0_adds_v, f) {
    struct weft_test_mix mix = make();
    float far[COUNT];
    float both[COUNT];
    run(f, &mix, (struct blend){.far = 1.0F}, far);
    run(f, &mix, (struct blend){.near = 0.5F, .far = 0.5F}, both);
    for (uint32_t i = 0; i < COUNT; i++) {
        double mean = ((double)mix.x[2][i] + (double)far[i]) / 2.0;
        assert_true(fabs((double)both[i] - mean) <= 1e-6);
    }
    weft_test_mix_free(&mix);
}

/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * Mixers of a batch whose sequences have different lengths: with NaN behind them, each sequence has the bits that it has
 * alone. What is expected of the numbers themselves, weft verify has.
 */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "core/shape.h"
#include "support_graph.h"

#define BATCH   4
#define HEADS   2
#define WIDTH   12 /* channels of a head */
#define D       (HEADS * WIDTH)
#define LONGEST 1024 /* M of cosFormer, and the reach of Toeplitz coefficients */

struct mixer;

/* A graph on its way: q, k, v f32 [B, n, D] and lengths i32 [B], or none. */
struct call {
    weft_graph *graph;
    weft_tensor q, k, v, lengths;
    uint32_t n;
    const struct mixer *mixer;
};

struct mixer {
    const char *name;
    uint32_t option;
    void (*build)(const struct call *c, weft_tensor *y);
    const char *implementation;
    uint32_t longest; /* that it has these bits for; 0: any */
};

/* A constant of numbers in -1 … 1. */
static weft_tensor constant(const struct call *c, weft_shape shape, uint64_t stream) {
    float *data = weft_test_uniform(weft_shape_elements(shape), 5, stream);
    weft_tensor tensor = weft_test_constant(c->graph, shape, data);
    free(data);
    return tensor;
}

/* ---- the mixers ---- */

static void build_attention(const struct call *c, weft_tensor *y) {
    assert_ok(weft_graph_attention(y, c->graph, c->q, c->k, c->v,
                                   weft_attention_params(.heads = HEADS, .lengths = c->lengths)));
}

/* option: half-width, and 1000 more for a causal band. */
static void build_band(const struct call *c, weft_tensor *y) {
    const uint32_t wanted = c->mixer->option % 1000;
    assert_ok(weft_graph_banded_attention(
        y, c->graph, c->q, c->k, c->v,
        weft_banded_attention_params(.heads = HEADS,
                                     .half_width = wanted < c->n ? wanted : c->n - 1,
                                     .causal = c->mixer->option >= 1000, .lengths = c->lengths)));
}

/* option: causal. */
static void build_linear(const struct call *c, weft_tensor *y) {
    weft_tensor features[2];
    assert_ok(weft_graph_activate(&features[0], c->graph, c->q, WEFT_ACTIVATION_RELU));
    assert_ok(weft_graph_activate(&features[1], c->graph, c->k, WEFT_ACTIVATION_RELU));
    assert_ok(weft_graph_linear_attention(y, c->graph, features[0], features[1], c->v,
                                          weft_linear_attention_params(.heads = HEADS,
                                                                       .causal = c->mixer->option,
                                                                       .lengths = c->lengths)));
}

static const weft_kernel kernels[] = {{.map = WEFT_FEATURE_TANH1},
                                      {.map = WEFT_FEATURE_EXP, .weight = 0.5F}};

static void build_kernels(const struct call *c, weft_tensor *y) {
    assert_ok(weft_graph_kernel_attention(
        y, c->graph, c->q, c->k, c->v,
        weft_kernel_attention_params(.heads = HEADS, .kernels = kernels, .kernel_count = 2,
                                     .lengths = c->lengths)));
}

static void build_cosformer(const struct call *c, weft_tensor *y) {
    assert_ok(weft_graph_cosformer(
        y, c->graph, c->q, c->k, c->v,
        weft_cosformer_params(.heads = HEADS, .length = LONGEST, .lengths = c->lengths)));
}

/* option: half-width. */
static void build_fmm(const struct call *c, weft_tensor *y) {
    const uint32_t wanted = c->mixer->option;
    assert_ok(weft_graph_fmm_attention(
        y, c->graph, c->q, c->k, c->v,
        weft_fmm_attention_params(.heads = HEADS, .half_width = wanted < c->n ? wanted : c->n - 1,
                                  .lengths = c->lengths)));
}

/* Causal: it takes no lengths. */
static void build_fast_weight(const struct call *c, weft_tensor *y) {
    weft_tensor w = constant(c, weft_shape_of(HEADS, D), 1);
    weft_tensor beta;
    assert_ok(weft_graph_linear(&beta, c->graph, c->v, w, (weft_tensor){0}));
    assert_ok(weft_graph_activate(&beta, c->graph, beta, WEFT_ACTIVATION_SIGMOID));
    assert_ok(weft_graph_fast_weight(y, c->graph, c->q, c->k, c->v, beta,
                                     weft_fast_weight_params(.heads = HEADS)));
}

/* option: unstabilized. */
static void build_performer(const struct call *c, weft_tensor *y) {
    weft_tensor w = constant(c, weft_shape_of(40, WIDTH), 1);
    assert_ok(weft_graph_performer_attention(
        y, c->graph, c->q, c->k, c->v, w,
        weft_performer_attention_params(.heads = HEADS, .unstabilized = c->mixer->option,
                                        .lengths = c->lengths)));
}

static void build_rfa(const struct call *c, weft_tensor *y) {
    weft_tensor w = constant(c, weft_shape_of(40, WIDTH), 1);
    assert_ok(
        weft_graph_rfa_attention(y, c->graph, c->q, c->k, c->v, w,
                                 weft_rfa_attention_params(.heads = HEADS, .lengths = c->lengths)));
}

static void attend(const struct call *c, weft_tensor *y, const weft_tensor features[2]) {
    assert_ok(weft_graph_linear_attention(
        y, c->graph, features[0], features[1], c->v,
        weft_linear_attention_params(.heads = HEADS, .epsilon = 1e-3F, .lengths = c->lengths)));
}

/* option: weft_component. */
static void build_features(const struct call *c, weft_tensor *y) {
    weft_tensor w = constant(c, weft_shape_of(20, WIDTH), 1);
    const bool both =
        c->mixer->option == WEFT_COMPONENT_OPTIMAL || c->mixer->option == WEFT_COMPONENT_ASYMMETRIC;
    const weft_tensor sides[2] = {c->q, c->k};
    weft_tensor features[2];
    for (uint32_t i = 0; i < 2; i++) {
        const weft_tensor none = {0};
        assert_ok(weft_graph_random_features(
            &features[i], c->graph, sides[i], w,
            weft_random_features_params(.component = (weft_component)c->mixer->option,
                                        .heads = HEADS,
                                        .stabilizer =
                                            i == 0 ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_KEY,
                                        .other = both ? sides[1 - i] : none, .lengths = c->lengths,
                                        .other_lengths = both ? c->lengths : none)));
    }
    attend(c, y, features);
}

static void build_hybrid(const struct call *c, weft_tensor *y) {
    weft_tensor w = constant(c, weft_shape_of(9, WIDTH), 1);
    weft_tensor directions = constant(c, weft_shape_of(4, WIDTH), 2);
    const weft_tensor sides[2] = {c->q, c->k};
    weft_tensor features[2];
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(weft_graph_hybrid_features(
            &features[i], c->graph, sides[i], w, directions,
            weft_hybrid_features_params(.heads = HEADS, .keys = i == 1,
                                        .stabilizer =
                                            i == 0 ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_KEY,
                                        .lengths = c->lengths)));
    }
    attend(c, y, features);
}

static void build_discrete(const struct call *c, weft_tensor *y) {
    float powers[8 * WIDTH];
    for (uint32_t i = 0; i < 8 * WIDTH; i++) {
        const uint32_t power = i * i % 7 / 3;
        powers[i] = (float)power;
    }
    weft_tensor w = weft_test_constant(c->graph, weft_shape_of(8, WIDTH), powers);
    weft_tensor coefficients = constant(c, weft_shape_of(8), 2);
    const weft_tensor sides[2] = {c->q, c->k};
    weft_tensor features[2];
    for (uint32_t i = 0; i < 2; i++) {
        assert_ok(weft_graph_discrete_features(
            &features[i], c->graph, sides[i], w, coefficients,
            weft_discrete_features_params(.heads = HEADS,
                                          .stabilizer =
                                              i == 0 ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_KEY,
                                          .lengths = c->lengths)));
    }
    attend(c, y, features);
}

/* option: causal. */
static void build_toeplitz(const struct call *c, weft_tensor *y) {
    const uint32_t lags = c->mixer->option ? LONGEST : 2 * LONGEST - 1;
    weft_tensor coefficients = constant(c, weft_shape_of(lags, D), 1);
    assert_ok(weft_graph_toeplitz(
        y, c->graph, c->v, coefficients,
        weft_toeplitz_params(.causal = c->mixer->option, .lengths = c->lengths)));
}

static const struct mixer mixers[] = {
    {"attention", 0, build_attention, NULL, 0},
    {"a band of 1", 0, build_band, NULL, 0},
    {"a band of 11, direct", 5, build_band, "direct", 0},
    {"a band of 81, tiled", 40, build_band, "tiled", 0},
    {"a band of all", 999, build_band, NULL, 0},
    {"a causal band", 1020, build_band, NULL, 0},
    {"linear attention", 0, build_linear, NULL, 0},
    {"causal linear attention", 1, build_linear, NULL, 0},
    {"kernels", 0, build_kernels, NULL, 0},
    {"cosFormer", 0, build_cosformer, NULL, 0},
    {"FMMformer", 7, build_fmm, NULL, 0},
    {"fast weights", 0, build_fast_weight, NULL, 0},
    {"Performer", 0, build_performer, NULL, 0},
    {"Performer without stabilizers", 1, build_performer, NULL, 0},
    {"RFA", 0, build_rfa, NULL, 0},
    {"trigonometric features", WEFT_COMPONENT_TRIGONOMETRIC, build_features, NULL, 0},
    {"hyperbolic features", WEFT_COMPONENT_HYPERBOLIC, build_features, NULL, 0},
    {"optimal features", WEFT_COMPONENT_OPTIMAL, build_features, NULL, 0},
    {"asymmetric features", WEFT_COMPONENT_ASYMMETRIC, build_features, NULL, 0},
    {"hybrid features", 0, build_hybrid, NULL, 0},
    {"discrete features", 0, build_discrete, NULL, 0},
    {"Toeplitz", 0, build_toeplitz, NULL, 96},
    {"causal Toeplitz", 1, build_toeplitz, NULL, 192},
};

/* ---- running ---- */

/* Queries, keys and values of so many sequences of n tokens. */
struct arrays {
    float *of[3];
    uint32_t batch, n;
    const int32_t *lengths; /* or null: all of a sequence */
};

static float *run(struct weft_test_graph *f, const struct mixer *mixer, const struct arrays *a) {
    static const char *const names[] = {"q", "k", "v"};
    struct weft_test_run r = weft_test_begin(f->device);
    struct call c = {.graph = r.graph, .n = a->n, .mixer = mixer};
    const weft_shape shape = weft_shape_of(a->batch, a->n, D);
    weft_tensor *const tensors[] = {&c.q, &c.k, &c.v};
    weft_tensor y = {0};
    for (uint32_t i = 0; i < 3; i++) {
        *tensors[i] = weft_test_feed(&r, names[i], shape, a->of[i]);
    }
    if (a->lengths) {
        c.lengths = weft_test_feed_i32(&r, "lengths", weft_shape_of(a->batch), a->lengths);
    }
    mixer->build(&c, &y);
    float *out = calloc(weft_shape_elements(shape), sizeof *out);
    assert_non_null(out);
    weft_test_take(&r, "y", y, out);
    weft_test_execute(&r, mixer->implementation);
    return out;
}

static void fill(struct arrays *a, uint64_t seed) {
    const uint64_t size = (uint64_t)a->n * D;
    for (uint32_t i = 0; i < 3; i++) {
        a->of[i] = weft_test_uniform(a->batch * size, seed, i);
        for (uint32_t b = 0; b < a->batch; b++) {
            const uint64_t kept = (uint64_t)a->lengths[b] * D;
            for (uint64_t j = kept; j < size; j++) {
                a->of[i][b * size + j] = j % 3 == 0 ? -INFINITY : NAN;
            }
        }
    }
}

static void check_sequence(struct weft_test_graph *f, const struct mixer *mixer,
                           const struct arrays *all, const float *together, uint32_t b) {
    const uint64_t first = (uint64_t)b * all->n * D;
    const struct arrays one = {.of = {all->of[0] + first, all->of[1] + first, all->of[2] + first},
                               .batch = 1,
                               .n = (uint32_t)all->lengths[b]};
    float *alone = run(f, mixer, &one);
    for (uint64_t i = 0; i < (uint64_t)one.n * D; i++) {
        if (!isfinite(alone[i]) || memcmp(&alone[i], &together[first + i], sizeof *alone) != 0) {
            fail_msg(
                "%s: of %u tokens in a batch of up to %u, token %u has %a where it has %a alone",
                mixer->name, one.n, all->n, (uint32_t)(i / D), (double)together[first + i],
                (double)alone[i]);
        }
    }
    free(alone);
}

static void check_mixer(struct weft_test_graph *f, const struct mixer *mixer, uint32_t n) {
    const int32_t lengths[BATCH] = {1, 1 + (int32_t)(weft_philox_u32(n, 7, 0) % n), (int32_t)n,
                                    1 + (int32_t)(weft_philox_u32(n, 7, 1) % n)};
    struct arrays all = {.batch = BATCH, .n = n, .lengths = lengths};
    fill(&all, n);
    float *together = run(f, mixer, &all);
    for (uint32_t b = 0; b < BATCH; b++) {
        check_sequence(f, mixer, &all, together, b);
    }
    free(together);
    for (uint32_t i = 0; i < 3; i++) {
        free(all.of[i]);
    }
}

/* A prime below a chunk of tokens, one above it, and more than the largest chunk. */
WEFT_TEST_ON_GRAPH(test_sequences_alone, f) {
    static const uint32_t longest[] = {31, 89, 331};
    for (uint32_t i = 0; i < sizeof mixers / sizeof mixers[0]; i++) {
        for (uint32_t j = 0; j < sizeof longest / sizeof longest[0]; j++) {
            if (mixers[i].longest == 0 || longest[j] <= mixers[i].longest) {
                check_mixer(f, &mixers[i], longest[j]);
            }
        }
    }
}

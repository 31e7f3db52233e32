/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* The float64 references of weft bench where its suites' own cases do not take them: heads, batches, further parameters. */
#include <math.h>

#include "cli/bench_outcome.h"
#include "support.h"
#include "verify/conformance.h"

#include <weft/model.h>

enum {
    BATCH = 2,
    N = 37,
    HEADS = 3,
    WIDTH = 5,
    FEATURES = 11,
    CHANNELS = HEADS * WIDTH,
    WEIGHTS = FEATURES * WIDTH /* of a matrix of random features */
};

#define SMALL_EPSILON 1e-6F

struct inputs {
    weft_tensor q, k, v;
};

static void check(weft_status status) {
    assert_ok(status);
}

static struct inputs add_inputs(weft_graph *graph) {
    struct inputs in;
    const weft_shape shape = weft_shape_of(BATCH, N, CHANNELS);
    check(weft_bench_input(&in.q, graph, "q", shape));
    check(weft_bench_input(&in.k, graph, "k", shape));
    check(weft_bench_input(&in.v, graph, "v", shape));
    return in;
}

static weft_tensor add_weight(weft_graph *graph, weft_shape shape, uint64_t stream) {
    weft_tensor w = {0};
    check(weft_bench_weight(&w, graph, shape, stream));
    return w;
}

static weft_bench_attention inputs_of(weft_bench_reference *ref, bool causal) {
    assert_int_equal(ref->sequences, BATCH);
    assert_int_equal(ref->n, N);
    return (weft_bench_attention){.q = weft_bench_reference_input(ref, "q"),
                                  .k = weft_bench_reference_input(ref, "k"),
                                  .v = weft_bench_reference_input(ref, "v"),
                                  .n = N,
                                  .heads = HEADS,
                                  .width = WIDTH,
                                  .causal = causal};
}

static void check_case(weft_device *device, const char *name, const uint32_t sizes[4],
                       weft_status (*build)(weft_graph *, const weft_bench_case *),
                       void (*reference)(weft_bench_reference *, const weft_bench_case *)) {
    weft_bench_case bench_case = {.suite = "test", .build = build, .reference = reference};
    memcpy(bench_case.sizes, sizes, sizeof bench_case.sizes);
    snprintf(bench_case.name, sizeof bench_case.name, "%s/%u,%u,%u,%u", name, sizes[0], sizes[1],
             sizes[2], sizes[3]);
    bench_check(&bench_case, device);
}

/* ---- random features; sizes: component, stabilized, causal, with coefficients ---- */

static weft_random_features_params random_params(weft_graph *graph, const uint32_t *sizes) {
    const weft_component component = (weft_component)sizes[0];
    weft_random_features_params params = {.component = component,
                                          .heads = HEADS,
                                          .stabilizer = sizes[1] ? WEFT_STABILIZER_QUERY
                                                                 : WEFT_STABILIZER_NONE};
    if (component != WEFT_COMPONENT_TRIGONOMETRIC) {
        params.epsilon = SMALL_EPSILON;
    }
    if (component == WEFT_COMPONENT_GENERALIZED) {
        params.a = -0.0625F;
        params.s = 1;
    }
    if (sizes[3]) {
        params.coefficients = add_weight(graph, weft_shape_of(FEATURES), 2);
    }
    return params;
}

static bool is_two_sided(const uint32_t *sizes) {
    return sizes[0] == WEFT_COMPONENT_OPTIMAL || sizes[0] == WEFT_COMPONENT_ASYMMETRIC;
}

static weft_status build_random(weft_graph *graph, const weft_bench_case *bench_case) {
    const struct inputs in = add_inputs(graph);
    const weft_tensor w = add_weight(graph, weft_shape_of(FEATURES, WIDTH), 1);
    weft_random_features_params params = random_params(graph, bench_case->sizes);
    weft_tensor phi = {0};
    weft_tensor psi = {0};
    weft_tensor y = {0};
    params.other = is_two_sided(bench_case->sizes) ? in.k : (weft_tensor){0};
    check(weft_graph_random_features(&phi, graph, in.q, w, &params));
    params.other = is_two_sided(bench_case->sizes) ? in.q : (weft_tensor){0};
    params.stabilizer = bench_case->sizes[1] ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_NONE;
    check(weft_graph_random_features(&psi, graph, in.k, w, &params));
    check(weft_graph_linear_attention(
        &y, graph, phi, psi, in.v,
        weft_linear_attention_params(.heads = HEADS, .causal = bench_case->sizes[2] != 0)));
    return weft_graph_output(graph, "y", y);
}

static void refer_random(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_bench_attention in = inputs_of(ref, sizes[2] != 0);
    weft_bench_random_features p = {
        .x = in.q,
        .n = N,
        .heads = HEADS,
        .width = WIDTH,
        .w = weft_bench_reference_weight(ref, WEIGHTS, 1),
        .count = FEATURES,
        .stabilizer = sizes[1] ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_NONE,
        .coefficients = sizes[3] ? weft_bench_reference_weight(ref, FEATURES, 2) : NULL,
        .component = (weft_component)sizes[0],
        .epsilon = (double)SMALL_EPSILON,
        .other = in.k,
        .m = N,
        .a = -0.0625,
        .s = 1};
    const weft_bench_features phi = weft_bench_reference_features(ref, &p);
    p.x = in.k;
    p.other = in.q;
    p.stabilizer = sizes[1] ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_NONE;
    const weft_bench_features psi = weft_bench_reference_features(ref, &p);
    const weft_bench_feature_attention attention = {
        .v = in.v, .m = N, .heads = HEADS, .values = WIDTH, .causal = in.causal};
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_reference_feature_attention(ref, ref->expected, ref->rows, &phi, &psi, &attention);
}

WEFT_TEST_ON_DEVICE(random_features, test) {
    for (uint32_t component = 0; component < WEFT_COMPONENT_COUNT; component++) {
        for (uint32_t stabilized = 0; stabilized < 2; stabilized++) {
            const uint32_t sizes[4] = {component, stabilized, stabilized, 0};
            check_case(test->device, "random", sizes, build_random, refer_random);
        }
    }
    check_case(test->device, "random", (uint32_t[4]){WEFT_COMPONENT_POSITIVE, 0, 0, 1},
               build_random, refer_random);
}

/* ---- features alone; sizes: family, stabilizer, keys ---- */

enum { DIRECTIONS = 4 };

static void power_weights(float w[WEIGHTS]) {
    float weights[FEATURES];
    check(weft_features_fill(w, weights,
                             weft_features_params(.kind = WEFT_FEATURES_POISSON, .rows = FEATURES,
                                                  .columns = WIDTH, .seed = 5, .rate = 0.5F),
                             NULL));
}

static weft_status build_features(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_stabilizer stabilizer = (weft_stabilizer)sizes[1];
    const weft_tensor coefficients = add_weight(graph, weft_shape_of(FEATURES), 2);
    weft_tensor x = {0};
    weft_tensor w = {0};
    weft_tensor y = {0};
    check(weft_bench_input(&x, graph, "x", weft_shape_of(BATCH, N, CHANNELS)));
    if (sizes[0] == WEFT_BENCH_DISCRETE) {
        float data[WEIGHTS];
        power_weights(data);
        check(weft_bench_weight_of(&w, graph, weft_shape_of(FEATURES, WIDTH), data));
        check(weft_graph_discrete_features(
            &y, graph, x, w, coefficients,
            weft_discrete_features_params(.heads = HEADS, .stabilizer = stabilizer)));
    } else {
        w = add_weight(graph, weft_shape_of(FEATURES, WIDTH), 1);
        check(weft_graph_hybrid_features(
            &y, graph, x, w, add_weight(graph, weft_shape_of(DIRECTIONS, WIDTH), 3),
            weft_hybrid_features_params(.heads = HEADS, .keys = sizes[2] != 0,
                                        .stabilizer = stabilizer, .coefficients = coefficients)));
    }
    return weft_graph_output(graph, "y", y);
}

static void refer_features(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const bool discrete = sizes[0] == WEFT_BENCH_DISCRETE;
    float powers[WEIGHTS];
    power_weights(powers);
    weft_bench_random_features p = {
        .x = weft_bench_reference_input(ref, "x"),
        .n = N,
        .heads = HEADS,
        .width = WIDTH,
        .w = discrete ? weft_bench_reference_weight_of(ref, powers, WEIGHTS)
                      : weft_bench_reference_weight(ref, WEIGHTS, 1),
        .count = FEATURES,
        .stabilizer = (weft_stabilizer)sizes[1],
        .coefficients = weft_bench_reference_weight(ref, FEATURES, 2),
        .directions = weft_bench_reference_weight(ref, (uint64_t)DIRECTIONS * WIDTH, 3),
        .direction_count = DIRECTIONS,
        .keys = sizes[2] != 0};
    if (discrete) {
        p.family = WEFT_BENCH_DISCRETE;
    } else {
        p.family = WEFT_BENCH_HYBRID;
    }
    const weft_bench_features features = weft_bench_reference_features(ref, &p);
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    assert_int_equal(features.count * HEADS, ref->width);
    for (uint32_t head = 0; head < HEADS; head++) {
        features.begin(features.user, head);
        for (uint32_t r = 0; r < ref->rows.count; r++) {
            features.write(features.user,
                           ref->expected + (uint64_t)r * ref->width +
                               (uint64_t)head * features.count,
                           ref->rows.at[r]);
        }
    }
}

WEFT_TEST_ON_DEVICE(further_features, test) {
    for (uint32_t stabilizer = 0; stabilizer < WEFT_STABILIZER_COUNT; stabilizer++) {
        check_case(test->device, "discrete", (uint32_t[4]){WEFT_BENCH_DISCRETE, stabilizer, 0, 0},
                   build_features, refer_features);
        for (uint32_t keys = 0; keys < 2; keys++) {
            check_case(test->device, "hybrid",
                       (uint32_t[4]){WEFT_BENCH_HYBRID, stabilizer, keys, 0}, build_features,
                       refer_features);
        }
    }
}

/* ---- far fields; sizes: kernels or maps, causal, with beta, with weights of the fields ---- */

static const weft_kernel maps[] = {{.map = WEFT_FEATURE_ELU1},
                                   {.map = WEFT_FEATURE_TANH1, .weight = 0.5F},
                                   {.map = WEFT_FEATURE_EXP, .weight = 2.0F}};

static weft_status build_fmm(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const struct inputs in = add_inputs(graph);
    weft_fmm_attention_params params = {.heads = HEADS,
                                        .causal = sizes[1] != 0,
                                        .half_width = 4,
                                        .kernels = sizes[2] ? NULL : maps,
                                        .kernel_count = sizes[0]};
    weft_tensor y = {0};
    if (sizes[2]) {
        check(weft_bench_input(&params.beta, graph, WEFT_BENCH_UNIT_INPUT,
                               weft_shape_of(BATCH, N, HEADS)));
    }
    if (sizes[3]) {
        params.near_weight = add_weight(graph, weft_shape_of(CHANNELS), 1);
        params.far_weight = add_weight(graph, weft_shape_of(CHANNELS), 2);
    }
    check(weft_graph_fmm_attention(&y, graph, in.q, in.k, in.v, &params));
    return weft_graph_output(graph, "y", y);
}

static void refer_fmm(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_bench_attention in = inputs_of(ref, sizes[1] != 0);
    const double *beta = sizes[2] ? weft_bench_reference_input(ref, WEFT_BENCH_UNIT_INPUT) : NULL;
    const double *near = sizes[3] ? weft_bench_reference_weight(ref, CHANNELS, 1) : NULL;
    const double *far = sizes[3] ? weft_bench_reference_weight(ref, CHANNELS, 2) : NULL;
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_reference_fmm_attention(ref, ref->expected, ref->rows, &in, 4, maps, sizes[0], beta,
                                       near, far);
}

WEFT_TEST_ON_DEVICE(far_fields, test) {
    static const uint32_t each[][4] = {{3, 0, 0, 0}, {3, 1, 0, 1}, {0, 1, 1, 0}, {0, 1, 1, 1}};
    for (uint32_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        check_case(test->device, "fmm", each[i], build_fmm, refer_fmm);
    }
}

/* ---- attention; sizes: which, causal ---- */

enum which { PERFORMER, RFA, COSFORMER, BANDED, RELATIVE, ATTENTIONS };

static weft_tensor relative_attention(weft_graph *graph, const struct inputs *in, bool causal) {
    const weft_tensor w = add_weight(graph, weft_shape_of(FEATURES, WIDTH), 1);
    const weft_tensor bias =
        add_weight(graph, weft_shape_of(causal ? N + 3 : 2 * (N + 3) - 1, HEADS), 2);
    weft_random_features_params params = {.component = WEFT_COMPONENT_POSITIVE, .heads = HEADS};
    weft_tensor phi = {0};
    weft_tensor psi = {0};
    weft_tensor y = {0};
    check(weft_graph_random_features(&phi, graph, in->q, w, &params));
    check(weft_graph_random_features(&psi, graph, in->k, w, &params));
    check(weft_graph_toeplitz_attention(
        &y, graph, phi, psi, in->v, bias,
        weft_toeplitz_attention_params(.heads = HEADS, .causal = causal)));
    return y;
}

static weft_status build_attention(weft_graph *graph, const weft_bench_case *bench_case) {
    const struct inputs in = add_inputs(graph);
    const bool causal = bench_case->sizes[1] != 0;
    const weft_shape square = weft_shape_of(FEATURES, WIDTH);
    weft_tensor y = {0};
    switch ((enum which)bench_case->sizes[0]) {
    case PERFORMER:
        check(weft_graph_performer_attention(
            &y, graph, in.q, in.k, in.v, add_weight(graph, square, 1),
            weft_performer_attention_params(.heads = HEADS, .causal = causal)));
        break;
    case RFA:
        check(
            weft_graph_rfa_attention(&y, graph, in.q, in.k, in.v, add_weight(graph, square, 1),
                                     weft_rfa_attention_params(.heads = HEADS, .causal = causal)));
        break;
    case COSFORMER:
        check(weft_graph_cosformer(
            &y, graph, in.q, in.k, in.v,
            weft_cosformer_params(.heads = HEADS, .causal = causal, .length = 100)));
        break;
    case BANDED:
        check(weft_graph_banded_attention(
            &y, graph, in.q, in.k, in.v,
            weft_banded_attention_params(.heads = HEADS, .causal = causal, .half_width = 9,
                                         .scale = 0.75F)));
        break;
    default:
        y = relative_attention(graph, &in, causal);
    }
    return weft_graph_output(graph, "y", y);
}

static void refer_relative(weft_bench_reference *ref, const weft_bench_attention *in,
                           const double *w) {
    const uint64_t lags = in->causal ? N + 3 : 2 * (N + 3) - 1;
    const double *bias = weft_bench_reference_weight(ref, lags * HEADS, 2);
    weft_bench_random_features p = {.x = in->q,
                                    .n = N,
                                    .heads = HEADS,
                                    .width = WIDTH,
                                    .w = w,
                                    .count = FEATURES,
                                    .component = WEFT_COMPONENT_POSITIVE};
    const weft_bench_features phi = weft_bench_reference_features(ref, &p);
    p.x = in->k;
    const weft_bench_features psi = weft_bench_reference_features(ref, &p);
    const weft_bench_feature_attention attention = {
        .v = in->v, .m = N, .heads = HEADS, .values = WIDTH, .causal = in->causal};
    weft_bench_reference_toeplitz_attention(ref, ref->expected, ref->rows, &phi, &psi, &attention,
                                            bias, N + 3);
}

static void refer_attention(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const weft_bench_attention in = inputs_of(ref, bench_case->sizes[1] != 0);
    const double *w = weft_bench_reference_weight(ref, WEIGHTS, 1);
    double *out = ref->expected;
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    switch ((enum which)bench_case->sizes[0]) {
    case PERFORMER:
        weft_bench_reference_performer(ref, out, ref->rows, &in, w, FEATURES, 0.0);
        break;
    case RFA:
        weft_bench_reference_rfa(ref, out, ref->rows, &in, w, FEATURES, 0.0);
        break;
    case COSFORMER:
        weft_bench_reference_cosformer(ref, out, ref->rows, &in, 100, 0.0);
        break;
    case BANDED:
        weft_bench_reference_softmax_attention(ref, out, ref->rows, &in, 9, 0.75);
        break;
    default:
        refer_relative(ref, &in, w);
    }
}

WEFT_TEST_ON_DEVICE(attentions, test) {
    for (uint32_t i = 0; i < 2 * ATTENTIONS; i++) {
        check_case(test->device, "attention", (uint32_t[4]){i / 2, i % 2, 0, 0}, build_attention,
                   refer_attention);
    }
}

/* ---- Toeplitz; sizes: which, causal ---- */

enum { DECAYED, RESPONSE, SKI, SKI_WITHOUT_TAPS };

#define STEPS 7

/** In (0, 1). */
static void fill_decay(float decay[CHANNELS]) {
    for (uint32_t c = 0; c < CHANNELS; c++) {
        decay[c] = 1.0F - 0.0625F * (float)(c + 1) / CHANNELS;
    }
}

static weft_status build_toeplitz(weft_graph *graph, const weft_bench_case *bench_case) {
    const uint32_t which = bench_case->sizes[0];
    const bool causal = bench_case->sizes[1] != 0;
    float decay[CHANNELS];
    weft_tensor x = {0};
    weft_tensor gamma = {0};
    weft_tensor y = {0};
    check(weft_bench_input(&x, graph, "x", weft_shape_of(BATCH, N, CHANNELS)));
    if (which == DECAYED) {
        const uint32_t lags = causal ? N + 2 : 2 * (N + 2) - 1;
        fill_decay(decay);
        check(weft_bench_weight_of(&gamma, graph, weft_shape_of(CHANNELS), decay));
        check(weft_graph_toeplitz(&y, graph, x, add_weight(graph, weft_shape_of(lags, CHANNELS), 1),
                                  weft_toeplitz_params(.causal = causal, .decay = gamma)));
    } else if (which == RESPONSE) {
        const weft_shape shape = weft_shape_of(N + 14, causal ? CHANNELS : 2 * CHANNELS);
        check(weft_graph_toeplitz_fd(&y, graph, x, add_weight(graph, shape, 1),
                                     weft_toeplitz_fd_params(.causal = causal)));
    } else {
        const weft_ski_toeplitz_params params = {
            .rpe = add_weight(graph, weft_shape_of(2 * STEPS + 1, CHANNELS), 1),
            .taps =
                which == SKI ? add_weight(graph, weft_shape_of(3, CHANNELS), 2) : (weft_tensor){0},
            .points = which == SKI ? 10 : 0,
            .gamma = 0.95F,
            .interpolation = which == SKI ? WEFT_INTERPOLATION_CUBIC : WEFT_INTERPOLATION_LINEAR};
        check(weft_graph_ski_toeplitz(&y, graph, x, &params));
    }
    return weft_graph_output(graph, "y", y);
}

static void refer_ski(weft_bench_reference *ref, const double *x, bool with_taps) {
    const weft_bench_ski params = {
        .n = N,
        .d = CHANNELS,
        .rpe = weft_bench_reference_weight(ref, (UINT64_C(2) * STEPS + 1) * CHANNELS, 1),
        .steps = STEPS,
        .taps = with_taps ? weft_bench_reference_weight(ref, UINT64_C(3) * CHANNELS, 2) : NULL,
        .tap_count = with_taps ? 3 : 0,
        .points = with_taps ? 10 : 0,
        .gamma = 0.95F,
        .interpolation = with_taps ? WEFT_INTERPOLATION_CUBIC : WEFT_INTERPOLATION_LINEAR};
    weft_bench_reference_ski(ref, ref->expected, ref->rows, x, &params);
}

static void refer_toeplitz(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const uint32_t which = bench_case->sizes[0];
    const bool causal = bench_case->sizes[1] != 0;
    const double *x = weft_bench_reference_input(ref, "x");
    float decay[CHANNELS];
    if (which == DECAYED) {
        const uint64_t lags = causal ? N + 2 : 2 * (N + 2) - 1;
        fill_decay(decay);
        const weft_bench_toeplitz params = {
            .n = N,
            .d = CHANNELS,
            .causal = causal,
            .coefficients = weft_bench_reference_weight(ref, lags * CHANNELS, 1),
            .reach = N + 2,
            .decay = weft_bench_reference_weight_of(ref, decay, CHANNELS)};
        weft_bench_reference_toeplitz(ref, ref->expected, ref->rows, x, &params);
    } else if (which == RESPONSE) {
        const uint64_t count = (N + 14) * (causal ? UINT64_C(1) : UINT64_C(2)) * CHANNELS;
        weft_bench_reference_toeplitz_fd(ref, ref->expected, ref->rows, x, N, CHANNELS,
                                         weft_bench_reference_weight(ref, count, 1), N + 13,
                                         causal);
    } else {
        refer_ski(ref, x, which == SKI);
    }
}

WEFT_TEST_ON_DEVICE(toeplitz, test) {
    for (uint32_t causal = 0; causal < 2; causal++) {
        check_case(test->device, "toeplitz", (uint32_t[4]){DECAYED, causal, 0, 0}, build_toeplitz,
                   refer_toeplitz);
        check_case(test->device, "toeplitz", (uint32_t[4]){RESPONSE, causal, 0, 0}, build_toeplitz,
                   refer_toeplitz);
    }
    check_case(test->device, "ski", (uint32_t[4]){SKI, 0, 0, 0}, build_toeplitz, refer_toeplitz);
    check_case(test->device, "ski", (uint32_t[4]){SKI_WITHOUT_TAPS, 0, 0, 0}, build_toeplitz,
               refer_toeplitz);
}

/* ---- encoders; sizes: mixing, layers of attention ---- */

enum { ENCODER_N = 45, ENCODER_D = 24, ENCODER_WIDE = 40, ENCODER_LAYERS = 3, WORDS = 99 };

/* With ' for ", as in the suites' own. */
static const char performer[] =
    "'model_type':'performer','task':'hidden','num_features':11,"
    "'position_embedding':'learned','embedding_norm':true,'norm_eps':1e-12,"
    "'norm_position':'post','hidden_act':'gelu_new'";

static weft_status compile_encoder(weft_plan **plan, weft_device *device,
                                   const weft_bench_case *bench_case, bool timestamps,
                                   const weft_host *host) {
    static const char *const kinds[] = {"'model_type':'fnet','weft_mixing':'fourier'",
                                        "'model_type':'fnet','weft_mixing':'linear'",
                                        "'model_type':'fnet','weft_mixing':'attention'",
                                        "'model_type':'fnet','weft_mixing':'none'", performer};
    char config[700];
    weft_model *model = NULL;
    snprintf(config, sizeof config,
             "{%s%s%s,'vocab_size':%d,'hidden_size':%d,'intermediate_size':%d,"
             "'num_hidden_layers':%d,'num_attention_heads':3,'max_position_embeddings':%d}",
             kinds[bench_case->sizes[0]],
             bench_case->sizes[0] == WEFT_BENCH_FNET_PERFORMER
                 ? ""
                 : ",'architectures':['FNetModel'],'type_vocab_size':4",
             bench_case->sizes[1] ? ",'weft_attention_layers':1" : "", WORDS, ENCODER_D,
             ENCODER_WIDE, ENCODER_LAYERS, ENCODER_N);
    for (char *at = config; (at = strchr(at, '\'')) != NULL;) {
        *at = '"';
    }
    check(weft_model_create_random(&model, config, WEFT_BENCH_SEED, host));
    check(weft_model_compile(plan, model, device, BATCH, ENCODER_N, false,
                             weft_plan_params(.timestamps = timestamps)));
    weft_model_destroy(&model);
    return WEFT_OK;
}

static void refer_encoder(weft_bench_reference *ref, const weft_bench_case *bench_case) {
    const weft_bench_fnet params = {.n = ENCODER_N,
                                    .d = ENCODER_D,
                                    .wide = ENCODER_WIDE,
                                    .layers = ENCODER_LAYERS,
                                    .heads = 3,
                                    .vocabulary = WORDS,
                                    .types = 4,
                                    .mixing = (weft_bench_fnet_mixing)bench_case->sizes[0],
                                    .attention_layers = bench_case->sizes[1],
                                    .features = 11,
                                    .activation = WEFT_ACTIVATION_GELU_TANH,
                                    .epsilon = 1e-12,
                                    .seed = WEFT_BENCH_SEED};
    ref->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_reference_fnet(ref, ref->expected, ref->rows,
                              weft_bench_reference_input(ref, "tokens"), &params);
}

WEFT_TEST_ON_DEVICE(encoders, test) {
    for (uint32_t i = 0; i < 6; i++) {
        weft_bench_case bench_case = {.suite = "test",
                                      .name = "encoder",
                                      .sizes = {i % 5, i == 5 ? 1 : 0},
                                      .compile = compile_encoder,
                                      .reference = refer_encoder,
                                      .vocabulary = WORDS};
        bench_check(&bench_case, test->device);
    }
}

/* ---- the transform ---- */

WEFT_TEST(transform_is_the_definition) {
    static const uint32_t sizes[] = {1, 2, 3, 8, 9, 12, 100, 128};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t n = sizes[i];
        weft_bench_reference ref = {.limit = 1e9};
        double *out = weft_bench_reference_array(&ref, UINT64_C(2) * n);
        const double *x = weft_bench_reference_weight(&ref, UINT64_C(2) * n, n);
        const weft_bench_transform *transform = weft_bench_reference_transform(&ref, n, 1);
        assert_non_null(transform);
        weft_bench_transform_run(transform, out, x);
        for (uint64_t k = 0; k < n; k++) {
            double sum[2] = {0.0, 0.0};
            for (uint64_t j = 0; j < n; j++) {
                const double angle = -2.0 * acos(-1.0) * (double)(j * k) / n;
                sum[0] += x[2 * j] * cos(angle) - x[2 * j + 1] * sin(angle);
                sum[1] += x[2 * j] * sin(angle) + x[2 * j + 1] * cos(angle);
            }
            assert_true(fabs(sum[0] - out[2 * k]) < 1e-11);
            assert_true(fabs(sum[1] - out[2 * k + 1]) < 1e-11);
        }
        weft_bench_reference_end(&ref);
    }
}

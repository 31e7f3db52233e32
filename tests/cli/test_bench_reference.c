/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* What weft bench expects of some tokens, where its suites' own cases do not take it: heads, batches, further parameters. */
#include <math.h>

#include "bench/suites/builders.h"
#include "bench/suites/fnet_reference.h"
#include "cli/bench_outcome.h"
#include "core/math/philox.h"
#include "support.h"

#include <weft/model.h>

enum {
    BATCH = 2,
    N = 37,
    HEADS = 3,
    WIDTH = 5,
    FEATURES = 11,
    CHANNELS = HEADS * WIDTH,
    DIRECTIONS = 4
};

static void check(weft_status status) {
    assert_ok(status);
}

static weft_array input(weft_case *c, const char *name) {
    return weft_case_input(c, name, weft_shape_of(BATCH, N, CHANNELS), WEFT_VALUES_UNIT);
}

struct inputs {
    weft_array q, k, v;
};

static struct inputs add_inputs(weft_case *c) {
    struct inputs in;
    in.q = input(c, "q");
    in.k = input(c, "k");
    in.v = input(c, "v");
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    return in;
}

static weft_array add_matrix(weft_case *c) {
    return weft_bench_weight(c, weft_shape_of(FEATURES, WIDTH), 1);
}

static void check_case(weft_device *device, const char *name, const uint32_t sizes[4],
                       void (*define)(weft_case *c, const weft_bench_case *bench_case)) {
    weft_bench_case bench_case = {.suite = "test", .define = define};
    memcpy(bench_case.sizes, sizes, sizeof bench_case.sizes);
    snprintf(bench_case.name, sizeof bench_case.name, "%s/%u,%u,%u,%u", name, sizes[0], sizes[1],
             sizes[2], sizes[3]);
    bench_check(&bench_case, device);
}

/* ---- random features; sizes: component, stabilized, causal, with coefficients ---- */

static weft_random_features_params random_params(weft_case *c, const uint32_t *sizes) {
    const weft_component component = (weft_component)sizes[0];
    weft_random_features_params params = {.component = component, .heads = HEADS};
    if (component != WEFT_COMPONENT_TRIGONOMETRIC) {
        params.epsilon = 1e-6F;
    }
    if (component == WEFT_COMPONENT_GENERALIZED) {
        params.a = -0.0625F;
        params.s = 1;
    }
    if (sizes[3]) {
        params.coefficients = weft_bench_weight(c, weft_shape_of(FEATURES), 2).tensor;
    }
    return params;
}

static void define_random(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const bool two_sided =
        sizes[0] == WEFT_COMPONENT_OPTIMAL || sizes[0] == WEFT_COMPONENT_ASYMMETRIC;
    const struct inputs in = add_inputs(c);
    const weft_array w = add_matrix(c);
    weft_random_features_params params = random_params(c, sizes);
    params.other = two_sided ? in.k.tensor : (weft_tensor){0};
    params.stabilizer = sizes[1] ? WEFT_STABILIZER_QUERY : WEFT_STABILIZER_NONE;
    const weft_array phi = weft_case_random_features(c, in.q, w, &params);
    params.other = two_sided ? in.q.tensor : (weft_tensor){0};
    params.stabilizer = sizes[1] ? WEFT_STABILIZER_KEY : WEFT_STABILIZER_NONE;
    const weft_array psi = weft_case_random_features(c, in.k, w, &params);
    weft_case_expect(c, "y",
                     weft_case_linear_attention(
                         c, phi, psi, in.v,
                         weft_linear_attention_params(.heads = HEADS, .causal = sizes[2] != 0)));
}

WEFT_TEST_ON_DEVICE(random_features, test) {
    for (uint32_t component = 0; component < WEFT_COMPONENT_COUNT; component++) {
        for (uint32_t stabilized = 0; stabilized < 2; stabilized++) {
            const uint32_t sizes[4] = {component, stabilized, stabilized, 0};
            check_case(test->device, "random", sizes, define_random);
        }
    }
    check_case(test->device, "random", (uint32_t[4]){WEFT_COMPONENT_POSITIVE, 0, 0, 1},
               define_random);
}

/* ---- features alone; sizes: family, stabilizer, keys ---- */

enum family { DISCRETE, HYBRID };

static weft_array discrete(weft_case *c, weft_array x, weft_array coefficients,
                           weft_stabilizer stabilizer) {
    float w[FEATURES * WIDTH];
    float weights[FEATURES];
    check(weft_features_fill(w, weights,
                             weft_features_params(.kind = WEFT_FEATURES_POISSON, .rows = FEATURES,
                                                  .columns = WIDTH, .seed = 5, .rate = 0.5F),
                             NULL));
    return weft_case_discrete_features(
        c, x, weft_case_weight_of(c, weft_shape_of(FEATURES, WIDTH), w), coefficients,
        weft_discrete_features_params(.heads = HEADS, .stabilizer = stabilizer));
}

static void define_features(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t *sizes = bench_case->sizes;
    const weft_stabilizer stabilizer = (weft_stabilizer)sizes[1];
    const weft_array x = input(c, "x");
    const weft_array coefficients = weft_bench_weight(c, weft_shape_of(FEATURES), 2);
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    if (sizes[0] == DISCRETE) {
        weft_case_expect(c, "y", discrete(c, x, coefficients, stabilizer));
        return;
    }
    const weft_array w = add_matrix(c);
    const weft_array directions = weft_bench_weight(c, weft_shape_of(DIRECTIONS, WIDTH), 3);
    weft_case_expect(c, "y",
                     weft_case_hybrid_features(
                         c, x, w, directions,
                         weft_hybrid_features_params(.heads = HEADS, .keys = sizes[2] != 0,
                                                     .stabilizer = stabilizer,
                                                     .coefficients = coefficients.tensor)));
}

WEFT_TEST_ON_DEVICE(further_features, test) {
    for (uint32_t stabilizer = 0; stabilizer < WEFT_STABILIZER_COUNT; stabilizer++) {
        check_case(test->device, "discrete", (uint32_t[4]){DISCRETE, stabilizer, 0, 0},
                   define_features);
        for (uint32_t keys = 0; keys < 2; keys++) {
            check_case(test->device, "hybrid", (uint32_t[4]){HYBRID, stabilizer, keys, 0},
                       define_features);
        }
    }
}

/* ---- far fields; sizes: kernels or maps, causal, with beta, with weights of the fields ---- */

static const weft_kernel maps[] = {{.map = WEFT_FEATURE_ELU1},
                                   {.map = WEFT_FEATURE_TANH1, .weight = 0.5F},
                                   {.map = WEFT_FEATURE_EXP, .weight = 2.0F}};

static weft_sizes sizes(void) {
    return (weft_sizes){BATCH, N, HEADS, WIDTH, .rows = FEATURES, .reach = N + 3, .taps = 3};
}

static void define_fmm(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t *given = bench_case->sizes;
    const weft_sizes own = sizes();
    const weft_fmm_attention_params params = {.causal = given[1] != 0,
                                              .half_width = 4,
                                              .kernels = given[2] ? NULL : maps,
                                              .kernel_count = given[0]};
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_case_expect(c, "y",
                     weft_bench_sheet(c, &weft_sheet_fmm_attention, &own, &params,
                                      (given[2] ? 1U << 3 : 0) | (given[3] ? 3U << 4 : 0)));
}

WEFT_TEST_ON_DEVICE(far_fields, test) {
    static const uint32_t each[][4] = {{3, 0, 0, 0}, {3, 1, 0, 1}, {0, 1, 1, 0}, {0, 1, 1, 1}};
    for (uint32_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        check_case(test->device, "fmm", each[i], define_fmm);
    }
}

/* ---- attention; sizes: which, causal ---- */

#define BOTH(name, ...)                                           \
    {                                                             \
        &weft_sheet_##name, {                                     \
            weft_##name##_params(.causal = false, __VA_ARGS__),   \
                weft_##name##_params(.causal = true, __VA_ARGS__) \
        }                                                         \
    }

static const struct {
    const weft_sheet *sheet;
    const void *params[2];
} by_sheet[] = {BOTH(performer_attention, .heads = HEADS), BOTH(rfa_attention, .heads = HEADS),
                BOTH(cosformer, .length = 100),
                BOTH(banded_attention, .half_width = 9, .scale = 0.75F)};

enum { ATTENTIONS = 1 + sizeof by_sheet / sizeof by_sheet[0] };

static weft_array relative_attention(weft_case *c, bool causal) {
    const struct inputs in = add_inputs(c);
    const weft_array w = add_matrix(c);
    const weft_array bias =
        weft_bench_weight(c, weft_shape_of(causal ? N + 3 : 2 * (N + 3) - 1, HEADS), 2);
    const weft_random_features_params params = {.component = WEFT_COMPONENT_POSITIVE,
                                                .heads = HEADS};
    const weft_array phi = weft_case_random_features(c, in.q, w, &params);
    const weft_array psi = weft_case_random_features(c, in.k, w, &params);
    return WEFT_MIX(c, toeplitz_attention,
                    weft_toeplitz_attention_params(.heads = HEADS, .causal = causal), phi, psi,
                    in.v, bias);
}

static void define_attention(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t which = bench_case->sizes[0];
    const uint32_t causal = bench_case->sizes[1];
    const weft_sizes own = sizes();
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_case_expect(c, "y",
                     which + 1 == ATTENTIONS ? relative_attention(c, causal != 0)
                                             : weft_bench_sheet(c, by_sheet[which].sheet, &own,
                                                                by_sheet[which].params[causal], 0));
}

WEFT_TEST_ON_DEVICE(attentions, test) {
    for (uint32_t i = 0; i < 2 * ATTENTIONS; i++) {
        check_case(test->device, "attention", (uint32_t[4]){i / 2, i % 2, 0, 0}, define_attention);
    }
}

/* ---- Toeplitz; sizes: which, causal ---- */

enum { DECAYED, RESPONSE, SKI, SKI_WITHOUT_TAPS };

#define STEPS 7

/** A decay in (0, 1). */
static weft_array decayed(weft_case *c, weft_array x, bool causal) {
    float decay[CHANNELS];
    for (uint32_t i = 0; i < CHANNELS; i++) {
        decay[i] = 1.0F - 0.0625F * (float)(i + 1) / CHANNELS;
    }
    const weft_shape shape = weft_shape_of(causal ? N + 2 : 2 * (N + 2) - 1, CHANNELS);
    const weft_array gamma = weft_case_weight_of(c, weft_shape_of(CHANNELS), decay);
    return weft_case_toeplitz(c, x, weft_bench_weight(c, shape, 1),
                              weft_toeplitz_params(.causal = causal, .decay = gamma.tensor));
}

static weft_array ski(weft_case *c, bool with_taps) {
    weft_sizes own = sizes();
    own.rows = STEPS;
    return weft_bench_sheet(
        c, &weft_sheet_ski_toeplitz, &own,
        weft_ski_toeplitz_params(.points = with_taps ? 10 : 0, .gamma = 0.95F,
                                 .interpolation = with_taps ? WEFT_INTERPOLATION_CUBIC
                                                            : WEFT_INTERPOLATION_LINEAR),
        with_taps ? 1U << 2 : 0);
}

static weft_array response(weft_case *c, bool causal) {
    weft_sizes own = sizes();
    own.reach = N + 13;
    return weft_bench_sheet(c, &weft_sheet_toeplitz_fd, &own,
                            weft_toeplitz_fd_params(.causal = causal), 0);
}

static void define_toeplitz(weft_case *c, const weft_bench_case *bench_case) {
    const uint32_t which = bench_case->sizes[0];
    const bool causal = bench_case->sizes[1] != 0;
    weft_case_expect(c, "y",
                     which == DECAYED    ? decayed(c, input(c, "x"), causal)
                     : which == RESPONSE ? response(c, causal)
                                         : ski(c, which == SKI));
}

WEFT_TEST_ON_DEVICE(toeplitz, test) {
    for (uint32_t causal = 0; causal < 2; causal++) {
        check_case(test->device, "toeplitz", (uint32_t[4]){DECAYED, causal, 0, 0}, define_toeplitz);
        check_case(test->device, "toeplitz", (uint32_t[4]){RESPONSE, causal, 0, 0},
                   define_toeplitz);
    }
    check_case(test->device, "ski", (uint32_t[4]){SKI, 0, 0, 0}, define_toeplitz);
    check_case(test->device, "ski", (uint32_t[4]){SKI_WITHOUT_TAPS, 0, 0, 0}, define_toeplitz);
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
    for (char *at = config; (at = strchr(at, '\''));) {
        *at = '"';
    }
    check(weft_model_create_random(&model, config, WEFT_BENCH_SEED, host));
    check(weft_model_compile(plan, model, device, BATCH, ENCODER_N, false,
                             weft_plan_params(.timestamps = timestamps)));
    weft_model_destroy(&model);
    return WEFT_OK;
}

static void define_encoder(weft_case *c, const weft_bench_case *bench_case) {
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
    weft_shape shape;
    c->tolerance = WEFT_TOLERANCE_EXPONENTIAL;
    weft_bench_define_fnet(c, c->read(c->user, "tokens", &shape), &params);
}

WEFT_TEST_ON_DEVICE(encoders, test) {
    for (uint32_t i = 0; i < 6; i++) {
        weft_bench_case bench_case = {.suite = "test",
                                      .name = "encoder",
                                      .sizes = {i % 5, i == 5 ? 1 : 0},
                                      .compile = compile_encoder,
                                      .define = define_encoder,
                                      .vocabulary = WORDS};
        bench_check(&bench_case, test->device);
    }
}

/* ---- the transform ---- */

WEFT_TEST(transform_is_the_definition) {
    static const uint32_t sizes[] = {1, 2, 3, 8, 9, 12, 100, 128};
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t n = sizes[i];
        weft_reference ref = {.status = WEFT_OK};
        float numbers[256];
        weft_philox_uniform(numbers, (size_t)2 * n, WEFT_BENCH_SEED, n);
        double *out = weft_reference_array(&ref, UINT64_C(2) * n);
        const double *x = weft_reference_of(&ref, numbers, UINT64_C(2) * n);
        const weft_reference_transform *transform = weft_reference_make_transform(&ref, n, 1);
        assert_non_null(transform);
        weft_reference_run_transform(transform, out, x);
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
        weft_reference_end(&ref);
    }
}

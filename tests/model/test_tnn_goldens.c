/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * TNN's operator, blocks and layer against the public PyTorch code: every file of tests/data/tnn, which
 * tests/reference/make_tnn_goldens.py made.
 */
#include <weft/mixers.h>

#include "model/files/safetensors.h"
#include "support_arrays.h"

/* The worst case is near 5e-7; PyTorch's own float32 is off by up to 1.7e-6. */
#define TOLERANCE   1e-5
#define MOST_LAYERS 4
#define NAME_SIZE   80

enum module { TNO, GTU, GLU, LAYER_PRE, LAYER_POST };
enum decay { NO_DECAY, FIXED, LEARNED };

#define GOLDEN(file, ...) \
    { .name = (file), __VA_ARGS__ }

/* What of the constructor's arguments the parameters' shapes do not tell. */
static const struct golden {
    const char *name;
    enum module module;
    bool causal;
    weft_rpe_lag input;
    enum decay decay;
    float lambda; /* of LEARNED */
    weft_activation rpe_activation;
    bool layer_norm; /* instead of SimpleRMSNorm */
    bool residual;
    weft_activation activation;
    bool use_norm;
} goldens[] = {
    GOLDEN("tno_both", .rpe_activation = WEFT_ACTIVATION_RELU),
    GOLDEN("tno_both_decay", .decay = FIXED, .rpe_activation = WEFT_ACTIVATION_SILU,
           .residual = true),
    GOLDEN("tno_both_fraction_multi", .input = WEFT_RPE_LAG_FRACTION, .decay = LEARNED,
           .lambda = 0.8F, .rpe_activation = WEFT_ACTIVATION_RELU, .layer_norm = true),
    GOLDEN("tno_both_long", .rpe_activation = WEFT_ACTIVATION_RELU),
    GOLDEN("tno_causal", .causal = true, .rpe_activation = WEFT_ACTIVATION_RELU),
    GOLDEN("tno_causal_fraction_decay", .causal = true, .input = WEFT_RPE_LAG_FRACTION,
           .decay = FIXED, .rpe_activation = WEFT_ACTIVATION_GELU_ERF),
    GOLDEN("tno_causal_exp", .causal = true, .input = WEFT_RPE_LAG_EXP,
           .rpe_activation = WEFT_ACTIVATION_RELU),
    GOLDEN("tno_causal_multi_long", .causal = true, .decay = LEARNED, .lambda = 0.99F,
           .rpe_activation = WEFT_ACTIVATION_RELU),
    GOLDEN("gtu_both", .module = GTU, .decay = FIXED, .rpe_activation = WEFT_ACTIVATION_RELU,
           .activation = WEFT_ACTIVATION_SILU),
    GOLDEN("gtu_causal_simple_norm", .module = GTU, .causal = true, .decay = LEARNED,
           .lambda = 0.9F, .rpe_activation = WEFT_ACTIVATION_RELU, .residual = true,
           .activation = WEFT_ACTIVATION_SILU, .use_norm = true),
    GOLDEN("gtu_both_layer_norm", .module = GTU, .input = WEFT_RPE_LAG_FRACTION,
           .rpe_activation = WEFT_ACTIVATION_RELU, .layer_norm = true,
           .activation = WEFT_ACTIVATION_SILU, .use_norm = true),
    GOLDEN("gtu_relu_nobias", .module = GTU, .rpe_activation = WEFT_ACTIVATION_RELU,
           .activation = WEFT_ACTIVATION_RELU),
    GOLDEN("glu_silu", .module = GLU, .activation = WEFT_ACTIVATION_SILU),
    GOLDEN("glu_nobias", .module = GLU),
    GOLDEN("layer_pre", .module = LAYER_PRE, .decay = FIXED, .rpe_activation = WEFT_ACTIVATION_RELU,
           .activation = WEFT_ACTIVATION_SILU),
    GOLDEN("layer_post_causal", .module = LAYER_POST, .causal = true,
           .rpe_activation = WEFT_ACTIVATION_RELU, .activation = WEFT_ACTIVATION_SILU),
};

struct fixture {
    struct weft_test_device *test;
    const struct golden *golden;
    weft_safetensors *file;
    weft_graph *graph;
};

/* ---- parameters ---- */

static float *read_tensor(const struct fixture *f, const char *name, weft_shape *shape) {
    const weft_safetensors_tensor *tensor = weft_safetensors_find(f->file, name);
    if (!tensor) {
        fail_msg("%s has no tensor %s", f->golden->name, name);
    }
    assert_in_range(tensor->rank, 1, WEFT_MAX_RANK);
    shape->rank = tensor->rank;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        shape->dim[i] = (uint32_t)tensor->shape[i];
    }
    float *data = malloc(tensor->elements * sizeof *data);
    assert_non_null(data);
    assert_ok(weft_safetensors_read_f32(f->file, tensor, 0, tensor->elements, data));
    return data;
}

/* The parameter `prefix` + `name`, or none where the file has none. */
static weft_tensor parameter(const struct fixture *f, const char *prefix, const char *name) {
    char whole[2 * NAME_SIZE];
    snprintf(whole, sizeof whole, "%s%s", prefix, name);
    weft_tensor tensor = {0};
    if (!weft_safetensors_find(f->file, whole)) {
        return tensor;
    }
    weft_shape shape = {.rank = 0};
    weft_weight *weight = NULL;
    float *data = read_tensor(f, whole, &shape);
    assert_ok(weft_weight_create(&weight, weft_weight_params(.shape = shape, .data = data), NULL));
    assert_ok(weft_graph_weight(&tensor, f->graph, weight));
    weft_weight_destroy(&weight);
    free(data);
    return tensor;
}

static weft_norm_params norm_of(const struct fixture *f, const char *prefix) {
    weft_norm_params norm = {.kind = WEFT_NORM_SIMPLE_RMS};
    if (f->golden->layer_norm) {
        norm.kind = WEFT_NORM_LAYER;
        norm.gamma = parameter(f, prefix, "weight");
        norm.beta = parameter(f, prefix, "bias");
        norm.epsilon = 1e-5F;
    }
    return norm;
}

/* ---- modules; `prefix` is what their parameters' names start with ---- */

static weft_tensor add_rpe(const struct fixture *f, const char *prefix, uint32_t n) {
    char name[NAME_SIZE];
    weft_norm_params norms[MOST_LAYERS];
    weft_rpe_layer layers[MOST_LAYERS];
    uint32_t count = 0;
    for (bool last = false; !last; count++) {
        assert_in_range(count, 0, MOST_LAYERS - 1);
        snprintf(name, sizeof name, "%srpe.layers.%u.2.weight", prefix, count);
        last = !weft_safetensors_find(f->file, name);
        int size = last ? snprintf(name, sizeof name, "%srpe.out.0.", prefix)
                        : snprintf(name, sizeof name, "%srpe.layers.%u.0.", prefix, count);
        norms[count] = norm_of(f, name);
        name[size - 2] = '2'; /* the norm is 0, the activation 1, the linear layer 2 */
        layers[count] = (weft_rpe_layer){.norm = &norms[count],
                                         .weight = parameter(f, name, "weight"),
                                         .bias = parameter(f, name, "bias")};
    }
    weft_tensor coefficients = {0};
    assert_ok(weft_graph_toeplitz_rpe(
        &coefficients, f->graph, n,
        weft_rpe_params(.weight = parameter(f, prefix, "rpe.pos_proj.weight"),
                        .bias = parameter(f, prefix, "rpe.pos_proj.bias"), .layers = layers,
                        .layer_count = count, .activation = f->golden->rpe_activation,
                        .residual = f->golden->residual),
        weft_toeplitz_rpe_params(.causal = f->golden->causal, .input = f->golden->input,
                                 .divisor = n - 1)));
    return coefficients;
}

static weft_toeplitz_params tno_params(const struct fixture *f, const char *prefix) {
    weft_toeplitz_params params = {.causal = f->golden->causal};
    weft_tensor gamma = parameter(f, prefix, "gamma");
    if (f->golden->decay == FIXED) {
        weft_shape shape;
        assert_ok(weft_graph_get_tensor(f->graph, gamma, &shape, NULL));
        assert_ok(weft_graph_reshape(&params.decay, f->graph, gamma,
                                     weft_shape_of(shape.dim[0] * shape.dim[2])));
    } else if (f->golden->decay == LEARNED) {
        assert_ok(weft_graph_toeplitz_decay(&params.decay, f->graph, gamma, f->golden->lambda));
    }
    return params;
}

static weft_tensor add_tno(const struct fixture *f, const char *prefix, weft_tensor x, uint32_t n) {
    weft_tensor y = {0};
    weft_toeplitz_params params = tno_params(f, prefix);
    weft_tensor coefficients = add_rpe(f, prefix, n);
    assert_ok(weft_graph_toeplitz(&y, f->graph, x, coefficients, &params));
    return y;
}

static weft_tensor add_gtu(const struct fixture *f, const char *prefix, weft_tensor x, uint32_t n) {
    static const char *const names[] = {"u_proj.", "v_proj.", "o."};
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%stoep.", prefix);
    weft_toeplitz_params toeplitz = tno_params(f, name);
    weft_gtu_params params = {.activation = f->golden->activation,
                              .mixer = WEFT_GTU_TOEPLITZ,
                              .kernel = add_rpe(f, name, n),
                              .toeplitz = &toeplitz};
    for (uint32_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        params.weight[i] = parameter(f, name, "weight");
        params.bias[i] = parameter(f, name, "bias");
    }
    snprintf(name, sizeof name, "%snorm.", prefix);
    weft_norm_params norm = norm_of(f, name);
    params.norm = f->golden->use_norm ? &norm : NULL;
    weft_tensor y = {0};
    assert_ok(weft_graph_gtu(&y, f->graph, x, &params));
    return y;
}

static weft_tensor add_glu(const struct fixture *f, const char *prefix, weft_tensor x) {
    static const char *const names[] = {"l1.", "l2.", "l3."};
    weft_glu_params params = {.activation = f->golden->activation};
    for (uint32_t i = 0; i < 3; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        params.weight[i] = parameter(f, name, "weight");
        params.bias[i] = parameter(f, name, "bias");
    }
    weft_tensor y = {0};
    assert_ok(weft_graph_glu(&y, f->graph, x, &params));
    return y;
}

static weft_tensor simple_norm(const struct fixture *f, weft_tensor x) {
    weft_tensor y = {0};
    assert_ok(weft_graph_simple_rms_norm(&y, f->graph, x));
    return y;
}

/* TnnLayer: the token mixer and then the feature mixer, each with its norm and x added. */
static weft_tensor add_layer(const struct fixture *f, bool pre, weft_tensor x, uint32_t n) {
    for (uint32_t half = 0; half < 2; half++) {
        weft_tensor y = pre ? simple_norm(f, x) : x;
        y = half == 0 ? add_gtu(f, "token_mixer.", y, n) : add_glu(f, "feature_mixer.", y);
        y = pre ? y : simple_norm(f, y);
        assert_ok(weft_graph_add_norm(&x, f->graph, x, y, NULL));
    }
    return x;
}

static weft_tensor add_module(const struct fixture *f, weft_tensor x, uint32_t n) {
    switch (f->golden->module) {
    case TNO:
        return add_tno(f, "", x, n);
    case GTU:
        return add_gtu(f, "", x, n);
    case GLU:
        return add_glu(f, "", x);
    default:
        return add_layer(f, f->golden->module == LAYER_PRE, x, n);
    }
}

/* ---- comparing ---- */

static double run(struct fixture *f, const weft_plan_params *params, float *x, weft_shape shape,
                  const float *wanted) {
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, f->test->device, f->graph, params));
    uint64_t count = (uint64_t)shape.dim[0] * shape.dim[1] * shape.dim[2];
    uint64_t bytes = count * sizeof(float);
    float *y = malloc(bytes);
    assert_non_null(y);
    memset(y, 0xff, bytes);
    const weft_host_tensor tensors[] = {{.name = "x", .data = x, .bytes = bytes},
                                        {.name = "y", .data = y, .bytes = bytes}};
    assert_ok(weft_plan_execute(plan, tensors, 2));
    double error = weft_test_relative_error(y, wanted, count);
    free(y);
    weft_plan_destroy(&plan);
    return error;
}

static void check_golden(struct fixture *f, const struct golden *golden,
                         const weft_plan_params *params) {
    char name[NAME_SIZE];
    weft_shape shape = {.rank = 0};
    weft_shape wanted_shape = {.rank = 0};
    f->golden = golden;
    snprintf(name, sizeof name, "tnn/%s.safetensors", golden->name);
    char *path = weft_test_data(name);
    assert_ok(weft_safetensors_open(&f->file, path, &f->test->host.host));
    assert_ok(weft_graph_create(&f->graph, &f->test->host.host));
    float *x = read_tensor(f, "x", &shape);
    float *wanted = read_tensor(f, "expected", &wanted_shape);
    assert_int_equal(shape.rank, 3);
    assert_memory_equal(&shape, &wanted_shape, sizeof shape);
    weft_tensor tensor = {0};
    assert_ok(weft_graph_input(&tensor, f->graph, "x", WEFT_F32, shape));
    tensor = add_module(f, tensor, shape.dim[1]);
    assert_ok(weft_graph_output(f->graph, "y", tensor));
    double error = run(f, params, x, shape, wanted);
    if (!(error <= TOLERANCE)) {
        fail_msg("%s: relative L2 %g exceeds %g", golden->name, error, TOLERANCE);
    }
    weft_graph_destroy(&f->graph);
    weft_safetensors_close(&f->file);
    free(wanted);
    free(x);
}

static void check_all(struct weft_test_device *test, const weft_plan_params *params) {
    struct fixture f = {.test = test};
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        check_golden(&f, &goldens[i], params);
    }
}

WEFT_TEST_ON_DEVICE(test_goldens, f) {
    check_all(f, NULL);
}

WEFT_TEST_ON_DEVICE(test_goldens_by_fft, f) {
    check_all(f, weft_plan_params(.implementation = "fft"));
}

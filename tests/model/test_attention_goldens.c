/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Mixers against public PyTorch code, op by op: every case below tests/data/attention, which
 * tests/reference/make_attention_goldens.py made. PyTorch's own float32 error there is 3.2e-7 at most.
 */
#include <dirent.h>
#include <math.h>

#include <weft/mixers.h>

#include "support_arrays.h"

/* As of FNet; the worst case is near 1.4e-6, by the epsilon at add_linear, the others near 2e-7. */
#define TOLERANCE 1e-5

/* ---- cases ---- */

#define MAX_INPUTS 3

/** One case folder; the arrays that a case lacks have no elements. */
struct golden {
    const char *folder;
    const char *const *names; /* of the inputs */
    uint32_t input_count;
    weft_npy input[MAX_INPUTS];
    weft_npy expected, context, scale;
};

static void open_golden(struct golden *golden, struct weft_test_host *host) {
    for (uint32_t i = 0; i < golden->input_count; i++) {
        assert_true(weft_test_npy_open(&golden->input[i], golden->folder, golden->names[i], host));
    }
    assert_true(weft_test_npy_open(&golden->expected, golden->folder, "expected", host));
    weft_test_npy_open(&golden->context, golden->folder, "local_context", host);
    weft_test_npy_open(&golden->scale, golden->folder, "scale", host);
}

static void close_golden(struct golden *golden) {
    for (uint32_t i = 0; i < golden->input_count; i++) {
        weft_npy_close(&golden->input[i]);
    }
    weft_npy_close(&golden->expected);
    weft_npy_close(&golden->context);
    weft_npy_close(&golden->scale);
}

static uint32_t heads_of(const struct golden *golden) {
    assert_int_equal(golden->input[0].rank, 4);
    return (uint32_t)golden->input[0].shape[2];
}

/* [B, n, d], or [B, n, heads, d/heads], whose elements lie alike. */
static weft_shape shape_of(const weft_npy *npy) {
    uint64_t channels = npy->rank == 4 ? npy->shape[2] * npy->shape[3] : npy->shape[2];
    return weft_shape_of((uint32_t)npy->shape[0], (uint32_t)npy->shape[1], (uint32_t)channels);
}

/* ---- ops: what PyTorch's module is in a graph ---- */

typedef weft_status (*add_op)(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                              const struct golden *golden);

/*
 * PyTorch adds 1e-6 to the denominators, which Weft does not: sums of positive features, here 0.6 or
 * more.
 */
static weft_status add_linear(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                              const struct golden *golden) {
    return weft_graph_kernel_attention(out, graph, input[0], input[1], input[2],
                                       weft_kernel_attention_params(.heads = heads_of(golden)));
}

static weft_status add_causal_linear(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                                     const struct golden *golden) {
    return weft_graph_kernel_attention(
        out, graph, input[0], input[1], input[2],
        weft_kernel_attention_params(.heads = heads_of(golden), .causal = true));
}

static weft_status add_relu(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                            const struct golden *golden) {
    const weft_kernel relu = {.map = WEFT_FEATURE_RELU};
    return weft_graph_kernel_attention(out, graph, input[0], input[1], input[2],
                                       weft_kernel_attention_params(.heads = heads_of(golden),
                                                                    .kernels = &relu,
                                                                    .kernel_count = 1));
}

static weft_status add_of_features(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                                   const struct golden *golden, bool causal) {
    weft_tensor features[2];
    for (uint32_t i = 0; i < 2; i++) {
        weft_status status =
            weft_graph_activate(&features[i], graph, input[i], WEFT_ACTIVATION_ELU1);
        if (status != WEFT_OK) {
            return status;
        }
    }
    return weft_graph_linear_attention(
        out, graph, features[0], features[1], input[2],
        weft_linear_attention_params(.heads = heads_of(golden), .causal = causal));
}

static weft_status add_features(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                                const struct golden *golden) {
    return add_of_features(out, graph, input, golden, false);
}

static weft_status add_causal_features(weft_tensor *out, weft_graph *graph,
                                       const weft_tensor *input, const struct golden *golden) {
    return add_of_features(out, graph, input, golden, true);
}

static uint32_t context_of(const struct golden *golden) {
    int32_t context = 0;
    assert_int_equal(golden->context.elements, 1);
    assert_ok(weft_npy_read_i32(&golden->context, &context));
    assert_in_range(context, 1, 1000);
    return (uint32_t)context;
}

static weft_status add_band(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                            const struct golden *golden, uint32_t half_width, bool causal) {
    float scale = 0.0F;
    if (golden->scale.elements == 1 && golden->scale.data) {
        assert_ok(weft_npy_read_f32(&golden->scale, &scale));
    }
    return weft_graph_banded_attention(
        out, graph, input[0], input[1], input[2],
        weft_banded_attention_params(.heads = heads_of(golden), .half_width = half_width,
                                     .causal = causal, .scale = scale));
}

/*
 * A local_context of c reads c/2 tokens back and (c - 1)/2 ahead, both rounded down: of c = 2 k + 1
 * the band |i - j| ≤ k. An even c is no symmetric band, whatever PyTorch's documentation says.
 */
static weft_status add_local(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                             const struct golden *golden) {
    uint32_t context = context_of(golden);
    assert_int_equal(context % 2, 1);
    return add_band(out, graph, input, golden, (context - 1) / 2, false);
}

/* Behind a causal mask only what it reads back is left: 0 ≤ i - j ≤ c/2. */
static weft_status add_causal_local(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                                    const struct golden *golden) {
    return add_band(out, graph, input, golden, context_of(golden) / 2, true);
}

static weft_status add_fourier(weft_tensor *out, weft_graph *graph, const weft_tensor *input,
                               const struct golden *golden) {
    (void)golden;
    return weft_graph_fourier(out, graph, input[0]);
}

/* ---- running ---- */

static weft_plan *compile(struct weft_test_device *fixture, const struct golden *golden, add_op add,
                          const char *implementation) {
    weft_graph *graph = NULL;
    weft_tensor input[MAX_INPUTS];
    weft_tensor y = {0};
    assert_ok(weft_graph_create(&graph, &fixture->host.host));
    for (uint32_t i = 0; i < golden->input_count; i++) {
        assert_ok(weft_graph_input(&input[i], graph, golden->names[i], WEFT_F32,
                                   shape_of(&golden->input[i])));
    }
    assert_ok(add(&y, graph, input, golden));
    assert_ok(weft_graph_output(graph, "expected", y));
    weft_plan *plan = NULL;
    assert_ok(weft_plan_compile(&plan, fixture->device, graph,
                                weft_plan_params(.implementation = implementation)));
    weft_graph_destroy(&graph);
    return plan;
}

static double check_golden(struct weft_test_device *fixture, const struct golden *golden,
                           add_op add, const char *implementation) {
    weft_plan *plan = compile(fixture, golden, add, implementation);
    float *data[MAX_INPUTS + 1];
    weft_host_tensor tensors[MAX_INPUTS + 1];
    for (uint32_t i = 0; i < golden->input_count; i++) {
        data[i] = weft_test_npy_f32(&golden->input[i]);
        tensors[i] = (weft_host_tensor){
            .name = golden->names[i], .data = data[i], .bytes = golden->input[i].bytes};
    }
    float *out = malloc(golden->expected.bytes);
    assert_non_null(out);
    memset(out, 0xff, golden->expected.bytes);
    data[golden->input_count] = out;
    tensors[golden->input_count] =
        (weft_host_tensor){.name = "expected", .data = out, .bytes = golden->expected.bytes};
    assert_ok(weft_plan_execute(plan, tensors, golden->input_count + 1));
    double error = weft_test_npy_error(out, &golden->expected);
    if (!(error <= TOLERANCE)) {
        fail_msg("%s: relative L2 %g exceeds %g", golden->folder, error, TOLERANCE);
    }
    for (uint32_t i = 0; i <= golden->input_count; i++) {
        free(data[i]);
    }
    weft_plan_destroy(&plan);
    return error;
}

/* All cases of an op, `least` or more. */
static void check_all(struct weft_test_device *fixture, const char *kind, add_op add,
                      const char *implementation, uint32_t least) {
    static const char *const attention[] = {"q", "k", "v"};
    static const char *const mixer[] = {"x"};
    const bool is_fourier = strcmp(kind, "fourier") == 0;
    char *root = weft_test_data("attention");
    char *cases = weft_test_path(root, kind);
    DIR *folder = opendir(cases);
    assert_non_null(folder);
    uint32_t count = 0;
    double largest = 0.0;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        char *path = weft_test_path(cases, entry->d_name);
        struct golden golden = {.folder = path,
                                .names = is_fourier ? mixer : attention,
                                .input_count = is_fourier ? 1 : 3};
        open_golden(&golden, &fixture->host);
        largest = fmax(largest, check_golden(fixture, &golden, add, implementation));
        close_golden(&golden);
        count++;
    }
    closedir(folder);
    assert_in_range(count, least, 100);
    print_message("%s: relative L2 up to %.2g\n", kind, largest);
}

WEFT_TEST_ON_DEVICE(test_linear_attention, f) {
    check_all(f, "linear", add_linear, NULL, 6);
    check_all(f, "linear", add_features, NULL, 6);
}

WEFT_TEST_ON_DEVICE(test_causal_linear_attention, f) {
    check_all(f, "causal_linear", add_causal_linear, NULL, 5);
    check_all(f, "causal_linear", add_causal_features, NULL, 5);
}

WEFT_TEST_ON_DEVICE(test_relu_features, f) {
    check_all(f, "relu", add_relu, NULL, 1);
}

WEFT_TEST_ON_DEVICE(test_local_attention, f) {
    check_all(f, "local", add_local, "direct", 6);
    check_all(f, "local", add_local, "tiled", 6);
}

WEFT_TEST_ON_DEVICE(test_causal_local_attention, f) {
    check_all(f, "causal_local", add_causal_local, "direct", 5);
    check_all(f, "causal_local", add_causal_local, "tiled", 5);
}

WEFT_TEST_ON_DEVICE(test_fourier, f) {
    check_all(f, "fourier", add_fourier, "fft", 5);
    check_all(f, "fourier", add_fourier, "matrix", 5);
}

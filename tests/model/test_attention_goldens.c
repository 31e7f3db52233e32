/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/*
 * Mixers against public PyTorch code, op by op: every case below tests/data/attention, which
 * tests/reference/make_attention_goldens.py made. PyTorch's own float32 error there is 3.2e-7 at most.
 */
#include <dirent.h>
#include <math.h>

#include "support_arrays.h"
#include "support_sheet.h"

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

/* [B, n, d], or [B, n, heads, d/heads], whose elements lie alike. */
static weft_sizes sizes_of(const struct golden *golden) {
    const uint64_t *x = golden->input[0].shape;
    const bool has_heads = golden->input[0].rank == 4;
    weft_sizes sizes = {.batch = (uint32_t)x[0],
                        .n = (uint32_t)x[1],
                        .heads = has_heads ? (uint32_t)x[2] : 1,
                        .width = (uint32_t)x[has_heads ? 3 : 2]};
    if (golden->input_count == 3) {
        assert_true(has_heads);
        sizes.keys = (uint32_t)golden->input[1].shape[1];
        sizes.values = (uint32_t)golden->input[2].shape[3];
    }
    return sizes;
}

static uint32_t context_of(const struct golden *golden) {
    int32_t context = 0;
    assert_int_equal(golden->context.elements, 1);
    assert_ok(weft_npy_read_i32(&golden->context, &context));
    assert_in_range(context, 1, 1000);
    return (uint32_t)context;
}

/* ---- what PyTorch's module is in a graph ---- */

static const weft_kernel relu = {.map = WEFT_FEATURE_RELU};

/* Cases of a folder by a mixer with these parameters, of which a band's come from each case. */
struct kind {
    const char *folder;
    const weft_sheet *sheet;
    const void *params;
    uint32_t least; /* cases */
};

/*
 * PyTorch adds 1e-6 to the denominators, which Weft does not: sums of positive features, here 0.6 or
 * more. Linear attention is given the features elu(x) + 1.
 */
static const struct kind linear[] = {
    {"linear", &weft_sheet_kernel_attention, NULL, 6},
    {"linear", &weft_sheet_linear_attention, NULL, 6},
    {"causal_linear", &weft_sheet_kernel_attention, weft_kernel_attention_params(.causal = true),
     5},
    {"causal_linear", &weft_sheet_linear_attention, weft_linear_attention_params(.causal = true),
     5},
    {"relu", &weft_sheet_kernel_attention,
     weft_kernel_attention_params(.kernels = &relu, .kernel_count = 1), 1}};
static const struct kind local = {"local", &weft_sheet_banded_attention, NULL, 6};
static const struct kind causal_local = {"causal_local", &weft_sheet_banded_attention,
                                         weft_banded_attention_params(.causal = true), 5};
static const struct kind fourier = {"fourier", &weft_sheet_fourier, NULL, 5};

/*
 * A local_context of c reads c/2 tokens back and (c - 1)/2 ahead, both rounded down: of c = 2 k + 1
 * the band |i - j| ≤ k. An even c is no symmetric band, whatever PyTorch's documentation says. Behind a
 * causal mask only what it reads back is left: 0 ≤ i - j ≤ c/2.
 */
static weft_banded_attention_params band_of(const struct golden *golden, bool causal) {
    weft_banded_attention_params params = {.causal = causal};
    const uint32_t context = context_of(golden);
    assert_true(causal || context % 2 == 1);
    params.half_width = context / 2;
    if (golden->scale.elements == 1 && golden->scale.data) {
        assert_ok(weft_npy_read_f32(&golden->scale, &params.scale));
    }
    return params;
}

/* ---- running ---- */

static void run_with_features(weft_device *device, const struct weft_test_mix *mix, float *out) {
    struct weft_test_run r = weft_test_begin(device);
    weft_tensor x[3];
    weft_tensor y;
    for (uint32_t i = 0; i < 3; i++) {
        x[i] = weft_test_mix_operand(&r, mix, i).tensor;
        if (i < 2) {
            assert_ok(weft_graph_activate(&x[i], r.graph, x[i], WEFT_ACTIVATION_ELU1));
        }
    }
    const weft_sheet_params params =
        weft_sheet_params_of(mix->sheet, mix->params, &mix->sizes, (weft_tensor){0});
    assert_ok(mix->sheet->call(&y, r.graph, x, &params));
    weft_test_execute_to(&r, y, out);
}

static double check_golden(struct weft_test_device *fixture, const struct golden *golden,
                           const struct kind *kind, const char *implementation) {
    struct weft_test_mix mix = {.sheet = kind->sheet,
                                .sizes = sizes_of(golden),
                                .params = kind->params,
                                .implementation = implementation};
    weft_banded_attention_params band;
    float *out = malloc(golden->expected.bytes);
    assert_non_null(out);
    if (golden->context.elements > 0) {
        band = band_of(golden, weft_sheet_is_causal(kind->sheet, kind->params));
        mix.params = &band;
    }
    for (uint32_t i = 0; i < golden->input_count; i++) {
        mix.x[i] = weft_test_npy_f32(&golden->input[i]);
    }
    if (kind->sheet == &weft_sheet_linear_attention) {
        run_with_features(fixture->device, &mix, out);
    } else {
        weft_test_mix_run(fixture->device, &mix, out);
    }
    double error = weft_test_npy_error(out, &golden->expected);
    if (!(error <= TOLERANCE)) {
        fail_msg("%s: relative L2 %g exceeds %g", golden->folder, error, TOLERANCE);
    }
    weft_test_mix_free(&mix);
    free(out);
    return error;
}

/* All cases of a kind. */
static void check_all(struct weft_test_device *fixture, const struct kind *kind,
                      const char *implementation) {
    static const char *const attention[] = {"q", "k", "v"};
    static const char *const mixer[] = {"x"};
    const bool is_fourier = kind == &fourier;
    char *root = weft_test_data("attention");
    char *cases = weft_test_path(root, kind->folder);
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
        largest = fmax(largest, check_golden(fixture, &golden, kind, implementation));
        close_golden(&golden);
        count++;
    }
    closedir(folder);
    assert_in_range(count, kind->least, 100);
    print_message("%s: relative L2 up to %.2g\n", kind->folder, largest);
}

WEFT_TEST_ON_DEVICE(test_linear_attention, f) {
    for (uint32_t i = 0; i < WEFT_COUNT(linear); i++) {
        check_all(f, &linear[i], NULL);
    }
}

WEFT_TEST_ON_DEVICE(test_local_attention, f) {
    check_all(f, &local, "direct");
    check_all(f, &local, "tiled");
    check_all(f, &causal_local, "direct");
    check_all(f, &causal_local, "tiled");
}

WEFT_TEST_ON_DEVICE(test_fourier, f) {
    check_all(f, &fourier, "fft");
    check_all(f, &fourier, "matrix");
}

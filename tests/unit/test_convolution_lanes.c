/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Convolutions with channels along the lanes have the bits of those by VkFFT, whose order they follow. */
#include <math.h>

#include <weft/mixers.h>

#include "core/philox.h"
#include "mixers/convolution.h"
#include "support_graph.h"

/* Transforms of 8192 elements. */
struct problem {
    bool is_fd, causal;
    uint32_t batch, n, d;
};

static weft_shape kernel_shape(const struct problem *problem) {
    if (problem->is_fd) {
        return weft_shape_of(4097, (problem->causal ? 1 : 2) * problem->d);
    }
    return weft_shape_of(problem->causal ? problem->n : 2 * problem->n - 1, problem->d);
}

static float *uniform(weft_shape shape, uint32_t stream) {
    const size_t count = (size_t)weft_shape_elements(shape);
    float *data = malloc(count * sizeof *data);
    assert_non_null(data);
    weft_philox_uniform(data, count, 47, stream);
    return data;
}

static uint32_t *run(struct weft_test_graph *f, const struct problem *problem, const float *x_data,
                     const float *kernel_data, const char *implementation) {
    const weft_shape shape = weft_shape_of(problem->batch, problem->n, problem->d);
    struct weft_test_run run = weft_test_begin(f->device);
    const weft_tensor x = weft_test_feed(&run, "x", shape, x_data);
    const weft_tensor kernel = weft_test_feed(&run, "kernel", kernel_shape(problem), kernel_data);
    weft_tensor y = {0};
    if (problem->is_fd) {
        assert_ok(weft_graph_toeplitz_fd(&y, run.graph, x, kernel,
                                         weft_toeplitz_fd_params(.causal = problem->causal)));
    } else {
        assert_ok(weft_graph_toeplitz(&y, run.graph, x, kernel,
                                      weft_toeplitz_params(.causal = problem->causal)));
    }
    float *out = malloc((size_t)weft_shape_elements(shape) * sizeof *out);
    assert_non_null(out);
    weft_test_take(&run, "y", y, out);
    weft_plan *plan = weft_test_plan(&run, implementation);
    weft_test_run_plan(&run, plan);
    weft_plan_destroy(&plan);
    return (uint32_t *)(void *)out;
}

static void check(struct weft_test_graph *f, const struct problem *problem) {
    const weft_shape shape = weft_shape_of(problem->batch, problem->n, problem->d);
    const size_t count = (size_t)weft_shape_elements(shape);
    float *x = uniform(shape, 1);
    float *kernel = uniform(kernel_shape(problem), 2);
    /* Channels of special values: what is infinite, what overflows, what is subnormal. */
    x[(size_t)5 * problem->d] = INFINITY;
    x[(size_t)6 * problem->d + 1] = NAN;
    x[(size_t)7 * problem->d + 2] = 3e38F;
    for (uint32_t i = 0; i < problem->n; i++) {
        x[(size_t)i * problem->d + 3] *= 1e-38F;
    }
    uint32_t *expected = run(f, problem, x, kernel, "fft");
    uint32_t *bits = run(f, problem, x, kernel, "fft_lanes");
    for (size_t i = 0; i < count; i++) {
        if (bits[i] != expected[i]) {
            fail_msg("%s%s, n = %u: element %zu is 0x%08x, by VkFFT 0x%08x",
                     problem->is_fd ? "toeplitz_fd" : "toeplitz", problem->causal ? ", causal" : "",
                     problem->n, i, bits[i], expected[i]);
        }
    }
    free(x);
    free(kernel);
    free(expected);
    free(bits);
}

WEFT_TEST_ON_GRAPH(test_bits_are_those_of_vkfft, f) {
    if (!weft_lanes_convolution_fits(8192)) {
        print_message("another VkFFT than the one whose order is followed\n");
        return;
    }
    check(f, &(struct problem){.batch = 2, .n = 3999, .d = 21});
    check(f, &(struct problem){.causal = true, .batch = 1, .n = 4096, .d = 16});
    check(f, &(struct problem){.is_fd = true, .batch = 1, .n = 3001, .d = 17});
    check(f, &(struct problem){.is_fd = true, .causal = true, .batch = 1, .n = 2100, .d = 5});
}

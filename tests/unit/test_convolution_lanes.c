/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/* Convolutions with channels along the lanes have the bits of those by VkFFT, whose order they follow. */
#include <math.h>

#include "mixers/convolution.h"
#include "support_sheet.h"

/* Transforms of 8192 elements. */
struct problem {
    bool is_fd, causal;
    uint32_t batch, n, d;
};

static uint32_t *run(struct weft_test_graph *f, struct weft_test_mix *mix,
                     const char *implementation) {
    float *out = malloc((size_t)weft_test_mix_elements(mix, 0) * sizeof *out);
    assert_non_null(out);
    mix->implementation = implementation;
    weft_test_mix_run(f->device, mix, out);
    return (uint32_t *)(void *)out;
}

static void check(struct weft_test_graph *f, const struct problem *problem) {
    struct weft_test_mix mix = {
        .sheet = problem->is_fd ? &weft_sheet_toeplitz_fd : &weft_sheet_toeplitz,
        .sizes = {problem->batch, problem->n, 1, problem->d,
                  .reach = problem->is_fd ? 4096 : problem->n},
        .params = problem->is_fd ? (const void *)weft_toeplitz_fd_params(.causal = problem->causal)
                                 : (const void *)weft_toeplitz_params(.causal = problem->causal),
        .feeds_weights = true};
    weft_test_mix_fill(&mix, 47);
    /* Channels of special values: what is infinite, what overflows, what is subnormal. */
    float *x = mix.x[0];
    x[(size_t)5 * problem->d] = INFINITY;
    x[(size_t)6 * problem->d + 1] = NAN;
    x[(size_t)7 * problem->d + 2] = 3e38F;
    for (uint32_t i = 0; i < problem->n; i++) {
        x[(size_t)i * problem->d + 3] *= 1e-38F;
    }
    uint32_t *expected = run(f, &mix, "fft");
    uint32_t *bits = run(f, &mix, "fft_lanes");
    for (size_t i = 0; i < weft_test_mix_elements(&mix, 0); i++) {
        if (bits[i] != expected[i]) {
            fail_msg("%s%s, n = %u: element %zu is 0x%08x, by VkFFT 0x%08x", mix.sheet->name,
                     problem->causal ? ", causal" : "", problem->n, i, bits[i], expected[i]);
        }
    }
    weft_test_mix_free(&mix);
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

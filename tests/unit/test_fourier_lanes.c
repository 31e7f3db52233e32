/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/* Fourier mixing with rows and columns along the lanes has the bits of VkFFT's kernels for every device, whose order it follows. */
#include <math.h>

#include "device/device.h"
#include "mixers/fourier_lanes.h"
#include "support_sheet.h"

struct problem {
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

/* What is infinite, what is none, what overflows, and what is subnormal. */
static void add_special(float *x, const struct problem *problem) {
    const size_t count = (size_t)problem->batch * problem->n * problem->d;
    x[count / 2] = INFINITY;
    x[count / 3] = NAN;
    x[count / 5] = 3e38F;
    for (size_t i = 0; i < problem->d; i++) {
        x[count - 1 - i] *= 1e-38F;
    }
}

static void compare(struct weft_test_graph *f, const struct problem *problem, bool special,
                    const char *expected_by, const char *by) {
    struct weft_test_mix mix = {.sheet = &weft_sheet_fourier,
                                .sizes = {problem->batch, problem->n, 1, problem->d, .keys = 0}};
    weft_test_mix_fill(&mix, 53);
    if (special) {
        add_special(mix.x[0], problem);
    }
    uint32_t *expected = run(f, &mix, expected_by);
    uint32_t *bits = run(f, &mix, by);
    for (size_t i = 0; i < weft_test_mix_elements(&mix, 0); i++) {
        if (bits[i] != expected[i]) {
            fail_msg("%s, %u x %u: element %zu is 0x%08x, by %s 0x%08x", by, problem->n, problem->d,
                     i, bits[i], expected_by, expected[i]);
        }
    }
    weft_test_mix_free(&mix);
    free(expected);
    free(bits);
}

/* Pairs and single rows, whole and partial blocks of each width, an odd number of rows, and columns in one dispatch and in two. */
static const struct problem problems[] = {
    {2, 2, 16},  {1, 7, 45},   {3, 5, 72},   {2, 13, 98},  {1, 33, 64},  {2, 16, 100}, {1, 64, 22},
    {1, 3, 260}, {2, 11, 768}, {1, 270, 30}, {1, 512, 36}, {1, 600, 16}, {1, 2, 1000}};

WEFT_TEST_ON_GRAPH(test_bits_are_those_of_vkfft, f) {
    weft_device_info info;
    assert_ok(weft_device_get_info(f->device, &info));
    if (!weft_fourier_lanes_fit(2, 16) || info.max_workgroup_invocations < 1024 ||
        info.max_shared_memory < 64u << 10) {
        print_message(
            "another VkFFT than the one whose order is followed, or smaller workgroups\n");
        return;
    }
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        compare(f, &problems[i], false, "fft", "fft_lanes");
        compare(f, &problems[i], true, "fft", "fft_lanes");
        compare(f, &problems[i], i % 2 == 0, "fft_matrix", "fft_matrix_lanes");
    }
}

/* Lengths that VkFFT transforms by other algorithms, and rows that it cuts, have no such form. */
WEFT_TEST(only_smooth_lengths_fit) {
    assert_false(weft_fourier_lanes_fit(8, 17 * 4));
    assert_false(weft_fourier_lanes_fit(19, 64));
    assert_false(weft_fourier_lanes_fit(8, 2048));
    assert_false(weft_fourier_lanes_fit(8, 8));
    assert_false(weft_fourier_lanes_fit(1, 64));
    assert_true(weft_fourier_lanes_fit(0, 64));
}

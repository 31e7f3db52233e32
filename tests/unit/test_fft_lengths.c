/* SPDX-License-Identifier: MIT */
/* weft-test: slow */
/*
 * VkFFT writes tables and the text of kernels into memory whose sizes it works out beforehand. With address sanitizer
 * (`./dev test all`) this is a look at every such write, for lengths by each of its algorithms: radices 2 to 13 and their
 * products in one pass to three, Rader's and Bluestein's.
 */
#include "mixers/vkfft/fft_program.h"
#include "support.h"

/* One program more or less. Lengths that VkFFT cannot plan are refused. */
static uint32_t plan(struct weft_test_host *host, enum weft_fft_kind kind, uint32_t length) {
    const struct weft_fft_desc desc = {
        .kind = kind, .rank = 1, .size = {length, 0}, .batch = 3, .transform_axis = {true, false}};
    struct weft_fft_program *program = NULL;
    uint32_t compiled = 0;
    const weft_status status =
        weft_fft_program_create(&program, &desc, NULL, &compiled, &host->host);
    assert_true(status == WEFT_OK || status == WEFT_UNSUPPORTED);
    weft_fft_program_destroy(&program, &host->host);
    return status == WEFT_OK;
}

static void plan_all_kinds(struct weft_test_host *host, uint32_t length) {
    for (int kind = WEFT_FFT_C2C_FORWARD; kind <= WEFT_FFT_C2R; kind++) {
        assert_true(plan(host, (enum weft_fft_kind)kind, length));
    }
}

WEFT_TEST_ON_HOST(short_lengths, host) {
    for (uint32_t length = 2; length <= 160; length++) {
        plan_all_kinds(host, length);
    }
}

WEFT_TEST_ON_HOST(powers_of_each_radix, host) {
    static const uint32_t radices[] = {2, 3, 5, 7, 11, 13};
    for (int i = 0; i < 6; i++) {
        for (uint32_t length = radices[i]; length <= 1U << 10; length *= radices[i]) {
            plan_all_kinds(host, length);
        }
        for (uint32_t length = radices[i]; length <= 1U << 20; length *= radices[i]) {
            (void)plan(host, WEFT_FFT_C2C_FORWARD, length); /* in several passes, or refused */
            (void)plan(host, WEFT_FFT_C2R, length);
        }
    }
}

/* Around powers of two, where the number of passes and of registers changes; most take Rader's or Bluestein's. */
WEFT_TEST_ON_HOST(neighbours_of_powers_of_two, host) {
    for (uint32_t power = 512; power <= 1U << 19; power *= 4) {
        for (uint32_t length = power - 2; length <= power + 3; length++) {
            (void)plan(host, WEFT_FFT_C2C_INVERSE, length);
        }
    }
}

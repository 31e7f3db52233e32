/* SPDX-License-Identifier: MIT */
/* The reproducibility probe's questions and their answers, made on the host. Knows nothing of
 * Vulkan. */
#ifndef WEFT_DEVICE_PROBE_CASES_H
#define WEFT_DEVICE_PROBE_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT_PROBE_CASES  2048
#define WEFT_PROBE_INPUTS 5 /* words of a case: floats a, b, c, word d, float e */
#define WEFT_PROBE_RESULTS \
    14 /* words; see the table in probe_cases.c and shaders/probe/arithmetic.comp */

struct weft_probe_input {
    uint32_t word[WEFT_PROBE_INPUTS];
};

struct weft_probe_result {
    uint32_t word[WEFT_PROBE_RESULTS];
};

/**
 * Fills inputs[WEFT_PROBE_CASES], the same on every machine: ties, cancellations, carries into the
 * next binade, signed zeros, products whose rounding error shows when the rounding is skipped. No
 * operand and no result is subnormal, infinite or NaN: Vulkan lets drivers choose there.
 */
void weft_probe_make_inputs(struct weft_probe_input *inputs);

/** The results that IEEE 754 arithmetic, rounded to nearest even after every operation, gives for
 * one case. */
void weft_probe_expect(struct weft_probe_result *expected, const struct weft_probe_input *input);

/**
 * Whether a device's results[WEFT_PROBE_CASES] are the expected ones. If not, text gets the first
 * wrong operation with its operands and both results.
 */
bool weft_probe_compare(char *text, size_t size, const struct weft_probe_input *inputs,
                        const struct weft_probe_result *results);

#endif

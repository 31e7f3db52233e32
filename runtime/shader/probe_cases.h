/* SPDX-License-Identifier: MIT */
/* The reproducibility probe's questions and their answers, made on the host. Knows nothing of
 * Vulkan. */
#ifndef WEFT_SHADER_PROBE_CASES_H
#define WEFT_SHADER_PROBE_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The cases, in this order: those without subnormals, infinities and NaN, about which drivers have
 * no choice; those with infinities, NaN and overflow; those with subnormals. */
#define WEFT_PROBE_PLAIN     2048
#define WEFT_PROBE_SPECIAL   512
#define WEFT_PROBE_SUBNORMAL 768
#define WEFT_PROBE_CASES     (WEFT_PROBE_PLAIN + WEFT_PROBE_SPECIAL + WEFT_PROBE_SUBNORMAL)
#define WEFT_PROBE_INPUTS    5 /* words of a case: floats a, b, c, word d, float e */
#define WEFT_PROBE_RESULTS \
    26 /* words; see the table in probe_cases.c and shaders/probe/arithmetic.comp */

struct weft_probe_input {
    uint32_t word[WEFT_PROBE_INPUTS];
};

struct weft_probe_result {
    uint32_t word[WEFT_PROBE_RESULTS];
};

/**
 * Fills inputs[WEFT_PROBE_CASES], the same on every machine: ties, cancellations, carries into the
 * next binade, signed zeros, products whose rounding error shows when the rounding is skipped; sums
 * and products of infinities and NaN; products and sums that overflow, or just do not, where the next
 * sum is finite if the overflow is skipped; operands and results that are subnormal, among them products
 * that round to 2^-126 from below or just do not.
 */
void weft_probe_make_inputs(struct weft_probe_input *inputs);

/** The results of one case in IEEE 754 arithmetic, rounded to nearest even after every operation,
 * where a subnormal operand or result counts as the zero of its sign. A product is subnormal if,
 * rounded to 24 bits with an exponent of any size, it is below 2^-126 (spirv/passes/flush_products.c). */
void weft_probe_expect(struct weft_probe_result *expected, const struct weft_probe_input *input);

/* Verdict of results on a device: the first or the last alone, or a sum of the others. */
enum weft_probe_verdict {
    WEFT_PROBE_RIGHT = 0,
    WEFT_PROBE_KEEPS_SUBNORMALS = 1, /* wrong in cases with subnormals */
    WEFT_PROBE_FOLDS_ZEROS = 2, /* wrong in operations with a zero that the shader spells out */
    WEFT_PROBE_LOSES_SMALL_PRODUCTS = 4, /* never judged: see weft_probe_needs */
    WEFT_PROBE_MISCOMPILES = 8, /* never judged: right only where the driver compiles with care */
    WEFT_PROBE_ENDS_LOOPS = 16, /* never judged: of weft_probe_flow, and no need of modules */
    WEFT_PROBE_KEEPS_SMALL_PRODUCTS = 32, /* wrong about subnormal products that round to 2^-126 */
    WEFT_PROBE_WRONG = 64                 /* wrong in others */
};

/**
 * The verdict on a device, from its results[WEFT_PROBE_CASES]: a sum of weft_probe_verdict. What a
 * device that keeps subnormals makes of them and zeros decides nothing; ask again once it does not.
 * Unless all results are right, text gets an operation that decided, with its operands and both
 * results. Which NaN a NaN is does not matter.
 */
uint32_t weft_probe_judge(char *text, size_t size, const struct weft_probe_input *inputs,
                          const struct weft_probe_result *results);

/**
 * Needs of modules, a sum of weft_probe_verdict, after modules with `needs` got a verdict: both. If subnormals are
 * wrong although modules flush them, it adds the need for products: the device flushed products that are not
 * subnormal. A device that is wrong about small products alone flushes all else by itself.
 */
uint32_t weft_probe_needs(uint32_t needs, uint32_t verdict);

#endif

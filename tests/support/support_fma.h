/* SPDX-License-Identifier: MIT */
/* fma(a, b, c) with one rounding, by numbers of 640 bits in which each product and sum is exact; and triples that are hard to round. */
#ifndef WEFT_TESTS_SUPPORT_FMA_H
#define WEFT_TESTS_SUPPORT_FMA_H

#include <stdbool.h>
#include <stdint.h>

/** The bits of the result, where subnormal operands are zeros and a result that rounds to less than 2^-126 is one. */
uint32_t weft_test_fma(uint32_t a, uint32_t b, uint32_t c);

/** The bits of the same by a product that is rounded, and a sum. */
uint32_t weft_test_unfused(uint32_t a, uint32_t b, uint32_t c);

bool weft_test_is_nan(uint32_t word);

/**
 * Triple number `index`, the same on every machine. By turns: any bits at all; close exponents; an addend that cancels the product but for
 * some last places; one of which the product is half a last place or a quarter, but for its own last bits; products about 2^128; results about
 * 2^-126, and products about 2^-151 beside 2^-126; subnormal operands; zeros, infinities and NaN.
 */
void weft_test_fma_triple(uint32_t x[3], uint64_t index);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_FUSED_H
#define WEFT_CORE_FUSED_H

#include <stdint.h>

/**
 * fma(a, b, c) of docs/reproducibility.md, rule 9, on the bits of float32 numbers and by integers alone, so that neither the
 * processor's modes nor its C library show. Subnormal operands are zeros of their sign. The exact a·b + c is rounded once, to
 * nearest even and as if exponents had no end; what is then below 2^-126 becomes the zero of its sign. A NaN is 0x7fc00000.
 */
uint32_t weft_fused_multiply_add(uint32_t a, uint32_t b, uint32_t c);

#endif

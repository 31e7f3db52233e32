/* SPDX-License-Identifier: MIT */
/* IEEE 754 binary16 ("half"), as bits, and its conversions. */
#ifndef WEFT_CORE_HALF_H
#define WEFT_CORE_HALF_H

#include <stdint.h>

/** Exact; a NaN keeps its payload. */
float weft_float_of_half(uint16_t half);

/**
 * Rounded to nearest, ties to even, also in the subnormal range; from 65520 on infinity, as IEEE
 * 754 rounds. A NaN becomes quiet and keeps the upper bits of its payload.
 */
uint16_t weft_half_of_float(float value);

/** bfloat16: the upper half of a float. */
float weft_float_of_bfloat(uint16_t bfloat);
/** Rounded to nearest, ties to even. A NaN becomes quiet. */
uint16_t weft_bfloat_of_float(float value);

#endif

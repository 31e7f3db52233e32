/* SPDX-License-Identifier: MIT */
/*
 * Subnormal numbers on devices that would keep them. Reproducible math counts every subnormal
 * operand and result as the zero of its sign, because that is what all devices can be brought to:
 * some cannot keep subnormals, and most that can have an execution mode that flushes them
 * (spirv_float_modes.h). What is left does it in instructions.
 *
 * A product counts as subnormal if, rounded to 24 bits as though exponents had no end, it is below
 * 2^-126. That is how x86 processors decide when they flush (tininess after rounding, IEEE 754-2019
 * section 7.5), and it is not the same as looking at the float32: a product from (1 - 2^-24) 2^-126
 * to less than (1 - 2^-25) 2^-126 is rounded up to 2^-126 among the subnormals, and is a zero here.
 * A device that decides in either other way, by the float32 or before rounding, is found by the
 * probe and gets these instructions. Sums and differences that small are exact: no rule differs.
 */
#ifndef WEFT_SHADER_SPIRV_FLUSH_H
#define WEFT_SHADER_SPIRV_FLUSH_H

#include <stdbool.h>

#include "core/host.h"

/**
 * Rewrites a module that weft_spirv_check has passed: behind each instruction that makes a float32
 * by arithmetic or by reinterpreting bits, or loads one from a buffer or from push constants,
 * follow instructions that turn a subnormal into the zero of its sign: a comparison, the sign and a
 * choice. A product is made on a larger scale first, to see what it rounds to, and where that is small
 * one of its factors becomes a zero. With loses_small_products, more put 2^-126 where a device that
 * looks at a product before it rounds it has made a zero. The result is in host memory; the caller
 * frees it.
 * Errors: WEFT_UNSUPPORTED for a module that loads whole structures, arrays or matrices of floats
 * from a buffer; WEFT_COMPILE_ERROR when no ids are left; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_flush_subnormals(uint32_t **words, size_t *size, const uint32_t *source,
                                        size_t source_size, bool loses_small_products,
                                        const weft_host *host);

#endif

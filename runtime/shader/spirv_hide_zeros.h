/* SPDX-License-Identifier: MIT */
/*
 * Zeros on devices whose compilers take x * 0 for 0 and x + 0 for x where they see the zero, which
 * is wrong for infinities, NaN and -0, and which no execution mode keeps them from. (Mesa is one:
 * gallivm's lp_build_mul in lavapipe 22.3 compares its operands with the constant zero, and
 * lavapipe 25.0 still makes x of x + 0 and -x of 0 - x; both say that they preserve signed zeros.)
 * What such a compiler cannot see it cannot fold: the zero is what remains of an invocation's
 * number when all 31 bits that it may have are shifted out.
 */
#ifndef WEFT_SHADER_SPIRV_HIDE_ZEROS_H
#define WEFT_SHADER_SPIRV_HIDE_ZEROS_H

#include "core/host.h"

/**
 * Rewrites a module that weft_spirv_check has passed: each use of a float32 zero in a function -
 * an OpConstant of either sign, an OpConstantNull that is a float or a vector of them, a vector
 * OpConstantComposite with such a component - becomes the use of a value that is made at the start
 * of the function from LocalInvocationIndex, LocalInvocationId, WorkgroupId or GlobalInvocationId,
 * numbers below 2^31 in every dispatch that Vulkan devices and Weft allow. All else stays. Costs a
 * few integer instructions an invocation, and what the compiler would have made of the zeros.
 * The result is in host memory; the caller frees it.
 *
 * Left as they are: zeros in constants that are structures or arrays, in specialization constants
 * and in initializers of variables, and zeros that compilers work out for themselves, from integers
 * for instance. A module that has none of these variables in the interface of all its entry points
 * is copied unchanged. Exact for the instructions that the lint allows (spirv/operands.h).
 * Errors: WEFT_COMPILE_ERROR when no ids are left; WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spirv_hide_zeros(uint32_t **words, size_t *size, const uint32_t *source,
                                  size_t source_size, const weft_host *host);

#endif

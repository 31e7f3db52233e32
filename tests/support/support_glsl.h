/* SPDX-License-Identifier: MIT */
/* Compute kernels by chance: text that makes sense and that nobody would write. */
#ifndef WEFT_TESTS_SUPPORT_GLSL_H
#define WEFT_TESTS_SUPPORT_GLSL_H

#include <stddef.h>
#include <stdint.h>

/**
 * Functions and main of a kernel in GLSL, the same ones for the same seed: integers, some bounded floats, branches,
 * loops, switches, arrays, calls that return early, and shared memory with barriers, also in loops. Defined for all inputs:
 * nothing is divided by 0, no index is out of range, every loop ends, and no two invocations race.
 *
 * Declared before it are uint in_(uint) for i below 4, out_(uint, uint) for i below 4, uint lane(), and uints push.a, push.b
 * and CHOICE (a specialization constant). Fails the test when the text does not fit.
 */
void weft_test_random_kernel(char *text, size_t size, uint64_t seed);

#endif

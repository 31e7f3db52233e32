/* SPDX-License-Identifier: MIT */
/* How vector operations run: vector.c. */
#ifndef WEFT_TESTS_AMD_VECTOR_H
#define WEFT_TESTS_AMD_VECTOR_H

#include "gpu.h"

/** The result, then as many operands as from_words has. */
amd_run amd_run_vector;
/** The same, but the last operand is the result's register. */
amd_run amd_run_accumulate;

/** Writes an integer operation's lanes with clamp: integer.c. False where the operation has none, by its detail. */
bool amd_saturate(uint32_t *to, const uint32_t *a, const uint32_t *b, uint32_t n, int32_t detail);

#endif

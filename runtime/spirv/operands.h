/* SPDX-License-Identifier: MIT */
/* Which words of an instruction are values. */
#ifndef WEFT_SPIRV_OPERANDS_H
#define WEFT_SPIRV_OPERANDS_H

#include <stdint.h>

/**
 * The words first … end - 1 of an instruction in a function, outside of which none is a value that
 * was computed in a function: they are types, results, labels, constants and literals. Exact for
 * the instructions that the lint allows.
 */
void weft_spirv_value_words(uint32_t *first, uint32_t *end, const uint32_t *instruction);

#endif

// SPDX-License-Identifier: MIT
//
// Matrices of blocks in panels (lower/block_weight.c): a word has the codes of four columns, a quarter of the panel apart, for one step of k, or
// with 4 bits for two. All codes are in front of all scales, and these in front of all offsets: a run has one of each for every
// column. What is made of a code is the matrix's number: the product is exact, so the sum is rounded once.

#ifndef WEFT_INCLUDE_BLOCKS_GLSL
#define WEFT_INCLUDE_BLOCKS_GLSL

#include "int8.glsl"

// Forms, enum weft_half of lower/lowering.h: WEFT_HALF_BLOCKS, and flags.
#define WEFT_HALF_BLOCKS    8
#define WEFT_BLOCKS_OF_FOUR 1u
#define WEFT_BLOCKS_OFFSETS 2u
#define WEFT_BLOCKS_SHORT   4u

// Steps of k of a run.
uint weft_block_run(uint form)
{
    return (form & WEFT_BLOCKS_SHORT) != 0u ? 16u : 32u;
}

// Words of codes of so many steps, each of a panel.
uint weft_block_code_words(uint form, uint steps)
{
    return (form & WEFT_BLOCKS_OF_FOUR) != 0u ? steps * 8u : steps * 16u;
}

// The word that has columns x, x + 16, x + 32 and x + 48 of a step.
uint weft_block_place(uint form, uint step, uint x)
{
    return ((form & WEFT_BLOCKS_OF_FOUR) != 0u ? step / 2u : step) * 16u + x;
}

// Column x + 16 j of the word of a step.
float weft_block_code(uint form, uint word, uint step, uint j)
{
    if ((form & WEFT_BLOCKS_OF_FOUR) == 0u) {
        return float(weft_int8_of(word, j));
    }
    // In one expression each, with shifts that are known but for one: the processor's compiler has an instruction for that (native/llvm/nibble.c).
    uint codes = word >> (step % 2u * 4u);
    return (form & WEFT_BLOCKS_OFFSETS) != 0u ? float(int(codes >> (8u * j) & 15u))
                                              : float(int(codes >> (8u * j) & 15u) - 8);
}

#endif

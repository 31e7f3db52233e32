// SPDX-License-Identifier: MIT
//
// Matrices of blocks in panels (lower/block_weight.c): a word has the codes of four columns, a quarter of the panel apart, for one step of k, or
// with 4 bits for two. All codes are in front of all scales, and these in front of all offsets: a run has one of each for every
// column. Scales are f32; or f16, of which a word has two columns, half a panel apart; or bytes, of which it has four, and behind all of them units as
// f16, one for 256 steps and every column. What is made of a code is the matrix's number: all products are exact, so the sum is rounded once.
// Who includes this says what a word of the matrix is: WEFT_BLOCK_WORD(place).

#ifndef WEFT_INCLUDE_BLOCKS_GLSL
#define WEFT_INCLUDE_BLOCKS_GLSL

#include "half.glsl"
#include "int8.glsl"

// Forms, enum weft_half of lower/lowering.h: WEFT_HALF_BLOCKS, and flags.
#define WEFT_HALF_BLOCKS    8
#define WEFT_BLOCKS_OF_FOUR 1u
#define WEFT_BLOCKS_OFFSETS 2u
#define WEFT_BLOCKS_SHORT   4u
#define WEFT_BLOCKS_F16     16u
#define WEFT_BLOCKS_UNITS   32u

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

// Columns x, x + 16, x + 32 and x + 48 of a row of f32, and of f16.
vec4 weft_block_floats(uint place)
{
    return vec4(uintBitsToFloat(WEFT_BLOCK_WORD(place)), uintBitsToFloat(WEFT_BLOCK_WORD(place + 16u)),
                uintBitsToFloat(WEFT_BLOCK_WORD(place + 32u)), uintBitsToFloat(WEFT_BLOCK_WORD(place + 48u)));
}

vec4 weft_block_halves(uint place)
{
    uint even = WEFT_BLOCK_WORD(place);
    uint odd = WEFT_BLOCK_WORD(place + 16u);
    return vec4(weft_float_of_f16(even), weft_float_of_f16(odd), weft_float_of_f16(even >> 16), weft_float_of_f16(odd >> 16));
}

// Words of all scales, or of all offsets, of so many steps.
uint weft_block_scale_words(uint form, uint steps)
{
    uint runs = steps / weft_block_run(form);
    if ((form & WEFT_BLOCKS_UNITS) != 0u) {
        return runs * 16u + steps / 256u * 32u;
    }
    return (form & WEFT_BLOCKS_F16) != 0u ? runs * 32u : runs * 64u;
}

// Of a step's run, where those of all steps begin at `place`.
vec4 weft_block_scales(uint form, uint place, uint steps, uint step, uint x)
{
    uint run = step / weft_block_run(form);
    if ((form & WEFT_BLOCKS_UNITS) != 0u) {
        uint units = place + steps / weft_block_run(form) * 16u;
        return weft_block_halves(units + step / 256u * 32u + x) * weft_int8s_of(WEFT_BLOCK_WORD(place + run * 16u + x));
    }
    return (form & WEFT_BLOCKS_F16) != 0u ? weft_block_halves(place + run * 32u + x)
                                          : weft_block_floats(place + run * 64u + x);
}

// What the numbers of an invocation's four columns have in common from the first step of a run to its last.
struct weft_block_run_of {
    vec4 scale;
    vec4 offset;
};

// `steps`: of all panels.
weft_block_run_of weft_block_begin(uint form, uint steps, uint step, uint x)
{
    uint scales = weft_block_code_words(form, steps);
    weft_block_run_of run;
    run.scale = weft_block_scales(form, scales, steps, step, x);
    run.offset = vec4(0.0);
    if ((form & WEFT_BLOCKS_OFFSETS) != 0u) {
        run.offset = weft_block_scales(form, scales + weft_block_scale_words(form, steps), steps, step, x);
    }
    return run;
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

// Columns x, x + 16, x + 32 and x + 48 of a step of that run.
vec4 weft_block_columns(uint form, weft_block_run_of run, uint step, uint x)
{
    uint word = WEFT_BLOCK_WORD(weft_block_place(form, step, x));
    vec4 columns;
    for (uint j = 0; j < 4; j++) {
        columns[j] = weft_block_code(form, word, step, j) * run.scale[j];
        if ((form & WEFT_BLOCKS_OFFSETS) != 0u) {
            columns[j] = columns[j] + run.offset[j];
        }
    }
    return columns;
}

#endif

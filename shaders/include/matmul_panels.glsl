// SPDX-License-Identifier: MIT
//
// A constant b in panels (weft_lower_panel_weight): 64 columns side by side, one step of k behind the other.

#ifndef WEFT_INCLUDE_MATMUL_PANELS_GLSL
#define WEFT_INCLUDE_MATMUL_PANELS_GLSL

#define WEFT_B_WORDS ((push.n + 63) / 64 * push.k * 16) // of panels of bytes

#define WEFT_BLOCK_WORD(place) b_half[place]

#include "matmul.glsl"
#include "blocks.glsl"

#define COLUMNS 64 // of a panel

// An invocation's four columns are a quarter of the panel apart.
struct Step {
    float column[4][COLUMNS / 4];
};

layout(std430, binding = 1) readonly buffer BPanels { Step b_panels[]; };

// A word of 16-bit elements has two columns: that of its place and the one half a panel behind.
struct HalfStep {
    uint columns[2][COLUMNS / 4];
};

layout(std430, binding = 1) readonly buffer BHalfPanels { HalfStep b_half_panels[]; };

// A word of bytes has the four columns of an invocation.
struct ByteStep {
    uint columns[COLUMNS / 4];
};

layout(std430, binding = 1) readonly buffer BBytePanels { ByteStep b_byte_panels[]; };

// Of blocks, from whose first step to whose last an invocation's columns have something in common.
const uint RUN = HALF_B < WEFT_HALF_BLOCKS ? WEFT_CHUNK : (HALF_B & WEFT_BLOCKS_SHORT) != 0 ? 16u : 32u;

weft_block_run_of weft_begin_run(uint step, uint x)
{
    if (HALF_B >= WEFT_HALF_BLOCKS) {
        return weft_block_begin(HALF_B, (push.n + COLUMNS - 1) / COLUMNS * push.k, step, x);
    }
    return weft_block_run_of(vec4(0.0), vec4(0.0));
}

// Columns x, x + 16, x + 32 and x + 48 of a step.
vec4 weft_panel_columns(weft_block_run_of run, uint step, uint x)
{
    if (HALF_B >= WEFT_HALF_BLOCKS) {
        return weft_block_columns(HALF_B, run, step, x);
    }
    if (HALF_B == 0) {
        return vec4(b_panels[step].column[0][x], b_panels[step].column[1][x], b_panels[step].column[2][x],
                    b_panels[step].column[3][x]);
    }
    if (HALF_B == WEFT_HALF_I8) {
        return weft_int8s_of(b_byte_panels[step].columns[x]);
    }
    vec2 even = weft_halves_of(HALF_B, b_half_panels[step].columns[0][x]);
    vec2 odd = weft_halves_of(HALF_B, b_half_panels[step].columns[1][x]);
    return vec4(even.x, odd.x, even.y, odd.y);
}

// Buffers have less than 2^32 bytes, so that a whole chunk of a's that begins at this element or before does not wrap
// around. Said by a min, which then changes nothing, it lets a compiler keep an address of 64 bits for each row, and one
// step for all of them.
const uint LAST_CHUNK = 0x40000000u - WEFT_CHUNK;
const uint LAST_STEP = 0x1000000u - WEFT_CHUNK; // of panels

bool has_plain_rows(uint last)
{
#ifdef WEFT_MATH_FAST
    if (HALF_A != 0) {
        return false;
    }
#endif
    return push.a_column == 1 && last <= LAST_CHUNK;
}

#endif

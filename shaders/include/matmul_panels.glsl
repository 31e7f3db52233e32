// SPDX-License-Identifier: MIT
//
// A constant b in panels (weft_lower_panel_weight): 64 columns side by side, one step of k behind the other.

#ifndef WEFT_INCLUDE_MATMUL_PANELS_GLSL
#define WEFT_INCLUDE_MATMUL_PANELS_GLSL

#define WEFT_B_WORDS ((push.n + 63) / 64 * push.k * 16) // of panels of bytes

#include "blocks.glsl"
#include "matmul.glsl"

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

// Of blocks: codes behind whose last come the scales.
vec4 weft_block_columns(uint step, uint x)
{
    uint panels = (push.n + COLUMNS - 1) / COLUMNS;
    uint runs = panels * (push.k / weft_block_run(HALF_B));
    uint scales = weft_block_code_words(HALF_B, panels * push.k);
    uint at = scales + step / weft_block_run(HALF_B) * COLUMNS + x;
    uint word = b_half[weft_block_place(HALF_B, step, x)];
    vec4 columns;
    for (uint j = 0; j < 4; j++) {
        uint place = at + j * (COLUMNS / 4);
        columns[j] = weft_block_code(HALF_B, word, step, j) * uintBitsToFloat(b_half[place]);
        if ((HALF_B & WEFT_BLOCKS_OFFSETS) != 0) {
            columns[j] = columns[j] + uintBitsToFloat(b_half[place + runs * COLUMNS]);
        }
    }
    return columns;
}

// Columns x, x + 16, x + 32 and x + 48 of a step.
vec4 weft_panel_columns(uint step, uint x)
{
    if (HALF_B >= WEFT_HALF_BLOCKS) {
        return weft_block_columns(step, x);
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

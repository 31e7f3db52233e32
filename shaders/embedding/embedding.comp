#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Sum of embedding tables: (table[token] + type_table[type]) + positions[s]. An index outside its
// table gives NaN, so that it cannot go unnoticed nor read foreign memory. A residual would be a ninth buffer, and some devices
// have eight.

#define WEFT_ROW_NO_RESIDUAL

layout(std430, binding = 0) readonly buffer Gamma { float gamma[]; };
layout(std430, binding = 1) readonly buffer Beta { float beta[]; };
layout(std430, binding = 2) buffer Result { float result[]; };
layout(std430, binding = 3) readonly buffer Tokens { int tokens[]; };
layout(std430, binding = 4) readonly buffer Table { float table[]; };
layout(std430, binding = 4) readonly buffer TableHalf { uint table_half[]; };
layout(std430, binding = 5) readonly buffer Types { int types[]; };
layout(std430, binding = 6) readonly buffer TypeTable { float type_table[]; };
layout(std430, binding = 7) readonly buffer Positions { float positions[]; };

layout(push_constant) uniform Push
{
    uint rows;
    uint columns;
    uint groups_x;
    float epsilon;
    uint sequence_length;
    uint table_rows;
    uint type_rows;
    uint first_row; // of the table in `table`, for IS_WINDOW
    uint window_rows;
} push;

layout(constant_id = 0) const uint HAS_TYPES = 0;
layout(constant_id = 3) const uint HAS_TYPE_TABLE = 0;
layout(constant_id = 4) const uint HAS_POSITIONS = 0;
layout(constant_id = 5) const uint IS_WINDOW = 0; // `table` has some of the rows: those of other tokens are left alone
layout(constant_id = 6) const uint HALF_TABLE = 0; // half.glsl: how it is stored
layout(constant_id = 7) const uint TABLE_LAYOUT = 0; // enum weft_layout of lower/lowering.h: as it is, or as a product reads it

#define WEFT_BLOCK_WORD(place) table_half[place]

#include "blocks.glsl"
#include "half.glsl"
#include "int8.glsl"

#define TABLE_TRANSPOSED 1
#define TABLE_PANELS     2
#define TABLE_FOURS      4 // of bytes
#define PANEL            64u // rows of the table that are columns of a panel

// Of bytes: a word of a panel has four rows, a quarter of the panel apart, or four elements of a row. The scales come behind all panels.
float table_byte(uint row, uint column)
{
    uint panels = (push.window_rows + PANEL - 1) / PANEL;
    uint step = row / PANEL * push.columns + column;
    uint place = TABLE_LAYOUT == TABLE_TRANSPOSED ? column * push.window_rows + row : row * push.columns + column;
    uint scales = (push.window_rows * push.columns + 3) / 4;
    if (TABLE_LAYOUT == TABLE_PANELS) {
        place = step * PANEL + row % (PANEL / 4) * 4 + row % PANEL / (PANEL / 4);
        scales = panels * push.columns * (PANEL / 4);
    }
    if (TABLE_LAYOUT == TABLE_FOURS) {
        uint words = (push.columns + 3) / 4;
        place = ((row / PANEL * words + column / 4) * PANEL + row % PANEL) * 4 + column % 4;
        scales = panels * words * PANEL;
    }
    return float(weft_int8_of(table_half[place / 4], place % 4)) * uintBitsToFloat(table_half[scales + row]);
}

// Of blocks, which lie in panels.
float table_number(uint row, uint column)
{
    uint steps = (push.window_rows + PANEL - 1) / PANEL * push.columns;
    uint step = row / PANEL * push.columns + column;
    uint x = row % (PANEL / 4);
    weft_block_run_of run = weft_block_begin(HALF_TABLE, steps, step, x);
    return weft_block_columns(HALF_TABLE, run, step, x)[row % PANEL / (PANEL / 4)];
}

// Of a panel in 16 bits, a word has two rows, half a panel apart.
float table_value(uint row, uint column)
{
    if (HALF_TABLE >= WEFT_HALF_BLOCKS) {
        return table_number(row, column);
    }
    if (HALF_TABLE == WEFT_HALF_I8) {
        return table_byte(row, column);
    }
    uint step = row / PANEL * push.columns + column;
    uint index = TABLE_LAYOUT == TABLE_PANELS       ? step * PANEL + row % PANEL
                 : TABLE_LAYOUT == TABLE_TRANSPOSED ? column * push.window_rows + row
                                                    : row * push.columns + column;
    if (HALF_TABLE == 0) {
        return table[index];
    }
    if (TABLE_LAYOUT == TABLE_PANELS) {
        return weft_half_of(HALF_TABLE, table_half[step * (PANEL / 2) + row % (PANEL / 2)], row / (PANEL / 2));
    }
    return weft_half_of(HALF_TABLE, table_half[index / 2], index);
}

bool weft_row_is_left(uint row)
{
    uint token = uint(tokens[row]);
    if (token >= push.table_rows) {
        return push.first_row != 0u; // NaN is for the first window to write
    }
    return token - push.first_row >= push.window_rows;
}
#define WEFT_ROW_MAY_BE_LEFT IS_WINDOW

float weft_row_value(uint row, uint column)
{
    uint token = uint(tokens[row]); // a negative index becomes one that is too large
    uint type = HAS_TYPES != 0 ? uint(types[row]) : 0u;
    if (token >= push.table_rows || type >= push.type_rows) {
        return uintBitsToFloat(0x7fc00000u);
    }
    uint place = IS_WINDOW != 0 ? token - push.first_row : token;
    float value = table_value(place, column);
    if (HAS_TYPE_TABLE != 0) {
        value = value + type_table[type * push.columns + column];
    }
    if (HAS_POSITIONS != 0) {
        value = value + positions[(row % push.sequence_length) * push.columns + column];
    }
    return value;
}

#include "row_norm.glsl"

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Rows of a by the matrices that they choose: b has those of all experts one behind the other, as one constant matrix in panels,
// whose columns are those of the experts. Each choice gives a row of the result, whose sums are in the order that all products have.
// A workgroup has a panel and a choice, or an expert and goes through all choices: those of this expert share what is read of b.

#define WEFT_OWN_PUSH

layout(push_constant) uniform Push
{
    uint begin;         // of the choices that are made
    uint m;             // and their end
    uint n;             // columns of b: a window of those of all experts
    uint k;
    uint inner;         // choices that a row of a has: as many as there are, or one each
    uint a_row;
    uint a_column;      // 1
    uint b_column;      // 1
    uint c_row;         // columns of an expert, and of the result
    float alpha;        // 1
    uint experts;       // in all
    uint first;         // column of the window
    uint first_expert;  // that has columns in the window
    uint last_expert;   // and the last one
} push;

#include "matmul_panel_rows.glsl"

layout(constant_id = 17) const uint TILE_IS_CHOICE = 0; // 1: a workgroup has a choice, and one row

layout(std430, binding = 5) readonly buffer Choices { uint choices[]; };

// Rows of the result that come of the same expert, the last one repeated.
struct Rows {
    uint row[MOST_ROWS];
    uint count;
};

void add_row(inout Rows rows, uint row)
{
    for (uint i = 0; i < MOST_ROWS; i++) {
        rows.row[i] = i < rows.count ? rows.row[i] : row;
    }
    rows.count++;
}

// Columns of an expert in the window: from `first` to before `end` of b, and what is added to one for the result's, modulo 2^32.
struct Columns {
    uint first;
    uint end;
    uint offset;
};

Columns columns_of(uint expert)
{
    uint first = expert * push.c_row;
    return Columns(max(first, push.first) - push.first, min(first + push.c_row, push.first + push.n) - push.first,
                   push.first - first);
}

void store(Columns columns, uint row, uint column, float sum)
{
    if (column >= columns.first && column < columns.end) {
        weft_store(columns.offset, row, column, sum);
    }
}

// The panel of this workgroup among those that hold such columns.
void make_rows(Rows rows, Columns columns)
{
    uint panel = columns.first / COLUMNS + gl_WorkGroupID.x;
    uint starts[MOST_ROWS];
    vec4 total[MOST_ROWS];
    if (panel * COLUMNS >= columns.end) {
        return;
    }
    for (uint i = 0; i < MOST_ROWS; i++) {
        starts[i] = rows.row[i] / push.inner * push.a_row;
    }
    multiply_panel(total, starts, panel * push.k);
    for (uint i = 0; i < TILE_ROWS; i++) {
        for (uint j = 0; j < 4 && i < rows.count; j++) {
            store(columns, rows.row[i], panel * COLUMNS + gl_LocalInvocationID.x + j * (COLUMNS / 4), total[i][j]);
        }
    }
}

// Of a choice that is no expert, where the first one's columns are.
void make_missing(uint row, Columns columns)
{
    uint panel = columns.first / COLUMNS + gl_WorkGroupID.x;
    for (uint j = 0; j < 4; j++) {
        store(columns, row, panel * COLUMNS + gl_LocalInvocationID.x + j * (COLUMNS / 4), uintBitsToFloat(WEFT_BITS_NAN));
    }
}

void main()
{
    const bool IS_CHOICE = TILE_IS_CHOICE != 0;
    uint z = gl_WorkGroupID.z;
    uint begin = IS_CHOICE ? push.begin + z : push.begin;
    uint end = IS_CHOICE ? begin + 1 : push.m;
    uint expert = IS_CHOICE ? choices[begin] : push.first_expert + z;
    bool makes_missing = push.first_expert == 0 && (IS_CHOICE || z == 0);
    Rows rows = Rows(uint[MOST_ROWS](0u, 0u, 0u, 0u), 0u);
    for (uint row = begin; row <= end; row++) {
        if (row < end) {
            uint choice = choices[row]; // a negative one becomes one that is too large
            if (choice >= push.experts) {
                if (makes_missing) {
                    make_missing(row, columns_of(0));
                }
            } else if (choice == expert && choice >= push.first_expert && choice <= push.last_expert) {
                add_row(rows, row);
            }
        }
        if (rows.count == TILE_ROWS || (row == end && rows.count > 0)) {
            make_rows(rows, columns_of(expert));
            rows.count = 0;
        }
    }
}

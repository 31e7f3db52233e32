#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Rows of the result, each put together from a row of every part. A part's words in a row end where
// the next one's begin. With FILL the rest of a row is `fill`, else it is left alone. The result may be
// a window of a larger tensor, and then the only part, too.
//
// form join
// form join_four WEFT_FOUR

#include "divide.glsl"
#include "fours.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X0 { WEFT_WORD x0[]; };
layout(std430, binding = 1) readonly buffer X1 { WEFT_WORD x1[]; };
layout(std430, binding = 2) readonly buffer X2 { WEFT_WORD x2[]; };
layout(std430, binding = 3) readonly buffer X3 { WEFT_WORD x3[]; };
layout(std430, binding = 4) readonly buffer X4 { WEFT_WORD x4[]; };
layout(std430, binding = 5) readonly buffer X5 { WEFT_WORD x5[]; };
layout(std430, binding = 6) readonly buffer X6 { WEFT_WORD x6[]; };
layout(std430, binding = 7) writeonly buffer Result { WEFT_WORD result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint first; // word of the window of the result
    uint row;   // words
    uint magic;
    uint shift;
    uint begin; // of x0 in a row
    uint end0, end1, end2, end3, end4, end5, end6;
    uint offset; // of x0's first word in its window, modulo 2^32
    uint window; // words of x0
    uint fill;
} push;

layout(constant_id = 0) const uint FILL = 0;

#define PART(k, from, to) result[i] = x##k[outer * (push.to - push.from) + (column - push.from)]

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint outer = weft_quotient(push.first + i, push.magic, push.shift);
    uint column = push.first + i - outer * push.row;
    if (column < push.begin || column >= push.end6) {
        if (FILL != 0) {
            result[i] = WEFT_WORD(push.fill);
        }
    } else if (column < push.end0) {
        uint place = outer * (push.end0 - push.begin) + (column - push.begin) + push.offset;
        if (place < push.window) {
            result[i] = x0[place];
        }
    } else if (column < push.end1) {
        PART(1, end0, end1);
    } else if (column < push.end2) {
        PART(2, end1, end2);
    } else if (column < push.end3) {
        PART(3, end2, end3);
    } else if (column < push.end4) {
        PART(4, end3, end4);
    } else if (column < push.end5) {
        PART(5, end4, end5);
    } else {
        PART(6, end5, end6);
    }
}

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The words of x under other strides, one behind the other: permutations, slices, broadcasting. The
// item's coordinates are those of up to eight axes, the innermost 0; an axis of 1 costs nothing to
// leave out, so there are steps of it for short lists. x and result may be windows of larger tensors:
// what is outside x's window is left alone.
//
// With BY_ROWS workgroups lie in rows of the innermost axis, which begin result_row apart, and x and result are whole.
//
// form strided
// form strided_four WEFT_FOUR

#include "divide.glsl"
#include "fours.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { WEFT_WORD x[]; };
layout(std430, binding = 1) writeonly buffer Result { WEFT_WORD result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint first; // item of the window of the result; with BY_ROWS the first that is written
    uint axes;  // with an extent
    uint extent0, extent1, extent2, extent3, extent4, extent5, extent6;
    uint magic0, magic1, magic2, magic3, magic4, magic5, magic6;
    uint shifts, shift6;
    uint stride0, stride1, stride2, stride3, stride4, stride5, stride6;
    uint outer_stride; // of the axis that is left
    uint offset;       // of the first element in x's window: modulo 2^32, as all places
    uint window;       // words of x
    uint result_row;   // with BY_ROWS
} push;

layout(constant_id = 0) const uint BY_ROWS = 0;
layout(constant_id = 1) const uint DENSE = 0; // with BY_ROWS: stride0 is 1

// Takes the coordinate along an axis off `rest`, and gives its words.
uint weft_axis(inout uint rest, uint extent, uint magic, uint shift, uint stride)
{
    uint quotient = weft_quotient(rest, magic, shift);
    uint coordinate = rest - quotient * extent;
    rest = quotient;
    return coordinate * stride;
}

#define AXIS(k) weft_axis(rest, push.extent##k, push.magic##k, weft_shift_of(push.shifts, k), push.stride##k)

// The words of the axes but the innermost, in front of which `rest` is.
uint place_of_row(uint rest)
{
    uint place = push.offset;
    if (push.axes > 1u) {
        place += AXIS(1);
        place += AXIS(2);
    }
    if (push.axes > 3u) {
        place += AXIS(3);
        place += AXIS(4);
    }
    if (push.axes > 5u) {
        place += AXIS(5);
        place += weft_axis(rest, push.extent6, push.magic6, push.shift6, push.stride6);
    }
    return place + rest * push.outer_stride;
}

void copy_by_rows()
{
    uvec2 own = weft_row_item(push.groups_x, push.extent0);
    uint place = place_of_row(own.y); // before lanes part
    if (own.x < push.extent0 && own.y * push.extent0 < push.count) {
        uint at = push.first + own.y * push.result_row + own.x;
        if (DENSE != 0) {
            result[at] = x[place + own.x];
        } else {
            result[at] = x[place + own.x * push.stride0];
        }
    }
}

void copy_items()
{
    uint i = weft_item_index(push.groups_x);
    if (i < push.count) {
        uint rest = push.first + i;
        uint column = AXIS(0);
        uint place = place_of_row(rest) + column;
        if (place < push.window) {
            result[i] = x[place];
        }
    }
}

void main()
{
    if (BY_ROWS != 0) {
        copy_by_rows();
    } else {
        copy_items();
    }
}

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest element of each window of x [planes, height, width], or their mean: an invocation has a window, and takes its
// elements row by row.

#include "divide.glsl"
#include "index.glsl"
#include "math.glsl"
#include "partial.glsl"
#include "windows.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const uint IS_AVERAGE = 0;
layout(constant_id = 1) const uint COUNTS_PADDING = 0; // as elements of the mean
layout(constant_id = 2) const uint BY_ROWS = 0;        // workgroups lie in rows of windows
layout(constant_id = 3) const uint STRIDE_X = 0;       // stride_x where it is small: processors load what windows of all lanes read at once

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint height;
    uint width;
    uint window_height;
    uint window_width;
    uint rows; // of windows
    uint columns;
    uint stride_y;
    uint stride_x;
    uint dilation_y;
    uint dilation_x;
    uint before_y;
    uint before_x;
    uint padded_height; // before, height and after
    uint padded_width;
    WEFT_INVERSE(rows)
    WEFT_INVERSE(columns)
} push;

// Whether no window of the workgroup's row reads elements in front of x's line or behind it: asked once for all lanes.
bool is_inside()
{
    uint first = weft_row_place(push.groups_x, push.columns).x;
    uint last = min(first + WEFT_ITEMS_PER_GROUP, push.columns) - 1u;
    uint end = last * push.stride_x + (push.window_width - 1u) * push.dilation_x - push.before_x;
    return BY_ROWS != 0 && first * push.stride_x >= push.before_x && end < push.width;
}

void take(inout uint largest, inout float sum, inout uint elements, float value)
{
    largest = max(largest, weft_order_key(value));
    sum = sum + value;
    elements += COUNTS_PADDING != 0 ? 0 : 1;
}

void main()
{
    uint i;
    uvec2 own;
    if (BY_ROWS != 0) {
        own = weft_row_item(push.groups_x, push.columns);
        i = own.y * push.columns + own.x;
    } else {
        i = weft_item_index(push.groups_x);
        own = uvec2(WEFT_REMAINDER(i, columns), WEFT_QUOTIENT(i, columns));
    }
    uint start;
    if (STRIDE_X != 0) { // before lanes part
        start = own.x * STRIDE_X;
    } else {
        start = own.x * push.stride_x;
    }
    if (own.x >= push.columns || i >= push.count) {
        return;
    }
    uint row = WEFT_REMAINDER(own.y, rows);
    uint plane = WEFT_QUOTIENT(own.y, rows) * push.height;
    uint largest = weft_order_key(uintBitsToFloat(0xff800000u)); // -inf
    float sum = 0.0;
    uint elements = 0;
    bool inside = is_inside();
    for (uint window_y = 0; window_y < push.window_height; window_y++) {
        uint y = weft_window_place(row, push.stride_y, window_y, push.dilation_y, push.before_y);
        uint line = (plane + y) * push.width;
        for (uint window_x = 0; window_x < push.window_width; window_x++) {
            uint at = start + window_x * push.dilation_x - push.before_x;
            bool is_padded = y + push.before_y < push.padded_height && at + push.before_x < push.padded_width;
            elements += COUNTS_PADDING != 0 && is_padded ? 1 : 0;
            if (inside) {
                if (y < push.height) {
                    take(largest, sum, elements, x[line + at]);
                }
            } else if (y < push.height && at < push.width) {
                take(largest, sum, elements, x[line + at]);
            }
        }
    }
    float mean = weft_div(sum, float(max(elements, 1)));
    result[i] = weft_flush(IS_AVERAGE != 0 ? mean : weft_from_order_key(largest));
}

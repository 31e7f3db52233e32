#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// The largest element of each window of x [planes, height, width], or their mean: an invocation has a window, and takes its
// elements row by row.

#include "index.glsl"
#include "math.glsl"
#include "partial.glsl"
#include "windows.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const uint IS_AVERAGE = 0;
layout(constant_id = 1) const uint COUNTS_PADDING = 0; // as elements of the mean

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
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint column = i % push.columns;
    uint row = i / push.columns % push.rows;
    uint plane = i / push.columns / push.rows * push.height;
    uint largest = weft_order_key(uintBitsToFloat(0xff800000u)); // -inf
    float sum = 0.0;
    uint elements = 0;
    for (uint window_y = 0; window_y < push.window_height; window_y++) {
        uint y = weft_window_place(row, push.stride_y, window_y, push.dilation_y, push.before_y);
        for (uint window_x = 0; window_x < push.window_width; window_x++) {
            uint at = weft_window_place(column, push.stride_x, window_x, push.dilation_x, push.before_x);
            bool is_padded = y + push.before_y < push.padded_height && at + push.before_x < push.padded_width;
            elements += COUNTS_PADDING != 0 && is_padded ? 1 : 0;
            if (y < push.height && at < push.width) {
                float value = x[(plane + y) * push.width + at];
                largest = max(largest, weft_order_key(value));
                sum = sum + value;
                elements += COUNTS_PADDING != 0 ? 0 : 1;
            }
        }
    }
    float mean = weft_div(sum, float(max(elements, 1)));
    result[i] = weft_flush(IS_AVERAGE != 0 ? mean : weft_from_order_key(largest));
}

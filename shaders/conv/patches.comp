#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Windows of a convolution as columns of a matrix: [batch, channels, window height, window width, windows] of x
// [batch, channels, height, width], from window `first` on, zeros in the padding. With AS_ROWS each is a row: [batch, windows, channels,
// window height, window width]. Words, as they are.

#include "index.glsl"
#include "windows.glsl"

layout(constant_id = 0) const uint AS_ROWS = 0;

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 1) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint height;
    uint width;
    uint window_height;
    uint window_width;
    uint windows; // in all planes the same
    uint first;
    uint columns; // of all windows
    uint stride_y;
    uint stride_x;
    uint dilation_y;
    uint dilation_x;
    uint before_y;
    uint before_x;
    uint terms; // with AS_ROWS: elements of a window
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint window;
    uint element;
    if (AS_ROWS != 0) {
        uint place = i / push.terms;
        window = push.first + place % push.windows;
        element = place / push.windows * push.terms + i % push.terms;
    } else {
        window = push.first + i % push.windows;
        element = i / push.windows;
    }
    uint column = window % push.columns;
    uint row = window / push.columns;
    uint window_x = element % push.window_width;
    uint window_y = element / push.window_width % push.window_height;
    uint plane = element / push.window_width / push.window_height;
    uint y = weft_window_place(row, push.stride_y, window_y, push.dilation_y, push.before_y);
    uint at = weft_window_place(column, push.stride_x, window_x, push.dilation_x, push.before_x);
    bool is_inside = y < push.height && at < push.width;
    result[i] = is_inside ? x[(plane * push.height + y) * push.width + at] : 0;
}

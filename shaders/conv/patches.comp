#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Windows of a convolution as columns of a matrix: [batch, channels, window height, window width, windows] of x
// [batch, channels, height, width], from window `first` on, zeros in the padding. With AS_ROWS each is a row: [batch, windows, channels,
// window height, window width]. Words, as they are.

#include "divide.glsl"
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
    WEFT_INVERSE(windows)
    WEFT_INVERSE(columns)
    WEFT_INVERSE(window_height)
    WEFT_INVERSE(window_width)
    WEFT_INVERSE(terms)
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
        uint place = WEFT_QUOTIENT(i, terms);
        window = push.first + WEFT_REMAINDER(place, windows);
        element = WEFT_QUOTIENT(place, windows) * push.terms + WEFT_REMAINDER(i, terms);
    } else {
        window = push.first + WEFT_REMAINDER(i, windows);
        element = WEFT_QUOTIENT(i, windows);
    }
    uint column = WEFT_REMAINDER(window, columns);
    uint row = WEFT_QUOTIENT(window, columns);
    uint line = WEFT_QUOTIENT(element, window_width);
    uint window_x = WEFT_REMAINDER(element, window_width);
    uint window_y = WEFT_REMAINDER(line, window_height);
    uint plane = WEFT_QUOTIENT(line, window_height);
    uint y = weft_window_place(row, push.stride_y, window_y, push.dilation_y, push.before_y);
    uint at = weft_window_place(column, push.stride_x, window_x, push.dilation_x, push.before_x);
    bool is_inside = y < push.height && at < push.width;
    result[i] = is_inside ? x[(plane * push.height + y) * push.width + at] : 0;
}

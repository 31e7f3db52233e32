#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A convolution without its windows in memory. An invocation has COLUMNS_EACH windows of a tile, OUTPUTS channels of the result, which
// share what is read of x and of the weight; a workgroup 16 columns, or twice as many, of eight lines. All tiles of a row of windows are
// lines that follow each other, as they read the same of x. On processors the columns are the lanes.
// Terms are added as products add them (matmul.glsl): in the order of a window's elements, zeros of the padding included, in
// sums of 64.

#include "finish.glsl"
#include "index.glsl"
#include "multiply_add.glsl"
#include "windows.glsl"

layout(constant_id = 2) const uint OUTPUTS = 1; // of an invocation
layout(constant_id = 3) const uint STRIDE_X = 0; // stride_x on processors, where it is small: they load what windows of all lanes read at once
layout(constant_id = 4) const uint COLUMNS_EACH = 1; // of an invocation: 1 or 2, which are FIXED_COLUMNS apart
layout(constant_id = 64) const uint FIXED_COLUMNS = 16; // of a workgroup's invocations
layout(constant_id = 65) const uint FIXED_ROWS = 8;

layout(local_size_x = 16, local_size_y = 8) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint pairs;    // of a batch and a group
    uint groups;   // of channels
    uint channels; // of x, in a group
    uint outputs;  // channels of the result, in a group
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
} push;

const uint CHUNK = 64; // WEFT_CHUNK

// Element `at` of a line of x, zero outside; `inside`: it is there if the line is, for all lanes.
float value_of(uint line_of_x, uint at, uint width, bool inside)
{
    float value = 0.0;
    if (inside) {
        if (width != 0) {
            value = x[line_of_x + at];
        }
    } else if (at < width) {
        value = x[line_of_x + at];
    }
    return value;
}

// Whether no window of a workgroup's columns, of which `first` is the first, reads in front of a line or behind it: asked once for all.
bool is_inside(uint first)
{
    uint last = first + FIXED_COLUMNS * COLUMNS_EACH - 1;
    uint end = last * push.stride_x + (push.window_width - 1) * push.dilation_x - push.before_x;
    return STRIDE_X != 0 && first * push.stride_x >= push.before_x && end < push.width;
}

void main()
{
    uint blocks = (push.columns - 1) / (FIXED_COLUMNS * COLUMNS_EACH) + 1;
    uint tiles = (push.outputs - 1) / OUTPUTS + 1;
    uint group = weft_group_index(push.groups_x);
    uint line = group / blocks * FIXED_ROWS + gl_LocalInvocationID.y; // tile of a row of a pair
    uint column = group % blocks * (FIXED_COLUMNS * COLUMNS_EACH) + gl_LocalInvocationID.x;
    uint tile = line % tiles;
    uint row = line / tiles % push.rows;
    uint pair = line / tiles / push.rows;
    if (pair >= push.pairs) {
        return;
    }
    uint k = push.channels * push.window_height * push.window_width;
    uint first = tile * OUTPUTS;
    uint first_output = pair % push.groups * push.outputs;

    // Channels past the last one are that one again; their sums are not stored.
    uint weights[OUTPUTS];
    vec2 total[OUTPUTS]; // of the second column only where an invocation has one
    vec2 sum[OUTPUTS];
    for (uint o = 0; o < OUTPUTS; o++) {
        weights[o] = (first_output + min(first + o, push.outputs - 1)) * k;
        total[o] = vec2(0.0);
        sum[o] = vec2(0.0);
    }
    uint plane = pair * push.channels * push.height;
    uint start;
    if (STRIDE_X != 0) {
        start = column * STRIDE_X - push.before_x;
    } else {
        start = column * push.stride_x - push.before_x;
    }
    uint next = FIXED_COLUMNS * push.stride_x;
    bool inside = is_inside(group % blocks * (FIXED_COLUMNS * COLUMNS_EACH));
    uint term = 0;
    for (uint channel = 0; channel < push.channels; channel++) {
        for (uint window_y = 0; window_y < push.window_height; window_y++) {
            uint y = weft_window_place(row, push.stride_y, window_y, push.dilation_y, push.before_y);
            uint line_of_x = (plane + y) * push.width;
            uint width = y < push.height ? push.width : 0;
            for (uint window_x = 0; window_x < push.window_width; window_x++) {
                uint at = start + window_x * push.dilation_x;
                float value = value_of(line_of_x, at, width, inside);
                float second = 0.0;
                if (COLUMNS_EACH == 2) {
                    second = value_of(line_of_x, at + next, width, inside);
                }
                for (uint o = 0; o < OUTPUTS; o++) {
                    float factor = weight[weights[o] + term];
                    sum[o].x = weft_multiply_add(factor, value, sum[o].x);
                    if (COLUMNS_EACH == 2) {
                        sum[o].y = weft_multiply_add(factor, second, sum[o].y);
                    }
                }
                term++;
                if (term % CHUNK == 0) {
                    for (uint o = 0; o < OUTPUTS; o++) {
                        total[o] = total[o] + sum[o];
                        sum[o] = vec2(0.0);
                    }
                }
            }
        }
        plane += push.height;
    }
    for (uint o = 0; o < OUTPUTS; o++) {
        uint output_channel = first + o;
        uint at = ((pair * push.outputs + output_channel) * push.rows + row) * push.columns + column;
        if (output_channel < push.outputs) {
            float bias_value = HAS_BIAS != 0 ? bias[first_output + output_channel] : 0.0;
            if (column < push.columns) {
                result[at] = weft_conv_finish(total[o].x + sum[o].x, bias_value);
            }
            if (COLUMNS_EACH == 2 && column + FIXED_COLUMNS < push.columns) {
                result[at + FIXED_COLUMNS] = weft_conv_finish(total[o].y + sum[o].y, bias_value);
            }
        }
    }
}

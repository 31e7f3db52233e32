#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A depthwise convolution for processors: each channel of the result is made of one of x. A workgroup copies the lines of x that some rows
// of windows read to shared memory, with zeros around them, and then has no edges: an invocation makes four places of a line of places,
// QUARTER apart. Of windows a stride of one apart all rows of a workgroup are one such line, as in flat.comp, of others each row is one.
// Terms are added as products add them (matmul.glsl): in the order of a window's elements, zeros of the padding included, in sums of 64.

#include "divide.glsl"
#include "finish.glsl"
#include "index.glsl"
#include "multiply_add.glsl"

layout(constant_id = 2) const uint STRIDE_X = 1; // 1 to 4: processors load what so many words lie apart at once
layout(constant_id = 3) const uint WINDOW_Y = 0; // height and width of small windows, whose loops are then none; 0: the push constants'
layout(constant_id = 4) const uint WINDOW_X = 0;
layout(constant_id = 5) const uint ONE_LINE = 1; // of all rows
layout(constant_id = 64) const uint FIXED_COLUMNS = 64; // COLUMNS
layout(constant_id = 65) const uint FIXED_WORDS = 8192; // MOST_WORDS

#define COLUMNS    64
#define QUARTER    (COLUMNS / 4)
#define MOST_WORDS 8192

layout(local_size_x = 16) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups; // workgroups
    uint groups_x;
    uint bands;    // of rows of windows, a workgroup's each
    uint band;     // rows of one
    uint channels; // of the result
    uint outputs;  // of them of each channel of x
    uint height;
    uint width;
    uint window_height;
    uint window_width;
    uint rows; // of windows
    uint columns;
    uint stride_y;
    uint dilation_y;
    uint dilation_x;
    uint before_y;
    uint before_x;
    uint pitch; // of a line with its zeros
    WEFT_INVERSE(pitch)
} push;

shared float lines[MOST_WORDS];

const uint CHUNK = 64; // WEFT_CHUNK

// Lines of x from `first` on, which may lie outside; its plane is `plane`.
void copy_lines(uint plane, uint first, uint count)
{
    for (uint line = 0; line < count; line++) {
        uint y = first + line;
        uint width = y < push.height ? push.width : 0;
        uint from = (plane * push.height + y) * push.width;
        for (uint begin = 0; begin < push.pitch; begin += gl_WorkGroupSize.x) {
            uint base = begin - push.before_x;
            uint at = base + gl_LocalInvocationID.x;
            float value = 0.0;
            if (base < width && base + gl_WorkGroupSize.x <= width) {
                value = x[from + at];
            } else if (at < width) {
                value = x[from + at];
            }
            if (begin + gl_LocalInvocationID.x < push.pitch) {
                lines[line * push.pitch + begin + gl_LocalInvocationID.x] = value;
            }
        }
    }
}

// The sums of four places, of which the first reads `lines` from `at` on.
vec4 sum_of(uint at, uint weights)
{
    uint window_height = WINDOW_Y != 0 ? WINDOW_Y : push.window_height;
    uint window_width = WINDOW_X != 0 ? WINDOW_X : push.window_width;
    vec4 total = vec4(0.0);
    vec4 sum = vec4(0.0);
    uint term = 0;
    for (uint window_y = 0; window_y < window_height; window_y++) {
        uint line = at + window_y * push.dilation_y * push.pitch;
        for (uint window_x = 0; window_x < window_width; window_x++) {
            uint place = line + window_x * push.dilation_x + gl_LocalInvocationID.x * STRIDE_X;
            vec4 values = vec4(lines[place], lines[place + QUARTER * STRIDE_X], lines[place + 2 * QUARTER * STRIDE_X],
                               lines[place + 3 * QUARTER * STRIDE_X]);
            sum = weft_multiply_add(weight[weights + term], values, sum);
            term++;
            if (term % CHUNK == 0) {
                total = total + sum;
                sum = vec4(0.0);
            }
        }
    }
    return total + sum;
}

// Stores a quarter of places, the first of which is `begin` of the line of `row`, or of all rows from there on.
void store_quarter(float made, uint begin, uint row, uint rows, uint plane)
{
    uint place = begin + gl_LocalInvocationID.x;
    uint last = ONE_LINE != 0 ? WEFT_QUOTIENT(begin + QUARTER - 1, pitch) : 0;
    for (uint k = ONE_LINE != 0 ? WEFT_QUOTIENT(begin, pitch) : 0; k <= last; k++) {
        uint start = k * push.pitch;
        uint end = k < rows ? start + push.columns : start;
        uint at = (plane * push.rows + row + k) * push.columns + begin - start;
        if (place >= start && place < end) {
            result[at + gl_LocalInvocationID.x] = made;
        }
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint plane = group / push.bands; // of the result
    uint first = group % push.bands * push.band;
    uint rows = min(push.band, push.rows - first);
    uint window_height = WINDOW_Y != 0 ? WINDOW_Y : push.window_height;
    uint window_width = WINDOW_X != 0 ? WINDOW_X : push.window_width;
    uint count = (rows - 1) * push.stride_y + (window_height - 1) * push.dilation_y + 1;
    copy_lines(plane / push.outputs, first * push.stride_y - push.before_y, count);
    barrier();
    uint channel = plane % push.channels;
    uint weights = channel * window_height * window_width;
    float bias_value = HAS_BIAS != 0 ? bias[channel] : 0.0;
    uint line_count = ONE_LINE != 0 ? 1 : rows;
    uint places = ONE_LINE != 0 ? (rows - 1) * push.pitch + push.columns : push.columns;
    for (uint line = 0; line < line_count; line++) {
        for (uint begin = 0; begin < places; begin += COLUMNS) {
            vec4 sum = sum_of(line * push.stride_y * push.pitch + begin * STRIDE_X, weights);
            for (uint j = 0; j < 4; j++) {
                store_quarter(weft_conv_finish(sum[j], bias_value), begin + j * QUARTER, first + line,
                              ONE_LINE != 0 ? rows : 1, plane);
            }
        }
    }
}

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// W^T x: each inducing point adds up the stretch of the sequence that is interpolated from it. A
// workgroup makes 4 FOURS channels of one point and one FIXED_SEGMENT of its stretch: the weights of BLOCK
// positions at a time go to shared memory, eight invocations take every eighth of them, and a tree
// adds what they have.

#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

#define FOURS 16 // of channels
#define STRANDS 8
#define BLOCK (FOURS * STRANDS)

layout(constant_id = 0) const uint DEGREE = 1;
layout(constant_id = 1) const uint VECTOR = 0; // d is a multiple of four
layout(constant_id = 64) const uint FIXED_SEGMENT = 1024; // positions: a multiple of BLOCK

layout(local_size_x = FOURS, local_size_y = STRANDS) in;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 0) readonly buffer XFours { vec4 x4[]; };
layout(std430, binding = 1) readonly buffer Stretches { uvec2 stretches[]; }; // first, and behind the last
layout(std430, binding = 2) writeonly buffer Result { float result[]; }; // [B, r, segments, d]

layout(push_constant) uniform Push
{
    uint groups;
    uint d;
    uint groups_x;
    uint n;
    uint points;
    uint segments;
    float inverse_span;
} push;

#include "channels.glsl"
#include "points.glsl"

WEFT_SKI_LOADER(load_x, x, x4)
WEFT_SKI_STORER(store, result)

shared float weights[BLOCK];
shared vec4 totals[STRANDS][FOURS];

float weight_of(uint position, uint point)
{
    weft_ski_place place = weft_ski_place_of(position, push.points, push.n - 1);
    uint first = weft_ski_first(place.point, push.points);
    vec4 row = weft_ski_weights(place, first, push.inverse_span);
    uint column = point - first;
    return column == 0 ? row.x : column == 1 ? row.y : column == 2 ? row.z : row.w;
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    uint channel_blocks = (push.d - 1) / (4 * FOURS) + 1;
    uint row = group / channel_blocks; // of the result
    uint segment = row % push.segments;
    uint point = row / push.segments % push.points;
    uint sequence = row / push.segments / push.points * push.n;
    uint lane = gl_LocalInvocationIndex;
    uint strand = gl_LocalInvocationID.y;
    uint channel = (group % channel_blocks * FOURS + gl_LocalInvocationID.x) * 4;
    uint begin = stretches[point].x + segment * FIXED_SEGMENT;
    uint end = min(begin + FIXED_SEGMENT, stretches[point].y);

    vec4 total = vec4(0.0);
    for (uint block = begin; block < end; block += BLOCK) {
        if (block + lane < end) {
            weights[lane] = weight_of(block + lane, point);
        }
        barrier();
        vec4 sum = vec4(0.0);
        if (channel < push.d) {
            uint count = min(end - block, BLOCK);
            for (uint i = strand; i < count; i += STRANDS) {
                sum = weft_multiply_add(weights[i], load_x(sequence + block + i, channel), sum);
            }
        }
        total = total + sum;
        barrier();
    }
    totals[strand][gl_LocalInvocationID.x] = total;
    barrier();
    for (uint width = STRANDS / 2; width > 0; width /= 2) {
        if (strand < width) {
            totals[strand][gl_LocalInvocationID.x] = totals[strand][gl_LocalInvocationID.x] +
                                                     totals[strand + width][gl_LocalInvocationID.x];
        }
        barrier();
    }
    if (strand == 0 && channel < push.d) {
        store(row, channel, totals[0][gl_LocalInvocationID.x]);
    }
}

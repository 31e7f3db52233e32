// SPDX-License-Identifier: MIT
//
// Real convolutions of 8192 elements as complex ones of 4096 = 64 x 64 points, on processors, in the order of the kernels that
// VkFFT 1.3.4 makes for that length: transforms of 64 points, each of two stages of radix 8, twiddle factors between, and 64
// points again. Channels lie along the lanes, 16 of them in a workgroup, so that the rest is the same for all lanes.
//
// `twiddles` is exp(-2πi k / 8192). The including file defines INVERSE, whose twiddle factors are the conjugates.

#ifndef WEFT_CONVOLUTION_RADIX8_GLSL
#define WEFT_CONVOLUTION_RADIX8_GLSL

#include "complex.glsl"
#include "index.glsl"

#define SIDE 64 // points of a transform
#define CHANNELS 16

layout(local_size_x = CHANNELS, local_size_y = 8) in;

// exp(-2πi k / 8192), or its conjugate.
vec2 root(uint k, bool inverse)
{
    vec2 w = twiddles[k];
    return inverse ? vec2(w.x, -w.y) : w;
}

// A quarter of a turn, and an eighth.
vec2 turn(vec2 w, bool inverse)
{
    return inverse ? vec2(-w.y, w.x) : vec2(w.y, -w.x);
}

vec2 half_turn(vec2 w, bool inverse)
{
    float x = w.x * 0.707106781f;
    float y = w.y * 0.707106781f;
    return inverse ? vec2(x - y, x + y) : vec2(x + y, y - x);
}

void pair(inout vec2 a, inout vec2 b, vec2 w)
{
    vec2 turned = weft_complex_multiply(b, w);
    b = a - turned;
    a = a + turned;
}

// Eight points of a stage, which leaves them in bit-reversed order.
void radix8(inout vec2 t[8], vec2 w1, vec2 w2, vec2 w3, bool inverse)
{
    pair(t[0], t[4], w1);
    pair(t[1], t[5], w1);
    pair(t[2], t[6], w1);
    pair(t[3], t[7], w1);
    vec2 w = turn(w2, inverse);
    pair(t[0], t[2], w2);
    pair(t[1], t[3], w2);
    pair(t[4], t[6], w);
    pair(t[5], t[7], w);
    w = half_turn(w3, inverse);
    pair(t[0], t[1], w3);
    pair(t[2], t[3], turn(w3, inverse));
    pair(t[4], t[5], w);
    pair(t[6], t[7], turn(w, inverse));
}

// The first stage's factors are 1, by which VkFFT multiplies, too: infinities become NaN.
void first_stage(inout vec2 t[8], bool inverse)
{
    const vec2 one = vec2(1.0, 0.0);
    radix8(t, one, one, one, inverse);
}

void second_stage(inout vec2 t[8], uint y, bool inverse)
{
    radix8(t, root(512 * y, inverse), root(256 * y, inverse), root(128 * y, inverse), inverse);
}

// ---- points in shared memory ----

shared float real[POINTS * CHANNELS];
shared float imaginary[POINTS * CHANNELS];

vec2 get(uint point)
{
    uint at = point * CHANNELS + gl_LocalInvocationID.x;
    return vec2(real[at], imaginary[at]);
}

void set(uint point, vec2 value)
{
    uint at = point * CHANNELS + gl_LocalInvocationID.x;
    real[at] = value.x;
    imaginary[at] = value.y;
}

// What the first stage makes of its y-th eight points, for the second.
void put_first(uint base, uint y, vec2 t[8])
{
    uint at = base + 8 * y;
    set(at, t[0]);
    set(at + 1, t[4]);
    set(at + 2, t[2]);
    set(at + 3, t[6]);
    set(at + 4, t[1]);
    set(at + 5, t[5]);
    set(at + 6, t[3]);
    set(at + 7, t[7]);
}

void get_second(out vec2 t[8], uint base, uint y)
{
    for (uint j = 0; j < 8; j++) {
        t[j] = get(base + y + 8 * j);
    }
}

// In the order of the transform's frequencies y + 8 j.
void reorder(inout vec2 t[8])
{
    vec2 point = t[1];
    t[1] = t[4];
    t[4] = point;
    point = t[3];
    t[3] = t[6];
    t[6] = point;
}

// ---- points in memory: [B, 4096, 2, d] ----

uint place(uint sequence, uint point, uint channel)
{
    return ((sequence * (SIDE * SIDE) + point) * 2) * push.channels + channel;
}

#endif

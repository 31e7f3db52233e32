#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What convolution/shared.comp wants, of half spectra K that are divided by the length 2 M of their
// kernels: the transforms of even and odd elements are (K(k) ± K(k + M))/2, the odd ones' with the
// delay by one element undone.

#include "complex.glsl"
#include "index.glsl"
#include "math.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint LOG_HALF = 2; // M = 1 << LOG_HALF

layout(std430, binding = 0) readonly buffer Spectrum { vec2 spectrum[]; }; // [d, M + 1]
layout(std430, binding = 1) readonly buffer Twiddles { vec2 twiddles[]; };       // of 2 M points
layout(std430, binding = 2) writeonly buffer Kernel { vec4 kernel[]; };    // [d, M/2]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint points = 1u << LOG_HALF;
    uint m = i & (points / 2 - 1);
    uint base = (i >> (LOG_HALF - 1)) * (points + 1);
    vec4 value;
    if (m == 0) { // frequencies 0 and M/2, whose transforms are real, without the halves
        float first = spectrum[base].x;
        float last = spectrum[base + points].x;
        vec2 middle = spectrum[base + points / 2];
        value = vec4(first + last, first - last, middle.x + middle.x, -(middle.y + middle.y));
    } else {
        uint size = 1u << findMSB(m);
        uint frequency = bitfieldReverse(m + size) >> (32 - LOG_HALF);
        vec2 a = spectrum[base + frequency];
        vec2 b = spectrum[base + points - frequency]; // the conjugate of K(k + M)
        vec2 even = vec2(a.x + b.x, a.y - b.y) * 0.5;
        vec2 odd = vec2(a.x - b.x, a.y + b.y) * 0.5;
        vec2 twiddle = twiddles[frequency];
        value = vec4(even, weft_conjugate_multiply(twiddle, odd));
    }
    kernel[i] = vec4(weft_flush(value.x), weft_flush(value.y), weft_flush(value.z),
                     weft_flush(value.w));
}

// SPDX-License-Identifier: MIT
//
// What shared.comp and shared_lanes.comp share: their fields, and the product with the kernel.

#ifndef WEFT_CONVOLUTION_SHARED_GLSL
#define WEFT_CONVOLUTION_SHARED_GLSL

#include "math.glsl"
#include "positive_zero.glsl"
#include "shared_fft.glsl"

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Kernel { vec4 kernel[]; }; // [d, WEFT_FFT_LENGTH/2]: e, o
layout(std430, binding = 2) readonly buffer Twiddles { vec2 twiddles[]; };
layout(std430, binding = 3) writeonly buffer Y { float y[]; };

layout(push_constant) uniform Push
{
    uint groups_x;
    uint batch;
    uint sequence_length;
    uint channels;
} push;

vec2 weft_twiddle(uint k)
{
    return twiddles[k];
}

// Of pair m of frequencies, row `row`: times the channel's kernel, which holds what the length and
// the sums of conjugates without their halves ask for.
void multiply(uint channel, uint row, uint m)
{
    vec4 k = kernel[min(channel, push.channels - 1) * (WEFT_FFT_LENGTH / 2) + m];
    uvec2 at = (weft_fft_pair(m) << WEFT_FFT_LOG_ROWS) + row;
    vec2 a = WEFT_POINT(at.x);
    vec2 b = WEFT_POINT(at.y);
    if (m == 0) { // frequencies 0 and length/2: all is real, w is 1 and -1
        weft_put_point(at.x, vec2(fma(k.x, a.x, k.y * a.y), fma(k.x, a.y, k.y * a.x)));
        weft_put_point(at.y, weft_complex_multiply(k.zw, b));
        return;
    }
    vec2 even = vec2(a.x + b.x, a.y - b.y);
    vec2 odd = vec2(a.y + b.y, b.x - a.x);
    vec2 delayed = weft_complex_multiply(odd, twiddles[weft_fft_frequency(m)]);
    vec2 e = weft_complex_multiply(k.xy, even) + weft_complex_multiply(k.zw, delayed);
    vec2 o = weft_complex_multiply(k.zw, even) + weft_complex_multiply(k.xy, odd);
    weft_put_point(at.x, vec2(e.x - o.y, e.y + o.x));
    weft_put_point(at.y, vec2(e.x + o.y, o.x - e.y));
}

#endif

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Even kernels made causal, in place: lag 0 stays, the positive lags up to N/2 double, the negative
// ones become 0. The transform of that has the real part it had before, and its discrete Hilbert
// transform as the imaginary part. All times scale.

#include "divide.glsl"
#include "index.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(std430, binding = 0) buffer Kernel { float kernel[]; }; // [d, length]

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint kernel_length;
    float scale;
    WEFT_INVERSE(kernel_length)
} push;

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint lag = WEFT_REMAINDER(i, kernel_length);
    float factor = lag == 0 ? push.scale : push.scale + push.scale;
    kernel[i] = lag > push.kernel_length / 2 ? 0.0 : kernel[i] * factor;
}

// SPDX-License-Identifier: MIT
//
// What becomes of a convolution's sum: the same operations, in the same order, as those of a bias and an activation of their own.

#ifndef WEFT_CONV_FINISH_GLSL
#define WEFT_CONV_FINISH_GLSL

#include "activation.glsl"

layout(constant_id = 0) const int ACTIVATION = WEFT_ACTIVATION_NONE;
layout(constant_id = 1) const uint HAS_BIAS = 0;

float weft_conv_finish(float sum, float bias_value)
{
    float value = weft_flush(sum);
    if (HAS_BIAS != 0) {
        value = weft_flush(value + bias_value);
    }
    return weft_activate(ACTIVATION, value);
}

#endif

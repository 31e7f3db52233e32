// SPDX-License-Identifier: MIT
//
// The fused epilogue of matrix products. Who includes this has the constants ACTIVATION, HAS_BIAS and HAS_RESIDUAL, and push.alpha.

#ifndef WEFT_INCLUDE_MATMUL_FINISH_GLSL
#define WEFT_INCLUDE_MATMUL_FINISH_GLSL

#include "activation.glsl"

// What is stored, of a sum and what its place has of bias and residual.
float weft_finish(float sum, float bias_value, float residual_value)
{
    float value = push.alpha * sum;
    if (HAS_BIAS != 0) {
        value = value + bias_value;
    }
    if (ACTIVATION != WEFT_ACTIVATION_NONE) {
        value = weft_activate(ACTIVATION, value);
    }
    if (HAS_RESIDUAL != 0) {
        value = value + residual_value;
    }
    return weft_flush(value);
}

#endif

// SPDX-License-Identifier: MIT
//
// The four operators of arithmetic. KIND: one of the first four of weft_binary.

#ifndef WEFT_INCLUDE_CALCULATE_GLSL
#define WEFT_INCLUDE_CALCULATE_GLSL

#include "math.glsl"
#include "numbers.glsl"

float weft_calculate(uint kind, float p, float q)
{
    switch (kind) {
    case WEFT_BINARY_ADD:
        return p + q;
    case WEFT_BINARY_SUBTRACT:
        return p - q;
    case WEFT_BINARY_MULTIPLY:
        return p * q;
    default: // WEFT_BINARY_DIVIDE
        return weft_div(p, q);
    }
}

#endif

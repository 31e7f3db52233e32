#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// a ∘ b with NumPy's broadcasting. KIND: a weft_binary. INTEGER: of i32, else of f32.

#include "broadcast.glsl"
#include "calculate.glsl"
#include "compare.glsl"
#include "integer.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;
layout(constant_id = 0) const uint KIND = 0;
layout(constant_id = 1) const bool INTEGER = false;

layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) readonly buffer B { uint b[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    WEFT_BROADCAST_PUSH
    uint a_has;
    uint b_has;
} push;

#if WEFT_BINARY_COUNT != 21
#error "a weft_binary has no case here"
#endif

WEFT_PLACES

float of_floats(float p, float q)
{
    switch (KIND) {
    case WEFT_BINARY_MINIMUM:
        return weft_smaller(p, q);
    case WEFT_BINARY_MAXIMUM:
        return weft_larger(p, q);
    case WEFT_BINARY_POWER:
        return weft_pow(p, q);
    case WEFT_BINARY_MODULO:
        return weft_modulo(p, q);
    case WEFT_BINARY_FLOOR_DIVIDE:
        return weft_floor_divide(p, q);
    default:
        return weft_calculate(KIND, p, q);
    }
}

// Whole numbers in the order of the operands.
uint key_of(uint word)
{
    return INTEGER ? word ^ 0x80000000u : weft_value_key(uintBitsToFloat(word));
}

uint compared(uint p, uint q)
{
    switch (KIND) {
    case WEFT_BINARY_EQUAL:
        return uint(p == q);
    case WEFT_BINARY_NOT_EQUAL:
        return uint(p != q);
    case WEFT_BINARY_LESS:
        return uint(p < q);
    case WEFT_BINARY_LESS_EQUAL:
        return uint(p <= q);
    case WEFT_BINARY_GREATER:
        return uint(p > q);
    default: // WEFT_BINARY_GREATER_EQUAL
        return uint(p >= q);
    }
}

uint apply(uint p, uint q)
{
    if (KIND >= WEFT_BINARY_EQUAL && KIND <= WEFT_BINARY_GREATER_EQUAL) {
        if (!INTEGER && (weft_is_nan(p) || weft_is_nan(q))) {
            return uint(KIND == WEFT_BINARY_NOT_EQUAL);
        }
        return compared(key_of(p), key_of(q));
    }
    return INTEGER ? weft_integer(KIND, p, q)
                   : floatBitsToUint(weft_flush(of_floats(uintBitsToFloat(p), uintBitsToFloat(q))));
}

void main()
{
    uint i;
    uvec3 at;
    if (weft_places(i, at, uvec3(push.a_has, push.b_has, 0u))) {
        result[i] = apply(a[at.x], b[at.y]);
    }
}

// SPDX-License-Identifier: MIT
//
// Operators of i32, as words: they wrap around, and what divides by 0 is 0.

#ifndef WEFT_INCLUDE_INTEGER_GLSL
#define WEFT_INCLUDE_INTEGER_GLSL

#include "numbers.glsl"

uint weft_integer_size(uint p)
{
    return int(p) < 0 ? 0u - p : p;
}

uint weft_integer_signed(uint size, bool negative)
{
    return negative ? 0u - size : size;
}

// p / q towards zero, or where `down`, towards -infinity.
uint weft_integer_divide(uint p, uint q, bool down)
{
    bool negative = int(p ^ q) < 0;
    uint divisor = q == 0u ? 1u : weft_integer_size(q);
    uint size = weft_integer_size(p);
    uint quotient = size / divisor;
    quotient += uint(down && negative && quotient * divisor != size);
    return q == 0u ? 0u : weft_integer_signed(quotient, negative);
}

// p^q by squares; of a negative q its reciprocal, cut to a whole number.
uint weft_integer_power(uint p, uint q)
{
    uint power = 1u;
    uint square = p;
    for (uint rest = q; rest != 0u && int(q) > 0; rest >>= 1) {
        power *= (rest & 1u) != 0u ? square : 1u;
        square *= square;
    }
    uint inverse = p == 1u ? 1u : p == 0xffffffffu ? 1u - 2u * (q & 1u) : 0u;
    return int(q) < 0 ? inverse : power;
}

// Of the kinds of weft_binary that are no comparison.
uint weft_integer(uint kind, uint p, uint q)
{
    switch (kind) {
    case WEFT_BINARY_ADD:
        return p + q;
    case WEFT_BINARY_SUBTRACT:
        return p - q;
    case WEFT_BINARY_MULTIPLY:
        return p * q;
    case WEFT_BINARY_DIVIDE:
        return weft_integer_divide(p, q, false);
    case WEFT_BINARY_MINIMUM:
        return uint(min(int(p), int(q)));
    case WEFT_BINARY_MAXIMUM:
        return uint(max(int(p), int(q)));
    case WEFT_BINARY_POWER:
        return weft_integer_power(p, q);
    case WEFT_BINARY_MODULO:
        return q == 0u ? 0u : p - q * weft_integer_divide(p, q, true);
    case WEFT_BINARY_FLOOR_DIVIDE:
        return weft_integer_divide(p, q, true);
    case WEFT_BINARY_LOGICAL_AND:
        return uint(p != 0u && q != 0u);
    case WEFT_BINARY_LOGICAL_OR:
        return uint(p != 0u || q != 0u);
    case WEFT_BINARY_LOGICAL_XOR:
        return uint((p != 0u) != (q != 0u));
    case WEFT_BINARY_BITWISE_AND:
        return p & q;
    case WEFT_BINARY_BITWISE_OR:
        return p | q;
    default: // WEFT_BINARY_BITWISE_XOR
        return p ^ q;
    }
}

#endif

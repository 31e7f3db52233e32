// SPDX-License-Identifier: MIT
//
// Division of an index by a number that the host knows (lower/divisor.h): a product and a shift, which
// cost less than a division and are a whole vector on processors.

#ifndef WEFT_INCLUDE_DIVIDE_GLSL
#define WEFT_INCLUDE_DIVIDE_GLSL

// floor(n / divisor) for n < 2^31.
uint weft_quotient(uint n, uint magic, uint shift)
{
    uint high, low;
    umulExtended(2u * n, magic, high, low);
    return high >> shift;
}

// In push constants: what divides by another one of them, as the host's WEFT_INVERSE says.
#define WEFT_INVERSE(name)                                                                       \
    uint name##_magic;                                                                           \
    uint name##_shift;

// floor(n / push.name), and what remains, for n < 2^31.
#define WEFT_QUOTIENT(n, name) weft_quotient(n, push.name##_magic, push.name##_shift)
#define WEFT_REMAINDER(n, name) ((n) - WEFT_QUOTIENT(n, name) * push.name)

// The shift of the divisor with this number, of the six of a word.
uint weft_shift_of(uint shifts, uint number)
{
    return (shifts >> (5u * number)) & 31u;
}

#endif

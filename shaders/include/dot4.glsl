// SPDX-License-Identifier: MIT
//
// Sums of products of signed bytes, four in a word: exact integers, which have the same bits in every order and by every instruction.

#ifndef WEFT_INCLUDE_DOT4_GLSL
#define WEFT_INCLUDE_DOT4_GLSL

int weft_byte(uint word, uint index)
{
    return int(word << (24u - 8u * index)) >> 24;
}

// sum + a.x b.x + a.y b.y + a.z b.z + a.w b.w, modulo 2^32.
int weft_dot4(uint a, uint b, int sum)
{
    return sum + weft_byte(a, 0u) * weft_byte(b, 0u) + weft_byte(a, 1u) * weft_byte(b, 1u) +
           weft_byte(a, 2u) * weft_byte(b, 2u) + weft_byte(a, 3u) * weft_byte(b, 3u);
}

#endif

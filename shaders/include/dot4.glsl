// SPDX-License-Identifier: MIT
//
// Sums of products of bytes, four in a word: exact integers, which have the same bits in every order and by every instruction. Devices without
// SPV_KHR_integer_dot_product get shifts, products and sums in its place when a module is loaded (runtime/spirv/passes/plain_dots.c).

#ifndef WEFT_INCLUDE_DOT4_GLSL
#define WEFT_INCLUDE_DOT4_GLSL

#extension GL_EXT_spirv_intrinsics : require

// OpSDot and OpSUDot of PackedVectorFormat4x8Bit (0), for which the capabilities are DotProductInput4x8BitPacked and DotProduct.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int weft_packed_dot(uint a, uint b, spirv_literal uint format);
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4452)
int weft_packed_mixed_dot(uint a, uint b, spirv_literal uint format);

// sum + a.x b.x + a.y b.y + a.z b.z + a.w b.w, modulo 2^32, of signed bytes.
int weft_dot4(uint a, uint b, int sum)
{
    return sum + weft_packed_dot(a, b, 0u);
}

// The same of signed bytes of a and unsigned ones of b: one instruction on processors with VNNI, which have none for weft_dot4. Of signed
// bytes b, weft_dot4_mixed(a, weft_bias4(b), sum) is 128 (a.x + a.y + a.z + a.w) more than weft_dot4(a, b, sum).
int weft_dot4_mixed(uint a, uint b, int sum)
{
    return sum + weft_packed_mixed_dot(a, b, 0u);
}

// Bytes 0 and 2, or 1 and 3, of a word as unsigned halves of one.
uint weft_even4(uint word)
{
    return word & 0x00ff00ffu;
}

uint weft_odd4(uint word)
{
    return word >> 8 & 0x00ff00ffu;
}

// sum + a.x b.x + a.y b.y of signed halves, modulo 2^32: one instruction and a sum on processors that have none for bytes.
int weft_dot2(uint a, uint b, int sum)
{
    return sum + (int(a << 16) >> 16) * (int(b << 16) >> 16) + (int(a) >> 16) * (int(b) >> 16);
}

// 128 more than each signed byte, as unsigned bytes.
uint weft_bias4(uint b)
{
    return b ^ 0x80808080u;
}

#endif

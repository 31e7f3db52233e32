// SPDX-License-Identifier: MIT
//
// What the kernels of linear attention and of fast weights share. Features are [batch, n, heads, features],
// values [batch, n, heads, values]. The sequence is cut into chunks; an invocation makes a tile of
// WEFT_TILE_ROWS × 4 elements, where the including file does not say otherwise 8 × 4. Sums add at most
// WEFT_TERMS products into a partial sum and then the partial sums, so that rounding errors grow with the
// square root of both numbers (as in matmul.glsl).

#ifndef WEFT_INCLUDE_LINEAR_ATTENTION_GLSL
#define WEFT_INCLUDE_LINEAR_ATTENTION_GLSL

#include "math.glsl"
#include "multiply_add.glsl"

#ifndef WEFT_TILE_ROWS
#define WEFT_TILE_ROWS 8
#endif
#define WEFT_TERMS 64
#define WEFT_CHUNK 64 // tokens in a chunk of a causal sequence

// For the host.
layout(constant_id = 64) const uint WEFT_FIXED_ROWS = WEFT_TILE_ROWS;
layout(constant_id = 65) const uint WEFT_FIXED_CHUNK = WEFT_CHUNK;

#endif

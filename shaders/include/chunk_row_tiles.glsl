// SPDX-License-Identifier: MIT
//
// Rows of a chunk's tokens for the tiles of chunk_tiles.glsl. The including file has push constants `uint n, heads, features`,
// VECTOR_FEATURES (whole, aligned fours in every row), and says where the rows are, [batch, n, heads, features]:
//
//   float weft_query(uint index);    vec4 weft_query_four(uint index);   the latter where VECTOR_FEATURES

#ifndef WEFT_INCLUDE_CHUNK_ROW_TILES_GLSL
#define WEFT_INCLUDE_CHUNK_ROW_TILES_GLSL

#include "chunk_tiles.glsl"

// A token's row among [batch, n, heads]; tokens past the end are the last one again.
uint weft_token_row(uint first_row, uint token)
{
    return first_row + min(token, push.n - 1) * push.heads;
}

// Four features from f on of a row that begins at `base`; zeros behind the last.
vec4 weft_query_features(uint base, uint f)
{
    vec4 x = vec4(-0.0); // chunk_tiles.glsl
    if (VECTOR_FEATURES != 0) {
        if (f < push.features) {
            x = weft_query_four(base + f);
        }
        return x;
    }
    [[unroll]] for (uint j = 0; j < 4; j++) {
        if (f + j < push.features) {
            x[j] = weft_query(base + f + j);
        }
    }
    return x;
}

#endif

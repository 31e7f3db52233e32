// SPDX-License-Identifier: MIT
//
// Features of queries as lanes_tile.glsl wants them: those of four tokens. The including file has push constants `uint n,
// heads, features` (instance name `push`) and says where they are, [batch, n, heads, features]:
//
//   float weft_query(uint index);

#ifndef WEFT_INCLUDE_LANES_QUERIES_GLSL
#define WEFT_INCLUDE_LANES_QUERIES_GLSL

// A token's row among [batch, n, heads]; tokens past the end are the last one again.
uint weft_token_row(uint first_row, uint token)
{
    return first_row + min(token, push.n - 1) * push.heads;
}

uvec4 weft_token_rows(uint first_row, uint token)
{
    return first_row + min(token + uvec4(0, 1, 2, 3), uvec4(push.n - 1)) * push.heads;
}

// An element of four queries.
vec4 weft_queries(uvec4 query, uint f)
{
    return vec4(weft_query(query.x + f), weft_query(query.y + f), weft_query(query.z + f),
                weft_query(query.w + f));
}

#endif

// SPDX-License-Identifier: MIT
//
// Features of queries as lanes_tile.glsl wants them: those of four tokens. The including file has push constants `uint n,
// heads, features` (instance name `push`) and says where they are, [batch, n, heads, features]:
//
//   float weft_query(uint index);    vec4 weft_query_four(uint index);

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

// Four of each, those of f + i in column i.
mat4 weft_queries_four(uvec4 query, uint f)
{
    vec4 a = weft_query_four(query.x + f);
    vec4 b = weft_query_four(query.y + f);
    vec4 c = weft_query_four(query.z + f);
    vec4 d = weft_query_four(query.w + f);
    return mat4(vec4(a.x, b.x, c.x, d.x), vec4(a.y, b.y, c.y, d.y), vec4(a.z, b.z, c.z, d.z),
                vec4(a.w, b.w, c.w, d.w));
}

#endif

// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of toeplitz_attention/direct.comp are given. Where one has no use for a constant, it does not read it.

layout(constant_id = 0) const uint CAUSAL = 0;
layout(constant_id = 1) const uint VECTOR_FEATURES = 0; // whole, aligned fours in every row
layout(constant_id = 2) const uint VECTOR_VALUES = 0;
layout(constant_id = 72) const uint FIXED_QUERIES = 64;
layout(constant_id = 73) const uint FIXED_COLUMNS = 64;

layout(std430, binding = 0) readonly buffer Queries { float queries[]; };
layout(std430, binding = 0) readonly buffer QueriesVector { vec4 queries4[]; };
layout(std430, binding = 1) readonly buffer Keys { float keys[]; };
layout(std430, binding = 1) readonly buffer KeysVector { vec4 keys4[]; };
layout(std430, binding = 2) readonly buffer Values { float values[]; };
layout(std430, binding = 2) readonly buffer ValuesVector { vec4 values4[]; };
layout(std430, binding = 3) readonly buffer Weights { float weights[]; }; // [heads, lags]
layout(std430, binding = 4) writeonly buffer Result { float result[]; };
#ifdef WEFT_TILED
layout(std430, binding = 4) writeonly buffer ResultVector { vec4 result4[]; };
#endif

layout(push_constant) uniform Push
{
    uint groups; // blocks of rows of all heads, times column blocks
    uint n;
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint column_blocks;
    uint lags; // of a head
    uint zero; // the number of lag 0 among them
    uint rows; // queries that are made, the first of n
    float epsilon; // least magnitude of a denominator
} push;

// A token's row among [batch, n, heads]; tokens past the end are the last one again.
uint token_row(uint first_row, uint token)
{
    return first_row + min(token, push.n - 1) * push.heads;
}

// SPDX-License-Identifier: MIT
//
// What the kernels that do the work of linear_attention/apply.comp are given. Where one has no use for a constant, it does not read it.

layout(constant_id = 0) const uint CAUSAL = 0;
layout(constant_id = 1) const uint NORMALIZE = 0;
layout(constant_id = 2) const uint ACCUMULATE = 0; // add to the result
layout(constant_id = 3) const uint VECTOR_FEATURES = 0; // whole, aligned fours in every row
layout(constant_id = 4) const uint VECTOR_VALUES = 0;
layout(constant_id = 5) const uint HAS_STATE = 0; // there is a chunk before the last one
#ifndef WEFT_LANES
layout(constant_id = 66) const uint FIXED_COLUMNS = 64;
#endif

layout(std430, binding = 0) readonly buffer Queries { float queries[]; };
layout(std430, binding = 0) readonly buffer QueriesVector { vec4 queries4[]; };
layout(std430, binding = 1) readonly buffer Keys { float keys[]; };
#ifndef WEFT_LANES
layout(std430, binding = 1) readonly buffer KeysVector { vec4 keys4[]; };
#endif
layout(std430, binding = 2) readonly buffer Values { float values[]; };
#ifndef WEFT_LANES
layout(std430, binding = 2) readonly buffer ValuesVector { vec4 values4[]; };
#endif
layout(std430, binding = 3) readonly buffer State { float state[]; };
#ifndef WEFT_LANES
layout(std430, binding = 3) readonly buffer StateVector { vec4 state4[]; };
#endif
layout(std430, binding = 4) buffer Result { float result[]; };
#ifdef WEFT_TILED
layout(std430, binding = 4) buffer ResultVector { vec4 result4[]; };
#endif

layout(push_constant) uniform Push
{
    uint groups; // chunks of queries of all heads, times column blocks
    uint n; // queries
    uint groups_x;
    uint heads;
    uint features;
    uint values;
    uint state_chunks; // states of a head in memory
    uint column_blocks;
    float epsilon; // least magnitude of a denominator
    float weight; // factor on the result
} push;

float weft_query(uint index)
{
    return queries[index];
}

#if defined(WEFT_TILED)
vec4 weft_query_four(uint index)
{
    return queries4[index / 4];
}
#elif !defined(WEFT_LANES)
vec4 weft_query_four(uint index)
{
    if (VECTOR_FEATURES != 0) {
        return queries4[index / 4];
    }
    return vec4(queries[index], queries[index + 1], queries[index + 2], queries[index + 3]);
}
#endif

float weft_key(uint index)
{
    return keys[index];
}

#if defined(WEFT_TILED)
vec4 weft_key_four(uint index)
{
    return keys4[index / 4];
}
#elif !defined(WEFT_LANES)
vec4 weft_key_four(uint index)
{
    if (VECTOR_FEATURES != 0) {
        return keys4[index / 4];
    }
    return vec4(keys[index], keys[index + 1], keys[index + 2], keys[index + 3]);
}
#endif

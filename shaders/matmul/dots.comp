#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Matrix products for processors whose results have few elements each, or one row or column, so that no column of b serves many rows:
// a workgroup is one subgroup, each of whose lanes has an element of one of the batches' results. What a lane multiplies lies
// side by side in memory; it comes through shared memory, so that both reading it and adding up are done by whole vectors.

#include "matmul.glsl"

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 64) const uint FIXED_GROUPS_X = 65535;

layout(local_size_x_id = 17) in;

const uint FOURS = WEFT_CHUNK / 4;

// Of each lane, the terms of a chunk, and where they come from.
shared vec4 terms_of_a[16][FOURS + 1]; // the padding spreads lanes over the cache
shared vec4 terms_of_b[16][FOURS + 1];
shared uint places_in_a[16];
shared uint places_in_b[16];

bool is_fours(uint stride)
{
    return stride % 4 == 0;
}

// Whether b's elements along k are contiguous, and all fours aligned.
bool has_b_in_fours()
{
    return HALF_B == 0 && push.b_row == 1 && is_fours(push.k) && (push.n == 1 || is_fours(push.b_column)) &&
           is_fours(push.b_outer) && is_fours(push.b_inner);
}

// Four terms from step k on, of which those past the end are any.
vec4 four_of_a(uint place, uint k)
{
    uvec4 steps = min(k + uvec4(0, 1, 2, 3), uvec4(push.k - 1));
    uvec4 at = place + steps * push.a_column;
    return vec4(weft_a(at.x), weft_a(at.y), weft_a(at.z), weft_a(at.w));
}

vec4 four_of_b(uint place, uint k)
{
    uvec4 steps = min(k + uvec4(0, 1, 2, 3), uvec4(push.k - 1));
    uvec4 at = place + steps * push.b_row;
    return vec4(weft_b(at.x), weft_b(at.y), weft_b(at.z), weft_b(at.w));
}

// Brings the terms of all lanes from step `begin` on, `fours` of four.
void bring_terms(uint begin, uint fours, bool b_in_fours)
{
    for (uint lane = 0; lane < TILE_LANES; lane++) {
        uint a_place = places_in_a[lane];
        uint b_place = places_in_b[lane];
        for (uint first = 0; first < fours; first += TILE_LANES) {
            uint four = first + gl_LocalInvocationIndex;
            if (four < fours) {
                terms_of_a[lane][four] = VECTOR_A != 0 ? weft_a_four_at((a_place + begin) / 4 + four)
                                                       : four_of_a(a_place, begin + 4 * four);
                if (b_in_fours) {
                    terms_of_b[lane][four] = weft_b_four_at((b_place + begin) / 4 + four);
                } else {
                    terms_of_b[lane][four] = four_of_b(b_place, begin + 4 * four);
                }
            }
        }
    }
}

void main()
{
    uint first = (gl_WorkGroupID.y * FIXED_GROUPS_X + gl_WorkGroupID.x) * TILE_LANES;
    uint of_each = push.m * push.n;
    uint count = push.batches * of_each;
    if (first >= count) {
        return;
    }
    uint item = first + gl_LocalInvocationIndex;
    uint own = min(item, count - 1);
    uint z = own / of_each;
    uint row = own % of_each / push.n;
    uint column = own % push.n;
    uint outer = z / push.inner;
    uint inner = z % push.inner;
    places_in_a[gl_LocalInvocationIndex] = outer * push.a_outer + inner * push.a_inner + row * push.a_row;
    places_in_b[gl_LocalInvocationIndex] = outer * push.b_outer + inner * push.b_inner + column * push.b_column;
    barrier();
    bool b_in_fours = has_b_in_fours();
    float total = 0.0;
    for (uint begin = 0; begin < push.k; begin += WEFT_CHUNK) {
        uint depth = min(WEFT_CHUNK, push.k - begin);
        bring_terms(begin, (depth + 3) / 4, b_in_fours);
        barrier();
        float sum = 0.0;
        for (uint four = 0; four < depth / 4; four++) {
            vec4 p = terms_of_a[gl_LocalInvocationIndex][four];
            vec4 q = terms_of_b[gl_LocalInvocationIndex][four];
            sum = weft_multiply_add(p.x, q.x, sum);
            sum = weft_multiply_add(p.y, q.y, sum);
            sum = weft_multiply_add(p.z, q.z, sum);
            sum = weft_multiply_add(p.w, q.w, sum);
        }
        if (depth % 4 != 0) {
            vec4 p = terms_of_a[gl_LocalInvocationIndex][depth / 4];
            vec4 q = terms_of_b[gl_LocalInvocationIndex][depth / 4];
            sum = weft_multiply_add(p.x, q.x, sum);
            sum = depth % 4 > 1 ? weft_multiply_add(p.y, q.y, sum) : sum;
            sum = depth % 4 > 2 ? weft_multiply_add(p.z, q.z, sum) : sum;
        }
        total = total + sum;
        barrier();
    }
    if (item < count) {
        weft_store(outer * push.c_outer + inner * push.c_inner, row, column, total);
    }
}

// SPDX-License-Identifier: MIT
//
// q · state for four rows of queries. The including file has what lanes_queries.glsl asks for, a push constant `uint
// values`, and a buffer `float state[]`.

#ifndef WEFT_INCLUDE_LANES_STATE_GLSL
#define WEFT_INCLUDE_LANES_STATE_GLSL

#include "lanes_queries.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

// The state is [features, values] from `base` on, the queries' features are from `query` on.
weft_lanes_tile weft_read_state(uint base, uvec4 query, uint column, bool two)
{
    weft_lanes_tile total = weft_lanes_zero();
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        uint at = base + block * push.values + column;
        weft_lanes_tile sum = weft_lanes_zero();
        for (uint f = block; f < end; f++) {
            weft_lanes_step(sum, weft_queries(query, f), state[at], two ? state[at + TILE_LANES] : 0.0,
                            two);
            at += push.values;
        }
        total = weft_lanes_add(total, sum);
    }
    return total;
}

// The same of four columns.
weft_lanes_pair weft_read_states(uint base, uvec4 query, uint column)
{
    weft_lanes_pair total = weft_lanes_zeros();
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        uint at = base + block * push.values + column;
        weft_lanes_pair sum = weft_lanes_zeros();
        for (uint f = block; f < end; f++) {
            weft_lanes_steps(sum, weft_queries(query, f),
                             vec4(state[at], state[at + TILE_LANES], state[at + 2 * TILE_LANES],
                                  state[at + 3 * TILE_LANES]));
            at += push.values;
        }
        total = weft_lanes_sums(total, sum);
    }
    return total;
}

#endif

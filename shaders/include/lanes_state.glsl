// SPDX-License-Identifier: MIT
//
// q · state for four rows of queries. The including file has what lanes_queries.glsl asks for, a push constant `uint
// values`, and a buffer `float state[]`.

#ifndef WEFT_INCLUDE_LANES_STATE_GLSL
#define WEFT_INCLUDE_LANES_STATE_GLSL

#include "lanes_queries.glsl"
#include "lanes_tile.glsl"
#include "linear_attention.glsl"

void weft_add_state(inout weft_lanes_tile sum, uint at, vec4 rows, bool two)
{
    weft_lanes_step(sum, rows, state[at], two ? state[at + TILE_LANES] : 0.0, two);
}

// The state is [features, values] from `base` on, the queries' features are from `query` on.
weft_lanes_tile weft_read_state(uint base, uvec4 query, uint column, bool two)
{
    weft_lanes_tile total = weft_lanes_zero();
    for (uint block = 0; block < push.features; block += WEFT_TERMS) {
        uint end = min(block + WEFT_TERMS, push.features);
        uint whole = block + (end - block) / 4 * 4;
        weft_lanes_tile sum = weft_lanes_zero();
        for (uint f = block; f < whole; f += 4) {
            mat4 rows = weft_queries_four(query, f);
            uint at = base + f * push.values + column;
            weft_add_state(sum, at, rows[0], two);
            weft_add_state(sum, at + push.values, rows[1], two);
            weft_add_state(sum, at + 2 * push.values, rows[2], two);
            weft_add_state(sum, at + 3 * push.values, rows[3], two);
        }
        for (uint f = whole; f < end; f++) {
            weft_add_state(sum, base + f * push.values + column, weft_queries(query, f), two);
        }
        total = weft_lanes_add(total, sum);
    }
    return total;
}

#endif

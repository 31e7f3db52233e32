// SPDX-License-Identifier: MIT
//
// The state of the delta rule between tokens, [batch, stride], of which a head has at weft_state_base:
//
//   S          [features, values], the state at the chunk's start
//   G, N       [features, features] and [features, values]: the sums over the chunk so far that
//              fast_weight/scan calls by these names, as linear_attention/state adds them up
//   K, W       [WEFT_CHUNK, features], of the chunk's tokens, as fast_weight/solve makes W
//   U0, U      [WEFT_CHUNK, values], U0 as fast_weight/solve makes it, U as fast_weight/update does
//
// The including file has push constants `uint heads, features, values, stride`.

#ifndef WEFT_INCLUDE_FAST_WEIGHT_STATE_GLSL
#define WEFT_INCLUDE_FAST_WEIGHT_STATE_GLSL

#include "linear_attention.glsl"

struct weft_rule_state
{
    uint s, g, n;
    uint k, w, u0, u;
};

// Of a head of all batches.
weft_rule_state weft_state_of(uint head)
{
    uint products = push.features * push.values;
    uint squares = push.features * push.features;
    uint size = 2 * products + squares + 2 * WEFT_CHUNK * (push.features + push.values);
    weft_rule_state at;
    at.s = head / push.heads * push.stride + head % push.heads * size;
    at.g = at.s + products;
    at.n = at.g + squares;
    at.k = at.n + products;
    at.w = at.k + WEFT_CHUNK * push.features;
    at.u0 = at.w + WEFT_CHUNK * push.features;
    at.u = at.u0 + WEFT_CHUNK * push.values;
    return at;
}

#endif

// SPDX-License-Identifier: MIT
//
// The state of linear attention between tokens, [batch, stride], of which a head has at
// weft_state_base, with `sums` = features (values + 1) elements laid out as linear_attention/state's:
//
//   0             the sums over the chunk so far, as linear_attention/state adds them up
//   sums          those before the chunk, as linear_attention/scan gives them
//   2 sums        4 arrays that those are made of: ones, sixteens, blocks, large of weft_partial
//   6 sums        the features of the chunk's keys, [WEFT_CHUNK, features]
//   behind them   their values, [WEFT_CHUNK, values]
//
// The including file has push constants `uint heads, features, values, stride, offset`.

#ifndef WEFT_INCLUDE_LINEAR_ATTENTION_STATE_GLSL
#define WEFT_INCLUDE_LINEAR_ATTENTION_STATE_GLSL

#include "linear_attention.glsl"

#define WEFT_STATE_SUMS 6 // arrays of `sums` elements
layout(constant_id = 67) const uint WEFT_FIXED_STATE_SUMS = WEFT_STATE_SUMS;

uint weft_state_sums()
{
    return push.features * (push.values + 1);
}

// Of a head of all batches.
uint weft_state_base(uint head)
{
    uint size = WEFT_STATE_SUMS * weft_state_sums() + WEFT_CHUNK * (push.features + push.values);
    return head / push.heads * push.stride + push.offset + head % push.heads * size;
}

uint weft_state_keys(uint base)
{
    return base + WEFT_STATE_SUMS * weft_state_sums();
}

uint weft_state_values(uint base)
{
    return weft_state_keys(base) + WEFT_CHUNK * push.features;
}

#endif

// SPDX-License-Identifier: MIT
//
// The end of a chunk in the state of linear attention (linear_attention_state.glsl): its sums go to those before it, in the
// order of linear_attention/scan. The including file has the buffer `state`.

#ifndef WEFT_INCLUDE_LINEAR_ATTENTION_CHUNK_GLSL
#define WEFT_INCLUDE_LINEAR_ATTENTION_CHUNK_GLSL

#include "linear_attention_state.glsl"
#include "reduce.glsl"

#ifdef WEFT_MATH_FAST

weft_partial load_partial(uint index, uint sums, uint count)
{
    return weft_partial(state[index]);
}

void store_partial(uint index, uint sums, weft_partial partial)
{
    state[index] = partial.sum;
}

#else

weft_partial load_partial(uint index, uint sums, uint count)
{
    return weft_partial(state[index], state[index + sums], state[index + 2 * sums],
                        state[index + 3 * sums], count);
}

void store_partial(uint index, uint sums, weft_partial partial)
{
    state[index] = weft_flush(partial.ones);
    state[index + sums] = weft_flush(partial.sixteens);
    state[index + 2 * sums] = weft_flush(partial.blocks);
    state[index + 3 * sums] = weft_flush(partial.large);
}

#endif

// The chunk that has ended becomes one of those before.
void weft_start_chunk(uint base, uint element, uint sums, uint chunk)
{
    weft_partial partial = weft_partial_zero();
    if (chunk > 0) {
        partial = load_partial(base + 2 * sums + element, sums, chunk - 1);
        partial = weft_partial_add(partial, weft_flush(0.0 + state[base + element]));
    }
    store_partial(base + 2 * sums + element, sums, partial);
    state[base + sums + element] = weft_flush(weft_partial_sum(partial));
}

#endif

// SPDX-License-Identifier: MIT
//
// Chunks of the tokens of x [batch, tokens, heads, width]: a row is one of a sequence and head. The including
// file has push constants `uint width, heads, tokens, chunks`.

#ifndef WEFT_INCLUDE_TOKEN_CHUNKS_GLSL
#define WEFT_INCLUDE_TOKEN_CHUNKS_GLSL

#define WEFT_CHUNK_TOKENS 256
layout(constant_id = 64) const uint WEFT_FIXED_CHUNK = WEFT_CHUNK_TOKENS; // for the host

// Channel c of token i, first ≤ i < last, is x[base + i * step + c].
struct weft_token_chunk
{
    uint first, last;
    uint base, step;
};

weft_token_chunk weft_token_chunk_of(uint row)
{
    uint sequence = row / push.chunks;
    weft_token_chunk chunk;
    chunk.first = row % push.chunks * WEFT_CHUNK_TOKENS;
    chunk.last = min(chunk.first + WEFT_CHUNK_TOKENS, push.tokens);
    chunk.step = push.heads * push.width;
    chunk.base = sequence / push.heads * push.tokens * chunk.step +
                 sequence % push.heads * push.width;
    return chunk;
}

#endif

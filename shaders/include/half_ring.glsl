// SPDX-License-Identifier: MIT
//
// The rings of banded_attention's state where keys and values are f16: of each sequence those of the keys of all heads, then those of
// the values, in words of two elements. A ring has a multiple of WEFT_HALF_TILE rows, so that the keys of a chunk are always the same
// tile's; a row has `pairs` words, of which the last has a
// zero where the width is odd.
//
//   keys    [tiles, pairs, WEFT_HALF_TILE]: of channels 2 pair and 2 pair + 1, so that a word of many keys is one load
//   values  [rows, pairs]: of channels pair and pairs + pair
//
// runtime/model/texts/state_rows.c has the same for files. The including file has k and v, from which words are made.

#ifndef WEFT_INCLUDE_HALF_RING_GLSL
#define WEFT_INCLUDE_HALF_RING_GLSL

#include "half.glsl"

#define WEFT_HALF_TILE 16 // keys: WEFT_KEYS of band_chunks.glsl

uint weft_half_rows(uint before)
{
    return (before / WEFT_HALF_TILE + 1) * WEFT_HALF_TILE;
}

uint weft_half_pairs(uint width)
{
    return (width + 1) / 2;
}

// Where the first word of a row's key is in its ring.
uint weft_half_key(uint row, uint width)
{
    return row / WEFT_HALF_TILE * WEFT_HALF_TILE * weft_half_pairs(width) + row % WEFT_HALF_TILE;
}

// A word of the key and of the value that begin at this element of k and v.
uint weft_key_word(uint own, uint pair, uint width)
{
    uint next = own + 2 * pair + 1;
    return weft_f16_pair_of(k[next - 1], next < own + width ? k[next] : 0.0);
}

uint weft_value_word(uint own, uint pair, uint width)
{
    uint other = own + weft_half_pairs(width) + pair;
    return weft_f16_pair_of(v[own + pair], other < own + width ? v[other] : 0.0);
}

#endif

// SPDX-License-Identifier: MIT
//
// Bands and the chunks of keys that they meet: band.glsl says what for.

#ifndef WEFT_INCLUDE_BAND_CHUNKS_GLSL
#define WEFT_INCLUDE_BAND_CHUNKS_GLSL

#include "math.glsl"
#include "multiply_add.glsl"

#define WEFT_KEYS 16 // of a chunk, the first at a multiple of it

// The keys begin … end - 1.
struct weft_band
{
    uint begin;
    uint end;
};

bool weft_band_has(weft_band band, uint key)
{
    return key >= band.begin && key < band.end;
}

// Whether a chunk, given by its first key, has keys of the band; and whether it is the first or the
// last one that does.
bool weft_band_meets(weft_band band, uint chunk)
{
    return band.begin < chunk + WEFT_KEYS && band.end > chunk;
}

bool weft_band_starts(weft_band band, uint chunk)
{
    return band.begin >= chunk;
}

bool weft_band_ends(weft_band band, uint chunk)
{
    return band.end <= chunk + WEFT_KEYS;
}

// What is subtracted from the scores: their maximum, but not -inf from -inf.
float weft_band_shift(float largest)
{
    return floatBitsToUint(largest) == 0xff800000u ? 0.0 : largest;
}

// The largest power of two that is at most 1 / keys, of at least one.
float weft_unit_of_keys(uint keys)
{
    uint exponent = uint(findMSB(2 * keys - 1));
    return uintBitsToFloat((127 - exponent) << 23);
}

// By the keys that are there, so that a causal result depends on no later token, not even on whether there is one.
float weft_causal_unit(weft_band band)
{
    return weft_unit_of_keys(band.end - band.begin);
}

// What weights are divided by: their sum, and the weight of a sink, whose value is 0. `shift` is that of the weights, `unit` their factor.
float weft_band_total(float total, float sink, float shift, float unit)
{
    return weft_multiply_add(unit, weft_exp(sink - shift), total);
}

#endif

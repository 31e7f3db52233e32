#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Reductions of x [outer, extent, inner] to [outer, blocks, inner], each of `block` elements at most, which an invocation goes
// through in order. KIND: SUM, MAX, MIN or PRODUCT of weft_reduction. INTEGER: of i32, else of f32.
// form columns
// form columns_lanes WEFT_LANES
// form columns_fours WEFT_FOURS
//
// With lengths, passes over one another's results have the order of each sequence alone: what is at most FIXED_AT_ONCE elements is
// gone through at once, by the invocation of the first block, and what is one result already is copied.

#include "columns.glsl"
#include "compare.glsl"
#include "numbers.glsl"

layout(constant_id = 0) const uint KIND = WEFT_REDUCTION_SUM;
layout(constant_id = 1) const bool INTEGER = false;
layout(constant_id = 2) const uint TERM = WEFT_TERM_ITSELF;
layout(constant_id = 3) const bool HAS_LENGTHS = false;  // only the first lengths · step elements count
layout(constant_id = 4) const bool DIVIDES = false;      // by `divisor`
layout(constant_id = 5) const bool BY_LENGTHS = false;   // by the length, too
layout(constant_id = 64) const uint FIXED_BLOCK = 128;   // for the host
layout(constant_id = 65) const uint FIXED_AT_ONCE = 256; // more elements are cut into blocks

layout(std430, binding = 0) readonly buffer X { uint x[]; };
layout(std430, binding = 0) readonly buffer XFours { uvec4 x4[]; };
layout(std430, binding = 1) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

layout(push_constant) uniform Push
{
    uint count;
    uint groups_x;
    uint extent;
    uint inner;
    uint block;
    uint blocks;
    uint tokens;       // the most that a length may be
    uint step;         // elements of a token
    uint per_sequence; // results of a sequence
    float divisor;
    uint passes; // before this one, over the same axis
} push;

uint length_of(uint sequence)
{
    return uint(clamp(lengths[sequence], 0, int(push.tokens)));
}

// Largest numbers are found by their keys, and smallest ones as largest of -x - 1 or -x.
uint key_of(uint word)
{
    if (INTEGER) {
        return KIND == WEFT_REDUCTION_MIN ? ~word ^ WEFT_BITS_SIGN : word ^ WEFT_BITS_SIGN;
    }
    float value = uintBitsToFloat(word);
    return weft_order_key(KIND == WEFT_REDUCTION_MIN ? weft_negative(value) : value);
}

uint of_key(uint key)
{
    if (INTEGER) {
        return KIND == WEFT_REDUCTION_MIN ? ~(key ^ WEFT_BITS_SIGN) : key ^ WEFT_BITS_SIGN;
    }
    float value = weft_from_order_key(key);
    return floatBitsToUint(KIND == WEFT_REDUCTION_MIN ? weft_negative(value) : value);
}

uint term_of(uint word)
{
    if (INTEGER) {
        return TERM == WEFT_TERM_SQUARE ? word * word : TERM == WEFT_TERM_SIZE && int(word) < 0 ? 0u - word : word;
    }
    float value = uintBitsToFloat(word);
    return TERM == WEFT_TERM_SQUARE ? floatBitsToUint(value * value)
                                    : TERM == WEFT_TERM_SIZE ? word & WEFT_BITS_ABS : word;
}

bool is_largest()
{
    return KIND == WEFT_REDUCTION_MAX || KIND == WEFT_REDUCTION_MIN;
}

uint neutral()
{
    uint one = INTEGER ? 1u : WEFT_BITS_ONE;
    uint least = INTEGER ? 0u : WEFT_LEAST_KEY;
    return KIND == WEFT_REDUCTION_PRODUCT ? one : is_largest() ? least : 0u;
}

uint combined(uint a, uint b)
{
    if (is_largest()) {
        return max(a, b);
    }
    if (INTEGER) {
        return KIND == WEFT_REDUCTION_PRODUCT ? a * b : a + b;
    }
    float p = uintBitsToFloat(a);
    float q = uintBitsToFloat(b);
    return floatBitsToUint(KIND == WEFT_REDUCTION_PRODUCT ? p * q : p + q);
}

uint element_of(uint word)
{
    return is_largest() ? key_of(word) : term_of(word);
}

uint element(uint at)
{
    return element_of(x[at]);
}

// Of elements from `at` on, `inner` apart: sixteen are added to a sum of sixteens, so that fewer rounding errors add up.
void reduced(out uint totals[WEFT_SLOTS], uint slots, uint at, uint count)
{
    WEFT_EACH_SLOT(s, slots) {
        totals[s] = neutral();
    }
    while (count != 0u) {
        uint some = min(count, 16u);
        uint parts[WEFT_SLOTS];
        WEFT_EACH_SLOT(s, slots) {
            parts[s] = neutral();
        }
        for (uint i = 0; i < some; i++) {
            WEFT_EACH_SLOT(s, slots) {
                parts[s] = combined(parts[s], element(at + s * WEFT_BETWEEN));
            }
            at += push.inner;
        }
        WEFT_EACH_SLOT(s, slots) {
            totals[s] = combined(totals[s], parts[s]);
        }
        count -= some;
    }
}

uint finished(uint total, uint item)
{
    total = is_largest() ? of_key(total) : total;
    if (INTEGER) {
        return total;
    }
    float value = uintBitsToFloat(total);
    if (DIVIDES) {
        float divisor = BY_LENGTHS ? push.divisor * float(length_of(item / push.per_sequence)) : push.divisor;
        value = weft_div(value, divisor);
    }
    return floatBitsToUint(weft_flush(value));
}

// How many elements the passes before this one have left of a sequence.
uint left_of(uint sequence)
{
    uint left = length_of(sequence) * push.step;
    for (uint i = 0; i < push.passes; i++) {
        left = left > FIXED_AT_ONCE ? (left - 1) / FIXED_BLOCK + 1 : 1u;
    }
    return left;
}

// Elements of the block from `first` on of a sequence.
uint extent_of_block(uint sequence, uint first)
{
    uint end = min(first + push.block, push.extent);
    if (HAS_LENGTHS) {
        uint left = left_of(sequence);
        if (left <= FIXED_AT_ONCE) {
            end = first == 0 ? left : 0u;
        }
        end = min(end, left);
    }
    return end > first ? end - first : 0u;
}

// A sum that begins with 0 would lose the sign of -0.
bool is_result_already(uint sequence, uint first)
{
    return HAS_LENGTHS && push.passes != 0 && first == 0 && left_of(sequence) == 1;
}

void reduce_columns(uint line, uint column, uint slots)
{
    uint outer = line / push.blocks;
    uint first = line % push.blocks * push.block;
    uint base = outer * push.extent * push.inner + column;
    uint totals[WEFT_SLOTS];
    if (is_result_already(outer, first)) {
        WEFT_EACH_SLOT(s, slots) {
            totals[s] = element(base + s * WEFT_BETWEEN);
        }
    } else {
        reduced(totals, slots, base + first * push.inner, extent_of_block(outer, first));
    }
    uint item = line * push.inner + column;
    WEFT_EACH_SLOT(s, slots) {
        result[item + s * WEFT_BETWEEN] = finished(totals[s], item + s * WEFT_BETWEEN);
    }
}

// Without lengths. The order is that of the other forms.
void reduce_in_fours(uint item, uint first, uint fours)
{
    uint total = neutral();
    for (uint sixteen = 0; sixteen < fours; sixteen += 4) {
        uint part = neutral();
        for (uint i = 0; i < 4; i++) {
            uvec4 words = x4[first + sixteen + i];
            part = combined(part, element_of(words.x));
            part = combined(part, element_of(words.y));
            part = combined(part, element_of(words.z));
            part = combined(part, element_of(words.w));
        }
        total = combined(total, part);
    }
    result[item] = finished(total, item);
}

void main()
{
#ifdef WEFT_FOURS
    WEFT_MAKE_IN_FOURS(reduce_columns, reduce_in_fours, !HAS_LENGTHS)
#else
    WEFT_MAKE_COLUMNS(reduce_columns)
#endif
}

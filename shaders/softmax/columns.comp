#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Softmax, or its logarithm, over the middle axis of x [outer, extent, inner].
// form columns
// form columns_lanes WEFT_LANES

#include "columns.glsl"
#include "largest.glsl"
#include "math.glsl"
#include "partial.glsl"

layout(constant_id = 0) const bool LOGARITHM = false;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // columns
    uint groups_x;
    uint extent;
    uint inner;
} push;

// Processors keep exponentials where the result comes.
#ifdef WEFT_LANES
const bool KEEPS = true;
#else
const bool KEEPS = false;
#endif

void make_columns(uint line, uint column, uint slots)
{
    uint first = line * push.extent * push.inner + column;
    weft_largest notes[WEFT_SLOTS];
    weft_partial parts[WEFT_SLOTS];
    float largest[WEFT_SLOTS];
    float shift[WEFT_SLOTS];
    WEFT_EACH_SLOT(s, slots) {
        notes[s] = weft_largest_of_none();
        parts[s] = weft_partial_zero();
    }
    uint at = first;
    for (uint i = 0; i < push.extent; i++) {
        WEFT_EACH_SLOT(s, slots) {
            weft_note(notes[s], x[at + s * WEFT_BETWEEN]);
        }
        at += push.inner;
    }
    WEFT_EACH_SLOT(s, slots) {
        largest[s] = weft_from_order_key(weft_largest_key(notes[s]));
    }
    at = first;
    for (uint i = 1; i <= push.extent; i++) {
        WEFT_EACH_SLOT(s, slots) {
            float value = weft_exp(x[at + s * WEFT_BETWEEN] - largest[s]);
            if (KEEPS && !LOGARITHM) {
                result[at + s * WEFT_BETWEEN] = value;
            }
            parts[s] = weft_partial_add(parts[s], value, i);
        }
        at += push.inner;
    }
    WEFT_EACH_SLOT(s, slots) {
        float sum = weft_partial_sum(parts[s]);
        shift[s] = LOGARITHM ? weft_log(sum) : weft_rcp(sum);
    }
    at = first;
    for (uint i = 0; i < push.extent; i++) {
        WEFT_EACH_SLOT(s, slots) {
            uint place = at + s * WEFT_BETWEEN;
            float value = KEEPS && !LOGARITHM ? result[place] : x[place] - largest[s];
            if (!LOGARITHM) {
                value = (KEEPS ? value : weft_exp(value)) * shift[s];
            } else {
                value = value - shift[s];
            }
            result[place] = weft_flush(value);
        }
        at += push.inner;
    }
}

void main()
{
    WEFT_MAKE_COLUMNS(make_columns)
}

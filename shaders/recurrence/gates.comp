#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// A step of recurrent cells (weft_cell) whose a = W h + bias another kernel has made: an invocation has a unit of a sequence. It keeps
// what is h behind the step in `hidden`, of which that kernel makes the next a. Before the first step h is the state's.

#include "divide.glsl"
#include "index.glsl"
#include "recurrent_cell.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

layout(constant_id = 0) const uint CELL = 0; // but WEFT_CELL_GRU_RESET_FIRST
layout(constant_id = 1) const uint HAS_STATE = 0;
layout(constant_id = 2) const uint HAS_LENGTHS = 0;
layout(constant_id = 3) const uint BEGINS = 0; // what is before the first step, and no step

layout(std430, binding = 0) readonly buffer Gates { float gates[]; };
layout(std430, binding = 1) readonly buffer Products { float products[]; }; // [sequence, part, unit]
layout(std430, binding = 2) readonly buffer State { float state[]; };
layout(std430, binding = 3) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 4) buffer Hidden { float hidden[]; }; // [sequence, unit]
layout(std430, binding = 5) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint count; // units of all sequences
    uint groups_x;
    uint n;
    uint width; // units
    uint parts; // of the gates: 1, 3 or 4
    uint kept;  // floats that a token has in the state and the result
    uint index; // of the step
    uint reverse;
    WEFT_INVERSE(width)
} push;

float state_of(uint sequence, uint c)
{
    return HAS_STATE != 0 ? weft_flush(state[sequence * push.kept + c]) : 0.0;
}

vec4 parts_of(bool of_x, uint at)
{
    vec4 found = vec4(0.0);
    for (uint k = 0; k < push.parts; k++) {
        uint place = at + k * push.width;
        found[k] = of_x ? gates[place] : products[place];
    }
    return found;
}

void main()
{
    uint i = weft_item_index(push.groups_x);
    if (i >= push.count) {
        return;
    }
    uint sequence = WEFT_QUOTIENT(i, width);
    uint unit = i - sequence * push.width;
    if (BEGINS != 0) {
        hidden[i] = state_of(sequence, unit);
        return;
    }
    uint tokens = HAS_LENGTHS != 0 ? min(uint(lengths[sequence]), push.n) : push.n;
    uint first = sequence * push.n;
    uint at = (first + push.index) * push.kept + unit; // of a token behind the length
    if (push.index >= tokens) {
        result[at] = 0.0;
        if (CELL == WEFT_CELL_LSTM) {
            result[at + push.width] = 0.0;
        }
        return;
    }
    uint row = first + (push.reverse != 0 ? tokens - 1 - push.index : push.index);
    vec4 x = parts_of(true, row * push.parts * push.width + unit);
    vec4 a = parts_of(false, sequence * push.parts * push.width + unit);
    at = row * push.kept + unit;
    float h;
    if (CELL == WEFT_CELL_LSTM) {
        uint last = push.reverse != 0 ? row + 1 : row - 1;
        float c = push.index > 0 ? result[last * push.kept + push.width + unit] : state_of(sequence, push.width + unit);
        vec2 made = weft_lstm_cell(x, a, c);
        result[at + push.width] = made.y;
        h = made.x;
    } else if (CELL == WEFT_CELL_GRU) {
        h = weft_gru_cell(x, a, hidden[i]);
    } else {
        h = weft_simple_cell(CELL, x.x + a.x);
    }
    result[at] = h;
    hidden[i] = h;
}

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Recurrent cells (weft_cell) along the tokens: some steps of a sequence for each workgroup, which keeps h in shared memory; or one
// step, of which a workgroup makes some units. An invocation has the units lane, lane + WIDE, … of these: a unit's sums are its own,
// so all forms add in the same order, within blocks of 64 terms and then the blocks. What is before the first step is the state, or
// what an earlier dispatch wrote to the result.
// form cell
// form cell_lanes WEFT_LANES

#include "index.glsl"
#include "recurrent_cell.glsl"

#ifdef WEFT_LANES
layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(local_size_x_id = 17) in;
#define WIDE TILE_LANES
#else
layout(local_size_x = 128) in;
#define WIDE 128u
#endif

layout(constant_id = 0) const uint CELL = 0;
layout(constant_id = 1) const uint HAS_BIAS = 0;
layout(constant_id = 2) const uint HAS_STATE = 0;
layout(constant_id = 3) const uint HAS_LENGTHS = 0;
layout(constant_id = 4) const uint IN_TILES = 0; // the weight
layout(constant_id = 64) const uint FIXED_WIDTH = 2048; // the most units
layout(constant_id = 65) const uint FIXED_TILE = 16;    // units

#define MOST    2048 // FIXED_WIDTH, for the sizes of arrays
#define BLOCK   64u
#define AT_ONCE 8u // terms whose loads do not wait for one another

layout(std430, binding = 0) readonly buffer Gates { float gates[]; };
// [part, unit, term], or in tiles [tile, term, part, unit], of which every lane of a vector reads what is beside the others'.
layout(std430, binding = 1) readonly buffer Weight { float weight[]; };
layout(std430, binding = 2) readonly buffer Bias { float bias[]; };
layout(std430, binding = 3) readonly buffer State { float state[]; };
layout(std430, binding = 4) readonly buffer Lengths { int lengths[]; };
layout(std430, binding = 5) buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint groups;
    uint groups_x;
    uint sequences; // of which those that share units lie side by side, so that they read a weight together
    uint n;
    uint width; // units
    uint parts; // of the gates: 1, 3 or 4
    uint kept;  // floats that a token has in the state and the result
    uint units; // of a workgroup, a multiple of WIDE: fewer than width in one step alone, and of cells that need h alone
    uint first; // step
    uint steps;
    uint reverse;
} push;

// h, and behind it the next one; or r · h, which GRU_RESET_FIRST multiplies with.
shared float hidden[2 * MOST];

struct Step
{
    uint sequence, tokens;
    uint index;     // from the first token that is read
    uint now;       // where h begins
    uint from, end; // units of the workgroup
};

uint row_of(Step s, uint index)
{
    return s.sequence * push.n + (push.reverse != 0 ? s.tokens - 1 - index : index);
}

// An element of what is kept before a step.
float before(Step s, uint c)
{
    if (s.index > 0) {
        return result[row_of(s, s.index - 1) * push.kept + c];
    }
    return HAS_STATE != 0 ? weft_flush(state[s.sequence * push.kept + c]) : 0.0;
}

// Where the terms of a unit begin in the weight.
uint first_term(uint unit)
{
    if (IN_TILES == 0) {
        return unit * push.width;
    }
#ifdef WEFT_LANES
    uint first = unit - gl_LocalInvocationIndex; // of the lanes, which no tile's end divides
#else
    uint first = unit;
#endif
    return first / FIXED_TILE * push.width * push.parts * FIXED_TILE + first % FIXED_TILE + (unit - first);
}

// A term of the sums of a unit's parts from `part` up to `end`, a component each.
vec4 add_term(vec4 sum, uint at, float h, uint part, uint end)
{
    uint stride = IN_TILES != 0 ? FIXED_TILE : push.width * push.width;
    if (part == 0) {
        sum.x = weft_multiply_add(weight[at], h, sum.x);
    }
    if (part <= 1 && end > 1) {
        sum.y = weft_multiply_add(weight[at + stride], h, sum.y);
    }
    if (part <= 2 && end > 2) {
        sum.z = weft_multiply_add(weight[at + 2 * stride], h, sum.z);
    }
    if (end > 3) {
        sum.w = weft_multiply_add(weight[at + 3 * stride], h, sum.w);
    }
    return sum;
}

// W h of these parts, with h from `from` on.
vec4 products(uint unit, uint from, uint part, uint end)
{
    uint at = first_term(unit);
    uint stride = IN_TILES != 0 ? push.parts * FIXED_TILE : 1;
    vec4 whole = vec4(0.0);
    for (uint block = 0; block < push.width; block += BLOCK) {
        uint stop = min(block + BLOCK, push.width);
        vec4 sum = vec4(0.0);
        uint j = block;
        for (; j + AT_ONCE <= stop; j += AT_ONCE) {
            for (uint k = 0; k < AT_ONCE; k++) {
                sum = add_term(sum, at + (j + k) * stride, hidden[from + j + k], part, end);
            }
        }
        for (; j < stop; j++) {
            sum = add_term(sum, at + j * stride, hidden[from + j], part, end);
        }
        whole = whole + sum;
    }
    return whole;
}

// W h + bias.
vec4 recurrent(uint unit, uint from, uint part, uint end)
{
    vec4 sum = products(unit, from, part, end);
    if (HAS_BIAS != 0) {
        for (uint k = part; k < end; k++) {
            sum[k] = sum[k] + bias[k * push.width + unit];
        }
    }
    return sum;
}

vec4 inputs(Step s, uint unit, uint part, uint end)
{
    vec4 x = vec4(0.0);
    uint at = row_of(s, s.index) * push.parts * push.width + unit;
    for (uint k = part; k < end; k++) {
        x[k] = gates[at + k * push.width];
    }
    return x;
}

float make_lstm(Step s, uint unit, uint at)
{
    float c = before(s, push.width + unit);
    vec2 made = weft_lstm_cell(inputs(s, unit, 0, 4), recurrent(unit, s.now, 0, 4), c);
    result[at + push.width] = made.y;
    return made.x;
}

float make_gru(Step s, uint unit)
{
    return weft_gru_cell(inputs(s, unit, 0, 3), recurrent(unit, s.now, 0, 3), hidden[s.now + unit]);
}

// r · h, and z, which waits in the result.
void reset(Step s, uint unit)
{
    vec4 x = inputs(s, unit, 0, 2) + recurrent(unit, s.now, 0, 2);
    hidden[MOST + unit] = weft_sigmoid(x.x) * hidden[s.now + unit];
    result[row_of(s, s.index) * push.kept + unit] = weft_sigmoid(x.y);
}

float make_reset_gru(Step s, uint unit, uint at)
{
    vec4 x = inputs(s, unit, 2, 3) + recurrent(unit, MOST, 2, 3);
    return weft_gru_mixed(result[at], weft_tanh(x.z), hidden[s.now + unit]);
}

float make_simple(Step s, uint unit)
{
    vec4 x = inputs(s, unit, 0, 1) + recurrent(unit, s.now, 0, 1);
    return weft_simple_cell(CELL, x.x);
}

void make(Step s, uint unit)
{
    uint at = row_of(s, s.index) * push.kept + unit;
    float h;
    if (CELL == WEFT_CELL_LSTM) {
        h = make_lstm(s, unit, at);
    } else if (CELL == WEFT_CELL_GRU) {
        h = make_gru(s, unit);
    } else if (CELL == WEFT_CELL_GRU_RESET_FIRST) {
        h = make_reset_gru(s, unit, at);
    } else {
        h = make_simple(s, unit);
    }
    result[at] = h;
    // Others still read h, but where they read r · h.
    hidden[CELL == WEFT_CELL_GRU_RESET_FIRST ? unit : MOST - s.now + unit] = h;
}

// The units of a lane. Lanes that all have one need no mask.
#ifdef WEFT_LANES
#define EACH_UNIT(unit, from, end, statement)                                                      \
    for (uint first = from; first < end; first += WIDE) {                                          \
        uint unit = first + gl_LocalInvocationIndex;                                               \
        if (first + WIDE <= end) {                                                                 \
            statement;                                                                             \
        } else if (unit < end) {                                                                   \
            statement;                                                                             \
        }                                                                                          \
    }
#else
#define EACH_UNIT(unit, from, end, statement)                                                      \
    for (uint unit = from + gl_LocalInvocationIndex; unit < end; unit += WIDE) {                   \
        statement;                                                                                 \
    }
#endif

void make_step(Step s)
{
    if (CELL == WEFT_CELL_GRU_RESET_FIRST) {
        if (s.index < s.tokens) {
            EACH_UNIT(unit, s.from, s.end, reset(s, unit))
        }
        barrier();
    }
    if (s.index < s.tokens) {
        EACH_UNIT(unit, s.from, s.end, make(s, unit))
    } else if (s.from == 0) {
        uint at = (s.sequence * push.n + s.index) * push.kept;
        for (uint c = gl_LocalInvocationIndex; c < push.kept; c += WIDE) {
            result[at + c] = 0.0;
        }
    }
    barrier();
}

void main()
{
    Step s;
    uint group = weft_group_index(push.groups_x);
    if (group >= push.groups) {
        return; // the whole group: no barrier is missed
    }
    s.sequence = group % push.sequences;
    s.from = group / push.sequences * push.units;
    s.end = min(s.from + push.units, push.width);
    s.tokens = HAS_LENGTHS != 0 ? min(uint(lengths[s.sequence]), push.n) : push.n;
    s.index = push.first;
    s.now = 0;
    if (s.index < s.tokens) {
        EACH_UNIT(unit, 0, push.width, hidden[unit] = before(s, unit))
    }
    barrier();
    for (uint k = 0; k < push.steps; k++) {
        make_step(s);
        s.index++;
        s.now = CELL == WEFT_CELL_GRU_RESET_FIRST ? 0 : MOST - s.now;
    }
}

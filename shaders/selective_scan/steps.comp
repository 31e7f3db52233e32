#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Selective scans (weft_graph_selective_scan), token by token: some channels of a sequence for each workgroup, since channels know
// nothing of one another. State i of a channel belongs to the strand i % 8: a sum over states is of the strands, each in the order of
// its states, and then a tree of these. So all forms add in the same order, wherever a sequence is cut. By 128 invocations, each has a
// strand of one of 16 channels in registers, and what the strands sum up to is put together for eight tokens at once; a lane has all
// strands of its channel.
// form steps
// form steps_lanes WEFT_LANES

#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"

#define STRANDS 8u

#ifdef WEFT_LANES
layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(local_size_x_id = 17) in;
#define COLUMNS    TILE_LANES
#define OWN_COLUMN gl_LocalInvocationIndex
#else
layout(local_size_x = 128) in;
#define COLUMNS    16u
#define OWN_COLUMN (gl_LocalInvocationIndex % COLUMNS)
#endif

layout(constant_id = 0) const uint SKIP = 0;   // the token itself is added, by a factor that stands behind the rates
layout(constant_id = 1) const uint SLOTS = 16; // states of a strand, at least; without lanes
layout(constant_id = 2) const uint REST = 1;   // states are no whole eights; with lanes
layout(constant_id = 64) const uint FIXED_STATES = 128; // the most
layout(constant_id = 65) const uint FIXED_COLUMNS = 16; // without lanes

#define MOST 128 // FIXED_STATES, for the sizes of arrays

layout(std430, binding = 0) readonly buffer Values { float values[]; };
layout(std430, binding = 1) readonly buffer Deltas { float deltas[]; };
layout(std430, binding = 2) readonly buffer Rates { float rates[]; };
layout(std430, binding = 3) readonly buffer Writes { float writes[]; };
layout(std430, binding = 4) readonly buffer Reads { float reads[]; };
layout(std430, binding = 5) readonly buffer Counted { int counted[]; };
layout(std430, binding = 6) buffer State { float state[]; };
layout(std430, binding = 7) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint sequences;
    uint groups_x;
    uint n;
    uint channels;
    uint states;
    uint first; // token
    uint steps;
    uint stride; // of the results of a sequence
    uint last;   // where the state begins behind them
    uint starts; // 1: from the state, 2: so but in front of token 0, else from zeros
    uint ends;   // 1: in the state, 2: behind the result
    uint counts; // 1: lengths, 2: positions of last tokens
} push;

struct Place
{
    uint sequence, column;
    bool has_all; // each invocation of the workgroup has a channel
    uint tokens;  // that count
};

// Of invocations that have a channel; where all do, no lane needs a mask.
#define WITH_COLUMN(p, statement)                                                                  \
    if (p.has_all) {                                                                               \
        statement;                                                                                 \
    } else if (p.column < push.channels) {                                                         \
        statement;                                                                                 \
    }

// What a token brings to the states of a channel, and where the vectors of all channels begin.
struct Token
{
    float delta, written;
    uint vectors;
};

Token token_at(Place p, uint token)
{
    Token t;
    uint row = p.sequence * push.n + token;
    float value = 0.0;
    t.delta = 0.0;
    WITH_COLUMN(p, t.delta = deltas[row * push.channels + p.column])
    WITH_COLUMN(p, value = values[row * push.channels + p.column])
    t.written = t.delta * value;
    t.vectors = row * push.states;
    return t;
}

// h = exp(delta rate) h + written b
float behind(Token t, uint i, float rate, float h)
{
    return weft_multiply_add(writes[t.vectors + i], t.written, weft_exp(t.delta * rate) * h);
}

float skip_of(Place p)
{
    float skip = 0.0;
    if (SKIP != 0) {
        WITH_COLUMN(p, skip = rates[push.states * push.channels + p.column])
    }
    return skip;
}

void store(Place p, uint token, float skip, float sum)
{
    uint row = token * push.channels + p.column;
    uint at = p.sequence * push.stride + row;
    if (SKIP != 0 && token < p.tokens) {
        WITH_COLUMN(p, sum = weft_multiply_add(skip, values[p.sequence * push.n * push.channels + row], sum))
    }
    WITH_COLUMN(p, result[at] = weft_flush(sum))
}

#ifdef WEFT_LANES

shared float kept[MOST][TILE_LANES];
shared float own_rates[MOST][TILE_LANES];

#define KEPT(i) kept[i][gl_LocalInvocationIndex]
#define RATE(i) own_rates[i][gl_LocalInvocationIndex]

#define EACH_STATE(i, statement)                                                                   \
    for (uint i = 0; i < push.states; i++) {                                                       \
        statement;                                                                                 \
    }

float part[8];

void take_state(Token t, uint i, uint s)
{
    float h = behind(t, i, RATE(i), KEPT(i));
    KEPT(i) = h;
    part[s] = weft_multiply_add(reads[t.vectors + i], h, part[s]);
}

// States of eight strands each, and those behind the last eight.
float take_token(Token t)
{
    for (uint s = 0; s < STRANDS; s++) {
        part[s] = 0.0;
    }
    for (uint block = 0; block + STRANDS <= push.states; block += STRANDS) {
        for (uint s = 0; s < STRANDS; s++) {
            take_state(t, block + s, s);
        }
    }
    for (uint s = 0; REST != 0 && s < STRANDS; s++) {
        uint i = push.states / STRANDS * STRANDS + s;
        if (i < push.states) {
            take_state(t, i, s);
        }
    }
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

void take_tokens(Place p)
{
    float skip = skip_of(p);
    for (uint token = push.first; token < push.first + push.steps; token++) {
        float sum = 0.0;
        if (token < p.tokens) {
            sum = take_token(token_at(p, token));
        }
        store(p, token, skip, sum);
    }
}

#else

#define AT_ONCE 8u // tokens: each invocation then has one result

float kept[MOST / 8];
float own_rates[MOST / 8];
shared float parts[8][128];

#define KEPT(i) kept[(i) / STRANDS]
#define RATE(i) own_rates[(i) / STRANDS]

#define EACH_STATE(i, statement)                                                                   \
    for (uint slot = 0; slot < SLOTS; slot++) {                                                    \
        uint i = slot * STRANDS + gl_LocalInvocationIndex / COLUMNS;                               \
        if (i < push.states) {                                                                     \
            statement;                                                                             \
        }                                                                                          \
    }

float part;

void take_state(Token t, uint i)
{
    float h = behind(t, i, RATE(i), KEPT(i));
    KEPT(i) = h;
    part = weft_multiply_add(reads[t.vectors + i], h, part);
}

float take_token(Token t)
{
    part = 0.0;
    EACH_STATE(i, take_state(t, i))
    return part;
}

float whole_sum(uint turn)
{
    uint c = OWN_COLUMN;
    float even = (parts[turn][c] + parts[turn][c + 64]) + (parts[turn][c + 32] + parts[turn][c + 96]);
    float odd = (parts[turn][c + 16] + parts[turn][c + 80]) + (parts[turn][c + 48] + parts[turn][c + 112]);
    return even + odd;
}

void take_tokens(Place p)
{
    float skip = skip_of(p);
    uint end = push.first + push.steps;
    uint own = gl_LocalInvocationIndex / COLUMNS; // of the tokens at once
    for (uint first = push.first; first < end; first += AT_ONCE) {
        uint here = min(AT_ONCE, end - first);
        for (uint turn = 0; turn < here; turn++) {
            float strand = 0.0;
            if (first + turn < p.tokens) {
                strand = take_token(token_at(p, first + turn));
            }
            parts[turn][gl_LocalInvocationIndex] = strand;
        }
        barrier();
        if (own < here) {
            store(p, first + own, skip, whole_sum(own));
        }
        barrier();
    }
}

#endif

// In the state.
uint state_at(Place p, uint i)
{
    return (p.sequence * push.states + i) * push.channels + p.column;
}

void start_state(Place p, uint i)
{
    RATE(i) = rates[i * push.channels + p.column];
    if (push.starts == 1 || (push.starts == 2 && counted[p.sequence] != 0)) {
        KEPT(i) = weft_flush(state[state_at(p, i)]);
    }
}

void start(Place p)
{
    EACH_STATE(i, KEPT(i) = 0.0; RATE(i) = 0.0)
    WITH_COLUMN(p, EACH_STATE(i, start_state(p, i)))
}

void end_state(Place p, uint i)
{
    if (push.ends == 1) {
        state[state_at(p, i)] = weft_flush(KEPT(i));
    } else {
        result[p.sequence * push.stride + push.last + i * push.channels + p.column] = weft_flush(KEPT(i));
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint blocks = (push.channels + COLUMNS - 1) / COLUMNS;
    Place p;
    p.sequence = group / blocks;
    if (p.sequence >= push.sequences) {
        return; // the whole group: no barrier is missed
    }
    p.column = group % blocks * COLUMNS + OWN_COLUMN;
    p.has_all = group % blocks * COLUMNS + COLUMNS <= push.channels;
    p.tokens = push.counts != 0 ? min(uint(counted[p.sequence]) + push.counts - 1, push.n) : push.n;
    start(p);
    take_tokens(p);
    if (push.ends != 0) {
        WITH_COLUMN(p, EACH_STATE(i, end_state(p, i)))
    }
}

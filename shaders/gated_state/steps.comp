#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Gated states S [rows, values] (weft_graph_gated_state), token by token: some columns of one state for each workgroup, since columns
// know nothing of one another. Row i belongs to the strand i % 8: a sum over rows is of the strands, each in the order of its rows,
// and then a tree of these. So all forms add in the same order, wherever a sequence is cut. By 128 invocations, each has a strand of
// one of 16 columns in registers; a lane has all strands of its column.
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
#define OWN        8 // strands of an invocation
#else
layout(local_size_x = 128) in;
#define COLUMNS    16u
#define OWN_COLUMN (gl_LocalInvocationIndex % COLUMNS)
#define OWN        1
#endif

layout(constant_id = 0) const uint DECAY = 0;  // 1: a factor for the state, 2: for each row
layout(constant_id = 1) const uint ERASE = 0;  // what asks the state: 1: the key, 2: a vector of its own
layout(constant_id = 2) const uint RATED = 0;  // what is written is multiplied by a rate
layout(constant_id = 3) const uint APART = 0;  // what is taken away goes along a vector of its own, not along the key
layout(constant_id = 4) const uint BEFORE = 0; // 1: erase, 2: query read the state as it is before the token
layout(constant_id = 5) const uint SLOTS = 32; // rows of a strand, at least; without lanes
layout(constant_id = 6) const uint REST = 1;   // rows are no whole eights
layout(constant_id = 64) const uint FIXED_ROWS = 256; // the most
layout(constant_id = 65) const uint FIXED_COLUMNS = 16; // without lanes

#define MOST 256 // FIXED_ROWS, for the sizes of arrays

layout(std430, binding = 0) readonly buffer Queries { float queries[]; };
layout(std430, binding = 1) readonly buffer Keys { float keys[]; };
layout(std430, binding = 2) readonly buffer Values { float values[]; };
layout(std430, binding = 3) readonly buffer Decay { float decay[]; };
layout(std430, binding = 4) readonly buffer More { float more[]; }; // rates, and vectors of the erase
layout(std430, binding = 5) readonly buffer Counted { int counted[]; };
layout(std430, binding = 6) buffer State { float state[]; };
layout(std430, binding = 7) writeonly buffer Result { float result[]; };

layout(push_constant) uniform Push
{
    uint states; // heads of all sequences
    uint groups_x;
    uint n;
    uint heads;
    uint q_heads;
    uint k_heads;
    uint rows;
    uint columns;
    uint first; // token
    uint steps;
    uint rates; // where they begin
    uint erase;
    uint apart;
    uint stride; // of the results of a sequence
    uint last;   // where the state begins behind them
    uint starts; // 1: from the state, 2: so but in front of token 0, else from zeros
    uint ends;   // 1: in the state, 2: behind the result
    uint counts; // 1: lengths, 2: positions of last tokens
    float scale;
} push;

struct Place
{
    uint sequence, head, column;
    bool has_all;     // each invocation of the workgroup has a column
    uint tokens;      // that count
    uint query_heads; // that read this state
};

// Of invocations that have a column; where all do, no lane needs a mask.
#define WITH_COLUMN(p, statement)                                                                  \
    if (p.has_all) {                                                                               \
        statement;                                                                                 \
    } else if (p.column < push.columns) {                                                          \
        statement;                                                                                 \
    }

// Where the vectors of a token begin.
struct Token
{
    uint key, decay;
    uint erase, apart;
    float rate, value;
};

// Of the sums at hand, what an invocation has: a strand each.
float part[OWN];

#ifdef WEFT_LANES

shared float kept[MOST][TILE_LANES];

#define KEPT(i) kept[i][gl_LocalInvocationIndex]

#define EACH_KEPT(i, statement)                                                                    \
    for (uint i = 0; i < push.rows; i++) {                                                         \
        statement;                                                                                 \
    }

// Rows of eight strands each, and those behind the last eight.
#define EACH_ROW(i, s, statement)                                                                  \
    for (uint block = 0; block + STRANDS <= push.rows; block += STRANDS) {                         \
        for (uint s = 0; s < STRANDS; s++) {                                                       \
            uint i = block + s;                                                                    \
            statement;                                                                             \
        }                                                                                          \
    }                                                                                              \
    for (uint s = 0; REST != 0 && s < STRANDS; s++) {                                              \
        uint i = push.rows / STRANDS * STRANDS + s;                                                \
        if (i < push.rows) {                                                                       \
            statement;                                                                             \
        }                                                                                          \
    }

float whole_sum()
{
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

#else

float kept[MOST / 8];
shared float parts[2][128];
uint turn;

#define KEPT(i) kept[(i) / STRANDS]

#define EACH_ROW(i, s, statement)                                                                  \
    for (uint slot = 0; slot < SLOTS; slot++) {                                                    \
        const uint s = 0;                                                                          \
        uint i = slot * STRANDS + gl_LocalInvocationIndex / COLUMNS;                               \
        if (i < push.rows) {                                                                       \
            statement;                                                                             \
        }                                                                                          \
    }

#define EACH_KEPT(i, statement) EACH_ROW(i, unused, statement)

// Two arrays by turns: what others still read is not written before a barrier that they have passed.
float whole_sum()
{
    uint c = OWN_COLUMN;
    parts[turn][gl_LocalInvocationIndex] = part[0];
    barrier();
    float even = (parts[turn][c] + parts[turn][c + 64]) + (parts[turn][c + 32] + parts[turn][c + 96]);
    float odd = (parts[turn][c + 16] + parts[turn][c + 80]) + (parts[turn][c + 48] + parts[turn][c + 112]);
    turn = 1 - turn;
    return even + odd;
}

#endif

void begin_sum()
{
    for (uint s = 0; s < OWN; s++) {
        part[s] = 0.0;
    }
}

float decayed(Token t, uint i, float x)
{
    return DECAY == 0 ? x : x * decay[DECAY == 2 ? t.decay + i : t.decay];
}

// The state, decayed, and what the erase finds in it.
void ask_row(Token t, uint i, uint s)
{
    float asks = ERASE == 2 ? more[t.erase + i] : keys[t.key + i];
    float x = KEPT(i);
    if ((BEFORE & 1) != 0) {
        part[s] = weft_multiply_add(asks, x, part[s]);
    }
    x = decayed(t, i, x);
    if ((BEFORE & 1) == 0) {
        part[s] = weft_multiply_add(asks, x, part[s]);
    }
    KEPT(i) = x;
}

// The state behind the token, and what the query at `query` finds in it.
void write_row(Token t, uint i, uint s, float written, float taken, uint query)
{
    float x = KEPT(i);
    if (ERASE == 0) {
        x = decayed(t, i, x);
    }
    if (APART != 0) {
        x = weft_multiply_add(more[t.apart + i], taken, x);
    }
    x = weft_multiply_add(keys[t.key + i], written, x);
    KEPT(i) = x;
    if ((BEFORE & 2) == 0) {
        part[s] = weft_multiply_add(queries[query + i], x, part[s]);
    }
}

void read_row(uint i, uint s, uint query)
{
    part[s] = weft_multiply_add(queries[query + i], KEPT(i), part[s]);
}

// Of the query of that number that reads the state.
uint query_at(Place p, uint token, uint query)
{
    uint head = push.q_heads > push.heads ? p.head * p.query_heads + query : p.head * push.q_heads / push.heads;
    return ((p.sequence * push.n + token) * push.q_heads + head) * push.rows;
}

void store(Place p, uint token, uint query, float sum)
{
#ifndef WEFT_LANES
    if (gl_LocalInvocationIndex >= COLUMNS) {
        return; // of another strand
    }
#endif
    uint head = p.head * p.query_heads + query;
    uint row = token * push.heads * p.query_heads + head;
    uint at = p.sequence * push.stride + row * push.columns + p.column;
    WITH_COLUMN(p, result[at] = weft_flush(push.scale * sum))
}

void read_state(Place p, uint token, uint from)
{
    for (uint query = from; query < p.query_heads; query++) {
        uint at = query_at(p, token, query);
        begin_sum();
        EACH_ROW(i, s, read_row(i, s, at))
        store(p, token, query, whole_sum());
    }
}

Token token_at(Place p, uint token)
{
    Token t;
    uint row = p.sequence * push.n + token;
    uint key = (row * push.k_heads + p.head * push.k_heads / push.heads) * push.rows;
    uint own = row * push.heads + p.head;
    t.key = key;
    t.decay = DECAY == 2 ? own * push.rows : own;
    t.erase = push.erase + key;
    t.apart = push.apart + key;
    t.rate = RATED != 0 ? more[push.rates + own] : 1.0;
    t.value = 0.0;
    WITH_COLUMN(p, t.value = values[own * push.columns + p.column])
    return t;
}

void take_token(Place p, uint token)
{
    Token t = token_at(p, token);
    float erased = 0.0;
    if ((BEFORE & 2) != 0) {
        read_state(p, token, 0);
    }
    if (ERASE != 0) {
        begin_sum();
        EACH_ROW(i, s, ask_row(t, i, s))
        erased = whole_sum();
    }
    float written = APART == 0 && ERASE != 0 ? t.value - erased : t.value;
    written = RATED != 0 ? t.rate * written : written;
    uint query = query_at(p, token, 0);
    begin_sum();
    EACH_ROW(i, s, write_row(t, i, s, written, -erased, query))
    if ((BEFORE & 2) == 0) {
        store(p, token, 0, whole_sum());
        read_state(p, token, 1);
    }
}

uint state_at(Place p, uint i)
{
    return ((p.sequence * push.heads + p.head) * push.rows + i) * push.columns + p.column;
}

// Where the state has an own place behind the results of its sequence.
uint last_at(Place p, uint i)
{
    return p.sequence * push.stride + push.last + (p.head * push.rows + i) * push.columns + p.column;
}

void start(Place p)
{
    EACH_KEPT(i, KEPT(i) = 0.0)
    if (push.starts == 1 || (push.starts == 2 && counted[p.sequence] != 0)) {
        WITH_COLUMN(p, EACH_KEPT(i, KEPT(i) = weft_flush(state[state_at(p, i)])))
    }
}

void end_row(Place p, uint i)
{
    if (push.ends == 1) {
        state[state_at(p, i)] = weft_flush(KEPT(i));
    } else {
        result[last_at(p, i)] = weft_flush(KEPT(i));
    }
}

void run(Place p)
{
    start(p);
    for (uint token = push.first; token < push.first + push.steps; token++) {
        if (token < p.tokens) {
            take_token(p, token);
        } else {
            for (uint query = 0; query < p.query_heads; query++) {
                store(p, token, query, 0.0);
            }
        }
    }
    if (push.ends != 0) {
        WITH_COLUMN(p, EACH_KEPT(i, end_row(p, i)))
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint blocks = (push.columns + COLUMNS - 1) / COLUMNS;
    uint own = group / blocks;
    if (own >= push.states) {
        return; // the whole group: no barrier is missed
    }
    Place p;
    p.sequence = own / push.heads;
    p.head = own % push.heads;
    p.column = group % blocks * COLUMNS + OWN_COLUMN;
    p.has_all = group % blocks * COLUMNS + COLUMNS <= push.columns;
    p.query_heads = max(push.q_heads / push.heads, 1);
    p.tokens = push.counts != 0 ? min(uint(counted[p.sequence]) + push.counts - 1, push.n) : push.n;
#ifndef WEFT_LANES
    turn = 0;
#endif
    run(p);
}

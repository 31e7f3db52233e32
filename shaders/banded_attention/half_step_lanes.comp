#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Banded attention of one query (step.glsl says of what) where keys and values are f16, for processors: a workgroup is one subgroup and has
// up to QUERIES queries that read one head of keys and values. Keys lie along the lanes for scores and weights, for which the ring has
// them side by side (half_ring.glsl), and channels for the values. No sum crosses lanes. What is unpacked serves several queries at once.

#include "band_chunks.glsl"
#include "half.glsl"
#include "index.glsl"
#include "math.glsl"
#include "multiply_add.glsl"
#include "reduce.glsl"

layout(constant_id = 0) const uint VECTOR = 0; // step.comp's
layout(constant_id = 1) const uint HAS_SINKS = 0;
layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 64) const uint FIXED_QUERIES = 16;

layout(local_size_x_id = 17) in;

#define PAIRS 32 // of channels, of a partial sum of a score
#define BLOCK 64 // keys

// Vectors of keys and of words of values whose sums are in registers at once, for four queries.
const uint VECTORS = TILE_LANES == 16 ? 4 : 2;
const uint COLUMNS = TILE_LANES == 16 ? 2 : 1;

layout(std430, binding = 0) readonly buffer Q { float q[]; };
layout(std430, binding = 1) readonly buffer K { float k[]; };
layout(std430, binding = 2) readonly buffer V { float v[]; };
layout(std430, binding = 3) readonly buffer Position { int position[]; };
layout(std430, binding = 4) buffer State { uint state[]; };
layout(std430, binding = 5) buffer Result { float result[]; };
layout(std430, binding = 6) readonly buffer Sinks { float sinks[]; }; // of each head

layout(push_constant) uniform Push
{
    uint groups; // heads of all batches
    uint width; // channels of a head
    uint groups_x;
    uint heads;
    uint group; // heads of q that read one head of k and v
    uint before;
    float scale;
} push;

#include "half_ring.glsl"

shared float queries[FIXED_QUERIES][2 * PAIRS];
shared float weights[FIXED_QUERIES][BLOCK]; // scores at first
shared uint orders[FIXED_QUERIES][BLOCK]; // of the scores: weft_order_key
shared float own_scores[FIXED_QUERIES];
shared uint tops[BLOCK / WEFT_KEYS + 1][FIXED_QUERIES]; // the largest of them before each chunk of the block
shared float factors[BLOCK / WEFT_KEYS][FIXED_QUERIES]; // for what there was before the chunk
// Of all blocks so far, by turns: all invocations read one of the two and write the other.
shared uint largest[2][FIXED_QUERIES]; // as weft_order_key
shared float total[2][FIXED_QUERIES];
shared float inverse[FIXED_QUERIES]; // of the total, once it is complete

// The workgroup's part of a block.
struct Part
{
    uint block;
    uint begin; // of the band
    uint end;   // of the block's keys in the ring
    uint last;  // of the block's keys: with the token's own, which is the last of all
    bool has_own;
    uint keys;  // where the ring begins, of the head that is read
    uint values;
    uint own; // the head of k and v
    uint query; // the first head of q: in q and in the result
    uint count; // queries
    uint turn; // of what there is before the block; the other one is of what there is with it
};

// Where a word is whose chunk does not wrap around: see matmul/panels.comp.
const uint LAST_CHUNK = 0x40000000u - PAIRS * WEFT_HALF_TILE;

// Those past the last are the last one again.
uint query_of(Part part, uint query)
{
    return min(query, part.count - 1);
}

void pack_queries(Part part, uint channel, uint depth)
{
    for (uint i = 0; i < part.count; i++) {
        uint at = part.query + i * push.width + channel;
        for (uint c = gl_LocalInvocationID.x; c < 2 * PAIRS; c += TILE_LANES) {
            queries[i][c] = c < depth ? q[at + c] : 0.0;
        }
    }
}

// Adds the products of `pairs` pairs of channels of all of the block's keys with COUNT queries: those outside the band are not used.
#define ADD_PRODUCTS(name, COUNT)                                                                                      \
    void name(Part part, uint query, uint channel, uint pairs)                                                         \
    {                                                                                                                  \
        uint own[COUNT];                                                                                               \
        for (uint i = 0; i < COUNT; i++) {                                                                             \
            own[i] = query_of(part, query + i);                                                                        \
        }                                                                                                              \
        for (uint key = 0; key < BLOCK; key += TILE_LANES * VECTORS) {                                                 \
            uint at[VECTORS];                                                                                          \
            float sum[COUNT][VECTORS];                                                                                 \
            for (uint j = 0; j < VECTORS; j++) {                                                                       \
                uint row = (part.block + key + TILE_LANES * j) % weft_half_rows(push.before);                          \
                uint word = part.keys + weft_half_key(row, push.width) + channel / 2 * WEFT_HALF_TILE;                 \
                at[j] = min(word, LAST_CHUNK) + gl_LocalInvocationID.x;                                                \
                for (uint i = 0; i < COUNT; i++) {                                                                     \
                    sum[i][j] = 0.0;                                                                                   \
                }                                                                                                      \
            }                                                                                                          \
            for (uint pair = 0; pair < pairs; pair++) {                                                                \
                for (uint j = 0; j < VECTORS; j++) {                                                                   \
                    vec2 y = weft_floats_of_any_f16(state[at[j] + pair * WEFT_HALF_TILE]);                             \
                    for (uint i = 0; i < COUNT; i++) {                                                                 \
                        sum[i][j] = weft_multiply_add(queries[own[i]][2 * pair], y.x, sum[i][j]);                      \
                        sum[i][j] = weft_multiply_add(queries[own[i]][2 * pair + 1], y.y, sum[i][j]);                  \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            for (uint i = 0; i < COUNT && query + i < part.count; i++) {                                               \
                for (uint j = 0; j < VECTORS; j++) {                                                                   \
                    uint x = key + TILE_LANES * j + gl_LocalInvocationID.x;                                            \
                    weights[own[i]][x] = (channel == 0 ? 0.0 : weights[own[i]][x]) + sum[i][j];                        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

ADD_PRODUCTS(add_four_products, 4)
ADD_PRODUCTS(add_two_products, 2)
ADD_PRODUCTS(add_one_product, 1)

void add_own_products(Part part, uint channel, uint depth)
{
    for (uint i = gl_LocalInvocationID.x; i < FIXED_QUERIES; i += TILE_LANES) {
        uint own = query_of(part, i);
        float sum = 0.0;
        for (uint c = 0; c < depth; c++) {
            sum = weft_multiply_add(queries[own][c], weft_nearest_f16(k[part.own + channel + c]), sum);
        }
        own_scores[i] = (channel == 0 ? 0.0 : own_scores[i]) + sum;
    }
}

void make_scores(Part part, bool first)
{
    for (uint channel = 0; channel < push.width; channel += 2 * PAIRS) {
        uint depth = min(2 * PAIRS, push.width - channel);
        if (first || push.width > 2 * PAIRS) {
            barrier();
            pack_queries(part, channel, depth);
            barrier();
        }
        uint query = 0;
        for (; query + 2 < part.count; query += 4) {
            add_four_products(part, query, channel, (depth + 1) / 2);
        }
        for (; query + 1 < part.count; query += 2) {
            add_two_products(part, query, channel, (depth + 1) / 2);
        }
        if (query < part.count) {
            add_one_product(part, query, channel, (depth + 1) / 2);
        }
        if (part.has_own) {
            add_own_products(part, channel, depth);
        }
    }
    barrier();
    for (uint i = gl_LocalInvocationID.x; part.has_own && i < FIXED_QUERIES; i += TILE_LANES) {
        weights[query_of(part, i)][part.end - part.block] = own_scores[i];
    }
    barrier();
}

// Scales the scores; those outside the band are less than any.
void order_scores(Part part, weft_band band)
{
    for (uint i = 0; i < part.count; i++) {
        for (uint j = 0; j < BLOCK; j += TILE_LANES) {
            uint x = j + gl_LocalInvocationID.x;
            float score = push.scale * weights[i][x];
            weights[i][x] = score;
            orders[i][x] = weft_band_has(band, part.block + x) ? weft_order_key(score) : WEFT_LEAST_KEY;
        }
    }
}

void find_tops(Part part)
{
    for (uint i = 0; i < part.count; i++) {
        uint top = largest[part.turn][i];
        tops[0][i] = top;
        for (uint chunk = 0; chunk < BLOCK / WEFT_KEYS; chunk++) {
            for (uint j = 0; j < WEFT_KEYS; j++) {
                top = max(top, orders[i][chunk * WEFT_KEYS + j]);
            }
            tops[chunk + 1][i] = top;
        }
        largest[1 - part.turn][i] = top;
    }
}

float shift_of(uint chunk, uint query)
{
    return weft_band_shift(weft_from_order_key(tops[chunk + 1][query]));
}

// From scores to weights, and the factors.
void make_weights(Part part, weft_band band)
{
    float unit = weft_causal_unit(band);
    for (uint i = 0; i < part.count; i++) {
        for (uint j = 0; j < BLOCK; j += TILE_LANES) {
            uint x = j + gl_LocalInvocationID.x;
            weights[i][x] = unit * weft_exp(weights[i][x] - shift_of(j / WEFT_KEYS, i));
        }
    }
    for (uint chunk = 0; chunk < BLOCK / WEFT_KEYS; chunk++) {
        for (uint i = gl_LocalInvocationID.x; i < FIXED_QUERIES; i += TILE_LANES) {
            uint own = query_of(part, i);
            factors[chunk][i] = weft_exp(weft_from_order_key(tops[chunk][own]) - shift_of(chunk, own));
        }
    }
}

void add_totals(Part part, weft_band band)
{
    for (uint i = 0; i < part.count; i++) {
        float all = total[part.turn][i];
        for (uint chunk = part.begin / WEFT_KEYS * WEFT_KEYS; chunk < part.last; chunk += WEFT_KEYS) {
            uint begin = max(part.begin, chunk) - part.block;
            uint end = min(part.last, chunk + WEFT_KEYS) - part.block;
            float sum = 0.0;
            for (uint j = begin; j < end; j++) {
                sum = sum + weights[i][j];
            }
            all = weft_band_starts(band, chunk) ? sum : weft_multiply_add(factors[(chunk - part.block) / WEFT_KEYS][i], all, sum);
        }
        total[1 - part.turn][i] = all;
    }
}

void find_inverses(Part part, weft_band band)
{
    for (uint i = gl_LocalInvocationID.x; i < FIXED_QUERIES; i += TILE_LANES) {
        uint own = query_of(part, i);
        float all = total[1 - part.turn][own];
        if (HAS_SINKS != 0) {
            uint head = (part.query / push.width + own) % push.heads;
            float shift = weft_band_shift(weft_from_order_key(largest[1 - part.turn][own]));
            all = weft_band_total(all, sinks[head], shift, weft_causal_unit(band));
        }
        inverse[i] = weft_rcp(all); // of use behind the last block
    }
}

// The sums of COUNT queries' values over their keys of the block, of the channels of WORDS vectors of words from `offset` on: `high` and
// those are a word's.
#define ADD_VALUES(name, COUNT, WORDS)                                                                                 \
    void name(Part part, weft_band band, uint query, uint offset, bool has_high)                                       \
    {                                                                                                                  \
        uint pairs = weft_half_pairs(push.width);                                                                      \
        uint own[COUNT];                                                                                               \
        uint at[COUNT];                                                                                                \
        vec2 value[COUNT][WORDS];                                                                                      \
        for (uint i = 0; i < COUNT; i++) {                                                                             \
            own[i] = query_of(part, query + i);                                                                        \
            at[i] = part.query + own[i] * push.width + offset;                                                         \
            for (uint j = 0; j < WORDS; j++) {                                                                         \
                value[i][j] = vec2(0.0);                                                                               \
                if (band.begin < part.block) {                                                                         \
                    value[i][j].x = result[at[i] + TILE_LANES * j];                                                    \
                    value[i][j].y = has_high ? result[at[i] + pairs + TILE_LANES * j] : 0.0;                           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (uint chunk = part.begin / WEFT_KEYS * WEFT_KEYS; chunk < part.last; chunk += WEFT_KEYS) {                 \
            vec2 sum[COUNT][WORDS];                                                                                    \
            for (uint i = 0; i < COUNT; i++) {                                                                         \
                for (uint j = 0; j < WORDS; j++) {                                                                     \
                    sum[i][j] = vec2(0.0);                                                                             \
                }                                                                                                      \
            }                                                                                                          \
            uint tile = part.values + chunk % weft_half_rows(push.before) * pairs + offset;                            \
            uint end = min(part.end, chunk + WEFT_KEYS);                                                               \
            for (uint key = max(part.begin, chunk); key < end; key++) {                                                \
                uint row = tile + (key - chunk) * pairs;                                                               \
                for (uint j = 0; j < WORDS; j++) {                                                                     \
                    vec2 y = weft_floats_of_any_f16(state[row + TILE_LANES * j]);                                      \
                    for (uint i = 0; i < COUNT; i++) {                                                                 \
                        float w = weights[own[i]][key - part.block];                                                   \
                        sum[i][j].x = weft_multiply_add(w, y.x, sum[i][j].x);                                          \
                        sum[i][j].y = weft_multiply_add(w, y.y, sum[i][j].y);                                          \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            bool ends = weft_band_ends(band, chunk);                                                                   \
            if (ends) {                                                                                                \
                for (uint j = 0; j < WORDS; j++) {                                                                     \
                    uint from = part.own + offset + TILE_LANES * j;                                                    \
                    float low = weft_nearest_f16(v[from]);                                                             \
                    float high = has_high ? weft_nearest_f16(v[from + pairs]) : 0.0;                                   \
                    for (uint i = 0; i < COUNT; i++) {                                                                 \
                        float w = weights[own[i]][part.end - part.block];                                              \
                        sum[i][j].x = weft_multiply_add(w, low, sum[i][j].x);                                          \
                        sum[i][j].y = weft_multiply_add(w, high, sum[i][j].y);                                         \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
            bool starts = weft_band_starts(band, chunk);                                                               \
            for (uint i = 0; i < COUNT; i++) {                                                                         \
                float factor = factors[(chunk - part.block) / WEFT_KEYS][own[i]];                                      \
                for (uint j = 0; j < WORDS; j++) {                                                                     \
                    vec2 more = vec2(weft_multiply_add(factor, value[i][j].x, sum[i][j].x),                            \
                                     weft_multiply_add(factor, value[i][j].y, sum[i][j].y));                           \
                    value[i][j] = starts ? sum[i][j] : more;                                                           \
                    value[i][j] = ends ? inverse[own[i]] * value[i][j] : value[i][j];                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        for (uint i = 0; i < COUNT; i++) {                                                                             \
            for (uint j = 0; j < WORDS; j++) {                                                                         \
                result[at[i] + TILE_LANES * j] = weft_flush(value[i][j].x);                                            \
                if (has_high) {                                                                                        \
                    result[at[i] + pairs + TILE_LANES * j] = weft_flush(value[i][j].y);                                \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \

// Of all words: vectors of words with both halves, then the rest.
#define ADD_ALL_VALUES(name, COUNT)                                                                                    \
    ADD_VALUES(name##_columns, COUNT, COLUMNS)                                                                         \
    ADD_VALUES(name##_column, COUNT, 1)                                                                                \
    void name(Part part, weft_band band, uint query)                                                                   \
    {                                                                                                                  \
        uint pairs = weft_half_pairs(push.width);                                                                      \
        uint wide = push.width / 2 / (TILE_LANES * COLUMNS) * (TILE_LANES * COLUMNS);                                  \
        uint whole = push.width / 2 / TILE_LANES * TILE_LANES;                                                         \
        uint x = gl_LocalInvocationID.x;                                                                               \
        for (uint word = 0; word < wide; word += TILE_LANES * COLUMNS) {                                               \
            name##_columns(part, band, query, word + x, true);                                                         \
        }                                                                                                              \
        for (uint word = wide; word < whole; word += TILE_LANES) {                                                     \
            name##_column(part, band, query, word + x, true);                                                          \
        }                                                                                                              \
        if (x < pairs - whole) {                                                                                       \
            name##_column(part, band, query, whole + x, whole + x + pairs < push.width);                               \
        }                                                                                                              \
    }

ADD_ALL_VALUES(add_four_values, 4)
ADD_ALL_VALUES(add_two_values, 2)
ADD_ALL_VALUES(add_one_value, 1)

void add_values(Part part, weft_band band)
{
    uint query = 0;
    for (; query + 2 < part.count; query += 4) {
        add_four_values(part, band, query);
    }
    for (; query + 1 < part.count; query += 2) {
        add_two_values(part, band, query);
    }
    if (query < part.count) {
        add_one_value(part, band, query);
    }
}

// Nothing but this workgroup reads or writes the head's rings; of those of a head the first one stores the token, whose row no band has.
void keep_token(Part part, uint row)
{
    uint pairs = weft_half_pairs(push.width);
    for (uint pair = gl_LocalInvocationID.x; pair < pairs; pair += TILE_LANES) {
        state[part.keys + weft_half_key(row, push.width) + pair * WEFT_HALF_TILE] = weft_key_word(part.own, pair, push.width);
        state[part.values + row * pairs + pair] = weft_value_word(part.own, pair, push.width);
    }
}

void main()
{
    uint number = weft_group_index(push.groups_x);
    uint tiles = (push.group - 1) / FIXED_QUERIES + 1;
    uint kv_heads = push.heads / push.group;
    if (number >= push.groups / push.group * tiles) {
        return; // the whole group: no barrier is missed
    }
    uint tile = number % tiles * FIXED_QUERIES;
    uint head = number / tiles; // of keys, of all sequences
    uint sequence = head / kv_heads;
    uint ring_size = weft_half_rows(push.before) * weft_half_pairs(push.width);
    uint place = uint(position[sequence]);
    weft_band band = weft_band(place - min(place, push.before), place + 1);
    Part part;
    part.keys = (sequence * 2 * kv_heads + head % kv_heads) * ring_size;
    part.values = part.keys + kv_heads * ring_size;
    part.own = head * push.width;
    part.query = (head * push.group + tile) * push.width;
    part.count = min(FIXED_QUERIES, push.group - tile);
    for (uint i = gl_LocalInvocationID.x; i < FIXED_QUERIES; i += TILE_LANES) {
        largest[0][i] = WEFT_LEAST_KEY;
        total[0][i] = 0.0;
    }
    part.turn = 0;
    uint first = band.begin / BLOCK * BLOCK;
    for (uint block = first; block < band.end; block += BLOCK) {
        part.block = block;
        part.begin = max(band.begin, block);
        part.end = min(place, block + BLOCK);
        part.last = min(band.end, block + BLOCK);
        part.has_own = place < block + BLOCK;
        make_scores(part, block == first);
        order_scores(part, band);
        barrier();
        find_tops(part);
        barrier();
        make_weights(part, band);
        barrier();
        add_totals(part, band);
        barrier();
        find_inverses(part, band);
        barrier();
        add_values(part, band);
        barrier();
        part.turn = 1 - part.turn;
    }
    if (tile == 0) {
        keep_token(part, place % weft_half_rows(push.before));
    }
}

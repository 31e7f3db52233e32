#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
// One module for all modes (shaders/README.md).
//
// Products with stacked blocks of Walsh-Hadamard matrices and diagonals, whose parts are as
// weft_features_structure has them. A unit is one row of x times one block: a workgroup of LANES invocations has one of them, or several short ones. An invocation holds sets of 16 elements, which differ in four
// successive bits of their position, and makes the stages of those bits; then the workgroup changes
// bits through shared memory. The passes of a transform go from the highest bits to the lowest, those
// of the next back, so that what ends one and starts the next is one set, multiplied in between.
//
// Every transform is followed by the factor 2^-(p/2), rounded down, which is exact: numbers stay as
// large as those of x however many factors there are.
//
// Forms: workgroups that every device has, whose invocations have two sets of a block of 4,096; and workgroups so wide that no
// invocation has more than one, which is what GPUs have registers for.
// form hadamard LANES=128
// form hadamard_wide LANES=256

#include "index.glsl"
#include "math.glsl"
#include "numbers.glsl"

#define SET_BITS 4

layout(local_size_x = LANES) in;
layout(constant_id = 0) const uint KIND = WEFT_FEATURES_SORF; // a weft_features_kind
layout(constant_id = 1) const uint BITS = 0; // p: a block has 2^p columns
layout(constant_id = 2) const bool ODD = false; // so many transforms after the first that are of one product
layout(constant_id = 3) const bool FOURS = false; // the rows of the result begin at multiples of 4
layout(constant_id = 16) const uint TILE_ROLLED = 0; // 1: all passes and transforms are turns of two loops, a fraction of the code
layout(constant_id = 64) const uint FIXED_SET = 16; // 2^SET_BITS elements

const uint SETS = 1u << BITS > FIXED_SET * LANES ? (1u << BITS) / (FIXED_SET * LANES) : 1u; // of an invocation
const uint TILE = SETS * FIXED_SET * LANES;
const uint PASSES = BITS <= SET_BITS ? 1 : (BITS + SET_BITS - 1) / SET_BITS;

layout(std430, binding = 0) readonly buffer X { float x[]; };                   // [rows, width]
layout(std430, binding = 1) readonly buffer Diagonals { float diagonals[]; };   // [blocks, count, 2^p]
layout(std430, binding = 1) readonly buffer DiagonalsVector { vec4 diagonals4[]; };
layout(std430, binding = 2) readonly buffer Permutation { int permutation[]; }; // WEFT_FEATURES_FASTFOOD: [blocks, 2^p]
layout(std430, binding = 3) writeonly buffer Result { float result[]; };        // [rows, features]
layout(std430, binding = 3) writeonly buffer ResultVector { vec4 result4[]; };

layout(push_constant) uniform Push
{
    uint units;
    uint width;
    uint groups_x;
    uint rows; // of x
    uint blocks;
    uint diagonal_count;
    uint features;
    uint passes; // PASSES: two sets' loop over them is not for unrolling, which takes more registers than there are, nor is what is ROLLED
    float step;  // 2^-(p/2)
    float scale; // the rest
} push;

shared float tile[TILE];

struct weft_sets {
    vec4 v[8]; // element 4 q + c of set h is v[4 h + q][c]
};

// The lowest bit in which the elements of a set of pass k differ; the last pass shares bits with the
// one before.
uint first_bit(uint k)
{
    return BITS <= SET_BITS ? 0 : min(SET_BITS * k, BITS - SET_BITS);
}

// Where element e of a set is in the tile.
uint position(uint set, uint bit, uint e)
{
    uint i = set * LANES + gl_LocalInvocationID.x;
    return (i >> bit) << (bit + SET_BITS) | e << bit | (i & ((1u << bit) - 1u));
}

// The address of a position in shared memory: so, a set's elements are in different banks. That of a sum without carries is the
// exclusive or of the addresses.
uint address(uint at)
{
    return at ^ ((at >> SET_BITS) & (FIXED_SET - 1));
}

vec4 load_tile(uint first, uint bit, uint e)
{
    return vec4(tile[first ^ address(e << bit)], tile[first ^ address((e + 1) << bit)],
                tile[first ^ address((e + 2) << bit)], tile[first ^ address((e + 3) << bit)]);
}

void write_tile(weft_sets sets, uint bit)
{
    for (uint h = 0; h < SETS; h++) {
        uint first = address(position(h, bit, 0u));
        for (uint q = 0; q < 4; q++) {
            vec4 value = sets.v[4 * h + q];
            tile[first ^ address((4 * q) << bit)] = value.x;
            tile[first ^ address((4 * q + 1) << bit)] = value.y;
            tile[first ^ address((4 * q + 2) << bit)] = value.z;
            tile[first ^ address((4 * q + 3) << bit)] = value.w;
        }
    }
}

// An invocation writes where it has read last, so one barrier is enough.
void exchange(inout weft_sets sets, uint from, uint to)
{
    write_tile(sets, from);
    barrier();
    for (uint h = 0; h < SETS; h++) {
        uint first = address(position(h, to, 0u));
        for (uint q = 0; q < 4; q++) {
            sets.v[4 * h + q] = load_tile(first, to, 4 * q);
        }
    }
}

// The stages of pass k: of those of a set's bits that no pass before has, and that units have.
void butterflies(inout weft_sets sets, uint k)
{
    uint first = SET_BITS * k - first_bit(k);
    for (uint h = 0; h < SETS; h++) {
        vec4 a = sets.v[4 * h];
        vec4 b = sets.v[4 * h + 1];
        vec4 c = sets.v[4 * h + 2];
        vec4 d = sets.v[4 * h + 3];
        if (first == 0 && BITS > 0) {
            a = vec4(a.x + a.y, a.x - a.y, a.z + a.w, a.z - a.w);
            b = vec4(b.x + b.y, b.x - b.y, b.z + b.w, b.z - b.w);
            c = vec4(c.x + c.y, c.x - c.y, c.z + c.w, c.z - c.w);
            d = vec4(d.x + d.y, d.x - d.y, d.z + d.w, d.z - d.w);
        }
        if (first <= 1 && BITS > 1) {
            a = vec4(a.x + a.z, a.y + a.w, a.x - a.z, a.y - a.w);
            b = vec4(b.x + b.z, b.y + b.w, b.x - b.z, b.y - b.w);
            c = vec4(c.x + c.z, c.y + c.w, c.x - c.z, c.y - c.w);
            d = vec4(d.x + d.z, d.y + d.w, d.x - d.z, d.y - d.w);
        }
        if (first <= 2 && BITS > 2) {
            vec4 e = a - b;
            vec4 f = c - d;
            a = a + b;
            c = c + d;
            b = e;
            d = f;
        }
        if (BITS > 3) {
            vec4 e = a - c;
            vec4 f = b - d;
            a = a + c;
            b = b + d;
            c = e;
            d = f;
        }
        sets.v[4 * h] = a;
        sets.v[4 * h + 1] = b;
        sets.v[4 * h + 2] = c;
        sets.v[4 * h + 3] = d;
    }
}

// The transforms of all units. The sets are those of the last pass if `down`, afterwards those of the
// first one; and the other way round.
void transform(inout weft_sets sets, bool down)
{
    uint passes = SETS == 1 && TILE_ROLLED == 0 ? PASSES : push.passes;
    for (uint j = 0; j < passes; j++) {
        uint k = down ? PASSES - 1 - j : j;
        if (j > 0) {
            exchange(sets, first_bit(down ? k + 1 : k - 1), first_bit(k));
        }
        butterflies(sets, k);
    }
}

// The unit of a set's first element, as its row of x and its block. Units of 16 elements or more have whole sets; of shorter ones a
// set has several, one behind the other.
struct weft_unit {
    uint row;
    uint block;
};

weft_unit unit_of(uint first_unit, uint set, uint bit)
{
    uint unit = first_unit + (position(set, bit, 0u) >> BITS);
    uint row = unit / push.blocks;
    return weft_unit(row, unit - row * push.blocks);
}

// From the unit of element e of a set to that of the one behind it.
void advance(inout weft_unit unit, uint e)
{
    if (BITS < SET_BITS && ((e + 1u) & ((1u << BITS) - 1u)) == 0) {
        unit.block++;
        bool end = unit.block == push.blocks;
        unit.block = end ? 0u : unit.block;
        unit.row += end ? 1u : 0u;
    }
}

uint offset_of(uint at)
{
    return at & ((1u << BITS) - 1u);
}

// All ones for a < b and none otherwise, of numbers below 2^31: a mask takes a register of each lane, where conditions of many
// elements at once take more scalar registers than AMD's GPUs have.
uint below(uint a, uint b)
{
    return uint(int(a - b) >> 31);
}

float diagonal(weft_unit unit, uint index, uint at)
{
    return diagonals[((unit.block * push.diagonal_count + index) << BITS) + offset_of(at)];
}

// Four elements of a set lie one behind the other, in one unit, and that is known when this is compiled.
bool are_fours(uint bit)
{
    return TILE_ROLLED == 0 && bit == 0 && BITS >= 2;
}

// Of elements 4 q … 4 q + 3 of a set, as `unit` has them.
vec4 four_diagonals(weft_unit unit, uint index, uint set, uint bit, uint q)
{
    if (are_fours(bit)) {
        return diagonals4[((unit.block * push.diagonal_count + index) << BITS) / 4 +
                          offset_of(position(set, bit, 4 * q)) / 4];
    }
    vec4 four;
    for (uint c = 0; c < 4; c++) {
        four[c] = diagonal(unit, index, position(set, bit, 4 * q + c));
        advance(unit, 4 * q + c);
    }
    return four;
}

// x, with zeros behind its rows and in units that there are not.
float element(weft_unit unit, uint at)
{
    uint column = offset_of(at);
    uint mask = below(column, push.width) & below(unit.row, push.rows);
    return uintBitsToFloat(floatBitsToUint(x[(unit.row * push.width + column) & mask]) & mask);
}

// x times the first diagonal.
void load(out weft_sets sets, uint first_unit, uint bit)
{
    for (uint h = 0; h < SETS; h++) {
        weft_unit unit = unit_of(first_unit, h, bit);
        for (uint q = 0; q < 4; q++) {
            vec4 factors = four_diagonals(unit, 0u, h, bit, q);
            for (uint c = 0; c < 4; c++) {
                sets.v[4 * h + q][c] = factors[c] * element(unit, position(h, bit, 4 * q + c));
                advance(unit, 4 * q + c);
            }
        }
    }
}

void multiply(inout weft_sets sets, uint first_unit, uint index, uint bit)
{
    for (uint h = 0; h < SETS; h++) {
        weft_unit unit = unit_of(first_unit, h, bit);
        for (uint q = 0; q < 4; q++) {
            sets.v[4 * h + q] = four_diagonals(unit, index, h, bit, q) * (push.step * sets.v[4 * h + q]);
            for (uint c = 0; c < 4; c++) {
                advance(unit, 4 * q + c);
            }
        }
    }
}

// An index outside of the unit gives NaN, so that it cannot go unnoticed.
float permuted(weft_unit unit, uint at)
{
    uint source = uint(permutation[(unit.block << BITS) + offset_of(at)]);
    return source >> BITS == 0 ? tile[address((at >> BITS) << BITS | source)] : uintBitsToFloat(0x7fc00000u);
}

void permute(inout weft_sets sets, uint first_unit, uint bit)
{
    write_tile(sets, bit);
    barrier();
    for (uint h = 0; h < SETS; h++) {
        weft_unit unit = unit_of(first_unit, h, bit);
        for (uint q = 0; q < 4; q++) {
            for (uint c = 0; c < 4; c++) {
                sets.v[4 * h + q][c] = permuted(unit, position(h, bit, 4 * q + c));
                advance(unit, 4 * q + c);
            }
        }
    }
    barrier();
}

// An element of a block is its row offset_of(at) * stride + first_row.
void put(weft_unit unit, uint at, uint stride, uint first_row, float value)
{
    uint feature = ((unit.block << BITS) + offset_of(at)) * stride + first_row;
    if (unit.row < push.rows && feature < push.features) {
        result[unit.row * push.features + feature] = weft_flush(push.scale * value);
    }
}

// The same of four that are_fours, where FOURS are stored at once.
void put_four(weft_unit unit, uint at, vec4 value)
{
    uint feature = (unit.block << BITS) + offset_of(at);
    if (unit.row < push.rows && feature < push.features) {
        vec4 scaled = push.scale * value;
        result4[(unit.row * push.features + feature) / 4] =
            vec4(weft_flush(scaled.x), weft_flush(scaled.y), weft_flush(scaled.z), weft_flush(scaled.w));
    }
}

void store(weft_sets sets, uint first_unit, uint bit, uint stride, uint first_row)
{
    for (uint h = 0; h < SETS; h++) {
        weft_unit unit = unit_of(first_unit, h, bit);
        for (uint q = 0; q < 4; q++) {
            vec4 values = push.step * sets.v[4 * h + q];
            if (KIND == WEFT_FEATURES_FASTFOOD) {
                values = four_diagonals(unit, 2u, h, bit, q) * values;
            }
            if (FOURS && are_fours(bit) && stride == 1) {
                put_four(unit, position(h, bit, 4 * q), values);
            }
            for (uint c = 0; c < 4; c++) {
                if (!FOURS || !are_fours(bit) || stride != 1) {
                    put(unit, position(h, bit, 4 * q + c), stride, first_row, values[c]);
                }
                advance(unit, 4 * q + c);
            }
        }
    }
}

// All transforms, of which the first goes down. WEFT_FEATURES_S_HYBRID's two parts are the last turns: both start from what is there before.
void transform_in_turn(inout weft_sets sets, uint first_unit, uint transforms, uint low, uint high)
{
    weft_sets product = sets;
    for (uint j = 0; j < transforms + (KIND == WEFT_FEATURES_S_HYBRID ? 2 : 0); j++) {
        bool down = min(j, transforms) % 2 == 0;
        uint bit = down ? high : low;
        if (j > 0) {
            if (KIND == WEFT_FEATURES_FASTFOOD) {
                permute(sets, first_unit, bit);
            }
            if (KIND == WEFT_FEATURES_S_HYBRID) {
                barrier(); // the part before has been read
                if (j <= transforms) {
                    product = sets;
                }
                sets = product;
            }
            multiply(sets, first_unit, j, bit);
        }
        transform(sets, down);
        if (KIND == WEFT_FEATURES_S_HYBRID && j >= transforms) {
            store(sets, first_unit, ODD ? low : high, 2u, j - transforms);
        }
    }
}

// Those of one product by twos, so that where the sets are is known when this is compiled.
void transform_by_twos(inout weft_sets sets, uint first_unit, uint transforms, uint low, uint high)
{
    transform(sets, true);
    if (KIND == WEFT_FEATURES_FASTFOOD) {
        permute(sets, first_unit, low);
        multiply(sets, first_unit, 1u, low);
        transform(sets, false);
        return;
    }
    uint index = 1;
    for (; index + 1 < transforms; index += 2) {
        multiply(sets, first_unit, index, low);
        transform(sets, false);
        multiply(sets, first_unit, index + 1, high);
        transform(sets, true);
    }
    if (ODD) {
        multiply(sets, first_unit, index, low);
        transform(sets, false);
    }
}

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint first_unit = group * (TILE >> BITS);
    if (first_unit >= push.units) {
        return; // the whole group: no barrier is missed
    }
    uint low = first_bit(0);
    uint high = first_bit(PASSES - 1);
    weft_sets sets;
    load(sets, first_unit, high);
    // S-Hybrid's last two diagonals are of two products; of FastFood's three, one is not followed by a transform.
    uint transforms = push.diagonal_count - (KIND == WEFT_FEATURES_S_HYBRID ? 2u : KIND == WEFT_FEATURES_FASTFOOD ? 1u : 0u);
    if (TILE_ROLLED != 0) {
        transform_in_turn(sets, first_unit, transforms, low, high);
        if (KIND == WEFT_FEATURES_S_HYBRID) {
            return;
        }
    } else {
        transform_by_twos(sets, first_unit, transforms, low, high);
    }
    uint bit = ODD || KIND == WEFT_FEATURES_FASTFOOD ? high : low;
    if (KIND != WEFT_FEATURES_S_HYBRID) {
        store(sets, first_unit, bit, 1u, 0u);
        return;
    }
    // The two rows of each complex one, from the same product of the factors before.
    weft_sets product = sets;
    for (uint part = 0; part < 2; part++) {
        sets = product;
        multiply(sets, first_unit, transforms + part, bit);
        barrier(); // the part before has been read
        transform(sets, ODD);
        store(sets, first_unit, ODD ? low : high, 2u, part);
    }
}

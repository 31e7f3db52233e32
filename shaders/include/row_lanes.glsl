// SPDX-License-Identifier: MIT
//
// Rows on processors: a workgroup is one subgroup, which makes what 128 invocations make elsewhere (row_keep.glsl,
// reduce.glsl), in the same order. Its invocations have SLOTS of them each, the columns lane + TILE_LANES * slot of every
// turn of 128; the upper levels of the tree over the 128 are sums of registers, the others are done by all invocations alike.
// What is computed once for a row is computed once then, and not by each of 16 subgroups. Rows wait in `result` or
// the cache, and not in registers.

#ifndef WEFT_INCLUDE_ROW_LANES_GLSL
#define WEFT_INCLUDE_ROW_LANES_GLSL

#include "partial.glsl"

#define WEFT_TURN 128 // columns

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector

const uint SLOTS = WEFT_TURN / TILE_LANES;

layout(local_size_x_id = 17) in;

shared uint weft_lanes[2][16]; // two, so that no barrier is needed behind reading

uint weft_slot_column(uint slot)
{
    return gl_LocalInvocationIndex + TILE_LANES * slot;
}

// The columns that all lanes have alike: loops over them are branches and not masks.
uint weft_whole(uint columns)
{
    return columns / TILE_LANES * TILE_LANES;
}

// The tree of reduce.glsl over all slots of all lanes. `call` is 0 and 1 by turns.
float weft_slots_sum(float slots[SLOTS], uint call)
{
    for (uint count = SLOTS / 2; count > 0; count /= 2) {
        for (uint i = 0; i < count; i++) {
            slots[i] = slots[i] + slots[i + count];
        }
    }
    weft_lanes[call][gl_LocalInvocationIndex] = floatBitsToUint(slots[0]);
    barrier();
    float lanes[TILE_LANES];
    for (uint i = 0; i < TILE_LANES; i++) {
        lanes[i] = uintBitsToFloat(weft_lanes[call][i]);
    }
    for (uint count = TILE_LANES / 2; count > 0; count /= 2) {
        for (uint i = 0; i < count; i++) {
            lanes[i] = lanes[i] + lanes[i + count];
        }
    }
    return lanes[0];
}

// The largest of numbers given as weft_order_key; their order does not matter.
float weft_lanes_max(uint key, uint call)
{
    weft_lanes[call][gl_LocalInvocationIndex] = key;
    barrier();
    uint largest = 0;
    for (uint i = 0; i < TILE_LANES; i++) {
        largest = max(largest, weft_lanes[call][i]);
    }
    return weft_from_order_key(largest);
}

#endif

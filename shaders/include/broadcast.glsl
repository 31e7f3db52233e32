// SPDX-License-Identifier: MIT
//
// Where the elements of operands are that are repeated along some axes, by NumPy's rules. The host (runtime/ops/broadcast.c) joins
// neighbouring axes along which the same operands are repeated, and gives in the push constants
//
//   count, groups_x
//   axes             how many there are, 1 … 8
//   extent0 …        of the last axis, the one before it, …; the first is not needed
//   a_has, b_has …   bits: whether an operand has the axis, the last axis first

#ifndef WEFT_INCLUDE_BROADCAST_GLSL
#define WEFT_INCLUDE_BROADCAST_GLSL

#define WEFT_BROADCAST_PUSH                                                                      \
    uint count;                                                                                  \
    uint groups_x;                                                                               \
    uint axes;                                                                                   \
    uint extent0;                                                                                \
    uint extent1;                                                                                \
    uint extent2;                                                                                \
    uint extent3;                                                                                \
    uint extent4;                                                                                \
    uint extent5;                                                                                \
    uint extent6;

struct weft_walk {
    uint rest;    // of the item's index, in front of the axes that were walked
    uvec3 place;  // in each operand
    uvec3 stride; // of the next axis
};

weft_walk weft_walk_axis(weft_walk walk, uvec3 has, uint axis, uint extent)
{
    uvec3 own = (has >> axis) & 1u;
    uint index = walk.rest % extent;
    return weft_walk(walk.rest / extent, walk.place + own * walk.stride * index,
                     walk.stride * (own * (extent - 1u) + 1u));
}

#define WEFT_WALK(axis)                                                                          \
    if (push.axes > axis + 1u) {                                                                 \
        walk = weft_walk_axis(walk, has, axis, push.extent##axis);                               \
    }

// Behind the push constants. `has`: the bits of three operands.
#define WEFT_PLACES                                                                              \
    uvec3 weft_places(uint item, uvec3 has)                                                      \
    {                                                                                            \
        weft_walk walk = weft_walk(item, uvec3(0u), uvec3(1u));                                  \
        WEFT_WALK(0)                                                                             \
        WEFT_WALK(1)                                                                             \
        WEFT_WALK(2)                                                                             \
        WEFT_WALK(3)                                                                             \
        WEFT_WALK(4)                                                                             \
        WEFT_WALK(5)                                                                             \
        WEFT_WALK(6)                                                                             \
        return walk.place + ((has >> (push.axes - 1u)) & 1u) * walk.stride * walk.rest;          \
    }

#endif

// SPDX-License-Identifier: MIT
//
// Where the elements of operands are that are repeated along some axes, by NumPy's rules. The host (runtime/ops/broadcast.c) joins
// neighbouring axes along which the same operands are repeated, and gives in the push constants
//
//   count, groups_x
//   axes             how many there are, 1 … 8
//   extent0 …        of the last axis, the one before it, …; the first is not needed, but with INNER
//   magic0 …         of the same axes, and shifts, shift6: what divides by their extents (divide.glsl)
//   a_has, b_has …   bits: whether an operand has the axis, the last axis first
//
// Without INNER an invocation finds its item's places by itself. With it, on processors, workgroups lie in rows along the last
// axis, so that places are the same number for all of them, and elements side by side are loaded as such.

#ifndef WEFT_INCLUDE_BROADCAST_GLSL
#define WEFT_INCLUDE_BROADCAST_GLSL

#include "divide.glsl"
#include "index.glsl"

layout(constant_id = 16) const uint INNER = 0; // bits: whether an operand has the last axis; and WEFT_INNER_ROWS
#define WEFT_INNER_ROWS 8u

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
    uint extent6;                                                                                \
    uint magic0;                                                                                 \
    uint magic1;                                                                                 \
    uint magic2;                                                                                 \
    uint magic3;                                                                                 \
    uint magic4;                                                                                 \
    uint magic5;                                                                                 \
    uint magic6;                                                                                 \
    uint shifts;                                                                                 \
    uint shift6;

struct weft_walk {
    uint rest;    // of the item's index, in front of the axes that were walked
    uvec3 place;  // in each operand
    uvec3 stride; // of the next axis
};

// With INNER the rest is one for all lanes, which a processor divides once in less time than it takes by a product.
weft_walk weft_walk_axis(weft_walk walk, uvec3 has, uint axis, uint extent, uint magic, uint shift)
{
    uvec3 own = (has >> axis) & 1u;
    uint rest = INNER != 0u ? walk.rest / extent : weft_quotient(walk.rest, magic, shift);
    uint index = INNER != 0u ? walk.rest % extent : walk.rest - rest * extent;
    return weft_walk(rest, walk.place + own * walk.stride * index,
                     walk.stride * (own * (extent - 1u) + 1u));
}

#define WEFT_WALK_BY(axis, shift)                                                                \
    if (push.axes > axis + 1u) {                                                                 \
        walk = weft_walk_axis(walk, has, axis, push.extent##axis, push.magic##axis, shift);      \
    }
#define WEFT_WALK(axis) WEFT_WALK_BY(axis, weft_shift_of(push.shifts, axis))

// Behind the push constants. `has`: the bits of three operands. False where an invocation has no item.
#define WEFT_PLACES                                                                              \
    uvec3 weft_places_before(weft_walk walk, uvec3 has)                                          \
    {                                                                                            \
        WEFT_WALK(1)                                                                             \
        WEFT_WALK(2)                                                                             \
        WEFT_WALK(3)                                                                             \
        WEFT_WALK(4)                                                                             \
        WEFT_WALK(5)                                                                             \
        WEFT_WALK_BY(6, push.shift6)                                                             \
        return walk.place + ((has >> (push.axes - 1u)) & 1u) * walk.stride * walk.rest;          \
    }                                                                                            \
                                                                                                 \
    bool weft_places(out uint item, out uvec3 place, uvec3 has)                                  \
    {                                                                                            \
        weft_walk walk = weft_walk(0u, uvec3(0u), uvec3(1u));                                    \
        bool is_item;                                                                            \
        if (INNER != 0u) {                                                                       \
            uvec2 own = weft_row_item(push.groups_x, push.extent0);                              \
            uvec3 inner = uvec3(INNER & 1u, INNER >> 1u & 1u, INNER >> 2u & 1u);                 \
            walk.rest = push.axes > 1u ? own.y : 0u;                                             \
            walk.stride = inner * (push.extent0 - 1u) + 1u;                                      \
            has = push.axes > 1u ? has : uvec3(0u);                                              \
            place = weft_places_before(walk, has) + inner * own.x;                               \
            item = own.y * push.extent0 + own.x;                                                 \
            is_item = own.x < push.extent0 && item < push.count;                                 \
        } else {                                                                                 \
            item = weft_item_index(push.groups_x);                                               \
            walk.rest = item;                                                                    \
            WEFT_WALK(0)                                                                         \
            place = weft_places_before(walk, has);                                               \
            is_item = item < push.count;                                                         \
        }                                                                                        \
        return is_item;                                                                          \
    }

#endif

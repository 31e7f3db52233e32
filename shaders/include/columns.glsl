// SPDX-License-Identifier: MIT
//
// Columns of tensors [outer, extent, inner], of which each is gone through in order, in the form that the build asks for:
//
//   // form NAME                an invocation for each column
//   // form NAME WEFT_LANES     on processors: a workgroup is one subgroup, and a lane has some columns, TILE_LANES apart
//   // form NAME WEFT_FOURS     on processors, where inner is 1: an invocation reads four elements of its block at a time
//
// So whole vectors of what a row has are read, and of what neighbouring columns share no lane waits for another one's sum.
// A kernel has the push constants `count` (of columns), `groups_x` and `inner`, and a function
//
//   void make(uint line, uint column, uint slots)
//
// for the columns `column`, `column + WEFT_BETWEEN` … of inner, `slots` in number (at most WEFT_SLOTS), of one of the lines that
// are there for each of them; WEFT_MAKE_COLUMNS(make) calls it for all.

#ifndef WEFT_INCLUDE_COLUMNS_GLSL
#define WEFT_INCLUDE_COLUMNS_GLSL

#include "index.glsl"

#ifdef WEFT_LANES

#define WEFT_SLOTS 4
#define WEFT_BETWEEN TILE_LANES

layout(constant_id = 17) const uint TILE_LANES = 8; // 4, 8 or 16: those of a vector
layout(constant_id = 66) const uint FIXED_SLOTS = WEFT_SLOTS;

layout(local_size_x_id = 17) in;

#define WEFT_MAKE_COLUMNS(make)                                                                  \
    uint width = WEFT_SLOTS * TILE_LANES;                                                        \
    uint across = (push.inner - 1) / width + 1;                                                  \
    uint group = weft_group_index(push.groups_x);                                                \
    uint line = group / across;                                                                  \
    uint first = group % across * width;                                                         \
    if (line < push.count / push.inner) {                                                        \
        if (first + width <= push.inner) {                                                       \
            make(line, first + gl_LocalInvocationIndex, WEFT_SLOTS);                             \
        } else {                                                                                 \
            for (; first < push.inner; first += TILE_LANES) {                                    \
                uint column = first + gl_LocalInvocationIndex;                                   \
                if (column < push.inner) {                                                       \
                    make(line, column, 1);                                                       \
                }                                                                                \
            }                                                                                    \
        }                                                                                        \
    }

#else

#define WEFT_SLOTS 1
#define WEFT_BETWEEN 0

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

#define WEFT_MAKE_ITEM(make)                                                                     \
    if (item < push.count) {                                                                     \
        make(item / push.inner, item % push.inner, 1);                                           \
    }
#define WEFT_MAKE_COLUMNS(make)                                                                  \
    uint item = weft_item_index(push.groups_x);                                                  \
    WEFT_MAKE_ITEM(make)

// In fours: where inner is 1 and all blocks are whole ones of these lengths, and that is allowed, make_fours(item, first, fours) makes
// the item-th block of all, whose fours begin with `first`, a constant apart from that of the next lane. What decides is one for all
// lanes, and stands outside of what is not.
#define WEFT_SHORT_BLOCK 64
#define WEFT_LONG_BLOCK 128
#define WEFT_MAKE_IN_FOURS(make, make_fours, allowed)                                            \
    uint item = weft_item_index(push.groups_x);                                                  \
    uint others = (push.inner ^ 1) | (push.blocks * push.block ^ push.extent);                   \
    if ((allowed) && (others | (push.block ^ WEFT_SHORT_BLOCK)) == 0) {                          \
        if (item < push.count) {                                                                 \
            make_fours(item, item * (WEFT_SHORT_BLOCK / 4), WEFT_SHORT_BLOCK / 4);               \
        }                                                                                        \
    } else if ((allowed) && (others | (push.block ^ WEFT_LONG_BLOCK)) == 0) {                    \
        if (item < push.count) {                                                                 \
            make_fours(item, item * (WEFT_LONG_BLOCK / 4), WEFT_LONG_BLOCK / 4);                 \
        }                                                                                        \
    } else {                                                                                     \
        WEFT_MAKE_ITEM(make)                                                                     \
    }

#endif

#define WEFT_EACH_SLOT(s, slots) for (uint s = 0; s < slots; s++)

#endif

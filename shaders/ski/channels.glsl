// SPDX-License-Identifier: MIT
//
// The channels that an invocation has at a time, of buffers of rows of d channels: four, of the last of which some may
// lie past the row, which are read as its last channel and never stored; or, where channels lie along the lanes of a
// processor (WEFT_SKI_LANES), one.

#ifndef WEFT_SKI_CHANNELS_GLSL
#define WEFT_SKI_CHANNELS_GLSL

// What an invocation makes: a block of rows of its channels, in a sequence.
struct weft_ski_item
{
    uint channel;
    uint block;
    uint sequence;
};

#ifdef WEFT_SKI_LANES

#define WEFT_SKI_VALUE float
#define WEFT_SKI_LANE_CHANNELS 16 // of a workgroup

// Of the workgroups the first item of four channels says which are there. Where all lanes have a channel, which is
// nearly everywhere, nothing is masked.
#define WEFT_SKI_MAIN(rows)                                                                      \
    layout(local_size_x = WEFT_SKI_LANE_CHANNELS) in;                                            \
    void main()                                                                                  \
    {                                                                                            \
        uint group = weft_group_index(push.groups_x);                                            \
        uint pieces = (push.d - 1) / WEFT_SKI_LANE_CHANNELS + 1;                                 \
        uint block = group / pieces;                                                             \
        if (block * ((push.d - 1) / 4 + 1) >= push.count) {                                      \
            return;                                                                              \
        }                                                                                        \
        uint first = group % pieces * WEFT_SKI_LANE_CHANNELS;                                    \
        uint channel = first + gl_LocalInvocationID.x;                                           \
        uint blocks = (rows - 1) / WEFT_SKI_ROWS + 1;                                            \
        weft_ski_item item = weft_ski_item(channel, block % blocks, block / blocks);             \
        if (first + WEFT_SKI_LANE_CHANNELS <= push.d) {                                          \
            weft_ski_make(item);                                                                 \
        } else if (channel < push.d) {                                                           \
            weft_ski_make(item);                                                                 \
        }                                                                                        \
    }

#define WEFT_SKI_LOADER(name, scalars, fours)    \
    float name(uint row, uint channel)           \
    {                                            \
        return scalars[row * push.d + channel];  \
    }

#define WEFT_SKI_STORER(name, scalars)                            \
    void name(uint row, uint channel, float value)                \
    {                                                             \
        scalars[row * push.d + channel] = weft_flush(value);      \
    }

#else

#define WEFT_SKI_VALUE vec4

// Declares main, which calls weft_ski_make(item) for blocks of WEFT_SKI_ROWS of so many rows.
#define WEFT_SKI_MAIN(rows)                                                                      \
    layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;                                              \
    void main()                                                                                  \
    {                                                                                            \
        uint index = weft_item_index(push.groups_x);                                             \
        if (index >= push.count) {                                                               \
            return;                                                                              \
        }                                                                                        \
        uint fours = (push.d - 1) / 4 + 1;                                                       \
        uint blocks = (rows - 1) / WEFT_SKI_ROWS + 1;                                            \
        weft_ski_make(weft_ski_item(index % fours * 4, index / fours % blocks,                   \
                                    index / fours / blocks));                                    \
    }

// Declares vec4 name(row, channel), which loads four channels of a row from `scalars`, or from
// `fours`, the same memory as vectors, where VECTOR says that d is a multiple of four.
#define WEFT_SKI_LOADER(name, scalars, fours)                                             \
    vec4 name(uint row, uint channel)                                                     \
    {                                                                                     \
        uint index = row * push.d + channel;                                              \
        if (VECTOR != 0) {                                                                \
            return fours[index / 4];                                                      \
        }                                                                                 \
        uvec4 at = index + min(uvec4(0, 1, 2, 3), uvec4(push.d - 1 - channel));           \
        return vec4(scalars[at.x], scalars[at.y], scalars[at.z], scalars[at.w]);          \
    }

// Declares void name(row, channel, value).
#define WEFT_SKI_STORER(name, scalars)                                                    \
    void name(uint row, uint channel, vec4 value)                                         \
    {                                                                                     \
        uint count = min(4, push.d - channel);                                            \
        for (uint i = 0; i < count; i++) {                                                \
            scalars[row * push.d + channel + i] = weft_flush(value[i]);                   \
        }                                                                                 \
    }

#endif

#endif

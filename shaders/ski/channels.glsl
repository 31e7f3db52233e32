// SPDX-License-Identifier: MIT
//
// Four channels at a time, for buffers of rows of d channels: of the last four some may lie past
// the row, which are read as its last channel and never stored.

#ifndef WEFT_SKI_CHANNELS_GLSL
#define WEFT_SKI_CHANNELS_GLSL

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

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// What direct.comp computes, on processors: channels lie along the lanes, and all of a workgroup have the same rows, so
// that loads are whole vectors.

#include "direct.glsl"

layout(constant_id = 64) const uint FIXED_CHANNELS = 16; // of a workgroup

layout(local_size_x = 16) in;

void main()
{
    uint group = weft_group_index(push.groups_x);
    uint pieces = (push.channels - 1) / FIXED_CHANNELS + 1;
    uint tile = group / pieces;
    if (tile * push.channels >= push.count) {
        return;
    }
    uint tiles = (push.sequence_length + TILE_ROWS - 1) / TILE_ROWS;
    uint first = group % pieces * FIXED_CHANNELS;
    uint channel = first + gl_LocalInvocationID.x;
    // Where all lanes have a channel, which is nearly everywhere, nothing is masked.
    if (first + FIXED_CHANNELS <= push.channels) {
        weft_make_rows(tile / tiles, tile % tiles * TILE_ROWS, channel);
    } else if (channel < push.channels) {
        weft_make_rows(tile / tiles, tile % tiles * TILE_ROWS, channel);
    }
}

#version 450
#extension GL_GOOGLE_include_directive : require
// SPDX-License-Identifier: MIT
//
// Toeplitz matrices times sequences by their definition: channels follow one another over the invocations.

#include "direct.glsl"

layout(local_size_x = WEFT_ITEMS_PER_GROUP) in;

void main()
{
    uint item = weft_item_index(push.groups_x);
    if (item >= push.count) {
        return;
    }
    uint tiles = (push.sequence_length + TILE_ROWS - 1) / TILE_ROWS;
    weft_make_rows(item / push.channels / tiles, item / push.channels % tiles * TILE_ROWS,
                   item % push.channels);
}

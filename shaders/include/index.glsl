// SPDX-License-Identifier: MIT
//
// Work item indices for dispatches with a weft_grid_of_items: groups in x, and in y
// where x alone would exceed 65535. The group count comes as a push constant and not from
// gl_NumWorkGroups, which would be wrong for a part of a split dispatch.

#ifndef WEFT_INCLUDE_INDEX_GLSL
#define WEFT_INCLUDE_INDEX_GLSL

#define WEFT_ITEMS_PER_GROUP 128

uint weft_group_index(uint groups_x)
{
    return gl_WorkGroupID.y * groups_x + gl_WorkGroupID.x;
}

uint weft_item_index(uint groups_x)
{
    return weft_group_index(groups_x) * WEFT_ITEMS_PER_GROUP + gl_LocalInvocationID.x;
}

#endif

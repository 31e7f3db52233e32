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

// Of a dispatch with a weft_grid_of_rows: the column of a workgroup's first item, and the row of all. Processors, whose lanes a row
// fills, then load what lies side by side as such, and divide once for all items.
uvec2 weft_row_place(uint groups_x, uint columns)
{
    uint blocks = (columns - 1u) / WEFT_ITEMS_PER_GROUP + 1u;
    uint group = weft_group_index(groups_x);
    return uvec2(group % blocks * WEFT_ITEMS_PER_GROUP, group / blocks);
}

// An item's column, which may be past the row's end, and its row.
uvec2 weft_row_item(uint groups_x, uint columns)
{
    return weft_row_place(groups_x, columns) + uvec2(gl_LocalInvocationID.x, 0u);
}

#endif

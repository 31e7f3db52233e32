// SPDX-License-Identifier: MIT
//
// Rows that are gone through more than once: an invocation of a workgroup of 128 has the columns
// lane, lane + 128, …, one in each turn, and keeps what it needs of them in registers where the
// host (weft_rows_kept) says that KEPT turns are all. The including file declares
//
//   layout(constant_id = …) const uint KEPT = 0; // 0: they are too many, and stay in buffers
//
// before. What is computed, and in which order, does not depend on KEPT.

#ifndef WEFT_INCLUDE_ROW_KEEP_GLSL
#define WEFT_INCLUDE_ROW_KEEP_GLSL

#include "reduce.glsl"

layout(constant_id = 64) const uint WEFT_FIXED_MOST_KEPT = 16; // turns: weft_rows_kept

float weft_kept[WEFT_FIXED_MOST_KEPT];

// How often the loops over the row go round. With KEPT as often in all invocations, so that a driver can unroll them and
// give each element a register (an attribute `unroll` would make lavapipe unroll the loops without KEPT, too, which takes
// 5 times as long); in the last one some have no column. Without, as often as this invocation has a column.
uint weft_turns(uint columns)
{
    return KEPT != 0 ? KEPT
                     : (columns + (WEFT_GROUP_SIZE - 1) - gl_LocalInvocationID.x) / WEFT_GROUP_SIZE;
}

uint weft_turn_column(uint turn)
{
    return gl_LocalInvocationID.x + turn * WEFT_GROUP_SIZE;
}

#endif

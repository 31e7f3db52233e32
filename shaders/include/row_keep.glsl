// SPDX-License-Identifier: MIT
//
// Rows that are gone through more than once, behind row.glsl and
//
//   layout(constant_id = …) const uint KEPT = 0; // 0: they are too long, and stay in buffers
//
// By a workgroup for each row, an invocation keeps what it needs of its columns in registers where the host (weft_rows_kept) says
// that KEPT turns of 128 are all. In other forms KEPT is nothing. What is computed, and in which order, does not depend on it.
//
//   WEFT_GO_TO(rows)               goes to the row, before anything is done with it
//   WEFT_FIRST(buffer, at)         an element that is read and kept
//   WEFT_KEPT(buffer, at)          what was kept of it, or of `buffer`
//   WEFT_KEEP(buffer, at, value);  keeps another

#ifndef WEFT_INCLUDE_ROW_KEEP_GLSL
#define WEFT_INCLUDE_ROW_KEEP_GLSL

#ifdef WEFT_ROW_GROUP

layout(constant_id = 64) const uint WEFT_FIXED_MOST_KEPT = 16; // turns: weft_rows_kept

float weft_kept[WEFT_FIXED_MOST_KEPT];
uint weft_turn; // the one at hand

// With KEPT the loops over a row go round as often in all invocations, so that a driver can unroll them and give each element a
// register (an attribute `unroll` would make lavapipe unroll the loops without KEPT, too, which takes 5 times as long); in the
// last turn some have no column.
#undef WEFT_ROW_LOOP
#define WEFT_ROW_LOOP(columns, c, statement)                                                     \
    if (KEPT != 0) {                                                                             \
        for (weft_turn = 0; weft_turn < KEPT; weft_turn++) {                                     \
            uint c = gl_LocalInvocationID.x + weft_turn * WEFT_GROUP_SIZE;                       \
            if (c < columns) {                                                                   \
                statement;                                                                       \
            }                                                                                    \
        }                                                                                        \
    } else {                                                                                     \
        for (uint c = gl_LocalInvocationID.x; c < columns; c += WEFT_GROUP_SIZE) {               \
            statement;                                                                           \
        }                                                                                        \
    }

#define WEFT_GO_TO(rows) weft_row_at = rows.first * push.columns; // in front of all branches, which then share the product

float weft_first(float value)
{
    if (KEPT != 0) {
        weft_kept[weft_turn] = value;
    }
    return value;
}

#define WEFT_FIRST(buffer, at) weft_first(buffer[at])
#define WEFT_KEPT(buffer, at) (KEPT != 0 ? weft_kept[weft_turn] : buffer[at])
#define WEFT_KEEP(buffer, at, value)                                                             \
    if (KEPT != 0) {                                                                             \
        weft_kept[weft_turn] = value;                                                            \
    } else {                                                                                     \
        buffer[at] = value;                                                                      \
    }

#else

#define WEFT_GO_TO(rows)
#define WEFT_FIRST(buffer, at) buffer[at]
#define WEFT_KEPT(buffer, at) buffer[at]
#define WEFT_KEEP(buffer, at, value) buffer[at] = value

#endif

#endif

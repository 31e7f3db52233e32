// SPDX-License-Identifier: MIT
//
// A few rows of a by a panel of b: each step of b is read once, straight into registers, and serves all of them. A workgroup has
// a panel, and an invocation four of its columns.

#ifndef WEFT_INCLUDE_MATMUL_PANEL_ROWS_GLSL
#define WEFT_INCLUDE_MATMUL_PANEL_ROWS_GLSL

#include "matmul_panels.glsl"

layout(local_size_x = COLUMNS / 4) in;

layout(constant_id = 16) const uint TILE_ROWS = 1;      // 1 to MOST_ROWS
layout(constant_id = 64) const uint FIXED_COLUMNS = 64; // of a workgroup: COLUMNS

#define MOST_ROWS 4

#define ROW(i, element)                                       \
    if (i < TILE_ROWS) {                                      \
        sum[i] = weft_multiply_add(element, columns, sum[i]); \
    }

// Adds the sums of a chunk, whose first step of k is `begin` and of b is `first`, to the totals.
void add_chunk(inout vec4 total[MOST_ROWS], uint rows[MOST_ROWS], uint first, uint begin)
{
    uint depth = min(WEFT_CHUNK, push.k - begin);
    uint x = gl_LocalInvocationID.x;
    uint k = begin * push.a_column;
    vec4 sum[MOST_ROWS];
    for (uint i = 0; i < MOST_ROWS; i++) {
        sum[i] = vec4(0.0);
    }
    if (has_plain_rows(rows[TILE_ROWS - 1] + k)) {
        uint at[MOST_ROWS];
        for (uint i = 0; i < MOST_ROWS; i++) {
            at[i] = min(rows[i] + k, LAST_CHUNK);
        }
        for (uint begins = 0; begins < depth; begins += RUN) {
            weft_block_run_of run = weft_begin_run(first + begins, x);
            for (uint t = begins; t < min(begins + RUN, depth); t++) {
                vec4 columns = weft_panel_columns(run, first + t, x);
                ROW(0, a[at[0] + t])
                ROW(1, a[at[1] + t])
                ROW(2, a[at[2] + t])
                ROW(3, a[at[3] + t])
            }
        }
    } else {
        for (uint begins = 0; begins < depth; begins += RUN) {
            weft_block_run_of run = weft_begin_run(first + begins, x);
            for (uint t = begins; t < min(begins + RUN, depth); t++) {
                vec4 columns = weft_panel_columns(run, first + t, x);
                ROW(0, weft_a(rows[0] + k))
                ROW(1, weft_a(rows[1] + k))
                ROW(2, weft_a(rows[2] + k))
                ROW(3, weft_a(rows[3] + k))
                k += push.a_column;
            }
        }
    }
    for (uint i = 0; i < TILE_ROWS; i++) {
        total[i] = total[i] + sum[i];
    }
}

// Adds up products of the panel of b whose first step is `panel` by the rows that begin at these elements of a.
void multiply_panel(out vec4 total[MOST_ROWS], uint rows[MOST_ROWS], uint panel)
{
    for (uint i = 0; i < MOST_ROWS; i++) {
        total[i] = vec4(0.0);
    }
    for (uint begin = 0; begin < push.k; begin += WEFT_CHUNK) {
        add_chunk(total, rows, min(panel + begin, LAST_STEP), begin);
    }
}

#endif

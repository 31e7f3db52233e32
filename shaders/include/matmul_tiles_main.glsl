// SPDX-License-Identifier: MIT
//
// What matmul_tiles.glsl begins, with the including file's MULTIPLY_TILE(multiply_add), which adds the product of the tiles to the sums.
#ifndef WEFT_INCLUDE_MATMUL_TILES_MAIN_GLSL
#define WEFT_INCLUDE_MATMUL_TILES_MAIN_GLSL

// Whether a product of this tile, and of the next, may be small. Invocations that say so store the same.
shared uint small_tile[2];

void multiply_tile()
{
    MULTIPLY_TILE(weft_multiply_add)
}

void multiply_plain_tile()
{
    MULTIPLY_TILE(weft_plain_multiply_add)
}

void main()
{
    vec4 total[ROWS * FOURS];
    for (uint i = 0; i < ROWS * FOURS; i++) {
        total[i] = vec4(0.0);
        sum[i] = vec4(0.0);
    }
    find_places();
    uint turn = 0;
    if (WEFT_ASKS_PRODUCTS) {
        if (gl_LocalInvocationIndex == 0) {
            small_tile[0] = 0;
        }
        barrier();
    }
    for (uint chunk = 0; chunk < push.k; chunk += WEFT_CHUNK) {
        uint end = min(chunk + WEFT_CHUNK, push.k);
        for (uint k = chunk; k < end; k += TILE_DEPTH) {
            bool small = true; // the last tile is not asked
            if (k + TILE_DEPTH <= push.k) {
                small = load_whole();
            } else {
                load_end(push.k - k);
            }
            advance();
            if (WEFT_ASKS_PRODUCTS && small) {
                small_tile[turn % 2] = 1;
            }
            barrier();
            if (WEFT_ASKS_PRODUCTS && small_tile[turn % 2] != 0) {
                multiply_tile();
            } else {
                multiply_plain_tile();
            }
            if (WEFT_ASKS_PRODUCTS) {
                turn++;
                if (gl_LocalInvocationIndex == 0) {
                    small_tile[turn % 2] = 0; // what it said of the tile before last, all have read
                }
            }
            barrier();
        }
        if (TILE_SUMS == 2) {
            for (uint i = 0; i < ROWS * FOURS; i++) {
                total[i] = total[i] + sum[i];
                sum[i] = vec4(0.0);
            }
        }
    }
    uint c_base = weft_batch_offset(push.c_outer, push.c_inner);
    for (uint i = 0; i < ROWS; i++) {
        for (uint f = 0; f < FOURS; f++) {
            weft_store_four(c_base, gl_WorkGroupID.y * TILE_ROWS + row_lane() * ROWS + i,
                            gl_WorkGroupID.x * TILE_COLUMNS + (column_lane() + 16 * f) * 4,
                            TILE_SUMS == 2 ? total[ROWS * f + i] : sum[ROWS * f + i]);
        }
    }
}

#endif

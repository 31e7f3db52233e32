/* SPDX-License-Identifier: MIT */
#include "ops/columns.h"

#include "kernels/reduce/columns_lanes.h"

/* First words of their push constants; those of whole columns end with `inner`. */
struct words {
    uint32_t count, groups_x, extent, inner, block, blocks;
};

struct weft_grid weft_columns_grid(const struct weft_variant *variant, const void *args,
                                   uint32_t batches) {
    const struct words *words = args;
    const uint32_t width = variant->tiles[0] * WEFT_REDUCE_COLUMNS_LANES_SLOTS;
    (void)batches;
    return weft_grid_of_groups((uint64_t)(words->count / words->inner) *
                               ((words->inner - 1) / width + 1));
}

/* Half a vector still takes less time than a place worked out for each lane. */
bool weft_columns_suit(const struct weft_variant *variant, const void *args) {
    const struct words *words = args;
    return 2 * words->inner >= variant->tiles[0];
}

bool weft_columns_are_fours(uint32_t extent, uint32_t inner, uint32_t block, uint32_t blocks) {
    enum { SHORT = 64, LONG = 128 }; /* as in the shader */
    return inner == 1 && (block == SHORT || block == LONG) && blocks * block == extent;
}

bool weft_columns_suit_fours(const struct weft_variant *variant, const void *args) {
    const struct words *words = args;
    (void)variant;
    return weft_columns_are_fours(words->extent, words->inner, words->block, words->blocks);
}

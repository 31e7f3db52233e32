/* SPDX-License-Identifier: MIT */
#include "ops/columns.h"

#include "kernels/reduce/columns_lanes.h"

/* First words of their push constants. */
struct words {
    uint32_t count, groups_x, extent, inner;
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

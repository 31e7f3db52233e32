/* SPDX-License-Identifier: MIT */
/* Right-hand sides in panels, made at each run: what weft_lower_panel_weight makes of constants once. */
#include "kernels/matmul/pack.h"
#include "lower/cut.h"
#include "ops/matmul.h"
#include "ops/row.h"

static struct weft_grid pack_grid(const struct weft_variant *variant, const void *args,
                                  uint32_t batches) {
    const struct weft_matmul_pack_args *a = args;
    (void)variant;
    return weft_grid_of(a->push.count, (a->push.k - 1) / WEFT_MATMUL_PACK_STEPS + 1, batches);
}

WEFT_VARIANTS(matmul_pack, "matmul/pack", WEFT_LANES_ROWS(matmul_pack, pack_grid, 1))

uint32_t weft_lower_panels(struct weft_lowering *lowering, const struct weft_product *product,
                           uint32_t panel, uint32_t lengths) {
    const struct weft_matrix *b = &product->b;
    const uint32_t count = (product->n - 1) / panel + 1;
    const uint64_t elements = (uint64_t)product->batches * count * panel * product->k;
    if (!weft_lower_countable(lowering, (double)elements, "elements in panels")) {
        return WEFT_NO_STORAGE;
    }
    const uint32_t panels = weft_lower_scratch(lowering, elements * sizeof(float));
    struct weft_dispatch *dispatch =
        WEFT_LOWER_VARIANTS(lowering, &weft_matmul_pack_variants, product->batches, matmul_pack,
                            .bind = {.b = b->storage, .lengths = lengths, .panels = panels},
                            .push = {.n = product->n,
                                     .k = product->k,
                                     .count = count,
                                     .inner = product->inner_count,
                                     .b_outer = b->outer,
                                     .b_inner = b->inner,
                                     .b_row = b->row,
                                     .b_column = b->column},
                            .constant = {.has_lengths = lengths != WEFT_NO_STORAGE,
                                         .panel = panel,
                                         .vector = b->row == 1 && b->column % 4 == 0 &&
                                                   b->outer % 4 == 0 && b->inner % 4 == 0});
    dispatch->bytes = 8.0 * (double)elements;
    return panels;
}

/* SPDX-License-Identifier: MIT */
#include "plan/op_table.h"

#define WEFT_VARIANTS_ROW(name) &weft_##name##_variants,
static const struct weft_variant_set *const sets[] = {WEFT_VARIANT_SETS(WEFT_VARIANTS_ROW)};

const struct weft_variant_set *const *weft_variant_table(uint32_t *count) {
    *count = (uint32_t)(sizeof sets / sizeof sets[0]);
    return sets;
}

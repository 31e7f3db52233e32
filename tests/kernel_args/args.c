/* SPDX-License-Identifier: MIT */
/*
 * A dispatch that gives every field of its kernel, and, with one of these defined, one that does not: compiled, never
 * run (tests/cmake/kernel_args.cmake).
 */
#include "kernels/elementwise/affine.h"
#include "lower/lowering.h"

void lower(struct weft_lowering *lowering, uint32_t x, uint32_t result, uint32_t count);

void lower(struct weft_lowering *lowering, uint32_t x, uint32_t result, uint32_t count) {
    WEFT_LOWER(lowering, elementwise_affine, weft_grid_of_items(count),
               .bind = {.x = x, .result = result},
#if defined(MISSING)
               .push = {.count = count, .scale = 2.0F}
#elif defined(UNKNOWN)
               .push = {.count = count, .scale = 2.0F, .bias = 1.0F}
#elif defined(TWICE)
               .push = {.count = count, .scale = 2.0F, .scale = 2.0F}
#elif defined(LAUNCH)
               .push = {.count = count, .groups_x = 1, .scale = 2.0F, .offset = 1.0F}
#elif defined(NO_SUCH_GROUP)
               .push = {.count = count, .scale = 2.0F, .offset = 1.0F}, .constant = {.kind = 1}
#else
               .push = {.offset = 1.0F, .count = count, .scale = 2.0F} /* in any order */
#endif
    );
}

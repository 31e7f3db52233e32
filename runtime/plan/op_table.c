/* SPDX-License-Identifier: MIT */
#include "plan/op_table.h"

#define WEFT_OP_ROW(name) &weft_op_##name,
static const struct weft_op *const ops[] = {WEFT_OPS(WEFT_OP_ROW)};

const struct weft_op *const *weft_op_table(uint32_t *count) {
    *count = (uint32_t)(sizeof ops / sizeof ops[0]);
    return ops;
}

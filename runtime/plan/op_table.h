/* SPDX-License-Identifier: MIT */
#ifndef WEFT_PLAN_OP_TABLE_H
#define WEFT_PLAN_OP_TABLE_H

#include "graph/op.h"

/** All sets of variants; *count receives how many. */
const struct weft_variant_set *const *weft_variant_table(uint32_t *count);

#endif

/* SPDX-License-Identifier: MIT */
/* The host half of shaders/include/row_norm.glsl: kernels that make a row per workgroup and may normalise it. */
#ifndef WEFT_OPS_ROW_H
#define WEFT_OPS_ROW_H

#include "graph/lowering.h"

/** Binds residual, gamma and beta; an operand that the epilogue has not is bound to `unused`, which is not read. */
void weft_row_bind_epilogue(struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                            const struct weft_epilogue *epilogue, uint32_t unused);

/** Storages the epilogue reads, made before a dispatch is appended. */
void weft_row_prepare_epilogue(struct weft_lowering *lowering,
                               const struct weft_epilogue *epilogue);

/** KEPT of shaders/include/row_keep.glsl for rows of that many (not 0) columns. */
uint32_t weft_rows_kept(uint32_t columns);

/** Sets specialization constants 0, 1 and 2, the groups, the push words rows, columns, groups_x, epsilon, and the costs. */
void weft_row_finish(struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                     const struct weft_node *node);

#endif

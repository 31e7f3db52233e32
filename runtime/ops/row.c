/* SPDX-License-Identifier: MIT */
#include "ops/row.h"

#define GROUP_SIZE 128 /* WEFT_GROUP_SIZE of shaders/include/reduce.glsl */
#define MOST_KEPT  16  /* WEFT_MOST_KEPT of shaders/include/row_keep.glsl */

static uint32_t operand(struct weft_lowering *lowering, uint32_t value, uint32_t unused) {
    return value ? weft_lower_value(lowering, value) : unused;
}

void weft_row_prepare_epilogue(struct weft_lowering *lowering,
                               const struct weft_epilogue *epilogue) {
    operand(lowering, epilogue->residual, 0);
    operand(lowering, epilogue->gamma, 0);
    operand(lowering, epilogue->beta, 0);
}

void weft_row_bind_epilogue(struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                            const struct weft_epilogue *epilogue, uint32_t unused) {
    weft_dispatch_read(dispatch, operand(lowering, epilogue->residual, unused));
    weft_dispatch_read(dispatch, operand(lowering, epilogue->gamma, unused));
    weft_dispatch_read(dispatch, operand(lowering, epilogue->beta, unused));
}

uint32_t weft_rows_kept(uint32_t columns) {
    const uint32_t turns = (columns - 1) / GROUP_SIZE + 1;
    return turns <= MOST_KEPT ? turns : 0;
}

void weft_row_finish(struct weft_lowering *lowering, struct weft_dispatch *dispatch,
                     const struct weft_node *node) {
    const struct weft_epilogue *epilogue = &node->epilogue;
    weft_shape shape = lowering->graph->values[node->output].shape;
    const struct weft_rows rows = weft_shape_rows(shape);
    double count = (double)weft_shape_elements(shape);
    weft_dispatch_specialize(dispatch, epilogue->residual != 0);
    weft_dispatch_specialize(dispatch, epilogue->gamma != 0);
    weft_dispatch_specialize(dispatch, epilogue->gamma ? weft_rows_kept(rows.columns) : 0);
    weft_dispatch_rows(dispatch, rows);
    weft_dispatch_push_f32(dispatch, epilogue->epsilon);
    dispatch->flops = count * ((epilogue->residual != 0) + (epilogue->gamma ? 8.0 : 0.0) + 1.0);
    dispatch->bytes = 4.0 * count * (2.0 + (epilogue->residual != 0));
}

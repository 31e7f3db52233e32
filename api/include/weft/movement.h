/* SPDX-License-Identifier: MIT */
/*
 * Ops that move elements and compute nothing, f32 or i32: every element keeps its bits, NaN and subnormals included.
 * Axes count from 0, the outermost. An op that moves nothing (a permutation of axes of 1, a slice of everything)
 * costs nothing at run time, as a reshape.
 *
 * Errors are those of the ops of graph.h.
 */
#ifndef WEFT_MOVEMENT_H
#define WEFT_MOVEMENT_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The axes in another order: axis i of the result is axis `axes`[i] of x. `axes` has each of x's axes once:
 * weft_shape_of(0, 2, 1) exchanges the last two of three.
 */
WEFT_API weft_status weft_graph_permute(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                        weft_shape axes);

/**
 * `count` elements along an axis: `start`, `start` + `step`, `start` + 2 `step` and so on, all inside the axis. count
 * ≥ 1; step is not 0, and may be negative.
 */
WEFT_API weft_status weft_graph_slice(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                      uint32_t axis, uint32_t start, uint32_t count, int32_t step);

/**
 * Joins tensors along an axis. They have one type, and equal shapes but for that axis. More than ten make several
 * nodes.
 */
WEFT_API weft_status weft_graph_concat(weft_tensor *out, weft_graph *graph, const weft_tensor *xs,
                                       uint32_t x_count, uint32_t axis);

/** `before` and `after` elements more along an axis, all `value`, which for i32 must be a whole number in its range. */
WEFT_API weft_status weft_graph_pad(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                    uint32_t axis, uint32_t before, uint32_t after, float value);

/**
 * NumPy's broadcasting: x repeated to a shape. Both are aligned at their last axes; each axis of x is 1, or as long as
 * that of the shape.
 */
WEFT_API weft_status weft_graph_expand(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                       weft_shape shape);

/**
 * Slices of x along an axis by their indices, i32 of any shape, whose axes stand in the result in place of that axis:
 * NumPy's take, torch.index_select, ONNX's Gather. Each index is 0 … the axis's length - 1. An index outside gives NaN,
 * or 0 of i32; weft_plan_execute rejects such indices in inputs before anything runs.
 */
WEFT_API weft_status weft_graph_take(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                     weft_tensor indices, uint32_t axis);

/**
 * Single elements of x along an axis. The result has the shape of the indices, i32. Each element is that of x at its
 * own place, but with the index as its coordinate on the axis. NumPy's take_along_axis, torch.gather, ONNX's
 * GatherElements. Shapes are equal but for the axis. Indices outside: as weft_graph_take.
 */
WEFT_API weft_status weft_graph_take_along(weft_tensor *out, weft_graph *graph, weft_tensor x,
                                           weft_tensor indices, uint32_t axis);

#ifdef __cplusplus
}
#endif

#endif

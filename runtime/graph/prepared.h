/* SPDX-License-Identifier: MIT */
/*
 * Constants that the device itself computes, once: what an op makes of its weights before it can use them, such as the
 * transform of a kernel. A plan of the very dispatches that would make them in every run makes them while the op is
 * lowered, so the bits are the same either way.
 */
#ifndef WEFT_GRAPH_PREPARED_H
#define WEFT_GRAPH_PREPARED_H

#include "graph/lowering.h"

/** Adds nodes to an empty graph and gives the tensor that is wanted; weights are the only sources. */
typedef weft_status (*weft_prepare)(weft_tensor *out, weft_graph *graph, void *user);

/**
 * The storage of the f32 or i32 tensor of `bytes` bytes that `build` describes, kept on the device under `key` (a text
 * that determines the contents, by the uids of the weights). Compiles and runs a plan when the device does not hold it.
 */
uint32_t weft_lower_prepared(struct weft_lowering *lowering, const char *key, uint64_t bytes,
                             weft_prepare build, void *user);

/** The weight whose elements a value is, possibly under another shape, or null. */
weft_weight *weft_lower_weight_of(const struct weft_lowering *lowering, uint32_t value);

/** For `build` functions: the weight in this shape, which has as many elements. */
weft_status weft_prepare_weight(weft_tensor *out, weft_graph *graph, weft_weight *weight,
                                weft_shape shape);

#endif

/* SPDX-License-Identifier: MIT */
/* The compile passes, in the order in which weft_plan_compile runs them. */
#ifndef WEFT_PLAN_PASSES_H
#define WEFT_PLAN_PASSES_H

#include "lower/lowering.h"

/** Makes products read transposed matrices as they are, by ops' is_transpose and read_transposed. */
weft_status weft_pass_transposes(weft_graph *graph);

/** Replaces the weights of matrices.h by their bytes, if the device keeps weights so. After the transposes pass. */
weft_status weft_pass_quantize(weft_graph *graph, weft_device *device);

/** Folds bias, activation, residual and LayerNorm into the nodes before them, where the op at hand can take them. */
weft_status weft_pass_fuse(weft_graph *graph);

/** Makes outputs of the values that `checkpoints` asks for: the same on every device. Drops nodes as the next one does. */
weft_status weft_pass_checkpoints(weft_graph *graph, weft_checkpoints checkpoints);

/** Drops nodes whose result nobody reads. */
weft_status weft_pass_prune(weft_graph *graph);

/**
 * Makes weights of what depends on weights alone and is read by nodes that do not: each is run once on the device, by
 * `forced` as in weft_pass_choose, and kept there. Before the fuse pass. A graph without inputs stays as it is.
 */
weft_status weft_pass_fold(weft_graph *graph, weft_device *device, const char *forced,
                           const struct weft_engine *engine);

/** Gives each node its implementation (choose.h): op->choose names the bits of reproducible mode. */
weft_status weft_pass_choose(weft_graph *graph, struct weft_chooser *chooser);

/** Appends every node's dispatches and the copies that outputs need. */
weft_status weft_pass_lower(struct weft_lowering *lowering);

/** The first offset in the arena from there on at which a tensor may begin. */
uint64_t weft_place_aligned(uint64_t offset);

/** Offsets in one arena by lifetime, and the bound that no placement can beat. Bytes. */
weft_status weft_pass_place(struct weft_lowering *lowering, uint64_t *arena_bytes,
                            uint64_t *lower_bound);

/** Marks the dispatches that must wait for earlier ones; returns how many. */
weft_status weft_pass_order(struct weft_lowering *lowering, uint32_t *barriers);

#endif

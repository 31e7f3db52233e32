/* SPDX-License-Identifier: MIT */
/*
 * From a program to machine code. First it is worked out which values are one scalar for a whole subgroup, which count up
 * from lane to lane, and which differ (shape.c); then LLVM gets scalars and vectors (emit.h).
 */
#ifndef WEFT_NATIVE_ANALYSIS_H
#define WEFT_NATIVE_ANALYSIS_H

#include "native/kernel.h"
#include "spirv/ir/ir.h"

/* ---- width.c ---- */

/** Makes vectors of a whole program twice as long where that pays and nobody can tell. */
void weft_ir_widen(struct weft_ir_program *program);

/* ---- shape.c ---- */

/** Works out all shapes, and which constructs diverge. */
void weft_ir_find_shapes(struct weft_ir_program *program);

/** How much more a linear value of a lane is than that of lane 0. */
int64_t weft_ir_lane_offset(const struct weft_ir_program *program, struct weft_ir_shape shape,
                            uint32_t lane);
/** True if a linear value counts up by its stride over all lanes. */
bool weft_ir_is_even(const struct weft_ir_program *program, struct weft_ir_shape shape);

/** True if a store in `list` reaches lanes other than those that are alive in the slot's home. */
bool weft_ir_store_is_partial(const struct weft_ir_program *program, uint32_t list,
                              const struct weft_ir_slot *slot);

/* ---- live.c ---- */

/** Marks the slots of which nothing is read behind a fragment before it is set anew; `end`: the node that ends it in its list. */
void weft_ir_find_dead(bool *dead, struct weft_ir_program *program, uint32_t list, uint32_t end);

/* ---- barriers.c ---- */

/** Takes out barriers between pieces of code of which none writes memory that the other one accesses. */
void weft_ir_drop_barriers(struct weft_ir_program *program);

/* ---- compile.c ---- */

/** All of the above, and what structure.c finds, of a program that was decoded. */
weft_status weft_ir_analyze(struct weft_ir_program *program);

/* ---- emit.c and its parts ---- */

/** Machine code of a program as an ELF object, in host memory. Sets program->scratch_size. */
weft_status weft_ir_emit(uint8_t **elf, size_t *size, struct weft_ir_program *program);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * From a program to LLVM: uniform and linear values are scalars, varying ones vectors with a lane for each invocation
 * of a subgroup. workgroup.c walks what a workgroup does together and runs the fragments between barriers for one
 * subgroup after the other; flow.c is the control flow within a fragment, with masks where lanes part, and edge.c tells where
 * they hardly ever do;
 * value.c, arithmetic.c, dot.c, glsl.c and memory.c are the instructions; native.c has LLVM make an object of it all.
 */
#ifndef WEFT_NATIVE_EMIT_H
#define WEFT_NATIVE_EMIT_H

#include <llvm-c/Core.h>

#include "native/llvm/analysis.h"

/** Target of jumps to a construct. Masks are variables, null if the lanes always jump together. */
struct weft_emit_target {
    LLVMBasicBlockRef exit, latch;
    LLVMValueRef exited, continued; /* lanes that jumped, since the construct, or its turn, began */
    LLVMValueRef arriving;          /* lanes that come to the latch of a divergent loop */
    uint32_t depth;                 /* of the list that the construct is in */
};

/** Target after the end of a list, with the lanes that arrive; the mask is null if unused. */
struct weft_emit_end {
    LLVMBasicBlockRef block;
    LLVMValueRef mask;
};

struct weft_emit {
    struct weft_ir_program *program;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMBasicBlockRef entry; /* of variables alone */
    LLVMBasicBlockRef done;  /* where the function returns */
    LLVMTypeRef types[WEFT_IR_TYPES];
    LLVMTypeRef pointer, half;
    LLVMValueRef iota; /* 0, 1, … as a vector of i32 */
    LLVMValueRef ranges[WEFT_IR_MAX_BINDINGS], sizes[WEFT_IR_MAX_BINDINGS];
    LLVMValueRef push, scratch, call;
    LLVMValueRef halt;         /* address of a word that ends a checked kernel's loops */
    LLVMValueRef zeros, dump;  /* where a checked load out of bounds reads, and a store writes */
    LLVMValueRef workgroup[3]; /* gl_WorkGroupID */
    LLVMValueRef subgroup;     /* index, i32 */
    uint32_t lanes, subgroups, invocations;
    bool has_fma, has_half;
    unsigned invariant_kind, scope_kind, noalias_kind, loop_kind;
    LLVMValueRef scratch_scope, memory_scope;

    /* Control flow within a fragment. */
    LLVMValueRef exec; /* lanes that run, a vector of i1; null: all */
    bool twice;        /* what is emitted is for all lanes, and will be once more for some */
    uint32_t list;     /* the list at hand */
    uint32_t fragment_list;
    struct weft_emit_target fragment;
    struct weft_emit_target *targets; /* by node */
    struct weft_emit_end *ends; /* of the side of a divergent if that is being emitted, by node */
    struct weft_emit_target **jumped; /* to which part of the lanes jumped so far */
    uint32_t jumped_count, jumped_capacity;
    uint32_t scratch_size;
    uint32_t frames,
        frame_size;      /* where in it is what subgroups keep across barriers; bytes of each */
    uint32_t local_size; /* bytes of arrays on the stack */
};

/* ---- value.c ---- */

LLVMTypeRef weft_emit_vector_type(const struct weft_emit *emit, uint32_t type);
LLVMValueRef weft_emit_u32(const struct weft_emit *emit, uint32_t value);
LLVMValueRef weft_emit_u64(const struct weft_emit *emit, uint64_t value);
bool weft_emit_is_vector(LLVMValueRef value);
/** A type itself, or that of a vector's elements. */
LLVMTypeRef weft_emit_element_type(LLVMTypeRef type);
/** Bits of an integer, or of a vector's elements. */
uint32_t weft_emit_width(LLVMTypeRef type);
/** An integer of the type of `like`, in all lanes where that is a vector. */
LLVMValueRef weft_emit_number(const struct weft_emit *emit, LLVMValueRef like, uint64_t number);
/** A scalar in all lanes. */
LLVMValueRef weft_emit_splat(struct weft_emit *emit, LLVMValueRef scalar);
/** A value's scalar: of a linear one that of lane 0. */
LLVMValueRef weft_emit_scalar(struct weft_emit *emit, weft_ir_value value);
LLVMValueRef weft_emit_vector(struct weft_emit *emit, weft_ir_value value);
/** Keeps what an instruction makes; `made` is a scalar or a vector as the value's shape wants it. */
void weft_emit_define(struct weft_emit *emit, weft_ir_value value, LLVMValueRef made);
bool weft_emit_is_varying(const struct weft_emit *emit, weft_ir_value value);
struct weft_ir_shape weft_emit_shape(const struct weft_emit *emit, weft_ir_value value);

/** A call of an intrinsic that is overloaded on `types`. */
LLVMValueRef weft_emit_intrinsic(struct weft_emit *emit, const char *name, LLVMTypeRef *types,
                                 uint32_t type_count, LLVMValueRef *arguments, uint32_t count);
LLVMTypeRef weft_emit_intrinsic_type(struct weft_emit *emit, const char *name, LLVMTypeRef *types,
                                     uint32_t type_count);
/** One that is overloaded on the type of its first argument alone. */
LLVMValueRef weft_emit_unary(struct weft_emit *emit, const char *name, LLVMValueRef a);

/* Masks are vectors of i1, in variables vectors of i32 with all bits alike, which every processor handles well. */
LLVMValueRef weft_emit_all_lanes(struct weft_emit *emit, bool on);
/** The running lanes as a mask that is not null. */
LLVMValueRef weft_emit_exec(struct weft_emit *emit);
LLVMValueRef weft_emit_any(struct weft_emit *emit, LLVMValueRef mask);
/** The lowest of the running lanes, as an i32. */
LLVMValueRef weft_emit_first_lane(struct weft_emit *emit);
LLVMValueRef weft_emit_mask_load(struct weft_emit *emit, LLVMValueRef variable);
void weft_emit_mask_store(struct weft_emit *emit, LLVMValueRef variable, LLVMValueRef mask);

/** A variable of the function, which LLVM makes into values. */
LLVMValueRef weft_emit_variable(struct weft_emit *emit, LLVMTypeRef type);
LLVMBasicBlockRef weft_emit_block(struct weft_emit *emit, const char *name);
void weft_emit_at(struct weft_emit *emit, LLVMBasicBlockRef block);

/* ---- the instructions ---- */

void weft_emit_instruction(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
void weft_emit_arithmetic(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
/** On operands that are all scalars or all vectors; null, and an error, for what is not known. */
LLVMValueRef weft_emit_glsl(struct weft_emit *emit, uint32_t number, uint32_t type,
                            LLVMValueRef *operands, uint32_t count);
/** The f16 in the lower bits of a word, by the processor's conversion: only where it has_half. */
LLVMValueRef weft_emit_float_of_half(struct weft_emit *emit, LLVMValueRef word);
/** The sum of products of the bytes of two words, and of `sum` where it is not null; `mixed`: b's are unsigned. All scalars or all vectors. */
LLVMValueRef weft_emit_dot(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b, LLVMValueRef sum,
                           bool mixed);
/** sum + the products of the signed halves of two words, all vectors; null where this processor has nothing for it. */
LLVMValueRef weft_emit_pairs(struct weft_emit *emit, LLVMValueRef a, LLVMValueRef b,
                             LLVMValueRef sum);
/** A vector of numbers of four bits, or of those less a constant, as floats; null for another, or where this processor has nothing for it. */
LLVMValueRef weft_emit_nibble(struct weft_emit *emit, LLVMValueRef a);
void weft_emit_load(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
void weft_emit_store(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
void weft_emit_atomic(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
void weft_emit_length(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
void weft_emit_get(struct weft_emit *emit, const struct weft_ir_instruction *instruction);
void weft_emit_set(struct weft_emit *emit, const struct weft_ir_instruction *instruction);

/* ---- variables of the program (variable.c) ---- */

/** LLVM's variables for all slots, and room in the scratch memory for those that live across barriers. */
void weft_emit_make_slots(struct weft_emit *emit);
/** Reads or writes, for the subgroup at hand, the slots that live across barriers and that a run of nodes touches. */
void weft_emit_fetch_slots(struct weft_emit *emit, uint32_t first, uint32_t end);
void weft_emit_keep_slots(struct weft_emit *emit, uint32_t first, uint32_t end);

/* ---- flow.c ---- */

/** Nodes of one list from `first` up to, not with, `end`; goes on behind them with `then`. */
void weft_emit_nodes(struct weft_emit *emit, uint32_t first, uint32_t end,
                     const struct weft_emit_end *then);

/** The branch from a loop's end back to its head; checked kernels leave instead where they are halted. */
LLVMValueRef weft_emit_turn(struct weft_emit *emit, LLVMBasicBlockRef head);

/* ---- edge.c ---- */

/** True if a condition is an edge. */
bool weft_emit_is_edge(const struct weft_emit *emit, weft_ir_value condition);
/** A scalar that is false unless an edge's condition is `sense` for all lanes, and rarely where it is; or null. */
LLVMValueRef weft_emit_edge_holds(struct weft_emit *emit, weft_ir_value condition, bool sense);

/* ---- workgroup.c ---- */

void weft_emit_workgroup(struct weft_emit *emit);

/* ---- version.c ---- */

/** From an address, or from a vector of addresses, as aligned as told; zeros in lanes that are not in the mask. */
LLVMValueRef weft_emit_masked_load(struct weft_emit *emit, LLVMTypeRef type, LLVMValueRef from,
                                   LLVMValueRef mask, uint32_t alignment);
LLVMValueRef weft_emit_masked_store(struct weft_emit *emit, LLVMValueRef value, LLVMValueRef to,
                                    LLVMValueRef mask, uint32_t alignment);

/* ---- native.c ---- */

/** LLVM's errors become the program's: before anything is done with the context. */
void weft_emit_listen(struct weft_emit *emit);
/** Optimizes the module and makes an object of it, in host memory. */
weft_status weft_emit_object(uint8_t **elf, size_t *size, struct weft_emit *emit);

#endif

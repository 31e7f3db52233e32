/* SPDX-License-Identifier: MIT */
/*
 * Numbers of four bits as floats, as the codes of weights are: where a vector has sixteen floats, one permutation of a table does what takes a mask,
 * a difference and a conversion. The permutation looks at four bits of a lane and no others.
 */
#include "native/llvm/emit.h"
#include "native/target.h"

#define NIBBLES 16u

static bool is_instruction(LLVMValueRef value, LLVMOpcode opcode) {
    return LLVMGetValueKind(value) == LLVMInstructionValueKind &&
           LLVMGetInstructionOpcode(value) == opcode;
}

static bool is_in_all_lanes(const struct weft_emit *emit, LLVMValueRef value, uint32_t number) {
    return value == weft_emit_number(emit, value, number); /* LLVM has each constant once */
}

/* What the lowest four bits are taken of; null where a value is no such mask. */
static LLVMValueRef masked(const struct weft_emit *emit, LLVMValueRef value) {
    return is_instruction(value, LLVMAnd) &&
                   is_in_all_lanes(emit, LLVMGetOperand(value, 1), NIBBLES - 1)
               ? LLVMGetOperand(value, 0)
               : NULL;
}

static LLVMValueRef table_less(const struct weft_emit *emit, uint32_t less) {
    LLVMValueRef floats[NIBBLES];
    for (uint32_t i = 0; i < NIBBLES; i++) {
        floats[i] = LLVMConstReal(emit->types[WEFT_IR_F32], (double)i - (double)less);
    }
    return LLVMConstVector(floats, NIBBLES);
}

LLVMValueRef weft_emit_nibble(struct weft_emit *emit, LLVMValueRef a) {
    uint32_t less = 0;
    if (weft_native_machine()->lanes != NIBBLES || !weft_emit_is_vector(a) ||
        LLVMGetVectorSize(LLVMTypeOf(a)) != NIBBLES || weft_emit_width(LLVMTypeOf(a)) != 32) {
        return NULL;
    }
    if (is_instruction(a, LLVMSub)) {
        const LLVMValueRef subtracted = LLVMGetOperand(a, 1);
        while (less < NIBBLES && !is_in_all_lanes(emit, subtracted, less)) {
            less++;
        }
        a = LLVMGetOperand(a, 0);
    }
    const LLVMValueRef from = less < NIBBLES ? masked(emit, a) : NULL;
    if (!from) {
        return NULL;
    }
    LLVMValueRef arguments[] = {table_less(emit, less), from};
    return weft_emit_intrinsic(emit, "llvm.x86.avx512.permvar.sf.512", NULL, 0, arguments, 2);
}

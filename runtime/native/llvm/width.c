/* SPDX-License-Identifier: MIT */
/*
 * How many invocations run at once. Where nobody can tell, they are those of two subgroups: what is worked out of one element is
 * often a chain of dependent steps, and a processor that waits for one chain's result goes on with the other's.
 */
#include "native/llvm/analysis.h"
#include "spirv/check.h"

/* True if an instruction can tell which invocations are a subgroup. */
static bool knows_subgroups(const struct weft_ir_instruction *instruction) {
    if (instruction->op != WEFT_IR_INPUT) {
        return instruction->op == WEFT_IR_SUBGROUP;
    }
    switch (instruction->root) {
    case SpvBuiltInSubgroupSize:
    case SpvBuiltInNumSubgroups:
    case SpvBuiltInSubgroupId:
    case SpvBuiltInSubgroupLocalInvocationId:
        return true;
    default:
        return false;
    }
}

/*
 * Barriers, arrays and loops are for kernels with many values, which would no longer be in registers; but a workgroup of just two
 * subgroups is meant to have its loops walked by both at once.
 */
static bool is_plain(const struct weft_ir_program *program) {
    const uint32_t *size = program->local_size;
    const bool loops = size[0] == 2 * program->lanes && size[1] == 1 && size[2] == 1;
    for (uint32_t i = 0; i < program->node_count; i++) {
        const uint32_t kind = program->nodes[i].kind;
        if (kind == WEFT_IR_BARRIER || (kind == WEFT_IR_LOOP && !loops)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < program->variable_count; i++) {
        if (program->variables[i].indexed) {
            return false;
        }
    }
    return true;
}

void weft_ir_widen(struct weft_ir_program *program) {
    const uint32_t lanes = 2 * program->lanes;
    if (lanes > WEFT_NATIVE_MAX_LANES || program->local_size[0] % lanes != 0 ||
        !is_plain(program)) {
        return;
    }
    for (uint32_t i = 0; i < program->instruction_count; i++) {
        if (knows_subgroups(&program->instructions[i])) {
            return;
        }
    }
    program->lanes = lanes;
}

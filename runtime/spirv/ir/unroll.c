/* SPDX-License-Identifier: MIT */
#include "spirv/ir/ir.h"

/* True if a list indexes variables, as far as it is short enough to be written out a number of times. */
static bool indexes_variables(const struct weft_ir_program *program, uint32_t list,
                              uint32_t *budget) {
    bool indexes = false;
    for (uint32_t i = program->lists[list].first; i != WEFT_IR_NONE; i = program->nodes[i].next) {
        const struct weft_ir_node *node = &program->nodes[i];
        for (uint32_t k = 0; node->kind == WEFT_IR_CODE && k < node->count; k++) {
            const struct weft_ir_instruction *instruction = &program->instructions[node->first + k];
            const bool variable = instruction->op == WEFT_IR_GET || instruction->op == WEFT_IR_SET;
            indexes = indexes || (variable && program->arguments[instruction->arguments] != 0);
            *budget -= *budget > 0 ? 1 : 0;
        }
        for (uint32_t k = 0; k < 2 && node->lists[k] != WEFT_IR_NONE; k++) {
            indexes = indexes_variables(program, node->lists[k], budget) || indexes;
        }
    }
    return indexes;
}

bool weft_ir_wants_unrolling(const struct weft_ir_program *program, const struct weft_ir_node *loop,
                             uint32_t most) {
    uint32_t budget = most;
    return indexes_variables(program, loop->lists[0], &budget) && budget > 0;
}
